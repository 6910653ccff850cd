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
    -((k as f64 + 1.0) * log(a)).exp_m1() / (1.0 - a)
}

/// `ln a` with all its digits, also near a = 1.
fn log(a: f64) -> f64 {
    if a < 0.5 { a.ln() } else { (a - 1.0).ln_1p() }
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
    first_with_mass(alpha, level).map_or(k, |first| first.min(k))
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
    first_with_mass(alpha, fraction).ok_or(Unbounded)
}

/// The smallest j with `1 - alpha^(j+1) >= level`; none if there is none.
///
/// Decimals such as 0.9 are not exact in binary, so that `1 - 0.1 >= 0.9` may miss by a rounding: a
/// level counts as reached within two roundings of 1.
fn first_with_mass(alpha: Probability, level: Probability) -> Option<u64> {
    const SLACK: f64 = 2.0 * f64::EPSILON;
    let (a, level) = (alpha.get(), level.get());
    let beyond = |j: u64| if j < 64 { a.powi(j as i32 + 1) } else { ((j as f64 + 1.0) * log(a)).exp() };
    let reached = |j: u64| 1.0 - beyond(j) >= level - SLACK;
    if reached(0) {
        return Some(0);
    }
    if a >= 1.0 || level >= 1.0 {
        return None;
    }
    // The logarithm finds j up to rounding; a step or two settles it.
    let mut j = ((1.0 - level).ln() / log(a) - 1.0).round().max(1.0) as u64;
    while !reached(j) {
        j += 1;
    }
    while j > 0 && reached(j - 1) {
        j -= 1;
    }
    Some(j)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels that are exact sums in decimals: P(A <= j) at alpha = n / 10, as fractions of 10^(j+1).
    #[test]
    fn quantiles_are_right_where_decimals_meet_exactly() {
        for tenths in 1..10_u32 {
            for j in 0..7_u32 {
                let whole = 10_u64.pow(j + 1);
                let level = (whole - u64::from(tenths).pow(j + 1)) as f64 / whole as f64;
                let (alpha, level) = (f64::from(tenths) / 10.0, Probability::new(level).unwrap());
                let alpha = Probability::new(alpha).unwrap();
                assert_eq!(accepted_quantile(alpha, 100, level), u64::from(j), "alpha {tenths}/10, j {j}");
                assert_eq!(k_for_fraction(alpha, level), Ok(u64::from(j)), "alpha {tenths}/10, j {j}");
            }
        }
    }

    #[test]
    fn certainty_takes_the_whole_chain() {
        let p = |value: f64| Probability::new(value).unwrap();
        assert_eq!(accepted_quantile(p(0.1), 500, Probability::ONE), 500);
        assert_eq!(accepted_quantile(Probability::ONE, 9, p(0.5)), 9);
        assert_eq!(accepted_quantile(Probability::ZERO, 9, Probability::ONE), 0);
        assert_eq!(k_for_fraction(p(0.5), Probability::ONE), Err(Unbounded));
        assert_eq!(k_for_fraction(Probability::ONE, Probability::ZERO), Ok(0));
        // (ln 0.5 / ln(1 - 2^-52)) - 1 = 3121657384082678.26 in 60 digits; the slack on a level is worth a few steps.
        let long = accepted_quantile(p(1.0 - f64::EPSILON), u64::MAX, p(0.5));
        assert!(long.abs_diff(3_121_657_384_082_679) < 10, "{long}");
    }
}
