//! What a deployment's own measurements say of its steps and rounds beyond their price: a few terms, regularised towards the price.
//!
//! Passes may take so many times as long, those of rounds more than plain ones; steps, rounds, draft passes, sequences, draft passes of
//! trees and emitted tokens may take a time each. Each term has a width that published deployments
//! spread over, so that three points move what they tell of and leave the rest as priced.

use crate::evidence::ridge::{Weighed, off, weighed};
use crate::evidence::sample::{Sample, TERMS, row};

/// What is believed of the terms before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Standard deviations: of paces shares of passes, of all others a share of the median plain step.
    pub widths: [f64; TERMS],
    /// The least that each term may be, in the same shares: what takes a constant of the engine down to 0, and passes to the datasheet.
    pub least: [f64; TERMS],
    /// The least that both paces of rounds may be together, as a share of passes: what takes them to the datasheet.
    pub least_round: f64,
    /// Standard deviation of a measured time, as a share of it.
    pub noise: f64,
}

impl Default for Prior {
    /// Widths with which three points of a published deployment predict its other points best.
    fn default() -> Self {
        Self {
            widths: [0.15, 0.1, 0.1, 0.1, 0.03, 0.002, 0.03, 0.12],
            least: [f64::NEG_INFINITY; TERMS],
            least_round: f64::NEG_INFINITY,
            noise: 0.03,
        }
    }
}

impl Prior {
    /// The same where rounds may wait for their host: up to several plain steps for a round, and a part of one for each sequence.
    ///
    /// Public reports of such servers have 7 ms for a round and 0.25 ms for each sequence, beside plain steps of 5 to 8 ms.
    #[must_use]
    pub fn of_waiting_hosts(self) -> Self {
        let mut widths = self.widths;
        (widths[3], widths[5]) = (1.0, 0.04);
        Self { widths, ..self }
    }
}

/// A point that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// `priced / measured - 1`, as priced before.
    pub before: f64,
    /// The same with the fitted terms.
    pub after: f64,
    /// The same with terms fitted to the other points.
    pub left_out: f64,
    /// How much the point counts, from 0 to 1: what lies far off counts less.
    pub weight: f64,
}

/// Terms fitted to measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Seconds that shares are of: the median priced plain step.
    pub scale: f64,
    /// Each term, as a share like its width.
    pub terms: [f64; TERMS],
    /// Their covariance.
    pub covariance: [[f64; TERMS]; TERMS],
    /// What was believed.
    pub prior: Prior,
    /// By sample.
    pub residuals: Vec<Residual>,
}

/// Why nothing can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFit {
    /// No sample.
    #[error("there is no measured point to fit to")]
    Empty,
    /// A time is not a positive number.
    #[error("point {0}: steps, rounds, tokens and speedups are positive numbers")]
    NotPositive(usize),
}

/// Rounds of weighting: weights change by less than a thousandth from then on.
const ROUNDS: usize = 30;
/// The same where they begin with those of one more point.
const AGAIN: usize = 8;
/// Of more points none tells so much that the others would have to be fitted anew without it.
const REFITTED: usize = 40;

/// Fits the terms.
///
/// # Formula
///
/// ```text
/// y - Y = X b + e,     e ~ t_4(0, (noise y)^2),   b ~ N(0, widths^2)
///
///            pace  step  round pace  round  draft   sequence  tree           token
/// plain step  P     m     0           0      0       0         0              m
/// round       Q     m     Q           m      n m     B m       n m [tree]     F m
/// speedup s   the row of a round, less F / s times that of a plain step
///
/// b = C X' W (y - Y),    C = (X' W X + diag(widths^-2))^-1,    W = w / (noise y)^2
/// w = 4 / (4 + (e / (noise y))^2),  until it stays; 1 of one or two points
/// b >= least, pace + round pace >= least of rounds: what lies beyond is held there
/// ```
///
/// y: measured, Y: priced; P, Q: passes of a plain step and of a round; n draft passes, B sequences, F tokens per pass, m the median plain step; a speedup is measured
/// as a round of F / s plain steps. Ridge regression with a prior width for each term (Hoerl and Kennard 1970), weights of the t law (Lange,
/// Little and Taylor 1989, section 3) without its factor 5/4, so that points that few terms can meet make nobody too sure. A point is left out by fitting the others anew; of more than 40 it has the residual e / (1 - h), h its share of its own
/// prediction.
///
/// # Errors
///
/// [`NoFit`].
///
/// # Examples
///
/// One round, 10 % above a price of 10 ms of passes; only their pace may move, by 10 % as wide as the noise: half of it is believed.
///
/// ```
/// use specplan::evidence::{calibrate::{Prior, fit}, sample::{Sample, Seen}};
/// let widths = [1e-9, 1e-9, 0.11, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9];
/// let point = Sample {
///     base_step: 0.008, of_step: [0.007, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
///     round: 0.010, of_round: [0.010, 1.0, 0.010, 1.0, 3.0, 1.0, 0.0, 2.0],
///     batch: 1.0, width: 4.0, tokens: 2.0, prefill: 0.0,
///     seen: Seen::Round(0.011),
/// };
/// let found = fit(&[point], Prior { widths, noise: 0.1, ..Prior::default() })?;
/// assert!((found.terms[2] - 0.05).abs() < 0.005);
/// assert!((found.round(&point) - 0.0105).abs() < 5e-5);
/// # Ok::<(), specplan::evidence::calibrate::NoFit>(())
/// ```
pub fn fit(samples: &[Sample], prior: Prior) -> Result<Fit, NoFit> {
    if samples.is_empty() {
        return Err(NoFit::Empty);
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let is_sound = |of: &Sample| [of.base_step, of.round, of.measured(), of.batch, of.tokens].into_iter().all(positive);
    if let Some(at) = samples.iter().position(|of| !is_sound(of)) {
        return Err(NoFit::NotPositive(at + 1));
    }
    let scale = scale(samples);
    let points: Vec<Weighed<'_>> = samples.iter().map(|of| Weighed { of, row: row(of, scale), weight: 1.0 }).collect();
    let (points, terms, covariance) = weighed(points, prior, ROUNDS);
    let residual = |(at, point): (usize, &Weighed<'_>)| {
        let (of, sigma) = (point.of, prior.noise * point.of.measured());
        let after = off(point, &terms);
        let left_out = if points.len() <= REFITTED {
            let others = points.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, of)| *of).collect();
            off(point, &weighed(others, prior, AGAIN).1)
        } else {
            let own = (point.row.transpose() * covariance * point.row)[0] * point.weight / (sigma * sigma);
            after / (1.0 - own)
        };
        Residual {
            before: of.priced() / of.measured() - 1.0,
            after: -after / of.measured(),
            left_out: -left_out / of.measured(),
            weight: point.weight,
        }
    };
    Ok(Fit {
        scale,
        residuals: points.iter().enumerate().map(residual).collect(),
        terms: std::array::from_fn(|at| terms[at]),
        covariance: std::array::from_fn(|at| std::array::from_fn(|other| covariance[(at, other)])),
        prior,
    })
}

/// Seconds that shares of points are of: their median priced plain step.
#[must_use]
pub fn scale(samples: &[Sample]) -> f64 {
    median(samples.iter().map(|of| of.base_step).collect())
}

/// The middle of values, the mean of both middle ones.
fn median(values: Vec<f64>) -> f64 {
    super::score::quantile(&super::score::sorted(values.into_iter()), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::sample::{Part, Seen, Vector, round_row, step_row};
    use crate::rng::Generator;

    /// Points of a deployment: chains and trees, small and large batches; steps, rounds and speedups.
    fn points(count: u64, terms: [f64; TERMS], prior: Prior, random: &mut Generator) -> Vec<Sample> {
        let of = |at: u64| {
            let (passes, batch) =
                ([1.0, 3.0, 5.0, 7.0][at as usize % 4], [1.0, 4.0, 16.0, 64.0, 128.0][at as usize % 5]);
            let base_step = 0.008 * (1.0 + batch / 200.0);
            let tokens = 1.0 + 0.5 * passes * (0.5 + 0.5 * (at % 7) as f64 / 7.0);
            let round = base_step * (1.1 + 0.06 * passes + 0.001 * batch * passes);
            let (base_pass, round_passes) = (base_step - 0.001, 0.8 * round);
            let in_trees = if at % 3 == 1 { passes } else { 0.0 };
            let seen = [Seen::Step(base_step), Seen::Round(round), Seen::Speedup(1.0)][at as usize % 3];
            Sample {
                base_step,
                of_step: [base_pass, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
                round,
                of_round: [round_passes, 1.0, round_passes, 1.0, passes, batch, in_trees, tokens],
                batch,
                width: passes + 1.0,
                prefill: 0.0,
                tokens,
                seen,
            }
        };
        let mut all: Vec<Sample> = (0..count).map(of).collect();
        let (scale, terms) = (median(all.iter().map(|of| of.base_step).collect()), Vector::from(terms));
        for of in &mut all {
            let plain = of.base_step + step_row(of, scale).dot(&terms);
            let round = of.round + round_row(of, scale).dot(&terms);
            let noise = 1.0 + prior.noise * random.normal();
            of.seen = match of.seen {
                Seen::Step(_) => Seen::Step(plain * noise),
                Seen::Round(_) => Seen::Round(round * noise),
                Seen::Speedup(_) => Seen::Speedup(of.tokens * plain / (round * noise)),
            };
        }
        all
    }

    /// Terms drawn from the prior lie within nine-in-ten intervals of the fit nine times in ten.
    #[test]
    fn planted_terms_are_recovered_at_the_nominal_rate() {
        let prior = Prior::default();
        let mut random = Generator::from_seed(3);
        let (mut inside, mut all) = ([0_u32; TERMS], 0_u32);
        for study in 0..900 {
            let count = 6 + study % 20;
            let terms = prior.widths.map(|width| width * random.normal());
            let samples = points(count, terms, prior, &mut random);
            // Chosen by what was measured alone, which leaves intervals as they are.
            if all == 400 || samples.iter().any(|of| !(0.3 * of.priced()..3.0 * of.priced()).contains(&of.measured())) {
                continue;
            }
            let found = fit(&samples, prior).unwrap();
            all += 1;
            for part in 0..TERMS {
                let width = 1.645 * found.covariance[part][part].sqrt();
                inside[part] += u32::from((found.terms[part] - terms[part]).abs() < width);
            }
        }
        // 360 of 400 are due, with a deviation of 6. Weights of the t law make intervals a little wider than normal noise needs.
        assert!(inside.iter().all(|of| (342..=386).contains(of)), "{inside:?} of {all}");
    }

    /// A second method: a point left out, and all the others fitted anew. With one plain step for all the scale stays, and with points that
    /// lie close to the fit the weights do.
    #[test]
    fn a_point_left_out_is_predicted_as_by_a_fit_without_it() {
        let prior = Prior { noise: 0.05, ..Prior::default() };
        let mut random = Generator::from_seed(5);
        let close = Prior { noise: 0.002, ..prior };
        let samples = points(13, [0.02, 0.01, 0.03, 0.05, -0.01, 0.001, 0.02, 0.001], close, &mut random);
        // Of an odd number the one left out must not be the middle.
        let scale = median(samples.iter().map(|of| of.base_step).collect());
        let found = fit(&samples, prior).unwrap();
        let mut farthest: f64 = 0.0;
        for at in 0..samples.len() {
            let rest: Vec<Sample> =
                samples.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, of)| *of).collect();
            let own = median(rest.iter().map(|of| of.base_step).collect());
            if (own / scale - 1.0).abs() > 0.02 {
                continue;
            }
            let again = fit(&rest, prior).unwrap().seconds(&samples[at]) / samples[at].measured() - 1.0;
            let left_out = found.residuals[at].left_out;
            farthest = farthest.max((again - found.residuals[at].after).abs());
            assert!((again - left_out).abs() < 4e-4, "{again}, {left_out}");
        }
        // What is compared differs from the residual of the whole fit by far more.
        assert!(farthest > 3e-3, "{farthest}");
    }

    /// One point of twelve is 1000 times too large, as milliseconds for seconds are: it counts nothing, the others are fitted as without.
    #[test]
    fn a_point_far_off_moves_nothing() {
        let prior = Prior::default();
        let mut random = Generator::from_seed(7);
        let samples = points(12, [0.0, 0.0, 0.05, 0.05, 0.0, 0.0, 0.0, 0.0], prior, &mut random);
        let mut spoilt = samples.clone();
        spoilt[4].seen = Seen::Round(1000.0 * samples[4].measured());
        let (clean, robust) = (fit(&samples, prior).unwrap(), fit(&spoilt, prior).unwrap());
        for of in &samples {
            assert!((robust.seconds(of) / clean.seconds(of) - 1.0).abs() < 0.05);
        }
        assert!(robust.residuals[4].weight < 0.01 && robust.residuals[3].weight > 0.5);
    }

    fn one(passes: f64, batch: f64) -> Sample {
        let (base_step, round) = (0.008, 0.008 * (1.1 + 0.06 * passes + 0.002 * batch));
        let seen = Seen::Speedup(2.5 * base_step / (1.05 * round));
        Sample {
            base_step,
            of_step: [0.007, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            round,
            of_round: [0.007, 1.0, 0.007, 1.0, passes, batch, 0.0, 2.5],
            batch,
            width: passes + 1.0,
            prefill: 0.0,
            tokens: 2.5,
            seen,
        }
    }

    /// Points at one batch say nothing of each sequence's time, and speedups nothing of the step; the best next point is at another batch.
    #[test]
    fn what_points_do_not_tell_is_left_open() {
        let prior = Prior::default();
        let found = fit(&[one(3.0, 1.0), one(5.0, 1.0), one(7.0, 1.0)], prior).unwrap();
        let left = |part: Part| found.left_open(Part::ALL.iter().position(|of| *of == part).unwrap());
        let open = Part::ALL.map(left);
        assert!(left(Part::Tree) > 0.999 && left(Part::Sequence) > 0.99 && left(Part::Draft) < 0.6, "{open:?}");
        assert!(left(Part::Pace) > 0.9, "{open:?}");
        let planned = [one(3.0, 64.0), one(3.0, 128.0)];
        let gains = [1.0, 16.0, 64.0, 128.0].map(|batch| found.gained(&one(3.0, batch), &planned));
        assert!(gains[1..].iter().all(|gain| *gain > 10.0 * gains[0]), "{gains:?}");
        assert!(found.spread(&planned[1]) > found.spread(&one(5.0, 1.0)));
    }

    /// A constant that would fall below 0 is 0, and the others take its part.
    #[test]
    fn terms_stay_within_their_limits() {
        let mut least = [f64::NEG_INFINITY; TERMS];
        least[3] = -0.02;
        let free = Prior { noise: 0.005, ..Prior::default() };
        let mut random = Generator::from_seed(13);
        let samples = points(32, [0.0, 0.0, 0.0, -0.2, 0.0, 0.0, 0.0, 0.0], free, &mut random);
        let (bounded, free) = (fit(&samples, Prior { least, ..free }).unwrap(), fit(&samples, free).unwrap());
        assert!(free.terms[3] < -0.1, "{free:?}");
        assert!((bounded.terms[3] + 0.02).abs() < 1e-12 && bounded.terms[2] < free.terms[2], "{bounded:?}");
        // How sure that is does not depend on the limit.
        assert!((bounded.covariance[3][3] / free.covariance[3][3]).sqrt() > 0.8, "{bounded:?}");
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let prior = Prior::default();
        let sample = Sample { seen: Seen::Round(0.0), ..one(1.0, 1.0) };
        assert_eq!(fit(&[], prior), Err(NoFit::Empty));
        assert_eq!(fit(&[sample], prior), Err(NoFit::NotPositive(1)));
    }
}
