//! A decision as CSV: a row for each drafter, context, batch and acceptance; and the break-even of every draft length.

use serde_json::Value;

use crate::plan::breakeven::alpha_to_pay;
use crate::plan::candidate::runs;
use crate::plan::decision::Row;
use crate::plan::limits::beyond;
use crate::plan::rivals::{Rival, break_even, winner};
use crate::report::csv::table;
use crate::report::plan::{Planned, Seen};

/// The columns that name a row.
const NAMES: [&str; 11] = [
    "hardware",
    "target",
    "tensor_parallel",
    "engine",
    "roofline",
    "drafter",
    "context",
    "batch",
    "acceptance",
    "alpha",
    "acceptance_case",
];

/// The columns of the decision.
#[must_use]
pub fn columns() -> Vec<&'static str> {
    let own = [
        "best_k",
        "speedup",
        "is_best_drafter",
        "drafting_k",
        "drafting_speedup",
        "tokens_per_pass",
        "tokens_to_level",
        "base_per_token_s",
        "per_token_s",
        "base_tokens_per_s",
        "tokens_per_s",
        "base_running",
        "running",
        "base_runs",
        "runs",
        "speedup_low",
        "speedup_high",
        "chance_of_gain",
        "stand",
        "notes",
    ];
    [&NAMES[..], &own].concat()
}

/// The columns of break-even.
#[must_use]
pub fn break_even_columns() -> Vec<&'static str> {
    let own = ["k", "tokens_per_pass", "tokens_to_pay", "alpha_to_pay", "speedup", "running", "runs", "notes"];
    [&NAMES[..], &own].concat()
}

/// The decision, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(planned: &Planned<'_, '_>) -> csv::Result<Vec<u8>> {
    table(&columns(), planned.cases().flat_map(rows))
}

/// The same rows, as cells.
pub fn rows<'p>(seen: Seen<'p, '_, '_>) -> impl Iterator<Item = Vec<Value>> + use<'p> {
    let mut all = Vec::new();
    for (at, &member) in seen.case.members.iter().enumerate() {
        for row in &seen.case.rows {
            all.push(cells(&seen, row, at, member));
        }
    }
    all.into_iter()
}

/// The names that a row starts with.
fn names(seen: &Seen<'_, '_, '_>, member: usize, batch: u64) -> Vec<Value> {
    let setting = &seen.decision.setting;
    let candidate = seen.candidate(member);
    vec![
        setting.device.id.as_str().into(),
        setting.target.id.as_str().into(),
        setting.tensor_parallel.into(),
        setting.engine.id.as_str().into(),
        setting.roofline().as_str().into(),
        candidate.drafter.label.as_str().into(),
        seen.context().into(),
        batch.into(),
        candidate.drafter.acceptance.model.kind().as_str().into(),
        candidate.process(seen.context()).alpha().into(),
        (candidate.acceptance + 1).into(),
    ]
}

fn cells(seen: &Seen<'_, '_, '_>, row: &Row, at: usize, member: usize) -> Vec<Value> {
    let here = &seen.decision.lines[seen.case.context][member].here;
    let setup = &here.candidate.setup;
    let Rival { best, tokens, level } = row.rivals[at];
    let gaining = best.filter(|best| best.speedup > 1.0);
    let place = here.at(row.batch);
    let base_runs = runs(&here.alone, row.batch);
    let plain = Some(place.plain.seconds().get()).filter(|_| place.base_running > 0);
    let rate = |running: u64, seconds: f64| (setup.ranks() * running) as f64 / seconds;
    let length = best.and_then(|best| here.length(best.k));
    let per_token = length.map(|length| place.per_token(length));
    let running = length.map(|length| place.running(length));
    let sure = (seen.case.verdict.candidate == Some(member))
        .then(|| seen.case.verdict.at.iter().find(|one| one.batch == row.batch))
        .flatten();
    let drawn = sure.and_then(|one| one.sure.as_ref());
    let mut cells = names(seen, member, row.batch);
    cells.extend([
        gaining.map_or(0, |best| best.k).into(),
        gaining.map_or(1.0, |best| best.speedup).into(),
        (winner(&row.rivals) == Some(at)).into(),
        best.map(|best| best.k).into(),
        best.map(|best| best.speedup).into(),
        tokens.into(),
        level.into(),
        plain.into(),
        per_token.into(),
        plain.map(|seconds| rate(place.base_running, seconds)).into(),
        running.zip(per_token).map(|(running, seconds)| rate(running, seconds)).into(),
        place.base_running.into(),
        running.unwrap_or(0).into(),
        base_runs.into(),
        match length {
            Some(length) => length.runs(row.batch),
            None => here.lengths.is_empty() && runs(&here.resident, row.batch),
        }
        .into(),
        drawn.map(|sure| sure.low).into(),
        drawn.map(|sure| sure.high).into(),
        drawn.map(|sure| sure.gains).into(),
        sure.map(|one| one.stand.as_str()).into(),
        notes(seen, member, row.batch, best.map(|best| best.k)),
    ]);
    cells
}

/// What the reader of a row should know.
fn notes(seen: &Seen<'_, '_, '_>, member: usize, batch: u64, k: Option<u64>) -> Value {
    let here = &seen.decision.lines[seen.case.context][member].here;
    let drafter = Some(here.candidate.drafter);
    let length = k.and_then(|k| here.length(k));
    let known = length.and_then(|length| length.known.note());
    let unvalidated = k.is_some_and(|k| seen.decision.setting.is_unvalidated(drafter, batch, here.context, k));
    let passed = k.map(|k| beyond(&here.candidate.setup, batch, here.context, k));
    let limits = passed.into_iter().flat_map(|beyond| beyond.limits().map(|(word, _)| word).collect::<Vec<_>>());
    known.into_iter().chain(unvalidated.then_some("unvalidated")).chain(limits).collect()
}

/// The break-even of every draft length at the batches that tables show.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn break_even_csv(planned: &Planned<'_, '_>) -> csv::Result<Vec<u8>> {
    table(&break_even_columns(), planned.cases().flat_map(break_even_rows))
}

/// The same rows, as cells.
pub fn break_even_rows<'p>(seen: Seen<'p, '_, '_>) -> impl Iterator<Item = Vec<Value>> + use<'p> {
    let mut all = Vec::new();
    for &member in &seen.case.members {
        let here = &seen.decision.lines[seen.case.context][member].here;
        for &batch in &seen.planned.shown {
            for line in break_even(here, batch) {
                let k = line.length.k;
                let running = here.at(batch).running(&line.length);
                let mut cells = names(&seen, member, batch);
                cells.extend([
                    k.into(),
                    line.length.tokens.into(),
                    line.tokens.into(),
                    line.tokens.and_then(|tokens| Some(alpha_to_pay(tokens, k)?.get())).into(),
                    (running > 0).then_some(line.speedup).into(),
                    running.into(),
                    line.length.runs(batch).into(),
                    notes(&seen, member, batch, Some(k)),
                ]);
                all.push(cells);
            }
        }
    }
    all.into_iter()
}
