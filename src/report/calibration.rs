//! What a calibration found, as text, Markdown, CSV and JSON.

use serde_json::{Value, json};

use crate::domain::measured::Timed;
use crate::evidence::fitted::{Fitted, Used};
use crate::evidence::next::Next;
use crate::evidence::profile::Moved;
use crate::evidence::regime::Regime;
use crate::evidence::sample::Seen;
use crate::evidence::score::median;
use crate::report::csv;
use crate::report::number::{counted, shortest};
use crate::report::table::{Style, composed, right, table};
use crate::report::validation::{percent, signed};
use crate::sweep::row::Cell;
use crate::units::Seconds;

/// The columns of the CSV.
pub const COLUMNS: [&str; 13] = [
    "point",
    "drafter",
    "k",
    "batch",
    "context",
    "tokens_per_pass",
    "measured",
    "measured_s",
    "priced_s",
    "error_before",
    "error_after",
    "error_left_out",
    "weight",
];

/// Points listed on the terminal, at most; every one is in the CSV.
const MOST_POINTS: usize = 40;
/// Reasons listed, at most.
const MOST_REASONS: usize = 12;
/// Labels in a line, at most.
const MOST_LISTED: usize = 6;
/// A point that counts for less is said to be an outlier.
const OUTLIER: f64 = 0.3;
/// Measured passes that points are off by more contradict them.
const FIXED: f64 = 0.05;
/// A term with more of its width left is not told by the points.
const OPEN: f64 = 0.9;
/// Medians that differ by less are the same.
const NO_NEARER: f64 = 0.005;
/// Constants that moved by less of their deviation stayed.
const STAYED: f64 = 0.05;

/// What people read.
#[must_use]
pub fn text(found: &Fitted, style: Style) -> String {
    let mut parts = vec![headline(found)];
    parts.extend(found.regime.as_ref().map(|regime| course(regime, found)));
    parts.push(points(found, style));
    parts.push(constants(found, style));
    parts.extend(reasons(&found.refused, style));
    let remarks = remarks(found);
    if !remarks.is_empty() {
        parts.push(remarks.join("\n"));
    }
    parts.extend(found.next.as_ref().map(measure));
    parts.join("\n\n")
}

/// What it comes to, in one line.
#[must_use]
pub fn headline(found: &Fitted) -> String {
    let fitted = || found.used.iter().filter(|used| used.is_fitted);
    let middle = |of: fn(&Used) -> f64| percent(median(fitted().map(|used| of(used).abs())));
    let (before, after) = (middle(|used| used.residual.before), middle(|used| used.residual.after));
    match fitted().count() {
        1 => format!(
            "1 point, {} off as priced, {} with the profile: one point cannot tell how far off others are",
            middle(|used| used.residual.before),
            middle(|used| used.residual.after)
        ),
        count => format!(
            "{}: off by {before} in the median as priced, {after} with the profile, {} where each is predicted by the others",
            counted(count as u64, "point"),
            middle(|used| used.residual.left_out)
        ),
    }
}

fn course(regime: &Regime, found: &Fitted) -> String {
    let between = regime.along.between(tenths(regime.last_below), tenths(regime.first_above));
    let side = found.side;
    format!(
        "CHANGE OF COURSE {between}: one set of constants misses points left out by {} (root mean square), one for each \
         side by {}.\nThe profile is fitted to the points {side} it alone; --side below or --side above chooses. A host that cannot launch fast \
         enough, or graphs that\nend at some batch, make such steps: prices across it would hold on neither side.",
        percent(regime.together),
        percent(regime.apart)
    )
}

fn points(found: &Fitted, style: Style) -> String {
    let header = ["point", "what", "batch", "context", "measured", "lasts", "priced", "profile", "left out", ""];
    let mut table = table(&header.map(str::to_owned), style);
    for used in found.used.iter().take(MOST_POINTS) {
        let (point, residual) = (&used.point, &used.residual);
        table.add_row(
            [
                point.label.clone(),
                what(used),
                shortest(tenths(point.batch)),
                shortest(point.context.round()),
                measured(&point.timed),
                Seconds::new(used.sample.measured()).to_string(),
                signed(residual.before),
                signed(residual.after),
                if used.is_fitted { signed(residual.left_out) } else { "-".to_owned() },
                mark(used).to_owned(),
            ]
            .map(right),
        );
    }
    let mut notes = vec![
        "lasts: the step or round that the figure comes to; of a speedup beside the priced step".to_owned(),
        "priced, profile, left out: how much longer the price says, that of the new profile, and that of one fitted to the other points alone".to_owned(),
    ];
    let rest = found.used.len().saturating_sub(MOST_POINTS);
    if rest > 0 {
        notes.push(format!("and {rest} more: --format csv lists all"));
    }
    composed("Points", &table, notes, style)
}

fn what(used: &Used) -> String {
    match (used.point.k, &used.point.drafter) {
        (0, _) => "plain step".to_owned(),
        (k, None) => format!("k = {k}"),
        (k, Some(drafter)) => format!("{drafter}, k = {k}"),
    }
}

fn mark(used: &Used) -> &'static str {
    match used {
        Used { is_fitted: false, .. } => "not fitted",
        Used { sample, .. } if sample.is_fixed() => "fixed price",
        Used { residual, .. } if residual.weight < OUTLIER => "outlier",
        _ => "",
    }
}

fn measured(timed: &Timed) -> String {
    match timed {
        Timed::Step(seconds) => seconds.to_string(),
        Timed::PerToken(seconds) => format!("{seconds} a token"),
        Timed::Throughput(rate) => format!("{} tokens/s", shortest((rate * 10.0).round() / 10.0)),
        Timed::Speedup(speedup) => format!("{}x", shortest((speedup * 1000.0).round() / 1000.0)),
    }
}

fn constants(found: &Fitted, style: Style) -> String {
    let header = ["constant", "before", "profile", "90 %", "what the points tell"];
    let mut table = table(&header.map(str::to_owned), style);
    for of in &found.moved {
        let reach = 1.645 * of.deviation;
        let range = format!("{} to {}", shown(of, (of.after - reach).max(0.0)), shown(of, of.after + reach));
        let cells = [of.name.to_owned(), shown(of, of.before), shown(of, of.after), range, told(of)];
        table.add_row(cells.map(right));
    }
    let note = "paces: seconds of plain passes, and of passes of rounds, over their price; the others are seconds beside passes".to_owned();
    composed("Constants", &table, vec![note], style)
}

fn shown(of: &Moved, value: f64) -> String {
    if of.is_time { Seconds::new(value).to_string() } else { format!("{value:.3}") }
}

/// What the points tell of a constant.
fn told(of: &Moved) -> String {
    let moved = (of.after - of.before).abs() > STAYED * of.deviation && of.after.to_bits() != of.before.to_bits();
    if of.is_held {
        "held at its limit".to_owned()
    } else if of.open > OPEN {
        "nothing".to_owned()
    } else if moved {
        format!("moved; {} of what was open is left", percent(of.open))
    } else {
        format!("as before; {} of what was open is left", percent(of.open))
    }
}

/// Points that say nothing, with their reasons.
fn reasons(refused: &[(String, String)], style: Style) -> Option<String> {
    if refused.is_empty() {
        return None;
    }
    let mut table = table(&["point", "reason"].map(str::to_owned), style);
    for (label, reason) in refused.iter().take(MOST_REASONS) {
        table.add_row([label.clone(), reason.clone()].map(right));
    }
    let rest = refused.len().saturating_sub(MOST_REASONS);
    let notes = if rest > 0 { vec![format!("and {rest} more")] } else { Vec::new() };
    Some(composed(&format!("Left out: {}", counted(refused.len() as u64, "point")), &table, notes, style))
}

/// What the user should know of the points.
#[must_use]
pub fn remarks(found: &Fitted) -> Vec<String> {
    let mut lines = Vec::new();
    let label = |at: usize| found.used.get(at).map_or("", |used| used.point.label.as_str());
    for pair in &found.repeated {
        let (first, second) = (label(pair.first), label(pair.second));
        if pair.apart > 0.0 {
            lines.push(format!(
                "{first} and {second} contradict each other: the same situation, {} apart; what agrees less with the others counts less",
                percent(pair.apart)
            ));
        }
    }
    let again: Vec<String> = found
        .repeated
        .iter()
        .filter(|pair| pair.apart <= 0.0)
        .map(|pair| format!("{} ({})", label(pair.second), label(pair.first)))
        .collect();
    if !again.is_empty() {
        lines.push(format!("the same numbers again, counted once: {}", listed(&again)));
    }
    let fixed = || found.used.iter().filter(|used| used.sample.is_fixed());
    if fixed().next().is_some() {
        let off = median(fixed().map(|used| used.residual.after));
        lines.push(format!(
            "{} priced by [verify_cost], which no constant moves; the table is {} off there in the median{}",
            counted(fixed().count() as u64, "point"),
            signed(off),
            if off.abs() > FIXED { ": table and points contradict each other" } else { "" }
        ));
    }
    let mut outliers: Vec<String> =
        found.used.iter().filter(|used| mark(used) == "outlier").map(|used| used.point.label.clone()).collect();
    outliers.dedup();
    if !outliers.is_empty() {
        let what = "far from all others, and hardly counted";
        let where_they_are = large(found).map_or_else(String::new, |batch| {
            format!(
                "; all of them at batch {} and more, where something else sets in: take more points there, or below and above apart",
                shortest(tenths(batch))
            )
        });
        lines.push(format!("{what}: {}{where_they_are}", listed(&outliers)));
    }
    let loops = || found.used.iter().filter(|used| used.sample.prefill > 0.0);
    if loops().next().is_some() {
        let share = median(loops().map(|used| used.sample.prefill / used.sample.priced()));
        lines.push(format!(
            "{} of a closed loop (concurrency, benchmarks): their steps hold prefill of others' prompts, {} of the priced step in the median; the profile prices decoding \
             alone",
            counted(loops().count() as u64, "point"),
            percent(share)
        ));
    }
    let plain = found.used.iter().any(|used| matches!(used.sample.seen, Seen::Step(_)));
    let rounds = found.used.iter().any(|used| matches!(used.sample.seen, Seen::Round(_)));
    if rounds && !plain {
        lines.push("no plain step is among the points: what the rounds take beyond their price may be the machine's or speculation's; measure k = 0 at one of the batches".to_owned());
    }
    if found.used.iter().all(|used| used.point.k == 0) {
        lines.push("plain steps alone say nothing of rounds: those stay as priced".to_owned());
    }
    let off = |of: fn(&Used) -> f64| median(found.used.iter().filter(|used| used.is_fitted).map(|used| of(used).abs()));
    if off(|used| used.residual.after) > off(|used| used.residual.before) + NO_NEARER {
        lines.push("the profile is no nearer to these points than the one it began with: they disagree on what to change; look at those far off".to_owned());
    }
    if found.is_waiting {
        lines.push("rounds take far more for each round and sequence than fitted engines spend (t_round, t_sequence): they wait, likely for the host; the profile has it".to_owned());
    }
    if let Some(points) = found.began_with {
        lines.push(format!(
            "the profile it began with was calibrated itself, on {}: those of them that are given again count twice; begin with its base instead (--engine {})",
            counted(points, "point"),
            found.base
        ));
    }
    let few = found.used.iter().filter(|used| used.is_fitted).count();
    if few < 3 {
        lines.push("with three points, one of them at the largest planned batch, published deployments were predicted within 2 to 5 % in the median".to_owned());
    }
    lines
}

/// The least batch of outliers, where all of them are larger than most points.
fn large(found: &Fitted) -> Option<f64> {
    let batches = |of_outliers: bool| {
        found
            .used
            .iter()
            .filter(move |used| used.is_fitted && (mark(used) == "outlier") == of_outliers)
            .map(|used| used.point.batch)
    };
    let least = batches(true).reduce(f64::min)?;
    let (below, all) = (batches(false).filter(|batch| *batch < least).count(), batches(false).count());
    (batches(true).count() > 1 && 4 * below >= 3 * all).then_some(least)
}

/// The first of many, and how many more.
fn listed(all: &[String]) -> String {
    let rest = all.len().saturating_sub(MOST_LISTED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", all[..all.len() - rest].join(", "))
}

fn measure(next: &Next) -> String {
    let time = Seconds::new(next.seconds);
    let what = match (next.k, &next.drafter) {
        (0, _) => format!("a plain step (k = 0) at batch {}, context {}: {time} is expected", next.batch, next.context),
        (k, drafter) => format!(
            "drafter {}, k = {k} at batch {}, context {}: rounds of {time}, {} a token at {:.2} tokens per pass, are expected",
            drafter.as_deref().unwrap_or_default(),
            next.batch,
            next.context,
            Seconds::new(next.seconds / next.tokens),
            next.tokens
        ),
    };
    format!(
        "Measure next: {what}.\nAt the planned batches and contexts it takes the deviation of speedups for these constants from {} to {}.",
        percent(next.now),
        percent(next.then)
    )
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn cells(used: &Used) -> [Cell<'_>; COLUMNS.len()] {
    let (point, sample, residual) = (&used.point, &used.sample, &used.residual);
    let left_out = if used.is_fitted { Cell::Number(residual.left_out) } else { Cell::Empty };
    [
        Cell::Text(&point.label),
        point.drafter.as_deref().map_or(Cell::Empty, Cell::Text),
        Cell::Integer(point.k),
        Cell::Number(point.batch),
        Cell::Number(point.context),
        Cell::Number(sample.tokens),
        Cell::Text(point.timed.what()),
        Cell::Number(sample.measured()),
        Cell::Number(sample.priced()),
        Cell::Number(residual.before),
        Cell::Number(residual.after),
        left_out,
        if used.is_fitted { Cell::Number(residual.weight) } else { Cell::Number(0.0) },
    ]
}

/// Every point that was used.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(found: &Fitted) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(found.used.iter().map(cells))?);
    Ok(bytes)
}

/// `{"manifest", "headline", "points", "constants", "regime", "next", "refused", "remarks"}`.
#[must_use]
pub fn document(found: &Fitted, manifest: &Value) -> Vec<u8> {
    let constant = |of: &Moved| {
        json!({
            "name": of.name, "before": of.before, "after": of.after, "deviation": of.deviation, "left_open": of.open, "at_limit": of.is_held,
        })
    };
    let next = found.next.as_ref().map(|of| {
        json!({
            "drafter": of.drafter, "k": of.k, "batch": of.batch, "context": of.context, "expected_s": of.seconds,
            "tokens_per_pass": of.tokens, "deviation_now": of.now, "deviation_then": of.then,
        })
    });
    let regime = found.regime.as_ref().map(|of| {
        json!({ "along": format!("{:?}", of.along).to_lowercase(), "last_below": of.last_below, "first_above": of.first_above, "together": of.together, "apart": of.apart, "side": found.side.as_str() })
    });
    let error = found.engine.additive().and_then(|additive| additive.calibration.as_ref()).map(|of| &of.error);
    let document = json!({
        "manifest": manifest,
        "headline": headline(found),
        "expected_error": error.map(|error| json!({ "median": error.median, "p90": error.p90 })),
        "points": found.used.iter().map(|used| crate::report::json::object(&COLUMNS, cells(used))).collect::<Vec<_>>(),
        "constants": found.moved.iter().map(constant).collect::<Vec<_>>(),
        "regime": regime,
        "next": next,
        "refused": found.refused.iter().map(|(point, reason)| json!({ "point": point, "reason": reason })).collect::<Vec<_>>(),
        "remarks": remarks(found),
    });
    format!("{document:#}\n").into_bytes()
}
