//! Chains of k drafts, each accepted with the same chance alpha given all before it were.
//!
//! Sources: Leviathan et al. 2023 (arXiv 2211.17192), Equation 1; Chen et al. 2023 (arXiv 2302.01318).

use crate::units::Probability;

/// Longest chain summed term by term; beyond it the closed form is as accurate and takes no loop.
const LONGEST_SUM: u64 = 1024;

/// Expected tokens per target pass, the target's own token included.
///
/// # Formula
///
/// ```text
/// E_k(a) = 1 + a + a^2 + … + a^k = (1 - a^(k+1)) / (1 - a)
/// ```
///
/// Summed by Horner's rule up to k = 1024: all terms are positive, so nothing cancels and alpha = 1
/// gives k + 1 exactly. Beyond, `-expm1((k+1) log1p(-e)) / e` with `e = 1 - alpha`, which unlike the
/// quotient above keeps its digits as alpha nears 1.
///
/// # Examples
///
/// 1 + 0.8 + 0.64 + 0.512 + 0.4096:
///
/// ```
/// use specplan::{acceptance::chain::expected_tokens, units::Probability};
/// assert!((expected_tokens(Probability::new(0.8)?, 4) - 3.3616).abs() < 1e-12);
/// assert_eq!(expected_tokens(Probability::ONE, 4), 5.0);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn expected_tokens(alpha: Probability, k: u64) -> f64 {
    let a = alpha.get();
    if k <= LONGEST_SUM {
        return (0..k).fold(1.0, |sum, _| 1.0 + a * sum);
    }
    if a >= 1.0 {
        return k as f64 + 1.0;
    }
    let log = if a < 0.5 { a.ln() } else { (a - 1.0).ln_1p() };
    -((k as f64 + 1.0) * log).exp_m1() / (1.0 - a)
}

/// A quantity grows without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no finite value: every draft is accepted")]
pub struct Unbounded;

/// What [`expected_tokens`] tends to for long chains: `1 / (1 - alpha)`.
///
/// # Errors
///
/// [`Unbounded`] at alpha = 1.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::chain::expected_tokens_limit, units::Probability};
/// assert_eq!(expected_tokens_limit(Probability::new(0.75)?), Ok(4.0));
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
pub fn expected_tokens_limit(alpha: Probability) -> Result<f64, Unbounded> {
    if alpha == Probability::ONE { Err(Unbounded) } else { Ok(1.0 / (1.0 - alpha.get())) }
}

/// How fast tokens grow with alpha.
///
/// # Formula
///
/// ```text
/// dE_k/da = sum over i = 1..k of i a^(i-1);  k (k + 1) / 2 at a = 1
/// ```
///
/// Summed from the highest power down, all terms positive; O(k).
///
/// # Examples
///
/// At alpha = 1 and k = 6: 1 + 2 + 3 + 4 + 5 + 6.
///
/// ```
/// use specplan::{acceptance::chain::expected_tokens_derivative, units::Probability};
/// assert_eq!(expected_tokens_derivative(Probability::ONE, 6), 21.0);
/// ```
#[must_use]
pub fn expected_tokens_derivative(alpha: Probability, k: u64) -> f64 {
    (1..=k).rev().fold(0.0, |sum, i| i as f64 + alpha.get() * sum)
}

/// The smallest number of accepted drafts j with P(A <= j) >= `level`.
///
/// `P(A <= j) = 1 - alpha^(j+1)` below k, and 1 at k.
///
/// # Examples
///
/// At alpha = 0.6: P(A <= 0) = 0.4, P(A <= 1) = 0.64.
///
/// ```
/// use specplan::{acceptance::chain::accepted_quantile, units::Probability};
/// assert_eq!(accepted_quantile(Probability::new(0.6)?, 4, Probability::new(0.5)?), 1);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn accepted_quantile(alpha: Probability, k: u64, level: Probability) -> u64 {
    let mut above = alpha.get();
    for accepted in 0..k {
        if above <= 1.0 - level.get() {
            return accepted;
        }
        above *= alpha.get();
    }
    k
}

/// The shortest chain that yields `fraction` of the limit `1 / (1 - alpha)`: the smallest k with
/// `1 - alpha^(k+1) >= fraction`.
///
/// # Errors
///
/// [`Unbounded`] where no chain does: at alpha = 1, or for all of the limit at alpha > 0.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::chain::k_for_fraction, units::Probability};
/// // 0.5^5 = 0.03125 leaves less than 5 %, 0.5^4 = 0.0625 does not.
/// assert_eq!(k_for_fraction(Probability::new(0.5)?, Probability::new(0.95)?), Ok(4));
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
pub fn k_for_fraction(alpha: Probability, fraction: Probability) -> Result<u64, Unbounded> {
    let (a, left) = (alpha.get(), 1.0 - fraction.get());
    if a <= left {
        return Ok(0);
    }
    if a >= 1.0 || left <= 0.0 {
        return Err(Unbounded);
    }
    let reached = |k: u64| ((k as f64 + 1.0) * a.ln()).exp() <= left * (1.0 + 4.0 * f64::EPSILON);
    let mut k = ((left.ln() / a.ln()) - 1.0).ceil().max(0.0) as u64;
    while k > 0 && reached(k - 1) {
        k -= 1;
    }
    while !reached(k) {
        k += 1;
    }
    Ok(k)
}
