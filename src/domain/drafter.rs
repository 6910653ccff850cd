//! What proposes tokens.

use crate::domain::acceptance::Acceptance;
use crate::domain::model::Model;

/// A drafter with its label and acceptance.
#[derive(Clone, Debug, PartialEq)]
pub struct Drafter {
    /// The scenario's name for it.
    pub label: String,
    /// What it is.
    pub source: DraftSource,
    /// How its drafts are accepted.
    pub acceptance: Acceptance,
}

/// Where drafts come from.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftSource {
    /// A separate model runs one pass for each draft.
    Model(Model),
    /// Each draft costs a constant share of the target's plain step; 0 is free. Takes no memory.
    Constant {
        /// Draft pass over plain step.
        cost_ratio: CostRatio,
    },
}

/// A draft pass over a plain step: finite and at least 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct CostRatio(f64);

/// A number that cannot be a cost ratio.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a cost ratio is at least 0, not {0}")]
pub struct NotACostRatio(pub f64);

impl CostRatio {
    /// Nothing: drafts are free.
    pub const FREE: Self = Self(0.0);

    /// A ratio.
    ///
    /// # Errors
    ///
    /// [`NotACostRatio`] for what is negative or not finite.
    pub fn new(ratio: f64) -> Result<Self, NotACostRatio> {
        if ratio.is_finite() && ratio >= 0.0 { Ok(Self(ratio + 0.0)) } else { Err(NotACostRatio(ratio)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl DraftSource {
    /// The model that sits in memory beside the target, if there is one.
    #[must_use]
    pub const fn model(&self) -> Option<&Model> {
        match self {
            Self::Model(model) => Some(model),
            Self::Constant { .. } => None,
        }
    }
}
