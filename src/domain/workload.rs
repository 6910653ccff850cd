//! Kinds of requests that one service answers.

use crate::domain::traffic::Length;
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
    /// How long its outputs are, each by itself; none: as traffic says.
    pub output_length: Option<Length>,
    /// How long its prompts are; none: as traffic says.
    pub prompt_length: Option<Length>,
    /// Share of its prompts that is in the cache already.
    pub prefix_hit: Probability,
}

impl Workload {
    /// Its share of emitted tokens, in whatever scale: share of requests x output tokens.
    #[must_use]
    pub fn tokens(&self) -> f64 {
        self.share.get() * self.output.unwrap_or(1.0)
    }
}
