//! Rounds over text with easy and hard spans.
//!
//! Every emitted token, whether an accepted draft, a correction or a bonus, moves the hidden state by one step. A round starts
//! where the one before it ended, which is more often in hard spans than positions are: short rounds end there.

use crate::acceptance::accepted::Accepted;
use crate::domain::spans::{Spans, recurrent};

/// A matrix over states.
type Matrix = Vec<Vec<f64>>;

/// What rounds look like in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanRounds {
    /// The share of positions in each state.
    pub positions: Vec<f64>,
    /// The share of rounds that start in each state.
    pub starts: Vec<f64>,
    /// The law of accepted drafts.
    pub law: Accepted,
}

/// Rounds of this length come back to where they started, so that no long run exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rounds of {k} drafts over these states depend for ever on where they start")]
pub struct NoLongRun {
    /// Draft length.
    pub k: u64,
}

/// The long run of rounds of k drafts.
///
/// # Formula
///
/// ```text
/// D = diag(alpha)     M = sum over j < k of (D P)^j (I - D) P + (D P)^k P
/// nu M = nu           S_i = nu (D P)^i 1           E[T] = 1 + S_1 + … + S_k
/// ```
///
/// M moves the state from one round's start to the next. Stationary laws by state reduction without subtraction
/// (Grassmann, Taksar and Heyman 1985), so that rare moves keep their digits.
///
/// # Errors
///
/// [`NoLongRun`] where M has several sets of states that are never left, such as states that strictly alternate under
/// rounds of an even number of tokens.
///
/// # Examples
///
/// One state is iid:
///
/// ```
/// use specplan::{acceptance::spans, domain::spans::Spans, units::Probability};
/// let spans = Spans::new(&[Probability::new(0.5)?], vec![vec![1.0]])?;
/// assert_eq!(spans::long_run(&spans, 2)?.law.mean_tokens(), 1.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn long_run(spans: &Spans, k: u64) -> Result<SpanRounds, NoLongRun> {
    let starts = starts(spans, k).ok_or(NoLongRun { k })?;
    let law = law_from(spans, &starts, k);
    Ok(SpanRounds { positions: positions(spans), starts, law })
}

/// The law of accepted drafts of rounds of k. Without a long run, that of rounds that start anywhere: of two states
/// only those have none whose drafts all pass, wherever they start.
#[must_use]
pub fn rounds(spans: &Spans, k: u64) -> Accepted {
    law_from(spans, &starts(spans, k).unwrap_or_else(|| positions(spans)), k)
}

fn law_from(spans: &Spans, starts: &[f64], k: u64) -> Accepted {
    let mut mass = starts.to_vec();
    let survival = (0..k).map(|_| {
        mass = accept(spans, &mass);
        mass.iter().sum()
    });
    Accepted::from_survival(survival.collect())
}

/// The share of positions in each state: `pi P = pi`.
#[must_use]
pub fn positions(spans: &Spans) -> Vec<f64> {
    stationary(spans.transitions(), spans.recurrent())
}

/// The state law after a draft is accepted: `v D P`.
fn accept(spans: &Spans, mass: &[f64]) -> Vec<f64> {
    let passed: Vec<f64> = mass.iter().zip(spans.alphas()).map(|(mass, alpha)| mass * alpha).collect();
    step(&passed, spans.transitions())
}

/// The state law after a draft is rejected and replaced: `v (I - D) P`.
fn reject(spans: &Spans, mass: &[f64]) -> Vec<f64> {
    let failed: Vec<f64> = mass.iter().zip(spans.alphas()).map(|(mass, alpha)| mass * (1.0 - alpha)).collect();
    step(&failed, spans.transitions())
}

/// `v P`.
fn step(mass: &[f64], by: &[Vec<f64>]) -> Vec<f64> {
    let mut next = vec![0.0; by.len()];
    for (mass, row) in mass.iter().zip(by) {
        next.iter_mut().zip(row).for_each(|(to, chance)| *to += mass * chance);
    }
    next
}

/// The share of rounds that start in each state; none without a long run.
fn starts(spans: &Spans, k: u64) -> Option<Vec<f64>> {
    let states = spans.alphas().len();
    let moves: Matrix = (0..states)
        .map(|from| {
            let mut mass = vec![0.0; states];
            mass[from] = 1.0;
            let mut ends = vec![0.0; states];
            for _ in 0..k {
                add(&mut ends, &reject(spans, &mass));
                mass = accept(spans, &mass);
            }
            add(&mut ends, &step(&mass, spans.transitions()));
            ends
        })
        .collect();
    Some(stationary(&moves, &recurrent(&moves)?))
}

fn add(to: &mut [f64], more: &[f64]) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}

/// The stationary law of a chain whose only closed set of states is `closed`.
fn stationary(chain: &[Vec<f64>], closed: &[usize]) -> Vec<f64> {
    let mut reduced: Matrix = closed.iter().map(|&from| closed.iter().map(|&to| chain[from][to]).collect()).collect();
    let states = closed.len();
    // States are taken out one by one; their visits are spread over those that remain.
    for out in (1..states).rev() {
        let leaving: f64 = reduced[out][..out].iter().sum();
        let taken = reduced[out].clone();
        for row in &mut reduced[..out] {
            let into = row[out] / leaving;
            row[out] = into;
            row[..out].iter_mut().zip(&taken).for_each(|(to, chance)| *to += into * chance);
        }
    }
    let mut law: Vec<f64> = Vec::with_capacity(states);
    for state in 0..states {
        let visits = law.iter().zip(&reduced).map(|(share, row)| share * row[state]).sum();
        law.push(if state == 0 { 1.0 } else { visits });
    }
    let total: f64 = law.iter().sum();
    let mut all = vec![0.0; chain.len()];
    closed.iter().zip(law).for_each(|(&state, share)| all[state] = share / total);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Probability;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    /// A second method: a chain over tokens, on (state, drafts accepted so far); a round starts at index 0, so that
    /// tokens per round are one over the share of tokens that are first of their round.
    fn tokens_by_a_chain_over_tokens(spans: &Spans, k: usize) -> f64 {
        let states = spans.alphas().len();
        let mut mass = vec![vec![0.0; k + 1]; states];
        mass[0][0] = 1.0;
        let mut first = 0.0;
        // Averaged over a period, since chains may alternate.
        for round in 0..40_000 {
            let mut next = vec![vec![0.0; k + 1]; states];
            for (state, row) in mass.iter().enumerate() {
                for (drafted, mass) in row.iter().enumerate() {
                    let alpha = if drafted < k { spans.alphas()[state] } else { 0.0 };
                    for (to, chance) in spans.transitions()[state].iter().enumerate() {
                        if drafted < k {
                            next[to][drafted + 1] += mass * alpha * chance;
                        }
                        next[to][0] += mass * (1.0 - alpha) * chance;
                    }
                }
            }
            mass = next;
            if round >= 20_000 {
                first += mass.iter().map(|row| row[0]).sum::<f64>() / 20_000.0;
            }
        }
        1.0 / first
    }

    #[test]
    fn a_chain_over_tokens_gives_the_same_tokens_per_round() {
        let sticky = Spans::two(p(0.95), p(0.4), p(0.1), p(0.2)).unwrap();
        let alternating = Spans::two(p(0.9), p(0.5), p(1.0), p(1.0)).unwrap();
        let never_back = Spans::two(p(0.9), p(0.5), p(0.3), p(0.0)).unwrap();
        for spans in [&sticky, &alternating, &never_back] {
            for k in [1, 4, 6] {
                let here = long_run(spans, k).unwrap().law.mean_tokens();
                let there = tokens_by_a_chain_over_tokens(spans, k as usize);
                assert!((here / there - 1.0).abs() < 1e-4, "k {k}: {here} and {there}");
            }
        }
    }

    /// Every draft passes, so that a round of k = 1 emits two tokens: the state at its start never changes.
    #[test]
    fn rounds_in_step_with_the_states_have_no_long_run() {
        let spans = Spans::two(p(1.0), p(1.0), p(1.0), p(1.0)).unwrap();
        assert_eq!(long_run(&spans, 1), Err(NoLongRun { k: 1 }));
        assert_eq!(long_run(&spans, 2).unwrap().starts, [0.5, 0.5]);
    }
}
