//! Variables of a pasted script.

/// Longer values are not put in.
const LONGEST: usize = 1 << 16;

/// What a script sets, and which variables it uses that it does not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variables {
    /// Set, in their order; the last one counts.
    pub(super) set: Vec<(String, String)>,
    /// Used without being set, as written.
    pub(super) open: Vec<String>,
}

impl Variables {
    /// Takes what a command of assignments alone sets, `export` before them or not.
    pub(super) fn set_by(&mut self, words: &[String]) {
        let words = match words.first().map(String::as_str) {
            Some("export" | "set" | "declare" | "local" | "readonly") => &words[1..],
            _ => words,
        };
        // A value that doubles with each line would grow without bound.
        let is_short = words.iter().map(String::len).sum::<usize>() <= LONGEST;
        if is_short && words.iter().all(|word| assignment(word).is_some()) {
            let all = words.iter().filter_map(|word| assignment(word));
            self.set.extend(all.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
    }

    /// What a text that begins with `$` stands for: as it is written, and its value.
    pub(super) fn put_in(&mut self, text: &str) -> (String, String) {
        if let Some(inner) = text.strip_prefix("${") {
            let Some(end) = inner.find('}') else { return ("$".to_owned(), "$".to_owned()) };
            let (name, default) = match inner[..end].split_once(":-").or_else(|| inner[..end].split_once('-')) {
                Some((name, default)) => (name, Some(default)),
                None => (&inner[..end], None),
            };
            let written = format!("${{{}}}", &inner[..end]);
            let value = self.value(name).or(default.map(str::to_owned));
            return self.open_or(written, value);
        }
        if text.starts_with("$(") {
            let end = text.find(')').map_or(1, |at| at + 1);
            let written = text[..end].to_owned();
            return self.open_or(written, None);
        }
        let rest = &text[1..];
        let length = rest.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_')).unwrap_or(rest.len());
        if length == 0 {
            return ("$".to_owned(), "$".to_owned());
        }
        let value = self.value(&rest[..length]);
        self.open_or(format!("${}", &rest[..length]), value)
    }

    fn value(&self, name: &str) -> Option<String> {
        self.set.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn open_or(&mut self, written: String, value: Option<String>) -> (String, String) {
        if let Some(value) = value {
            return (written, value);
        }
        if !self.open.contains(&written) {
            self.open.push(written.clone());
        }
        (written.clone(), written)
    }
}

/// The name and the value of `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    (begins && letters.all(|found| found.is_ascii_alphanumeric() || found == '_')).then_some((name, value))
}
