//! The tree that an engine drafts by its sizes: a beam of the likeliest candidates, level by level.
//!
//! Source: Li et al. 2024 (EAGLE-2, arXiv 2406.16858), sections 4.1 and 4.2, as SGLang runs it.

use crate::domain::ranks::Ranks;
use crate::domain::shape::Sizes;
use crate::domain::tree::Tree;

/// A candidate of some draft pass.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its parent among the candidates, counted from 1; 0 is the root.
    parent: usize,
    rank: usize,
    /// How likely its path is taken to be.
    score: f64,
}

/// The tree of a beam that knows no more than how often each rank is accepted.
///
/// # Formula
///
/// ```text
/// pass 1 drafts topk candidates; pass 2, 3, … go on from the topk likeliest of the pass before, with topk candidates each
/// of all candidates the nodes - 1 likeliest are verified; likely: the product of the chances of ranks along the path
/// ```
///
/// A drafter ranks its candidates by its own confidence, so that no rank is taken before a lower one: where the chances of
/// ranks rise, each counts as the smallest up to it. In every round a drafter knows how sure it is there, which ranks do
/// not tell: its trees accept more.
///
/// # Examples
///
/// Two steps of two make 2 + 4 candidates; three are kept: 0.5, 0.25 below it, and 0.2.
///
/// ```
/// use specplan::{acceptance::beam::beam, domain::{ranks::Ranks, shape::Sizes}, units::Probability};
/// let ranks = Ranks::on_all_levels(&[0.5, 0.2].map(|p| Probability::new(p).unwrap()))?;
/// let tree = beam(&ranks, &Sizes::new(2, 2, 4)?);
/// assert_eq!(tree.paths(), [vec![0], vec![1], vec![0, 0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn beam(ranks: &Ranks, sizes: &Sizes) -> Tree {
    let [steps, topk, nodes] = [sizes.steps(), sizes.topk(), sizes.nodes()].map(|size| size as usize);
    let mut all: Vec<Candidate> = Vec::new();
    let mut front = vec![(0, 1.0)];
    for level in 1..=steps {
        let chances = falling(ranks.on(level), topk);
        let start = all.len();
        for &(parent, score) in &front {
            let child = |(at, chance): (usize, &f64)| Candidate { parent, rank: at + 1, score: score * chance };
            all.extend(chances.iter().enumerate().map(child));
        }
        front = likeliest(&all, start, topk).into_iter().map(|at| (at + 1, all[at].score)).collect();
    }
    let mut kept = likeliest(&all, 0, nodes - 1);
    kept.sort_unstable();
    // A parent is at least as likely as its child and comes before it, so that it is kept with it.
    let place = |parent: usize| match parent.checked_sub(1) {
        Some(at) => kept.binary_search(&at).map_or(0, |place| place + 1),
        None => 0,
    };
    let parents: Vec<usize> = kept.iter().map(|&at| place(all[at].parent)).collect();
    let order: Vec<usize> = kept.iter().map(|&at| all[at].rank).collect();
    Tree::with_ranks(&parents, &order).unwrap_or_else(|_| Tree::chain(0))
}

/// The chance of each of so many ranks, none above that of a lower one; 0 beyond those that are known.
fn falling(chances: &[f64], most: usize) -> Vec<f64> {
    let known = chances.iter().copied().chain(std::iter::repeat(0.0)).take(most);
    known
        .scan(1.0_f64, |least, chance| {
            *least = least.min(chance);
            Some(*least)
        })
        .collect()
}

/// The likeliest candidates from `start` on, the earlier of equals.
fn likeliest(all: &[Candidate], start: usize, most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (start..all.len()).collect();
    order.sort_by(|&a, &b| all[b].score.total_cmp(&all[a].score));
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acceptance::tree::accepted;
    use crate::units::Probability;

    fn tokens(chances: &[f64], sizes: (u64, u64, u64)) -> f64 {
        let chances: Vec<Probability> = chances.iter().map(|&chance| Probability::new(chance).unwrap()).collect();
        let ranks = Ranks::on_all_levels(&chances).unwrap();
        accepted(&beam(&ranks, &Sizes::new(sizes.0, sizes.1, sizes.2).unwrap()), &ranks).mean_tokens()
    }

    /// Figures of a beam written apart from this one in another language, and two steps of two by hand.
    #[test]
    fn a_beam_is_narrower_than_the_best_tree() {
        let assumed = [0.7, 0.11, 0.05, 0.025, 0.015, 0.01];
        let table = [((5, 2, 19), 3.472), ((8, 2, 31), 3.817), ((5, 4, 64), 4.024), ((3, 4, 37), 3.269)];
        for (sizes, expected) in table {
            assert!((tokens(&assumed, sizes) - expected).abs() < 5e-4, "{sizes:?}: {}", tokens(&assumed, sizes));
        }
        for (sizes, expected) in [((8, 2, 31), 2.686), ((10, 2, 39), 2.687)] {
            assert!(
                (tokens(&[0.4, 0.35], sizes) - expected).abs() < 5e-4,
                "{sizes:?}: {}",
                tokens(&[0.4, 0.35], sizes)
            );
        }
        // Both candidates of the first pass go on: 1 + 0.81 + 0.81^2.
        assert!((tokens(&[0.7, 0.11], (2, 2, 7)) - (1.0 + 0.81 + 0.81 * 0.81)).abs() < 1e-12);
    }

    /// Rank 2 is accepted more often, and still drafted after rank 1.
    #[test]
    fn ranks_are_taken_in_order() {
        assert!((tokens(&[0.2, 0.5], (1, 2, 2)) - 1.2).abs() < 1e-12);
    }
}
