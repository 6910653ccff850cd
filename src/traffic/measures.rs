//! What a run comes to: the measures of its requests, and how busy the service was.

mod answers;
mod balance;
mod over_time;

pub use answers::{Answer, ByKind};
pub use balance::Unbalanced;
pub use over_time::OverTime;

use balance::Balance;

use crate::domain::traffic::Slo;
use crate::traffic::engine::Sequence;
use crate::traffic::requests::Request;
use crate::traffic::tally::{BATCHES, FEWEST, Gaps, Rates, Shares, Times};

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

/// Which requests of a run are measured, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The first one.
    pub from: u64,
    /// The first one after them.
    pub to: u64,
    /// What is asked of them.
    pub slo: Option<Slo>,
    /// Kinds of requests.
    pub kinds: usize,
    /// Whether each of them is kept.
    pub each: bool,
}

/// A run, measured.
///
/// Requests from the `from`-th on, up to the `to`-th, are measured, each to its end; more come after them, so that the last of them meet
/// the same load as the first. Means over time are of the steps between the arrival of the first of them and of the last.
#[derive(Clone, Debug)]
pub struct Measures {
    scope: Scope,
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
    /// By kind, where there are several.
    pub kinds: Vec<ByKind>,
    /// Each request in the order of their numbers, where that is wanted.
    pub each: Vec<Answer>,
    /// Requests that can never be served.
    pub refused: u64,
    /// Sequences that gave up their cache.
    pub preempted: u64,
    answered: u64,
    /// Tokens of prompts and outputs of those answered.
    prompt_tokens: u64,
    output_tokens: u64,
    /// When the first measured request came.
    opened: Option<f64>,
    closed: bool,
    /// Of the runs of requests, the one that comes now.
    coming: usize,
    /// Requests that were there when the first measured one came, and the last.
    present: [u64; 2],
    /// When the one before came, and tokens that are asked for over time: of prompts, and of outputs.
    before: f64,
    asked: [Rates; 2],
    /// Sums over time between the two.
    pub over_time: OverTime,
    balance: Balance,
}

impl Measures {
    /// Of a run that has not begun.
    #[must_use]
    pub fn new(scope: Scope) -> Self {
        let kinds = if scope.kinds > 1 { scope.kinds } else { 0 };
        Self {
            scope,
            ttft: Times::none(),
            tpot: Times::none(),
            e2e: Times::none(),
            by_chunk: Gaps::none(),
            by_token: Gaps::none(),
            good: Shares::none(),
            kinds: (0..kinds).map(|_| ByKind::none()).collect(),
            each: Vec::new(),
            refused: 0,
            preempted: 0,
            answered: 0,
            prompt_tokens: 0,
            output_tokens: 0,
            opened: None,
            closed: false,
            coming: 0,
            present: [0; 2],
            before: 0.0,
            asked: [Rates::default(), Rates::default()],
            over_time: OverTime::default(),
            balance: Balance::default(),
        }
    }

    /// Whether a request is measured.
    #[must_use]
    pub const fn measures(&self, number: u64) -> bool {
        number >= self.scope.from && number < self.scope.to
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.answered == self.requests()
    }

    /// The first request that is no longer measured.
    pub(super) const fn last(&self) -> u64 {
        self.scope.to
    }

    /// Requests that are measured.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.scope.to - self.scope.from
    }

    /// Tokens of a prompt, and of an output, in the mean over requests that were answered.
    #[must_use]
    pub fn mean_lengths(&self) -> Option<(f64, f64)> {
        let count = self.answered - self.refused;
        (count > 0).then(|| (self.prompt_tokens as f64 / count as f64, self.output_tokens as f64 / count as f64))
    }

    pub(super) fn arrived(&mut self, request: &Request, now: f64) {
        if request.number == self.scope.from {
            self.opened = Some(now);
            self.present[0] = self.balance.present();
        }
        if self.measures(request.number) {
            self.coming = self.batch(request.number);
            for (asked, tokens) in self.asked.iter_mut().zip([request.prompt, request.output]) {
                asked.take(self.coming, request.at - self.before, u64::from(tokens));
            }
        }
        self.before = request.at;
        if request.number + 1 == self.scope.to {
            self.closed = true;
            self.present[1] = self.balance.present();
        }
        self.balance.arrives(now - request.at);
    }

    /// Whether requests pile up: while the measured ones came, a twentieth of them and more than chance would have it stayed behind. Their
    /// times then say how long the run was, and nothing of the service.
    #[must_use]
    pub fn is_overloaded(&self) -> bool {
        let requests = self.requests() as f64;
        let behind = self.present[1] as f64 - self.present[0] as f64;
        behind > (requests / 20.0).max(3.0 * requests.sqrt())
    }

    /// Whether it says little of a service that goes on: the warm-up, or the time in which measured requests came, is shorter than it takes
    /// to answer one, or there are too few of them to tell chance.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        let Some(each) = self.e2e.mean() else { return false };
        let begins_early = self.scope.from > 0 && self.opened.is_some_and(|opened| opened < each.value);
        begins_early || self.over_time.seconds < each.value || self.requests() < BATCHES as u64 * FEWEST
    }

    /// By how much the work that these requests bring may be off that of endlessly many, in parts and at 95 %: by when they came and how
    /// long they are, of prompts or outputs, whichever vary more. Endless where there are too few of them.
    ///
    /// # Formula
    ///
    /// ```text
    /// max over prompts and outputs of  t s / (sqrt(20) r)      r: their tokens per second, s: its standard deviation over 20 runs of
    ///                                                          equally many requests, t: Student's quantile of 95 % at 19 degrees
    /// ```
    #[must_use]
    pub fn chance(&self) -> f64 {
        let enough = self.requests() >= BATCHES as u64 * FEWEST;
        let of = |asked: &Rates| {
            let rate = asked.per_second()?;
            (rate.value > 0.0).then(|| rate.high / rate.value - 1.0)
        };
        if enough { self.asked.iter().filter_map(of).fold(0.0, f64::max) } else { f64::INFINITY }
    }

    fn is_open(&self) -> bool {
        self.opened.is_some() && !self.closed
    }

    pub(super) fn refused(&mut self, request: &Request, now: f64) {
        self.balance.leaves(now - request.at);
        if !self.measures(request.number) {
            return;
        }
        self.refused += 1;
        let Request { number, at, kind, prompt, output, .. } = *request;
        let (admitted, first, answered) = (None, None, None);
        let (preempted, steps, drafted, good) = (0, 0, 0, false);
        let arrived = at;
        self.note(Answer {
            number,
            kind,
            arrived,
            admitted,
            first,
            answered,
            prompt,
            output,
            preempted,
            steps,
            drafted,
            good,
        });
    }

    /// Requests that are there when the last measured one leaves came then.
    pub(super) fn ends(&mut self, now: f64, arrivals: impl Iterator<Item = f64>) {
        arrivals.for_each(|arrived| self.balance.stays(now - arrived));
        self.each.sort_by_key(|answer| answer.number);
    }

    pub(super) fn idle(&mut self, seconds: f64) {
        if self.is_open() {
            self.passes(seconds, 0);
        }
    }

    fn passes(&mut self, seconds: f64, tokens: u64) {
        self.over_time.seconds += seconds;
        self.over_time.tokens += tokens;
        self.over_time.tokens_by_batch.take(self.coming, seconds, tokens);
        self.over_time.answered_by_batch.take(self.coming, seconds, 0);
    }

    pub(super) fn preempted(&mut self) {
        self.preempted += u64::from(self.is_open());
    }

    pub(super) fn step(&mut self, span: &Span) {
        let Span { seconds, decoding, waiting, cache, k, emitted } = *span;
        self.balance.passes(seconds);
        if !self.is_open() {
            return;
        }
        self.passes(seconds, emitted);
        let over = &mut self.over_time;
        over.busy += seconds;
        over.decoding += decoding as f64 * seconds;
        over.waiting += waiting as f64 * seconds;
        over.cache += cache * seconds;
        over.steps += u64::from(decoding > 0);
        over.speculating += u64::from(decoding > 0 && k > 0);
        over.drafted += decoding as u64 * k;
        over.accepted += if k > 0 { emitted - decoding as u64 } else { 0 };
    }

    /// Tokens that prompts gave at the end of a step.
    pub(super) fn first_tokens(&mut self, tokens: u64) {
        if self.is_open() {
            self.passes(0.0, tokens);
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
        ((number - self.scope.from) as u128 * BATCHES as u128 / u128::from(self.requests())) as usize
    }

    pub(super) fn answered(&mut self, of: &Sequence, now: f64) {
        self.balance.leaves(now - of.arrived);
        self.balance.gives(of.emitted, of.output);
        if self.is_open() {
            self.over_time.answered += 1;
            self.over_time.answered_by_batch.take(self.coming, 0.0, 1);
            self.over_time.prompt_tokens += u64::from(of.prompt);
        }
        if !self.measures(of.number) {
            return;
        }
        self.prompt_tokens += u64::from(of.prompt);
        self.output_tokens += u64::from(of.output);
        let mut answer = of.answer(now);
        answer.good = self.is_good(&answer);
        let batch = self.batch(of.number);
        for (times, seconds) in
            [(&mut self.ttft, answer.ttft()), (&mut self.tpot, answer.tpot()), (&mut self.e2e, answer.e2e())]
        {
            if let Some(seconds) = seconds {
                times.take(batch, seconds);
            }
        }
        self.note(answer);
    }

    /// Takes what became of a request.
    fn note(&mut self, answer: Answer) {
        self.answered += 1;
        self.good.take(self.batch(answer.number), answer.good);
        if let Some(kind) = self.kinds.get_mut(answer.kind) {
            kind.take(&answer);
        }
        if self.scope.each {
            self.each.push(answer);
        }
    }

    fn is_good(&self, answer: &Answer) -> bool {
        let within = |limit: Option<crate::units::Seconds>, time: Option<f64>| match (limit, time) {
            (Some(limit), Some(time)) => time <= limit.get(),
            _ => true,
        };
        self.scope.slo.is_none_or(|slo| {
            within(slo.ttft, answer.ttft()) && within(slo.tpot, answer.tpot()) && within(slo.e2e, answer.e2e())
        })
    }

    /// Checks the books.
    ///
    /// # Errors
    ///
    /// [`Unbalanced`], which no input may bring about.
    pub fn check(&self) -> Result<(), Unbalanced> {
        self.balance.check()
    }
}
