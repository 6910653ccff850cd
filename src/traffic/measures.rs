//! What a run comes to: the measures of its requests, and how busy the service was.

use crate::domain::traffic::Slo;
use crate::traffic::engine::Sequence;
use crate::traffic::requests::Request;
use crate::traffic::tally::{BATCHES, Gaps, Shares, Times};

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// How long it took.
    pub(super) seconds: f64,
    /// Sequences that decoded.
    pub(super) decoding: usize,
    /// Requests that waited.
    pub(super) waiting: usize,
    /// Share of the cache in use.
    pub(super) cache: f64,
    /// Draft length.
    pub(super) k: u64,
    /// Tokens of all that decoded.
    pub(super) emitted: u64,
}

/// A run, measured.
///
/// Requests from the `from`-th on, up to the `to`-th, are measured, each to its end; more come after them, so that the last of them meet
/// the same load as the first. Means over time are of the steps between the arrival of the first of them and of the last.
#[derive(Clone, Debug)]
pub struct Measures {
    from: u64,
    to: u64,
    slo: Option<Slo>,
    /// Time to first token.
    pub ttft: Times,
    /// Time for each further token.
    pub tpot: Times,
    /// Time to the last token.
    pub e2e: Times,
    /// Gaps between chunks.
    pub by_chunk: Gaps,
    /// Gaps between tokens.
    pub by_token: Gaps,
    /// Requests that meet everything that is asked.
    pub good: Shares,
    /// Requests that can never be served.
    pub refused: u64,
    /// Sequences that gave up their cache.
    pub preempted: u64,
    answered: u64,
    /// When the first measured request came.
    opened: Option<f64>,
    closed: bool,
    /// Requests that were there when the first measured one came, and the last.
    present: [u64; 2],
    /// Sums over time between the two.
    pub over_time: OverTime,
    balance: Balance,
}

/// Sums over the time in which measured requests came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverTime {
    /// Seconds.
    pub seconds: f64,
    /// Of these, those with a step.
    pub busy: f64,
    /// Sequences that decode x seconds.
    pub decoding: f64,
    /// Requests that wait x seconds.
    pub waiting: f64,
    /// Share of the cache in use x seconds.
    pub cache: f64,
    /// Tokens that came out.
    pub tokens: u64,
    /// Requests answered.
    pub answered: u64,
    /// Prompt tokens of these.
    pub prompt_tokens: u64,
    /// Steps in which sequences decoded.
    pub steps: u64,
    /// Of these, those that drafted.
    pub speculating: u64,
    /// Drafts proposed by all sequences, and how many of them came out.
    pub drafted: u64,
    /// See above.
    pub accepted: u64,
}

/// Two ways to count how long requests were there (Little 1961).
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    present: u64,
    /// Requests that are there x seconds.
    area: f64,
    /// Seconds that each of those that left was there.
    sojourns: f64,
    /// Moments of arrival of those that are still there.
    arrivals: f64,
    now: f64,
    due: u64,
    emitted: u64,
}

/// A run whose books do not balance: a fault of the program, not of the input.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Unbalanced {
    /// Little's law.
    #[error("requests were there for {area} s by the clock and {sojourns} s by their own times")]
    Little {
        /// Number of requests over time.
        area: f64,
        /// Sum of their times.
        sojourns: f64,
    },
    /// Tokens.
    #[error("{emitted} tokens came out where {due} were asked for")]
    Tokens {
        /// Tokens that came out of requests that were answered.
        emitted: u64,
        /// Tokens that they asked for.
        due: u64,
    },
}

impl Measures {
    /// Of a run of `requests`, the first `warmup` of which are left out.
    #[must_use]
    pub fn new(requests: u64, warmup: u64, slo: Option<Slo>) -> Self {
        Self {
            from: warmup,
            to: requests,
            slo,
            ttft: Times::none(),
            tpot: Times::none(),
            e2e: Times::none(),
            by_chunk: Gaps::none(),
            by_token: Gaps::none(),
            good: Shares::none(),
            refused: 0,
            preempted: 0,
            answered: 0,
            opened: None,
            closed: false,
            present: [0; 2],
            over_time: OverTime::default(),
            balance: Balance::default(),
        }
    }

    /// Whether a request is measured.
    #[must_use]
    pub const fn measures(&self, number: u64) -> bool {
        number >= self.from && number < self.to
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.answered == self.to - self.from
    }

    /// Requests that are measured.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.to - self.from
    }

    pub(super) fn arrived(&mut self, request: &Request, now: f64) {
        if request.number == self.from {
            self.opened = Some(now);
            self.present[0] = self.balance.present;
        }
        if request.number + 1 == self.to {
            self.closed = true;
            self.present[1] = self.balance.present;
        }
        self.balance.present += 1;
        self.balance.area += now - request.at;
        self.balance.arrivals += request.at;
    }

    /// Whether requests pile up: while the measured ones came, a twentieth of them and more than chance would have it stayed behind. Their
    /// times then say how long the run was, and nothing of the service.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        let requests = self.requests() as f64;
        let behind = self.present[1] as f64 - self.present[0] as f64;
        behind > (requests / 20.0).max(3.0 * requests.sqrt())
    }

    fn is_open(&self) -> bool {
        self.opened.is_some() && !self.closed
    }

    pub(super) fn refused(&mut self, request: &Request, now: f64) {
        self.left(request.at, now);
        if self.measures(request.number) {
            self.refused += 1;
            self.answered += 1;
            self.good.take(self.batch(request.number), false);
        }
    }

    fn left(&mut self, arrived: f64, now: f64) {
        self.balance.present -= 1;
        self.balance.sojourns += now - arrived;
        self.balance.arrivals -= arrived;
    }

    pub(super) fn idle(&mut self, seconds: f64) {
        self.balance.now += seconds;
        if self.is_open() {
            self.over_time.seconds += seconds;
        }
    }

    pub(super) fn preempted(&mut self) {
        self.preempted += u64::from(self.is_open());
    }

    pub(super) fn step(&mut self, span: &Span) {
        let Span { seconds, decoding, waiting, cache, k, emitted } = *span;
        self.balance.area += self.balance.present as f64 * seconds;
        self.balance.now += seconds;
        if !self.is_open() {
            return;
        }
        let over = &mut self.over_time;
        over.seconds += seconds;
        over.busy += seconds;
        over.decoding += decoding as f64 * seconds;
        over.waiting += waiting as f64 * seconds;
        over.cache += cache * seconds;
        over.tokens += emitted;
        over.steps += u64::from(decoding > 0);
        over.speculating += u64::from(decoding > 0 && k > 0);
        over.drafted += decoding as u64 * k;
        over.accepted += if k > 0 { emitted - decoding as u64 } else { 0 };
    }

    /// Tokens that prompts gave at the end of a step.
    pub(super) fn first_tokens(&mut self, tokens: u64) {
        if self.is_open() {
            self.over_time.tokens += tokens;
        }
    }

    /// Gaps before `tokens` tokens that came at once, of so many sequences.
    pub(super) fn gaps(&mut self, seconds: f64, tokens: usize, times: u64) {
        if tokens > 0 {
            self.by_chunk.take(seconds, times);
            self.by_token.take(seconds / tokens as f64, times * tokens as u64);
        }
    }

    fn batch(&self, number: u64) -> usize {
        ((number - self.from) as u128 * BATCHES as u128 / u128::from(self.to - self.from)) as usize
    }

    pub(super) fn answered(&mut self, of: &Sequence, now: f64) {
        self.left(of.arrived, now);
        self.balance.due += u64::from(of.output);
        self.balance.emitted += u64::from(of.emitted);
        if self.is_open() {
            self.over_time.answered += 1;
            self.over_time.prompt_tokens += u64::from(of.prompt);
        }
        if !self.measures(of.number) {
            return;
        }
        self.answered += 1;
        let batch = self.batch(of.number);
        let first = (of.output > 0).then_some(of.first - of.arrived);
        let each = (of.output > 1).then(|| (of.last - of.first) / f64::from(of.output - 1));
        let whole = now - of.arrived;
        if let Some(first) = first {
            self.ttft.take(batch, first);
        }
        if let Some(each) = each {
            self.tpot.take(batch, each);
        }
        self.e2e.take(batch, whole);
        let within = |limit: Option<crate::units::Seconds>, time: Option<f64>| match (limit, time) {
            (Some(limit), Some(time)) => time <= limit.get(),
            _ => true,
        };
        let good = self
            .slo
            .is_none_or(|slo| within(slo.ttft, first) && within(slo.tpot, each) && within(slo.e2e, Some(whole)));
        self.good.take(batch, good);
    }

    /// Checks the books.
    ///
    /// # Errors
    ///
    /// [`Unbalanced`], which no input may bring about.
    pub fn check(&self) -> Result<(), Unbalanced> {
        let Balance { present, area, sojourns, arrivals, now, due, emitted } = self.balance;
        let sojourns = sojourns + (present as f64 * now - arrivals);
        if (area - sojourns).abs() > 1e-6 * area.max(sojourns).max(1e-9) {
            return Err(Unbalanced::Little { area, sojourns });
        }
        if due != emitted {
            return Err(Unbalanced::Tokens { emitted, due });
        }
        Ok(())
    }
}
