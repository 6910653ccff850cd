//! The best tree of drafts for a deployment, and whether it beats the best chain.

use crate::acceptance::best_tree::BestTrees;
use crate::acceptance::tree::accepted;
use crate::domain::ranks::Ranks;
use crate::domain::shape::TreeShape;
use crate::domain::tree::Tree;
use crate::plan::round::{plain_step, round_of};
use crate::plan::setup::Setup;
use crate::plan::speedup::speedup;

/// How far trees are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Nodes, the root included.
    pub nodes: usize,
    /// Levels below the root.
    pub depth: usize,
    /// Children of a node.
    pub branch: usize,
}

/// A tree with what it gains.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeChoice {
    /// The tree; without a draft, plain decoding.
    pub tree: Tree,
    /// Tokens per pass, bonus included.
    pub tokens: f64,
    /// Speedup over plain decoding at equal batch.
    pub speedup: f64,
    /// Whether batch, drafter and all drafts of the tree fit in memory.
    pub fits: bool,
}

/// A tree and what it yields.
#[derive(Clone, Debug)]
struct Candidate {
    shape: TreeShape,
    tokens: f64,
}

/// The best trees of each depth and size, for any deployment: they depend on acceptance alone.
#[derive(Clone, Debug)]
pub struct Candidates {
    trees: Vec<Candidate>,
    chains: Vec<Candidate>,
}

impl Candidates {
    /// Finds them; O(depth^2 x nodes^2 x branch).
    #[must_use]
    pub fn new(ranks: &Ranks, bounds: Bounds) -> Self {
        let deepest = ranks.deepest().unwrap_or(bounds.depth).min(bounds.depth).min(bounds.nodes.saturating_sub(1));
        let candidate =
            |tree: Tree| Candidate { tokens: accepted(&tree, ranks).mean_tokens(), shape: TreeShape::Drawn(tree) };
        let of_depth = |depth| {
            let best = BestTrees::new(ranks, bounds.nodes, depth, bounds.branch);
            (2..=bounds.nodes).map(move |nodes| best.tree(nodes))
        };
        Self {
            trees: (1..=deepest).flat_map(of_depth).map(candidate).collect(),
            chains: (1..=deepest).map(Tree::chain).map(candidate).collect(),
        }
    }

    /// The tree with the largest speedup at a batch and context, plain decoding included.
    ///
    /// # Formula
    ///
    /// ```text
    /// maximise F(n, d) t_plain / t_round(n, d)
    /// t_round: one draft pass for each level, over the nodes that have children there, and a verification of n tokens
    /// ```
    ///
    /// The first found of equals, depth before nodes. (Sequoia, arXiv 2402.12374, section 3.3, with the price of this
    /// program in place of a table.)
    #[must_use]
    pub fn best(&self, setup: &Setup<'_>, batch: u64, context: u64) -> TreeChoice {
        pick(&self.trees, setup, batch, context)
    }

    /// The chain with the largest speedup, plain decoding included.
    #[must_use]
    pub fn best_chain(&self, setup: &Setup<'_>, batch: u64, context: u64) -> TreeChoice {
        pick(&self.chains, setup, batch, context)
    }
}

fn pick(candidates: &[Candidate], setup: &Setup<'_>, batch: u64, context: u64) -> TreeChoice {
    let (sequences, cached) = (batch as f64, context as f64);
    let plain = plain_step(setup, sequences, cached);
    let mut best: Option<(&Candidate, f64)> = None;
    for candidate in candidates {
        let Some(layout) = setup.layout_of(&candidate.shape) else { continue };
        let round = round_of(setup, &plain, sequences, cached, layout);
        let gain = speedup(candidate.tokens, plain.seconds(), round.seconds());
        if gain > best.map_or(1.0, |(_, most)| most) {
            best = Some((candidate, gain));
        }
    }
    match best {
        Some((Candidate { shape: TreeShape::Drawn(tree), tokens }, speedup)) => {
            let fits = setup.fits(&setup.memory_of(batch, context, tree.nodes() as u64 - 1));
            TreeChoice { tree: tree.clone(), tokens: *tokens, speedup, fits }
        }
        _ => TreeChoice {
            tree: Tree::chain(0),
            tokens: 1.0,
            speedup: 1.0,
            fits: setup.fits(&setup.base_memory(batch, context)),
        },
    }
}
