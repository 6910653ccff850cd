//! One word: quotes, variables, arrays, and what people write in place of either.

use super::{MARKED, MOST_PUT_IN, REMARKED, Reader, Unclosed};
use crate::import::launch::variables::{array_name, is_assigned};

/// A text that stands for something is no longer.
const LONGEST_PLACEHOLDER: usize = 60;

impl Reader {
    pub(super) fn word(&mut self) -> Result<String, Unclosed> {
        let mut word = String::new();
        while let Some(next) = self.peek() {
            match next {
                '{' if (word.is_empty() || word.ends_with('=')) && self.is_bare_json() => self.braces(&mut word)?,
                '{' if word.is_empty() && self.is_spoken('}') => self.spoken('}', &mut word),
                '<' if self.is_spoken('>') => self.spoken('>', &mut word),
                '(' if is_assigned(&word) => {
                    self.set_array(&word)?;
                    word.clear();
                    break;
                }
                '(' if !word.is_empty() => {
                    self.note(REMARKED);
                    self.remark();
                }
                '`' => break,
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '%' if self.is_windows => self.percent(&mut word),
                '$' => {
                    if self.split_in(&word) {
                        continue;
                    }
                    self.variable(&mut word);
                }
                '\\' if self.skips_break() => break,
                '\\' if self.is_windows => self.keep(next, &mut word),
                '\\' => {
                    self.at += 1;
                    word.extend(self.peek());
                    self.at += 1;
                }
                // A number before a sign is that of a stream.
                '>' if word.chars().all(|found| found.is_ascii_digit()) => {
                    word.clear();
                    self.redirection();
                    break;
                }
                found if found.is_whitespace() || matches!(found, ';' | '|' | '&' | '<' | '>' | '(' | ')') => break,
                found => self.keep(found, &mut word),
            }
        }
        Ok(word)
    }

    fn keep(&mut self, found: char, word: &mut String) {
        word.push(found);
        self.at += 1;
    }

    pub(super) fn take(&mut self, word: String) {
        let plain = word.trim_start_matches("**").trim_end_matches("**");
        if plain.len() < word.len() {
            self.note(MARKED);
        }
        if !plain.is_empty() {
            self.line.words.push(plain.to_owned());
        }
    }

    fn unclosed(&self, from: usize, quote: char) -> Unclosed {
        let before = &self.chars[..from];
        let line = before.iter().filter(|found| **found == '\n').count() + 1;
        let column = before.iter().rev().take_while(|found| **found != '\n').count() + 1;
        Unclosed { quote, line, column }
    }

    /// Whether `<model>`, or `{path to the head}`, stands here for something.
    pub(super) fn is_spoken(&self, end: char) -> bool {
        let inner = self.chars[self.at + 1..].iter().take(LONGEST_PLACEHOLDER).take_while(|found| **found != end);
        let is_name = |found: &char| found.is_alphanumeric() || matches!(found, ' ' | '_' | '-' | '.' | '/' | ':');
        let length = inner.clone().count();
        inner.clone().next().is_some_and(|first| first.is_alphabetic())
            && inner.clone().all(is_name)
            && self.chars.get(self.at + 1 + length) == Some(&end)
    }

    fn spoken(&mut self, end: char, word: &mut String) {
        while let Some(found) = self.peek() {
            self.keep(found, word);
            if found == end {
                return;
            }
        }
    }

    /// `8(or 16 on a larger card)`: goes past the parenthesis.
    fn remark(&mut self) {
        while let Some(found) = self.peek().filter(|found| *found != '\n') {
            self.at += 1;
            if found == ')' {
                return;
            }
        }
    }

    /// JSON that nobody put quotes around.
    fn is_bare_json(&self) -> bool {
        let first = self.chars[self.at + 1..].iter().find(|found| !found.is_whitespace());
        first.is_some_and(|first| matches!(first, '"' | '\''))
    }

    /// As it stands, to the brace that closes it.
    fn braces(&mut self, word: &mut String) -> Result<(), Unclosed> {
        let from = self.at;
        let (mut depth, mut quote) = (0_usize, None);
        while let Some(found) = self.peek() {
            match (quote, found) {
                (Some(open), _) if open == found => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(found),
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') => depth = depth.saturating_sub(1),
                (None, _) => {}
            }
            self.keep(found, word);
            if depth == 0 && quote.is_none() {
                return Ok(());
            }
        }
        Err(self.unclosed(from, '{'))
    }

    fn single(&mut self, word: &mut String) -> Result<(), Unclosed> {
        let from = self.at;
        self.at += 1;
        while let Some(found) = self.peek() {
            if found == '\'' {
                self.at += 1;
                return Ok(());
            }
            self.keep(found, word);
        }
        Err(self.unclosed(from, '\''))
    }

    fn double(&mut self, word: &mut String) -> Result<(), Unclosed> {
        let from = self.at;
        self.at += 1;
        while let Some(found) = self.peek() {
            match (found, self.ahead(1)) {
                ('"', _) => {
                    self.at += 1;
                    return Ok(());
                }
                ('\\', Some('\n')) => self.at += 2,
                ('\\', Some('\\')) if self.is_windows => self.keep(found, word),
                ('\\', Some(next @ ('"' | '\\' | '$' | '`'))) => {
                    word.push(next);
                    self.at += 2;
                }
                ('%', _) if self.is_windows => self.percent(word),
                ('$', _) => self.variable(word),
                _ => self.keep(found, word),
            }
        }
        Err(self.unclosed(from, '"'))
    }

    /// What stands from here on, as far as a variable goes.
    fn rest(&self) -> String {
        self.chars[self.at..].iter().take(1 << 12).collect()
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`, `$((…))`; `$(…)` stays as it is.
    fn variable(&mut self, word: &mut String) {
        let (written, value) = self.found.variables.put_in(&self.rest());
        self.at += written.chars().count();
        word.push_str(&value);
    }

    /// `%NAME%` of Windows.
    fn percent(&mut self, word: &mut String) {
        let name: String =
            self.chars[self.at + 1..].iter().take_while(|found| found.is_alphanumeric() || **found == '_').collect();
        let length = name.chars().count();
        match self.found.variables.value(&name).filter(|_| self.chars.get(self.at + 1 + length) == Some(&'%')) {
            Some(value) => {
                word.push_str(&value);
                self.at += length + 2;
            }
            None => self.keep('%', word),
        }
    }

    /// A variable that stands bare and holds several words is read as if they stood here.
    fn split_in(&mut self, word: &str) -> bool {
        if !word.is_empty() || self.put_in >= MOST_PUT_IN || self.rest().starts_with("$(") {
            return false;
        }
        let (written, value) = self.found.variables.put_in(&self.rest());
        if value == written || !value.contains(char::is_whitespace) {
            return false;
        }
        self.put_in += 1;
        let end = self.at + written.chars().count();
        self.chars.splice(self.at..end, value.trim().chars());
        true
    }

    /// Whether all words of an array stand here: `"${NAME[@]}"`, with quotes or without.
    pub(super) fn is_array(&self) -> bool {
        array_name(&self.rest()).is_some_and(|(name, _)| self.found.variables.array(name).is_some())
    }

    /// Takes all words of an array.
    pub(super) fn array(&mut self) {
        let rest = self.rest();
        let Some((name, length)) = array_name(&rest) else { return };
        self.line.words.extend(self.found.variables.array(name).unwrap_or_default().to_vec());
        self.at += length;
    }

    /// `NAME=(words …)` or `NAME+=(words …)`.
    fn set_array(&mut self, written: &str) -> Result<(), Unclosed> {
        let outer = std::mem::take(&mut self.line);
        self.at += 1;
        while let Some(next) = self.peek() {
            match next {
                ')' => {
                    self.at += 1;
                    break;
                }
                '#' => self.skip_line(),
                '"' | '$' if self.is_array() => self.array(),
                found if found.is_whitespace() => self.at += 1,
                '\\' if self.skips_break() => {}
                _ => {
                    let before = self.at;
                    let word = self.word()?;
                    self.take(word);
                    // What no word begins with.
                    self.at += usize::from(self.at == before);
                }
            }
        }
        let inner = std::mem::replace(&mut self.line, outer);
        self.found.variables.set_array(written, inner.words);
        Ok(())
    }
}
