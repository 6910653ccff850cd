//! The law of A, the number of accepted drafts of a round.

use crate::units::Probability;

/// The distribution of accepted drafts on a chain, for any acceptance process.
///
/// Stored as survival `S_i = P(A >= i)` for i = 1..k, which never increases, and as mass
/// `P(A = j)` for j = 0..k: differences of a survival near 1 would cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    survival: Vec<f64>,
    mass: Vec<f64>,
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
    /// Every test passes with chance alpha: `S_i = alpha^i`, `P(A = j) = alpha^j (1 - alpha)` for j < k.
    #[must_use]
    pub fn iid(alpha: Probability, k: u64) -> Self {
        Self::from_conditional((0..k).map(|_| alpha))
    }

    /// From the chance of each position given that all before it were accepted: `S_i = a_1 … a_i`,
    /// `P(A = j) = S_j (1 - a_(j+1))`.
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
        let (mut survival, mut mass) = (Vec::new(), Vec::new());
        for a in conditional {
            mass.push(reach * (1.0 - a.get()));
            reach *= a.get();
            survival.push(reach);
        }
        mass.push(reach);
        Self { survival, mass }
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
        Ok(Self::from_survival(survival))
    }

    /// From a survival that a formula gives; rounding may let neighbours of equal size rise by an ulp.
    pub(super) fn from_survival(survival: Vec<f64>) -> Self {
        let before = std::iter::once(1.0).chain(survival.iter().copied());
        let after = survival.iter().copied().chain(std::iter::once(0.0));
        let mass = before.zip(after).map(|(at_least, more)| (at_least - more).max(0.0)).collect();
        Self { survival, mass }
    }

    /// From survival and mass that belong together.
    pub(super) const fn of(survival: Vec<f64>, mass: Vec<f64>) -> Self {
        Self { survival, mass }
    }

    /// Accepted over tested drafts: what a maximum-likelihood alpha of such rounds tends to. None at k = 0.
    ///
    /// # Formula
    ///
    /// ```text
    /// (S_1 + … + S_k) / (1 + S_1 + … + S_(k-1))
    /// ```
    ///
    /// # Examples
    ///
    /// Equal to alpha for independent tests:
    ///
    /// ```
    /// use specplan::{acceptance::accepted::Accepted, units::Probability};
    /// let law = Accepted::iid(Probability::new(0.5)?, 3);
    /// assert_eq!(law.tested_acceptance(), Some(0.5));
    /// # Ok::<(), specplan::units::NotAProbability>(())
    /// ```
    #[must_use]
    pub fn tested_acceptance(&self) -> Option<f64> {
        let (last, _) = self.survival.split_last()?;
        Some(self.mean_accepted() / (self.mean_tokens() - last))
    }

    /// Accepted over drafted, which engines print: `(S_1 + … + S_k) / k`. None at k = 0.
    #[must_use]
    pub fn acceptance_rate(&self) -> Option<f64> {
        (!self.survival.is_empty()).then(|| self.mean_accepted() / self.survival.len() as f64)
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

    /// `P(A = j)` for j = 0..k.
    #[must_use]
    pub fn pmf(&self) -> &[f64] {
        &self.mass
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
        self.mass.iter().enumerate().map(|(j, chance)| chance * (j as f64 - mean).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Var T = [a - (2k+1)(1-a)a^(k+1) - a^(2k+2)] / (1-a)^2, worked out in 60 digits with Python's
    /// `decimal` from the exact value of the binary alpha.
    #[test]
    fn the_variance_keeps_its_digits_near_alpha_one() {
        for (alpha, k, expected) in VARIANCES {
            let law = Accepted::iid(Probability::new(alpha).unwrap(), k);
            let error = (law.variance() / expected - 1.0).abs();
            assert!(error < 1e-12, "alpha {alpha}, k {k}: {} and {expected}", law.variance());
        }
    }

    const VARIANCES: [(f64, u64, f64); 5] = [
        (0.999999, 100, 0.33831616685532134),
        (0.999999999, 1000, 0.33383315672524616),
        (0.999999999, 100, 0.00033834995659581227),
        (0.5, 12, 1.9938964247703552),
        (0.999999999999, 8, 2.039954871674633e-10),
    ];
}
