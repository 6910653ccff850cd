//! How often intervals hold what was measured.

use std::collections::BTreeMap;

use crate::domain::acceptance::{Acceptance, AcceptanceModel};
use crate::domain::drafter::Drafter;
use crate::domain::provenance::Provenance;
use crate::evidence::predict::{Prediction, Unpriced, source};
use crate::evidence::study::subject::Subject;
use crate::plan::backing::Backing;
use crate::plan::misfit::misfit;
use crate::words::{Class, Roofline};

/// Factors on a predicted speedup between which a measured one is expected in nine of ten cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it holds a measured speedup.
    #[must_use]
    pub fn holds(&self, measured: f64, predicted: f64) -> bool {
        (self.low * predicted..=self.high * predicted).contains(&measured)
    }

    /// Its upper end over its lower one.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high / self.low
    }
}

/// Rows that an interval is taken from, at least; of fewer it would be as wide as the worst of them.
const LEAST: usize = 10;
/// Measurements expected within.
const LEVEL: f64 = 0.9;

/// The interval that the program states for a deployment whose profile it ships.
///
/// # Errors
///
/// [`Unpriced`] if it is not known what drafts.
pub fn stated(subject: &Subject) -> Result<Interval, Unpriced> {
    let drafter = Drafter {
        label: String::new(),
        source: source(&subject.measured, &subject.target, subject.drafter.as_ref())?,
        overlap: false,
        tree: None,
        longest: None,
        tensor_parallel: None,
        // It plays no part: what was measured states its own tokens per pass.
        acceptance: Acceptance {
            model: AcceptanceModel::ByK(Vec::new()),
            by_context: Vec::new(),
            proposing_share: None,
            provenance: Provenance::default(),
            read_off: None,
            spread: None,
        },
    };
    let Subject { engine, device, target, .. } = subject;
    let found = misfit(&Backing { engine, device, target, calibration: None }, Roofline::Additive, &drafter);
    Ok(Interval { low: found.low, high: found.high })
}

/// Intervals from the residuals of other sources, each predicted by a fit without it: of the same class where there
/// are ten rows or more, else of all.
///
/// # Formula
///
/// ```text
/// exp(-h) to exp(h),   h: below it lie 90 % of |ln(measured / predicted)|, a row counting 1 / sqrt(rows of its source)
/// ```
///
/// Cross-conformal intervals by source (Barber, Candès, Ramdas and Tibshirani 2021, section 2.3), weighted. Where
/// no other source has any row there is none.
#[must_use]
pub fn from_others(subjects: &[Subject], unseen: &[Prediction]) -> Vec<Option<Interval>> {
    let residuals: Vec<Residual<'_>> = subjects
        .iter()
        .zip(unseen)
        .filter(|(of, _)| !of.measured.is_excluded())
        .map(|(of, prediction)| Residual { subject: of, size: (of.measured.speedup / prediction.speedup).ln().abs() })
        .collect();
    let of_others = |source: &str, class: Class| {
        let others = || residuals.iter().filter(|one| one.subject.source() != source);
        let alike: Vec<&Residual<'_>> = others().filter(|one| one.subject.class() == class).collect();
        let half = if alike.len() < LEAST { quantile(others().collect()) } else { quantile(alike) };
        half.map(|half| Interval { low: (-half).exp(), high: half.exp() })
    };
    let mut known = BTreeMap::new();
    let of_subject = |of| {
        let (source, class) = (Subject::source(of), of.class());
        *known.entry((source, class)).or_insert_with(|| of_others(source, class))
    };
    subjects.iter().map(of_subject).collect()
}

#[derive(Clone, Copy)]
struct Residual<'a> {
    subject: &'a Subject,
    size: f64,
}

/// The size below which [`LEVEL`] of the weight lies, a row weighing one over the square root of its source's rows.
fn quantile(of: Vec<&Residual<'_>>) -> Option<f64> {
    let rows = |source: &str| of.iter().filter(|one| one.subject.source() == source).count() as f64;
    weighted(of.iter().map(|one| (one.size, 1.0 / rows(one.subject.source()).sqrt())).collect())
}

/// The least size that [`LEVEL`] of the weight does not exceed; none of no size.
fn weighted(mut sizes: Vec<(f64, f64)>) -> Option<f64> {
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let due = LEVEL * sizes.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut below = 0.0;
    let reached = sizes.iter().find(|(_, weight)| {
        below += weight;
        below >= due
    });
    reached.map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: nine of ten even weights reach the ninth size; a weight of 91 at the smallest of 100 reaches it alone.
    #[test]
    fn nine_tenths_of_the_weight_lie_within() {
        let even: Vec<(f64, f64)> = (1..=10).rev().map(|size| (f64::from(size), 1.0)).collect();
        assert_eq!(weighted(even), Some(9.0));
        assert_eq!(weighted(vec![(5.0, 9.0), (1.0, 91.0)]), Some(1.0));
        assert_eq!(weighted(Vec::new()), None);
    }

    #[test]
    fn an_interval_holds_its_ends() {
        let of = Interval { low: 0.5, high: 2.0 };
        assert!(of.holds(1.0, 2.0) && of.holds(4.0, 2.0) && !of.holds(4.1, 2.0) && !of.holds(0.9, 2.0));
        assert!((of.width() - 4.0).abs() < 1e-12);
    }
}
