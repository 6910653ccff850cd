//! Speedup: decode time for each token, plain over speculative, at equal batch. Prefill plays no part.

use crate::units::Seconds;

/// What speculation gains.
///
/// # Formula
///
/// ```text
/// s = tokens_per_pass * t_plain / t_round
/// ```
///
/// Leviathan et al. 2023 (arXiv 2211.17192), Theorem 3.8. Above 1 is faster; exactly 1 at k = 0, where
/// one token is emitted by a round that is the plain step.
///
/// # Examples
///
/// 3.36 tokens in a round of 10 ms, against 5 ms for each plain token:
///
/// ```
/// use specplan::{plan::speedup::speedup, units::Seconds};
/// assert_eq!(speedup(3.36, Seconds::new(0.005), Seconds::new(0.010)), 1.68);
/// ```
#[must_use]
pub fn speedup(tokens_per_pass: f64, plain_step: Seconds, round: Seconds) -> f64 {
    tokens_per_pass * plain_step.get() / round.get()
}

/// The gain when a draft costs `cost_ratio` plain steps and verification `verify_ratio` of one.
///
/// # Formula
///
/// ```text
/// s = tokens_per_pass / (k c + v)
/// ```
///
/// Leviathan et al. 2023 (arXiv 2211.17192), Theorem 3.8, where v = 1.
///
/// # Examples
///
/// alpha = 0.8 and k = 4 emit 3.3616 tokens; with c = 0.05 the round takes 1.2 steps.
///
/// ```
/// use specplan::{acceptance::chain::expected_tokens, plan::speedup::constant_cost, units::Probability};
/// let tokens = expected_tokens(Probability::new(0.8)?, 4);
/// assert!((constant_cost(tokens, 4, 0.05, 1.0) - 3.3616 / 1.2).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn constant_cost(tokens_per_pass: f64, k: u64, cost_ratio: f64, verify_ratio: f64) -> f64 {
    tokens_per_pass / (k as f64 * cost_ratio + verify_ratio)
}
