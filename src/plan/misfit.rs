//! How far predicted speedups are from measured ones, where nobody has measured this deployment.

use crate::domain::drafter::Drafter;
use crate::domain::provenance::NINE_IN_TEN;
use crate::plan::backing::Backing;
use crate::words::Roofline;

/// Measured over predicted speedup: 5 %, half and 95 % of the measurements lie below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misfit {
    /// 5 % below.
    pub low: f64,
    /// Half below.
    pub middle: f64,
    /// 95 % below.
    pub high: f64,
}

impl Misfit {
    const fn new(low: f64, middle: f64, high: f64) -> Self {
        Self { low, middle, high }
    }

    /// As far above as below, by a factor.
    const fn even(factor: f64) -> Self {
        Self::new(1.0 / factor, 1.0, factor)
    }

    /// The factor at so many deviations: a normal law of the logarithm, with a width of its own on each side.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{domain::provenance::NINE_IN_TEN, plan::misfit::Misfit};
    /// let of = Misfit { low: 0.7, middle: 0.8, high: 1.1 };
    /// let factors = [-NINE_IN_TEN, 0.0, NINE_IN_TEN].map(|z| of.factor(z));
    /// assert!(factors.iter().zip([0.7, 0.8, 1.1]).all(|(got, expected)| (got - expected).abs() < 1e-12));
    /// ```
    #[must_use]
    pub fn factor(&self, deviations: f64) -> f64 {
        let end = if deviations < 0.0 { self.low } else { self.high };
        self.middle * (end / self.middle).powf(deviations.abs() / NINE_IN_TEN)
    }

    /// The share of a deviation of the logarithm, stated by its variance, that lies within: 1 where all of it does.
    #[must_use]
    pub fn share_of(&self, variance: f64) -> f64 {
        let width = (self.high / self.low).ln() / (2.0 * NINE_IN_TEN);
        if variance > width * width { width / variance.sqrt() } else { 1.0 }
    }

    /// The same with the part taken out that is explained already: a variance of the logarithm.
    #[must_use]
    pub fn beyond(&self, explained: f64) -> Self {
        let rest = |end: f64| {
            let width = (end / self.middle).ln() / NINE_IN_TEN;
            self.middle * ((width * width - explained).max(0.0).sqrt() * NINE_IN_TEN * width.signum()).exp()
        };
        Self { low: rest(self.low), high: rest(self.high), ..*self }
    }
}

/// Nine in ten are within for engines, hardware or drafters that hardly anyone has measured: what fitted profiles reached on
/// engines other than vLLM and SGLang.
const UNTESTED: f64 = 1.49;

/// How far off speedups are to be expected: of an engine that was calibrated on this deployment within what left-out points were off; of a
/// fitted engine within the error it states for such targets, of others within
/// what was seen on engines that were not fitted; ideal engines as published measurements lie to their prices, dense
/// targets and mixtures of experts apart.
#[must_use]
pub fn misfit(backing: &Backing<'_>, roofline: Roofline, drafter: &Drafter) -> Misfit {
    let engine = backing.engine;
    let Some(additive) = engine.additive() else { return ideal(roofline, backing.target.is_moe()) };
    if let Some(calibration) = backing.calibrated(Some(drafter)) {
        return Misfit::even(1.0 + calibration.error.p90);
    }
    let family = backing.device.family.as_deref().and_then(|family| additive.efficiencies(family));
    let tested = family.is_some_and(|of| of.tested);
    let known = backing.error().filter(|_| tested && drafter.is_covered(engine.origin()));
    Misfit::even(known.map_or(UNTESTED, |error| 1.0 + error.p90))
}

/// Of the published measurements that are built in, measured over predicted with an ideal engine: 332 rows of dense
/// targets and 168 of mixtures of experts. Of the two ideal forms one flatters mixtures and the other does the reverse: their interval
/// spans both, around the price itself.
const fn ideal(roofline: Roofline, is_moe: bool) -> Misfit {
    match (roofline, is_moe) {
        (_, true) => Misfit::new(0.525, 1.0, 2.96),
        (Roofline::PerOp, false) => Misfit::new(0.686, 0.856, 0.987),
        (_, false) => Misfit::new(0.66, 0.851, 0.978),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1.2 is 0.1108 deviations of the logarithm; half of its variance taken out leaves 0.0784, 1.1376.
    #[test]
    fn what_is_explained_is_taken_out_and_no_more() {
        let of = Misfit::even(1.2);
        let width = 1.2_f64.ln() / NINE_IN_TEN;
        let half = of.beyond(width * width / 2.0);
        assert!((half.high - 1.1376).abs() < 1e-4 && (half.low * half.high - 1.0).abs() < 1e-12, "{half:?}");
        assert_eq!(of.beyond(1.0), Misfit::new(1.0, 1.0, 1.0));
        assert!((of.beyond(0.0).high - 1.2).abs() < 1e-12);
        assert!((of.share_of(4.0 * width * width) - 0.5).abs() < 1e-12);
        assert!((of.share_of(0.9 * width * width) - 1.0).abs() < 1e-12);
    }
}
