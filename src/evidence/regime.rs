//! Whether measured rounds follow one law over all batches, or change their course at one.

use crate::evidence::calibrate::{Fit, Prior, fit};
use crate::evidence::sample::Sample;

/// A batch at which rounds change their course: no single set of terms fits both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Regime {
    /// The largest batch of the first course.
    pub last_below: f64,
    /// The smallest batch of the second.
    pub first_above: f64,
    /// Terms of points up to `last_below`.
    pub below: Fit,
    /// Terms of the others.
    pub above: Fit,
    /// Root mean square of rounds left out over their measurement, minus 1: with one set of terms.
    pub together: f64,
    /// The same with a set for each side.
    pub apart: f64,
}

/// Points that each side needs: with fewer any change fits.
const LEAST: usize = 3;
/// One course misses by so many times the noise before two are looked for.
const MISSES: f64 = 2.0;
/// Two courses have to miss by this share of what one does, or less.
const BETTER: f64 = 0.5;
/// No point counts for more than so many deviations: one that is far off is an outlier, no regime.
const MOST: f64 = 10.0;

/// Looks for the batch at which two sets of terms predict points that they were not fitted to best, if that is far better than one set
/// does.
///
/// # Formula
///
/// ```text
/// m  = sqrt(mean of min(10 noise, |left out|)^2)
/// found where m(together) > 2 noise and m(apart) < m(together) / 2, three points at least on each side
/// ```
///
/// A host that cannot launch fast enough, or graphs that end at some batch, are such changes; fitted as one they
/// would be averaged into terms that hold on neither side.
#[must_use]
pub fn regime(samples: &[Sample], whole: &Fit, prior: Prior) -> Option<Regime> {
    let together = missed(&[whole], prior.noise);
    if together <= MISSES * prior.noise {
        return None;
    }
    let mut batches: Vec<f64> = samples.iter().map(|of| of.batch).collect();
    batches.sort_by(f64::total_cmp);
    batches.dedup();
    let split = |pair: &[f64]| {
        let (low, high): (Vec<Sample>, Vec<Sample>) = samples.iter().partition(|of| of.batch <= pair[0]);
        if low.len() < LEAST || high.len() < LEAST {
            return None;
        }
        let (below, above) = (fit(&low, prior).ok()?, fit(&high, prior).ok()?);
        let apart = missed(&[&below, &above], prior.noise);
        Some(Regime { last_below: pair[0], first_above: pair[1], below, above, together, apart })
    };
    let best =
        batches.windows(2).filter_map(split).reduce(|best, next| if next.apart < best.apart { next } else { best });
    best.filter(|best| best.apart < BETTER * together)
}

/// Root mean square of what is missed of points left out.
fn missed(fits: &[&Fit], noise: f64) -> f64 {
    let all = || fits.iter().flat_map(|fit| &fit.residuals);
    let squares: f64 = all().map(|of| of.left_out.abs().min(MOST * noise).powi(2)).sum();
    (squares / all().count().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::sample::Seen;
    use crate::rng::Generator;

    /// Rounds of 8 ms and more at batches 1 to 128, with 1 % of noise, changed by a law of their batch.
    fn points(law: impl Fn(f64, f64) -> f64) -> Vec<Sample> {
        let mut random = Generator::from_seed(11);
        let mut all = Vec::new();
        for batch in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0] {
            for passes in [2.0, 4.0] {
                let base_step = 0.008 * (1.0 + batch / 150.0);
                let round = base_step * (1.1 + 0.05 * passes);
                let measured = law(batch, round) * (1.0 + 0.01 * random.normal());
                let seen = Seen::Round(measured);
                all.push(Sample {
                    base_step,
                    base_pass: base_step,
                    round,
                    round_passes: round,
                    passes,
                    batch,
                    is_tree: false,
                    tokens: 2.0,
                    seen,
                });
            }
        }
        all
    }

    fn found(samples: &[Sample]) -> Option<Regime> {
        let prior = Prior { noise: 0.02, ..Prior::default() };
        regime(samples, &fit(samples, prior).unwrap(), prior)
    }

    /// From batch 32 on a round takes 70 % longer, as where captured graphs end.
    #[test]
    fn a_step_at_a_batch_is_found_between_its_neighbours() {
        let samples = points(|batch, round| if batch >= 32.0 { 1.7 * round } else { round });
        let found = found(&samples).unwrap();
        assert_eq!((found.last_below, found.first_above), (16.0, 32.0));
        assert!(found.together > 2.0 * found.apart && found.apart < 0.05, "{found:?}");
        // Each side's terms hold there.
        let factor = |fit: &Fit, of: &Sample| fit.round(of) / of.round;
        assert!((factor(&found.below, &samples[0]) - 1.0).abs() < 0.05);
        assert!((factor(&found.above, &samples[15]) - 1.7).abs() < 0.1);
    }

    /// What terms can follow is no change of course: a constant, a share, a time for each sequence.
    #[test]
    fn what_one_law_follows_is_no_regime() {
        assert_eq!(found(&points(|_, round| round)), None);
        assert_eq!(found(&points(|batch, round| 1.1 * round + 0.001 + 1e-5 * batch)), None);
    }

    /// One point far off is an outlier.
    #[test]
    fn an_outlier_is_no_regime() {
        let mut samples = points(|_, round| round);
        samples[9].seen = Seen::Round(4.0 * samples[9].measured());
        assert_eq!(found(&samples), None);
    }

    /// Two points on the far side could be anything.
    #[test]
    fn too_few_points_on_one_side_are_no_regime() {
        let samples = points(|batch, round| if batch > 100.0 { 1.7 * round } else { round });
        assert_eq!(found(&samples), None);
    }
}
