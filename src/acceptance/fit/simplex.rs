//! Where a cost is smallest, and chances as unbounded numbers.

use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::neldermead::NelderMead;

use crate::units::Probability;

const MOST_STEPS: u64 = 300;

/// `ln(p / (1 - p))`.
pub(super) fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// Its inverse.
pub(super) fn logistic(x: f64) -> Probability {
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
pub(super) fn smallest(cost: &dyn Fn(&[f64]) -> Option<f64>, start: &[f64]) -> Option<Vec<f64>> {
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
