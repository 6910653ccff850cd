//! JSON of engines and benchmarks: whatever wraps it, objects are known by their keys.

mod bench;
mod requests;
mod trtllm;

use jiter::JsonValue;

use crate::domain::observed::Window;
use crate::import::engine::log::Log;
use crate::import::engine::scan::has_needle;
use crate::words::Printout;

/// Levels that are looked into.
const DEEPEST: usize = 24;

/// Takes windows.
pub(super) struct Seen<'a>(&'a mut dyn FnMut(Window));

impl<'a> Seen<'a> {
    pub(super) fn new(take: &'a mut dyn FnMut(Window)) -> Self {
        Self(take)
    }
}

/// Looks for objects that are known.
#[derive(Debug)]
pub(super) struct Found {
    k: Option<u64>,
    /// For lines of a log that a logger wrapped in JSON.
    log: Log,
}

impl Found {
    pub(super) fn new(k: Option<u64>) -> Self {
        Self { k, log: Log::new(k) }
    }

    pub(super) fn value(&mut self, value: &JsonValue<'_>, seen: &mut Seen<'_>) {
        self.look(value, seen, 0);
    }

    fn look(&mut self, value: &JsonValue<'_>, seen: &mut Seen<'_>, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            JsonValue::Object(entries) => {
                let known = READERS.iter().find_map(|read| read(value, self.k));
                if let Some(windows) = known {
                    windows.into_iter().for_each(&mut seen.0);
                    return;
                }
                let stamped = stamped(value);
                for (key, inner) in entries.iter() {
                    match (inner, &stamped) {
                        // A logger keeps the moment apart from the message.
                        (JsonValue::Str(text), Some(at)) if has_needle(text.as_bytes()) => {
                            self.log.line(&format!("{at} {text}"), &mut seen.0);
                        }
                        _ if key != "server_info" && key != "generated_texts" => self.look(inner, seen, depth + 1),
                        _ => {}
                    }
                }
            }
            JsonValue::Array(items) => items.iter().for_each(|item| self.look(item, seen, depth + 1)),
            JsonValue::Str(text) if has_needle(text.as_bytes()) => self.log.line(text, &mut seen.0),
            JsonValue::Str(text) if text.trim_start().starts_with('{') => {
                if let Ok(inner) = JsonValue::parse(text.as_bytes(), true) {
                    self.look(&inner, seen, depth + 1);
                }
            }
            _ => {}
        }
    }

    pub(super) fn end(&mut self, take: &mut dyn FnMut(Window)) -> Vec<(Printout, u64)> {
        self.log.end(take)
    }
}

/// The text of a moment beside a message.
fn stamped(value: &JsonValue<'_>) -> Option<String> {
    ["timestamp", "time", "asctime", "ts", "@timestamp"].iter().find_map(|key| match get(value, key) {
        Some(JsonValue::Str(text)) => Some(text.to_string()),
        _ => None,
    })
}

/// Reads an object, if it is one of its kind.
type Read = fn(&JsonValue<'_>, Option<u64>) -> Option<Vec<Window>>;

const READERS: [Read; 12] = [
    bench::aiperf,
    bench::vllm,
    requests::vllm,
    requests::sglang,
    requests::aiperf,
    requests::llama,
    requests::steps,
    trtllm::iteration,
    trtllm::bench,
    bench::sglang_server,
    bench::sglang,
    bench::guidellm,
];

/// The value under a key of an object.
fn get<'v, 's>(value: &'v JsonValue<'s>, key: &str) -> Option<&'v JsonValue<'s>> {
    match value {
        JsonValue::Object(entries) => entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
        _ => None,
    }
}

/// A number that is finite.
fn of_number(value: &JsonValue<'_>) -> Option<f64> {
    match value {
        JsonValue::Int(number) => Some(*number as f64),
        JsonValue::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

/// The number under the first of several keys that is there.
fn number(value: &JsonValue<'_>, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| get(value, key).and_then(of_number))
}

/// The numbers under a key.
fn list(value: &JsonValue<'_>, keys: &[&str]) -> Option<Vec<f64>> {
    keys.iter().find_map(|key| match get(value, key)? {
        JsonValue::Array(items) => items.iter().map(of_number).collect(),
        _ => None,
    })
}

/// Rounds by accepted drafts: a list, or an object by number.
fn histogram(value: &JsonValue<'_>) -> Option<Vec<f64>> {
    match value {
        JsonValue::Array(items) => items.iter().map(of_number).collect(),
        JsonValue::Object(entries) => {
            let mut counts = Vec::new();
            for (key, rounds) in entries.iter() {
                let at = key.parse::<usize>().ok().filter(|at| *at <= 4096)?;
                if counts.len() <= at {
                    counts.resize(at + 1, 0.0);
                }
                counts[at] = of_number(rounds)?;
            }
            Some(counts).filter(|counts| !counts.is_empty())
        }
        _ => None,
    }
}

/// Rounds that accept at least the first, second, … draft, out of rounds by accepted drafts.
fn passed(histogram: &[f64]) -> Vec<f64> {
    let mut passed: Vec<f64> = histogram.iter().skip(1).copied().collect();
    for at in (1..passed.len()).rev() {
        passed[at - 1] += passed[at];
    }
    passed
}

/// The draft length if every draft has the same.
fn even(drafted: Option<f64>, rounds: Option<f64>) -> Option<u64> {
    let k = drafted? / rounds?;
    (k >= 1.0 && k.fract() < 1e-9).then_some(k as u64)
}
