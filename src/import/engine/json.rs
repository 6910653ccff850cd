//! JSON of engines and benchmarks: whatever wraps it, objects are known by their keys.

mod bench;
mod requests;
mod trtllm;

use jiter::JsonValue;

use crate::domain::observed::{Stamp, Window};
use crate::import::engine::log::Log;
use crate::import::engine::scan::has_needle;
use crate::import::engine::stamp::written;
use crate::import::value::{get, of_number};

/// Levels that are looked into.
const DEEPEST: usize = 24;

/// Looks through values for objects that are known, and for lines of logs where there is something to read them.
pub(super) struct Walk<'a> {
    /// Draft length, where nothing says it.
    pub(super) k: Option<u64>,
    /// For lines of a log that a logger wrapped in JSON; none: strings are not looked into.
    pub(super) log: Option<&'a mut Log>,
    /// Takes windows.
    pub(super) take: &'a mut dyn FnMut(Window),
}

impl Walk<'_> {
    /// Looks through one value.
    pub(super) fn value(&mut self, value: &JsonValue<'_>) {
        self.look(value, &Around::default());
    }

    fn look(&mut self, value: &JsonValue<'_>, around: &Around) {
        if around.depth > DEEPEST {
            return;
        }
        match value {
            JsonValue::Object(entries) => {
                let around = around.within(value);
                let known = READERS.iter().find_map(|read| read(value, self.k));
                if let Some(windows) = known {
                    for mut window in windows {
                        window.group.model = window.group.model.or_else(|| around.model.clone());
                        (self.take)(window);
                    }
                    return;
                }
                // A logger may write its message under two keys; what has a role is a chat's.
                let mut read: Vec<&str> = Vec::new();
                let is_chat = get(value, "role").is_some();
                for (key, inner) in entries.iter() {
                    match inner {
                        JsonValue::Str(text) if LOGGED.contains(&&**key) && !is_chat && !read.contains(&&**text) => {
                            read.push(text);
                            self.logged(text, &around);
                        }
                        JsonValue::Str(_) => {}
                        // The same request is told of twice.
                        _ if key == "meta_info" && around.has_extension => {}
                        _ if !PASSED_OVER.contains(&&**key) => self.look(inner, &around.under(key)),
                        _ => {}
                    }
                }
            }
            JsonValue::Array(items) => {
                for item in items.iter() {
                    match item {
                        JsonValue::Str(text) if around.is_logged => self.logged(text, around),
                        _ => self.look(item, &around.deeper()),
                    }
                }
            }
            // Entries of a list may be JSON in a string.
            JsonValue::Str(text) => {
                self.inner(text, around);
            }
            _ => {}
        }
    }

    /// Whether a string holds JSON, which is looked at.
    fn inner(&mut self, text: &str, around: &Around) -> bool {
        let inner = text.trim_start().starts_with('{').then(|| JsonValue::parse(text.as_bytes(), true));
        if let Some(Ok(inner)) = &inner {
            self.look(inner, &around.deeper());
        }
        matches!(inner, Some(Ok(_)))
    }

    /// Lines of a log that a logger or a store of logs wrapped, each after its moment.
    fn logged(&mut self, text: &str, around: &Around) {
        if self.inner(text, around) {
            return;
        }
        let Some(log) = &mut self.log else { return };
        let at = around.at.as_deref().unwrap_or_default();
        for line in text.lines().filter(|line| has_needle(line.as_bytes())) {
            log.line(&format!("{at} {line}"), self.take);
        }
    }
}

/// Keys under which lines of logs stand: of loggers, docker, journald, Elasticsearch, Google Cloud, Loki.
const LOGGED: [&str; 9] = ["message", "msg", "log", "line", "MESSAGE", "textPayload", "event", "values", "@message"];
/// Keys whose values are what users and models wrote, or configuration.
const PASSED_OVER: [&str; 6] = ["server_info", "generated_texts", "prompt", "content", "text", "messages"];

/// What stands around a value.
#[derive(Clone, Debug, Default)]
struct Around {
    depth: usize,
    /// The nearest model.
    model: Option<String>,
    /// The moment beside a message.
    at: Option<String>,
    /// Whether strings of a list are lines of a log.
    is_logged: bool,
    /// Whether a request's details stand in an extension object too.
    has_extension: bool,
}

impl Around {
    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }

    fn under(&self, key: &str) -> Self {
        Self { is_logged: LOGGED.contains(&key), ..self.deeper() }
    }

    /// What an object says of what stands in it.
    fn within(&self, value: &JsonValue<'_>) -> Self {
        let text = |keys: &[&str]| {
            keys.iter().find_map(|key| match get(value, key) {
                Some(JsonValue::Str(text)) => Some(text.to_string()),
                _ => None,
            })
        };
        let moment = number(value, &["timestamp", "time", "ts"]).map(epoch);
        Self {
            model: text(&["model", "model_name", "model_id"]).or_else(|| self.model.clone()),
            at: text(&["timestamp", "time", "asctime", "ts", "@timestamp"]).or(moment).or_else(|| self.at.clone()),
            has_extension: self.has_extension || get(value, "sgl_ext").is_some(),
            ..self.clone()
        }
    }
}

/// Seconds or milliseconds since 1970 as a text.
fn epoch(number: f64) -> String {
    let seconds = if number.abs() > 1e11 { number / 1000.0 } else { number };
    written(Stamp { seconds: seconds as i64, has_year: true })
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
