//! Decoded sequences of unequal luck, as batches: estimates beside the closed forms of [`batch`].
//!
//! [`batch`]: crate::acceptance::batch

use crate::acceptance::estimate::Estimate;
use crate::acceptance::runs::Run;

/// Tokens of the slowest and of the fastest of `batch` sequences in one round of k drafts of a batch that is kept full; groups of
/// so many sequences are the replications.
#[must_use]
pub fn extremes(runs: &[Run], batch: usize, k: u64) -> Option<(Estimate, Estimate)> {
    let met: Vec<u64> = runs.iter().filter_map(|run| run.met).map(|accepted| accepted + 1).collect();
    let of = |pick: fn(u64, u64) -> u64| {
        let tokens = |group: &[u64]| group.iter().copied().reduce(pick).map_or(0.0, |tokens| tokens as f64);
        let values: Vec<f64> = met.chunks_exact(batch).map(tokens).collect();
        Estimate::bounded_mean(&values, (1.0, k as f64 + 1.0))
    };
    Some((of(u64::min)?, of(u64::max)?))
}

/// Tokens for each round over whole sequences.
///
/// # Examples
///
/// Five and three tokens in two rounds each:
///
/// ```
/// use specplan::acceptance::{ragged::tokens_per_pass, runs::Run};
/// let runs = [5, 3].map(|tokens| Run { rounds: 2, tokens, met: None });
/// assert_eq!(tokens_per_pass(&runs).unwrap().value, 2.0);
/// ```
#[must_use]
pub fn tokens_per_pass(runs: &[Run]) -> Option<Estimate> {
    Estimate::ratio(runs.iter().map(|run| (run.tokens as f64, run.rounds as f64)))
}

/// Rounds until a sequence of so many tokens is done.
#[must_use]
pub fn rounds(runs: &[Run], tokens: u64, k: u64) -> Option<Estimate> {
    rounds_of_last(runs, 1, tokens, k)
}

/// Rounds until the last of `batch` sequences of so many tokens is done.
#[must_use]
pub fn rounds_of_last(runs: &[Run], batch: usize, tokens: u64, k: u64) -> Option<Estimate> {
    let last = |group: &[Run]| group.iter().map(|run| run.rounds).max().unwrap_or(0) as f64;
    let values: Vec<f64> = runs.chunks_exact(batch).map(last).collect();
    let fewest = tokens.div_ceil(k.saturating_add(1));
    Estimate::bounded_mean(&values, (fewest as f64, tokens as f64))
}

/// Seconds of a batch that nothing joins; `seconds[b - 1]` is the time of a round of b sequences, b = 1..B.
///
/// # Examples
///
/// Two sequences of one and three rounds; a round of two takes 5 s, of one 3 s: 5 + 3 + 3.
///
/// ```
/// use specplan::acceptance::{ragged::static_seconds, runs::Run};
/// let runs = [1, 3, 3, 1].map(|rounds| Run { rounds, tokens: 4, met: None });
/// assert_eq!(static_seconds(&runs, &[3.0, 5.0]).unwrap().value, 11.0);
/// ```
#[must_use]
pub fn static_seconds(runs: &[Run], seconds: &[f64]) -> Option<Estimate> {
    let time = |group: &[Run]| -> f64 {
        let mut rounds: Vec<u64> = group.iter().map(|run| run.rounds).collect();
        rounds.sort_unstable();
        let mut done = 0;
        // Sequences end in this order; between two ends as many run as are left.
        let between = rounds.iter().zip(seconds.iter().rev()).map(|(&end, seconds)| {
            let lasted = end - done;
            done = end;
            lasted as f64 * seconds
        });
        between.sum()
    };
    Estimate::mean(runs.chunks_exact(seconds.len()).map(time))
}

/// Tokens per second that a share of sequences reaches or exceeds, where every round takes `seconds`.
///
/// # Examples
///
/// Eight tokens in 2, 4 and 4 rounds of a second: two thirds reach 2 a second, all of them 2, a third 4.
///
/// ```
/// use specplan::acceptance::{ragged::rate_reached_by, runs::Run};
/// let runs = [4, 2, 4].map(|rounds| Run { rounds, tokens: 8, met: None });
/// assert_eq!(rate_reached_by(&runs, 8, 1.0, 0.3).unwrap().value, 4.0);
/// assert_eq!(rate_reached_by(&runs, 8, 1.0, 0.9).unwrap().value, 2.0);
/// ```
#[must_use]
pub fn rate_reached_by(runs: &[Run], tokens: u64, seconds: f64, share: f64) -> Option<Estimate> {
    let mut rounds: Vec<f64> = runs.iter().map(|run| run.rounds as f64).collect();
    rounds.sort_by(f64::total_cmp);
    let rate = |rounds: f64| tokens as f64 / (rounds * seconds);
    let of = Estimate::quantile(&rounds, share)?;
    Some(Estimate { value: rate(of.value), low: rate(of.high), high: rate(of.low) })
}
