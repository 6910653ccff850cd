//! What `[simulate]` asks for: a Monte Carlo study of the accept/reject rule.

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
    pub laws: Option<Laws>,
}

/// Two laws over the same tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Laws {
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Why two vectors are not such laws.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LawsError {
    /// Different numbers of tokens.
    #[error("p has {p} tokens and q has {q}")]
    Lengths {
        /// Of p.
        p: usize,
        /// Of q.
        q: usize,
    },
    /// Not summing to one.
    #[error("{name} sums to {sum}, not to 1")]
    Sum {
        /// `p` or `q`.
        name: &'static str,
        /// The sum.
        sum: f64,
    },
}

impl Laws {
    /// Rounding that decimals in a file may carry.
    const SLACK: f64 = 1e-9;

    /// Two laws; entries are in [0, 1].
    ///
    /// # Errors
    ///
    /// [`LawsError`] if the lengths differ or a sum is off 1 by more than 1e-9.
    pub fn new(p: Vec<f64>, q: Vec<f64>) -> Result<Self, LawsError> {
        if p.len() != q.len() {
            return Err(LawsError::Lengths { p: p.len(), q: q.len() });
        }
        for (name, law) in [("p", &p), ("q", &q)] {
            let sum: f64 = law.iter().sum();
            if (sum - 1.0).abs() > Self::SLACK {
                return Err(LawsError::Sum { name, sum });
            }
        }
        Ok(Self { p, q })
    }

    /// The target's law.
    #[must_use]
    pub fn p(&self) -> &[f64] {
        &self.p
    }

    /// The drafter's law.
    #[must_use]
    pub fn q(&self) -> &[f64] {
        &self.q
    }
}
