//! The shape that a drafter drafts in, where it is no chain.

use crate::domain::tree::Tree;

/// A tree of drafts as a scenario gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeShape {
    /// By its sizes; the engine picks the nodes.
    Sized(Sizes),
    /// Node by node, the same in every round.
    Drawn(Tree),
}

impl TreeShape {
    /// Levels below the root.
    #[must_use]
    pub fn depth(&self) -> u64 {
        match self {
            Self::Sized(sizes) => sizes.steps,
            Self::Drawn(tree) => tree.depth() as u64,
        }
    }

    /// Verified tokens, the root included.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        match self {
            Self::Sized(sizes) => sizes.nodes,
            Self::Drawn(tree) => tree.nodes() as u64,
        }
    }

    /// Tokens of a draft pass: the candidates that an engine goes on from, or the nodes with children, in the mean over
    /// levels.
    #[must_use]
    pub fn draft_width(&self) -> f64 {
        match self {
            Self::Sized(sizes) => sizes.topk as f64,
            Self::Drawn(tree) => tree.expanded().iter().sum::<usize>() as f64 / (tree.depth() as f64).max(1.0),
        }
    }
}

/// A tree by its sizes, whose nodes the engine picks in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    steps: u64,
    topk: u64,
    nodes: u64,
}

/// Numbers that make no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSizes {
    /// Zero where there must be one.
    #[error("steps and topk are at least 1, nodes at least 2: the root and one draft")]
    Zero,
    /// More nodes than the draft passes make.
    #[error("{nodes} nodes, the root included, of at most {most} that {topk} candidates in {steps} steps make")]
    TooMany {
        /// Nodes, the root included.
        nodes: u64,
        /// The most there can be.
        most: u64,
        /// Candidates of each pass.
        topk: u64,
        /// Depth.
        steps: u64,
    },
    /// Fewer nodes than the depth needs.
    #[error("{nodes} nodes, the root included, do not reach {steps} steps down")]
    TooFew {
        /// Nodes, the root included.
        nodes: u64,
        /// Depth.
        steps: u64,
    },
}

impl Sizes {
    /// A tree of `steps` levels below the root, `topk` candidates for each draft pass, `nodes` verified
    /// tokens with the root (SGLang: num-steps, eagle-topk, num-draft-tokens).
    ///
    /// # Errors
    ///
    /// [`NotSizes`] for zeros, fewer nodes than levels, or more than `1 + topk + (steps - 1) topk^2`.
    pub const fn new(steps: u64, topk: u64, nodes: u64) -> Result<Self, NotSizes> {
        if steps == 0 || topk == 0 || nodes < 2 {
            return Err(NotSizes::Zero);
        }
        if nodes <= steps {
            return Err(NotSizes::TooFew { nodes, steps });
        }
        // The first pass gives topk candidates, each later one topk for each of topk.
        let most = 1 + topk + (steps - 1) * topk * topk;
        if nodes > most {
            return Err(NotSizes::TooMany { nodes, most, topk, steps });
        }
        Ok(Self { steps, topk, nodes })
    }

    /// Levels below the root.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Candidates for each draft pass.
    #[must_use]
    pub const fn topk(&self) -> u64 {
        self.topk
    }

    /// Verified tokens, the root included.
    #[must_use]
    pub const fn nodes(&self) -> u64 {
        self.nodes
    }
}
