//! A line of a table into points.

use csv::StringRecord;

use crate::domain::drafter::Layout;
use crate::domain::measured::{Measured, Timed};
use crate::domain::measurement::ClosedLoop;
use crate::import::cells::Cells;
use crate::import::points::Asked;
use crate::units::Seconds;

/// Columns that are read, under every name they may have.
pub(super) const READ: [&str; 43] = [
    "batch",
    "concurrency",
    "max_concurrency",
    "k",
    "context",
    "prompt_tokens",
    "output_tokens",
    "tokens_per_pass",
    "acceptance_length",
    "step_s",
    "step_ms",
    "round_s",
    "round_ms",
    "base_step_s",
    "base_step_ms",
    "tpot_s",
    "tpot_ms",
    "tokens_per_s",
    "speedup",
    "drafter",
    "topology",
    "verify_width",
    "draft_passes",
    "draft_width",
    "closed_loop",
    "hardware",
    "target",
    "engine",
    "tensor_parallel",
    // What the table of published measurements has beside.
    "id",
    "source",
    "source_url",
    "confidence",
    "group",
    "weight_bytes",
    "drafter_kind",
    "drafter_weight_bytes",
    "draft_budget",
    "note",
    "notes",
    "dataset",
    "date",
    "label",
];
const BATCH: [&str; 3] = ["batch", "concurrency", "max_concurrency"];
const CONTEXT: [&str; 2] = ["context", "prompt_tokens"];
/// Columns with what was measured; those with a time of their own come first.
const TIMES: [&str; 10] = [
    "step_s",
    "step_ms",
    "round_s",
    "round_ms",
    "tpot_s",
    "tpot_ms",
    "tokens_per_s",
    "base_step_s",
    "base_step_ms",
    "speedup",
];

/// Columns that say the same, with the factor to the first of them.
const SAME: [&[(&str, f64)]; 4] = [
    &[("tokens_per_pass", 1.0), ("acceptance_length", 1.0)],
    &[("step_s", 1.0), ("step_ms", 1e-3), ("round_s", 1.0), ("round_ms", 1e-3)],
    &[("base_step_s", 1.0), ("base_step_ms", 1e-3)],
    &[("tpot_s", 1.0), ("tpot_ms", 1e-3)],
];
/// Rounded figures of the same differ by no more.
const ROUNDED: f64 = 0.02;
/// A step and what its tokens take differ by no more, as averages of different requests do.
const AVERAGED: f64 = 1.5;
/// Contexts may count the tokens of a template, and blocks.
const ROUNDING_UP: f64 = 1.1;
/// Shapes of drafts.
const TOPOLOGIES: [&str; 3] = ["chain", "block", "tree"];

/// What a header lacks.
pub(super) fn missing(header: &StringRecord) -> Vec<&'static str> {
    let any = |names: &[&str]| header.iter().any(|name| names.contains(&name));
    let needed: [(&[&str], &'static str); 4] = [
        (&BATCH, "batch or concurrency"),
        (&["k"], "k"),
        (&CONTEXT, "context or prompt_tokens"),
        (&TIMES, "step_ms, tpot_ms, tokens_per_s or speedup"),
    ];
    needed.into_iter().filter(|(names, _)| !any(names)).map(|(_, what)| what).collect()
}

/// What a line says: its plain step, its round, or the one figure there is.
pub(super) fn line(cells: &Cells<'_>, label: &str, asked: &Asked<'_>) -> Result<Vec<Measured>, String> {
    if cells.record.len() > cells.header.len() {
        return Err(format!("{} cells below {} columns", cells.record.len(), cells.header.len()));
    }
    of_here(cells, asked)?;
    agree(cells)?;
    let k = cells.whole("k", 0.0)?.ok_or("no k")?;
    let tokens_per_pass = match cells.number("tokens_per_pass", 1.0)? {
        Some(tokens) => Some(tokens),
        None => cells.number("acceptance_length", 1.0)?,
    };
    let layout = layout(cells, k)?;
    let most = layout.map_or(k as f64 + 1.0, |layout| layout.verify_width);
    if k > 0 && tokens_per_pass.is_some_and(|tokens| tokens > most) {
        return Err(format!("more tokens per pass than the {most} tokens that a round verifies"));
    }
    let (batch, is_loop) = batch(cells)?;
    let requests = if is_loop { Some(requests(cells)?) } else { None };
    let point = Measured {
        label: label.to_owned(),
        drafter: cells.text("drafter").or_else(|| cells.text("drafter_kind")).map(str::to_owned),
        k,
        layout,
        batch,
        context: context(cells)?,
        requests,
        tokens_per_pass: tokens_per_pass.filter(|_| k > 0),
        timed: Timed::Speedup(1.0),
    };
    if k == 0 && tokens_per_pass.is_some_and(|tokens| tokens > 1.0) {
        return Err("k = 0 is plain decoding, which emits one token a pass".to_owned());
    }
    let base = seconds(cells, "base_step")?.map(|step| Measured {
        k: 0,
        layout: None,
        tokens_per_pass: None,
        timed: Timed::Step(step),
        ..point.clone()
    });
    let own = timed(cells, &point)?.map(|timed| Measured { timed, ..point });
    match (base, own) {
        (None, None) => Err("no time, throughput or speedup".to_owned()),
        (Some(base), Some(own)) if !is_gain(cells, &base, &own)? => {
            Err("its speedup is another than its own times come to: keep the figures that are right".to_owned())
        }
        // Together both say what their quotient does.
        (Some(base), Some(own)) if matches!(own.timed, Timed::Speedup(_)) => Ok(vec![round_of(&base, own), base]),
        (base, own) => Ok(base.into_iter().chain(own).collect()),
    }
}

/// Whether the speedup of a line, if it has one, is that of its own times.
fn is_gain(cells: &Cells<'_>, base: &Measured, own: &Measured) -> Result<bool, String> {
    let Some(speedup) = cells.positive("speedup")? else { return Ok(true) };
    let each = match (own.timed, own.tokens_per_pass) {
        (Timed::PerToken(each), _) => each.get(),
        (Timed::Step(round), Some(tokens)) => round.get() / tokens,
        _ => return Ok(true),
    };
    let own = base.timed.number() / each;
    Ok((1.0 / AVERAGED..=AVERAGED).contains(&(speedup / own)))
}

/// Refuses a line that says two things of the same.
fn agree(cells: &Cells<'_>) -> Result<(), String> {
    for group in SAME {
        let mut first: Option<(&str, f64)> = None;
        for (column, factor) in group {
            let Some(own) = cells.positive(column)?.map(|number| number * factor) else { continue };
            match first {
                Some((other, value)) if (own / value - 1.0).abs() > ROUNDED => {
                    return Err(format!("{other} and {column} say different things of the same: keep one"));
                }
                Some(_) => {}
                None => first = Some((column, own)),
            }
        }
    }
    Ok(())
}

/// Refuses a step that its own tokens contradict.
fn goes_with(step: Seconds, each: Option<Seconds>, tokens: f64) -> Result<Timed, String> {
    let of_tokens = each.map(|each| each.get() * tokens / step.get());
    match of_tokens.filter(|times| !(1.0 / AVERAGED..=AVERAGED).contains(times)) {
        Some(times) => Err(format!(
            "by its time per token the step lasts {times:.2} times as long as stated: keep the figure that is right"
        )),
        None => Ok(Timed::Step(step)),
    }
}

/// The round that a speedup and a plain step come to.
fn round_of(base: &Measured, own: Measured) -> Measured {
    let round = base.timed.number() * own.tokens_per_pass.unwrap_or(1.0) / own.timed.number();
    Measured { timed: Timed::Step(Seconds::new(round)), ..own }
}

/// Whether a line that names its deployment names the one that is asked about.
fn of_here(cells: &Cells<'_>, asked: &Asked<'_>) -> Result<(), String> {
    for (column, id) in &asked.only {
        let named = cells.text(column).map(|named| named.replace('_', "-"));
        if let Some(named) = named.filter(|named| named != id) {
            return Err(format!("{column} {named}, and the scenario has {id}"));
        }
    }
    Ok(())
}

/// Sequences, and whether they are clients of a closed loop.
fn batch(cells: &Cells<'_>) -> Result<(f64, bool), String> {
    let looped = matches!(cells.text("closed_loop"), Some("1" | "true"));
    if let Some(batch) = cells.number("batch", 1.0)? {
        for column in ["concurrency", "max_concurrency"] {
            if let Some(clients) = cells.number(column, 1.0)?.filter(|clients| *clients < batch) {
                return Err(format!("batch {batch} is more than its {column}, {clients}"));
            }
        }
        return Ok((batch, looped));
    }
    for column in ["concurrency", "max_concurrency"] {
        if let Some(clients) = cells.number(column, 1.0)? {
            // Prompt and output alone tell the share of prefill.
            let told = cells.text("prompt_tokens").is_some() && cells.text("output_tokens").is_some();
            return Ok((clients, told));
        }
    }
    Err("no batch".to_owned())
}

fn requests(cells: &Cells<'_>) -> Result<ClosedLoop, String> {
    let prompt = cells.positive("prompt_tokens")?.ok_or("no prompt_tokens, which a closed loop needs")?;
    let output = cells.positive("output_tokens")?.ok_or("no output_tokens, which a closed loop needs")?;
    Ok(ClosedLoop { prompt, output })
}

/// Cached tokens; where they are not stated, the prompt and half the output.
fn context(cells: &Cells<'_>) -> Result<f64, String> {
    let (prompt, output) = (cells.number("prompt_tokens", 0.0)?, cells.number("output_tokens", 0.0)?);
    let half_way = prompt.map(|prompt| prompt + output.unwrap_or(0.0) / 2.0);
    let stated = cells.number("context", 1.0)?;
    let whole = prompt.zip(output).map(|(prompt, output)| prompt + output);
    if let (Some(context), Some(whole)) =
        (stated, whole.filter(|whole| stated.is_some_and(|of| of > ROUNDING_UP * whole)))
    {
        return Err(format!("context {context} is longer than its {whole} tokens of prompt and output"));
    }
    stated.or(half_way).ok_or_else(|| "no context".to_owned())
}

/// Passes that a line states; a tree is known by its nodes.
fn layout(cells: &Cells<'_>, k: u64) -> Result<Option<Layout>, String> {
    let topology = cells.text("topology");
    if let Some(other) = topology.filter(|named| !TOPOLOGIES.contains(named)) {
        return Err(format!("topology {other} is none of {}", TOPOLOGIES.join(", ")));
    }
    let (width, is_tree) = (cells.number("verify_width", 1.0)?, topology == Some("tree"));
    let (passes, drafted) = (cells.number("draft_passes", 0.0)?, cells.number("draft_width", 0.0)?);
    let Some(verify_width) = width.filter(|_| k > 0) else {
        return if is_tree { Err("a tree without verify_width".to_owned()) } else { Ok(None) };
    };
    let draft_passes = passes.unwrap_or(k as f64);
    let draft_width = drafted.filter(|width| *width > 0.0).unwrap_or(1.0);
    Ok(Some(Layout { verify_width, draft_passes, draft_width, is_tree }))
}

/// A time under a column in seconds or in milliseconds.
fn seconds(cells: &Cells<'_>, column: &str) -> Result<Option<Seconds>, String> {
    match cells.positive(&format!("{column}_s"))? {
        Some(seconds) => Ok(Some(Seconds::new(seconds))),
        None => Ok(cells.positive(&format!("{column}_ms"))?.map(|milliseconds| Seconds::new(milliseconds / 1e3))),
    }
}

/// The first figure there is, if it says something of the round.
fn timed(cells: &Cells<'_>, point: &Measured) -> Result<Option<Timed>, String> {
    let step = match seconds(cells, "step")? {
        Some(step) => Some(step),
        None => seconds(cells, "round")?,
    };
    let each = seconds(cells, "tpot")?;
    if let Some(step) = step {
        let tokens = if point.k == 0 { Some(1.0) } else { point.tokens_per_pass };
        return goes_with(step, each.filter(|_| tokens.is_some()), tokens.unwrap_or(1.0)).map(Some);
    }
    let timed = match (each, cells.positive("tokens_per_s")?, cells.positive("speedup")?) {
        (Some(each), _, _) => Timed::PerToken(each),
        (_, Some(rate), _) => Timed::Throughput(rate),
        (_, _, Some(speedup)) => Timed::Speedup(speedup),
        _ => return Ok(None),
    };
    match (&timed, point.k, point.tokens_per_pass) {
        (Timed::Speedup(_), 0, _) => Err("k = 0 is plain decoding, whose speedup is 1: give its time".to_owned()),
        (_, 0, _) => Ok(Some(timed)),
        (_, _, None) => Err(format!(
            "a {} without tokens_per_pass says nothing of the round: engines print it as acceptance length",
            timed.what()
        )),
        (Timed::Speedup(speedup), _, Some(tokens)) if *speedup > tokens => Err(format!(
            "speedup {speedup} is more than the {tokens} tokens of a pass: no round is shorter than a plain step"
        )),
        _ => Ok(Some(timed)),
    }
}
