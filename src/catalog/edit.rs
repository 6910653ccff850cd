//! `--set path=value`: the tree of a scenario, changed from the command line before it is read.

use std::sync::Arc;

use toml::de::DeTable;

use crate::catalog::node::{Entry, Node, Value, join, parse};
use crate::diagnostic::{Diagnostic, Place, Source, nearest};
use crate::words::{AcceptanceKind, DrafterKind, Word};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// How it was typed, to show where a mistake is.
    pub flag: Flag,
    /// Keys joined by dots, TOML's way.
    pub path: String,
    /// TOML, else a string.
    pub value: String,
}

/// The flags that change a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `--set path=value`.
    Set,
    /// `--engine NAME`.
    Engine,
}

impl Assignment {
    /// `--engine NAME`, short for `--set engine=NAME`.
    #[must_use]
    pub fn engine(name: &str) -> Self {
        Self { flag: Flag::Engine, path: "engine".to_owned(), value: name.to_owned() }
    }

    /// The text before the value, as typed, and where the path stands in it.
    fn typed(&self) -> (String, std::ops::Range<usize>) {
        match self.flag {
            Flag::Set => (format!("--set {}=", self.path), 6..6 + self.path.len()),
            Flag::Engine => ("--engine ".to_owned(), 0.."--engine".len()),
        }
    }

    /// From `path=value`.
    ///
    /// # Errors
    ///
    /// A text without `=`, or with nothing before it.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => {
                Ok(Self { flag: Flag::Set, path: path.trim().to_owned(), value: value.to_owned() })
            }
            _ => Err("write path=value, such as sweep.batch=[1,8]".to_owned()),
        }
    }
}

/// Applies a change to a scenario's tree.
pub(super) fn apply(root: &mut Node, change: &Assignment) -> Result<(), Diagnostic> {
    let (head, path) = change.typed();
    let source = Arc::new(Source {
        name: "<command line>".to_owned(),
        text: format!("{head}{}", change.value),
        command_line: true,
    });
    let path_place = Place { source: Arc::clone(&source), span: path };
    let keys = split_path(&change.path).ok_or_else(|| {
        let found = Diagnostic::error("bad-path", format!("`{}` is not a path of keys", change.path)).at(&path_place);
        found.hint("write keys joined by dots, such as sweep.batch; quote a key that has dots of its own")
    })?;
    let value = read_value(&change.value, &source, head.len())?;
    assign(root, &keys, value, &path_place)
}

/// The keys of a dotted path; parts with dots of their own are quoted.
fn split_path(path: &str) -> Option<Vec<String>> {
    let text = format!("{path} = 0");
    let table = DeTable::parse(&text).ok()?;
    let mut keys = Vec::new();
    let mut table = table.get_ref();
    loop {
        let (key, value) = table.iter().next()?;
        keys.push(key.get_ref().clone().into_owned());
        match value.get_ref().as_table() {
            Some(inner) if table.len() == 1 => table = inner,
            _ => return (table.len() == 1).then_some(keys),
        }
    }
}

/// Parses a value where it stands on the command line, so that its places point there.
fn read_value(value: &str, source: &Arc<Source>, offset: usize) -> Result<Value, Diagnostic> {
    let padded = format!("{}v={value}", " ".repeat(offset.saturating_sub(2)));
    let document = parse(&Arc::new(Source { name: source.name.clone(), text: padded, command_line: true }));
    match document.root.entries() {
        Some([only]) if document.syntax.is_empty() && only.key == "v" => Ok(only.node.value.clone()),
        // What starts like TOML was meant as TOML.
        _ if value.trim_start().starts_with(['[', '{', '"', '\'']) => Err(match document.syntax.into_iter().next() {
            Some(found) => moved_to(found, source),
            None => Diagnostic::error("syntax", format!("`{value}` is more than one value")),
        }),
        _ => Ok(Value::Text(value.to_owned())),
    }
}

/// A mistake in the padded copy, shown in the text as it was typed.
fn moved_to(found: Diagnostic, source: &Arc<Source>) -> Diagnostic {
    let place = found.place.as_ref().map(|place| Place { source: Arc::clone(source), span: place.span.clone() });
    Diagnostic { place, ..found }
}

fn assign(root: &mut Node, keys: &[String], value: Value, place: &Place) -> Result<(), Diagnostic> {
    let mut at = root;
    for (depth, key) in keys.iter().enumerate() {
        let last = depth + 1 == keys.len();
        let path = join(&at.path, key);
        let parent = at.path.to_string();
        let kind = at.value.shown();
        let Value::Table(entries) = &mut at.value else {
            let found = Diagnostic::error("bad-path", format!("`{parent}` is {kind}, not a table"));
            return Err(found.at(place));
        };
        remove_siblings(entries, &keys[..depth], key);
        let index = match entries.iter().position(|entry| entry.key == *key) {
            Some(index) => index,
            None if !last && parent == "drafters" => return Err(no_such_drafter(key, entries, place)),
            None => {
                let node = Node { value: Value::Table(Vec::new()), place: place.clone(), path: path.into() };
                entries.push(Entry { key: key.clone(), key_place: place.clone(), node });
                entries.len() - 1
            }
        };
        at = &mut entries[index].node;
    }
    *at = replaced(value, &at.path, place);
    Ok(())
}

/// A typed value gets the path it now stands at and the place of the flag, all the way down.
fn replaced(value: Value, path: &Arc<str>, place: &Place) -> Node {
    let value = match value {
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| replaced(item.value, path, &moved(&item.place, place))).collect())
        }
        Value::Table(entries) => {
            let entries = entries.into_iter().map(|entry| {
                let inner: Arc<str> = join(path, &entry.key).into();
                let node = replaced(entry.node.value, &inner, &moved(&entry.node.place, place));
                Entry { key: entry.key, key_place: moved(&entry.key_place, place), node }
            });
            Value::Table(entries.collect())
        }
        plain => plain,
    };
    Node { value, place: place.clone(), path: Arc::clone(path) }
}

fn moved(from: &Place, to: &Place) -> Place {
    Place { source: Arc::clone(&to.source), span: from.span.clone() }
}

/// A kind key replaces its siblings: a drafter is of one kind, and so is an acceptance.
fn remove_siblings(entries: &mut Vec<Entry>, parents: &[String], key: &str) {
    let drafter_kinds: Vec<&str> = DrafterKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let acceptance_kinds: Vec<&str> =
        AcceptanceKind::ALL.iter().map(|kind| kind.as_str()).chain(["by_workload"]).collect();
    let kinds = match parents {
        [first, _] if first == "drafters" => drafter_kinds,
        [.., last] if last == "acceptance" => acceptance_kinds,
        _ => return,
    };
    if kinds.contains(&key) {
        entries.retain(|entry| entry.key == key || !kinds.contains(&entry.key.as_str()));
    }
}

/// A part of a drafter cannot be set before the drafter is there: a mistyped label would add one.
fn no_such_drafter(label: &str, entries: &[Entry], place: &Place) -> Diagnostic {
    let labels: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    let hint = match nearest(label, labels.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the scenario has: {}; a new drafter is set as one whole table", labels.join(", ")),
    };
    Diagnostic::error("unknown-key", format!("no drafter is called `{label}`")).at(place).hint(hint)
}
