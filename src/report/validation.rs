//! Measurements against predictions, as text, Markdown, CSV and JSON.

use serde_json::{Value, json};

use crate::evidence::regret::Regret;
use crate::evidence::score::Errors;
use crate::evidence::validation::{Breakdown, Row, Score, Times, Validation};
use crate::report::number::shortest;
use crate::report::table::{Style, composed, right, table};
use crate::report::{csv, json};
use crate::sweep::row::Cell;
use crate::units::Seconds;

/// The columns of `validate`'s CSV.
pub const COLUMNS: [&str; 7] = ["id", "group", "class", "measured", "predicted", "error", "unpriced_reason"];

/// Reasons listed on the terminal, at most; every one is in CSV and JSON.
const MOST_REASONS: usize = 20;

/// The answer in one line.
#[must_use]
pub fn headline(found: &Validation) -> String {
    match &found.overall {
        None => "no measurement has a prediction".to_owned(),
        Some(Score { errors, sides }) => format!(
            "{} measurement{}: median error {}, 90 % within {}; right side of 1x {} of {}",
            errors.count,
            if errors.count == 1 { "" } else { "s" },
            percent(errors.median),
            percent(errors.p90),
            sides.right,
            sides.judged
        ),
    }
}

/// A share as percent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", shortest((share * 1000.0).round() / 10.0))
}

/// The same with its sign.
pub(super) fn signed(share: f64) -> String {
    let text = percent(share);
    match text.as_str() {
        "0 %" | "-0 %" => "0 %".to_owned(),
        _ if share > 0.0 => format!("+{text}"),
        _ => text,
    }
}

/// What people read.
#[must_use]
pub fn text(rows: &[Row], found: &Validation, style: Style) -> String {
    let mut parts = vec![headline(found)];
    let whole = [("all", found.overall), ("scored apart", found.excluded), ("everything", found.everything)];
    let whole: Vec<(String, Score)> =
        whole.iter().filter_map(|(name, score)| Some(((*name).to_owned(), (*score)?))).collect();
    let note = "always on calls no loss and calls no gain off; scored apart: an engine's fault, a problem report, or a \
                source that contradicts itself";
    parts.push(scores("Measurements", "", &whole, vec![note.to_owned()], style));
    let tables = found.breakdowns.iter().filter(|one| !one.parts.is_empty());
    parts.extend(tables.map(|Breakdown { by, parts }| scores(&format!("By {by}"), by, parts, notes_of(by), style)));
    parts.push(regrets(&found.regret, style));
    parts.extend(times(&found.times, style));
    parts.extend(unpriced_text(rows, style));
    parts.join("\n\n")
}

fn notes_of(by: &str) -> Vec<String> {
    match by {
        "class" => vec!["dense, moe: targets on vLLM and SGLang; other: every other engine".to_owned()],
        _ => Vec::new(),
    }
}

fn scores(title: &str, by: &str, parts: &[(String, Score)], notes: Vec<String>, style: Style) -> String {
    let header = [by, "rows", "median", "90 %", "mean", "right side", "losses called", "gains called off"];
    let mut table = table(&header.map(str::to_owned), style);
    for (name, Score { errors, sides }) in parts {
        let of = |part: usize, all: usize| if all == 0 { "-".to_owned() } else { format!("{part} of {all}") };
        table.add_row(
            [
                name.clone(),
                errors.count.to_string(),
                percent(errors.median),
                percent(errors.p90),
                signed(errors.mean_signed),
                of(sides.right, sides.judged),
                of(sides.losses_called, sides.losses),
                of(sides.gains_called_off, sides.gains),
            ]
            .map(right),
        );
    }
    composed(title, &table, notes, style)
}

fn regrets(regrets: &[Regret], style: Style) -> String {
    let Some(first) = regrets.first() else {
        return "No group of measurements differs in k only: no choice of k to judge".to_owned();
    };
    let mut table = table(&["rule", "mean", "90 %", "worst"].map(str::to_owned), style);
    for regret in regrets {
        let cells = [regret.policy.to_string(), percent(regret.mean), percent(regret.p90), percent(regret.worst)];
        table.add_row(cells.map(right));
    }
    let title = format!("Choice of k: share of the best measured speedup that is lost, {} groups", first.groups);
    let note = "model: the largest predicted speedup, or k = 0; longest: the most tokens per pass".to_owned();
    composed(&title, &table, vec![note], style)
}

fn times(times: &Times, style: Style) -> Option<String> {
    let named = [("plain step", times.base_step), ("round", times.round)];
    let known: Vec<(&str, Errors)> = named.iter().filter_map(|(name, errors)| Some((*name, (*errors)?))).collect();
    if known.is_empty() {
        return None;
    }
    let mut table = table(&["time", "rows", "median", "90 %", "mean"].map(str::to_owned), style);
    for (name, errors) in known {
        let cells = [
            name.to_owned(),
            errors.count.to_string(),
            percent(errors.median),
            percent(errors.p90),
            signed(errors.mean_signed),
        ];
        table.add_row(cells.map(right));
    }
    let note =
        "served times hold prefill and queueing at high concurrency: ratios hold better than times do".to_owned();
    Some(composed("Absolute times, where printed", &table, vec![note], style))
}

/// Rows without a prediction, with the reason.
fn unpriced(rows: &[Row]) -> impl Iterator<Item = (&Row, &str)> {
    rows.iter().filter_map(|row| Some((row, row.predicted.as_ref().err()?.as_str())))
}

fn unpriced_text(rows: &[Row], style: Style) -> Option<String> {
    let count = unpriced(rows).count();
    if count == 0 {
        return None;
    }
    let mut table = table(&["row", "reason"].map(str::to_owned), style);
    for (row, reason) in unpriced(rows).take(MOST_REASONS) {
        table.add_row([row.id.clone(), reason.to_owned()].map(right));
    }
    let rest = count.saturating_sub(MOST_REASONS);
    let notes = if rest > 0 { vec![format!("and {rest} more: --format csv lists all")] } else { Vec::new() };
    Some(composed(&format!("Not priced: {count} of {} rows", rows.len()), &table, notes, style))
}

fn cells(row: &Row) -> [Cell<'_>; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
    let measured = row.measured.as_ref().map(|measured| measured.speedup);
    let predicted = row.predicted.as_ref().ok().map(|prediction| prediction.speedup);
    let error = measured.zip(predicted).map(|(measured, predicted)| predicted / measured - 1.0);
    let group = row.measured.as_ref().and_then(|measured| measured.group.as_deref());
    [
        Cell::Text(&row.id),
        group.map_or(Cell::Empty, Cell::Text),
        row.class.map_or(Cell::Empty, |class| Cell::Text(class.as_str())),
        number(measured),
        number(predicted),
        number(error),
        row.predicted.as_ref().err().map_or(Cell::Empty, |reason| Cell::Text(reason)),
    ]
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(rows: &[Row]) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(rows.iter().map(cells))?);
    Ok(bytes)
}

/// `{"manifest", "overall", "by_class", …, "regret", "times", "excluded", "everything", "unpriced"}`.
#[must_use]
pub fn document(rows: &[Row], found: &Validation, manifest: &Value) -> Vec<u8> {
    let mut document = json!({ "manifest": manifest, "overall": score(found.overall.as_ref()) });
    for Breakdown { by, parts } in &found.breakdowns {
        let parts = parts.iter().map(|(name, part)| (name.clone(), score(Some(part))));
        document[format!("by_{by}")] = Value::Object(parts.collect());
    }
    document["regret"] = Value::Object(found.regret.iter().map(regret).collect());
    document["times"] = json!({ "base_step": errors(found.times.base_step), "round": errors(found.times.round) });
    document["excluded"] = score(found.excluded.as_ref());
    document["everything"] = score(found.everything.as_ref());
    let reasons = unpriced(rows).map(|(row, reason)| json!({ "id": row.id, "source": row.source, "reason": reason }));
    document["unpriced"] = reasons.collect();
    document["rows"] = rows.iter().map(row).collect();
    format!("{document:#}\n").into_bytes()
}

/// A row with all that its breakdowns are made of.
fn row(row: &Row) -> Value {
    let mut value: serde_json::Map<String, Value> =
        json::object(&COLUMNS, cells(row)).as_object().cloned().unwrap_or_default();
    value.insert("source".to_owned(), row.source.as_str().into());
    if let Some(measured) = &row.measured {
        let predicted = row.predicted.as_ref().ok();
        let details = json!({
            "scored_apart": measured.is_excluded(),
            "engine": measured.engine,
            "hardware": measured.hardware,
            "tensor_parallel": measured.devices,
            "target": measured.target,
            "drafter_kind": measured.drafter_kind.as_str(),
            "topology": measured.topology,
            "k": measured.k,
            "batch": measured.batch,
            "context": measured.context,
            "tokens_per_pass": measured.tokens_per_pass,
            "base_step_s": measured.base_step.map(Seconds::get),
            "predicted_base_step_s": predicted.map(|prediction| prediction.base_step.get()),
            "round_s": measured.round.map(Seconds::get),
            "predicted_round_s": predicted.map(|prediction| prediction.round.get()),
        });
        value.extend(details.as_object().cloned().unwrap_or_default());
    }
    Value::Object(value)
}

fn errors(errors: Option<Errors>) -> Value {
    errors.map_or(Value::Null, |errors| {
        json!({
            "count": errors.count,
            "median": errors.median,
            "p90": errors.p90,
            "mean_signed": errors.mean_signed,
        })
    })
}

fn score(score: Option<&Score>) -> Value {
    let Some(Score { errors: of, sides }) = score else { return Value::Null };
    let mut value = errors(Some(*of));
    value["sign"] = json!({ "judged": sides.judged, "right": sides.right });
    value["losses"] = json!({ "count": sides.losses, "called": sides.losses_called, "called_by_always_on": 0 });
    value["gains"] =
        json!({ "count": sides.gains, "called_off": sides.gains_called_off, "called_off_by_always_on": 0 });
    value
}

fn regret(regret: &Regret) -> (String, Value) {
    let value = json!({ "groups": regret.groups, "mean": regret.mean, "p90": regret.p90, "worst": regret.worst });
    (regret.policy.to_string(), value)
}
