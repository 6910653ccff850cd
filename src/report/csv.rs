//! Rows as CSV: RFC 4180, UTF-8, `\n`, one header row, empty cells for what does not apply.

use csv::{Terminator, Writer, WriterBuilder};
use serde_json::Value;

use crate::report::number::plain;
use crate::sweep::row::Cell;

/// A header row.
pub(super) fn names(columns: &[&str]) -> csv::Result<Vec<u8>> {
    let mut writer = writer(0);
    writer.write_record(columns)?;
    bytes(writer)
}

/// Bytes that a row takes, about, to reserve them at once.
const ROW_BYTES: usize = 360;

/// Rows of cells without a header.
pub(super) fn records<'c, R>(rows: impl ExactSizeIterator<Item = R>) -> csv::Result<Vec<u8>>
where
    R: IntoIterator<Item = Cell<'c>>,
{
    let mut writer = writer(rows.len() * ROW_BYTES);
    let (mut integers, mut numbers) = (itoa::Buffer::new(), zmij::Buffer::new());
    for row in rows {
        for cell in row {
            match cell {
                Cell::Text(text) => writer.write_field(text)?,
                Cell::Notes(notes) => writer.write_field(notes.text().unwrap_or_default())?,
                Cell::Numbered(word, number) => writer.write_field(format!("{word}-{number}"))?,
                Cell::Integer(count) => writer.write_field(integers.format(count))?,
                Cell::Number(figure) => writer.write_field(plain(numbers.format(figure)))?,
                Cell::Flag(true) => writer.write_field("true")?,
                Cell::Flag(false) => writer.write_field("false")?,
                Cell::Empty => writer.write_field("")?,
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    bytes(writer)
}

/// A header row and rows of texts, numbers, flags, lists of words or nothing.
pub(super) fn table(columns: &[&str], rows: impl Iterator<Item = Vec<Value>>) -> csv::Result<Vec<u8>> {
    let mut writer = writer(0);
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            Value::Number(number) => plain(&number.to_string()).to_owned(),
            other => other.to_string(),
        }))?;
    }
    bytes(writer)
}

fn writer(capacity: usize) -> Writer<Vec<u8>> {
    WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::with_capacity(capacity))
}

fn bytes(writer: Writer<Vec<u8>>) -> csv::Result<Vec<u8>> {
    writer.into_inner().map_err(|error| error.into_error().into())
}
