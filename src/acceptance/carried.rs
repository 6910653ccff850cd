//! Acceptance at draft lengths that were not measured, carried over from those that were.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::chain;
use crate::acceptance::invert::alpha_of_mean_length;
use crate::domain::acceptance::{Curve, Length};
use crate::units::Probability;

/// The chance with which each position beyond a curve's last is passed: as the last one was.
fn last_passed(curve: &Curve) -> Probability {
    let survival = curve.survival();
    let last = survival.last().copied().unwrap_or(0.0);
    let before = if survival.len() > 1 { survival[survival.len() - 2] } else { 1.0 };
    Probability::nearest(if before > 0.0 { last / before } else { 0.0 })
}

/// `1 + S_1 + … + S_k`, continued with the last conditional chance.
pub(super) fn along(curve: &Curve, k: u64) -> f64 {
    let survival = curve.survival();
    let known = survival.len().min(usize::try_from(k).unwrap_or(usize::MAX));
    let stated = 1.0 + survival[..known].iter().sum::<f64>();
    match k - known as u64 {
        0 => stated,
        // last x (r + r^2 + …): a chain's expected tokens without its first.
        beyond => {
            let last = survival.last().copied().unwrap_or(0.0);
            stated + last * (chain::expected_tokens(last_passed(curve), beyond) - 1.0)
        }
    }
}

/// The law along a curve, continued with the last conditional chance.
pub(super) fn continued(curve: &Curve, k: u64) -> Accepted {
    let ratio = last_passed(curve).get();
    let mut last = 1.0;
    let here = |at: u64| {
        last = match usize::try_from(at).ok().and_then(|at| curve.survival().get(at)) {
            Some(share) => *share,
            None => last * ratio,
        };
        last
    };
    Accepted::from_survival((0..k).map(here).collect())
}

/// Whether k lies between two that were measured.
pub(super) fn is_inside(lengths: &[Length], k: u64) -> bool {
    lengths.first().is_some_and(|first| first.k() < k) && lengths.last().is_some_and(|last| last.k() > k)
}

/// A mean at k from means at other k.
pub(super) fn between(lengths: &[Length], k: u64) -> f64 {
    let above = lengths.partition_point(|length| length.k() < k);
    let nearest = match (above.checked_sub(1).and_then(|at| lengths.get(at)), lengths.get(above)) {
        (_, Some(exact)) if exact.k() == k => return exact.tokens(),
        (Some(low), Some(high)) => {
            let share = (k - low.k()) as f64 / (high.k() - low.k()) as f64;
            return low.tokens() + share * (high.tokens() - low.tokens());
        }
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return 1.0,
    };
    // A mean that was checked has an alpha.
    alpha_of_mean_length(nearest.tokens(), nearest.k()).map_or(1.0, |alpha| chain::expected_tokens(alpha, k))
}

/// The alpha of independent tests with the mean that holds at k.
pub(super) fn alpha_at(lengths: &[Length], k: u64) -> Probability {
    alpha_of_mean_length(between(lengths, k), k).unwrap_or(Probability::ZERO)
}
