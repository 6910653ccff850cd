//! What a drafter's rounds yield, for every acceptance that its scenario sweeps.

use crate::acceptance::model::{process, processes};
use crate::domain::drafter::Drafter;
use crate::words::AcceptanceKind;

/// Tokens per target pass at several draft lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// The acceptance model.
    pub acceptance: AcceptanceKind,
    /// Per-test acceptance, where the model has a single one.
    pub alpha: Option<f64>,
    /// Expected tokens per target pass, bonus included, for each k asked for.
    pub tokens_per_pass: Vec<f64>,
}

/// How many acceptances a drafter's scenario sweeps.
#[must_use]
pub fn acceptances(drafter: &Drafter) -> u64 {
    processes(&drafter.acceptance.model)
}

/// The yield of one of them, below [`acceptances`].
#[must_use]
pub fn yields(drafter: &Drafter, index: u64, k: impl Iterator<Item = u64>) -> Yield {
    let process = process(&drafter.acceptance.model, index);
    Yield {
        acceptance: process.kind(),
        alpha: process.alpha(),
        tokens_per_pass: k.map(|k| process.tokens_per_pass(k)).collect(),
    }
}
