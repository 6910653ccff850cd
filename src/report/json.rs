//! Rows as one JSON document: `{"manifest": {…}, "rows": [{…}, …]}`, made in pieces.
//!
//! A row has the keys of the CSV's columns; what does not apply is `null`.

use serde_json::{Map, Value};

use crate::sweep::row::{COLUMNS, Cell, Row};

/// The document up to the first row.
#[must_use]
pub fn head(manifest: &Value) -> Vec<u8> {
    format!("{{\"manifest\":{manifest},\"rows\":[").into_bytes()
}

/// Rows joined by commas, without one at either end.
#[must_use]
pub fn rows(rows: &[Row<'_>]) -> Vec<u8> {
    let lines: Vec<String> = rows.iter().map(|row| format!("\n{}", object(&COLUMNS, row.cells()))).collect();
    lines.join(",").into_bytes()
}

/// The document after the last row.
#[must_use]
pub fn tail() -> Vec<u8> {
    b"\n]}\n".to_vec()
}

/// A row as an object.
pub(super) fn object<'c>(columns: &[&str], cells: impl IntoIterator<Item = Cell<'c>>) -> Value {
    let fields = columns.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), value(cell)));
    Value::Object(fields.collect::<Map<String, Value>>())
}

fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Text(text) => text.into(),
        Cell::Notes(notes) => notes.text().into(),
        Cell::Numbered(word, number) => format!("{word}-{number}").into(),
        Cell::Integer(count) => count.into(),
        Cell::Number(figure) => figure.into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Empty => Value::Null,
    }
}
