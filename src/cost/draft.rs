//! The draft phase of a round.

use std::borrow::Cow;

use crate::cost::capture::Captures;
use crate::cost::pass::{PassCost, pass};
use crate::cost::pricing::{Pricing, Served};
use crate::cost::shape::PassShape;
use crate::domain::drafter::CostRatio;
use crate::domain::model::Model;
use crate::units::Seconds;
use crate::words::Bound;

/// What drafts, with how its passes are priced.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one for each drafter of a study")]
pub enum DraftPricing<'a> {
    /// Passes of a model: a separate one, a head, or the target itself over a capped cache.
    Passes {
        /// The model.
        model: Cow<'a, Model>,
        /// How its passes are priced.
        pricing: Pricing,
        /// Cached tokens that a pass reads at most, if that is capped.
        budget: Option<u64>,
    },
    /// Drafts are looked up: no pass.
    Lookup,
    /// A constant share of the plain step for each draft.
    Constant {
        /// Draft pass over plain step.
        cost_ratio: CostRatio,
    },
}

/// One draft pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DraftPass {
    /// Its time.
    pub seconds: Seconds,
    /// What it is bound by; a constant share has no bound.
    pub bound: Option<Bound>,
}

impl DraftPricing<'_> {
    /// The shape of a draft pass of `width` tokens for each of `batch` sequences; none where no pass is
    /// modelled.
    #[must_use]
    pub fn shape(&self, batch: f64, width: f64, context: f64) -> Option<PassShape> {
        let Self::Passes { budget, .. } = self else { return None };
        let read = budget.map_or(context, |budget| context.min(budget as f64));
        Some(PassShape::verify(batch, width, read))
    }
}

/// The cost of one draft pass of `batch` sequences, with the engine's time for it.
///
/// # Formula
///
/// ```text
/// passes:    t_D(B, width) at the context of the round's start, at most the budget, at the pace of rounds, + t_draft
/// constant:  c t_T(B, 1)
/// lookup:    nothing
/// ```
///
/// Leviathan et al. 2023 (arXiv 2211.17192), Theorem 3.8 for the constant form. That the context grows by
/// one with each draft is left out: under 0.5 % of the KV read for k = 8 at context 2048.
#[must_use]
pub fn draft_pass(
    pricing: &DraftPricing<'_>,
    plain_step: &PassCost,
    shape: Option<PassShape>,
    served: Served,
    captures: Captures<'_>,
) -> DraftPass {
    match (pricing, shape) {
        (DraftPricing::Passes { model, pricing, .. }, Some(shape)) => {
            let pass = {
                let together = pricing.placement.together(shape);
                captures.applied(pass(model, pricing, shape), together, model.layers())
            };
            let pass = pass.served(served);
            DraftPass { seconds: pass.seconds(), bound: Some(pass.bound()) }
        }
        (DraftPricing::Constant { cost_ratio }, _) => {
            DraftPass { seconds: plain_step.seconds() * cost_ratio.get(), bound: None }
        }
        (DraftPricing::Lookup | DraftPricing::Passes { .. }, _) => DraftPass { seconds: Seconds::ZERO, bound: None },
    }
}
