//! How far predictions are from measurements, and whether they are on the right side of 1x.

/// A measured speedup beside its prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// What was measured.
    pub measured: f64,
    /// What is predicted.
    pub predicted: f64,
}

impl Pair {
    /// `predicted / measured - 1`.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// Errors of many pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Pairs.
    pub count: usize,
    /// Median of |predicted / measured - 1|.
    pub median: f64,
    /// Its 90th percentile.
    pub p90: f64,
    /// Mean of predicted / measured - 1: above 0 predictions are too kind.
    pub mean_signed: f64,
}

/// A measurement this close to 1x is on neither side.
const NEUTRAL: f64 = 0.05;

/// Whether predictions are on the right side of 1x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// Measurements more than 5 % from 1x.
    pub judged: usize,
    /// Of these, predictions on the same side.
    pub right: usize,
    /// Measured losses, below 0.95x.
    pub losses: usize,
    /// Of these, predicted below 1x.
    pub losses_called: usize,
    /// Measured gains, above 1.05x.
    pub gains: usize,
    /// Of these, predicted below 1x: called off.
    pub gains_called_off: usize,
}

/// The errors of pairs; none of no pair.
///
/// # Examples
///
/// ```
/// use specplan::evidence::score::{Pair, errors};
/// let pairs = [(1.1, 1.0), (0.8, 1.0), (1.0, 1.0)].map(|(predicted, measured)| Pair { measured, predicted });
/// let found = errors(&pairs).ok_or("no pair")?;
/// assert!((found.median - 0.1).abs() < 1e-12 && (found.mean_signed - -0.1 / 3.0).abs() < 1e-12);
/// assert!((found.p90 - 0.18).abs() < 1e-12, "four fifths of the way from 0.1 to 0.2");
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn errors(pairs: &[Pair]) -> Option<Errors> {
    if pairs.is_empty() {
        return None;
    }
    let sizes = sorted(pairs.iter().map(|pair| pair.error().abs()));
    Some(Errors {
        count: pairs.len(),
        median: quantile(&sizes, 0.5),
        p90: quantile(&sizes, 0.9),
        mean_signed: pairs.iter().map(Pair::error).sum::<f64>() / pairs.len() as f64,
    })
}

/// The sides of pairs.
#[must_use]
pub fn sides(pairs: &[Pair]) -> Sides {
    let count = |keep: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| keep(pair)).count();
    let loss = |pair: &Pair| pair.measured < 1.0 - NEUTRAL;
    let gain = |pair: &Pair| pair.measured > 1.0 + NEUTRAL;
    let off = |pair: &Pair| pair.predicted < 1.0;
    Sides {
        judged: count(&|pair| loss(pair) || gain(pair)),
        right: count(&|pair| loss(pair) && off(pair) || gain(pair) && pair.predicted > 1.0),
        losses: count(&loss),
        losses_called: count(&|pair| loss(pair) && off(pair)),
        gains: count(&gain),
        gains_called_off: count(&|pair| gain(pair) && off(pair)),
    }
}

/// The middle of values, the mean of both middle ones; none is not a number.
#[must_use]
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    if values.is_empty() { f64::NAN } else { quantile(&values, 0.5) }
}

/// Values in rising order.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A quantile of sorted values, on a straight line between the two nearest.
pub(super) fn quantile(sorted: &[f64], level: f64) -> f64 {
    let at = level * (sorted.len() as f64 - 1.0);
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.9 and 0.7 are losses, 1.2 and 1.5 gains, 1.02 neither. One loss and one gain are missed.
    #[test]
    fn losses_called_and_gains_called_off_count_apart() {
        let pairs = [(0.9, 0.95), (0.7, 1.1), (1.2, 0.99), (1.5, 1.4), (1.02, 0.5)];
        let sides = sides(&pairs.map(|(measured, predicted)| Pair { measured, predicted }));
        let expected = Sides { judged: 4, right: 2, losses: 2, losses_called: 1, gains: 2, gains_called_off: 1 };
        assert_eq!(sides, expected);
    }
}
