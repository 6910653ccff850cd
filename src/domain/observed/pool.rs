//! What windows come to together.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::acceptance::Counts;
use crate::domain::observed::{Alike, Group, Stamp, Window};
use crate::words::{Printout, Trap};

/// Sums over windows that know both numbers, and over their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Windows.
    pub windows: u64,
    /// Sum of the first number.
    pub first: f64,
    /// Sum of the second.
    pub second: f64,
    /// Sums of first^2, second^2 and first x second.
    pub squares: [f64; 3],
}

impl Pairs {
    fn add(&mut self, first: f64, second: f64) {
        self.windows += 1;
        self.first += first;
        self.second += second;
        let more = [first * first, second * second, first * second];
        self.squares.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
}

/// Fewer tokens per pass than this are as good as none accepted.
const HARDLY_ANY: f64 = 1.05;
/// Windows that must agree to the last digit before that looks forced.
const MANY_ALIKE: u64 = 3;

/// What windows of one format, group and draft length come to: counts are added, rates never averaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    /// Windows that drafted.
    pub windows: u64,
    /// Windows in which nothing was drafted.
    pub silent: u64,
    /// Accepted drafts and rounds, of windows that know both.
    pub accepted_of_rounds: Pairs,
    /// Accepted drafts and drafts, of windows that know both.
    pub accepted_of_drafted: Pairs,
    /// Accepted drafts as V0 counts them, and drafts.
    pub independent: Pairs,
    /// Emitted and verified tokens, of windows that know drafts, accepted drafts and rounds.
    pub emitted_of_verified: Pairs,
    /// Drafts and rounds, of windows that know both.
    pub drafted_of_rounds: Pairs,
    /// Rounds of windows that know positions.
    pub position_rounds: f64,
    /// Rounds that accepted at least the first, second, … draft, of these.
    pub passed: Vec<f64>,
    /// Rounds one by one, by drafted and accepted.
    pub alike: BTreeMap<(u32, u32), u64>,
    /// Tokens of all decode steps, and those steps.
    pub steps: Pairs,
    /// Printed lengths and weights, of windows that count no rounds.
    pub lengths: Pairs,
    /// The least and the largest tokens per pass of a window.
    pub extremes: Option<(f64, f64)>,
    /// The first and the last moment.
    pub span: Option<(Stamp, Stamp)>,
    /// Ranks that were added up.
    pub ranks: BTreeSet<String>,
    /// What is to be known.
    pub traps: BTreeSet<Trap>,
}

impl Pool {
    /// Adds a window.
    pub fn add(&mut self, window: &Window) {
        self.traps.extend(window.traps.iter().copied());
        self.ranks.extend(window.group.rank.clone());
        if let Some((tokens, steps)) = window.steps {
            self.steps.add(tokens, steps);
        }
        if let Some(at) = window.at {
            let (first, last) = self.span.unwrap_or((at, at));
            let earlier = if at.seconds < first.seconds { at } else { first };
            self.span = Some((earlier, if at.seconds > last.seconds { at } else { last }));
        }
        if window.drafted == Some(0.0) || window.rounds == Some(0.0) {
            self.silent += 1;
            return;
        }
        if window.drafted.or(window.accepted).or(window.rounds).is_none() && window.length.is_none() {
            // It tells of decode steps only, or of a trap.
            return;
        }
        self.windows += 1;
        if let (Some(accepted), Some(rounds)) = (window.accepted, window.rounds) {
            self.accepted_of_rounds.add(accepted, rounds);
            self.extend(1.0 + accepted / rounds);
        } else if let Some((length, weight)) = window.length {
            self.lengths.add(length * weight, weight);
            self.extend(length);
        }
        if let (Some(accepted), Some(drafted)) = (window.accepted, window.drafted) {
            self.accepted_of_drafted.add(accepted, drafted);
        }
        if let (Some(accepted), Some(drafted), Some(rounds)) = (window.accepted, window.drafted, window.rounds) {
            self.emitted_of_verified.add(accepted + rounds, drafted + rounds);
        }
        if let (Some(accepted), Some(drafted)) = (window.independent, window.drafted) {
            self.independent.add(accepted, drafted);
        }
        if let (Some(drafted), Some(rounds)) = (window.drafted, window.rounds) {
            self.drafted_of_rounds.add(drafted, rounds);
        }
        if let (Some(rounds), false) = (window.rounds, window.passed.is_empty()) {
            self.position_rounds += rounds;
            self.passed.resize(self.passed.len().max(window.passed.len()), 0.0);
            self.passed.iter_mut().zip(&window.passed).for_each(|(sum, more)| *sum += more);
        }
        for &Alike { drafted, accepted, rounds } in &window.alike {
            *self.alike.entry((drafted, accepted)).or_default() += rounds;
        }
    }

    /// Whether all drafts have one length, and the draft length: as stated, or the one that they have.
    #[must_use]
    pub fn length(&self, stated: Option<u64>) -> (Option<bool>, Option<u64>) {
        let pairs = &self.drafted_of_rounds;
        if pairs.windows == 0 {
            return (None, stated);
        }
        let mean = pairs.first / pairs.second;
        let whole = (mean - mean.round()).abs() < 1e-9 * mean && mean >= 1.0;
        match stated {
            Some(k) => (Some((mean - k as f64).abs() < 1e-6 * mean.max(1.0)), Some(k)),
            None => (Some(whole), whole.then(|| mean.round() as u64)),
        }
    }

    /// Counts by position, of drafts of one length.
    #[must_use]
    pub fn counts(&self, stated: Option<u64>) -> Option<Counts> {
        if self.length(stated).0 != Some(true) || self.position_rounds <= 0.0 || self.traps.contains(&Trap::Tree) {
            return None;
        }
        let accepted = self.passed.iter().map(|passed| passed.round() as u64).collect();
        Counts::new(accepted, self.position_rounds.round() as u64).ok()
    }

    /// Tokens per pass, bonus included.
    #[must_use]
    pub fn tokens_per_pass(&self) -> Option<f64> {
        let of = |pairs: &Pairs| (pairs.windows > 0 && pairs.second > 0.0).then(|| pairs.first / pairs.second);
        of(&self.accepted_of_rounds).map(|accepted| 1.0 + accepted).or_else(|| of(&self.lengths))
    }

    /// What looks wrong: hardly any accepted, or the same in every window.
    #[must_use]
    pub fn suspects(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.tokens_per_pass().is_some_and(|tokens| tokens < HARDLY_ANY) {
            lines.push(
                "suspect: hardly any draft is accepted. A head of another model, random prompts, a broken template or the wrong \
                 hidden states look like this"
                    .to_owned(),
            );
        }
        if let (Some((least, most)), true) = (self.extremes, self.windows >= MANY_ALIKE)
            && most - least <= 1e-9 * most
        {
            lines.push(format!(
                "suspect: the same {least} tokens per pass in all {} windows. Simulated or forced acceptance looks like this \
                 (SGLANG_SIMULATE_ACC_LEN, TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS, synthetic rejection sampling), and so does \
                 a log that was copied",
                self.windows
            ));
        }
        lines
    }

    /// Of all decode steps, those that drafted, where both are counted.
    #[must_use]
    pub fn drafting_share(&self) -> Option<f64> {
        let (rounds, steps) = (&self.accepted_of_rounds, &self.steps);
        (rounds.windows > 0 && steps.second > 0.0).then(|| (rounds.second / steps.second).min(1.0))
    }

    fn extend(&mut self, tokens: f64) {
        let (least, most) = self.extremes.unwrap_or((tokens, tokens));
        self.extremes = Some((least.min(tokens), most.max(tokens)));
    }

    /// Adds what another pool holds.
    pub fn absorb(&mut self, other: &Self) {
        let pairs = |sum: &mut Pairs, more: &Pairs| {
            sum.windows += more.windows;
            sum.first += more.first;
            sum.second += more.second;
            sum.squares.iter_mut().zip(more.squares).for_each(|(sum, more)| *sum += more);
        };
        self.windows += other.windows;
        self.silent += other.silent;
        pairs(&mut self.accepted_of_rounds, &other.accepted_of_rounds);
        pairs(&mut self.accepted_of_drafted, &other.accepted_of_drafted);
        pairs(&mut self.emitted_of_verified, &other.emitted_of_verified);
        pairs(&mut self.independent, &other.independent);
        pairs(&mut self.drafted_of_rounds, &other.drafted_of_rounds);
        pairs(&mut self.steps, &other.steps);
        pairs(&mut self.lengths, &other.lengths);
        self.position_rounds += other.position_rounds;
        self.passed.resize(self.passed.len().max(other.passed.len()), 0.0);
        self.passed.iter_mut().zip(&other.passed).for_each(|(sum, more)| *sum += more);
        for (&key, &rounds) in &other.alike {
            *self.alike.entry(key).or_default() += rounds;
        }
        if let Some((least, most)) = other.extremes {
            self.extend(least);
            self.extend(most);
        }
        if let Some((first, last)) = other.span {
            let own = self.span.unwrap_or((first, last));
            let earlier = if first.seconds < own.0.seconds { first } else { own.0 };
            self.span = Some((earlier, if last.seconds > own.1.seconds { last } else { own.1 }));
        }
        self.ranks.extend(other.ranks.iter().cloned());
        self.traps.extend(other.traps.iter().copied());
    }
}

/// What was read, by format, group and draft length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pools(BTreeMap<(Printout, Group, Option<u64>), Pool>);

impl Pools {
    /// Adds a window; ranks are kept apart only if they are asked for, models always.
    pub fn add(&mut self, window: &Window, by_rank: bool) {
        let mut group = window.group.clone();
        group.rank = group.rank.filter(|_| by_rank);
        self.0.entry((window.format, group, window.k)).or_default().add(window);
    }

    /// Adds what another reading holds, as that of a file where files are kept apart.
    pub fn absorb(&mut self, other: Self, file: Option<&str>) {
        for ((format, mut group, k), pool) in other.0 {
            group.file = file.map(str::to_owned);
            self.0.entry((format, group, k)).or_default().absorb(&pool);
        }
    }

    /// What is known of draft lengths for a whole input, given to windows of a format that do not say theirs.
    pub fn settle(&mut self, format: Printout, k: u64) {
        let open: Vec<Group> = self
            .0
            .keys()
            .filter(|(of, _, k)| *of == format && k.is_none())
            .map(|(_, group, _)| group.clone())
            .collect();
        for group in open {
            if let Some(mut pool) = self.0.remove(&(format, group.clone(), None)) {
                if format == Printout::SglangLog {
                    pool.traps.insert(Trap::ChainAssumed);
                }
                self.0.entry((format, group, Some(k))).or_default().absorb(&pool);
            }
        }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = (Printout, &Group, Option<u64>, &Pool)> {
        self.0.iter().map(|((format, group, k), pool)| (*format, group, *k, pool))
    }

    /// Whether nothing was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
