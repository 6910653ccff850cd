//! Kinds of requests apart.

use serde_json::Value;

use super::{Shown, number};
use crate::report::csv;
use crate::report::json::object;
use crate::sweep::row::Cell;
use crate::traffic::measures::ByKind;

/// The columns of the table of workloads.
pub const COLUMNS: [&str; 20] = [
    "hardware",
    "target",
    "drafter",
    "tensor_parallel",
    "load",
    "policy",
    "workload",
    "requests",
    "ttft_mean_s",
    "ttft_p50_s",
    "ttft_p95_s",
    "ttft_p99_s",
    "tpot_mean_s",
    "tpot_p50_s",
    "tpot_p95_s",
    "tpot_p99_s",
    "e2e_mean_s",
    "e2e_p95_s",
    "e2e_p99_s",
    "good_share",
];

/// A row for each kind; none where there is one only.
pub(super) fn rows(shown: &Shown<'_>, is_asked: bool) -> Vec<Value> {
    let policy = shown.policy().to_string();
    let row = |(at, of): (usize, &ByKind)| {
        let labels = &shown.labels;
        let mut cells = vec![
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            shown.drafter().map_or(Cell::Empty, Cell::Text),
            Cell::Integer(labels.tensor_parallel),
            Cell::Number(shown.case.load),
            Cell::Text(&policy),
            shown.traffic.kinds[at].label.as_deref().map_or(Cell::Empty, Cell::Text),
            Cell::Integer(of.requests),
        ];
        for times in [&of.ttft, &of.tpot] {
            cells.push(number(times.mean()));
            cells.extend([0.5, 0.95, 0.99].map(|share| number(times.at(share))));
        }
        cells.extend([of.e2e.mean(), of.e2e.at(0.95), of.e2e.at(0.99)].map(number));
        let good = (is_asked && of.requests > 0).then(|| of.good as f64 / of.requests as f64);
        cells.push(number(good));
        object(&COLUMNS, cells)
    };
    shown.case.measures.kinds.iter().enumerate().map(row).collect()
}

/// All runs as CSV; nothing where there is one kind of requests.
///
/// # Errors
///
/// Of the writer.
pub fn csv(all: &[Shown<'_>], is_asked: bool) -> ::csv::Result<Option<Vec<u8>>> {
    let rows: Vec<Value> = all.iter().flat_map(|shown| rows(shown, is_asked)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let values = |row: Value| COLUMNS.iter().map(|column| row[*column].clone()).collect();
    csv::table(&COLUMNS, rows.into_iter().map(values)).map(Some)
}
