//! Variables of a pasted script.

/// Longer values are not put in.
const LONGEST: usize = 1 << 16;

/// Bytes that are put in, at most.
const MOST: usize = 1 << 22;

/// What a script sets, and which variables it uses that it does not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variables {
    /// Set, in their order; the last one counts.
    pub(super) set: Vec<(String, String)>,
    /// Arrays.
    arrays: Vec<(String, Vec<String>)>,
    /// Used without being set, as written.
    pub(super) open: Vec<String>,
    /// Bytes of values that were put in.
    spent: usize,
}

impl Variables {
    /// Takes what a command of assignments alone sets, `export` before them or not.
    ///
    /// Within a `case` nobody knows which branch is taken: what is set already stays, else the first counts.
    pub(super) fn set_by(&mut self, words: &[String], is_in_case: bool) {
        let words = match words.iter().position(|word| word == "set" || word == "SET") {
            // `if not defined NAME set NAME=value` of Windows.
            Some(at) if words[0].eq_ignore_ascii_case("if") => &words[at..],
            _ => words,
        };
        let words = match words.first().map(String::as_str) {
            Some("export" | "set" | "declare" | "local" | "readonly" | "SET") => &words[1..],
            _ => words,
        };
        // A value that doubles with each line would grow without bound.
        let is_short = words.iter().map(String::len).sum::<usize>() <= LONGEST;
        if is_short && words.iter().all(|word| assignment(word).is_some()) {
            for (name, value) in words.iter().filter_map(|word| assignment(word)) {
                let is_its_own = value.starts_with(&format!("${{{name}"));
                let is_kept = is_in_case && self.value(name).is_some();
                if !(is_positional(value) || is_its_own || is_kept) {
                    self.set.push((name.to_owned(), value.to_owned()));
                }
            }
        }
    }

    /// Sets or adds to an array, by what stands before its parenthesis.
    pub(super) fn set_array(&mut self, written: &str, words: Vec<String>) {
        let name = written.trim_end_matches('=').trim_end_matches('+');
        let name = name.rsplit(' ').next().unwrap_or(name).to_owned();
        let mut all = if written.ends_with("+=") { self.array(&name).unwrap_or_default().to_vec() } else { Vec::new() };
        all.extend(words);
        if all.iter().map(String::len).sum::<usize>() <= LONGEST {
            self.arrays.push((name, all));
        }
    }

    pub(super) fn array(&self, name: &str) -> Option<&[String]> {
        self.arrays.iter().rev().find(|(known, _)| known == name).map(|(_, words)| words.as_slice())
    }

    pub(super) fn value(&self, name: &str) -> Option<String> {
        self.set.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// What a text that begins with `$` stands for: as it is written, and its value.
    pub(super) fn put_in(&mut self, text: &str) -> (String, String) {
        if text.starts_with("${") {
            return self.braced(text);
        }
        if text.starts_with("$(") {
            let written = text[..closed(text)].to_owned();
            let inner = written.strip_prefix("$((").and_then(|inner| inner.strip_suffix("))"));
            let value = inner.and_then(|inner| self.sum(inner)).map(|number| number.to_string());
            return self.open_or(written, value);
        }
        let rest = &text[1..];
        let length = rest.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_')).unwrap_or(rest.len());
        if length == 0 {
            return ("$".to_owned(), "$".to_owned());
        }
        let value = self.value(&rest[..length]);
        self.open_or(format!("${}", &rest[..length]), value)
    }

    /// `${NAME}`, `${NAME:-default}`, `${NAME:=default}`, `${NAME:+other}`.
    fn braced(&mut self, text: &str) -> (String, String) {
        let Some(end) = matching(text, '{', '}') else { return ("$".to_owned(), "$".to_owned()) };
        let (written, inner) = (text[..=end].to_owned(), &text[2..end]);
        let length = inner.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_')).unwrap_or(inner.len());
        let (name, rest) = inner.split_at(length);
        let known = self.value(name).filter(|value| !value.is_empty());
        let after = |sign: &str| rest.strip_prefix(':').unwrap_or(rest).strip_prefix(sign).map(bare);
        let value = match (after("-"), after("="), after("+")) {
            (Some(default), ..) => known.or(Some(default)),
            (_, Some(default), _) => {
                if known.is_none() {
                    self.set.push((name.to_owned(), default.clone()));
                }
                known.or(Some(default))
            }
            (.., Some(other)) => Some(if known.is_some() { other } else { String::new() }),
            _ if rest.is_empty() => self.value(name),
            _ => None,
        };
        // A default may hold variables itself.
        let value = value.map(|value| self.expanded(&value));
        self.open_or(written, value)
    }

    /// A text with every variable in it put in.
    pub(super) fn expanded(&mut self, text: &str) -> String {
        let mut whole = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            whole.push_str(&rest[..at]);
            let (written, value) = self.put_in(&rest[at..]);
            whole.push_str(&value);
            rest = &rest[at + written.len()..];
        }
        whole + rest
    }

    fn open_or(&mut self, written: String, value: Option<String>) -> (String, String) {
        // What is put in again and again would grow without bound.
        if let Some(value) = value.filter(|value| self.spent + value.len() <= MOST) {
            self.spent += value.len();
            return (written, value);
        }
        if !self.open.contains(&written) {
            self.open.push(written.clone());
        }
        (written.clone(), written)
    }

    /// A sum of whole numbers and variables: `+ - * /`, from left to right within a rank.
    fn sum(&self, text: &str) -> Option<i64> {
        let mut tokens = Vec::new();
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '$' => 1,
                '+' | '-' | '*' | '/' | '(' | ')' => 1,
                found if found.is_ascii_alphanumeric() || found == '_' => {
                    rest.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_')).unwrap_or(rest.len())
                }
                _ => return None,
            };
            if first != '$' {
                tokens.push(&rest[..length]);
            }
            rest = rest[length..].trim_start();
        }
        let mut at = 0;
        let value = self.added(&tokens, &mut at, 0)?;
        (at == tokens.len()).then_some(value)
    }

    fn added(&self, tokens: &[&str], at: &mut usize, depth: usize) -> Option<i64> {
        let mut value = self.multiplied(tokens, at, depth)?;
        while let Some(sign @ ("+" | "-")) = tokens.get(*at).copied() {
            *at += 1;
            let next = self.multiplied(tokens, at, depth)?;
            value = if sign == "+" { value.checked_add(next)? } else { value.checked_sub(next)? };
        }
        Some(value)
    }

    fn multiplied(&self, tokens: &[&str], at: &mut usize, depth: usize) -> Option<i64> {
        let mut value = self.single(tokens, at, depth)?;
        while let Some(sign @ ("*" | "/")) = tokens.get(*at).copied() {
            *at += 1;
            let next = self.single(tokens, at, depth)?;
            value = if sign == "*" { value.checked_mul(next)? } else { value.checked_div(next)? };
        }
        Some(value)
    }

    fn single(&self, tokens: &[&str], at: &mut usize, depth: usize) -> Option<i64> {
        let token = *tokens.get(*at)?;
        *at += 1;
        if token != "(" {
            return token.parse().ok().or_else(|| self.value(token)?.trim().parse().ok());
        }
        if depth > DEEPEST {
            return None;
        }
        let value = self.added(tokens, at, depth + 1)?;
        let is_closed = tokens.get(*at) == Some(&")");
        *at += 1;
        is_closed.then_some(value)
    }
}

/// Deeper parentheses are no sum of a launch script.
const DEEPEST: usize = 16;

/// A default without the quotes around it.
fn bare(text: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote)) {
            return inner.to_owned();
        }
    }
    text.to_owned()
}

/// `$1`, `$@`: what a script is called with.
fn is_positional(value: &str) -> bool {
    value
        .strip_prefix('$')
        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '@' | '*')))
}

/// Where the parentheses of a text end that begins with `$(`; at the dollar where they never do.
fn closed(text: &str) -> usize {
    matching(text, '(', ')').map_or(1, |end| end + 1)
}

/// The place of the sign that closes the first one.
fn matching(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, found) in text.char_indices() {
        if found == open {
            depth += 1;
        } else if found == close {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The array whose words stand at the beginning of a text, and how many characters that takes.
pub(super) fn array_name(text: &str) -> Option<(&str, usize)> {
    let quoted = text.strip_prefix('"');
    let inner = quoted.unwrap_or(text).strip_prefix("${")?;
    let length = inner.find(|found: char| !(found.is_ascii_alphanumeric() || found == '_'))?;
    let rest = inner[length..].strip_prefix("[@]}").or_else(|| inner[length..].strip_prefix("[*]}"))?;
    let quotes = if quoted.is_some() { 2 } else { 0 };
    (quoted.is_none() || rest.starts_with('"')).then_some((&inner[..length], length + 6 + quotes))
}

/// Whether a word sets an array that follows: `NAME=` or `NAME+=`.
pub(super) fn is_assigned(word: &str) -> bool {
    let name = word.strip_suffix('=').map(|name| name.strip_suffix('+').unwrap_or(name));
    name.is_some_and(|name| assignment(&format!("{name}=")).is_some())
}

/// The name and the value of `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    (begins && letters.all(|found| found.is_ascii_alphanumeric() || found == '_')).then_some((name, value))
}
