//! Acceptance models, one value of their axes at a time.

use crate::acceptance::chain;
use crate::domain::acceptance::AcceptanceModel;
use crate::units::Probability;
use crate::words::AcceptanceKind;

/// One acceptance process: a model at one value of its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// Independent tests that all pass with chance alpha.
    Iid {
        /// Per-test acceptance.
        alpha: Probability,
    },
}

impl Process {
    /// Expected tokens per target pass, bonus included, at draft length k.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{acceptance::model::Process, units::Probability};
    /// let process = Process::Iid { alpha: Probability::new(0.7)? };
    /// assert!((process.tokens_per_pass(4) - 2.7731).abs() < 1e-12);
    /// # Ok::<(), specplan::units::NotAProbability>(())
    /// ```
    #[must_use]
    pub fn tokens_per_pass(&self, k: u64) -> f64 {
        match self {
            Self::Iid { alpha } => chain::expected_tokens(*alpha, k),
        }
    }

    /// The word of the scenario format.
    #[must_use]
    pub const fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
        }
    }

    /// The per-test acceptance, where there is a single one.
    #[must_use]
    pub const fn alpha(&self) -> Option<f64> {
        match self {
            Self::Iid { alpha } => Some(alpha.get()),
        }
    }
}

/// How many processes a model stands for: the length of its axis.
#[must_use]
pub fn processes(model: &AcceptanceModel) -> u64 {
    match model {
        AcceptanceModel::Iid { alpha } => alpha.len(),
    }
}

/// The process at `index`, below [`processes`].
#[must_use]
pub fn process(model: &AcceptanceModel, index: u64) -> Process {
    match model {
        AcceptanceModel::Iid { alpha } => Process::Iid { alpha: alpha.get(index) },
    }
}
