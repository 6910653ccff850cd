//! A drafter with one acceptance, as a candidate for a setting; and what it does at one context.

use crate::acceptance::process::{Known, Process};
use crate::cost::pass::PassCost;
use crate::domain::drafter::Drafter;
use crate::plan::capacity::{Capacity, capacity};
use crate::plan::choose::Choice;
use crate::plan::round::{Round, plain_step, round};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::plan::speedup::speedup;
use crate::plan::yields::{acceptances, process_of};
use crate::units::Seconds;

/// Steps in which tokens that pay are looked for where drafts are looked up.
const STEPS: u32 = 256;
/// As many halvings as a double has digits.
const HALVINGS: u32 = 60;

/// A drafter with one of its acceptances.
#[derive(Debug)]
pub struct Candidate<'s> {
    /// The drafter.
    pub drafter: &'s Drafter,
    /// Which of its acceptances.
    pub acceptance: u64,
    /// What prices it.
    pub setup: Setup<'s>,
    /// Draft lengths that are tried, in rising order, without 0.
    pub lengths: Vec<u64>,
}

impl<'s> Candidate<'s> {
    /// Every drafter of a study with every acceptance it has, drafting at most `k_max` tokens.
    ///
    /// # Errors
    ///
    /// What cannot be priced, each reason once.
    pub fn all(setting: Setting<'s>, k_max: u64) -> Result<Vec<Self>, Vec<SetupError>> {
        let (mut candidates, mut refused) = (Vec::new(), Vec::new());
        for drafter in &setting.scenario.drafters {
            for acceptance in 0..acceptances(drafter) {
                match setting.setup(Some(drafter)) {
                    Ok(setup) => {
                        candidates.push(Self { drafter, acceptance, setup, lengths: lengths(drafter, k_max) });
                    }
                    Err(error) if refused.contains(&error) => {}
                    Err(error) => refused.push(error),
                }
            }
        }
        if refused.is_empty() { Ok(candidates) } else { Err(refused) }
    }

    /// Its acceptance at a context.
    #[must_use]
    pub fn process(&self, context: u64) -> Process {
        process_of(self.drafter, self.acceptance, context)
    }

    /// What it does at a context.
    #[must_use]
    pub fn here(&self, context: u64) -> Here<'_, 's> {
        let process = self.process(context);
        let running = |k: u64| capacity(&self.setup, context, k);
        let length = |&k: &u64| Length {
            k,
            tokens: process.tokens_per_pass(k),
            known: process.known(k),
            capacity: running(k).0,
        };
        let (resident, alone) = running(0);
        Here { candidate: self, context, lengths: self.lengths.iter().map(length).collect(), alone, resident }
    }
}

/// The draft lengths that are tried: a tree or look-ahead has one of its own.
fn lengths(drafter: &Drafter, k_max: u64) -> Vec<u64> {
    match drafter.only_length() {
        Some(only) => [only].into_iter().filter(|_| k_max > 0).collect(),
        None => (1..=drafter.longest.map_or(k_max, |longest| longest.min(k_max))).collect(),
    }
}

/// What a draft length yields at a context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// Draft tokens of a round.
    pub k: u64,
    /// Tokens per pass, bonus included.
    pub tokens: f64,
    /// How that is known.
    pub known: Known,
    /// How many sequences run with it.
    pub capacity: Capacity,
}

impl Length {
    /// Whether so many sequences run together.
    #[must_use]
    pub fn runs(&self, batch: u64) -> bool {
        runs(&self.capacity, batch)
    }
}

/// Whether so many sequences run together.
#[must_use]
pub fn runs(capacity: &Capacity, batch: u64) -> bool {
    capacity.running.is_none_or(|most| batch <= most)
}

/// A candidate at one context.
#[derive(Clone, Debug)]
pub struct Here<'c, 's> {
    /// The candidate.
    pub candidate: &'c Candidate<'s>,
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// Its draft lengths.
    pub lengths: Vec<Length>,
    /// How many sequences run without the drafter.
    pub alone: Capacity,
    /// How many run with the drafter in memory, drafting nothing.
    pub resident: Capacity,
}

/// So many sequences at a context that want to be decoded, plainly and speculating: each way with as many of them as it has room for, the
/// others waiting.
#[derive(Clone, Copy, Debug)]
pub struct Place<'h, 'c, 's> {
    here: &'h Here<'c, 's>,
    setup: &'h Setup<'s>,
    /// Sequences that want to be decoded together.
    pub batch: u64,
    /// How many of them run plainly.
    pub base_running: u64,
    /// The plain step of those.
    pub plain: PassCost,
}

impl<'c, 's> Here<'c, 's> {
    /// A batch here.
    #[must_use]
    pub fn at(&self, batch: u64) -> Place<'_, 'c, 's> {
        self.at_by(&self.candidate.setup, batch)
    }

    /// A batch here, with other prices.
    #[must_use]
    pub fn at_by<'h>(&'h self, setup: &'h Setup<'s>, batch: u64) -> Place<'h, 'c, 's> {
        let base_running = at_most(&self.alone, batch);
        let plain = plain_step(setup, base_running as f64, self.context as f64);
        Place { here: self, setup, batch, base_running, plain }
    }

    /// The draft length with the largest speedup; 0 where none gains or none runs.
    #[must_use]
    pub fn choose(&self, batch: u64) -> Choice {
        self.at(batch).best()
    }

    /// The same among those with which all of these sequences run.
    #[must_use]
    pub fn choose_for_all(&self, batch: u64) -> Choice {
        let place = self.at(batch);
        let best = place.best_of(|length| length.runs(batch));
        best.filter(|best| best.speedup > 1.0).unwrap_or(Choice { k: 0, speedup: 1.0 })
    }

    /// Whether so many sequences run with no draft length.
    #[must_use]
    pub fn crowds(&self, batch: u64) -> bool {
        !self.lengths.iter().any(|length| length.runs(batch))
    }

    /// What a draft length yields; none that is not tried.
    #[must_use]
    pub fn length(&self, k: u64) -> Option<&Length> {
        self.lengths.iter().find(|length| length.k == k)
    }
}

impl Place<'_, '_, '_> {
    /// How many sequences run with a draft length.
    #[must_use]
    pub fn running(&self, length: &Length) -> u64 {
        at_most(&length.capacity, self.base_running)
    }

    /// A round of a draft length, of those that run with it.
    #[must_use]
    pub fn round(&self, length: &Length) -> Round {
        let (batch, context) = (self.running(length), self.here.context as f64);
        let share = self.setup.proposing_share(length.tokens, length.k);
        if batch == self.base_running {
            return round(self.setup, &self.plain, batch as f64, context, length.k, share);
        }
        let plain = plain_step(self.setup, batch as f64, context);
        round(self.setup, &plain, batch as f64, context, length.k, share)
    }

    /// Seconds of a token of one sequence that runs.
    #[must_use]
    pub fn per_token(&self, length: &Length) -> f64 {
        self.round(length).seconds(length.tokens).get() / length.tokens
    }

    /// What a draft length gains: throughput over that of plain decoding; 0 where no sequence runs with it.
    ///
    /// # Formula
    ///
    /// ```text
    /// running tokens_per_pass / t_round(running)   over   base_running / t_plain(base_running)
    /// ```
    ///
    /// Where as many run either way this is the speedup of each of them.
    #[must_use]
    pub fn speedup(&self, length: &Length) -> f64 {
        match self.running(length) {
            0 => 0.0,
            all if all == self.base_running => {
                speedup(length.tokens, self.plain.seconds(), self.round(length).seconds(length.tokens))
            }
            some => {
                let alone = self.base_running as f64 / self.plain.seconds().get();
                some as f64 / self.per_token(length) / alone
            }
        }
    }

    /// What a draft length would gain whose rounds took no longer than plain steps: its tokens per pass, or less where fewer sequences
    /// run with it.
    #[must_use]
    pub fn most(&self, length: &Length) -> f64 {
        match self.running(length) {
            0 => 0.0,
            all if all == self.base_running => length.tokens,
            some => {
                let step = plain_step(self.setup, some as f64, self.here.context as f64).seconds().get();
                let alone = self.base_running as f64 / self.plain.seconds().get();
                length.tokens * some as f64 / step / alone
            }
        }
    }

    /// Tokens per pass at which a draft length is as fast as plain decoding; none if no number up to k + 1 is.
    #[must_use]
    pub fn tokens_to_pay(&self, length: &Length) -> Option<f64> {
        self.tokens_for(length, 1.0).filter(|tokens| *tokens <= length.k as f64 + 1.0)
    }

    /// Tokens per pass at which a draft length gains so much; none where no sequence runs with it, and of drafts that are looked up none
    /// if no number up to k + 1 does.
    ///
    /// # Formula
    ///
    /// ```text
    /// the least F with F running / t_round(F) >= speedup base_running / t_plain
    /// ```
    ///
    /// Tokens cost a round at most a time for each, but where drafts are looked up: more tokens then mean more sequences that
    /// propose, and wider verification. There F is looked for step by step, from 1 to k + 1.
    #[must_use]
    pub fn tokens_for(&self, length: &Length, speedup: f64) -> Option<f64> {
        let running = self.running(length);
        if running == 0 {
            return None;
        }
        let most = length.k as f64 + 1.0;
        let crowd = self.base_running as f64 / running as f64;
        let plain = self.plain.seconds().get();
        let due = Seconds::new(plain / (speedup * crowd));
        if !self.setup.looks_up() {
            return self.round(length).tokens_within(due);
        }
        let at = |step: u32| 1.0 + (most - 1.0) * f64::from(step) / f64::from(STEPS);
        let per_token = |tokens: f64| self.per_token(&Length { tokens, ..*length });
        let pays = |tokens: &f64| per_token(*tokens) <= due.get();
        let step = (0..=STEPS).find(|&step| pays(&at(step)))?;
        let (mut low, mut high) = (at(step.saturating_sub(1)), at(step));
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if pays(&middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// The best draft length, the smallest of equals; 0 where none gains.
    #[must_use]
    pub fn best(&self) -> Choice {
        self.best_of_drafting().filter(|best| best.speedup > 1.0).unwrap_or(Choice { k: 0, speedup: 1.0 })
    }

    /// The best draft length above 0, whether it gains or not; none where no sequence runs with any.
    #[must_use]
    pub fn best_of_drafting(&self) -> Option<Choice> {
        self.best_of(|_| true)
    }

    fn best_of(&self, counts: impl Fn(&Length) -> bool) -> Option<Choice> {
        let run = self.here.lengths.iter().filter(|length| self.running(length) > 0 && counts(length));
        let choices = run.map(|length| Choice { k: length.k, speedup: self.speedup(length) });
        choices.reduce(|best, next| if next.speedup > best.speedup { next } else { best })
    }
}

/// So many of a batch as run.
fn at_most(capacity: &Capacity, batch: u64) -> u64 {
    capacity.running.map_or(batch, |most| most.min(batch))
}
