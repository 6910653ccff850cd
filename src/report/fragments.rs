//! Rows of a sweep as text, each fragment that comes again copied in place of formatted anew.
//!
//! In a sweep most cells of a row are those of the row of the same k before it: labels, step times and memory do not depend on what is accepted.
//! Runs of such cells stand side by side in the bytes that were written for it, and are copied in one piece.

use std::ops::Range;

use crate::report::number::plain;
use crate::sweep::row::{COLUMNS, Cell, Labels, Row};

/// Bytes that a row takes, about, to reserve them at once.
const ROW_BYTES: usize = 320;
/// Rows of so many lengths are told apart at most.
const MOST_LENGTHS: usize = 64;

/// What stands around the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Before the first.
    opening: &'static [u8],
    /// After the last.
    closing: &'static [u8],
    /// Whether each has its column's name before it, and text is JSON.
    named: bool,
}

/// RFC 4180, `\n`, shortest numbers that read back the same, as [`super::csv`] writes them.
pub(super) const CSV: Style = Style { opening: b"", closing: b"\n", named: false };
/// An object on a line of its own.
pub(super) const JSON_LINES: Style = Style { opening: b"{", closing: b"}\n", named: true };
/// An item of a list, with the comma before it.
pub(super) const JSON_ITEMS: Style = Style { opening: b",\n{", closing: b"}", named: true };

/// Where each cell of a row begins in the bytes, and where its last one ends.
type Begins = [usize; COLUMNS.len() + 1];

/// A row that was written.
#[derive(Clone, Copy)]
struct Written<'r, 'g> {
    row: &'r Row<'g>,
    begins: Begins,
}

/// Where names end, and columns that depend on what is accepted; all others are those of a row of the same batch, context and k.
const NAMES: usize = 6;
const ACCEPTANCE: usize = 10;
const TOKENS_PER_PASS: usize = 12;
const OVERHEAD: usize = 16;
const SPEEDUP: usize = 18;
const TOKENS_PER_S: usize = 20;
const NOTES: usize = 28;

/// Rows in a style.
pub(super) fn rows(rows: &[Row<'_>], style: Style) -> Vec<u8> {
    let mut text = Text {
        bytes: Vec::with_capacity(rows.len() * if style.named { 2 * ROW_BYTES } else { ROW_BYTES }),
        begins: [0; COLUMNS.len() + 1],
        style,
    };
    let period = period(rows);
    let mut written: Vec<Option<Written<'_, '_>>> = vec![None; period];
    let mut before: Option<Written<'_, '_>> = None;
    for (at, row) in rows.iter().enumerate() {
        let slot = &mut written[at % period];
        match slot.as_ref().filter(|like| costs_alike(row, like.row)) {
            Some(like) => text.append_like(row, like, before.as_ref()),
            None => text.append(row, before.as_ref()),
        }
        *slot = Some(Written { row, begins: text.begins });
        before = *slot;
    }
    text.bytes
}

/// Rows on their way into bytes.
struct Text {
    bytes: Vec<u8>,
    /// Of the row that is written.
    begins: Begins,
    style: Style,
}

impl Text {
    /// A row, every cell formatted but for names that the row before has too.
    fn append(&mut self, row: &Row<'_>, before: Option<&Written<'_, '_>>) {
        let named = before.filter(|before| names_alike(&row.labels, &before.row.labels));
        let from = named.map_or(0, |before| {
            self.copy(&before.begins, 0..NAMES);
            NAMES
        });
        for (column, cell) in row.cells().iter().enumerate().skip(from) {
            self.cell(column, cell);
        }
    }

    /// A row of the same costs as one that was written; `before` is the row before it.
    fn append_like(&mut self, row: &Row<'_>, like: &Written<'_, '_>, before: Option<&Written<'_, '_>>) {
        self.copy(&like.begins, 0..ACCEPTANCE);
        match before.filter(|before| acceptance_alike(row, before.row)) {
            Some(before) => self.copy(&before.begins, ACCEPTANCE..TOKENS_PER_PASS),
            None => {
                self.cell(ACCEPTANCE, &row.acceptance_cell());
                self.cell(ACCEPTANCE + 1, &row.alpha.map_or(Cell::Empty, Cell::Number));
            }
        }
        self.cell(TOKENS_PER_PASS, &Cell::Number(row.tokens_per_pass));
        self.copy(&like.begins, TOKENS_PER_PASS + 1..OVERHEAD);
        // What does not depend on tokens is what it was.
        if row.token.get().to_bits() == 0 {
            self.copy(&like.begins, OVERHEAD..SPEEDUP);
        } else {
            self.cell(OVERHEAD, &Cell::Number(row.overhead().get()));
            self.cell(OVERHEAD + 1, &Cell::Number(row.round().get()));
        }
        self.cell(SPEEDUP, &Cell::Number(row.speedup()));
        self.copy(&like.begins, SPEEDUP + 1..TOKENS_PER_S);
        self.cell(TOKENS_PER_S, &Cell::Number(row.tokens_per_s()));
        if row.notes == like.row.notes {
            self.copy(&like.begins, TOKENS_PER_S + 1..COLUMNS.len());
        } else {
            self.copy(&like.begins, TOKENS_PER_S + 1..NOTES);
            self.cell(NOTES, &Cell::Notes(row.notes));
        }
    }

    fn cell(&mut self, column: usize, cell: &Cell<'_>) {
        self.begins[column] = self.bytes.len();
        let ends = (column == 0, column + 1 == COLUMNS.len());
        whole(&mut self.bytes, COLUMNS[column], cell, ends, self.style);
        self.begins[column + 1] = self.bytes.len();
    }

    /// Cells that stand side by side in a row that was written.
    #[expect(
        clippy::needless_range_loop,
        reason = "a pair of iterators is made by a call, for every run of cells of every row"
    )]
    fn copy(&mut self, like: &Begins, columns: Range<usize>) {
        let (from, to) = (like[columns.start], like[columns.end]);
        let here = self.bytes.len();
        for column in columns.start..=columns.end {
            self.begins[column] = here + like[column] - from;
        }
        self.bytes.extend_from_within(from..to);
    }
}

/// Whether all cells are the same that do not depend on what is accepted. Figures are compared bit by bit: 0 and -0 are written differently.
fn costs_alike(one: &Row<'_>, other: &Row<'_>) -> bool {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let (memory, of_other) = (&one.memory, &other.memory);
    one.batch == other.batch
        && one.k == other.k
        && one.context == other.context
        && one.ranks == other.ranks
        && same(one.verify_width, other.verify_width)
        && same(one.base_step.get(), other.base_step.get())
        && same(one.draft.get(), other.draft.get())
        && same(one.verify.get(), other.verify.get())
        && same(one.fixed.get(), other.fixed.get())
        && same(one.token.get(), other.token.get())
        && one.bounds == other.bounds
        && same(memory.base.get(), of_other.base.get())
        && same(memory.speculative.get(), of_other.speculative.get())
        && (memory.base_fits, memory.fits) == (of_other.base_fits, of_other.fits)
        && names_alike(&one.labels, &other.labels)
}

/// Whether names are the same text in memory, as they are in rows of one block.
fn names_alike(one: &Labels<'_>, other: &Labels<'_>) -> bool {
    let drafters = match (one.drafter, other.drafter) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (None, None) => true,
        _ => false,
    };
    drafters
        && std::ptr::eq(one.hardware, other.hardware)
        && std::ptr::eq(one.target, other.target)
        && std::ptr::eq(one.engine, other.engine)
        && one.roofline == other.roofline
        && one.tensor_parallel == other.tensor_parallel
}

fn acceptance_alike(one: &Row<'_>, other: &Row<'_>) -> bool {
    one.acceptance == other.acceptance && one.alpha.map(f64::to_bits) == other.alpha.map(f64::to_bits)
}

/// A row of any columns in a style, every cell formatted.
pub(super) fn row(bytes: &mut Vec<u8>, columns: &[&str], cells: &[Cell<'_>], style: Style) {
    for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
        whole(bytes, column, cell, (at == 0, at + 1 == cells.len()), style);
    }
}

/// After how many rows the first draft length comes again.
fn period(rows: &[Row<'_>]) -> usize {
    let first = rows.first().map(|row| row.k);
    let again = rows.iter().skip(1).take(MOST_LENGTHS).position(|row| Some(row.k) == first);
    again.map_or(1, |at| at + 1)
}

/// A cell with what stands around it, if it is the first or the last of its row too.
fn whole(bytes: &mut Vec<u8>, column: &str, cell: &Cell<'_>, (first, last): (bool, bool), style: Style) {
    if first {
        bytes.extend_from_slice(style.opening);
    }
    if style.named {
        bytes.push(b'"');
        bytes.extend_from_slice(column.as_bytes());
        bytes.extend_from_slice(b"\":");
        json(bytes, cell);
    } else {
        format(bytes, cell);
    }
    bytes.extend_from_slice(if last { style.closing } else { b"," });
}

fn format(bytes: &mut Vec<u8>, cell: &Cell<'_>) {
    match *cell {
        Cell::Text(text) => quoted(bytes, text),
        Cell::Notes(notes) => quoted(bytes, &notes.text().unwrap_or_default()),
        Cell::Numbered(word, number) => quoted(bytes, &format!("{word}-{number}")),
        Cell::Integer(count) => bytes.extend_from_slice(itoa::Buffer::new().format(count).as_bytes()),
        Cell::Number(figure) => bytes.extend_from_slice(plain(zmij::Buffer::new().format(figure)).as_bytes()),
        Cell::Flag(true) => bytes.extend_from_slice(b"true"),
        Cell::Flag(false) => bytes.extend_from_slice(b"false"),
        Cell::Empty => {}
    }
}

fn json(bytes: &mut Vec<u8>, cell: &Cell<'_>) {
    match *cell {
        Cell::Text(text) => string(bytes, text),
        Cell::Notes(notes) => match notes.text() {
            Some(text) => string(bytes, &text),
            None => bytes.extend_from_slice(b"null"),
        },
        Cell::Numbered(word, number) => string(bytes, &format!("{word}-{number}")),
        // A number that JSON cannot write is none.
        Cell::Number(figure) if !figure.is_finite() => bytes.extend_from_slice(b"null"),
        Cell::Number(figure) => bytes.extend_from_slice(zmij::Buffer::new().format(figure).as_bytes()),
        Cell::Empty => bytes.extend_from_slice(b"null"),
        Cell::Integer(_) | Cell::Flag(_) => format(bytes, cell),
    }
}

/// A text as JSON.
fn string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}

/// A text, in quotes where it holds a separator, a quote or a line's end.
fn quoted(bytes: &mut Vec<u8>, text: &str) {
    if !text.contains(['"', ',', '\n', '\r']) {
        return bytes.extend_from_slice(text.as_bytes());
    }
    bytes.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            bytes.push(b'"');
        }
        bytes.push(byte);
    }
    bytes.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_where_they_are_looked_for() {
        let named = [NAMES, ACCEPTANCE, TOKENS_PER_PASS, OVERHEAD, SPEEDUP, TOKENS_PER_S, NOTES].map(|at| COLUMNS[at]);
        assert_eq!(named, ["batch", "acceptance", "tokens_per_pass", "overhead_s", "speedup", "tokens_per_s", "notes"]);
        assert_eq!([COLUMNS[ACCEPTANCE + 1], COLUMNS[OVERHEAD + 1]], ["alpha", "round_s"]);
    }
}
