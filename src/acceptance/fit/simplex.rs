//! The figures of models that make what was seen likeliest, by the simplex method (Nelder and Mead 1965).

use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::neldermead::NelderMead;

use crate::domain::beta::Beta;
use crate::domain::spans::Spans;
use crate::units::Probability;

const MOST_STEPS: u64 = 300;

/// The Beta law of the largest log-likelihood, searched from a mean; none if the search fails.
pub(super) fn likeliest_beta(mean: Probability, likelihood: &dyn Fn(&Beta) -> f64) -> Option<Beta> {
    let of = |at: &[f64]| Beta::with_mean(logistic(at[0]), at[1].clamp(-4.0, 14.0).exp()).ok();
    let cost = |at: &[f64]| of(at).map(|beta| -likelihood(&beta));
    of(&smallest(&cost, &[logit(mean), 1.6])?)
}

/// The easy and hard spans of the largest log-likelihood, searched from around a mean; none if the search fails.
pub(super) fn likeliest_spans(mean: Probability, likelihood: &dyn Fn(&Spans) -> f64) -> Option<Spans> {
    let of = |at: &[f64]| Spans::two(logistic(at[0]), logistic(at[1]), logistic(at[2]), logistic(at[3])).ok();
    let cost = |at: &[f64]| of(at).map(|spans| -likelihood(&spans));
    let middle = logit(mean);
    // From long spans and from short ones: the surface has more than one valley.
    let starts = [[middle + 1.0, middle - 1.0, -2.5, -2.5], [middle + 1.5, middle - 1.5, -0.5, -0.5]];
    let ends = starts.iter().filter_map(|start| smallest(&cost, start));
    let best = ends.filter_map(|at| Some((cost(&at)?, at))).min_by(|a, b| a.0.total_cmp(&b.0));
    of(&best?.1)
}

/// `ln(p / (1 - p))`.
fn logit(p: Probability) -> f64 {
    // A start has to be finite.
    let p = p.get().clamp(0.01, 0.99);
    (p / (1.0 - p)).ln()
}

/// Its inverse.
fn logistic(x: f64) -> Probability {
    // Kept off 0 and 1, where nothing can be learned any more.
    Probability::nearest((1.0 / (1.0 + (-x).exp())).clamp(1e-6, 1.0 - 1e-6))
}

/// A cost as the solver takes it.
struct Cost<'c>(&'c dyn Fn(&[f64]) -> Option<f64>);

impl CostFunction for Cost<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, at: &Vec<f64>) -> Result<f64, Error> {
        // What is no model is worse than any.
        Ok((self.0)(at).filter(|cost| cost.is_finite()).unwrap_or(f64::MAX))
    }
}

/// Where a cost is smallest, from a start, by the simplex method (Nelder and Mead 1965); none if the solver fails.
fn smallest(cost: &dyn Fn(&[f64]) -> Option<f64>, start: &[f64]) -> Option<Vec<f64>> {
    let corner = |at: usize| {
        let mut corner = start.to_vec();
        corner[at] += 0.7;
        corner
    };
    let simplex = std::iter::once(start.to_vec()).chain((0..start.len()).map(corner)).collect();
    let solver = NelderMead::new(simplex).with_sd_tolerance(1e-6).ok()?;
    let run =
        Executor::new(Cost(cost), solver).configure(|state| state.max_iters(MOST_STEPS)).timer(false).run().ok()?;
    run.state().get_best_param().cloned()
}
