//! How far off predictions are, by what was measured.

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::{Part, Study, parts};
use crate::evidence::study::standing::{Standing, standing};
use crate::evidence::study::subject::Subject;
use crate::evidence::validation::{BANDS, band};
use crate::report::study::{classes, names, of, table};
use crate::report::validation::{percent, signed};

const ALL: &str = "all";

/// Errors by class: without the source, with every row seen, and as shipped.
#[must_use]
pub fn by_class(subjects: &[Subject], study: &Study) -> String {
    let head = [
        "class",
        "rows",
        "constants",
        "median",
        "90 %",
        "mean",
        "right side",
        "losses called",
        "gains called off",
        "regret (groups)",
    ];
    let all = classes().into_iter().chain([ALL.to_owned()]).collect::<Vec<_>>();
    let within = |subject: &Subject, name: &str| name == ALL || subject.class().as_str() == name;
    let mut rows = Vec::new();
    for Part { name, unseen, seen, shipped } in parts(subjects, study, &all, within) {
        for (constants, standing) in [("source left out", unseen), ("fitted to all", seen), ("shipped", shipped)] {
            rows.push([vec![name.clone()], line(constants, &standing)].concat());
        }
    }
    let apart = |predictions: &[Prediction]| standing(subjects, predictions, |of| of.measured.is_excluded());
    for (constants, predictions) in [("source left out", &study.unseen.predictions), ("shipped", &study.shipped)] {
        let line = apart(predictions).map(|standing| line(constants, &standing));
        rows.extend(line.map(|line| [vec!["scored apart".to_owned()], line].concat()));
    }
    table("How far off, by class", &head, &rows)
}

fn line(constants: &str, standing: &Standing) -> Vec<String> {
    let Standing { errors, sides, regret } = standing;
    let regret = regret.map_or_else(|| "-".to_owned(), |of| format!("{} ({})", hundredths(of.mean), of.groups));
    vec![
        errors.count.to_string(),
        constants.to_owned(),
        percent(errors.median),
        percent(errors.p90),
        signed(errors.mean_signed),
        of(sides.right, sides.judged),
        of(sides.losses_called, sides.losses),
        of(sides.gains_called_off, sides.gains),
        regret,
    ]
}

/// A share as percent with two decimals.
pub(super) fn hundredths(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// Errors by source.
pub(super) fn by_source(subjects: &[Subject], study: &Study) -> String {
    let all = names(subjects, |of| of.source().to_owned());
    short(
        "By source",
        "source",
        &parts(subjects, study, &all, |of, name| of.source() == name && !of.measured.is_excluded()),
    )
}

/// Errors by band of batch.
pub(super) fn by_batch(subjects: &[Subject], study: &Study) -> String {
    let all: Vec<String> = BANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    short("By batch", "batch", &parts(subjects, study, &all, |of, name| band(of.measured.batch) == name))
}

/// Errors by topology.
pub(super) fn by_topology(subjects: &[Subject], study: &Study) -> String {
    let all = names(subjects, |of| of.measured.topology.clone());
    short("By topology", "topology", &parts(subjects, study, &all, |of, name| of.measured.topology == name))
}

fn short(title: &str, by: &str, parts: &[Part]) -> String {
    let head = [
        by,
        "rows",
        "left out: median",
        "90 %",
        "mean",
        "losses",
        "called off",
        "regret",
        "shipped: median",
        "90 %",
        "mean",
        "losses",
        "called off",
        "regret",
    ];
    let cells = |standing: &Standing| {
        let Standing { errors, sides, regret } = standing;
        [
            percent(errors.median),
            percent(errors.p90),
            signed(errors.mean_signed),
            of(sides.losses_called, sides.losses),
            of(sides.gains_called_off, sides.gains),
            regret.map_or_else(|| "-".to_owned(), |of| hundredths(of.mean)),
        ]
    };
    let row = |part: &Part| {
        let lead = [part.name.clone(), part.unseen.errors.count.to_string()];
        lead.into_iter().chain(cells(&part.unseen)).chain(cells(&part.shipped)).collect()
    };
    table(title, &head, &parts.iter().map(row).collect::<Vec<_>>())
}

/// Errors by class where one target of a source is left out and its other targets stay.
pub(super) fn by_target(subjects: &[Subject], predictions: &[Prediction]) -> String {
    let head = ["class", "rows", "median", "90 %", "mean", "losses called", "gains called off"];
    let row = |name: String| {
        let Standing { errors, sides, .. } =
            standing(subjects, predictions, |of| name == ALL || of.class().as_str() == name)?;
        let cells = vec![
            name.clone(),
            errors.count.to_string(),
            percent(errors.median),
            percent(errors.p90),
            signed(errors.mean_signed),
            of(sides.losses_called, sides.losses),
            of(sides.gains_called_off, sides.gains),
        ];
        Some(cells)
    };
    let rows: Vec<Vec<String>> = classes().into_iter().chain([ALL.to_owned()]).filter_map(row).collect();
    table("One target left out, what else its source measured kept", &head, &rows)
}
