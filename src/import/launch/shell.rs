//! A command as people paste it, into words: the quoting of a POSIX shell, read leniently.
//!
//! A page or a chat breaks lines without a backslash, adds one too many, curls quotes, or sets a flag in bold; what was meant is read,
//! and a note says so. Variables that the text itself sets are put in, others stay as they are written.

use crate::import::launch::plain::straightened;
use crate::import::launch::variables::Variables;

/// One command: words, and where its output goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) words: Vec<String>,
    pub(super) redirections: Vec<String>,
}

/// Everything that a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pasted {
    /// Commands, in their order.
    pub(super) lines: Vec<Line>,
    /// Variables that it sets.
    pub(super) variables: Variables,
    /// Files that it writes from what stands in it, by name.
    pub(super) files: Vec<(String, String)>,
    /// What was read in another way than a shell would.
    pub(super) notes: Vec<&'static str>,
}

/// A quote that is opened and not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    pub(super) quote: char,
    pub(super) line: usize,
    pub(super) column: usize,
}

const BROKEN: &str = "a backslash stands where a line was broken: read as a line that goes on";
const WRAPPED: &str = "lines that begin with a flag go on without a backslash: read as one command";
const CURLED: &str = "curly quotes or long dashes were read as plain ones";
const MARKED: &str = "marks of a page (**, ``` or a prompt) were left out";

/// Takes a text apart.
pub(super) fn pasted(text: &str) -> Result<Pasted, Unclosed> {
    let mut reader = Reader { chars: straightened(text), at: 0, found: Pasted::default(), line: Line::default() };
    if text.contains(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', '\u{2014}', '\u{2013}']) {
        reader.note(CURLED);
    }
    reader.read()?;
    Ok(reader.found)
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    found: Pasted,
    line: Line,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }

    fn note(&mut self, note: &'static str) {
        if !self.found.notes.contains(&note) {
            self.found.notes.push(note);
        }
    }

    /// Whether only blanks stand between here and a line's start.
    fn is_at_start(&self) -> bool {
        self.chars[..self.at].iter().rev().take_while(|found| **found != '\n').all(|found| found.is_whitespace())
    }

    /// What a terminal shows before a command.
    fn is_prompt(&self) -> bool {
        self.line.words.is_empty() && self.is_at_start() && self.ahead(1) == Some(' ')
    }

    fn read(&mut self) -> Result<(), Unclosed> {
        while let Some(next) = self.peek() {
            match next {
                '\n' => self.newline(),
                found if found.is_whitespace() => self.at += 1,
                '`' if self.is_at_start() && self.ahead(1) == Some('`') => self.fence(),
                '#' => self.skip_line(),
                // Other shells break lines so.
                '^' | '`' if self.ahead(1) == Some('\n') => self.at += 2,
                '`' => {
                    self.at += 1;
                    self.note(MARKED);
                }
                '$' | '>' | '%' if self.is_prompt() => {
                    self.at += 1;
                    self.note(MARKED);
                }
                // An item of a list, as in files for containers.
                '-' if self.is_at_start() && self.ahead(1) == Some(' ') => self.at += 1,
                ';' | '|' | '&' | '(' | ')' => self.operator(),
                '>' => self.redirection(),
                '<' if !self.is_placeholder() => self.redirection(),
                '\\' if self.skips_break() => {}
                _ => {
                    let word = self.word()?;
                    self.take(word);
                }
            }
        }
        self.end();
        Ok(())
    }

    /// The line ends, unless the next one begins with a flag.
    fn newline(&mut self) {
        self.at += 1;
        let mut ahead = self.at;
        loop {
            let rest = &self.chars[ahead..];
            let blank = rest.iter().take_while(|found| found.is_whitespace()).count();
            match rest.get(blank) {
                Some('#') => {
                    ahead += blank + rest[blank..].iter().take_while(|found| **found != '\n').count();
                }
                Some('-') if rest.get(blank + 1).is_some_and(|next| *next == '-' || next.is_ascii_alphabetic()) => {
                    if !self.line.words.is_empty() {
                        self.note(WRAPPED);
                    }
                    return;
                }
                _ => return self.end(),
            }
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.words.is_empty() {
            self.found.variables.set_by(&line.words);
            self.found.files.extend(echoed(&line));
            self.found.lines.push(line);
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|found| found != '\n') {
            self.at += 1;
        }
    }

    fn fence(&mut self) {
        self.note(MARKED);
        self.skip_line();
    }

    fn operator(&mut self) {
        let is_output = self.peek() == Some('&') && self.ahead(1) == Some('>');
        if is_output {
            self.at += 1;
            return self.redirection();
        }
        self.at += 1;
        self.end();
    }

    /// `<model>` stands for something.
    fn is_placeholder(&self) -> bool {
        let inner: Vec<char> = self.chars[self.at + 1..].iter().copied().take_while(|found| *found != '>').collect();
        let is_name = |found: &char| found.is_alphanumeric() || matches!(found, ' ' | '_' | '-' | '.' | '/' | ':');
        inner.first().is_some_and(|first| first.is_alphabetic())
            && inner.len() < 60
            && inner.iter().all(is_name)
            && self.chars.get(self.at + 1 + inner.len()) == Some(&'>')
    }

    /// `> file`, `2>&1`, and what stands in a text until its end mark.
    fn redirection(&mut self) {
        let from = self.at;
        while self.peek().is_some_and(|found| matches!(found, '<' | '>' | '&' | '|' | '-')) {
            self.at += 1;
        }
        let sign: String = self.chars[from..self.at].iter().collect();
        while self.peek().is_some_and(|found| found == ' ' || found == '\t') {
            self.at += 1;
        }
        let name = self.word().unwrap_or_default();
        if sign.starts_with("<<") && !sign.starts_with("<<<") {
            return self.document(&name);
        }
        self.line.redirections.push(format!("{sign} {name}"));
    }

    /// A here-document goes into the file that its line names.
    fn document(&mut self, mark: &str) {
        let start = self.at;
        // The rest of the line is read after the document, which begins below it.
        self.skip_line();
        let rest: Vec<char> = self.chars[start..self.at].to_vec();
        self.at = (self.at + 1).min(self.chars.len());
        let mut text = String::new();
        while self.at < self.chars.len() {
            let from = self.at;
            self.skip_line();
            let line: String = self.chars[from..self.at].iter().collect();
            self.at = (self.at + 1).min(self.chars.len());
            if line.trim() == mark {
                break;
            }
            text += &line;
            text.push('\n');
        }
        let rest: String = rest.iter().collect();
        let named = |words: &str| words.split(['>', ' ']).rfind(|word| !word.is_empty()).map(str::to_owned);
        let by_sign = self.line.redirections.iter().rev().find(|of| of.starts_with('>')).and_then(|of| named(of));
        let by_tee = self.line.words.iter().position(|word| word == "tee").and_then(|at| self.line.words.get(at + 1));
        if let Some(name) = by_sign.or_else(|| named(&rest)).or_else(|| by_tee.cloned()) {
            self.found.files.push((name, text));
        }
        self.end();
    }

    /// A backslash that breaks a line, or is left over from one; goes past it.
    fn skips_break(&mut self) -> bool {
        let rest = &self.chars[self.at + 1..];
        let blanks = rest.iter().take_while(|found| **found == ' ' || **found == '\t').count();
        let step = match rest.get(blanks) {
            Some('\n') if blanks == 0 => return self.past(2),
            Some('\n') => blanks + 2,
            None => return self.past(1 + blanks),
            Some('-') if blanks > 0 => blanks + 1,
            _ => return false,
        };
        self.note(BROKEN);
        self.past(step)
    }

    const fn past(&mut self, step: usize) -> bool {
        self.at += step;
        true
    }

    fn word(&mut self) -> Result<String, Unclosed> {
        let mut word = String::new();
        while let Some(next) = self.peek() {
            match next {
                '{' if (word.is_empty() || word.ends_with('=')) && self.is_bare_json() => self.braces(&mut word)?,
                '`' => break,
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '$' => self.variable(&mut word),
                '\\' if self.skips_break() => break,
                '\\' if is_drive(&word) => self.keep(next, &mut word),
                '\\' => {
                    self.at += 1;
                    word.extend(self.peek());
                    self.at += 1;
                }
                '<' if self.is_placeholder() => {
                    while let Some(found) = self.peek() {
                        self.keep(found, &mut word);
                        if found == '>' {
                            break;
                        }
                    }
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

    fn take(&mut self, word: String) {
        let plain = word.trim_start_matches("**").trim_end_matches("**");
        if plain.len() < word.len() {
            self.note(MARKED);
        }
        if !plain.is_empty() || word.is_empty() {
            self.line.words.push(plain.to_owned());
        }
    }

    fn unclosed(&self, from: usize, quote: char) -> Unclosed {
        let before = &self.chars[..from];
        let line = before.iter().filter(|found| **found == '\n').count() + 1;
        let column = before.iter().rev().take_while(|found| **found != '\n').count() + 1;
        Unclosed { quote, line, column }
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
                ('\\', Some(next @ ('"' | '\\' | '$' | '`'))) => {
                    word.push(next);
                    self.at += 2;
                }
                ('$', _) => self.variable(word),
                _ => self.keep(found, word),
            }
        }
        Err(self.unclosed(from, '"'))
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`; `$(…)` stays as it is.
    fn variable(&mut self, word: &mut String) {
        let rest: String = self.chars[self.at..].iter().take(400).collect();
        let (written, value) = self.found.variables.put_in(&rest);
        self.at += written.chars().count();
        word.push_str(&value);
    }
}

/// A path of Windows keeps its backslashes.
fn is_drive(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic()) && chars.next() == Some(':')
}

/// What `echo` writes into a file.
fn echoed(line: &Line) -> Option<(String, String)> {
    let at = line.words.iter().position(|word| word == "echo" || word == "printf")?;
    let name = line.redirections.iter().find_map(|of| of.strip_prefix('>'))?.trim_start_matches('>').trim();
    let text = line.words[at + 1..].iter().filter(|word| *word != "-e").cloned().collect::<Vec<_>>().join(" ");
    Some((name.to_owned(), text.replace("\\n", "\n")))
}
