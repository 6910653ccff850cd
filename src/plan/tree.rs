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
}

/// The best trees of each depth, for any deployment: they depend on acceptance alone.
#[derive(Clone, Debug)]
pub struct Candidates<'r> {
    ranks: &'r Ranks,
    by_depth: Vec<BestTrees>,
    nodes: usize,
}

impl<'r> Candidates<'r> {
    /// Finds them; O(depth^2 x nodes^2 x branch).
    #[must_use]
    pub fn new(ranks: &'r Ranks, bounds: Bounds) -> Self {
        let deepest = ranks.deepest().unwrap_or(bounds.depth).min(bounds.depth).min(bounds.nodes.saturating_sub(1));
        let of = |depth| BestTrees::new(ranks, bounds.nodes, depth, bounds.branch);
        Self { ranks, by_depth: (1..=deepest).map(of).collect(), nodes: bounds.nodes }
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
    pub fn best(&self, setup: &Setup<'_>, batch: f64, context: f64) -> TreeChoice {
        let trees = self.by_depth.iter().flat_map(|best| (2..=self.nodes).map(|nodes| best.tree(nodes)));
        self.pick(setup, batch, context, trees)
    }

    /// The chain with the largest speedup, plain decoding included.
    #[must_use]
    pub fn best_chain(&self, setup: &Setup<'_>, batch: f64, context: f64) -> TreeChoice {
        self.pick(setup, batch, context, (1..=self.by_depth.len()).map(Tree::chain))
    }

    fn pick(&self, setup: &Setup<'_>, batch: f64, context: f64, trees: impl Iterator<Item = Tree>) -> TreeChoice {
        let plain = plain_step(setup, batch, context);
        let price = |tree: Tree| {
            let tokens = accepted(&tree, self.ranks).mean_tokens();
            let shape = TreeShape::Drawn(tree);
            let layout = setup.layout_of(&shape)?;
            let round = round_of(setup, &plain, batch, context, layout);
            let TreeShape::Drawn(tree) = shape else { return None };
            Some(TreeChoice { tree, tokens, speedup: speedup(tokens, plain.seconds(), round.seconds()) })
        };
        let off = TreeChoice { tree: Tree::chain(0), tokens: 1.0, speedup: 1.0 };
        trees.filter_map(price).fold(off, |best, next| if next.speedup > best.speedup { next } else { best })
    }
}
