//! Runs as tables.

use super::pays::sentences;
use super::{Shown, with_off};
use crate::acceptance::estimate::Estimate;
use crate::domain::served::{Seen, Served};
use crate::domain::traffic::{Arrivals, Kind, Length, Policy, Traffic};
use crate::report::number::{brief, figures, times};
use crate::report::table::{Style, composed, right, table};
use crate::traffic::measures::{Measures, OverTime};
use crate::traffic::tally::Times;
use crate::units::Seconds;

/// The tables, one for each deployment, and what holds for all of them below; plain decoding is in each that it is compared to.
#[must_use]
pub fn text(all: &[Shown<'_>], is_asked: bool, style: Style) -> String {
    let same = |one: &Shown<'_>, other: &Shown<'_>| one.case.subject == other.case.subject;
    let blocks = all.chunk_by(same).map(|block| of_one(block, is_asked, style));
    let parts: Vec<String> = blocks.chain([listed(&notes(all), style)]).collect();
    parts.join(between(all, same, style))
}

/// What parts tables and the notes on all of them: nothing but a line where there is one table.
pub(crate) fn between<T>(all: &[T], same: impl FnMut(&T, &T) -> bool, style: Style) -> &'static str {
    if style != Style::Markdown && all.chunk_by(same).count() == 1 { "\n" } else { "\n\n" }
}

/// Notes that belong to no table.
pub(crate) fn listed(notes: &[String], style: Style) -> String {
    let bullet = if style == Style::Markdown { "- " } else { "  " };
    notes.iter().map(|note| format!("{bullet}{note}")).collect::<Vec<_>>().join("\n")
}

fn of_one(all: &[Shown<'_>], is_asked: bool, style: Style) -> String {
    let (traffic, labels) = (all[0].traffic, &all[0].labels);
    let load = if matches!(traffic.arrivals, Arrivals::Closed { .. }) { "clients" } else { "requests/s" };
    let mut header: Vec<String> = vec![load.to_owned(), "policy".to_owned()];
    header.extend(
        ["TTFT", "p95", "TPOT", "p95", "latency", "x off", "out tok/s", "batch", "queue", "KV", "drafts"]
            .map(str::to_owned),
    );
    if is_asked {
        header.push("meet the SLO".to_owned());
    }
    let mut drawn = table(&header, style);
    for shown in with_off(all) {
        drawn.add_row(row(&shown, is_asked).into_iter().map(right).collect::<Vec<_>>());
    }
    let drafts = all.iter().any(|shown| *shown.policy() != Policy::Off);
    let heading = format!(
        "{} on {} x {}, {}, drafter {}",
        labels.target,
        labels.tensor_parallel,
        labels.hardware,
        labels.engine,
        labels.drafter.filter(|_| drafts).unwrap_or("none")
    );
    composed(&heading, &drawn, sentences(all), style)
}

fn row(shown: &Shown<'_>, is_asked: bool) -> Vec<String> {
    let (measures, over) = (&shown.case.measures, &shown.case.measures.over_time);
    let marks = [(measures.is_overloaded(), " !"), (measures.is_too_short(), " ?")];
    let marks: String = marks.into_iter().filter_map(|(holds, mark)| holds.then_some(mark)).collect();
    let of = |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or_else(String::new, text);
    let mut row = vec![figures(shown.case.load), format!("{}{marks}", shown.policy())];
    row.extend(mean_and_p95(&measures.ttft));
    row.extend(mean_and_p95(&measures.tpot));
    row.push(seconds(measures.e2e.mean()));
    row.push(of(shown.latency_ratio().map(|ratio| ratio.value), &times));
    let replicas = shown.traffic.replicas as f64;
    row.push(of(over.per_second(over.tokens), &|rate| figures(replicas * rate)));
    row.extend([over.decoding, over.waiting].map(|sum| of(over.mean(sum), &|mean| format!("{mean:.1}"))));
    row.push(of(over.mean(over.cache), &|share| format!("{:.0} %", 100.0 * share)));
    row.push(drafts(over));
    if is_asked {
        row.push(of(measures.good.share().map(|good| good.value), &|good| format!("{:.1} %", 100.0 * good)));
    }
    row
}

fn notes(all: &[Shown<'_>]) -> Vec<String> {
    let traffic = all[0].traffic;
    let mut notes = vec![asked(traffic, all)];
    notes.push(
        "TTFT, TPOT and latency in the mean; x off: latency without speculation over that with it; drafts: share of steps that draft, and share of drafts that come out"
            .to_owned(),
    );
    let any = |is: fn(&Measures) -> bool| all.iter().any(|shown| is(&shown.case.measures));
    if any(Measures::is_overloaded) {
        notes.push("! requests pile up to the end of the run: there are too many of them, or traffic.requests is too small to tell".to_owned());
    }
    if any(Measures::is_too_short) {
        notes.push("? too short to say how a service does that goes on: the warm-up or the rest is over before a request is answered, or fewer than 100 are measured; take more traffic.requests, or a longer traffic.warmup".to_owned());
    }
    let refused = all.iter().map(|shown| shown.case.measures.refused).max().unwrap_or(0);
    if refused > 0 {
        notes.push(format!("{refused} requests of a run are longer than memory or max_model_len allows: refused"));
    }
    if traffic.replicas > 1 {
        let loads = if matches!(traffic.arrivals, Arrivals::Closed { .. }) { "clients" } else { "requests" };
        notes.push(format!(
            "{} replicas: {loads} and tokens are of all of them; batch, queue and KV of one, which is simulated",
            traffic.replicas
        ));
    }
    if traffic.kinds.len() > 1 {
        notes.push("each workload by itself: in the CSV of workloads, and in JSON".to_owned());
    }
    notes
}

/// The requests, in words.
fn asked(traffic: &Traffic, all: &[Shown<'_>]) -> String {
    let how = match &traffic.arrivals {
        Arrivals::Seen(served) => return seen(served, traffic),
        Arrivals::Poisson => "Poisson arrivals".to_owned(),
        Arrivals::Gamma { burstiness } => format!("gamma arrivals of shape {}", brief(*burstiness)),
        Arrivals::Constant => "arrivals at equal intervals".to_owned(),
        Arrivals::Closed { think } if *think == Seconds::ZERO => "clients in a closed loop".to_owned(),
        Arrivals::Closed { think } => format!("clients in a closed loop, who think for {think}"),
    };
    let kinds: Vec<String> = traffic.kinds.iter().map(kind).collect();
    let warmup = (traffic.requests as f64 * traffic.warmup.get()) as u64;
    let drawn = drawn(traffic, all).unwrap_or_default();
    format!("{how}; {}; {} requests, the first {warmup} not measured{drawn}", kinds.join("; "), traffic.requests)
}

fn kind(kind: &Kind) -> String {
    let of = |length: &Length| match length {
        Length::Fixed(tokens) => tokens.to_string(),
        Length::LogNormal { mean, sd } => format!("{} ± {}", brief(*mean), brief(*sd)),
        Length::Seen(seen) => format!("{} in the mean of {} seen", figures(length.mean()), seen.len()),
    };
    let name = kind.label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
    let hit = kind.prefix_hit.get();
    let cached = if hit > 0.0 { format!(", {} % of them cached", figures(100.0 * hit)) } else { String::new() };
    format!("{name}prompts of {} tokens{cached}, outputs of {}", of(&kind.prompt), of(&kind.output))
}

/// How far the lengths that were drawn are from those that were stated, in parts.
const FAR: f64 = 0.1;

/// The lengths that were drawn, where their means are far from those stated: few draws of a wide law.
fn drawn(traffic: &Traffic, all: &[Shown<'_>]) -> Option<String> {
    let share = |kind: &Kind| kind.share.get();
    let stated = |of: fn(&Kind) -> f64| traffic.kinds.iter().map(|kind| share(kind) * of(kind)).sum::<f64>();
    let (prompt, output) = (stated(|kind| kind.prompt.mean()), stated(|kind| kind.output.mean()));
    let first = &all[0].case.measures;
    let (prompts, outputs) = first.mean_lengths().filter(|_| first.refused == 0)?;
    let is_far = |drawn: f64, stated: f64| stated > 0.0 && (drawn / stated - 1.0).abs() > FAR;
    (is_far(prompts, prompt) || is_far(outputs, output)).then(|| {
        format!(
            "; those drawn have {} and {} tokens in the mean: more traffic.requests come nearer",
            figures(prompts),
            figures(outputs)
        )
    })
}

/// A trace, in words.
fn seen(served: &Served, traffic: &Traffic) -> String {
    let count = served.requests.len() as f64;
    let mean = |of: fn(&Seen) -> u32| served.requests.iter().map(|seen| f64::from(of(seen))).sum::<f64>() / count;
    let rate = served.rate().map_or_else(String::new, |rate| format!(" at {} requests/s", figures(rate)));
    let notes: Vec<String> = served.notes.iter().map(|note| format!("; {note}")).collect();
    format!(
        "{}: {} requests{rate}, prompts of {} tokens and outputs of {} in the mean; {} of them, the first {} not measured{}",
        served.name,
        served.requests.len(),
        figures(mean(|seen| seen.prompt)),
        figures(mean(|seen| seen.output)),
        traffic.requests,
        (traffic.requests as f64 * traffic.warmup.get()) as u64,
        notes.concat()
    )
}

fn seconds(of: Option<Estimate>) -> String {
    of.map_or_else(String::new, |of| Seconds::new(of.value).to_string())
}

fn mean_and_p95(times: &Times) -> [String; 2] {
    [seconds(times.mean()), seconds(times.at(0.95))]
}

fn drafts(over: &OverTime) -> String {
    let Some(wasted) = over.wasted_share() else { return "none".to_owned() };
    format!("{:.0} %, {:.0} %", 100.0 * over.speculating_share().unwrap_or(0.0), 100.0 * (1.0 - wasted))
}
