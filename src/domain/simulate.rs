//! What `[simulate]` asks for: a Monte Carlo study of the accept/reject rule.

use crate::domain::law::Pair;
use crate::units::Probability;

/// A simulation of rounds and of the accept/reject rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulate {
    /// Rounds or trials of each estimate.
    pub rounds: u64,
    /// Per-test acceptance.
    pub alpha: Option<Probability>,
    /// Draft lengths.
    pub k: Vec<u64>,
    /// Target and drafter laws over one vocabulary.
    pub laws: Option<Pair>,
}
