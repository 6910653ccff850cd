//! A decision as one JSON document.

use serde_json::{Map, Value, json};

use crate::plan::along::Along;
use crate::plan::candidate::Length;
use crate::plan::capacity::Capacity;
use crate::plan::tornado::Swing;
use crate::plan::verdict::AtBatch;
use crate::report::plan::columns::{break_even_columns, break_even_rows, columns, rows};
use crate::report::plan::schedule::document as schedules;
use crate::report::plan::words::Line;
use crate::report::plan::{Planned, Seen};

/// `{"manifest": {…}, "verdicts": […], "rows": […], "break_even": […], "schedules": […], "by_batch_and_context": […]}`.
#[must_use]
pub fn document(planned: &Planned<'_, '_>, manifest: &Value) -> Vec<u8> {
    let mut all = json!({
        "manifest": manifest,
        "verdicts": planned.cases().map(|seen| verdict(&seen)).collect::<Vec<_>>(),
        "rows": objects(&columns(), planned.cases().flat_map(rows)),
        "break_even": objects(&break_even_columns(), planned.cases().flat_map(break_even_rows)),
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, schedules(planned)) {
        all.extend(more);
    }
    format!("{all:#}\n").into_bytes()
}

fn objects(columns: &[&str], rows: impl Iterator<Item = Vec<Value>>) -> Vec<Value> {
    let object = |row: Vec<Value>| {
        let fields = columns.iter().map(|name| (*name).to_owned()).zip(row);
        Value::Object(fields.collect::<Map<String, Value>>())
    };
    rows.map(object).collect()
}

fn verdict(seen: &Seen<'_, '_, '_>) -> Value {
    let verdict = &seen.case.verdict;
    let setting = &seen.decision.setting;
    let along = verdict.candidate.map(|at| &seen.decision.lines[seen.case.context][at]);
    json!({
        "hardware": setting.device.id,
        "target": setting.target.id,
        "tensor_parallel": setting.tensor_parallel,
        "engine": setting.engine.id,
        "context": seen.context(),
        "acceptance": seen.acceptance(),
        "answer": verdict.answer.as_str(),
        "drafter": verdict.candidate.map(|_| seen.drafter()),
        "k": seen.k(),
        "decided_at_batch": verdict.decisive().map(|at| at.batch),
        "load": seen.planned.load.iter().map(|(name, batch)| ((*name).to_owned(), Value::from(*batch))).collect::<Map<_, _>>(),
        "at": verdict.at.iter().map(at_batch).collect::<Vec<_>>(),
        "pays_at_batch": along.map(Along::windows),
        "looked_at_batch": along.and_then(|along| along.schedule.last()).map(|span| span.last),
        "pays_at_batch_by_k": along.map(by_k),
        "profiles_contradict_at_batch": verdict.apart,
        "pays_at_context": verdict.contexts,
        "looked_at_context": verdict.looked_to,
        "fixed_k": along.map(fixed),
        "memory": along.map(|along| memory(along, seen.k().unwrap_or(0))),
        "memory_full": verdict.full.map(|full| json!({
            "k": full.k,
            "base_sequences": full.plain_batch,
            "sequences": full.batch,
            "base_tokens_per_s": full.plain,
            "tokens_per_s": full.speculative,
            "throughput_ratio": full.ratio(),
            "loses_from_sequences": full.loses_from,
        })),
        "hangs_on": verdict.swings.iter().map(swing).collect::<Vec<_>>(),
        "words": seen.lines().iter().map(|line: &Line| json!({ "about": line.about, "says": line.says })).collect::<Vec<_>>(),
    })
}

fn at_batch(at: &AtBatch) -> Value {
    json!({
        "batch": at.batch,
        "base_running": at.base_running,
        "running": at.running,
        "k": at.k,
        "speedup": at.k.map(|_| at.speedup),
        "low": at.sure.as_ref().map(|sure| sure.low),
        "median": at.sure.as_ref().map(|sure| sure.median),
        "high": at.sure.as_ref().map(|sure| sure.high),
        "chance_of_gain": at.sure.as_ref().map(|sure| sure.gains),
        "best_k_low": at.sure.as_ref().and_then(|sure| Some(sure.best_k?.0)),
        "best_k_high": at.sure.as_ref().and_then(|sure| Some(sure.best_k?.1)),
        "disputed_speedup": at.disputed.map(|other| other.speedup),
        "disputed_k": at.disputed.map(|other| other.k),
        "stand": at.stand.as_str(),
    })
}

/// Where each draft length pays.
fn by_k(along: &Along<'_, '_>) -> Value {
    let one = |(at, length): (usize, &Length)| {
        json!({
            "k": length.k,
            "batch": along.pays[at],
            "looked_to": along.last,
            "at_equal_batch": along.priced[at],
            "equal_looked_to": along.priced_to,
            "sequences": length.capacity.running,
        })
    };
    along.here.lengths.iter().enumerate().map(one).collect()
}

fn fixed(along: &Along<'_, '_>) -> Value {
    let steady = along.steady().map(|fixed| fixed.k);
    let one = |fixed: &crate::plan::along::Fixed| {
        json!({
            "k": fixed.k,
            "mean_loss": fixed.mean,
            "worst_loss": fixed.worst,
            "worst_at_batch": fixed.worst_at,
            "is_least": steady == Some(fixed.k),
        })
    };
    along.fixed.iter().map(one).collect()
}

fn memory(along: &Along<'_, '_>, k: u64) -> Value {
    let of = |capacity: &Capacity| {
        json!({
            "sequences": capacity.running,
            "sequences_by_memory": capacity.by_memory,
            "kv_tokens": capacity.kv_tokens,
            "limited_by": capacity.limiter.map(|limiter| limiter.as_str()),
        })
    };
    let with = along.here.length(k).map_or(along.here.resident, |length| length.capacity);
    json!({ "k": k, "with_drafter": of(&with), "without_drafter": of(&along.here.alone) })
}

fn swing(swing: &Swing) -> Value {
    json!({ "input": swing.input.name(), "speedup_at_5_percent": swing.low, "speedup_at_95_percent": swing.high })
}
