//! Forms that were tried.

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::{Study, Tried};
use crate::evidence::study::standing::{Comparison, Standing, compare, standing};
use crate::evidence::study::subject::Subject;
use crate::report::study::constants::number;
use crate::report::study::scores::hundredths;
use crate::report::study::{of, table};
use crate::report::validation::percent;

/// Every form by what it says of sources that it has not seen.
pub(super) fn section(subjects: &[Subject], study: &Study, tried: &[Tried]) -> String {
    let head = [
        "form",
        "dense",
        "moe",
        "other",
        "all",
        "mean of sources",
        "losses",
        "called off",
        "regret",
        "sources nearer, farther",
        "pays",
        "fitted to all",
    ];
    let itself = compare(subjects, &study.unseen.predictions, &study.unseen.predictions, |_| true);
    let first = row(subjects, "as shipped", &study.unseen.predictions, &itself, "");
    let others = tried.iter().map(|one| {
        let word = if one.comparison.pays() { "yes" } else { "no" };
        let mut cells = row(subjects, one.variant.name, &one.predictions, &one.comparison, word);
        let added = one.added(&study.design).into_iter();
        let words: Vec<String> = added.map(|(of, value)| format!("{of} {}", number(of, value))).collect();
        cells.push(words.join(", "));
        cells
    });
    let first = [first, vec![String::new()]].concat();
    let rows: Vec<Vec<String>> = std::iter::once(first).chain(others).collect();
    table("Forms that were tried", &head, &rows)
        + "\nMedian / 90 % of each class, every source left out in turn. `mean of sources`: of the mean of |ln(predicted / measured)| of \
           each. `nearer, farther`: sources whose rows that the\nchange is about come nearer, or go farther off. It pays if the \
           mean of sources falls by half a point, 90 % of all rows do not go farther off,\nand two sources at least come nearer, \
           and more than go farther. Times in microseconds.\n"
}

fn row(
    subjects: &[Subject],
    name: &str,
    predictions: &[Prediction],
    comparison: &Comparison,
    verdict: &str,
) -> Vec<String> {
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
        if verdict.is_empty() { String::new() } else { format!("{}, {}", comparison.nearer, comparison.farther) },
        verdict.to_owned(),
    ]
}
