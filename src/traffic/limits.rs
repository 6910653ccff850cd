//! What a service tends to in the corners where formulas are known: one request at a time, a full batch, exponential sizes.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::batch::{Finish, finish};
use crate::units::Seconds;

/// A request that has the service for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// Expected rounds.
    pub rounds: f64,
    /// Expected latency.
    pub mean: Seconds,
    /// Standard deviation of it.
    pub deviation: Seconds,
    /// Expected time for each token, prefill apart.
    pub per_token: Seconds,
}

/// The latency of requests one after the other.
///
/// # Formula
///
/// ```text
/// latency = prefill + R t        TPOT = E[R] t / N
/// ```
///
/// R rounds until N tokens are out, see [`finish`]. If prefill emits the first token, ask for one less.
///
/// # Examples
///
/// Rounds of one or two tokens, half each, and three to emit take 2.25 rounds of 10 ms in the mean:
///
/// ```
/// use specplan::{acceptance::accepted::Accepted, traffic::limits::alone, units::{Probability, Seconds}};
/// let law = Accepted::iid(Probability::new(0.5)?, 1);
/// let of = alone(&law, 3, Seconds::new(0.01), Seconds::new(0.05));
/// assert!((of.mean.get() - 0.0725).abs() < 1e-12 && (of.per_token.get() - 0.0075).abs() < 1e-12);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn alone(law: &Accepted, tokens: u64, round: Seconds, prefill: Seconds) -> Alone {
    let Finish { rounds, variance, .. } = finish(law, tokens);
    Alone {
        rounds,
        mean: prefill + round * rounds,
        deviation: round * variance.max(0.0).sqrt(),
        per_token: if tokens == 0 { Seconds::ZERO } else { round * (rounds / tokens as f64) },
    }
}

/// A batch that is always full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturated {
    /// Tokens per second of endless outputs.
    pub renewal: f64,
    /// Of outputs of a given length, whose last round may yield more than is due.
    pub finite: f64,
    /// Requests per second.
    pub requests: f64,
}

/// What a batch that is always full yields.
///
/// # Formula
///
/// ```text
/// renewal = B E[T] / t        finite = B N / (E[R] t)        requests = B / (E[R] t)
/// ```
///
/// # Examples
///
/// Two sequences of three tokens, 2.25 rounds of 10 ms each: 6 tokens in 22.5 ms.
///
/// ```
/// use specplan::{acceptance::accepted::Accepted, traffic::limits::saturated, units::{Probability, Seconds}};
/// let law = Accepted::iid(Probability::new(0.5)?, 1);
/// let of = saturated(&law, 2, 3, Seconds::new(0.01));
/// assert!((of.renewal - 300.0).abs() < 1e-9 && (of.finite - 6.0 / 0.0225).abs() < 1e-9);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn saturated(law: &Accepted, batch: u64, tokens: u64, round: Seconds) -> Saturated {
    let requests = batch as f64 / (finish(law, tokens).rounds * round.get());
    let renewal = batch as f64 * law.mean_tokens() / round.get();
    Saturated { renewal, finite: requests * tokens as f64, requests }
}

/// A server with Poisson arrivals that serves one request at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneByOne {
    /// Share of time that it is busy, were it stable; 1 or more if it is not.
    pub utilization: f64,
    /// Mean wait; none where the queue grows without end.
    pub wait: Option<f64>,
    /// Mean time from arrival to end.
    pub sojourn: Option<f64>,
}

/// Pollaczek and Khinchine's formula, of services with a mean and a second moment.
///
/// # Formula
///
/// ```text
/// rho = lambda E[S]        W = lambda E[S^2] / (2 (1 - rho))
/// ```
///
/// # Examples
///
/// A service of exactly one second at half load waits half a second, one with an exponential law a whole one:
///
/// ```
/// use specplan::traffic::limits::one_by_one;
/// assert_eq!(one_by_one(0.5, 1.0, 1.0).wait, Some(0.5));
/// assert_eq!(one_by_one(0.5, 1.0, 2.0).wait, Some(1.0));
/// assert_eq!(one_by_one(1.0, 1.0, 1.0).wait, None);
/// ```
#[must_use]
pub fn one_by_one(rate: f64, mean: f64, second_moment: f64) -> OneByOne {
    let utilization = rate * mean;
    let wait = (utilization < 1.0).then(|| rate * second_moment / (2.0 * (1.0 - utilization)));
    OneByOne { utilization, wait, sojourn: wait.map(|wait| wait + mean) }
}

/// A batch server in equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batched {
    /// Share of time without a request.
    pub empty: f64,
    /// Mean requests in the system.
    pub in_system: f64,
    /// Mean requests that run.
    pub batch: f64,
    /// Mean time from arrival to end.
    pub response: f64,
    /// Share of time with a full batch.
    pub full: f64,
}

/// Requests that end per second where n run, n = 1, 2, ….
///
/// # Formula
///
/// ```text
/// mu(n) = n rate(n) / mean tokens
/// ```
#[must_use]
pub fn ends(token_rates: &[f64], mean_tokens: f64) -> Vec<f64> {
    token_rates.iter().zip(1..).map(|(rate, n)| f64::from(n) * rate / mean_tokens).collect()
}

/// Poisson arrivals to a batch whose requests end at `ends[n - 1]` per second where n run, sizes being exponential: the chain of births and
/// deaths, with a geometric tail beyond the full batch; none where the queue grows without end.
///
/// # Formula
///
/// ```text
/// p(n) = p(0) product over i = 1..n of lambda / mu(min(n, B))        T = L / lambda  (Little)
/// ```
///
/// # Examples
///
/// One at a time at half load is M/M/1: one request in the system, two service times each.
///
/// ```
/// use specplan::traffic::limits::open;
/// let of = open(1.0, &[2.0]).unwrap();
/// assert!((of.in_system - 1.0).abs() < 1e-12 && (of.response - 1.0).abs() < 1e-12 && (of.full - 0.5).abs() < 1e-12);
/// assert!(open(2.0, &[2.0]).is_none());
/// ```
#[must_use]
pub fn open(rate: f64, ends: &[f64]) -> Option<Batched> {
    let most = ends.len();
    let load = rate / ends.last()?;
    if load >= 1.0 {
        return None;
    }
    // Weights of 0..B requests; those beyond B fall by `load` each.
    let weights = scaled(std::iter::once(0.0).chain(ends.iter().map(|end| (rate / end).ln())));
    let full = weights[most];
    let below: f64 = weights[..most].iter().sum();
    let tail = full / (1.0 - load);
    let all = below + tail;
    let count = |weights: &[f64]| weights.iter().enumerate().map(|(n, weight)| n as f64 * weight).sum::<f64>();
    let (running, most) = (count(&weights[..most]), most as f64);
    let in_system = (running + tail * (most + load / (1.0 - load))) / all;
    Some(Batched {
        empty: weights[0] / all,
        in_system,
        batch: (running + tail * most) / all,
        response: in_system / rate,
        full: tail / all,
    })
}

/// Clients that wait for their answer, think, and ask again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Requests per second.
    pub throughput: f64,
    /// Mean time from request to answer.
    pub response: f64,
    /// Mean requests in the system.
    pub in_system: f64,
}

/// The same batch with clients in a closed loop, who think for an exponential time.
///
/// # Formula
///
/// ```text
/// births (N - n) / Z, deaths mu(min(n, B));        without a pause all N are always there
/// ```
///
/// # Examples
///
/// One client, one second of service and one of thought: an answer every two seconds.
///
/// ```
/// let of = specplan::traffic::limits::closed(1, 1.0, &[1.0]);
/// assert!((of.throughput - 0.5).abs() < 1e-12 && (of.response - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn closed(clients: u64, think: f64, ends: &[f64]) -> Closed {
    let end = |n: u64| ends.get((n as usize).min(ends.len()).wrapping_sub(1)).copied().unwrap_or(0.0);
    if think <= 0.0 {
        let throughput = end(clients);
        return Closed { throughput, response: clients as f64 / throughput, in_system: clients as f64 };
    }
    let steps = (1..=clients).map(|n| ((clients - n + 1) as f64 / think / end(n)).ln());
    let weights = scaled(std::iter::once(0.0).chain(steps));
    let all: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(u64) -> f64| weights.iter().zip(0..).map(|(weight, n)| weight * of(n)).sum::<f64>() / all;
    let (throughput, in_system) = (mean(&end), mean(&|n| n as f64));
    Closed { throughput, response: in_system / throughput, in_system }
}

/// What clients in a closed loop reach at most, whatever the laws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Requests per second at most.
    pub throughput: f64,
    /// Clients from which the server is the limit.
    pub clients: f64,
}

/// The asymptotic bounds of operational analysis (Denning and Buzen 1978).
///
/// # Formula
///
/// ```text
/// X <= min( N / (S + Z), X_max )        N* = X_max (S + Z)
/// ```
///
/// # Examples
///
/// ```
/// let of = specplan::traffic::limits::bounds(10, 2.0, 0.5, 3.0);
/// assert_eq!((of.throughput, of.clients), (3.0, 7.5));
/// ```
#[must_use]
pub fn bounds(clients: u64, think: f64, alone: f64, most: f64) -> Bounds {
    Bounds { throughput: (clients as f64 / (alone + think)).min(most), clients: most * (alone + think) }
}

/// The running products of numbers given by their logarithms, over the largest of them: none overflows, and their ratios stay.
fn scaled(logarithms: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let sums: Vec<f64> = logarithms
        .map(|logarithm| {
            sum += logarithm;
            sum
        })
        .collect();
    let top = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    sums.into_iter().map(|sum| (sum - top).exp()).collect()
}
