//! Whether measured rounds follow one law over all batches, or change their course at a batch or at a number of tokens.

use crate::evidence::calibrate::{Fit, Prior, fit};
use crate::evidence::sample::Sample;

/// What rounds change their course along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Sequences decoded together: a host that cannot launch for so many.
    Batch,
    /// Tokens of a step or verification, of all sequences: graphs that end at so many.
    Tokens,
}

impl Along {
    /// How many a sample has of it.
    #[must_use]
    pub const fn of(self, sample: &Sample) -> f64 {
        self.at(sample.batch, sample.width)
    }

    /// How many a batch has of it that verifies so many tokens of each sequence.
    #[must_use]
    pub const fn at(self, batch: f64, width: f64) -> f64 {
        match self {
            Self::Batch => batch,
            Self::Tokens => batch * width,
        }
    }

    /// What it is, for people, with two of its values.
    #[must_use]
    pub fn between(self, last: f64, first: f64) -> String {
        match self {
            Self::Batch => format!("between batch {last} and {first}"),
            Self::Tokens => format!("between {last} and {first} tokens in one step or verification"),
        }
    }
}

/// A batch, or number of tokens, at which rounds change their course: no single set of terms fits both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Regime {
    /// What the two courses are told by.
    pub along: Along,
    /// The largest batch, or number of tokens, of the first course.
    pub last_below: f64,
    /// The smallest of the second.
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

/// Looks for the batch, or the number of tokens in a step, at which two sets of terms predict points that they were not fitted to best, if that is far better than one set
/// does. Batches go before tokens that tell hardly more.
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
    let found = [Along::Batch, Along::Tokens].map(|along| best(samples, prior, along, together));
    found.into_iter().flatten().reduce(|best, next| if next.apart < 0.9 * best.apart { next } else { best })
}

/// The best split along one of both.
fn best(samples: &[Sample], prior: Prior, along: Along, together: f64) -> Option<Regime> {
    let mut all: Vec<f64> = samples.iter().map(|of| along.of(of)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let split = |pair: &[f64]| {
        let (low, high): (Vec<Sample>, Vec<Sample>) = samples.iter().partition(|of| along.of(of) <= pair[0]);
        if low.len() < LEAST || high.len() < LEAST {
            return None;
        }
        let (below, above) = (fit(&low, prior).ok()?, fit(&high, prior).ok()?);
        let apart = missed(&[&below, &above], prior.noise);
        Some(Regime { along, last_below: pair[0], first_above: pair[1], below, above, together, apart })
    };
    let best = all.windows(2).filter_map(split).reduce(|best, next| if next.apart < best.apart { next } else { best });
    best.filter(|best| best.apart < BETTER * together)
}

/// Root mean square of what is missed of points left out.
pub(super) fn missed(fits: &[&Fit], noise: f64) -> f64 {
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
                    of_step: [base_step, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
                    round,
                    of_round: [round, 1.0, round, 1.0, passes, batch, 0.0, 2.0],
                    batch,
                    width: passes + 1.0,
                    prefill: 0.0,
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
        assert_eq!((found.along, found.last_below, found.first_above), (Along::Batch, 16.0, 32.0));
        assert!(found.together > 2.0 * found.apart && found.apart < 0.05, "{found:?}");
        // Each side's terms hold there.
        let factor = |fit: &Fit, of: &Sample| fit.round(of) / of.round;
        assert!((factor(&found.below, &samples[0]) - 1.0).abs() < 0.05);
        assert!((factor(&found.above, &samples[15]) - 1.7).abs() < 0.1);
    }

    /// From 100 tokens on in one verification, whatever the batch: as where captured graphs end.
    #[test]
    fn a_step_at_a_number_of_tokens_is_found() {
        let tokens = |of: &Sample| of.batch * of.width;
        let mut samples = points(|_, round| round);
        for of in &mut samples {
            of.seen = Seen::Round(of.measured() * if tokens(of) > 100.0 { 1.7 } else { 1.0 });
        }
        let found = found(&samples).unwrap();
        assert_eq!((found.along, found.last_below, found.first_above), (Along::Tokens, 96.0, 160.0));
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
