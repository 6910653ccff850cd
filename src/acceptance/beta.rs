//! Rounds or sequences whose alpha follows a Beta law.
//!
//! The direction of the effect depends on what varies: E_k is convex in alpha, so that an alpha that is drawn anew for
//! each round yields more than its mean would; sequences that keep their alpha, and all emit as many tokens, spend more
//! rounds where alpha is low, and yield less.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::chain::expected_tokens;
use crate::acceptance::quadrature::Nodes;
use crate::domain::beta::Beta;
use crate::units::Probability;

/// The law of accepted drafts where each round draws its alpha.
///
/// # Formula
///
/// ```text
/// S_i = (a)_i / (a + b)_i = product over j < i of (a + j) / (a + b + j)
/// E[T] = 1 + S_1 + … + S_k = (s - 1)/(b - 1) [1 - (a)_(k+1) / (s - 1)_(k+1)],   s = a + b
/// ```
///
/// The running product; the closed form cancels near b = 1 and s = 1.
///
/// # Examples
///
/// Beta(2, 2): 2/4, then 3/5 of those.
///
/// ```
/// use specplan::{acceptance::beta, domain::beta::Beta};
/// let law = beta::of_rounds(&Beta::new(2.0, 2.0)?, 2);
/// assert!((law.survival()[1] - 0.3).abs() < 1e-15);
/// assert!((law.mean_tokens() - 1.8).abs() < 1e-15);
/// # Ok::<(), specplan::domain::beta::NotABeta>(())
/// ```
#[must_use]
pub fn of_rounds(beta: &Beta, k: u64) -> Accepted {
    let conditional = (0..k).map(|j| (beta.a() + j as f64) / (beta.concentration() + j as f64));
    Accepted::from_conditional(conditional.map(Probability::nearest))
}

/// The law of accepted drafts over all rounds where each sequence keeps its alpha and all emit as many tokens.
///
/// # Formula
///
/// ```text
/// S_i  = E[alpha^i / E_k(alpha)] / E[1 / E_k(alpha)]
/// E[T] = 1 / E[1 / E_k(alpha)]
/// ```
///
/// A sequence of alpha takes rounds in proportion to `1 / E_k(alpha)`. Expectations over the Beta law by
/// double-exponential quadrature, to about 12 digits.
///
/// # Examples
///
/// Alpha spread evenly, k = 1: `E[1/(1 + alpha)] = ln 2`.
///
/// ```
/// use specplan::{acceptance::beta, domain::beta::Beta};
/// let law = beta::of_sequences(&Beta::new(1.0, 1.0)?, 1);
/// assert!((law.mean_tokens() - 1.0 / 2.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), specplan::domain::beta::NotABeta>(())
/// ```
#[must_use]
pub fn of_sequences(beta: &Beta, k: u64) -> Accepted {
    let nodes = Nodes::of(beta);
    let mut rounds: Vec<(f64, Probability)> =
        nodes.iter().map(|(weight, alpha)| (weight / expected_tokens(alpha, k), alpha)).collect();
    let all: f64 = rounds.iter().map(|(weight, _)| weight).sum();
    let survival = (0..k).map(|_| {
        let mut sum = 0.0;
        for (weight, alpha) in &mut rounds {
            *weight *= alpha.get();
            sum += *weight;
        }
        sum / all
    });
    Accepted::from_survival(survival.collect())
}

/// Tokens per pass where each sequence keeps its alpha and all emit as many tokens: `1 / E[1 / E_k(alpha)]`.
#[must_use]
pub fn tokens_of_sequences(beta: &Beta, k: u64) -> f64 {
    let inverse: f64 = Nodes::of(beta).iter().map(|(weight, alpha)| weight / expected_tokens(alpha, k)).sum();
    1.0 / inverse
}
