//! TOML as a tree of our own, every value with its place, so that files and `--set` read alike.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::catalog::reader::MOST_KEPT;
use crate::diagnostic::{Diagnostic, Place, Source};

/// A value with its place and the path of keys that leads to it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
    pub(super) path: Arc<str>,
}

/// What TOML can hold.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A number beyond 64 bits, or a date: nothing here reads either.
    Other(&'static str),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Place,
    pub(super) node: Node,
}

impl Value {
    /// A number as it is, anything else by its type.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) if text.len() <= 40 => format!("the text \"{text}\""),
            Self::Text(_) => "a text".to_owned(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) if (1e-4..1e9).contains(&number.abs()) => number.to_string(),
            Self::Float(number) => format!("{number:e}"),
            Self::Bool(flag) => flag.to_string(),
            Self::Other(kind) => (*kind).to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}

impl Node {
    /// The entries of a table.
    pub(super) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// Whether it is a table without entries.
    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_some_and(<[Entry]>::is_empty)
    }

    /// The value under a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The value under a key of a table.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }
}

/// A parsed text, with the mistakes of its syntax.
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) syntax: Vec<Diagnostic>,
}

/// Parses a text. What can be read in spite of mistakes is in the tree.
pub(super) fn parse(source: &Arc<Source>) -> Document {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let place = |span: Range<usize>| Place { source: Arc::clone(source), span };
    let syntax = errors.iter().take(MOST_KEPT).map(|error| {
        let span = error.span().unwrap_or(0..0);
        let found = Diagnostic::error(code_of(error.message()), error.message()).at(&place(span));
        hint_for(error.message()).into_iter().fold(found, Diagnostic::hint)
    });
    let mut syntax: Vec<Diagnostic> = syntax.collect();
    // One slip makes the parser complain of every bracket left open: the first complaint will do.
    syntax.dedup_by(|later, first| later.place == first.place);
    let root = Node { value: convert_table(table.get_ref(), source, ""), place: place(0..0), path: "".into() };
    Document { root, syntax }
}

fn code_of(message: &str) -> &'static str {
    if message.contains("duplicate key") { "duplicate-key" } else { "syntax" }
}

fn hint_for(message: &str) -> Option<&'static str> {
    if message.contains("duplicate key") {
        Some("keep one of the two")
    } else if message.contains("must be quoted") {
        Some("write text in double quotes")
    } else {
        Some("this is not TOML: text is \"quoted\", lists are [1, 2], tables { a = 1 }, one key a line")
    }
}

fn convert(value: &Spanned<DeValue<'_>>, source: &Arc<Source>, path: &Arc<str>) -> Node {
    let converted = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("an integer beyond 64 bits"), Value::Integer),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Other("a malformed number"), Value::Float),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => Value::List(items.iter().map(|item| convert(item, source, path)).collect()),
        DeValue::Table(table) => convert_table(table, source, path),
    };
    Node { value: converted, place: Place { source: Arc::clone(source), span: value.span() }, path: Arc::clone(path) }
}

fn convert_table(table: &DeTable<'_>, source: &Arc<Source>, path: &str) -> Value {
    let entries = table.iter().map(|(key, value)| {
        let name = key.get_ref().as_ref();
        let path: Arc<str> = join(path, name).into();
        let key_place = Place { source: Arc::clone(source), span: key.span() };
        Entry { key: name.to_owned(), key_place, node: convert(value, source, &path) }
    });
    Value::Table(entries.collect())
}

/// `a.b` and `c` make `a.b.c`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
