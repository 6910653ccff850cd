//! Traces as JSON: an object on each line, or one with lists.

use std::collections::HashSet;

use serde_json::Value;

use super::{NotServed, Raw, tokens};

/// Tokens of a block whose hash Mooncake publishes.
const MOONCAKE_BLOCK: u32 = 512;
/// The same of the traces of Qwen.
const QWEN_BLOCK: u32 = 16;

pub(super) fn read(text: &str, notes: &mut Vec<String>) -> Result<Vec<Raw>, NotServed> {
    if let Ok(whole) = serde_json::from_str::<Value>(text)
        && whole.get("input_lens").is_some()
    {
        return detailed(&whole);
    }
    let mut blocks = HashSet::new();
    let mut raw = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let wrong = |reason: String| NotServed::Line { line, reason };
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(broken(&error)))?;
        if value.get("meta").is_some() {
            continue;
        }
        if value.get("conversations").is_some() || value.get("conversation").is_some() {
            return Err(NotServed::Texts);
        }
        raw.push(one(&value, &mut blocks).map_err(|error| error.map_or(NotServed::UnknownForm, wrong))?);
    }
    let hit: u64 = raw.iter().map(|request| u64::from(request.hit)).sum();
    if hit > 0 {
        let prompts: u64 = raw.iter().map(|request| u64::from(request.prompt)).sum();
        let share = 100.0 * hit as f64 / prompts as f64;
        notes.push(format!(
            "{share:.0} % of prompt tokens were in blocks that an earlier prompt had: taken as cached, without end"
        ));
    }
    Ok(raw)
}

/// Why a line is no JSON; where in the file it stands is known better than by the parser, which sees one line.
fn broken(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let reason = said.split_once(" at line ").map_or(said.as_str(), |(reason, _)| reason);
    format!("{reason}, at column {}", error.column())
}

/// A request; none of a known form is `Err(None)`.
fn one(value: &Value, blocks: &mut HashSet<u64>) -> Result<Raw, Option<String>> {
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let count = |key: &str| match value.get(key) {
        None => Err(None),
        Some(found) => match found.as_f64() {
            Some(number) => tokens(number, key).map_err(Some),
            None => Err(Some(format!("{key} {found} is no number"))),
        },
    };
    if value.get("input_length").is_some() {
        // Two publishers of one form, apart in unit and size of blocks.
        let is_qwen = value.get("chat_id").is_some() || value.get("turn").is_some();
        let (unit, block) = if is_qwen { (1.0, QWEN_BLOCK) } else { (1e-3, MOONCAKE_BLOCK) };
        let prompt = count("input_length")?;
        let hit = value.get("hash_ids").and_then(Value::as_array).map_or(0, |ids| known(ids, block, blocks));
        let at = number("timestamp").map(|time| time * unit);
        return Ok(Raw { at, prompt, hit: hit.min(prompt), output: count("output_length")? });
    }
    if value.get("input_toks").is_some() {
        let at = number("arrival_time_ns").map(|time| time * 1e-9).or_else(|| number("arrival_time"));
        return Ok(Raw { at, prompt: count("input_toks")?, hit: 0, output: count("output_toks")? });
    }
    let (prompt, output) = (count("prompt_tokens")?, count("output_tokens")?);
    let hit = count("cached_tokens").unwrap_or(0).min(prompt);
    Ok(Raw { at: None, prompt, hit, output })
}

/// Tokens of the leading blocks that were seen before; all of them are from now on.
fn known(ids: &[Value], block: u32, blocks: &mut HashSet<u64>) -> u32 {
    let ids: Vec<u64> = ids.iter().filter_map(Value::as_u64).collect();
    let leading = ids.iter().take_while(|id| blocks.contains(id)).count();
    blocks.extend(ids);
    u32::try_from(leading).unwrap_or(u32::MAX).saturating_mul(block)
}

/// `vllm bench serve --save-detailed`.
fn detailed(whole: &Value) -> Result<Vec<Raw>, NotServed> {
    let list = |key: &str| whole.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let (prompts, outputs, starts) = (list("input_lens"), list("output_lens"), list("start_times"));
    let wrong = NotServed::Lists;
    if outputs.len() != prompts.len() || !(starts.is_empty() || starts.len() == prompts.len()) {
        let lengths =
            format!("{} input_lens, {} output_lens, {} start_times", prompts.len(), outputs.len(), starts.len());
        return Err(wrong(format!("its lists are not equally long: {lengths}")));
    }
    let count = |value: &Value, what: &str| tokens(value.as_f64().unwrap_or(f64::NAN), what).map_err(wrong);
    (0..prompts.len())
        .map(|at| {
            let (prompt, output) = (count(&prompts[at], "input_lens")?, count(&outputs[at], "output_lens")?);
            Ok(Raw { at: starts.get(at).and_then(Value::as_f64), prompt, hit: 0, output })
        })
        .collect()
}
