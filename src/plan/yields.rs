//! What a drafter's rounds yield, for every acceptance that its scenario sweeps.

use crate::acceptance::model::{process, processes};
pub use crate::acceptance::process::Known;
use crate::acceptance::process::Process;
use crate::domain::acceptance::AcceptanceModel;
use crate::domain::drafter::Drafter;
use crate::words::AcceptanceKind;

/// The name of an acceptance in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptanceLabel {
    /// The model.
    pub kind: AcceptanceKind,
    /// Which of several curves, counted from 1.
    pub curve: Option<u64>,
}

impl std::fmt::Display for AcceptanceLabel {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.curve {
            Some(curve) => write!(to, "{}-{curve}", self.kind),
            None => write!(to, "{}", self.kind),
        }
    }
}

/// Tokens per target pass at several draft lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// The acceptance model.
    pub acceptance: AcceptanceLabel,
    /// Per-test acceptance, where the model has a single one.
    pub alpha: Option<f64>,
    /// Expected tokens per target pass, bonus included, for each k asked for.
    pub tokens_per_pass: Vec<f64>,
    /// How each of them is known.
    pub known: Vec<Known>,
}

/// How many acceptances a drafter's scenario sweeps.
#[must_use]
pub fn acceptances(drafter: &Drafter) -> u64 {
    processes(&drafter.acceptance)
}

/// The yield of one of them, below [`acceptances`], at a context.
#[must_use]
pub fn yields(drafter: &Drafter, index: u64, context: u64, k: impl Iterator<Item = u64>) -> Yield {
    let process = process_of(drafter, index, context);
    let (tokens_per_pass, known) = k.map(|k| (process.tokens_per_pass(k), process.known(k))).unzip();
    let curves = matches!(&drafter.acceptance.model, AcceptanceModel::PerPosition(curves) if curves.len() > 1);
    let acceptance = AcceptanceLabel { kind: process.kind(), curve: curves.then_some(index + 1) };
    Yield { acceptance, alpha: process.alpha(), tokens_per_pass, known }
}

/// The acceptance process of one of them at a context.
#[must_use]
pub fn process_of(drafter: &Drafter, index: u64, context: u64) -> Process {
    process(&drafter.acceptance, index, context as f64, drafter.tree.as_ref())
}

/// The share of sequences that propose any draft in a round of a drafter that looks drafts up, where it
/// was not measured.
///
/// # Formula
///
/// ```text
/// share = (tokens_per_pass - 1) / (accepted_per_proposed * k), at least 0.05 and at most 1
/// ```
///
/// Sequences that propose nothing emit one token for one verified position, so that the mean number of
/// accepted drafts tells how many propose. The bounds are part of the published fit: some sequence always
/// proposes, and no more than all do.
///
/// # Examples
///
/// 1.6 tokens per pass at k = 3, 40 % of proposed drafts accepted: 0.6 / 1.2.
///
/// ```
/// assert!((specplan::plan::yields::proposing_share(1.6, 3, 0.4) - 0.5).abs() < 1e-12);
/// ```
#[must_use]
pub fn proposing_share(tokens_per_pass: f64, k: u64, accepted_per_proposed: f64) -> f64 {
    ((tokens_per_pass - 1.0) / (accepted_per_proposed * k as f64)).clamp(0.05, 1.0)
}
