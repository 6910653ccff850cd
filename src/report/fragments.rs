//! Rows of a sweep as CSV, each fragment that comes again copied in place of formatted anew.
//!
//! In a sweep most cells of a row are those of the row of the same k before it: labels, step times and memory do not depend on what is accepted.
//! Runs of such cells stand side by side in the bytes that were written for it, and are copied in one piece.

use crate::report::number::plain;
use crate::sweep::row::{COLUMNS, Cell, Row};

/// Bytes that a row takes, about, to reserve them at once.
const ROW_BYTES: usize = 320;
/// Rows of so many lengths are told apart at most.
const MOST_LENGTHS: usize = 64;

type Cells<'c> = [Cell<'c>; COLUMNS.len()];

/// A row that was written: its cells, and where each begins in the bytes, with the end of the last.
struct Written<'c> {
    cells: Cells<'c>,
    begins: [usize; COLUMNS.len() + 1],
}

/// Rows without a header: RFC 4180, `\n`, shortest numbers that read back the same, as [`super::csv`] writes them.
#[must_use]
pub fn rows(rows: &[Row<'_>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW_BYTES);
    let period = period(rows);
    let mut written: Vec<Option<Written<'_>>> = (0..period).map(|_| None).collect();
    for (at, row) in rows.iter().enumerate() {
        let slot = &mut written[at % period];
        let cells = row.cells();
        let begins = append(&mut bytes, &cells, slot.as_ref());
        *slot = Some(Written { cells, begins });
    }
    bytes
}

/// After how many rows the first draft length comes again.
fn period(rows: &[Row<'_>]) -> usize {
    let first = rows.first().map(|row| row.k);
    let again = rows.iter().skip(1).take(MOST_LENGTHS).position(|row| Some(row.k) == first);
    again.map_or(1, |at| at + 1)
}

fn append(bytes: &mut Vec<u8>, cells: &Cells<'_>, like: Option<&Written<'_>>) -> [usize; COLUMNS.len() + 1] {
    let mut begins = [0; COLUMNS.len() + 1];
    let mut column = 0;
    while column < cells.len() {
        let same = like.map_or(0, |like| alike(&cells[column..], &like.cells[column..]));
        if let (Some(like), true) = (like, same > 0) {
            let (from, to) = (like.begins[column], like.begins[column + same]);
            let (here, earlier) = (column..column + same, bytes.len());
            for (begin, known) in begins[here.clone()].iter_mut().zip(&like.begins[here]) {
                *begin = earlier + known - from;
            }
            bytes.extend_from_within(from..to);
            column += same;
        } else {
            begins[column] = bytes.len();
            format(bytes, &cells[column]);
            column += 1;
            bytes.push(if column == cells.len() { b'\n' } else { b',' });
        }
    }
    begins[COLUMNS.len()] = bytes.len();
    begins
}

/// How many cells from the first on are those of another row.
fn alike(cells: &[Cell<'_>], others: &[Cell<'_>]) -> usize {
    let is_same = |(cell, other): &(&Cell<'_>, &Cell<'_>)| match (cell, other) {
        // 0 and -0 are equal and written differently.
        (Cell::Number(one), Cell::Number(two)) => one.to_bits() == two.to_bits(),
        (one, two) => one == two,
    };
    cells.iter().zip(others).take_while(is_same).count()
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
