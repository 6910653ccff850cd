//! A simulated study: the rule on two laws, rounds of every draft length, and whole sequences, in shards on all threads.

use std::convert::Infallible;
use std::sync::atomic::AtomicBool;

use crate::acceptance::process::Process;
use crate::acceptance::runs::{Run, Runs};
use crate::acceptance::simulate::{RoundTrials, RuleTrials, rule};
use crate::domain::law::Pair;
use crate::domain::simulate::{Laws, Simulate};
use crate::parallel::{Failure, Outcome, ordered};
use crate::rng::{Generator, cell_seed};
use crate::words::Scope;

/// Draws in one shard, about. Shards have their own seeds, so results depend on this number, but on no number of
/// threads.
const SHARD: u64 = 1 << 18;
/// Fewer replications than this make no interval.
const REPLICATIONS: u64 = 32;

/// More sequences than this are not kept; 32 batches of 1024 are fewer.
const MOST_SEQUENCES: u64 = 1 << 20;

/// An acceptance to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Its name, to which its seeds belong: one for each content.
    pub name: String,
    /// What is simulated.
    pub process: Process,
    /// Draft lengths.
    pub k: Vec<u64>,
}

/// What a study gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Trials of the rule, where p and q are given.
    pub rule: Option<RuleTrials>,
    /// Of each subject, by draft length.
    pub subjects: Vec<Vec<Seen>>,
}

/// What rounds of one draft length gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Draft length.
    pub k: u64,
    /// Whether rounds are independent and alike, so that closed forms hold for whole sequences.
    pub independent: bool,
    /// Rounds by accepted drafts.
    pub rounds: RoundTrials,
    /// Whole sequences; none where none are asked for and rounds are independent.
    pub runs: Vec<Run>,
}

/// Some of an estimate's draws.
#[derive(Clone, Debug)]
struct Shard<'a> {
    part: Part<'a>,
    index: u64,
    draws: u64,
}

/// One estimate.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Rule(&'a Pair),
    /// Independent rounds of the largest k, which serve every k.
    Rounds(&'a Prepared<'a>),
    /// Whole sequences of one k.
    Sequences(&'a Prepared<'a>, &'a (u64, Runs)),
}

/// A subject ready to draw from.
#[derive(Debug)]
struct Prepared<'a> {
    at: usize,
    subject: &'a Subject,
    /// Rounds of the longest, if they are independent and alike for every k.
    rounds: Option<Runs>,
    by_k: Vec<(u64, Runs)>,
}

enum Made {
    Rule(RuleTrials),
    Rounds(usize, RoundTrials),
    Sequences { subject: usize, k: u64, rounds: RoundTrials, runs: Vec<Run> },
}

impl<'a> Prepared<'a> {
    fn new(at: usize, subject: &'a Subject, with_sequences: bool) -> Self {
        let longest = Runs::new(&subject.process, subject.k.iter().copied().max().unwrap_or(0));
        let alike = longest.is_independent() && one_law_for_all_k(&subject.process);
        let of_k = |&k: &u64| (k, Runs::new(&subject.process, k));
        let by_k = if alike && !with_sequences { Vec::new() } else { subject.k.iter().map(of_k).collect() };
        Self { at, subject, rounds: alike.then_some(longest), by_k }
    }
}

/// Whether rounds of k drafts accept what longer ones do, up to k. Means by k need no such law.
fn one_law_for_all_k(process: &Process) -> bool {
    match process {
        Process::Lengths(_) | Process::Workloads(_) => false,
        Process::Between { low, high, .. } => one_law_for_all_k(low) && one_law_for_all_k(high),
        Process::Beyond(nearest) => one_law_for_all_k(nearest),
        Process::Proposing { of, .. } => one_law_for_all_k(of),
        Process::Beta { scope, .. } => *scope == Scope::Round,
        Process::Spans(_) => false,
        _ => true,
    }
}

/// Sequences that a study decodes of each draft length: enough rounds, and enough batches of the largest size.
fn sequences(simulate: &Simulate, runs: &(u64, Runs), subject: &Subject) -> u64 {
    let tokens = subject.process.tokens_per_pass(runs.0);
    let rounds_each = (simulate.tokens as f64 / tokens).max(1.0);
    let largest = simulate.batch.iter().copied().max().unwrap_or(1);
    // One sequence in about as many as a round has tokens is met in a full batch.
    let fewest = (REPLICATIONS * largest * tokens.ceil() as u64).min(MOST_SEQUENCES);
    ((simulate.rounds as f64 / rounds_each).ceil() as u64).clamp(fewest, MOST_SEQUENCES)
}

/// Runs a study; `progress` hears of every shard's draws. On [`Outcome::Stopped`] the study is incomplete.
///
/// # Errors
///
/// [`Failure::Threads`] if no threads start.
pub fn study(
    simulate: &Simulate,
    subjects: &[Subject],
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64) + Send,
) -> Result<(Outcome, Study), Failure<Infallible>> {
    let with_sequences = !simulate.batch.is_empty();
    let prepared: Vec<Prepared<'_>> =
        subjects.iter().enumerate().map(|(at, subject)| Prepared::new(at, subject, with_sequences)).collect();
    let pair = simulate.laws.as_ref().and_then(Laws::same);
    let mut gathered = Study {
        rule: pair.map(|pair| RuleTrials::none(pair.p().chances().len())),
        subjects: prepared.iter().map(empty).collect(),
    };
    let shards = pair
        .map(|pair| shards(Part::Rule(pair), simulate))
        .into_iter()
        .chain(prepared.iter().flat_map(|one| parts(one)).map(|part| shards(part, simulate)))
        .flatten();
    let take = |(made, draws)| {
        gathered.absorb(made);
        progress(draws);
        Ok(())
    };
    let work = |shard: Shard<'_>| (run(&shard, simulate.tokens, seed), shard.draws);
    let outcome = ordered(shards, threads, stop, work, take)?;
    for (seen, prepared) in gathered.subjects.iter_mut().zip(&prepared).filter(|(_, one)| one.rounds.is_some()) {
        share_rounds(seen, prepared);
    }
    Ok((outcome, gathered))
}

/// Draws that [`study`] will report: rounds, trials and sequences.
#[must_use]
pub fn draws(simulate: &Simulate, subjects: &[Subject]) -> u128 {
    let with_sequences = !simulate.batch.is_empty();
    let of = |(at, subject)| -> u128 {
        let prepared = Prepared::new(at, subject, with_sequences);
        parts(&prepared).map(|part| u128::from(of_part(part, simulate))).sum()
    };
    let rule = simulate.laws.as_ref().and_then(Laws::same).map_or(0, |_| u128::from(simulate.rounds));
    rule + subjects.iter().enumerate().map(of).sum::<u128>()
}

fn empty(prepared: &Prepared<'_>) -> Vec<Seen> {
    let independent = prepared.rounds.is_some() || prepared.by_k.iter().all(|(_, runs)| runs.is_independent());
    prepared.subject.k.iter().map(|&k| Seen { k, independent, ..Seen::default() }).collect()
}

/// Rounds of every k from those of the longest.
fn share_rounds(seen: &mut [Seen], prepared: &Prepared<'_>) {
    let Some(longest) = (0..seen.len()).max_by_key(|&at| prepared.subject.k[at]) else { return };
    let rounds = seen[longest].rounds.clone();
    seen.iter_mut().for_each(|one| one.rounds = rounds.cut(one.k));
}

fn parts<'a>(prepared: &'a Prepared<'a>) -> impl Iterator<Item = Part<'a>> + Send {
    let rounds = prepared.rounds.iter().map(move |_| Part::Rounds(prepared));
    rounds.chain(prepared.by_k.iter().map(move |runs| Part::Sequences(prepared, runs)))
}

fn of_part(part: Part<'_>, simulate: &Simulate) -> u64 {
    match part {
        Part::Rule(_) | Part::Rounds(_) => simulate.rounds,
        Part::Sequences(prepared, runs) => sequences(simulate, runs, prepared.subject),
    }
}

fn shards<'a>(part: Part<'a>, simulate: &Simulate) -> impl Iterator<Item = Shard<'a>> + Send + use<'a> {
    let all = of_part(part, simulate);
    let size = match part {
        Part::Rule(_) => SHARD,
        Part::Rounds(_) => SHARD * 4,
        Part::Sequences(..) => (SHARD / 4 / simulate.tokens.max(1)).max(1),
    };
    (0..all.div_ceil(size)).map(move |index| Shard { part, index, draws: size.min(all - index * size) })
}

fn run(shard: &Shard<'_>, tokens: u64, seed: u64) -> Made {
    let index = shard.index.to_string();
    let generator = |parts: &[&str]| Generator::from_seed(cell_seed(seed, parts));
    match shard.part {
        Part::Rule(pair) => Made::Rule(rule(pair, shard.draws, &mut generator(&["rule", &index]))),
        Part::Rounds(Prepared { at, subject, rounds, .. }) => {
            let mut generator = generator(&["rounds", &subject.name, &index]);
            let table = rounds.as_ref().and_then(Runs::table);
            Made::Rounds(*at, table.map(|table| table.rounds(shard.draws, &mut generator)).unwrap_or_default())
        }
        Part::Sequences(Prepared { at, subject, rounds: alike, .. }, (k, runs)) => {
            let mut generator = generator(&["sequences", &subject.name, &k.to_string(), &tokens.to_string(), &index]);
            let mut rounds = RoundTrials::default();
            let runs = (0..shard.draws).map(|_| runs.run(tokens, &mut generator, &mut rounds)).collect();
            let rounds = if alike.is_some() { RoundTrials::default() } else { rounds };
            Made::Sequences { subject: *at, k: *k, rounds, runs }
        }
    }
}

impl Study {
    fn absorb(&mut self, made: Made) {
        match made {
            Made::Rule(trials) => {
                if let Some(rule) = &mut self.rule {
                    rule.absorb(&trials);
                }
            }
            Made::Rounds(subject, trials) => {
                let longest = self.subjects[subject].iter_mut().max_by_key(|seen| seen.k);
                longest.into_iter().for_each(|seen| seen.rounds.absorb(&trials));
            }
            Made::Sequences { subject, k, rounds, mut runs } => {
                let of_k = self.subjects[subject].iter_mut().find(|seen| seen.k == k);
                of_k.into_iter().for_each(|seen| {
                    seen.rounds.absorb(&rounds);
                    seen.runs.append(&mut runs);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::beta::Beta;
    use crate::units::Probability;

    fn made(rounds: u64, threads: usize) -> Study {
        let simulate = Simulate { rounds, k: vec![0, 3, 30], batch: vec![4], tokens: 50, ..Simulate::default() };
        let subject = |name: &str, process| Subject { name: name.to_owned(), process, k: simulate.k.clone() };
        let beta = Process::Beta { beta: Beta::new(3.0, 1.0).unwrap(), scope: Scope::Sequence };
        let subjects = [subject("a", Process::Iid { alpha: Probability::new(0.7).unwrap() }), subject("b", beta)];
        let (outcome, study) = study(&simulate, &subjects, 5, threads, &AtomicBool::new(false), |_| {}).unwrap();
        assert_eq!(outcome, Outcome::Finished);
        study
    }

    #[test]
    fn invariant_1_threads_do_not_change_a_study() {
        let one = made(3_000_000, 1);
        assert_eq!(one, made(3_000_000, 3));
        let [iid, beta] = one.subjects.as_slice() else { panic!("two subjects") };
        assert!(iid.iter().all(|seen| seen.rounds.rounds() == 3_000_000 && seen.independent));
        assert_eq!(iid[0].rounds.by_accepted, [3_000_000]);
        assert!(beta.iter().all(|seen| !seen.independent && seen.rounds.rounds() >= 3_000_000 / 2));
        assert!(beta.iter().all(|seen| seen.runs.iter().map(|run| run.rounds).sum::<u64>() == seen.rounds.rounds()));
    }
}
