//! What a deployment's own measurements say of its rounds beyond their price: a few terms, regularised towards the price.
//!
//! The priced plain step is kept, since speedups carry the round over it. A round may take longer or shorter by a constant, by each
//! draft pass, by each sequence, by a factor, by each draft pass of a tree, and by each token that it emits (what serving adds to every
//! token, drafts or not: prefill within a throughput, output handling). Each term has a width that published deployments
//! spread over, so that three points move what they tell of and leave the rest as priced.

use nalgebra::{SMatrix, SVector};

/// Terms of a round.
pub const TERMS: usize = 6;

pub(super) type Vector = SVector<f64, TERMS>;
pub(super) type Matrix = SMatrix<f64, TERMS, TERMS>;

/// A term of a round that a calibration may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A constant.
    Round,
    /// Each draft pass.
    Draft,
    /// Each sequence.
    Sequence,
    /// The priced round as a whole.
    Factor,
    /// Each draft pass of a tree, on top.
    Tree,
    /// Each emitted token.
    Token,
}

impl Part {
    /// All of them, in the order of coefficients.
    pub const ALL: [Self; TERMS] = [Self::Round, Self::Draft, Self::Sequence, Self::Factor, Self::Tree, Self::Token];
}

/// A measured round beside its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds of the priced plain step.
    pub base_step: f64,
    /// Seconds of the priced round.
    pub round: f64,
    /// Seconds of the measured round: where speedups are measured `tokens_per_pass base_step / speedup`.
    pub measured: f64,
    /// Draft passes.
    pub passes: f64,
    /// Sequences decoded together.
    pub batch: f64,
    /// Whether several candidates are drafted for a position.
    pub is_tree: bool,
    /// Tokens per pass.
    pub tokens: f64,
}

/// What is believed of the terms before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Standard deviations: of [`Part::Factor`] a share of the round, of all others a share of the median plain step.
    pub widths: [f64; TERMS],
    /// The least that each term may be, in the same shares: what takes a constant of the engine down to 0.
    pub least: [f64; TERMS],
    /// Standard deviation of a measured round, as a share of it.
    pub noise: f64,
}

impl Default for Prior {
    /// Widths with which three points of a published deployment predict its other points best.
    fn default() -> Self {
        Self { widths: [0.1, 0.03, 0.002, 0.1, 0.03, 0.1], least: [f64::NEG_INFINITY; TERMS], noise: 0.03 }
    }
}

/// A point that was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// `priced / measured - 1` of the round, as priced before.
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
    #[error("point {0}: steps, rounds and tokens are positive numbers")]
    NotPositive(usize),
}

/// Degrees of freedom of the law of residuals: heavier tails than a normal law, so that a point far off counts little.
const FREEDOM: f64 = 4.0;
/// Rounds of weighting: weights change by less than a thousandth from then on.
const ROUNDS: usize = 30;

/// Fits the terms.
///
/// # Formula
///
/// ```text
/// y - R = X b + e,     e ~ t_4(0, (noise y)^2),   b ~ N(0, widths^2)
/// X     = (m, passes m, batch m, R, passes m [tree], tokens m),     m the median priced plain step
/// b     = C X' W (y - R),    C = (X' W X + diag(widths^-2))^-1,    W = w / (noise y)^2
/// w     = 5 / (4 + (e / (noise y))^2),  until it stays
/// b     >= least: what lies beyond is held there
/// ```
///
/// y: measured round, R: priced round. Ridge regression with a prior width for each term (Hoerl and Kennard 1970), weights of the t law (Lange,
/// Little and Taylor 1989, section 3). A point left out has the residual e / (1 - h), h its share of its own
/// prediction; its weight stays that of the whole fit.
///
/// # Errors
///
/// [`NoFit`].
///
/// # Examples
///
/// One point, 10 % above a price of 10 ms; only the factor may move, by 10 % as wide as the noise: half of it is believed.
///
/// ```
/// use specplan::evidence::calibrate::{Prior, Sample, fit};
/// let widths = [1e-9, 1e-9, 1e-9, 0.11, 1e-9, 1e-9];
/// let point = Sample { base_step: 0.008, round: 0.010, measured: 0.011, passes: 3.0, batch: 1.0, is_tree: false, tokens: 2.0 };
/// let found = fit(&[point], Prior { widths, noise: 0.1, ..Prior::default() })?;
/// assert!((found.terms[3] - 0.05).abs() < 0.005);
/// assert!((found.round(&point) - 0.0105).abs() < 5e-5);
/// # Ok::<(), specplan::evidence::calibrate::NoFit>(())
/// ```
pub fn fit(samples: &[Sample], prior: Prior) -> Result<Fit, NoFit> {
    if samples.is_empty() {
        return Err(NoFit::Empty);
    }
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let is_sound = |of: &Sample| [of.base_step, of.round, of.measured, of.batch, of.tokens].into_iter().all(positive);
    if let Some(at) = samples.iter().position(|of| !is_sound(of)) {
        return Err(NoFit::NotPositive(at + 1));
    }
    let scale = median(samples.iter().map(|of| of.base_step).collect());
    let rows: Vec<Vector> = samples.iter().map(|of| row(of, scale)).collect();
    let mut weights = vec![1.0; samples.len()];
    let mut solved = bounded(samples, &rows, &weights, prior);
    for _ in 0..ROUNDS {
        for ((weight, of), row) in weights.iter_mut().zip(samples).zip(&rows) {
            let deviations = off(of, row, &solved.0) / (prior.noise * of.measured);
            *weight = (FREEDOM + 1.0) / (FREEDOM + deviations * deviations);
        }
        solved = bounded(samples, &rows, &weights, prior);
    }
    let (terms, covariance) = solved;
    let residual = |((of, row), weight): ((&Sample, &Vector), &f64)| {
        let sigma = prior.noise * of.measured;
        let own = (row.transpose() * covariance * row)[0] * weight / (sigma * sigma);
        let after = off(of, row, &terms);
        Residual {
            before: of.round / of.measured - 1.0,
            after: -after / of.measured,
            left_out: -after / (1.0 - own) / of.measured,
            weight: weight * FREEDOM / (FREEDOM + 1.0),
        }
    };
    let residuals = samples.iter().zip(&rows).zip(&weights).map(residual).collect();
    Ok(Fit {
        scale,
        terms: std::array::from_fn(|at| terms[at]),
        covariance: std::array::from_fn(|at| std::array::from_fn(|other| covariance[(at, other)])),
        prior,
        residuals,
    })
}

/// What is measured beyond price and terms.
fn off(of: &Sample, row: &Vector, terms: &Vector) -> f64 {
    of.measured - of.round - row.dot(terms)
}

/// The terms within their limits: the one that lies farthest beyond its own, in widths, is put there, and the others are solved again.
fn bounded(samples: &[Sample], rows: &[Vector], weights: &[f64], prior: Prior) -> (Vector, Matrix) {
    let mut held = Vector::zeros();
    let mut free = Vector::repeat(1.0);
    loop {
        let (terms, covariance) = solve(samples, rows, weights, prior, (&held, &free));
        let beyond = |at: usize| (prior.least[at] - terms[at]) / prior.widths[at];
        let farthest = (0..TERMS).filter(|&at| free[at] > 0.0).max_by(|a, b| beyond(*a).total_cmp(&beyond(*b)));
        match farthest.filter(|&at| beyond(at) > 1e-9) {
            Some(at) => (held[at], free[at]) = (prior.least[at], 0.0),
            None => return (terms, covariance),
        }
    }
}

/// The terms, some of them held where they are: those have no covariance.
fn solve(
    samples: &[Sample],
    rows: &[Vector],
    weights: &[f64],
    prior: Prior,
    (held, free): (&Vector, &Vector),
) -> (Vector, Matrix) {
    // In shares of the widths, so that terms that hardly move do not spoil the digits of those that do.
    let widths = Vector::from_column_slice(&prior.widths).component_mul(free);
    let (mut normal, mut due) = (Matrix::identity(), Vector::zeros());
    for ((of, row), weight) in samples.iter().zip(rows).zip(weights) {
        let sigma = prior.noise * of.measured;
        let rest = off(of, row, held);
        let row = row.component_mul(&widths);
        normal += row * row.transpose() * (weight / (sigma * sigma));
        due += row * (rest * weight / (sigma * sigma));
    }
    // One at least on the diagonal: always positive definite.
    let inverse = normal.cholesky().map_or_else(Matrix::identity, |factors| factors.inverse());
    let covariance = Matrix::from_fn(|at, other| inverse[(at, other)] * widths[at] * widths[other]);
    (held + (inverse * due).component_mul(&widths), covariance)
}

pub(super) fn row(of: &Sample, scale: f64) -> Vector {
    let in_tree = if of.is_tree { of.passes } else { 0.0 };
    Vector::from([scale, of.passes * scale, of.batch * scale, of.round, in_tree * scale, of.tokens * scale])
}

/// The middle of values, the mean of both middle ones.
fn median(values: Vec<f64>) -> f64 {
    super::score::quantile(&super::score::sorted(values.into_iter()), 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Generator;

    /// Points of a deployment: chains and trees, small and large batches.
    fn points(count: u64, terms: [f64; TERMS], prior: Prior, random: &mut Generator) -> Vec<Sample> {
        let base = 0.008;
        let of = |at: u64| {
            let (passes, batch) =
                ([1.0, 3.0, 5.0, 7.0][at as usize % 4], [1.0, 4.0, 16.0, 64.0, 128.0][at as usize % 5]);
            let plain = base * (1.0 + batch / 200.0);
            let is_tree = at % 3 == 1;
            let tokens = 1.0 + 0.5 * passes * (0.5 + 0.5 * (at % 7) as f64 / 7.0);
            let round = plain * (1.1 + 0.06 * passes + 0.001 * batch * passes);
            Sample { base_step: plain, round, measured: round, passes, batch, is_tree, tokens }
        };
        let mut all: Vec<Sample> = (0..count).map(of).collect();
        let scale = median(all.iter().map(|of| of.base_step).collect());
        for of in &mut all {
            let true_round = of.round + row(of, scale).dot(&Vector::from(terms));
            of.measured = true_round * (1.0 + prior.noise * random.normal());
        }
        all
    }

    /// Terms drawn from the prior lie within nine-in-ten intervals of the fit nine times in ten.
    #[test]
    fn planted_terms_are_recovered_at_the_nominal_rate() {
        let prior = Prior::default();
        let mut random = Generator::from_seed(3);
        let (mut inside, mut all) = ([0_u32; TERMS], 0_u32);
        for study in 0..440 {
            let terms = prior.widths.map(|width| width * random.normal());
            let samples = points(6 + study % 20, terms, prior, &mut random);
            // Chosen by what was measured alone, which leaves intervals as they are.
            if all == 400 || samples.iter().any(|of| of.measured < 0.3 * of.round) {
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
        assert!(inside.iter().all(|of| (342..=384).contains(of)), "{inside:?} of {all}");
    }

    /// A second method: a point left out, and all the others fitted anew. With one plain step for all the scale stays, and with points that
    /// lie close to the fit the weights do.
    #[test]
    fn a_point_left_out_is_predicted_as_by_a_fit_without_it() {
        let prior = Prior { noise: 0.05, ..Prior::default() };
        let mut random = Generator::from_seed(5);
        let close = Prior { noise: 0.002, ..prior };
        let mut samples = points(12, [0.05, -0.01, 0.001, 0.04, 0.02, 0.03], close, &mut random);
        samples.iter_mut().for_each(|of| of.base_step = 0.008);
        let found = fit(&samples, prior).unwrap();
        let mut farthest: f64 = 0.0;
        for at in 0..samples.len() {
            let rest: Vec<Sample> =
                samples.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, of)| *of).collect();
            let again = fit(&rest, prior).unwrap().round(&samples[at]) / samples[at].measured - 1.0;
            let left_out = found.residuals[at].left_out;
            farthest = farthest.max((again - found.residuals[at].after).abs());
            assert!((again - left_out).abs() < 3e-4, "{again}, {left_out}");
        }
        // What is compared differs from the residual of the whole fit by far more.
        assert!(farthest > 3e-3, "{farthest}");
    }

    /// One point of twelve is 1000 times too large, as milliseconds for seconds are: it counts nothing, the others are fitted as without.
    #[test]
    fn a_point_far_off_moves_nothing() {
        let prior = Prior::default();
        let mut random = Generator::from_seed(7);
        let samples = points(12, [0.05, 0.0, 0.0, 0.05, 0.0, 0.0], prior, &mut random);
        let mut spoilt = samples.clone();
        spoilt[4].measured *= 1000.0;
        let (clean, robust) = (fit(&samples, prior).unwrap(), fit(&spoilt, prior).unwrap());
        for of in &samples {
            assert!((robust.round(of) / clean.round(of) - 1.0).abs() < 0.05);
        }
        assert!(robust.residuals[4].weight < 0.01 && robust.residuals[3].weight > 0.5);
    }

    /// Points at one batch say nothing of each sequence's time; the best next point is at another batch.
    #[test]
    fn what_points_do_not_tell_is_left_open() {
        let prior = Prior::default();
        let one = |passes: f64, batch: f64| {
            let round = 0.008 * (1.1 + 0.06 * passes + 0.002 * batch);
            Sample { base_step: 0.008, round, measured: 1.05 * round, passes, batch, is_tree: false, tokens: 2.5 }
        };
        let found = fit(&[one(3.0, 1.0), one(5.0, 1.0), one(7.0, 1.0)], prior).unwrap();
        let left = |part: Part| found.left_open(Part::ALL.iter().position(|of| *of == part).unwrap());
        let open = Part::ALL.map(left);
        assert!(left(Part::Tree) > 0.999 && left(Part::Sequence) > 0.99 && left(Part::Draft) < 0.5, "{open:?}");
        let planned = [one(3.0, 64.0), one(3.0, 128.0)];
        let gains = [1.0, 16.0, 64.0, 128.0].map(|batch| found.gained(&one(3.0, batch), &planned));
        assert!(gains.windows(2).all(|pair| pair[0] < pair[1]), "{gains:?}");
        assert!(found.spread(&planned[1]) > found.spread(&one(5.0, 1.0)));
    }

    /// A constant that would fall below 0 is 0, and the others take its part.
    #[test]
    fn terms_stay_within_their_limits() {
        let mut least = [f64::NEG_INFINITY; TERMS];
        least[0] = -0.02;
        let prior = Prior { least, ..Prior::default() };
        let mut random = Generator::from_seed(13);
        let samples = points(16, [-0.2, 0.0, 0.0, 0.0, 0.0, 0.0], prior, &mut random);
        let (bounded, free) = (fit(&samples, prior).unwrap(), fit(&samples, Prior::default()).unwrap());
        assert!(free.terms[0] < -0.1, "{free:?}");
        assert!((bounded.terms[0] + 0.02).abs() < 1e-12 && bounded.terms[3] < free.terms[3], "{bounded:?}");
        assert_eq!(bounded.covariance[0][0].to_bits(), 0);
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let prior = Prior::default();
        let sample = Sample {
            base_step: 0.01,
            round: 0.012,
            measured: 0.0,
            passes: 1.0,
            batch: 1.0,
            is_tree: false,
            tokens: 1.5,
        };
        assert_eq!(fit(&[], prior), Err(NoFit::Empty));
        assert_eq!(fit(&[sample], prior), Err(NoFit::NotPositive(1)));
    }
}
