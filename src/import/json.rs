//! JSON as a tree with places, as tools write it: `NaN` and `Infinity` stand for numbers.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use jiter::{Jiter, JiterError, JiterErrorType, JsonErrorType, Peek};

use crate::diagnostic::{Diagnostic, Place, Source};

/// Deeper texts are refused: the deepest real configuration has seven levels.
const DEEPEST: usize = 64;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Json {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

/// What JSON can hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) value: Json,
}

impl Json {
    /// The value under a key of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries of a table, none for anything else.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// A string.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, also one written with a point.
    pub(super) fn whole(&self) -> Option<i64> {
        match self.value {
            Value::Whole(number) => Some(number),
            Value::Number(number) if number.fract() == 0.0 && number.abs() <= MOST_EXACT => Some(number as i64),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub(super) fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// A short text of it for a report.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Whole(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) if text.chars().count() > LONGEST_SHOWN => {
                format!("\"{}…\"", text.chars().take(LONGEST_SHOWN).collect::<String>())
            }
            Value::Text(text) => format!("\"{text}\""),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Table(entries) => format!("a table of {}", entries.len()),
        }
    }
}

/// Whole numbers are exact in a float up to 2^53.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
/// Characters of a text that a report shows.
const LONGEST_SHOWN: usize = 60;

/// Reads a text.
pub(super) fn parse(source: &Arc<Source>) -> Result<Json, Diagnostic> {
    let mut reader = Jiter::new(source.text.as_bytes()).with_allow_inf_nan();
    let read = reader.peek().map_err(Stop::from).and_then(|peek| value(&mut reader, peek, 0, &source.text));
    let stop = match read {
        Ok(json) => match reader.finish() {
            Ok(()) => return Ok(json),
            Err(error) => Stop::from(error),
        },
        Err(stop) => stop,
    };
    let at = stop.at.min(source.text.len());
    let at = (0..=at).rev().find(|&at| source.text.is_char_boundary(at)).unwrap_or(0);
    let end = source.text[at..].chars().next().map_or(at, |found| at + found.len_utf8());
    let place = Place { source: Arc::clone(source), span: at..end };
    Err(Diagnostic::error(stop.code, stop.message).at(&place).hint(stop.hint))
}

/// Why reading ended.
struct Stop {
    code: &'static str,
    message: String,
    hint: &'static str,
    at: usize,
}

impl From<JiterError> for Stop {
    fn from(error: JiterError) -> Self {
        let cut = |kind: &JsonErrorType| {
            use JsonErrorType as E;
            matches!(
                kind,
                E::EofWhileParsingList | E::EofWhileParsingObject | E::EofWhileParsingString | E::EofWhileParsingValue
            )
        };
        let hint = match &error.error_type {
            JiterErrorType::JsonError(kind) if cut(kind) => "the text ends too early: was it cut off?",
            _ => "a config.json is due: keys and texts in double quotes, no comma before a closing bracket",
        };
        Self { code: "syntax", message: format!("this is not JSON: {}", error.error_type), hint, at: error.index }
    }
}

fn value(reader: &mut Jiter<'_>, peek: Peek, depth: usize, text: &str) -> Result<Json, Stop> {
    let start = reader.current_index();
    if depth > DEEPEST {
        let message = format!("more than {DEEPEST} brackets are open");
        return Err(Stop { code: "too-deep", message, hint: "no configuration is as deep: check the file", at: start });
    }
    let value = match peek {
        Peek::Null => reader.known_null().map(|()| Value::Null)?,
        Peek::True | Peek::False => Value::Flag(reader.known_bool(peek)?),
        Peek::String => Value::Text(reader.known_str()?.to_owned()),
        Peek::Array => Value::List(list(reader, depth, text)?),
        Peek::Object => Value::Table(table(reader, depth, text)?),
        _ => number(reader.known_number_bytes(peek)?),
    };
    Ok(Json { value, span: start..reader.current_index() })
}

/// A number as it is written: whole where 64 bits hold it. Tokenizers write lengths of thirty digits.
fn number(written: &[u8]) -> Value {
    let text = std::str::from_utf8(written).unwrap_or_default();
    match (text.parse(), text) {
        (Ok(whole), _) => Value::Whole(whole),
        (_, "Infinity") => Value::Number(f64::INFINITY),
        (_, "-Infinity") => Value::Number(f64::NEG_INFINITY),
        _ => Value::Number(text.parse().unwrap_or(f64::NAN)),
    }
}

fn list(reader: &mut Jiter<'_>, depth: usize, text: &str) -> Result<Vec<Json>, Stop> {
    let mut items = Vec::new();
    let mut next = reader.known_array()?;
    while let Some(peek) = next {
        items.push(value(reader, peek, depth + 1, text)?);
        next = reader.array_step()?;
    }
    Ok(items)
}

fn table(reader: &mut Jiter<'_>, depth: usize, text: &str) -> Result<Vec<Entry>, Stop> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = HashSet::new();
    let mut before = reader.current_index();
    let mut next = reader.known_object()?.map(str::to_owned);
    while let Some(key) = next {
        let after = reader.current_index();
        let key_span = key_span(text, before..after);
        if !seen.insert(key.clone()) {
            let message = format!("key `{key}` is given twice");
            return Err(Stop { code: "duplicate-key", message, hint: "keep one of the two", at: key_span.start });
        }
        let peek = reader.peek()?;
        entries.push(Entry { key, key_span, value: value(reader, peek, depth + 1, text)? });
        before = reader.current_index();
        next = reader.next_key()?.map(str::to_owned);
    }
    Ok(entries)
}

/// The quoted key in what was read up to its colon.
fn key_span(text: &str, read: Range<usize>) -> Range<usize> {
    let within = text.get(read.clone()).unwrap_or_default();
    match (within.find('"'), within.rfind('"')) {
        (Some(from), Some(to)) => read.start + from..read.start + to + 1,
        _ => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Json, Diagnostic> {
        parse(&Arc::new(Source { name: "config.json".to_owned(), text: text.to_owned(), command_line: false }))
    }

    #[test]
    fn values_stand_where_they_are_written() {
        let text = "{ \"a\": [0.0, Infinity],\n \"b\" : null, \"c\": 4096.0 }";
        let root = read(text).unwrap();
        assert_eq!(root.get("a").unwrap().items().unwrap()[1].value, Value::Number(f64::INFINITY));
        let long = read("1000000000000000019884624838656").unwrap();
        assert_eq!(long.value, Value::Number(1e30));
        assert!(root.get("b").unwrap().is_null());
        assert_eq!(root.get("c").unwrap().whole(), Some(4096));
        assert_eq!(&text[root.get("c").unwrap().span.clone()], "4096.0");
        assert_eq!(&text[root.entries()[1].key_span.clone()], "\"b\"");
    }

    #[test]
    fn broken_texts_are_refused_at_their_place() {
        let deep = "[".repeat(10_000);
        let cases = [("{\"a\": 1", "syntax", 7), ("{\"a\": 1, \"a\": 2}", "duplicate-key", 9), (&deep, "too-deep", 65)];
        for (text, code, at) in cases {
            let found = read(text).unwrap_err();
            assert_eq!((found.code, found.place.unwrap().span.start), (code, at), "{code}");
        }
        assert!(read("").unwrap_err().message.contains("EOF"));
    }
}
