//! Lines out of pieces of text, in bounded memory.

use crate::domain::observed::Window;

/// Longer lines are read up to here.
const LONGEST: usize = 1 << 20;

/// What reads whole lines.
pub(super) trait ReadLines {
    /// Reads a run of whole lines.
    fn read(&mut self, lines: &str, take: &mut dyn FnMut(Window));
}

/// Pieces of text into lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    /// A line that has not ended.
    open: Vec<u8>,
    /// Whether the rest of a line that was too long is passed over.
    skips: bool,
}

impl<R: ReadLines> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, open: Vec::new(), skips: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(Window)) {
        let bytes = if self.skips {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
            self.skips = false;
            &bytes[end..]
        } else {
            bytes
        };
        let Some(end) = memchr::memrchr(b'\n', bytes) else {
            self.open.extend_from_slice(bytes);
            self.cut(take);
            return;
        };
        if self.open.is_empty() {
            self.reader.read(&String::from_utf8_lossy(&bytes[..=end]), take);
        } else {
            let first = memchr::memchr(b'\n', bytes).unwrap_or(end);
            self.open.extend_from_slice(&bytes[..=first]);
            let open = std::mem::take(&mut self.open);
            self.reader.read(&String::from_utf8_lossy(&open), take);
            self.reader.read(&String::from_utf8_lossy(&bytes[first + 1..=end]), take);
        }
        self.open.extend_from_slice(&bytes[end + 1..]);
        self.cut(take);
    }

    /// Reads what there is of a line that is too long.
    fn cut(&mut self, take: &mut dyn FnMut(Window)) {
        if self.open.len() > LONGEST {
            let open = std::mem::take(&mut self.open);
            self.reader.read(&String::from_utf8_lossy(&open), take);
            self.skips = true;
        }
    }

    pub(super) fn finish(mut self, take: &mut dyn FnMut(Window)) -> R {
        let open = std::mem::take(&mut self.open);
        self.reader.read(&String::from_utf8_lossy(&open), take);
        self.reader
    }
}
