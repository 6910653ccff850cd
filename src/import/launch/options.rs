//! Options in YAML or JSON, as trees.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Deeper or larger texts are no options of a server.
const DEEPEST: usize = 32;
const MOST: usize = 20_000;

/// Why a text is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotOptions {
    /// Not YAML either.
    #[error("line {line}, column {column}: {reason}")]
    Syntax { line: usize, column: usize, reason: String },
    /// Too deep or too large.
    #[error("more than {MOST} values or {DEEPEST} levels: these are no options of a server")]
    TooLarge,
    /// What stands once and is used twice.
    #[error("line {0}: an alias; write out what it stands for")]
    Alias(usize),
}

/// Reads JSON, or YAML, whose flow style also takes JSON with single quotes or without any.
pub(super) fn options(text: &str) -> Result<Value, NotOptions> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    yaml(text)
}

/// A list or a table that is being read.
enum Open {
    List(Vec<Value>),
    Table(Map<String, Value>, Option<String>),
}

/// Reads the first document of a text in YAML.
pub(super) fn yaml(text: &str) -> Result<Value, NotOptions> {
    let mut open: Vec<Open> = Vec::new();
    let mut values = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| NotOptions::Syntax {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            reason: error.info().to_owned(),
        })?;
        values += 1;
        if values > MOST || open.len() > DEEPEST {
            return Err(NotOptions::TooLarge);
        }
        let done = match event {
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Table(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Table(entries, _)) => Value::Object(entries),
                None => Value::Null,
            },
            Event::Alias(_) => return Err(NotOptions::Alias(span.start.line())),
            Event::DocumentEnd => return Ok(Value::Null),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(done),
            Some(Open::List(items)) => items.push(done),
            Some(Open::Table(entries, key)) => match key.take() {
                Some(key) => {
                    entries.insert(key, done);
                }
                None => *key = Some(plain(&done)),
            },
        }
    }
    Ok(Value::Null)
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
