//! Many JSON values out of pieces of text: one after the other, a line each, or items of a list; in the memory of the largest.

use jiter::JsonValue;

use crate::domain::observed::Window;
use crate::import::engine::json::Walk;
use crate::import::engine::log::Log;
use crate::import::engine::{Unreadable, cut_off};
use crate::words::Printout;

/// A larger value is no result of a benchmark.
const LARGEST: usize = 1 << 30;

/// Values as they become complete.
#[derive(Debug)]
pub(super) struct Documents {
    k: Option<u64>,
    /// For lines of logs within JSON.
    log: Log,
    /// The value that has not ended.
    open: Vec<u8>,
    /// Brackets that are open in it.
    depth: usize,
    in_text: bool,
    escaped: bool,
    line: u64,
    /// The line that the open value begins on.
    start: u64,
    first: bool,
    last: Option<Printout>,
}

impl Documents {
    pub(super) fn new(k: Option<u64>) -> Self {
        Self {
            k,
            log: Log::new(k),
            open: Vec::new(),
            depth: 0,
            in_text: false,
            escaped: false,
            line: 1,
            start: 1,
            first: true,
            last: None,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(Window)) -> Result<(), Unreadable> {
        let bytes = if self.first { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        self.first = false;
        let mut from = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            self.line += u64::from(byte == b'\n');
            if self.is_between() {
                // Brackets and commas of a list around values are passed over: its items are values like any other.
                from = at;
                match byte {
                    b'{' => (self.depth, self.start) = (1, self.line),
                    b'"' => (self.in_text, self.start) = (true, self.line),
                    b'[' | b']' | b',' => {}
                    _ if byte.is_ascii_whitespace() => {}
                    // Numbers and words say nothing; a text that is no JSON is told by them.
                    b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'+' => {}
                    _ => return Err(self.no_json("a value is due")),
                }
                continue;
            }
            if self.closes(byte) {
                self.open.extend_from_slice(&bytes[from..=at]);
                from = at + 1;
                self.value(take)?;
            }
        }
        if !self.is_between() {
            self.open.extend_from_slice(&bytes[from..]);
            if self.open.len() > LARGEST {
                return Err(self.no_json("one value is larger than 1 GiB"));
            }
        }
        Ok(())
    }

    const fn is_between(&self) -> bool {
        self.depth == 0 && !self.in_text
    }

    /// Whether a byte ends the open value.
    const fn closes(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return self.is_between();
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        self.is_between()
    }

    fn value(&mut self, take: &mut dyn FnMut(Window)) -> Result<(), Unreadable> {
        let open = std::mem::take(&mut self.open);
        let value = JsonValue::parse(&open, true).map_err(|error| self.no_json(&error.error_type.to_string()))?;
        let mut seen = |window: Window| {
            self.last = Some(window.format);
            take(window);
        };
        Walk { k: self.k, log: Some(&mut self.log), take: &mut seen }.value(&value);
        Ok(())
    }

    fn no_json(&self, reason: &str) -> Unreadable {
        Unreadable::Json { line: self.start, reason: reason.to_owned() }
    }

    pub(super) fn finish(mut self, take: &mut dyn FnMut(Window)) -> Result<Vec<(Printout, u64)>, Unreadable> {
        let mut last = self.last;
        let settled = self.log.end(&mut |window: Window| {
            last = Some(window.format);
            take(window);
        });
        match (self.is_between(), last) {
            (true, _) => {}
            // What came whole counts, and that the rest is missing is said.
            (false, Some(format)) => take(cut_off(format)),
            (false, None) => return Err(self.no_json("the text ends too early: was it cut off?")),
        }
        Ok(settled)
    }
}
