//! A simulated study: the rule on two laws, and rounds of every draft length, in shards on all threads.

use std::convert::Infallible;
use std::sync::atomic::AtomicBool;

use crate::acceptance::simulate::{RoundTrials, RuleTrials, rounds, rule};
use crate::domain::law::Pair;
use crate::domain::simulate::Simulate;
use crate::parallel::{Failure, Outcome, ordered};
use crate::rng::{Generator, cell_seed};
use crate::units::Probability;

/// Tests in one shard, at most. Shards have their own seeds, so results depend on this number, but on
/// no number of threads.
const SHARD_TESTS: u64 = 1 << 18;

/// What a study gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Trials of the rule, where p and q are given.
    pub rule: Option<RuleTrials>,
    /// Rounds of each draft length, in the order of `simulate.k`; empty without an alpha.
    pub rounds: Vec<RoundTrials>,
}

/// One estimate.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Rule(&'a Pair),
    Rounds { at: usize, alpha: Probability, k: u64 },
}

/// Some of an estimate's trials.
#[derive(Clone, Copy, Debug)]
struct Shard<'a> {
    part: Part<'a>,
    index: u64,
    trials: u64,
}

enum Trials {
    Rule(RuleTrials),
    Rounds(usize, RoundTrials),
}

/// Trials that [`study`] will make, over all estimates.
#[must_use]
pub fn trials(simulate: &Simulate) -> u128 {
    parts(simulate).count() as u128 * u128::from(simulate.rounds)
}

/// Runs a study; `progress` hears of every shard's trials. On [`Outcome::Stopped`] the study is
/// incomplete.
///
/// # Errors
///
/// [`Failure::Threads`] if no threads start.
pub fn study(
    simulate: &Simulate,
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64) + Send,
) -> Result<(Outcome, Study), Failure<Infallible>> {
    let rounds = if simulate.alpha.is_some() { vec![RoundTrials::default(); simulate.k.len()] } else { Vec::new() };
    let rule = simulate.laws.as_ref().map(|laws| RuleTrials::none(laws.p().chances().len()));
    let mut gathered = Study { rule, rounds };
    let shards = parts(simulate).flat_map(|part| shards(part, simulate.rounds));
    let take = |(made, trials): (u64, Trials)| {
        match (trials, &mut gathered.rule) {
            (Trials::Rule(trials), Some(rule)) => rule.absorb(&trials),
            (Trials::Rule(_), None) => {}
            (Trials::Rounds(at, trials), _) => gathered.rounds[at].absorb(&trials),
        }
        progress(made);
        Ok(())
    };
    let outcome = ordered(shards, threads, stop, |shard| (shard.trials, run(shard, seed)), take)?;
    Ok((outcome, gathered))
}

fn parts(simulate: &Simulate) -> impl Iterator<Item = Part<'_>> + Send {
    let rounds = simulate
        .alpha
        .into_iter()
        .flat_map(|alpha| simulate.k.iter().enumerate().map(move |(at, &k)| Part::Rounds { at, alpha, k }));
    simulate.laws.iter().map(Part::Rule).chain(rounds)
}

fn shards(part: Part<'_>, trials: u64) -> impl Iterator<Item = Shard<'_>> + Send {
    let longest = match part {
        Part::Rule(_) => 1,
        Part::Rounds { k, .. } => k.max(1),
    };
    let size = (SHARD_TESTS / longest).max(1);
    (0..trials.div_ceil(size)).map(move |index| Shard { part, index, trials: size.min(trials - index * size) })
}

fn run(shard: Shard<'_>, seed: u64) -> Trials {
    let index = shard.index.to_string();
    match shard.part {
        Part::Rule(pair) => {
            let mut generator = Generator::from_seed(cell_seed(seed, &["rule", &index]));
            Trials::Rule(rule(pair, shard.trials, &mut generator))
        }
        Part::Rounds { at, alpha, k } => {
            let parts = ["rounds", &alpha.get().to_string(), &k.to_string(), &index];
            let mut generator = Generator::from_seed(cell_seed(seed, &parts));
            Trials::Rounds(at, rounds(alpha, k, shard.trials, &mut generator))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(trials: u64, threads: usize) -> Study {
        let alpha = Some(Probability::new(0.7).unwrap());
        let simulate = Simulate { rounds: trials, alpha, k: vec![0, 3, 300_000], laws: None };
        let (outcome, study) = study(&simulate, 5, threads, &AtomicBool::new(false), |_| {}).unwrap();
        assert_eq!(outcome, Outcome::Finished);
        study
    }

    #[test]
    fn invariant_1_threads_do_not_change_a_study() {
        let one = made(1_000, 1);
        assert_eq!(one, made(1_000, 3));
        assert!(one.rounds.iter().all(|rounds| rounds.rounds() == 1_000));
        assert_eq!(one.rounds[0].by_accepted, [1_000]);
    }
}
