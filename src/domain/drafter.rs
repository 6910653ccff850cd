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
        /// Draft pass over plain step, at least 0.
        cost_ratio: f64,
    },
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
