//! What a sweep comes to, as a table for people.

use crate::report::number::brief;
use crate::report::table::{Style, composed, right, table};
use crate::sweep::row::Row;
use crate::sweep::summary::Line;

/// Lines that a table shows at most.
pub const MOST_SHOWN: usize = 48;

/// The lines of a summary, of which `all` exist; `rows_in` says where the others are, and `conditions` what every point counted meets.
#[must_use]
pub fn render(lines: &[Line<'_>], (all, rows_in): (u64, &str), conditions: &[String], style: Style) -> String {
    let names: Vec<fn(&Row<'_>) -> String> = vec![
        |row| row.labels.hardware.to_owned(),
        |row| row.labels.target.to_owned(),
        |row| row.labels.tensor_parallel.to_string(),
        |row| row.labels.engine.to_owned(),
        |row| row.labels.drafter.unwrap_or("none").to_owned(),
    ];
    let varies = |name: &fn(&Row<'_>) -> String| lines.iter().any(|line| name(&line.best) != name(&lines[0].best));
    let heads = ["hardware", "target", "devices", "engine", "drafter"];
    let (told, shared): (Vec<_>, Vec<_>) = heads.iter().zip(&names).partition(|(_, name)| varies(name));
    let mut header: Vec<String> = told.iter().map(|(head, _)| (**head).to_owned()).collect();
    header.extend(
        ["context", "alpha", "pays", "of batches", "best speedup", "k", "at batch", "worst"].map(str::to_owned),
    );
    let mut drawn = table(&header, style);
    for line in lines {
        let mut row: Vec<String> = told.iter().map(|(_, name)| name(&line.best)).collect();
        row.extend([
            line.best.context.to_string(),
            line.best
                .alpha
                .map_or_else(|| line.best.acceptance.map_or_else(String::new, |label| label.to_string()), brief),
            line.pays(),
            format!("{} of {}", line.that_pay, line.batches),
            format!("{:.2}", line.best.speedup()),
            line.best.k.to_string(),
            line.best.batch.to_string(),
            format!("{:.2}", line.least_speedup),
        ]);
        drawn.add_row(row.into_iter().map(right).collect::<Vec<_>>());
    }
    let mut notes = vec![
        "each batch at its best k; it pays if that drafts, fits in memory and is faster than plain decoding".to_owned(),
    ];
    if !conditions.is_empty() {
        notes.push(format!("only points are counted of which holds: {}", conditions.join(", ")));
    }
    if all > lines.len() as u64 {
        notes.push(format!("{} of {all} lines are shown; all are {rows_in}", lines.len()));
    }
    let shared: Vec<String> =
        shared.iter().filter_map(|(head, name)| Some(format!("{head} {}", name(&lines.first()?.best)))).collect();
    composed(&shared.join(", "), &drawn, notes, style)
}

impl Line<'_> {
    /// From which batch to which it pays, in words.
    fn pays(&self) -> String {
        match (self.pays_from, self.pays_to) {
            (Some(from), Some(to)) if from == to => format!("batch {from}"),
            (Some(from), Some(to)) => format!("batch {from} to {to}"),
            _ => "nowhere".to_owned(),
        }
    }
}
