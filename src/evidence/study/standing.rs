//! How predictions stand, for some of the subjects.

use crate::evidence::predict::Prediction;
use crate::evidence::regret::Regret;
use crate::evidence::score::{Errors, Pair, Sides, errors};
use crate::evidence::study::subject::Subject;
use crate::evidence::validation::{Row, validate};
use crate::words::Policy;

/// Errors, sides and what the choice of k loses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Errors.
    pub errors: Errors,
    /// Sides of 1x.
    pub sides: Sides,
    /// What the model's choice of k loses, where groups differ in k only.
    pub regret: Option<Regret>,
}

/// How predictions of the subjects that are kept stand; none of no row. Rows that are scored apart count only where
/// nothing else is asked for.
#[must_use]
pub fn standing(subjects: &[Subject], predictions: &[Prediction], keep: impl Fn(&Subject) -> bool) -> Option<Standing> {
    let row = |(of, prediction): (&Subject, &Prediction)| Row {
        id: of.measured.id.clone(),
        source: of.measured.source.clone(),
        measured: Some(of.measured.clone()),
        class: Some(of.class()),
        predicted: Ok(*prediction),
    };
    let rows: Vec<Row> = subjects.iter().zip(predictions).filter(|(of, _)| keep(of)).map(row).collect();
    let found = validate(&rows);
    let score = found.overall.or(found.excluded)?;
    let regret = found.regret.into_iter().find(|regret| regret.policy == Policy::Model);
    Some(Standing { errors: score.errors, sides: score.sides, regret })
}

/// How a form stands beside the shipped one, both fitted without the source that they predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Mean over sources of the mean of |ln(predicted / measured)|.
    pub mean: f64,
    /// The same of the shipped form.
    pub before: f64,
    /// Sources whose mean falls by more than a thousandth, over the rows that the change is about.
    pub nearer: usize,
    /// Sources whose mean rises by as much.
    pub farther: usize,
    /// Whether 90 % of all rows lie no farther off than before.
    pub keeps_ends: bool,
}

/// A change of a mean below this is none.
const SAME: f64 = 0.001;
/// The least that a change has to gain: half a point. Wider and narrower priors alone move the mean by more.
const WORTH: f64 = 0.005;
/// Sources that have to bear a change out.
const WITNESSES: usize = 2;

impl Comparison {
    /// Whether a change pays: the mean over sources falls by half a point or more, the ends do not go farther off, and of
    /// the sources with rows that it is about more come nearer than go farther, two at least.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.before - self.mean >= WORTH && self.keeps_ends && self.nearer >= WITNESSES && self.nearer > self.farther
    }
}

/// Compares predictions of a form with those of the shipped one, rows that are scored apart left out. `concerned`: the
/// rows that the change is about.
#[must_use]
pub fn compare(
    subjects: &[Subject],
    before: &[Prediction],
    after: &[Prediction],
    concerned: impl Fn(&Subject) -> bool,
) -> Comparison {
    let sources = sources(subjects);
    let means = |predictions, keep: &dyn Fn(&Subject) -> bool| -> Vec<f64> {
        let of = |source: &&str| mean(&pairs(subjects, predictions, |of| of.source() == *source && keep(of)));
        sources.iter().filter_map(of).collect()
    };
    let over = |means: Vec<f64>| means.iter().sum::<f64>() / means.len().max(1) as f64;
    let (old, new) = (means(before, &concerned), means(after, &concerned));
    let count = |moved: &dyn Fn(f64) -> bool| old.iter().zip(&new).filter(|(old, new)| moved(*new - *old)).count();
    let ends = |predictions| errors(&pairs(subjects, predictions, |_| true)).map_or(0.0, |errors| errors.p90);
    Comparison {
        mean: over(means(after, &|_| true)),
        before: over(means(before, &|_| true)),
        nearer: count(&|by| by < -SAME),
        farther: count(&|by| by > SAME),
        keeps_ends: ends(after) <= ends(before) + SAME,
    }
}

fn sources(subjects: &[Subject]) -> Vec<&str> {
    let kept = subjects.iter().filter(|of| !of.measured.is_excluded());
    let mut all: Vec<&str> = kept.map(Subject::source).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn mean(pairs: &[Pair]) -> Option<f64> {
    let sum = pairs.iter().map(|pair| (pair.predicted / pair.measured).ln().abs()).sum::<f64>();
    (!pairs.is_empty()).then(|| sum / pairs.len() as f64)
}

fn pairs(subjects: &[Subject], predictions: &[Prediction], keep: impl Fn(&Subject) -> bool) -> Vec<Pair> {
    let kept = subjects.iter().zip(predictions).filter(|(of, _)| !of.measured.is_excluded() && keep(of));
    kept.map(|(of, found)| Pair { measured: of.measured.speedup, predicted: found.speedup }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a point over sources, ends that stay, two witnesses, more for than against: each alone is not enough.
    #[test]
    fn what_pays_has_to_pay_in_every_respect() {
        let sound = Comparison { mean: 0.09, before: 0.10, nearer: 3, farther: 1, keeps_ends: true };
        assert!(sound.pays());
        assert!(!Comparison { mean: 0.097, ..sound }.pays());
        assert!(!Comparison { keeps_ends: false, ..sound }.pays());
        assert!(!Comparison { nearer: 1, farther: 0, ..sound }.pays());
        assert!(!Comparison { farther: 3, ..sound }.pays());
    }
}
