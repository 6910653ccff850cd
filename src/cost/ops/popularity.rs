//! Experts that are not picked evenly: how often each is picked, and how many tokens pick together.

/// Why no chances of being picked follow from weights.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoPick {
    /// A weight that is negative or not finite.
    #[error("a weight of {0} is none")]
    Weight(f64),
    /// Fewer experts than are to be picked.
    #[error("{top_k} experts cannot be picked of {choices} that have a weight")]
    TooFew {
        /// To be picked.
        top_k: usize,
        /// Experts of a weight above zero.
        choices: usize,
    },
}

/// Between neighbouring points of the integral; halving it changes nothing above rounding.
const STEP: f64 = 1.0 / 32.0;
/// Below this the integrand's own variable is smaller than any float.
const FIRST: f64 = -6.0;
/// Arrivals that take longer than this, in units of their mean, have no weight in a float.
const LAST: f64 = 745.0;

/// The chance of each expert to be among the `top_k` that are drawn one by one, without putting back, in
/// proportion to their weights: what adding Gumbel noise to logarithms of weights and taking the largest does
/// (Kool et al. 2019, arXiv 1903.06059).
///
/// # Formula
///
/// Expert i arrives at an exponential time of rate `w_i`; the first `top_k` to arrive are picked:
///
/// ```text
/// pi_i = integral over t of  w_i exp(-w_i t) P( at most top_k - 1 of the others arrive before t )
/// ```
///
/// by the trapezoidal rule in s, `t = exp(s - exp(-s))`, which converges double-exponentially (Takahasi and
/// Mori 1974). The chances sum to `top_k`.
///
/// # Errors
///
/// [`NoPick`] for a weight that is negative or not finite, or fewer weights above zero than `top_k`.
///
/// # Examples
///
/// Two of weights 2, 1, 1: the first misses out in 1/2 x 1/3 of all draws.
///
/// ```
/// use specplan::cost::ops::popularity::inclusion;
/// let chances = inclusion(&[2.0, 1.0, 1.0], 2)?;
/// assert!((chances[0] - 5.0 / 6.0).abs() < 1e-12 && (chances[1] - 7.0 / 12.0).abs() < 1e-12);
/// # Ok::<(), specplan::cost::ops::popularity::NoPick>(())
/// ```
pub fn inclusion(weights: &[f64], top_k: usize) -> Result<Vec<f64>, NoPick> {
    if let Some(wrong) = weights.iter().find(|weight| !weight.is_finite() || **weight < 0.0) {
        return Err(NoPick::Weight(*wrong));
    }
    let choices = weights.iter().filter(|weight| **weight > 0.0).count();
    if top_k > choices {
        return Err(NoPick::TooFew { top_k, choices });
    }
    if top_k == choices {
        return Ok(weights.iter().map(|weight| f64::from(u8::from(*weight > 0.0))).collect());
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let rates: Vec<f64> = weights.iter().map(|weight| weight / largest).collect();
    let least = rates.iter().copied().filter(|rate| *rate > 0.0).fold(1.0, f64::min);
    let points = (((LAST / least).ln() + 1.0 - FIRST) / STEP).ceil() as u64;
    let mut chances = vec![0.0; rates.len()];
    for point in 0..=points {
        let s = FIRST + point as f64 * STEP;
        let time = (s - (-s).exp()).exp();
        add_arrivals(&mut chances, &rates, time, time * (1.0 + (-s).exp()) * STEP, top_k);
    }
    Ok(chances)
}

/// Adds to each chance what arrives in `width` about `time` with at most `top_k - 1` others before.
fn add_arrivals(chances: &mut [f64], rates: &[f64], time: f64, width: f64, top_k: usize) {
    let before: Vec<f64> = rates.iter().map(|rate| -(-rate * time).exp_m1()).collect();
    let following = counts(before.iter().rev(), top_k);
    let mut leading = none(top_k);
    for (at, chance) in chances.iter_mut().enumerate() {
        let after = &following[rates.len() - 1 - at];
        *chance += rates[at] * (-rates[at] * time).exp() * width * fewer(&leading, after);
        leading = with(&leading, before[at]);
    }
}

/// After each of some arrivals the chances of 0, 1, ... `top_k - 1` of them before a time; first those of none.
fn counts<'p>(arrived: impl Iterator<Item = &'p f64>, top_k: usize) -> Vec<Vec<f64>> {
    let mut last = none(top_k);
    let mut all = vec![last.clone()];
    for chance in arrived {
        last = with(&last, *chance);
        all.push(last.clone());
    }
    all
}

/// Chances where nothing can have arrived.
fn none(top_k: usize) -> Vec<f64> {
    (0..top_k).map(|count| f64::from(u8::from(count == 0))).collect()
}

/// The same with one more that has arrived with a chance.
fn with(counts: &[f64], chance: f64) -> Vec<f64> {
    let below = std::iter::once(&0.0).chain(counts);
    counts.iter().zip(below).map(|(same, below)| same * (1.0 - chance) + below * chance).collect()
}

/// The chance of at most as many in two groups together as each is counted to.
fn fewer(one: &[f64], other: &[f64]) -> f64 {
    let sums: Vec<f64> = other
        .iter()
        .scan(0.0, |sum, chance| {
            *sum += chance;
            Some(*sum)
        })
        .collect();
    one.iter().zip(sums.iter().rev()).map(|(chance, sum)| chance * sum).sum()
}

/// Distinct experts that `tokens` tokens pick together, when each picks expert i with the chance `pi_i`
/// whatever the others pick.
///
/// # Formula
///
/// ```text
/// D(n) = sum of 1 - (1 - pi_i)^n        each computed as -expm1(n ln(1 - pi_i))
/// ```
///
/// At most what evenly picked experts give, [`super::distinct_experts`].
///
/// # Examples
///
/// ```
/// use specplan::cost::ops::popularity::distinct;
/// // Always the same two of four; one of two evenly, three times: 2 x (1 - 1/8).
/// assert_eq!(distinct(&[1.0, 1.0, 0.0, 0.0], 7.0), 2.0);
/// assert!((distinct(&[0.5, 0.5], 3.0) - 1.75).abs() < 1e-15);
/// ```
#[must_use]
pub fn distinct(inclusion: &[f64], tokens: f64) -> f64 {
    if tokens <= 0.0 {
        return 0.0;
    }
    inclusion.iter().map(|chance| -(tokens * (-chance).ln_1p()).exp_m1()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chances by going through all ordered draws.
    fn enumerated(weights: &[f64], top_k: usize) -> Vec<f64> {
        fn go(weights: &[f64], picked: &mut Vec<usize>, left: usize, chance: f64, found: &mut [f64]) {
            if left == 0 {
                picked.iter().for_each(|at| found[*at] += chance);
                return;
            }
            let free: Vec<usize> = (0..weights.len()).filter(|at| !picked.contains(at)).collect();
            let sum: f64 = free.iter().map(|at| weights[*at]).sum();
            for at in free {
                picked.push(at);
                go(weights, picked, left - 1, chance * weights[at] / sum, found);
                picked.pop();
            }
        }
        let mut found = vec![0.0; weights.len()];
        go(weights, &mut Vec::new(), top_k, 1.0, &mut found);
        found
    }

    #[test]
    fn chances_are_those_of_all_ordered_draws() {
        for weights in [&[5.0, 1.0, 0.2, 3.0, 0.7][..], &[1e-6, 1.0, 1e3, 2.0], &[1.0, 1.0, 1.0]] {
            for top_k in 0..=weights.len() {
                let chances = inclusion(weights, top_k).unwrap();
                for (got, by_hand) in chances.iter().zip(enumerated(weights, top_k)) {
                    assert!((got - by_hand).abs() <= 1e-11 * by_hand, "{weights:?} {top_k}: {got} is not {by_hand}");
                }
            }
        }
    }

    #[test]
    fn chances_sum_to_what_is_picked_and_skew_reads_fewer() {
        let zipf: Vec<f64> = (1..=128).map(|rank| 1.0 / f64::from(rank)).collect();
        let chances = inclusion(&zipf, 8).unwrap();
        assert!((chances.iter().sum::<f64>() - 8.0).abs() < 1e-9);
        assert!(chances.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(distinct(&chances, 16.0) < crate::cost::ops::distinct_experts(128.0, 8.0, 16.0));
    }

    #[test]
    fn what_cannot_be_picked_is_refused() {
        assert_eq!(inclusion(&[1.0, 0.0], 2), Err(NoPick::TooFew { top_k: 2, choices: 1 }));
        assert_eq!(inclusion(&[1.0, -1.0], 1), Err(NoPick::Weight(-1.0)));
        assert!(matches!(inclusion(&[f64::NAN], 1), Err(NoPick::Weight(_))));
        assert_eq!(inclusion(&[1.0, 0.0, 2.0], 2).unwrap(), [1.0, 0.0, 1.0]);
    }
}
