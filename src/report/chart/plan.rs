//! Charts of a decision: drafters against each other, the frontier of latency and throughput, and what the answer hangs on.

use crate::acceptance::process::Known;
use crate::plan::candidate::{Here, runs};
use crate::plan::latency::{Pace, plain, speculative};
use crate::plan::verdict::Stand;
use crate::report::chart::bodies::{Guide, Kind, Scale, Scatter, TornadoBar, TornadoPlot};
use crate::report::chart::spec::{Body, Chart, Heading, Line, LinePlot, Lines, Spot};
use crate::report::number::times;
use crate::report::pick::by_factor;
use crate::report::plan::{Planned, Seen};
use crate::report::trust;

/// The most plots side by side.
const MOST_PLOTS: usize = 4;
/// The most lines a reader tells apart.
const MOST_LINES: usize = 7;
/// Batches of a line.
const MOST_BATCHES: u64 = 64;
/// The colour of plain decoding.
const BLACK: usize = 6;
/// Inputs of a tornado.
const MOST_BARS: usize = 10;

/// The charts: drafters for the first cases, the others for the first case in which some sequence runs.
#[must_use]
pub fn charts(planned: &Planned<'_, '_>, title: &str) -> Vec<Chart> {
    let all: Vec<Seen<'_, '_, '_>> = planned.cases().collect();
    let runs = |seen: &&Seen<'_, '_, '_>| seen.case.verdict.decisive().is_some_and(|at| at.k.is_some());
    let Some((first, drafter)) = all.iter().find(runs).or(all.first()).and_then(|first| {
        let drafter = first.candidate(first.case.verdict.candidate?).drafter;
        Some((first, drafter))
    }) else {
        return Vec::new();
    };
    let setting = &first.decision.setting;
    let trust = [trust::profile(&setting.backing()), trust::drafter(drafter, &setting.backing())];
    let one_of = if all.len() > 1 { format!("  One of {} cases.", all.len()) } else { String::new() };
    let heading = |what: &str, subtitle: String, caption: String| Heading {
        title: format!("{what}: {title}"),
        subtitle,
        caption,
        trust: trust.to_vec(),
    };
    let charts = [drafters(&all, heading), frontier(first, &one_of, heading), tornado(first, &one_of, heading)];
    charts.into_iter().flatten().collect()
}

/// Best speedup of each drafter over batch.
fn drafters(all: &[Seen<'_, '_, '_>], heading: impl Fn(&str, String, String) -> Heading) -> Option<Chart> {
    let shown = &all[..all.len().min(MOST_PLOTS)];
    let first = shown.first()?;
    let names: Vec<String> =
        first.case.members.iter().take(MOST_LINES).map(|&at| first.candidate(at).drafter.label.clone()).collect();
    let xs = first.planned.shown.clone();
    let spot = |here: &Here<'_, '_>, batch: u64| {
        let place = here.at(batch);
        let best = place.best_of_drafting()?;
        let length = here.length(best.k)?;
        let fits = place.running(length) == batch;
        Some(Spot { x: batch, y: best.speedup, fits, carried: length.known != Known::Stated })
    };
    let line = |here: &Here<'_, '_>| Line {
        spots: xs.iter().filter_map(|&batch| spot(here, batch)).collect(),
        fits_up_to: here.resident.running,
    };
    let plot = |seen: &Seen<'_, '_, '_>| LinePlot {
        title: if shown.len() > 1 { plot_title(seen) } else { String::new() },
        lines: seen
            .case
            .members
            .iter()
            .take(MOST_LINES)
            .map(|&at| line(&seen.decision.lines[seen.case.context][at].here))
            .collect(),
    };
    let body = Lines {
        x_label: "batch (sequences decoded together)".to_owned(),
        legend: "drafter".to_owned(),
        plots: shown.iter().map(plot).collect(),
        names,
        marks: first.planned.load.iter().map(|(name, batch)| ((*name).to_owned(), *batch)).collect(),
        xs: xs.clone(),
    };
    let carried = body.plots.iter().flat_map(|plot| &plot.lines).flat_map(|line| &line.spots).any(|spot| spot.carried);
    let unfit = body.plots.iter().flat_map(|plot| &plot.lines).flat_map(|line| &line.spots).any(|spot| !spot.fits);
    let empty = body.plots.iter().any(|plot| plot.lines.iter().all(|line| line.spots.is_empty()));
    let hints = [
        (true, "Each drafter at its best draft length for each batch."),
        (unfit, "Dashed: fewer sequences run than that, the others wait: by throughput, each way with as many as run."),
        (empty, "Empty: no sequence runs."),
        (carried, "Hollow: tokens per pass carried over from another k or context."),
    ];
    let caption: Vec<&str> = hints.into_iter().filter(|(holds, _)| *holds).map(|(_, hint)| hint).collect();
    let more =
        if all.len() > shown.len() { format!("  {} of {} cases.", shown.len(), all.len()) } else { String::new() };
    Some(Chart {
        part: "drafters".to_owned(),
        heading: heading("Speedup of each drafter", shared_heading(all), format!("{}{more}", caption.join("  "))),
        body: Body::Lines(body),
    })
}

/// What all cases share.
fn shared_heading(all: &[Seen<'_, '_, '_>]) -> String {
    let Some(first) = all.first() else { return String::new() };
    if all.len() == 1 {
        return first.heading();
    }
    let setting = &first.decision.setting;
    if first.planned.decisions.len() > 1 {
        return format!("target {}", setting.target.id);
    }
    let shared = first.heading();
    let own = format!(", context {}", first.context());
    shared.split(&own).next().map(str::to_owned).unwrap_or(shared)
}

/// What tells a case from the others.
fn plot_title(seen: &Seen<'_, '_, '_>) -> String {
    let acceptance = seen.acceptance();
    let context = format!("context {}", seen.context());
    let setting = &seen.decision.setting;
    let devices = if seen.planned.decisions.len() > 1 {
        format!("{} x {}, {}, ", setting.tensor_parallel, setting.device.id, setting.engine.id)
    } else {
        String::new()
    };
    if acceptance.is_empty() { format!("{devices}{context}") } else { format!("{devices}{context}, {acceptance}") }
}

/// Tokens per second of a user against those of a device, along the batches that run.
fn frontier(seen: &Seen<'_, '_, '_>, one_of: &str, heading: impl Fn(&str, String, String) -> Heading) -> Option<Chart> {
    let lines = &seen.decision.lines[seen.case.context];
    let members = &seen.case.members[..seen.case.members.len().min(MOST_LINES - 1)];
    let first = &lines[*members.first()?].here;
    let most = |running: Option<u64>| {
        let last = running.unwrap_or_else(|| seen.planned.shown.iter().copied().max().unwrap_or(1));
        by_factor(last, MOST_BATCHES).into_iter().map(|at| at + 1)
    };
    let mut named: Vec<(String, Vec<Pace>)> =
        vec![("plain".to_owned(), plain(&first.candidate.setup, first.context, most(first.alone.running)))];
    for &member in members {
        let here = &lines[member].here;
        let longest = here.lengths.iter().map(|length| length.capacity.running).max().flatten();
        named.push((here.candidate.drafter.label.clone(), speculative(here, most(longest))));
    }
    named.retain(|(_, paces)| !paces.is_empty());
    let point = |pace: &Pace| (pace.per_user(), pace.per_device);
    let kinds: Vec<Kind> = named
        .iter()
        .enumerate()
        // Drafters have their colours of the chart above, plain decoding is black.
        .map(|(at, (name, paces))| Kind {
            name: name.clone(),
            color: at.checked_sub(1).unwrap_or(BLACK),
            points: paces.iter().map(point).collect(),
        })
        .collect();
    let joints = |kind: &Kind| -> Vec<Guide> {
        let joint = |pair: &[(f64, f64)]| Guide { from: pair[0], to: pair[1], strong: false, color: Some(kind.color) };
        kind.points.windows(2).map(joint).collect()
    };
    let all = || kinds.iter().flat_map(|kind| kind.points.iter().copied());
    let (x, y) = (all().map(|(x, _)| x).fold(0.0, f64::max), all().map(|(_, y)| y).fold(0.0, f64::max));
    let ends: Vec<String> =
        named.iter().filter_map(|(name, paces)| paces.last().map(|last| format!("{name} {}", last.batch))).collect();
    let runs_plainly = runs(&first.alone, 1);
    let body = Scatter {
        x_label: "tokens per second of one user".to_owned(),
        y_label: "tokens per second of one GPU".to_owned(),
        x: (0.0, x * 1.05),
        x_scale: Scale::Even,
        y: (0.0, y * 1.08),
        y_scale: Scale::Even,
        legend: "decoding".to_owned(),
        guides: kinds.iter().flat_map(joints).collect(),
        kinds,
    };
    let caption = format!(
        "Right is faster for a user, up is cheaper. Batch 1 lies at the right end, the most that run at the left: {}. Decoding only.{one_of}",
        ends.join(", ")
    );
    runs_plainly.then(|| Chart {
        part: "frontier".to_owned(),
        heading: heading("Latency against throughput", seen.heading(), caption),
        body: Body::Scatter(body),
    })
}

/// What the answer hangs on.
fn tornado(seen: &Seen<'_, '_, '_>, one_of: &str, heading: impl Fn(&str, String, String) -> Heading) -> Option<Chart> {
    let verdict = &seen.case.verdict;
    let at = verdict.decisive()?;
    let (length, _, centre) = seen.kept_here(at.batch)?;
    let k = length.k;
    let disputed = at.disputed.filter(|_| at.stand == Stand::Disputed);
    let other = disputed.map(|other| TornadoBar {
        name: format!("profile {}", seen.profiles().1),
        low: other.speedup,
        high: centre,
    });
    let swings = verdict.swings.iter().map(|swing| TornadoBar {
        name: swing.input.what().to_owned(),
        low: swing.low,
        high: swing.high,
    });
    let bars: Vec<TornadoBar> = other.into_iter().chain(swings).take(MOST_BARS).collect();
    if bars.is_empty() {
        return None;
    }
    let body = TornadoPlot { x_label: "speedup (x)".to_owned(), centre, bars };
    let what = format!(
        "{}: {} with k = {k} at {}, {}",
        seen.heading(),
        seen.drafter(),
        seen.batch_name(at.batch),
        times(centre)
    );
    let rival = if disputed.is_some() { "  Profile: another profile of the engine." } else { "" };
    let caption = format!(
        "Each bar: one input alone, from where 5 % of its draws lie below to 95 %.{rival}  Dark line: 1x.  Grey line: every input as it is \
         used.{one_of}"
    );
    Some(Chart {
        part: "tornado".to_owned(),
        heading: heading("What the speedup hangs on", what, caption),
        body: Body::Tornado(body),
    })
}
