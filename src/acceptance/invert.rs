//! From what engines print back to alpha.

use crate::acceptance::chain::expected_tokens;
use crate::units::Probability;

/// A mean that no alpha gives.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("no alpha gives {tokens} tokens per pass at k = {k}: 1 to k + 1 are possible, for k of 1 and more")]
pub struct NoAlpha {
    /// Draft length.
    pub k: u64,
    /// Tokens per pass.
    pub tokens: f64,
}

/// Halvings after which neighbouring floats are told apart.
const HALVINGS: u32 = 120;

/// The alpha at which independent tests give a mean of `tokens` at draft length k.
///
/// # Formula
///
/// ```text
/// E_k(alpha) = 1 + alpha + … + alpha^k = tokens
/// ```
///
/// E_k rises strictly from 1 to k + 1, so that the root is unique and halving the interval finds it.
///
/// # Errors
///
/// [`NoAlpha`] for k = 0, or a mean outside 1 to k + 1.
///
/// # Examples
///
/// ```
/// use specplan::acceptance::invert::alpha_of_mean_length;
/// assert!((alpha_of_mean_length(3.3616, 4)?.get() - 0.8).abs() < 1e-12);
/// # Ok::<(), specplan::acceptance::invert::NoAlpha>(())
/// ```
pub fn alpha_of_mean_length(tokens: f64, k: u64) -> Result<Probability, NoAlpha> {
    let none = NoAlpha { k, tokens };
    if k == 0 || !(1.0..=k as f64 + 1.0).contains(&tokens) {
        return Err(none);
    }
    if tokens <= 1.0 {
        return Ok(Probability::ZERO);
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let at = Probability::new(middle).map_err(|_| none)?;
        if expected_tokens(at, k) < tokens {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Both ends have met; the upper one reaches 1 where every draft is accepted.
    Probability::new(high).map_err(|_| none)
}

/// Accepted over drafted under independent tests: `(E_k - 1) / k`. Below alpha for k > 1.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::invert::acceptance_rate, units::Probability};
/// assert!((acceptance_rate(Probability::new(0.8)?, 4) - 0.5904).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn acceptance_rate(alpha: Probability, k: u64) -> f64 {
    (expected_tokens(alpha, k) - 1.0) / k as f64
}

/// The alpha at which independent tests accept a share of all drafts: that of `1 + k rate` tokens.
///
/// # Errors
///
/// [`NoAlpha`] for k = 0.
pub fn alpha_of_rate(rate: Probability, k: u64) -> Result<Probability, NoAlpha> {
    alpha_of_mean_length(1.0 + k as f64 * rate.get(), k)
}
