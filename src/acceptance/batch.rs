//! Batches whose sequences accept different numbers of drafts: the slowest and the fastest, rounds until an output is
//! complete, and batches that wait for their last sequence.

use statrs::distribution::{Binomial, Discrete};

use crate::acceptance::accepted::Accepted;

/// Tokens of one round over a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// Expected tokens of the sequence with the fewest.
    pub min: f64,
    /// Expected tokens of a sequence.
    pub mean: f64,
    /// Expected tokens of the sequence with the most.
    pub max: f64,
}

/// The fewest and the most tokens that a sequence of the batch gets from one round, sequences being independent.
///
/// # Formula
///
/// ```text
/// E[max T] = 1 + sum over i of 1 - (1 - S_i)^B        E[min T] = 1 + sum over i of S_i^B
/// ```
///
/// Through `expm1` and `log1p`: B may be large and S_i near 0 or 1.
///
/// # Examples
///
/// Two sequences, one draft that passes half the time: both pass 1/4, one at least 3/4.
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, batch::extremes};
/// use specplan::units::Probability;
/// let of = extremes(&Accepted::iid(Probability::new(0.5)?, 1), 2);
/// assert!((of.min - 1.25).abs() < 1e-12 && (of.max - 1.75).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn extremes(law: &Accepted, batch: u64) -> Extremes {
    let sum = |of: &dyn Fn(f64) -> f64| 1.0 + law.survival().iter().map(|&s| of(s)).sum::<f64>();
    Extremes { min: sum(&|s| power(s, batch)), mean: law.mean_tokens(), max: sum(&|s| any(s, batch)) }
}

/// `p^n`.
fn power(p: f64, n: u64) -> f64 {
    if p <= 0.0 && n > 0 { 0.0 } else { (n as f64 * p.ln()).exp() }
}

/// `1 - (1 - p)^n`.
fn any(p: f64, n: u64) -> f64 {
    if p >= 1.0 { f64::from(u8::from(n > 0)) } else { -(n as f64 * (-p).ln_1p()).exp_m1() }
}

/// Rounds until a sequence has emitted a number of tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finish {
    /// Expected rounds.
    pub rounds: f64,
    /// Their variance.
    pub variance: f64,
    /// `tokens / E[T]`: what is missed by ignoring the end.
    pub naive: f64,
    /// What rounds tend to for long outputs.
    pub asymptotic: f64,
    /// Expected tokens beyond the last one asked for, which are thrown away.
    pub overshoot: f64,
}

impl Finish {
    /// Tokens for each round, those beyond the end not counted; none where nothing is asked for.
    #[must_use]
    pub fn effective_tokens(&self, tokens: u64) -> Option<f64> {
        (tokens > 0).then(|| tokens as f64 / self.rounds)
    }
}

/// Rounds until `tokens` tokens are out, rounds being independent and alike. If prefill emits the first token, ask for one
/// less.
///
/// # Formula
///
/// ```text
/// m(n) = 1 + sum over t < n of P(T = t) m(n - t)
/// v(n) = sum over t of P(T = t) [ v(n - t) + (1 + m(n - t) - m(n))^2 ],      m, v = 0 for n <= 0
/// asymptotic = N / E + (E[T^2] - E) / (2 E^2)       overshoot = m(N) E - N  (Wald)
/// ```
///
/// O(tokens x k).
///
/// # Examples
///
/// Rounds of one or two tokens, half each, and three to emit: m(1) = 1, m(2) = 1.5, m(3) = 1 + 0.75 + 0.5.
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, batch::finish};
/// use specplan::units::Probability;
/// let of = finish(&Accepted::iid(Probability::new(0.5)?, 1), 3);
/// assert!((of.rounds - 2.25).abs() < 1e-12 && (of.naive - 2.0).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn finish(law: &Accepted, tokens: u64) -> Finish {
    let all = tokens as usize;
    let (mut mean, mut variance) = (vec![0.0; all + 1], vec![0.0; all + 1]);
    for n in 1..=all {
        let before = |t: usize| n.saturating_sub(t);
        let rounds = || law.pmf().iter().enumerate().map(|(j, &chance)| (before(j + 1), chance));
        mean[n] = 1.0 + rounds().map(|(left, chance)| chance * mean[left]).sum::<f64>();
        let off = |left: usize| 1.0 + mean[left] - mean[n];
        variance[n] = rounds().map(|(left, chance)| chance * (variance[left] + off(left).powi(2))).sum();
    }
    let (of, wanted) = (law.mean_tokens(), tokens as f64);
    let second = law.variance() + of * of;
    let end = if tokens == 0 { 0.0 } else { (second - of) / (2.0 * of * of) };
    Finish {
        rounds: mean[all],
        variance: variance[all],
        naive: wanted / of,
        asymptotic: wanted / of + end,
        overshoot: mean[all] * of - wanted,
    }
}

/// The chance that a sequence still runs in round r, r = 1, 2, …: that the r - 1 rounds before emitted fewer than
/// `tokens` tokens.
///
/// O(tokens^2 x k), by convolution.
///
/// # Examples
///
/// Rounds of one or two tokens, half each, and two to emit: half the sequences need a second round.
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, batch::running};
/// use specplan::units::Probability;
/// assert_eq!(running(&Accepted::iid(Probability::new(0.5)?, 1), 2), [1.0, 0.5]);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn running(law: &Accepted, tokens: u64) -> Vec<f64> {
    let all = tokens as usize;
    let mut emitted = vec![0.0; all];
    let mut chances = Vec::new();
    if let Some(first) = emitted.first_mut() {
        *first = 1.0;
    }
    loop {
        let here: f64 = emitted.iter().sum();
        if here <= 0.0 {
            return chances;
        }
        chances.push(here);
        let mut next = vec![0.0; all];
        for (sum, mass) in emitted.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            for (to, chance) in next[sum + 1..].iter_mut().zip(law.pmf()) {
                *to += mass * chance;
            }
        }
        emitted = next;
    }
}

/// Expected rounds until the last of `batch` sequences is done.
///
/// # Formula
///
/// ```text
/// E[max R] = sum over r of 1 - (1 - P(R >= r))^B
/// ```
#[must_use]
pub fn makespan(running: &[f64], batch: u64) -> f64 {
    running.iter().map(|&chance| any(chance, batch)).sum()
}

/// The expected time of a batch that nothing joins: each round takes as long as the sequences that still run need.
///
/// # Formula
///
/// ```text
/// sum over r of E[t(B_r)]        B_r ~ Binomial(B, P(R >= r)),  t(0) = 0
/// ```
///
/// `seconds[b - 1]` is the time of a round of b sequences, b = 1..B; the context is held constant.
#[must_use]
pub fn static_time(running: &[f64], seconds: &[f64]) -> f64 {
    let batch = seconds.len() as u64;
    running
        .iter()
        .map(|&chance| match Binomial::new(chance.min(1.0), batch) {
            Ok(alive) => seconds.iter().zip(1..).map(|(seconds, b)| alive.pmf(b) * seconds).sum::<f64>(),
            Err(_) => 0.0,
        })
        .sum()
}
