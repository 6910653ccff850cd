//! The simulation: steps of a replica, one after the other.
//!
//! Each step, in this order: requests that have come wait; those that find room are admitted, first come first served, with room for
//! their whole prompt; the policy decides on k; every sequence that decodes runs a round, and prompts are read, in chunks, with what
//! the step's budget of new tokens leaves. At its end all tokens of the step come out. A sequence that outgrows the cache puts the one
//! admitted last back to the head of the queue, where it gives up its cache and later reads prompt and output once more, as vLLM and
//! SGLang do.

use std::collections::VecDeque;

use crate::acceptance::runs::State;
use crate::cost::shape::PassShape;
use crate::plan::step::Decoding;
use crate::rng::Generator;
use crate::traffic::measures::{Answer, Measures, Span};
use crate::traffic::policy::{Chooser, View};
use crate::traffic::requests::{Request, Source};
use crate::traffic::service::{Pace, Service};
use crate::units::Seconds;

/// Requests after the last that is measured, in sequences that run at a time.
const AFTER: u64 = 16;

/// A request that is being served.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub(super) number: u64,
    kind: usize,
    pub(super) arrived: f64,
    pub(super) prompt: u32,
    pub(super) output: u32,
    pub(super) emitted: u32,
    /// When it was admitted for the first time.
    admitted: Option<f64>,
    /// When tokens came out first and last.
    first: Option<f64>,
    last: f64,
    preempted: u32,
    steps: u32,
    drafted: u64,
    /// Tokens to have in the cache before it decodes, and those it has.
    to_read: u32,
    cached: u32,
    blocks: u32,
    state: State,
    generator: Generator,
}

impl Sequence {
    fn left(&self) -> u32 {
        self.to_read - self.cached
    }

    /// What became of it, where it is answered now.
    pub(super) fn answer(&self, now: f64) -> Answer {
        Answer {
            number: self.number,
            kind: self.kind,
            arrived: self.arrived,
            admitted: self.admitted,
            first: self.first,
            answered: Some(now),
            prompt: self.prompt,
            output: self.output,
            preempted: self.preempted,
            steps: self.steps,
            drafted: self.drafted,
            good: false,
        }
    }
}

/// A replica at work.
pub(super) struct Engine<'a, P> {
    service: &'a Service<P>,
    source: Source<'a>,
    /// Requests that come at all: enough for the last that is measured to meet the same load as the first.
    comes: u64,
    chooser: Chooser,
    now: f64,
    waiting: VecDeque<Sequence>,
    reading: VecDeque<Sequence>,
    decoding: Vec<Sequence>,
    /// Tokens of prompts that are admitted and not read.
    due: u64,
    /// Tokens in the cache of sequences that decode.
    tokens: u64,
    /// Bytes of the cache in use.
    used: f64,
    measures: Measures,
    /// What each sequence that decodes yields in this step, and how many of those that are measured yield so many tokens.
    drawn: Vec<u32>,
    by_tokens: Vec<u64>,
}

impl<'a, P: Pace> Engine<'a, P> {
    pub(super) fn new(service: &'a Service<P>, source: Source<'a>, chooser: Chooser, measures: Measures) -> Self {
        // Those that wait behind as many as are measured, and many times what runs at a time, no longer matter to these.
        let comes = measures.last() + measures.last().max(AFTER * service.sequences as u64);
        let most = service.rounds.iter().map(|round| round.k as usize + 2).max().unwrap_or(2);
        Self {
            service,
            source,
            comes,
            chooser,
            now: 0.0,
            waiting: VecDeque::new(),
            reading: VecDeque::new(),
            decoding: Vec::new(),
            due: 0,
            tokens: 0,
            used: 0.0,
            measures,
            drawn: Vec::new(),
            by_tokens: vec![0; most],
        }
    }

    /// Serves until every request that is measured is answered, or `stop` says so.
    pub(super) fn run(mut self, stop: impl Fn() -> bool) -> Option<Measures> {
        let mut steps = 0_u64;
        loop {
            self.arrive();
            if self.measures.is_complete() {
                let there = self.waiting.iter().chain(&self.reading).chain(&self.decoding);
                self.measures.ends(self.now, there.map(|sequence| sequence.arrived));
                return Some(self.measures);
            }
            if self.waiting.is_empty() && self.reading.is_empty() && self.decoding.is_empty() {
                // Only arrivals can go on from here, and there always is one: clients that wait for nothing think.
                let next = self.source.next_at()?;
                self.measures.idle(next - self.now);
                self.now = next;
                continue;
            }
            steps += 1;
            if steps.is_multiple_of(4096) && stop() {
                return None;
            }
            self.admit();
            self.step();
        }
    }

    fn arrive(&mut self) {
        while self.source.number() < self.comes && self.source.next_at().is_some_and(|at| at <= self.now) {
            let Some(request) = self.source.take() else { return };
            self.measures.arrived(&request, self.now);
            if self.service.can_hold(request.prompt, request.output) {
                let sequence = self.begin(request);
                self.waiting.push_back(sequence);
            } else {
                let mut generator = request.generator.clone();
                self.measures.refused(&request, self.now);
                self.source.answered(self.now, &mut generator);
            }
        }
    }

    fn begin(&self, request: Request) -> Sequence {
        let Request { number, at, kind, prompt, hit, output, mut generator } = request;
        // The last token of a prompt is read in any case: its output is the first token.
        let hit = (hit / self.service.room.block * self.service.room.block).min(prompt.saturating_sub(1));
        let runs = self.service.rounds.last().map(|round| round.runs_of(kind));
        let state = runs.map_or_else(State::nowhere, |runs| runs.begin(&mut generator));
        Sequence {
            number,
            kind,
            arrived: at,
            prompt,
            output,
            emitted: 0,
            admitted: None,
            first: None,
            last: f64::NAN,
            preempted: 0,
            steps: 0,
            drafted: 0,
            to_read: prompt.max(1),
            cached: hit,
            blocks: 0,
            state,
            generator,
        }
    }

    /// Admits those that wait as long as there is room; prompts beyond a step's budget wait where they are.
    fn admit(&mut self) {
        let room = &self.service.room;
        while let Some(next) = self.waiting.front() {
            let blocks = room.blocks(next.to_read);
            let bytes = room.bytes(blocks);
            let is_full = self.decoding.len() + self.reading.len() >= self.service.sequences;
            if is_full || self.due >= u64::from(self.service.budget) || self.used + bytes > room.budget {
                return;
            }
            let Some(mut sequence) = self.waiting.pop_front() else { return };
            sequence.blocks = blocks;
            sequence.admitted = sequence.admitted.or(Some(self.now));
            self.used += bytes;
            self.due += u64::from(sequence.left());
            self.reading.push_back(sequence);
        }
    }

    /// Puts those admitted last back until the cache holds the others.
    fn preempt(&mut self) {
        while self.used > self.service.room.budget {
            let last = self.reading.pop_back().map(|sequence| (sequence, false));
            let Some((mut sequence, decoded)) = last.or_else(|| self.decoding.pop().map(|sequence| (sequence, true)))
            else {
                return;
            };
            self.used -= self.service.room.bytes(sequence.blocks);
            if decoded {
                self.tokens -= u64::from(sequence.cached);
            } else {
                self.due -= u64::from(sequence.left());
            }
            self.measures.preempted();
            sequence.to_read = sequence.prompt.max(1) + sequence.emitted;
            (sequence.cached, sequence.blocks) = (0, 0);
            sequence.preempted += 1;
            self.waiting.push_front(sequence);
        }
    }

    fn view(&self) -> View {
        View {
            decoding: self.decoding.len(),
            tokens: self.tokens,
            waiting: self.waiting.len(),
            cache: if self.used > 0.0 { self.used / self.service.room.budget } else { 0.0 },
            due: u32::try_from(self.due).unwrap_or(u32::MAX),
            read: self.reading.front().map_or(0.0, |sequence| f64::from(sequence.cached)),
        }
    }

    fn step(&mut self) {
        let (service, count) = (self.service, self.decoding.len());
        let mut at = self.chooser.choose(service, self.view());
        let fits = |at: usize| count as u64 * u64::from(service.rounds[at].width) <= u64::from(service.budget);
        while at > 0 && !fits(at) {
            at -= 1;
        }
        let round = &service.rounds[at];
        let decoding = service.decoding(count, self.tokens, round);
        let step = service.pace.step(decoding);
        let left = service.budget.saturating_sub(count as u32 * round.width);
        let prompts = self.read(left);
        let reading = service.pace.reading(decoding, &prompts);
        let emitted = self.draw(at);
        let mean = if count == 0 { 0.0 } else { emitted as f64 / count as f64 };
        let seconds = (step.seconds(mean) + self.spread(decoding) + reading).get();
        self.measures.step(&Span {
            seconds,
            decoding: count,
            waiting: self.waiting.len(),
            cache: if self.used > 0.0 { self.used / service.room.budget } else { 0.0 },
            k: round.k,
            emitted,
        });
        self.now += seconds;
        self.emit(seconds);
        self.begin_decoding();
        self.preempt();
    }

    /// What the batch takes beyond one of sequences that all have its mean context, where a window or a selection tells them apart.
    fn spread(&self, of: Decoding) -> Seconds {
        let edges = &self.service.edges;
        if edges.is_empty() {
            return Seconds::ZERO;
        }
        let mut groups = vec![(0_usize, 0_u64); edges.len() + 1];
        for sequence in &self.decoding {
            let group = &mut groups[edges.partition_point(|edge| *edge < u64::from(sequence.cached))];
            *group = (group.0 + 1, group.1 + u64::from(sequence.cached));
        }
        groups.retain(|(count, _)| *count > 0);
        if groups.len() < 2 {
            return Seconds::ZERO;
        }
        let share = of.batch / self.decoding.len() as f64;
        let group = |&(count, tokens): &(usize, u64)| {
            let (batch, context) = (share * count as f64, tokens as f64 / count as f64);
            Decoding { batch, context, ..of }
        };
        self.service.pace.spread(of, &groups.iter().map(group).collect::<Vec<_>>())
    }

    /// Reads chunks of prompts, first admitted first, up to a number of tokens.
    fn read(&mut self, mut left: u32) -> Vec<PassShape> {
        let mut prompts = Vec::new();
        for sequence in &mut self.reading {
            let chunk = sequence.left().min(left);
            if chunk == 0 {
                break;
            }
            prompts.push(PassShape::prefill(1.0, f64::from(chunk), f64::from(sequence.cached)));
            sequence.cached += chunk;
            left -= chunk;
            self.due -= u64::from(chunk);
        }
        prompts
    }

    /// Draws what the round of every sequence yields, cut at the end of its output; the sum.
    fn draw(&mut self, at: usize) -> u64 {
        let round = &self.service.rounds[at];
        self.drawn.clear();
        self.drawn.extend(self.decoding.iter_mut().map(|sequence| {
            sequence.steps += 1;
            sequence.drafted += round.k;
            let accepted = round.runs_of(sequence.kind).round(&mut sequence.state, &mut sequence.generator) as u32;
            (accepted + 1).min(sequence.output - sequence.emitted)
        }));
        self.drawn.iter().map(|&tokens| u64::from(tokens)).sum()
    }

    /// Hands out the tokens of the step that ends now.
    fn emit(&mut self, seconds: f64) {
        let (room, now) = (&self.service.room, self.now);
        let Self { measures, source, used, tokens: all, by_tokens, drawn, .. } = self;
        by_tokens.iter_mut().for_each(|count| *count = 0);
        let mut drawn = drawn.iter();
        self.decoding.retain_mut(|sequence| {
            let tokens = drawn.next().copied().unwrap_or(0);
            if measures.measures(sequence.number) {
                by_tokens[tokens as usize] += 1;
            }
            sequence.emitted += tokens;
            sequence.last = now;
            if sequence.emitted == sequence.output {
                *all -= u64::from(sequence.cached);
                *used -= room.bytes(sequence.blocks);
                measures.answered(sequence, now);
                source.answered(now, &mut sequence.generator);
                return false;
            }
            sequence.cached += tokens;
            *all += u64::from(tokens);
            let blocks = room.blocks(sequence.cached);
            if blocks != sequence.blocks {
                *used += room.bytes(blocks) - room.bytes(sequence.blocks);
                sequence.blocks = blocks;
            }
            true
        });
        for (tokens, &times) in self.by_tokens.iter().enumerate() {
            self.measures.gaps(seconds, tokens, times);
        }
    }

    /// Prompts that are read to their end give their first token, or the next where they were read once more.
    fn begin_decoding(&mut self) {
        while self.reading.front().is_some_and(|sequence| sequence.left() == 0) {
            let Some(mut sequence) = self.reading.pop_front() else { return };
            if sequence.output > 0 {
                if sequence.emitted == 0 {
                    sequence.first = Some(self.now);
                } else if self.measures.measures(sequence.number) {
                    self.measures.gaps(self.now - sequence.last, 1, 1);
                }
                sequence.emitted += 1;
                sequence.last = self.now;
                self.measures.first_tokens(1);
            }
            if sequence.emitted == sequence.output {
                self.used -= self.service.room.bytes(sequence.blocks);
                self.measures.answered(&sequence, self.now);
                self.source.answered(self.now, &mut sequence.generator);
            } else {
                self.tokens += u64::from(sequence.cached);
                self.decoding.push(sequence);
            }
        }
    }
}
