//! What acceptance pays for its cost, and the best draft length where drafts cost a constant share of a step.

use crate::acceptance::chain::expected_tokens;
use crate::acceptance::invert::alpha_of_mean_length;
use crate::plan::candidate::Here;
use crate::plan::round::{plain_step, round};
use crate::plan::setup::Setup;
use crate::plan::speedup::constant_cost;
use crate::units::Probability;

/// Tokens per pass that a round of k drafts has to yield to be as fast as plain decoding: its time over a plain step's.
///
/// # Formula
///
/// ```text
/// R = (k t_draft + t_verify(k + 1) + overhead) / (t_plain - t_token)
/// ```
///
/// A number of tokens, at least 1 up to rounding, of rounds in which all sequences propose; by the price in force. Equal to
/// tokens per pass over the speedup.
#[must_use]
pub fn tokens_to_pay(setup: &Setup<'_>, batch: f64, context: f64, k: u64) -> f64 {
    let plain = plain_step(setup, batch, context);
    let round = round(setup, &plain, batch, context, k, 1.0);
    // A plain step takes longer than its one token.
    round.tokens_within(plain.seconds()).unwrap_or(f64::INFINITY)
}

/// The alpha at which drafts of length k bring so many tokens per pass; none where even certain drafts do not.
///
/// # Formula
///
/// ```text
/// alpha = E_k^-1(R), R <= k + 1
/// ```
///
/// # Examples
///
/// One draft at a fifth of a step costs 1.2 steps a round: alpha 0.2 pays for it. At 1.1 steps a draft none does:
///
/// ```
/// use specplan::plan::breakeven::alpha_to_pay;
/// assert!((alpha_to_pay(1.2, 1).unwrap().get() - 0.2).abs() < 1e-12);
/// assert_eq!(alpha_to_pay(1.0 + 3.0 * 1.1, 3), None);
/// ```
#[must_use]
pub fn alpha_to_pay(tokens: f64, k: u64) -> Option<Probability> {
    // A round that costs less than a step, by rounding or since drafting saves work, pays at any acceptance.
    alpha_of_mean_length(tokens.max(1.0), k).ok()
}

/// The best draft length where each draft costs the share `cost` of a step and verification costs one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantCost {
    /// Draft length; 0: do not speculate. The smallest of equals.
    pub k: u64,
    /// Speedup there.
    pub speedup: f64,
    /// The best k if it could be any number; below 0 where nothing gains, none where it is 0 or without end.
    pub continuous: Option<f64>,
}

/// What a rule for constant costs says of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleOfThumb {
    /// Its alpha.
    pub alpha: f64,
    /// A draft pass over a plain step at batch 1.
    pub cost: f64,
    /// The best length where drafts always cost that.
    pub best: ConstantCost,
}

/// The rule at its own cost and alpha; none for drafters without passes of one draft each, or without a single alpha.
#[must_use]
pub fn rule_of_thumb(here: &Here<'_, '_>) -> Option<RuleOfThumb> {
    let setup = &here.candidate.setup;
    let alpha = here.candidate.process(here.context).alpha()?;
    let longest = here.lengths.last()?.k;
    setup.layout(longest, 1.0).filter(|layout| layout.draft_passes >= longest as f64 && longest > 1)?;
    let plain = plain_step(setup, 1.0, here.context as f64);
    let cost = round(setup, &plain, 1.0, here.context as f64, 1, 1.0).draft.get() / plain.seconds().get();
    let best = best_at_constant_cost(Probability::new(alpha).ok()?, cost, longest);
    Some(RuleOfThumb { alpha, cost, best })
}

/// Finds it, up to `k_max`.
///
/// # Formula
///
/// ```text
/// maximise E_k(alpha) / (1 + k c)      continuous: L alpha^(k+1) (1 + k c) = c (1 - alpha^(k+1)),  L = -ln alpha
/// ```
///
/// The quotient is concave over linear, so that it rises up to one peak and falls behind it: the search may stop at the
/// first k that does not gain (Leviathan et al. 2023, arXiv 2211.17192, section 3.5).
///
/// # Examples
///
/// ```
/// use specplan::{plan::breakeven::best_at_constant_cost, units::Probability};
/// let best = best_at_constant_cost(Probability::new(0.8)?, 0.05, 100);
/// assert_eq!(best.k, 8);
/// assert!((best.continuous.unwrap() - 7.856_654).abs() < 1e-6);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn best_at_constant_cost(alpha: Probability, cost: f64, k_max: u64) -> ConstantCost {
    let at = |k: u64| constant_cost(expected_tokens(alpha, k), k, cost, 1.0);
    let mut best = (0, 1.0);
    for k in 1..=k_max {
        let speedup = at(k);
        if speedup <= best.1 {
            break;
        }
        best = (k, speedup);
    }
    ConstantCost { k: best.0, speedup: best.1, continuous: continuous(alpha.get(), cost) }
}

/// The root of the derivative; it falls from above 0 at k = -1 to `-cost`.
fn continuous(alpha: f64, cost: f64) -> Option<f64> {
    let inside = |share: f64| share > 0.0 && share < 1.0;
    if !inside(alpha) || !inside(cost) {
        return None;
    }
    let log = -alpha.ln();
    let slope = |k: f64| {
        let left = (-log * (k + 1.0)).exp();
        log * left * (1.0 + k * cost) + cost * (-log * (k + 1.0)).exp_m1()
    };
    let (mut low, mut reach) = (-1.0, 1.0);
    while slope(low + reach) > 0.0 {
        (low, reach) = (low + reach, 2.0 * reach);
    }
    let mut high = low + reach;
    // As many halvings as a double has digits, and some.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether anything gains is decided by k = 1: by alpha > cost. Against every k, one by one.
    #[test]
    fn the_peak_is_where_a_full_scan_finds_it() {
        for tenths in 1..10_u32 {
            for hundredths in (1..100_u32).step_by(7) {
                let (alpha, cost) = (f64::from(tenths) / 10.0, f64::from(hundredths) / 100.0);
                let best = best_at_constant_cost(Probability::new(alpha).unwrap(), cost, 400);
                let tokens = |k: i32| (0..=k).map(|power| alpha.powi(power)).sum::<f64>();
                let speedups = (0..=400).map(|k| tokens(k) / (1.0 + f64::from(k) * cost));
                let most = speedups.fold(0.0, f64::max);
                assert!((best.speedup - most).abs() < 1e-12, "alpha {alpha}, cost {cost}: {best:?} and {most}");
                assert_eq!(best.k > 0, alpha > cost + 1e-12, "alpha {alpha}, cost {cost}");
                // The whole optimum lies beside the continuous one.
                let near = (best.continuous.unwrap() - best.k as f64).abs() < 1.0 || best.k == 0;
                assert!(near, "alpha {alpha}, cost {cost}: {best:?}");
            }
        }
    }
}
