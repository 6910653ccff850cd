//! What a service does under load: table, CSV and JSON.

pub mod capacity;

use serde_json::{Value, json};

use crate::acceptance::estimate::Estimate;
use crate::domain::served::{Seen, Served};
use crate::domain::traffic::{Arrivals, Length, Policy, Traffic};
use crate::report::csv;
use crate::report::json::object;
use crate::report::number::{brief, times};
use crate::report::table::{Style, composed, right, table};
use crate::sweep::row::{Cell, Labels};
use crate::traffic::measures::OverTime;
use crate::traffic::study::Case;
use crate::traffic::tally::Times;
use crate::units::Seconds;

/// A run with its names.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What was run on.
    pub labels: Labels<'a>,
    /// The requests.
    pub traffic: &'a Traffic,
    /// What came of it.
    pub case: &'a Case,
    /// The same without speculation, if that was run.
    pub off: Option<&'a Case>,
}

/// The columns of `traffic`'s CSV.
pub const COLUMNS: [&str; 47] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "tensor_parallel",
    "replicas",
    "arrivals",
    "load",
    "policy",
    "requests",
    "refused",
    "preempted",
    "ttft_mean_s",
    "ttft_mean_low_s",
    "ttft_mean_high_s",
    "ttft_p50_s",
    "ttft_p95_s",
    "ttft_p95_low_s",
    "ttft_p95_high_s",
    "ttft_p99_s",
    "tpot_mean_s",
    "tpot_mean_low_s",
    "tpot_mean_high_s",
    "tpot_p50_s",
    "tpot_p95_s",
    "tpot_p95_low_s",
    "tpot_p95_high_s",
    "tpot_p99_s",
    "e2e_mean_s",
    "e2e_p50_s",
    "e2e_p95_s",
    "e2e_p99_s",
    "itl_chunk_p50_s",
    "itl_chunk_p99_s",
    "itl_token_p50_s",
    "itl_token_p99_s",
    "requests_per_s",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "e2e_speedup",
    "throughput_ratio",
    "good_share",
    "goodput_per_s",
    "mean_batch",
    "mean_queue",
    "kv_share",
    "notes",
];

impl Shown<'_> {
    /// The drafter that is loaded.
    fn drafter(&self) -> Option<&str> {
        self.labels.drafter.filter(|_| self.traffic.policies[self.case.policy] != Policy::Off)
    }

    /// Mean latency without speculation over that with it, under the same requests.
    fn latency_ratio(&self) -> Option<f64> {
        Some(self.off?.measures.e2e.mean()?.value / self.case.measures.e2e.mean()?.value)
    }

    /// Output tokens per second over those without speculation.
    fn throughput_ratio(&self) -> Option<f64> {
        let rate = |over: &OverTime| over.tokens as f64 / over.seconds;
        Some(rate(&self.case.measures.over_time) / rate(&self.off?.measures.over_time))
    }

    /// The cells of a row, but for the policy, which has no text of its own.
    #[must_use]
    pub fn cells(&self, is_asked: bool) -> Vec<Cell<'_>> {
        let (measures, over, labels) = (&self.case.measures, &self.case.measures.over_time, &self.labels);
        let mut cells = vec![
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            self.drafter().map_or(Cell::Empty, Cell::Text),
            Cell::Text(labels.engine),
            Cell::Integer(labels.tensor_parallel),
            Cell::Integer(self.traffic.replicas),
            Cell::Text(arriving(&self.traffic.arrivals)),
            Cell::Number(self.case.load),
        ];
        cells.push(Cell::Empty);
        cells.extend([measures.requests(), measures.refused, measures.preempted].map(Cell::Integer));
        for times in [&measures.ttft, &measures.tpot] {
            cells.extend(with_ends(times.mean()));
            cells.push(number(times.at(0.5)));
            cells.extend(with_ends(times.at(0.95)));
            cells.push(number(times.at(0.99)));
        }
        cells.push(number(measures.e2e.mean()));
        cells.extend([0.5, 0.95, 0.99].map(|share| number(measures.e2e.at(share))));
        for gaps in [&measures.by_chunk, &measures.by_token] {
            cells.extend([0.5, 0.99].map(|share| gaps.at(share).map_or(Cell::Empty, Cell::Number)));
        }
        let replicas = self.traffic.replicas as f64;
        let rate = |count: u64| Cell::Number(replicas * count as f64 / over.seconds);
        cells.extend([over.answered, over.tokens, over.tokens + over.prompt_tokens].map(rate));
        cells.extend(
            [self.latency_ratio(), self.throughput_ratio()].map(|ratio| ratio.map_or(Cell::Empty, Cell::Number)),
        );
        let good = measures.good.share().filter(|_| is_asked);
        cells.push(number(good));
        cells.push(
            good.map_or(Cell::Empty, |good| Cell::Number(replicas * good.value * over.answered as f64 / over.seconds)),
        );
        cells.extend([over.decoding, over.waiting, over.cache].map(|sum| Cell::Number(sum / over.seconds)));
        cells.push(if measures.is_overloaded() { Cell::Text("piling_up") } else { Cell::Empty });
        cells
    }
}

fn number<'c>(of: Option<Estimate>) -> Cell<'c> {
    of.map_or(Cell::Empty, |of| Cell::Number(of.value))
}

/// A value and the ends of its interval; an end without limit is empty.
fn with_ends<'c>(of: Option<Estimate>) -> [Cell<'c>; 3] {
    let Some(of) = of else { return [Cell::Empty, Cell::Empty, Cell::Empty] };
    let is_known = of.high.is_finite();
    let end = |end: f64| if is_known { Cell::Number(end) } else { Cell::Empty };
    [Cell::Number(of.value), end(of.low), end(of.high)]
}

const fn arriving(arrivals: &Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Poisson => "poisson",
        Arrivals::Gamma { .. } => "gamma",
        Arrivals::Constant => "constant",
        Arrivals::Closed { .. } => "closed",
        Arrivals::Seen(_) => "trace",
    }
}

/// All runs as CSV.
///
/// # Errors
///
/// Of the writer.
pub fn csv(all: &[Shown<'_>], is_asked: bool) -> ::csv::Result<Vec<u8>> {
    csv::table(&COLUMNS, all.iter().map(|shown| values(shown, is_asked)))
}

fn values(shown: &Shown<'_>, is_asked: bool) -> Vec<Value> {
    let row = row(shown, is_asked);
    COLUMNS.iter().map(|column| row[*column].clone()).collect()
}

fn row(shown: &Shown<'_>, is_asked: bool) -> Value {
    let mut row = object(&COLUMNS, shown.cells(is_asked));
    row["policy"] = shown.traffic.policies[shown.case.policy].to_string().into();
    row
}

/// All runs as a document.
#[must_use]
pub fn json(all: &[Shown<'_>], is_asked: bool, manifest: &Value) -> Value {
    let rows: Vec<Value> = all
        .iter()
        .map(|shown| {
            let mut row = row(shown, is_asked);
            let over = &shown.case.measures.over_time;
            row["speculating_share"] = share(over.speculating, over.steps);
            row["wasted_draft_share"] = share(over.drafted - over.accepted.min(over.drafted), over.drafted);
            row
        })
        .collect();
    json!({ "manifest": manifest, "rows": rows })
}

fn share(part: u64, all: u64) -> Value {
    if all == 0 { Value::Null } else { (part as f64 / all as f64).into() }
}

/// The tables, one for each deployment.
#[must_use]
pub fn text(all: &[Shown<'_>], is_asked: bool, style: Style) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut from = 0;
    while from < all.len() {
        let to = all[from..].iter().position(|shown| shown.case.subject != all[from].case.subject);
        let to = to.map_or(all.len(), |more| from + more);
        blocks.push(block(&all[from..to], is_asked, style));
        from = to;
    }
    blocks.join("\n")
}

fn block(all: &[Shown<'_>], is_asked: bool, style: Style) -> String {
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
    for shown in all {
        let (measures, over) = (&shown.case.measures, &shown.case.measures.over_time);
        let mut row = vec![
            brief(shown.case.load),
            format!(
                "{}{}",
                shown.traffic.policies[shown.case.policy],
                if measures.is_overloaded() { " !" } else { "" }
            ),
        ];
        row.extend(mean_and_p95(&measures.ttft));
        row.extend(mean_and_p95(&measures.tpot));
        row.push(seconds(measures.e2e.mean()));
        row.push(shown.latency_ratio().map_or_else(String::new, times));
        row.push(format!("{:.0}", traffic.replicas as f64 * over.tokens as f64 / over.seconds));
        row.extend([over.decoding, over.waiting].map(|sum| format!("{:.1}", sum / over.seconds)));
        row.push(format!("{:.0} %", 100.0 * over.cache / over.seconds));
        row.push(drafts(over));
        if is_asked {
            row.push(measures.good.share().map_or_else(String::new, |good| format!("{:.1} %", 100.0 * good.value)));
        }
        drawn.add_row(row.into_iter().map(right).collect::<Vec<_>>());
    }
    let heading = format!(
        "{} on {} x {}, {}, drafter {}",
        labels.target,
        labels.tensor_parallel,
        labels.hardware,
        labels.engine,
        labels.drafter.unwrap_or("none")
    );
    composed(&heading, &drawn, notes(all), style)
}

fn notes(all: &[Shown<'_>]) -> Vec<String> {
    let traffic = all[0].traffic;
    let mut notes = vec![
        asked(traffic),
        "TTFT, TPOT and latency in the mean; x off: latency without speculation over that with it; drafts: share of steps that draft, and share of drafts that come out"
            .to_owned(),
    ];
    if all.iter().any(|shown| shown.case.measures.is_overloaded()) {
        notes.push("! requests pile up to the end of the run: there are too many of them, or traffic.requests is too small to tell".to_owned());
    }
    let refused = all.iter().map(|shown| shown.case.measures.refused).max().unwrap_or(0);
    if refused > 0 {
        notes.push(format!("{refused} requests of a run are longer than memory or max_model_len allows: refused"));
    }
    notes
}

/// The requests, in words.
fn asked(traffic: &Traffic) -> String {
    let how = match &traffic.arrivals {
        Arrivals::Seen(served) => return seen(served, traffic),
        Arrivals::Poisson => "Poisson arrivals".to_owned(),
        Arrivals::Gamma { burstiness } => format!("gamma arrivals of shape {}", brief(*burstiness)),
        Arrivals::Constant => "arrivals at equal intervals".to_owned(),
        Arrivals::Closed { think } if *think == Seconds::ZERO => "clients in a closed loop".to_owned(),
        Arrivals::Closed { think } => format!("clients in a closed loop, who think for {think}"),
    };
    let of = |length: &Length| match length {
        Length::Fixed(tokens) => tokens.to_string(),
        Length::LogNormal { mean, sd } => format!("{} ± {}", brief(*mean), brief(*sd)),
        Length::Seen(seen) => format!("{} in the mean of {} seen", brief(length.mean()), seen.len()),
    };
    let kinds: Vec<String> = traffic
        .kinds
        .iter()
        .map(|kind| {
            let name = kind.label.as_ref().map_or_else(String::new, |label| format!("{label}: "));
            format!("{name}prompts of {} tokens, outputs of {}", of(&kind.prompt), of(&kind.output))
        })
        .collect();
    let warmup = (traffic.requests as f64 * traffic.warmup.get()) as u64;
    format!("{how}; {}; {} requests, the first {warmup} not measured", kinds.join("; "), traffic.requests)
}

/// A trace, in words.
fn seen(served: &Served, traffic: &Traffic) -> String {
    let count = served.requests.len() as f64;
    let mean = |of: fn(&Seen) -> u32| served.requests.iter().map(|seen| f64::from(of(seen))).sum::<f64>() / count;
    let rate = served.rate().map_or_else(String::new, |rate| format!(" at {} requests/s", brief(rate)));
    let notes: Vec<String> = served.notes.iter().map(|note| format!("; {note}")).collect();
    format!(
        "{}: {} requests{rate}, prompts of {} tokens and outputs of {} in the mean; {} of them, the first {} not measured{}",
        served.name,
        served.requests.len(),
        brief(mean(|seen| seen.prompt)),
        brief(mean(|seen| seen.output)),
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
    if over.drafted == 0 {
        return "none".to_owned();
    }
    let part = |part: u64, all: u64| format!("{:.0} %", 100.0 * part as f64 / all as f64);
    format!("{}, {}", part(over.speculating, over.steps), part(over.accepted, over.drafted))
}
