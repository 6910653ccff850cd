//! The law of A, the number of accepted drafts of a round.

use crate::units::Probability;

/// The distribution of accepted drafts on a chain, for any acceptance process.
///
/// Stored as survival `S_i = P(A >= i)` for i = 1..k: it never increases, and every moment follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    survival: Vec<f64>,
}

/// Why numbers are not a survival curve.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotASurvival {
    /// The chance of accepting at least i drafts grows with i.
    #[error("cumulative acceptance rises at position {position}: {before} to {here}")]
    Rises {
        /// Counted from 1.
        position: usize,
        /// One position earlier.
        before: f64,
        /// At the position.
        here: f64,
    },
}

impl Accepted {
    /// Every test passes with chance alpha: `S_i = alpha^i`.
    #[must_use]
    pub fn iid(alpha: Probability, k: u64) -> Self {
        Self::from_conditional((0..k).map(|_| alpha))
    }

    /// From the chance of each position given that all before it were accepted: `S_i = a_1 … a_i`.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{acceptance::accepted::Accepted, units::Probability};
    /// let law = Accepted::from_conditional([0.5, 0.5].map(|a| Probability::new(a).unwrap()));
    /// assert_eq!(law.survival(), [0.5, 0.25]);
    /// assert_eq!(law.pmf(), [0.5, 0.25, 0.25]);
    /// assert_eq!(law.mean_tokens(), 1.75);
    /// ```
    #[must_use]
    pub fn from_conditional(conditional: impl IntoIterator<Item = Probability>) -> Self {
        let mut reach = 1.0;
        let survival = conditional.into_iter().map(|a| {
            reach *= a.get();
            reach
        });
        Self { survival: survival.collect() }
    }

    /// From the share of rounds in which each position was accepted, as vLLM reports it.
    ///
    /// # Errors
    ///
    /// [`NotASurvival`] if a share exceeds the one before it.
    pub fn from_cumulative(cumulative: impl IntoIterator<Item = Probability>) -> Result<Self, NotASurvival> {
        let survival: Vec<f64> = cumulative.into_iter().map(Probability::get).collect();
        for (at, pair) in survival.windows(2).enumerate() {
            if pair[1] > pair[0] {
                return Err(NotASurvival::Rises { position: at + 2, before: pair[0], here: pair[1] });
            }
        }
        Ok(Self { survival })
    }

    /// `S_i` for i = 1..k.
    #[must_use]
    pub fn survival(&self) -> &[f64] {
        &self.survival
    }

    /// `a_i = S_i / S_(i-1)`; `None` after a position that is never accepted, where it has no meaning.
    #[must_use]
    pub fn conditional(&self) -> Vec<Option<f64>> {
        let before = std::iter::once(1.0).chain(self.survival.iter().copied());
        self.survival.iter().zip(before).map(|(here, before)| (before > 0.0).then(|| here / before)).collect()
    }

    /// `P(A = j)` for j = 0..k: `S_j - S_(j+1)`.
    #[must_use]
    pub fn pmf(&self) -> Vec<f64> {
        let before = std::iter::once(1.0).chain(self.survival.iter().copied());
        let after = self.survival.iter().copied().chain(std::iter::once(0.0));
        before.zip(after).map(|(at_least, more)| at_least - more).collect()
    }

    /// `E[A]`, the sum of the survival.
    #[must_use]
    pub fn mean_accepted(&self) -> f64 {
        self.survival.iter().rev().sum()
    }

    /// `E[T] = 1 + E[A]`.
    #[must_use]
    pub fn mean_tokens(&self) -> f64 {
        1.0 + self.mean_accepted()
    }

    /// `Var A = Var T`, summed about the mean: `E[A^2] - E[A]^2` would cancel.
    ///
    /// # Examples
    ///
    /// Accepting both drafts always, or neither, half the time each: A is 0 or 2.
    ///
    /// ```
    /// use specplan::{acceptance::accepted::Accepted, units::Probability};
    /// let law = Accepted::from_cumulative([0.5, 0.5].map(|s| Probability::new(s).unwrap()))?;
    /// assert_eq!(law.variance(), 1.0);
    /// # Ok::<(), specplan::acceptance::accepted::NotASurvival>(())
    /// ```
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean_accepted();
        self.pmf().iter().enumerate().map(|(j, chance)| chance * (j as f64 - mean).powi(2)).sum()
    }
}
