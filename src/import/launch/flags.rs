//! Words of a command into flags with their values.

use std::collections::HashMap;

use serde_json::Value;

/// How many values a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arity {
    None,
    One,
    /// One, or none.
    Maybe,
    Several,
    /// Nobody knows: one, if what follows looks like one.
    Unknown,
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    /// Its long name without dashes, words apart by dashes.
    pub(super) name: String,
    /// As it was written.
    pub(super) written: String,
    pub(super) values: Vec<String>,
    pub(super) is_known: bool,
    /// Whether it needs a value and has none.
    pub(super) lacks_value: bool,
}

/// Every flag of a command, and the words that belong to none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Flags {
    pub(super) all: Vec<Flag>,
    pub(super) free: Vec<String>,
}

/// What flags a server has, one on each line: long name, how many values (0, 1, + several, ? perhaps one), other spellings.
pub(super) struct Known {
    by_name: HashMap<&'static str, (&'static str, Arity)>,
    /// Beginnings of names stand for them, as Python's argparse has it.
    shortened: bool,
}

impl Known {
    pub(super) fn of(table: &'static str, shortened: bool) -> Self {
        let mut by_name = HashMap::new();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            let (Some(name), Some(arity)) = (words.next(), words.next()) else { continue };
            let arity = match arity {
                "0" => Arity::None,
                "1" => Arity::One,
                "+" => Arity::Several,
                _ => Arity::Maybe,
            };
            by_name.insert(name, (name, arity));
            by_name.extend(words.map(|alias| (alias, (name, arity))));
        }
        Self { by_name, shortened }
    }

    /// The flag that is meant, by its long name.
    fn meant(&self, written: &str, name: &str) -> Option<(&'static str, Arity)> {
        let dashes = &written[..written.len() - written.trim_start_matches('-').len()];
        let own = self.by_name.get(name).filter(|_| dashes == "--" || name.len() > 1);
        if let Some(known) = self.by_name.get(format!("{dashes}{name}").as_str()).or(own) {
            return Some(*known);
        }
        if let Some((positive, _)) = name.strip_prefix("no-").and_then(|name| self.by_name.get(name)) {
            return Some((positive, Arity::None));
        }
        if !self.shortened || !written.starts_with("--") || name.len() < 3 {
            return None;
        }
        // What fits several is taken as the shortest: an abbreviation is older than longer flags that came beside it.
        let longer = self.by_name.iter().filter(|(known, _)| known.trim_start_matches('-').starts_with(name));
        longer.map(|(_, meant)| *meant).min_by_key(|(name, _)| (name.len(), *name))
    }
}

/// Takes the words of a command apart.
pub(super) fn flags(words: &[String], known: &Known) -> Flags {
    let mut found = Flags::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !is_flag(word) {
            found.free.push(word.clone());
            continue;
        }
        let (written, own) = match word.split_once('=') {
            Some((written, value)) => (written, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let (base, key) = match written.split_once('.') {
            Some((base, key)) if written.starts_with('-') => (base, Some(key)),
            _ => (written, None),
        };
        let bare = base.trim_start_matches('-').replace('_', "-");
        let meant = known.meant(base, &bare);
        let arity = meant.map_or(Arity::Unknown, |(_, arity)| arity);
        let mut name = meant.map_or_else(|| bare.clone(), |(name, _)| name.to_owned());
        if bare.starts_with("no-") && meant.is_some_and(|(meant, _)| meant == &bare[3..]) {
            name = bare.clone();
        }
        if let Some(key) = key {
            name = format!("{name}.{}", key.replace('-', "_"));
        }
        let mut values: Vec<String> = own.into_iter().collect();
        let most = match arity {
            Arity::None => 0,
            Arity::One | Arity::Maybe | Arity::Unknown => 1,
            Arity::Several => usize::MAX,
        };
        let wants = |value: &String| !is_flag(value);
        if values.is_empty() {
            while values.len() < most && words.get(at).is_some_and(wants) {
                values.push(words[at].clone());
                at += 1;
            }
        }
        let lacks_value = values.is_empty() && matches!(arity, Arity::One | Arity::Several);
        found.all.push(Flag { name, written: written.to_owned(), values, is_known: meant.is_some(), lacks_value });
    }
    found
}

/// Keys of a file as flags: what a server's own `--config` holds.
pub(super) fn of_file(options: &Value, known: &Known) -> Vec<Flag> {
    let flag = |(key, value): (&String, &Value)| {
        let bare = key.replace('_', "-");
        let written = format!("--{bare}");
        let meant = known.meant(&written, &bare);
        let values = match value {
            Value::Null | Value::Bool(false) => return None,
            Value::Bool(true) => Vec::new(),
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect()
            }
            other => vec![other.to_string()],
        };
        let name = meant.map_or(bare, |(name, _)| name.to_owned());
        Some(Flag { name, written: key.clone(), values, is_known: meant.is_some(), lacks_value: false })
    };
    options.as_object().into_iter().flatten().filter_map(flag).collect()
}

/// A dash and a letter; a number below 0 is a value.
fn is_flag(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && name.starts_with(|first: char| first.is_ascii_alphabetic())
}

impl Flags {
    /// The last that has one of these names.
    pub(super) fn last(&self, names: &[&str]) -> Option<&Flag> {
        self.all.iter().rev().find(|flag| names.contains(&flag.name.as_str()))
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.last(&[name]).is_some()
    }

    /// The value of the last that has one of these names.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        self.last(names)?.values.first().map(String::as_str)
    }

    /// A flag with keys after points, such as `--speculative-config.method`.
    pub(super) fn keys<'f>(&'f self, name: &'f str) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.all.iter().filter_map(move |flag| {
            let key = flag.name.strip_prefix(name)?.strip_prefix('.')?;
            Some((key, flag.values.first()?.as_str()))
        })
    }

    pub(super) fn unknown(&self) -> impl Iterator<Item = &Flag> {
        self.all.iter().filter(|flag| !flag.is_known)
    }
}
