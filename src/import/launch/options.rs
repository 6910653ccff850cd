//! Options in YAML or JSON, as trees.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_lite::Regex;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Deeper or larger texts are no options of a server.
const DEEPEST: usize = 32;
const MOST: usize = 100_000;

/// Why a text is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOptions {
    /// Not YAML either.
    #[error("line {line}, column {column}: {reason}")]
    Syntax { line: usize, column: usize, reason: String },
    /// Too deep or too large.
    #[error("more than {MOST} values or {DEEPEST} levels: these are no options of a server")]
    TooLarge,
}

/// Reads JSON, or YAML, whose flow style also takes JSON with single quotes or without any.
pub(super) fn options(text: &str) -> Result<Value, NotOptions> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    yaml(text)
}

/// A list or a table that is being read, with its anchor.
enum Open {
    List(Vec<Value>, usize),
    Table(Map<String, Value>, Option<String>, usize),
}

/// Reads the first document of a text in YAML.
pub(super) fn yaml(text: &str) -> Result<Value, NotOptions> {
    let mut open: Vec<Open> = Vec::new();
    let mut named: HashMap<usize, Value> = HashMap::new();
    let mut values = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| NotOptions::Syntax {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            reason: error.info().to_owned(),
        })?;
        let (done, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::SequenceStart(anchor, _) => {
                open.push(Open::List(Vec::new(), anchor));
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open::Table(Map::new(), None, anchor));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items, anchor)) => (Value::Array(items), anchor),
                Some(Open::Table(entries, _, anchor)) => (Value::Object(entries), anchor),
                None => (Value::Null, 0),
            },
            Event::Alias(anchor) => (named.get(&anchor).cloned().unwrap_or_default(), 0),
            Event::DocumentEnd => return Ok(Value::Null),
            _ => continue,
        };
        // What an alias stands for counts each time.
        values += size(&done);
        if values > MOST || open.len() > DEEPEST {
            return Err(NotOptions::TooLarge);
        }
        if anchor > 0 {
            named.insert(anchor, done.clone());
        }
        match open.last_mut() {
            None => return Ok(done),
            Some(Open::List(items, _)) => items.push(done),
            Some(Open::Table(entries, key, _)) => match key.take() {
                Some(key) => put_in(entries, key, done),
                None => *key = Some(plain(&done)),
            },
        }
    }
    Ok(Value::Null)
}

/// Puts a value under its key; what stands under `<<` is merged, and own keys count more.
fn put_in(entries: &mut Map<String, Value>, key: String, value: Value) {
    let Value::Object(merged) = &value else {
        entries.insert(key, value);
        return;
    };
    if key == "<<" {
        for (key, value) in merged {
            entries.entry(key.clone()).or_insert_with(|| value.clone());
        }
    } else {
        entries.insert(key, value);
    }
}

/// Values within a value, itself among them.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(entries) => 1 + entries.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// A key as text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a scalar without quotes is: the core schema of YAML 1.2, and Python's words.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" | "None" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            let whole = text.parse::<i64>().ok().map(Value::from);
            let looks = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'));
            let number = text.parse::<f64>().ok().filter(|_| looks).and_then(serde_json::Number::from_f64);
            whole.or_else(|| number.map(Value::Number)).unwrap_or_else(|| Value::String(text.to_owned()))
        }
    }
}

/// Keys and values of a table that is broken somewhere, as far as they go.
pub(super) fn pairs(text: &str) -> Value {
    static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"["']?([A-Za-z_][A-Za-z_0-9]*)["']?\s*:\s*("[^"]*"|'[^']*'|\[[^\]]*\]|[^,{}\s"']+)"#).ok()
    });
    let found = PAIR.as_ref().map(|pair| {
        pair.captures_iter(text).map(|found| (found[1].to_owned(), loose(&found[2]))).collect::<Map<String, Value>>()
    });
    match found {
        Some(entries) if !entries.is_empty() => Value::Object(entries),
        _ => Value::Null,
    }
}

/// Keys and values line by line, where a text is not quite YAML: what stands under a key is told by its indentation.
pub(super) fn lines(text: &str) -> Value {
    let mut root = Map::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default();
        let indent = line.len() - line.trim_start().len();
        let Some((key, value)) = line.trim().split_once(':').filter(|_| !line.trim_start().starts_with('#')) else {
            continue;
        };
        let key = key.trim_matches(|found: char| matches!(found, '"' | '\'' | ' ' | '{' | ','));
        while path.last().is_some_and(|(outer, _)| *outer >= indent) {
            path.pop();
        }
        let value = value.trim().trim_end_matches(['}', ',']).trim();
        if value.is_empty() || value == "{" {
            path.push((indent, key.to_owned()));
            continue;
        }
        if value.starts_with('{') && options(value).is_err() {
            // A table that goes on below.
            path.push((indent, key.to_owned()));
            for (key, value) in value.trim_start_matches('{').split(',').filter_map(|pair| pair.split_once(':')) {
                let key = key.trim_matches(|found: char| matches!(found, '"' | '\'' | ' '));
                put(&mut root, &path, key, loose(value));
            }
            continue;
        }
        put(&mut root, &path, key, loose(value));
    }
    Value::Object(root)
}

fn loose(value: &str) -> Value {
    options(value.trim()).unwrap_or_else(|_| Value::String(value.trim().to_owned()))
}

fn put(root: &mut Map<String, Value>, path: &[(usize, String)], key: &str, value: Value) {
    let mut place = root;
    for (_, outer) in path {
        let inner = place.entry(outer.clone()).or_insert_with(|| Value::Object(Map::new()));
        if !inner.is_object() {
            *inner = Value::Object(Map::new());
        }
        match inner {
            Value::Object(entries) => place = entries,
            _ => return,
        }
    }
    place.insert(key.to_owned(), value);
}
