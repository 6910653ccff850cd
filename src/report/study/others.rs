//! Rows that no fit has seen: public reports of people who turned speculative decoding on.

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::Others;
use crate::evidence::study::standing::{Standing, standing};
use crate::evidence::study::subject::Subject;
use crate::report::study::{of, table};
use crate::report::validation::{percent, signed};

/// Which reports a column is about.
type Keep = fn(&Subject) -> bool;

const KEPT: [(&str, Keep); 5] = [
    ("all", |_| true),
    ("dense", |of| of.class().as_str() == "dense"),
    ("moe", |of| of.class().as_str() == "moe"),
    ("one device", |of| of.measured.devices == 1),
    ("several", |of| of.measured.devices > 1),
];

/// Errors of reports by the constants that made them.
pub(super) fn section(others: &Others) -> String {
    let Others { subjects, shipped, fitted, tried } = others;
    let count = |keep: Keep| subjects.iter().filter(|of| keep(of)).count();
    let kept = KEPT.map(|(name, keep)| format!("{name} ({})", count(keep)));
    let head: Vec<&str> = ["constants"]
        .into_iter()
        .chain(kept.iter().map(String::as_str))
        .chain(["mean", "right side", "losses called", "gains called off"])
        .collect();
    let first = [("shipped", shipped), ("as shipped, fitted to all", fitted)];
    let more = tried.iter().map(|(name, predictions)| (*name, predictions));
    let rows: Vec<Vec<String>> =
        first.into_iter().chain(more).map(|(name, predictions)| row(name, subjects, predictions)).collect();
    table("Public reports, which no fit has seen", &head, &rows)
}

fn row(name: &str, subjects: &[Subject], predictions: &[Prediction]) -> Vec<String> {
    let both = |(_, keep): (&str, Keep)| {
        let found = standing(subjects, predictions, keep).map(|found| found.errors);
        found.map_or_else(|| "-".to_owned(), |found| format!("{} / {}", percent(found.median), percent(found.p90)))
    };
    let rest = standing(subjects, predictions, |_| true).map(|Standing { errors, sides, .. }| {
        [
            signed(errors.mean_signed),
            of(sides.right, sides.judged),
            of(sides.losses_called, sides.losses),
            of(sides.gains_called_off, sides.gains),
        ]
    });
    [name.to_owned()].into_iter().chain(KEPT.map(both)).chain(rest.into_iter().flatten()).collect()
}
