//! A command as people paste it, into words: the quoting of a POSIX shell, read leniently.
//!
//! A page or a chat breaks lines without a backslash, adds one too many, curls quotes, or sets a flag in bold; what was meant is read,
//! and a note says so. Variables that the text itself sets are put in, others stay as they are written.

mod word;

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
const REMARKED: &str = "a remark in parentheses was left out";
/// Values that hold several words are put in so often at most.
const MOST_PUT_IN: usize = 64;

/// Takes a text apart.
pub(super) fn pasted(text: &str) -> Result<Pasted, Unclosed> {
    let mut reader = Reader {
        chars: straightened(text),
        at: 0,
        found: Pasted::default(),
        line: Line::default(),
        is_windows: is_windows(text),
        put_in: 0,
        cases: 0,
    };
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
    /// Whether backslashes part folders.
    is_windows: bool,
    /// Values with several words that were put in.
    put_in: usize,
    /// Branches that are open.
    cases: usize,
}

/// A path with a drive in it, or a program of Windows.
fn is_windows(text: &str) -> bool {
    let drives =
        text.match_indices(":\\").any(|(at, _)| text[..at].ends_with(|found: char| found.is_ascii_alphabetic()));
    drives || text.contains(".exe") || text.contains("@echo off")
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
                // Remarks of Windows.
                ':' if self.is_windows && self.is_at_start() && self.ahead(1) == Some(':') => self.skip_line(),
                '"' | '$' if self.is_array() => self.array(),
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
                '<' if !self.is_spoken('>') => self.redirection(),
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
                Some(':') if self.is_windows && rest.get(blank + 1) == Some(&':') => {
                    ahead += blank + rest[blank..].iter().take_while(|found| **found != '\n').count();
                }
                Some('#') => {
                    ahead += blank + rest[blank..].iter().take_while(|found| **found != '\n').count();
                }
                Some('^') if self.is_windows => return,
                Some('-') if goes_on(&rest[blank..]) => {
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
            self.found.variables.set_by(&line.words, self.cases > 0);
            match line.words[0].as_str() {
                "case" => self.cases += 1,
                "esac" => self.cases = self.cases.saturating_sub(1),
                _ => {}
            }
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
        let rest = self.found.variables.expanded(&rest).replace(['"', '\''], "");
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
}

/// A flag, and no branch of a `case`.
fn goes_on(rest: &[char]) -> bool {
    let is_flag = rest.get(1).is_some_and(|next| *next == '-' || next.is_ascii_alphabetic());
    let word = rest.iter().take_while(|found| !found.is_whitespace());
    is_flag && !word.clone().any(|found| *found == ')')
}

/// What `echo` writes into a file.
fn echoed(line: &Line) -> Option<(String, String)> {
    let at = line.words.iter().position(|word| word == "echo" || word == "printf")?;
    let name = line.redirections.iter().find_map(|of| of.strip_prefix('>'))?.trim_start_matches('>').trim();
    let text = line.words[at + 1..].iter().filter(|word| *word != "-e").cloned().collect::<Vec<_>>().join(" ");
    Some((name.to_owned(), text.replace("\\n", "\n")))
}
