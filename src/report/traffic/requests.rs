//! Each request of a run.

use crate::domain::traffic::{Policy, Traffic};
use crate::report::csv;
use crate::report::traffic::number;
use crate::sweep::row::{Cell, Labels};
use crate::traffic::measures::Answer;
use crate::traffic::study::Case;

/// The columns of the table of requests. Times are of the replica that is simulated; `queue_s` is from arrival to room in the cache.
pub const COLUMNS: [&str; 19] = [
    "hardware",
    "target",
    "drafter",
    "tensor_parallel",
    "load",
    "policy",
    "request",
    "workload",
    "arrived_s",
    "queue_s",
    "ttft_s",
    "tpot_s",
    "e2e_s",
    "prompt_tokens",
    "output_tokens",
    "preempted",
    "steps",
    "drafted_tokens",
    "meets_slo",
];

/// The header.
///
/// # Errors
///
/// Of the writer.
pub fn header() -> ::csv::Result<Vec<u8>> {
    csv::names(&COLUMNS)
}

/// The requests of a run, without a header. One that can never be served has no times.
///
/// # Errors
///
/// Of the writer.
pub fn rows(labels: &Labels<'_>, traffic: &Traffic, case: &Case, is_asked: bool) -> ::csv::Result<Vec<u8>> {
    let policy = &traffic.policies[case.policy];
    let drafter = labels.drafter.filter(|_| *policy != Policy::Off);
    let policy = policy.to_string();
    let row = |answer: &Answer| {
        [
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            drafter.map_or(Cell::Empty, Cell::Text),
            Cell::Integer(labels.tensor_parallel),
            Cell::Number(case.load),
            Cell::Text(&policy),
            Cell::Integer(answer.number),
            traffic.kinds.get(answer.kind).and_then(|kind| kind.label.as_deref()).map_or(Cell::Empty, Cell::Text),
            Cell::Number(answer.arrived),
            number(answer.admitted.map(|admitted| admitted - answer.arrived)),
            number(answer.ttft()),
            number(answer.tpot()),
            number(answer.e2e()),
            Cell::Integer(u64::from(answer.prompt)),
            Cell::Integer(u64::from(answer.output)),
            Cell::Integer(u64::from(answer.preempted)),
            Cell::Integer(u64::from(answer.steps)),
            Cell::Integer(answer.drafted),
            if is_asked { Cell::Flag(answer.good) } else { Cell::Empty },
        ]
    };
    csv::records(case.measures.each.iter().map(row))
}
