//! Cells as JSON: a row is an object with the keys of the CSV's columns; what does not apply is `null`.

use serde_json::{Map, Value};

use crate::sweep::row::Cell;

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
