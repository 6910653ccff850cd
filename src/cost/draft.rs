//! The draft phase of a round.

use crate::cost::pass::{PassCost, pass};
use crate::cost::roofline::Rates;
use crate::cost::shape::PassShape;
use crate::domain::drafter::CostRatio;
use crate::domain::model::Model;
use crate::units::Seconds;
use crate::words::{Bound, Roofline};

/// What drafts, with the rates it runs at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DraftPricing<'a> {
    /// One pass of a separate model for each draft.
    Model {
        /// The model.
        model: &'a Model,
        /// Of the device, in the model's number format.
        rates: Rates,
        /// How its passes are priced.
        roofline: Roofline,
    },
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

/// The cost of one draft pass of `batch` sequences.
///
/// # Formula
///
/// ```text
/// model:     t_D(B, 1) at the context of the round's start
/// constant:  c t_T(B, 1)
/// ```
///
/// A chain of k drafts takes k such passes (Leviathan et al. 2023, arXiv 2211.17192, Theorem 3.8 for
/// the constant form). That the context grows by one with each draft is left out: under 0.5 % of the
/// KV read for k = 8 at context 2048.
#[must_use]
pub fn draft_pass(pricing: &DraftPricing<'_>, plain_step: &PassCost, batch: f64, context: f64) -> DraftPass {
    match pricing {
        DraftPricing::Model { model, rates, roofline } => {
            let pass = pass(model, *rates, *roofline, PassShape::decode(batch, context));
            DraftPass { seconds: pass.seconds(), bound: Some(pass.bound()) }
        }
        DraftPricing::Constant { cost_ratio } => {
            DraftPass { seconds: plain_step.seconds() * cost_ratio.get(), bound: None }
        }
    }
}
