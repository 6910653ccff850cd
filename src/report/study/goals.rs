//! What is due, and by how much it is met or missed.

use crate::evidence::study::findings::Study;
use crate::evidence::study::standing::{Standing, standing};
use crate::evidence::study::subject::Subject;
use crate::report::study::scores::hundredths;
use crate::report::study::table;
use crate::report::validation::percent;

/// A share that is due, at most or at least.
struct Goal {
    name: &'static str,
    due: f64,
    is_most: bool,
    reached: fn(&Whole) -> Option<f64>,
}

/// All rows, and those of two classes.
struct Whole {
    dense: Standing,
    moe: Standing,
    all: Standing,
}

impl Whole {
    fn of(subjects: &[Subject], predictions: &[crate::evidence::predict::Prediction]) -> Option<Self> {
        let class = |name: &'static str| standing(subjects, predictions, |of| of.class().as_str() == name);
        Some(Self { dense: class("dense")?, moe: class("moe")?, all: standing(subjects, predictions, |_| true)? })
    }
}

fn share(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

const GOALS: [Goal; 9] = [
    Goal { name: "dense: median", due: 0.05, is_most: true, reached: |of| Some(of.dense.errors.median) },
    Goal { name: "dense: 90 %", due: 0.10, is_most: true, reached: |of| Some(of.dense.errors.p90) },
    Goal { name: "moe: median", due: 0.07, is_most: true, reached: |of| Some(of.moe.errors.median) },
    Goal { name: "moe: 90 %", due: 0.20, is_most: true, reached: |of| Some(of.moe.errors.p90) },
    Goal { name: "all: median", due: 0.06, is_most: true, reached: |of| Some(of.all.errors.median) },
    Goal { name: "all: 90 %", due: 0.18, is_most: true, reached: |of| Some(of.all.errors.p90) },
    Goal {
        name: "losses called",
        due: 0.80,
        is_most: false,
        reached: |of| share(of.all.sides.losses_called, of.all.sides.losses),
    },
    Goal {
        name: "gains called off",
        due: 0.03,
        is_most: true,
        reached: |of| share(of.all.sides.gains_called_off, of.all.sides.gains),
    },
    Goal { name: "regret", due: 0.008, is_most: true, reached: |of| of.all.regret.map(|regret| regret.mean) },
];

/// Every goal beside what is reached.
pub(super) fn section(subjects: &[Subject], study: &Study) -> String {
    let reached = [&study.unseen.predictions, &study.shipped].map(|of| Whole::of(subjects, of));
    let row = |goal: &Goal| {
        let bound = if goal.is_most { "at most" } else { "at least" };
        let due = format!("{bound} {}", percent(goal.due));
        let cells = reached.iter().map(|whole| cell(goal, whole.as_ref().and_then(goal.reached)));
        [goal.name.to_owned(), due].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = GOALS.iter().map(row).collect();
    table("Goals", &["", "due", "source left out", "shipped constants"], &rows)
}

fn cell(goal: &Goal, reached: Option<f64>) -> String {
    let Some(reached) = reached else { return "-".to_owned() };
    let to_spare = if goal.is_most { goal.due - reached } else { reached - goal.due };
    let word = if to_spare >= 0.0 { "met by" } else { "**missed** by" };
    format!("{}, {word} {}", hundredths(reached), hundredths(to_spare.abs()).replace(" %", ""))
}
