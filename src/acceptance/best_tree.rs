//! The tree that yields the most tokens for a number of nodes and a depth.
//!
//! Source: Chen et al. 2024 (Sequoia, arXiv 2402.12374), section 3.1, with chances of ranks that may differ by level.

use crate::domain::ranks::Ranks;
use crate::domain::tree::Tree;

/// The best trees of up to some nodes and exactly some depth limit.
///
/// # Formula
///
/// ```text
/// F(n, l) = 1 + G(n - 1, l, 1)
/// G(m, l, r) = max(0, max over 1 <= y <= m of p_r F(y, l + 1) + G(m - y, l, r + 1)),   0 for l >= depth or r > branch
/// ```
///
/// F: tokens below a node on level l with n nodes, itself included; children fill ranks in order. Where chances do not
/// fall with rank, taking the n best nodes would miss trees whose first child only opens the way to a second.
///
/// # Examples
///
/// The second candidate is the better one, and cannot be had without the first:
///
/// ```
/// use specplan::{acceptance::best_tree::BestTrees, domain::ranks::Ranks, units::Probability};
/// let ranks = Ranks::on_all_levels(&[0.2, 0.5].map(|p| Probability::new(p).unwrap()))?;
/// let best = BestTrees::new(&ranks, 6, 3, 2);
/// assert!((best.tokens(6) - 2.1).abs() < 1e-12);
/// assert_eq!(best.tree(6).paths(), [vec![0], vec![1], vec![1, 0], vec![1, 1], vec![1, 1, 0]]);
/// # Ok::<(), specplan::domain::ranks::NotRanks>(())
/// ```
#[derive(Clone, Debug)]
pub struct BestTrees {
    /// Of each level: tokens below a node there, by nodes.
    tokens: Vec<Vec<f64>>,
    /// Of each level, by nodes for children and by rank: nodes that the child of this rank gets.
    shares: Vec<Vec<Vec<usize>>>,
}

impl BestTrees {
    /// Trees of up to `nodes` nodes, the root included, `depth` levels and `branch` children of each node.
    ///
    /// O(depth x nodes^2 x branch).
    #[must_use]
    pub fn new(ranks: &Ranks, nodes: usize, depth: usize, branch: usize) -> Self {
        let depth = ranks.deepest().map_or(depth, |deepest| depth.min(deepest)).min(nodes.saturating_sub(1));
        let mut tokens = vec![vec![1.0; nodes + 1]];
        let mut shares = Vec::new();
        for level in (1..=depth).rev() {
            let chances: Vec<f64> = ranks.on(level).iter().take(branch).copied().collect();
            let (of_children, share) = divided(&chances, &tokens[tokens.len() - 1], nodes);
            tokens.push(std::iter::once(1.0).chain(of_children.iter().map(|more| 1.0 + more)).collect());
            shares.push(share);
        }
        tokens.reverse();
        shares.reverse();
        Self { tokens, shares }
    }

    /// Tokens per pass of the best tree of at most so many nodes.
    #[must_use]
    pub fn tokens(&self, nodes: usize) -> f64 {
        self.tokens[0][nodes.clamp(1, self.tokens[0].len() - 1)]
    }

    /// That tree; of several the one with the fewest nodes in its first children.
    #[must_use]
    pub fn tree(&self, nodes: usize) -> Tree {
        self.tree_of(nodes, self.shares.len())
    }

    /// The best tree of fewer levels, where all levels have the same chances: what lies below a node of that height.
    #[must_use]
    pub fn tree_of(&self, nodes: usize, levels: usize) -> Tree {
        let mut paths = Vec::new();
        let shares = &self.shares[self.shares.len().saturating_sub(levels)..];
        grow(shares, &mut Vec::new(), nodes.clamp(1, self.tokens[0].len() - 1), &mut paths);
        // Paths from a recursion always have their beginnings.
        Tree::of_paths(&paths).unwrap_or_else(|_| Tree::chain(0))
    }
}

/// Adds the paths below one, level by level of what children get.
fn grow(shares: &[Vec<Vec<usize>>], at: &mut Vec<usize>, nodes: usize, paths: &mut Vec<Vec<usize>>) {
    let Some(shares_here) = shares.get(at.len()) else { return };
    let mut left = nodes - 1;
    for (rank, by_nodes) in shares_here.iter().enumerate() {
        let given = by_nodes[left];
        if given == 0 {
            return;
        }
        at.push(rank);
        paths.push(at.clone());
        grow(shares, at, given, paths);
        at.pop();
        left -= given;
    }
}

/// The best way to divide nodes among children: tokens by nodes, and by rank and nodes what the child of that rank gets.
fn divided(chances: &[f64], below: &[f64], nodes: usize) -> (Vec<f64>, Vec<Vec<usize>>) {
    let mut later = vec![0.0; nodes];
    let mut shares = Vec::new();
    for &chance in chances.iter().rev() {
        let mut best = vec![0.0; nodes];
        let mut share = vec![0; nodes];
        for left in 1..nodes {
            for given in 1..=left {
                let tokens = chance * below[given] + later[left - given];
                if tokens > best[left] {
                    (best[left], share[left]) = (tokens, given);
                }
            }
        }
        later = best;
        shares.push(share);
    }
    shares.reverse();
    (later, shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acceptance::tree::accepted;
    use crate::rng::Generator;
    use crate::units::Probability;

    fn ranks(levels: &[Vec<f64>]) -> Ranks {
        let p = |level: &Vec<f64>| level.iter().map(|&chance| Probability::new(chance).unwrap()).collect();
        Ranks::by_level(&levels.iter().map(p).collect::<Vec<Vec<Probability>>>()).unwrap()
    }

    /// Every tree of so many nodes whose children fill ranks in order: node by node, each hung on any earlier one.
    fn exhaustive(ranks: &Ranks, nodes: usize, depth: usize, branch: usize, parents: &mut Vec<usize>) -> f64 {
        let here = Tree::new(parents).unwrap();
        let allowed = here.depth() <= depth && here.widest_branching() <= branch;
        if !allowed {
            return 0.0;
        }
        let mut best = accepted(&here, ranks).mean_tokens();
        if parents.len() + 1 < nodes {
            // Parents in rising order are enough: any tree can be numbered that way.
            for parent in parents.last().copied().unwrap_or(0)..=parents.len() {
                parents.push(parent);
                best = best.max(exhaustive(ranks, nodes, depth, branch, parents));
                parents.pop();
            }
        }
        best
    }

    #[test]
    fn the_best_tree_equals_an_exhaustive_search_up_to_nine_nodes() {
        let mut generator = Generator::from_seed(5);
        for case in 0..40 {
            let level = |generator: &mut Generator| {
                let weights: Vec<f64> = (0..3).map(|_| generator.uniform()).collect();
                let sum = weights.iter().sum::<f64>() * (1.0 + 0.3 * generator.uniform());
                weights.iter().map(|weight| weight / sum).collect::<Vec<f64>>()
            };
            let levels: Vec<Vec<f64>> = (0..4).map(|_| level(&mut generator)).collect();
            let ranks = ranks(&levels);
            let (nodes, depth, branch) = (2 + case % 8, 1 + case / 10, 1 + case % 3);
            let best = BestTrees::new(&ranks, nodes, depth, branch);
            let found = exhaustive(&ranks, nodes, depth, branch, &mut Vec::new());
            assert!((best.tokens(nodes) - found).abs() < 1e-12, "case {case}: {} and {found}", best.tokens(nodes));
            // The tree that is shown is the one that is priced.
            let tree = best.tree(nodes);
            assert!(tree.nodes() <= nodes && tree.depth() <= depth && tree.widest_branching() <= branch);
            assert!((accepted(&tree, &ranks).mean_tokens() - found).abs() < 1e-12);
        }
    }

    /// The same vector on all levels, where the greedy choice of the best nodes fails.
    #[test]
    fn chances_that_rise_with_rank_are_searched_too() {
        for chances in [vec![0.2, 0.5], vec![0.0, 0.9], vec![0.1, 0.1, 0.7]] {
            let ranks = ranks(&vec![chances; 8]);
            for nodes in 1..=9 {
                let best = BestTrees::new(&ranks, nodes, 8, 3).tokens(nodes);
                let found = exhaustive(&ranks, nodes, 8, 3, &mut Vec::new());
                assert!((best - found).abs() < 1e-12, "{nodes} nodes: {best} and {found}");
            }
        }
    }
}
