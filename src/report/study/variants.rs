//! Forms that were tried.

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::{Study, Tried};
use crate::evidence::study::standing::{Comparison, Standing, compare, standing};
use crate::evidence::study::subject::Subject;
use crate::report::study::constants::number;
use crate::report::study::scores::hundredths;
use crate::report::study::{of, table};
use crate::report::validation::percent;

/// Columns that forms and priors share.
const HEAD: [&str; 9] =
    ["form", "dense", "moe", "other", "all", "mean of sources", "losses called", "gains called off", "regret"];

/// Every form by what it says of sources that it has not seen.
pub(super) fn forms(subjects: &[Subject], study: &Study, tried: &[Tried]) -> String {
    let head = [&HEAD[..], &["sources nearer, farther", "pays", "fitted to all"]].concat();
    let others = tried.iter().map(|one| {
        let Comparison { nearer, farther, .. } = one.comparison;
        let pays = if one.comparison.pays() { "**yes**" } else { "no" };
        let added = one.added(&study.design).into_iter();
        let added: Vec<String> = added.map(|(of, value)| format!("{of} {}", number(of, value))).collect();
        let more = [format!("{nearer}, {farther}"), pays.to_owned(), added.join(", ")];
        row(subjects, one.variant.name, &one.predictions, &one.comparison).into_iter().chain(more).collect()
    });
    let first = as_shipped(subjects, study).into_iter().chain([const { String::new() }; 3]).collect();
    let rows: Vec<Vec<String>> = std::iter::once(first).chain(others).collect();
    table("Forms that were tried", &head, &rows) + FORMS_NOTE
}

const FORMS_NOTE: &str = "
Median / 90 % of each class, every source left out in turn. `mean of sources`: of the mean of |ln(predicted / measured)| of
each. `nearer, farther`: sources whose rows that the change is about come nearer, or go farther off. It pays if the mean of
sources falls by half a point, 90 % of all rows do not go farther off, and two sources at least come nearer, and more than go
farther. Times in microseconds.
";

/// The shipped form by what it says with other priors and weights.
pub(super) fn priors(subjects: &[Subject], study: &Study, checks: &[Tried]) -> String {
    let others = checks.iter().map(|one| row(subjects, one.variant.name, &one.predictions, &one.comparison));
    let rows: Vec<Vec<String>> = std::iter::once(as_shipped(subjects, study)).chain(others).collect();
    let head = [&["priors and weights"], &HEAD[1..]].concat();
    table("What hangs on priors and weights", &head, &rows)
}

fn as_shipped(subjects: &[Subject], study: &Study) -> Vec<String> {
    let itself = compare(subjects, &study.unseen.predictions, &study.unseen.predictions, |_| true);
    row(subjects, "as above", &study.unseen.predictions, &itself)
}

fn row(subjects: &[Subject], name: &str, predictions: &[Prediction], comparison: &Comparison) -> Vec<String> {
    let both = |class: &str| {
        let found = standing(subjects, predictions, |of| class == "all" || of.class().as_str() == class);
        found.map_or_else(
            || "-".to_owned(),
            |Standing { errors, .. }| format!("{} / {}", percent(errors.median), percent(errors.p90)),
        )
    };
    let all = standing(subjects, predictions, |_| true);
    let sides = all.map(|all| all.sides);
    vec![
        name.to_owned(),
        both("dense"),
        both("moe"),
        both("other"),
        both("all"),
        percent(comparison.mean),
        sides.map_or_else(String::new, |sides| of(sides.losses_called, sides.losses)),
        sides.map_or_else(String::new, |sides| of(sides.gains_called_off, sides.gains)),
        all.and_then(|all| all.regret).map_or_else(|| "-".to_owned(), |regret| hundredths(regret.mean)),
    ]
}
