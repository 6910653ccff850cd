//! What a tree of drafts yields.
//!
//! Sources: Chen et al. 2024 (Sequoia, arXiv 2402.12374), section 3.1, positional acceptance; Cai et al. 2024 (Medusa,
//! arXiv 2401.10774), where chances differ by level.

use crate::acceptance::accepted::Accepted;
use crate::domain::ranks::Ranks;
use crate::domain::tree::Tree;

/// The chance that each node is accepted: the product of the chances of ranks along the path to it; 1 of the root.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::tree::scores, domain::{ranks::Ranks, tree::Tree}, units::Probability};
/// let ranks = Ranks::on_all_levels(&[0.5, 0.25].map(|p| Probability::new(p).unwrap()))?;
/// assert_eq!(scores(&Tree::new(&[0, 0, 1])?, &ranks), [1.0, 0.5, 0.25, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn scores(tree: &Tree, ranks: &Ranks) -> Vec<f64> {
    let mut scores: Vec<f64> = vec![1.0];
    for (parent, rank, level) in tree.iter().skip(1) {
        scores.push(scores[parent] * ranks.chance(level, rank));
    }
    scores
}

/// The law of accepted drafts on a tree.
///
/// # Formula
///
/// ```text
/// S_d = sum of the scores on level d        E[T] = sum of all scores
/// ```
///
/// # Examples
///
/// Three nodes below the root: 1 + 0.5 + 0.25, and 0.25 one level down.
///
/// ```
/// use specplan::{acceptance::tree::accepted, domain::{ranks::Ranks, tree::Tree}, units::Probability};
/// let ranks = Ranks::on_all_levels(&[0.5, 0.25].map(|p| Probability::new(p).unwrap()))?;
/// let law = accepted(&Tree::new(&[0, 0, 1])?, &ranks);
/// assert_eq!((law.survival(), law.mean_tokens()), (&[0.75, 0.25][..], 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn accepted(tree: &Tree, ranks: &Ranks) -> Accepted {
    let mut survival = vec![0.0; tree.depth()];
    for (score, (_, _, level)) in scores(tree, ranks).into_iter().zip(tree.iter()).skip(1) {
        survival[level - 1] += score;
    }
    Accepted::from_survival(survival)
}
