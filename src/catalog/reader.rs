//! A reader that goes on after a mistake, so that a file's author sees all of them at once.

use std::collections::HashSet;

use crate::catalog::node::{Document, Node, Value};
use crate::diagnostic::{Diagnostic, Place, is_hidden, nearest};

/// Nobody reads more mistakes of one file, and each costs time and memory.
pub(super) const MOST_KEPT: usize = 1000;

/// The mistakes of one file.
pub(super) struct Problems {
    syntax: Vec<Diagnostic>,
    found: Vec<Diagnostic>,
}

impl Problems {
    /// Starts with the mistakes of the syntax.
    pub(super) fn of(document: &Document) -> Self {
        Self { syntax: document.syntax.clone(), found: Vec::new() }
    }

    /// Notes a mistake; `None`, so that a reader can end with it.
    pub(super) fn report<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        if self.found.len() < MOST_KEPT {
            self.found.push(diagnostic);
        }
        None
    }

    /// Notes that a value is of the wrong type.
    pub(super) fn wrong_type<T>(&mut self, node: &Node, wanted: &str) -> Option<T> {
        let message = format!("`{}` must be {wanted}, not {}", node.path, node.value.shown());
        let found = Diagnostic::error("wrong-type", message).at(&node.place);
        let key = node.path.rsplit('.').next().unwrap_or_default();
        self.report(if wanted == "a table" { found.hint(format!("write it as {key} = {{ … }}")) } else { found })
    }

    /// Everything to show. Where the syntax is broken, a missing key may sit in the part that could
    /// not be read, and a value on the broken line is a guess of the parser: neither is shown.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let broken = self.syntax.iter().any(|one| one.code == "syntax");
        let broken_lines: HashSet<Option<usize>> = self.syntax.iter().map(line).collect();
        let sound = |one: &Diagnostic| {
            let guessed = broken && one.code == "missing-key" || broken_lines.contains(&line(one));
            one.on_command_line() || !guessed
        };
        let found: Vec<Diagnostic> = self.found.into_iter().filter(sound).collect();
        self.syntax.into_iter().chain(found).collect()
    }
}

/// Where the line of a place starts in its text.
fn line(diagnostic: &Diagnostic) -> Option<usize> {
    let place = diagnostic.place.as_ref()?;
    let head = place.source.text.get(..place.span.start)?;
    Some(head.rfind('\n').map_or(0, |at| at + 1))
}

/// The keys of a table.
pub(super) struct Keys {
    pub(super) known: &'static [&'static str],
}

impl Keys {
    /// These.
    pub(super) const fn all(known: &'static [&'static str]) -> Self {
        Self { known }
    }
}

/// A table whose keys have been checked.
pub(super) struct Fields<'n, 'p> {
    node: &'n Node,
    pub(super) problems: &'p mut Problems,
}

impl<'n, 'p> Fields<'n, 'p> {
    /// Checks that a value is a table and that every key in it is known.
    pub(super) fn open(node: &'n Node, keys: &Keys, problems: &'p mut Problems) -> Option<Self> {
        let Some(entries) = node.entries() else {
            return problems.wrong_type(node, "a table");
        };
        for entry in entries.iter().filter(|entry| !keys.known.contains(&entry.key.as_str())) {
            problems.report::<()>(unknown_key(&entry.key, &entry.node.path, &entry.key_place, keys));
        }
        Some(Self { node, problems })
    }

    /// A table whose keys are labels of the scenario's own, checked by whoever knows them.
    pub(super) fn of_labels(node: &'n Node, problems: &'p mut Problems) -> Option<Self> {
        match node.entries() {
            Some(_) => Some(Self { node, problems }),
            None => problems.wrong_type(node, "a table"),
        }
    }

    /// Whether the table has a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.node.get(key).is_some()
    }

    /// Reads a key that must be there.
    pub(super) fn required<T>(&mut self, key: &str, read: impl FnOnce(&Node, &mut Problems) -> Option<T>) -> Option<T> {
        match self.node.get(key) {
            Some(node) => read(node, self.problems),
            None => self.missing(key),
        }
    }

    /// Reads a key that may be absent: `Some(None)` if it is, `None` if it is there and wrong.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.node.get(key) {
            Some(node) => read(node, self.problems).map(Some),
            None => Some(None),
        }
    }

    fn missing<T>(&mut self, key: &str) -> Option<T> {
        let table = if self.node.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.node.path) };
        let found = Diagnostic::error("missing-key", format!("{table} has no `{key}`")).at(&self.node.place);
        self.problems.report(found.hint(format!("add `{key} = …`; README.md shows every section")))
    }
}

fn unknown_key(key: &str, path: &str, place: &Place, keys: &Keys) -> Diagnostic {
    let hint = match nearest(key, keys.known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("allowed here: {}", keys.known.join(", ")),
    };
    Diagnostic::error("unknown-key", format!("unknown key `{path}`")).at(place).hint(hint)
}

/// The single kind key of a table that may hold one of several.
pub(super) enum KindKey<'n> {
    /// No kind is named.
    Absent,
    /// This one.
    One(&'n str),
}

/// Finds the kind key of a table; two of them are a mistake.
pub(super) fn kind_key<'n>(node: &'n Node, kinds: &[&str], problems: &mut Problems) -> Option<KindKey<'n>> {
    let mut present = node.entries().unwrap_or_default().iter().filter(|entry| kinds.contains(&entry.key.as_str()));
    let Some(first) = present.next() else {
        return Some(KindKey::Absent);
    };
    if let Some(second) = present.next() {
        let message = format!("`{}` has two kinds: `{}` and `{}`", node.path, first.key, second.key);
        return problems.report(Diagnostic::error("conflict", message).at(&second.key_place).hint("keep one of them"));
    }
    Some(KindKey::One(&first.key))
}

/// A string without control characters.
pub(super) fn text(node: &Node, problems: &mut Problems) -> Option<String> {
    let Value::Text(text) = &node.value else {
        return problems.wrong_type(node, "a string");
    };
    if text.trim().is_empty() {
        let found = Diagnostic::error("empty-text", format!("`{}` is empty", node.path)).at(&node.place);
        return problems.report(found.hint("write it out, or leave the key out"));
    }
    if text.chars().any(is_hidden) {
        let message = format!("`{}` has a control character in it", node.path);
        return problems.report(Diagnostic::error("control-character", message).at(&node.place).hint("use plain text"));
    }
    Some(text.clone())
}

/// Other names of an entry: only checked here, since nothing but `lookup` goes by them.
pub(super) fn aliases(node: &Node, problems: &mut Problems) -> Option<()> {
    one_or_many(node, problems, text).map(|_| ())
}

/// A list, each item read alike; a single value stands for a list of one.
pub(super) fn one_or_many<T>(
    node: &Node,
    problems: &mut Problems,
    mut read: impl FnMut(&Node, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    let Value::List(items) = &node.value else {
        return read(node, problems).map(|one| vec![one]);
    };
    if items.is_empty() {
        let found = Diagnostic::error("empty-axis", format!("`{}` is empty", node.path)).at(&node.place);
        return problems.report(found.hint("list at least one value, or leave the key out"));
    }
    // Every item is read before any failure ends the list, so that each mistake is shown.
    let read: Vec<Option<T>> = items.iter().map(|item| read(item, problems)).collect();
    read.into_iter().collect()
}

/// Whether a value is a list with a list in it.
pub(super) fn is_nested(node: &Node) -> bool {
    matches!(&node.value, Value::List(items) if items.iter().any(|item| matches!(item.value, Value::List(_))))
}

/// A list of lists; beside a list, a value by itself is a mistake.
pub(super) fn lists<T>(
    node: &Node,
    problems: &mut Problems,
    wanted: &str,
    mut read: impl FnMut(&Node, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    one_or_many(node, problems, |node, problems| match node.value {
        Value::List(_) => read(node, problems),
        _ => problems.wrong_type(node, wanted),
    })
}
