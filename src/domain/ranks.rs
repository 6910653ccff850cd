//! How often the first, second, … candidate for a position is accepted.

use crate::units::Probability;

/// How often the first, second, … candidate for a position is the accepted one, given that the path to it is; of
/// each level, or the same on all.
///
/// # Examples
///
/// ```
/// use specplan::{domain::ranks::Ranks, units::Probability};
/// let p = |chances: &[f64]| chances.iter().map(|&chance| Probability::new(chance).unwrap()).collect::<Vec<_>>();
/// let ranks = Ranks::on_all_levels(&p(&[0.6, 0.2]))?;
/// assert_eq!((ranks.chance(7, 2), ranks.chance(1, 3)), (0.2, 0.0));
/// assert!(Ranks::on_all_levels(&p(&[0.6, 0.5])).is_err());
/// # Ok::<(), specplan::domain::ranks::NotRanks>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    levels: Vec<Vec<f64>>,
    repeats: bool,
}

/// What are no chances of ranks.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotRanks {
    /// No level, or a level without ranks.
    #[error("at least one rank is due")]
    Empty,
    /// More than one candidate of a position would be accepted.
    #[error("the chances of a position's candidates sum to {sum}: one of them is accepted at most")]
    Sum {
        /// What they sum to.
        sum: f64,
    },
}

impl Ranks {
    const SLACK: f64 = 1e-9;

    /// The same chances on every level.
    ///
    /// # Errors
    ///
    /// [`NotRanks`] for no rank, or chances that sum to more than 1.
    pub fn on_all_levels(chances: &[Probability]) -> Result<Self, NotRanks> {
        Self::checked(&[chances.to_vec()], true)
    }

    /// Chances of each level; below the last no draft is accepted, as below the last Medusa head.
    ///
    /// # Errors
    ///
    /// [`NotRanks`] for a level without ranks, or chances that sum to more than 1.
    pub fn by_level(levels: &[Vec<Probability>]) -> Result<Self, NotRanks> {
        Self::checked(levels, false)
    }

    fn checked(levels: &[Vec<Probability>], repeats: bool) -> Result<Self, NotRanks> {
        if levels.is_empty() || levels.iter().any(Vec::is_empty) {
            return Err(NotRanks::Empty);
        }
        let levels: Vec<Vec<f64>> =
            levels.iter().map(|level| level.iter().map(|chance| chance.get()).collect()).collect();
        let sums = levels.iter().map(|level| level.iter().sum::<f64>());
        match sums.into_iter().find(|sum| *sum > 1.0 + Self::SLACK) {
            Some(sum) => Err(NotRanks::Sum { sum }),
            None => Ok(Self { levels, repeats }),
        }
    }

    /// The chance of a rank, from 1, on a level, from 1.
    #[must_use]
    pub fn chance(&self, level: usize, rank: usize) -> f64 {
        self.on(level).get(rank.wrapping_sub(1)).copied().unwrap_or(0.0)
    }

    /// The chances of a level, from 1; none below the last.
    #[must_use]
    pub fn on(&self, level: usize) -> &[f64] {
        let at = if self.repeats { 0 } else { level.wrapping_sub(1) };
        self.levels.get(at).map_or(&[], Vec::as_slice)
    }

    /// Levels that can be drafted; none: no end of them.
    #[must_use]
    pub fn deepest(&self) -> Option<usize> {
        (!self.repeats).then_some(self.levels.len())
    }

    /// The chances as given: of every level, or one list for all.
    #[must_use]
    pub fn levels(&self) -> &[Vec<f64>] {
        &self.levels
    }

    /// The most candidates of a position that can be accepted.
    #[must_use]
    pub fn most(&self) -> usize {
        self.levels.iter().map(Vec::len).max().unwrap_or(0)
    }
}
