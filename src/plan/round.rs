//! The time of a plain step and of a speculative round.

use crate::cost::draft::draft_pass;
use crate::cost::pass::{PassCost, pass};
use crate::cost::shape::PassShape;
use crate::plan::setup::Setup;
use crate::units::Seconds;
use crate::words::Bound;

/// A round: k drafts, one verification pass over k + 1 tokens, and what else speculation costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The whole draft phase.
    pub draft: Seconds,
    /// What a draft pass is bound by; `None` where nothing is drafted or no pass is modelled.
    pub draft_bound: Option<Bound>,
    /// The verification pass.
    pub verify: PassCost,
    /// What is paid only for speculating, for each round and sequence. None without an engine.
    pub overhead: Seconds,
}

impl Round {
    /// `draft + verify + overhead`.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        self.draft + self.verify.seconds() + self.overhead
    }
}

/// A plain decoding step of the target: one new token for each of `batch` sequences.
#[must_use]
pub fn plain_step(setup: &Setup<'_>, batch: f64, context: f64) -> PassCost {
    pass(setup.target, setup.rates, setup.roofline, PassShape::decode(batch, context))
}

/// A round at draft length k, beside the plain step of the same batch and context.
///
/// # Formula
///
/// ```text
/// t_round = k t_D(B, 1) + t_T(B, k + 1)
/// ```
///
/// Leviathan et al. 2023 (arXiv 2211.17192), section 3.3, with the verification pass priced at its
/// own width. At k = 0 nothing is drafted and the round is the plain step itself.
#[must_use]
pub fn round(setup: &Setup<'_>, plain: &PassCost, batch: f64, context: f64, k: u64) -> Round {
    let drafting = if k == 0 { None } else { setup.drafting.as_ref() };
    let Some(drafting) = drafting else {
        return Round { draft: Seconds::ZERO, draft_bound: None, verify: *plain, overhead: Seconds::ZERO };
    };
    let drafted = draft_pass(drafting, plain, batch, context);
    let shape = PassShape::verify(batch, k as f64 + 1.0, context);
    Round {
        draft: drafted.seconds * k as f64,
        draft_bound: drafted.bound,
        verify: pass(setup.target, setup.rates, setup.roofline, shape),
        overhead: Seconds::ZERO,
    }
}
