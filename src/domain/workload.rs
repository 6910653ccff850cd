//! Kinds of requests that one service answers.

use crate::units::Probability;

/// A kind of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name in the scenario.
    pub label: String,
    /// Its share of requests.
    pub share: Probability,
    /// Mean output tokens of a request; none where all workloads have equally long ones.
    pub output: Option<f64>,
}

impl Workload {
    /// Its share of emitted tokens, in whatever scale: share of requests x output tokens.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.share.get() * self.output.unwrap_or(1.0)
    }
}
