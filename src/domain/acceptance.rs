//! The description of acceptance that a scenario carries; `crate::acceptance` computes with it.

use crate::domain::axis::Axis;
use crate::units::Probability;
use crate::words::AcceptanceKind;

/// How drafts are accepted, and where that is known from.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// The model.
    pub model: AcceptanceModel,
    /// Where the figures come from, as the scenario's author says.
    pub provenance: Provenance,
}

/// The model of acceptance.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptanceModel {
    /// Every draft is accepted with the same chance alpha, given all before it were. The values are
    /// an axis of the sweep.
    Iid {
        /// Per-test acceptance.
        alpha: Axis<Probability>,
    },
}

impl AcceptanceModel {
    /// The word of the scenario format.
    #[must_use]
    pub const fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
        }
    }
}

/// Where acceptance figures were measured. Outputs repeat it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The prompts.
    pub dataset: Option<String>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The engine and its version.
    pub engine: Option<String>,
    /// Anything else.
    pub note: Option<String>,
}

impl Provenance {
    /// One line for a report, or `None` if nothing is known.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let temperature = self.temperature.map(|value| format!("temperature {value}"));
        let parts: Vec<&str> =
            [&self.dataset, &temperature, &self.engine, &self.note].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
