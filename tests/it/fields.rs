//! The cells of a row as the csv crate takes them: the oracle of what the program writes, each formatted by itself.

use specplan::sweep::row::{Cell, Row};

pub(crate) fn fields(row: &Row<'_>) -> Vec<String> {
    row.cells().into_iter().map(field).collect()
}

fn field(cell: Cell<'_>) -> String {
    match cell {
        Cell::Text(text) => text.to_owned(),
        Cell::Notes(notes) => notes.text().unwrap_or_default(),
        Cell::Numbered(word, count) => format!("{word}-{count}"),
        Cell::Integer(count) => count.to_string(),
        Cell::Number(figure) => {
            let shortest = zmij::Buffer::new().format(figure).to_owned();
            shortest.strip_suffix(".0").map_or(shortest.clone(), str::to_owned)
        }
        Cell::Flag(flag) => flag.to_string(),
        Cell::Empty => String::new(),
    }
}
