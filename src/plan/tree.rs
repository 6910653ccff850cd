//! The best tree of drafts for a deployment, and whether it beats the best chain.

use crate::acceptance::best_tree::BestTrees;
use crate::acceptance::tree::accepted;
use crate::cost::pass::PassCost;
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
        // Where all levels are alike, the deepest search holds every shallower one.
        let shared = ranks.deepest().is_none().then(|| BestTrees::new(ranks, bounds.nodes, deepest, bounds.branch));
        let of_depth = |depth| -> Vec<Tree> {
            match &shared {
                Some(best) => (2..=bounds.nodes).map(|nodes| best.tree_of(nodes, depth)).collect(),
                None => {
                    let best = BestTrees::new(ranks, bounds.nodes, depth, bounds.branch);
                    (2..=bounds.nodes).map(|nodes| best.tree(nodes)).collect()
                }
            }
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
    /// Trees that fit in memory go before those that do not. Of each depth and number of nodes one tree is priced, that of
    /// the most tokens: one that drafts in narrower passes can be cheaper by some thousandths. The first found of equals,
    /// depth before nodes. (Sequoia, arXiv 2402.12374, section 3.3, with the price of this
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

/// The candidate of the largest speedup among those that fit, else among all; plain decoding where none gains.
fn pick(candidates: &[Candidate], setup: &Setup<'_>, batch: u64, context: u64) -> TreeChoice {
    let plain = plain_step(setup, batch as f64, context as f64);
    let off_fits = setup.fits(&setup.base_memory(batch, context));
    let mut best = TreeChoice { tree: Tree::chain(0), tokens: 1.0, speedup: 1.0, fits: off_fits };
    for Candidate { shape, tokens } in candidates {
        let TreeShape::Drawn(tree) = shape else { continue };
        let Some(gain) = gained(setup, &plain, shape, *tokens, batch, context) else { continue };
        // Where plain decoding fits and drafting does not, plain decoding stays.
        if (gain.fits, gain.speedup) > (best.fits, best.speedup) {
            best = TreeChoice { tree: tree.clone(), tokens: *tokens, speedup: gain.speedup, fits: gain.fits };
        }
    }
    best
}

/// What a tree of a given shape gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// Tokens per pass, bonus included.
    pub tokens: f64,
    /// Speedup over plain decoding at equal batch.
    pub speedup: f64,
    /// Whether batch, drafter and all drafts of the tree fit in memory.
    pub fits: bool,
}

/// What drafting a shape gains that yields so many tokens per pass; none without a drafter.
#[must_use]
pub fn gain(setup: &Setup<'_>, shape: &TreeShape, tokens: f64, batch: u64, context: u64) -> Option<Gain> {
    let plain = plain_step(setup, batch as f64, context as f64);
    gained(setup, &plain, shape, tokens, batch, context)
}

fn gained(
    setup: &Setup<'_>,
    plain: &PassCost,
    shape: &TreeShape,
    tokens: f64,
    batch: u64,
    context: u64,
) -> Option<Gain> {
    let round = round_of(setup, plain, batch as f64, context as f64, setup.layout_of(shape)?);
    let speedup = speedup(tokens, plain.seconds(), round.seconds(tokens));
    let fits = setup.fits(&setup.memory_of(batch, context, shape.nodes() - 1));
    Some(Gain { tokens, speedup, fits })
}
