//! Where along an axis speculation pays: every window of it, since there may be several.
//!
//! Neither batch nor context has one break-even point: a drafter with a small KV cache loses at batch 1, gains in the middle and
//! loses where verification turns compute-bound; a mixture of experts may lose in the middle. So every whole point is
//! looked at, and each change is then pinned down between two of them.

use crate::acceptance::chain::expected_tokens;
use crate::units::{BytesPerSecond, FlopsPerSecond, Probability};

/// Losses up to this share are rounding.
const NOTHING: f64 = 1e-12;
/// As many halvings as a double has digits.
const HALVINGS: u32 = 60;

/// Where speculation pays, from one whole point to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    /// Whether it pays at the first point: a speedup of at least 1.
    pub pays_first: bool,
    /// Whether it does at the last.
    pub pays_last: bool,
    /// Where that changes, in rising order.
    pub crossings: Vec<f64>,
    /// The first whole point at which it loses.
    pub first_losing: Option<u64>,
}

/// Looks at every whole point from `first` to `last`; `speedup` is that of any point, whole or not.
///
/// Two changes between neighbouring whole points cancel out and are not seen; where the speedup jumps, the jump is the
/// crossing. O(last - first).
///
/// # Examples
///
/// A parabola that is below 1 up to 2.5 and from 7.5 on:
///
/// ```
/// use specplan::plan::windows::windows;
/// let found = windows(|x| 1.0 + (x - 2.5) * (7.5 - x), 1, 10);
/// assert_eq!((found.pays_first, found.pays_last, found.first_losing), (false, false, Some(1)));
/// assert!((found.crossings[0] - 2.5).abs() < 1e-9 && (found.crossings[1] - 7.5).abs() < 1e-9);
/// ```
#[must_use]
pub fn windows(speedup: impl Fn(f64) -> f64, first: u64, last: u64) -> Windows {
    let loses = |x: f64| speedup(x) < 1.0 - NOTHING;
    let begins = loses(first as f64);
    let mut found = Windows { pays_first: !begins, pays_last: !begins, crossings: Vec::new(), first_losing: None };
    found.first_losing = begins.then_some(first);
    let mut before = begins;
    for point in first.saturating_add(1)..=last {
        let here = loses(point as f64);
        if here != before {
            found.crossings.push(between(&loses, point as f64 - 1.0, before));
        }
        if here && found.first_losing.is_none() {
            found.first_losing = Some(point);
        }
        before = here;
    }
    found.pays_last = !before;
    found
}

/// Where between a point and the next whole one the loss begins or ends.
fn between(loses: &impl Fn(f64) -> bool, point: f64, before: bool) -> f64 {
    let (mut low, mut high) = (point, point + 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if loses(middle) == before {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Cached tokens of a sequence whose reading takes as long as the arithmetic of one of its tokens.
///
/// # Formula
///
/// ```text
/// balance = (2 N / peak) / (KV bytes of a token / bandwidth)
/// ```
///
/// # Examples
///
/// 7.5 billion parameters at 989 TFLOP/s take 15.2 us; 128 KiB at 3.35 TB/s 39 ns:
///
/// ```
/// use specplan::{plan::windows::balance_context, units::{BytesPerSecond, FlopsPerSecond}};
/// let balance = balance_context(7.5e9, 131_072.0, FlopsPerSecond::new(989e12), BytesPerSecond::new(3.35e12));
/// assert!((balance - 387.64).abs() < 0.01);
/// ```
#[must_use]
pub fn balance_context(params: f64, kv_per_token: f64, peak: FlopsPerSecond, bandwidth: BytesPerSecond) -> f64 {
    (2.0 * params / peak.get()) / (kv_per_token / bandwidth.get())
}

/// The context from which on free drafts lose at no batch, by the aggregate roofline.
///
/// # Formula
///
/// ```text
/// context >= (k + 1) / E_k balance;  0 where every draft is accepted
/// ```
///
/// At large batches a step takes the longer of arithmetic and cache, and verification k + 1 times the arithmetic: it loses where that
/// is longer than E_k steps.
///
/// # Examples
///
/// Four drafts at alpha 0.5 bring 1.9375 tokens: 5 / 1.9375 balances.
///
/// ```
/// use specplan::{plan::windows::no_loss_context, units::Probability};
/// assert!((no_loss_context(Probability::new(0.5)?, 4, 100.0) - 500.0 / 1.9375).abs() < 1e-9);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn no_loss_context(alpha: Probability, k: u64, balance: f64) -> f64 {
    let tokens = expected_tokens(alpha, k);
    let all = k as f64 + 1.0;
    if tokens >= all { 0.0 } else { all / tokens * balance }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a change there is no crossing; a speedup of 1 up to rounding is no loss.
    #[test]
    fn nothing_changes_where_nothing_does() {
        let flat = windows(|_| 1.0 - 1e-15, 1, 100);
        assert!(flat.pays_first && flat.pays_last && flat.crossings.is_empty() && flat.first_losing.is_none());
        let lost = windows(|_| 0.5, 3, 3);
        assert_eq!((lost.pays_first, lost.first_losing, lost.crossings.len()), (false, Some(3), 0));
    }

    /// A jump is where it is, and three windows are three.
    #[test]
    fn jumps_and_several_windows_are_found() {
        let steps = |x: f64| if (20.25..30.0).contains(&x) || x > 40.5 { 0.9 } else { 1.2 };
        let found = windows(steps, 1, 60);
        let expected = [20.25, 30.0, 40.5];
        assert_eq!(found.crossings.len(), 3);
        assert!(found.crossings.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-9));
        assert_eq!((found.first_losing, found.pays_last), (Some(21), false));
    }
}
