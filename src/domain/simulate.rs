//! What `[simulate]` asks for: Monte Carlo of acceptance, and the accept/reject rule on laws that are spelled out.

use crate::domain::law::Pair;
use crate::units::Probability;

/// A simulation of rounds, of whole sequences and of the accept/reject rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulate {
    /// Rounds or trials of each estimate.
    pub rounds: u64,
    /// Per-test acceptance; none: the acceptance of every drafter.
    pub alpha: Option<Probability>,
    /// Draft lengths.
    pub k: Vec<u64>,
    /// Sequences decoded together, to tell the slowest from the fastest; none: no sequences are decoded.
    pub batch: Vec<u64>,
    /// Tokens of each sequence.
    pub tokens: u64,
    /// Target and drafter laws over one vocabulary.
    pub laws: Option<Laws>,
    /// Temperatures at which laws are compared.
    pub temperature: Vec<f64>,
    /// Drafts for one position, at most.
    pub drafts: u64,
}

impl Default for Simulate {
    /// 200000 rounds of 1, 2, 4 and 8 drafts; sequences of 256 tokens, if any are asked for.
    fn default() -> Self {
        Self {
            rounds: 200_000,
            alpha: None,
            k: vec![1, 2, 4, 8],
            batch: Vec::new(),
            tokens: 256,
            laws: None,
            temperature: Vec::new(),
            drafts: 1,
        }
    }
}

/// Laws of target and drafter.
#[derive(Clone, Debug, PartialEq)]
pub enum Laws {
    /// The same at every position.
    Same(Pair),
    /// By the token before; a round starts after this one.
    After {
        /// For each token the laws of the next.
        pairs: Vec<Pair>,
        /// The last emitted token.
        start: usize,
    },
}

impl Laws {
    /// The laws of a position that is always alike.
    #[must_use]
    pub const fn same(&self) -> Option<&Pair> {
        match self {
            Self::Same(pair) => Some(pair),
            Self::After { .. } => None,
        }
    }
}
