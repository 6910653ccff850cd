//! A replica made ready: what its steps take, what its rounds yield, and what it may hold.

use crate::acceptance::process::Process;
use crate::acceptance::runs::Runs;
use crate::cost::shape::PassShape;
use crate::plan::setup::Setup;
use crate::plan::step::{Decoding, Step, edges, reading, spread, step};
use crate::traffic::room::Room;
use crate::units::Seconds;

/// How long steps take.
pub trait Pace {
    /// A step in which sequences decode, prompts apart.
    fn step(&self, of: Decoding) -> Step;
    /// What prompts add to it; where nothing decodes, the whole step.
    fn reading(&self, of: Decoding, prompts: &[PassShape]) -> Seconds;
    /// What sequences in groups of their own contexts take beyond as many at the mean context.
    fn spread(&self, _of: Decoding, _groups: &[Decoding]) -> Seconds {
        Seconds::ZERO
    }
}

/// Steps as a deployment prices them.
#[derive(Clone, Copy, Debug)]
pub struct Priced<'s> {
    setup: &'s Setup<'s>,
    /// Whether its drafter is loaded.
    drafting: bool,
}

impl Pace for Priced<'_> {
    fn step(&self, of: Decoding) -> Step {
        step(self.setup, of)
    }

    fn reading(&self, of: Decoding, prompts: &[PassShape]) -> Seconds {
        reading(self.setup, of, prompts, self.drafting)
    }

    fn spread(&self, of: Decoding, groups: &[Decoding]) -> Seconds {
        spread(self.setup, of, groups)
    }
}

/// What a round at one draft length yields and verifies.
#[derive(Clone, Debug)]
pub struct Round {
    /// Draft length.
    pub k: u64,
    /// Expected tokens.
    pub tokens: f64,
    /// Tokens of each sequence that are verified: what it takes of a step's budget.
    pub width: u32,
    /// Share of sequences that propose.
    pub proposing_share: f64,
    /// What is accepted, by kind of requests; one for all where kinds do not differ.
    pub runs: Vec<Runs>,
}

/// A replica.
#[derive(Debug)]
pub struct Service<P> {
    /// How long its steps take.
    pub pace: P,
    /// Groups of devices that each attend to a batch of their own.
    pub ranks: f64,
    /// Its KV cache.
    pub room: Room,
    /// Sequences that run together at most.
    pub sequences: usize,
    /// New tokens of a step at most.
    pub budget: u32,
    /// Tokens of a sequence at most.
    pub longest: u32,
    /// Contexts at which what a sequence reads ceases to grow evenly, in rising order.
    pub edges: Vec<u64>,
    /// Plain decoding first, then every draft length that may be chosen, in rising order.
    pub rounds: Vec<Round>,
}

/// Sequences of a step where nobody says; the default of vLLM.
pub const DEFAULT_SEQUENCES: u64 = 256;
/// New tokens of a step where nobody says: vLLM's default of its server on large devices.
pub const DEFAULT_BUDGET: u64 = 8192;

impl Round {
    /// Plain decoding.
    #[must_use]
    pub fn plain() -> Self {
        let runs = Runs::new(&Process::Iid { alpha: crate::units::Probability::ZERO }, 0);
        Self { k: 0, tokens: 1.0, width: 1, proposing_share: 1.0, runs: vec![runs] }
    }

    /// What is accepted of requests of a kind.
    pub(super) fn runs_of(&self, kind: usize) -> &Runs {
        &self.runs[kind.min(self.runs.len() - 1)]
    }
}

impl<'s> Service<Priced<'s>> {
    /// A deployment that may draft at these lengths, 0 apart, with what a process accepts; of none of them it decodes plainly, without
    /// its drafter.
    #[must_use]
    pub fn of(setup: &'s Setup<'s>, process: &Process, lengths: &[u64]) -> Self {
        let round = |&k: &u64| {
            let tokens = process.tokens_per_pass(k);
            let proposing_share = setup.proposing_share(tokens, k);
            let width = setup.layout(k, proposing_share).map_or(1.0, |layout| layout.verify_width).ceil() as u32;
            // Workloads are the kinds of requests, in the same order: each has its own.
            let runs = match process {
                Process::Workloads(parts) => parts.iter().map(|part| Runs::new(&part.process, k)).collect(),
                _ => vec![Runs::new(process, k)],
            };
            Round { k, tokens, width, proposing_share, runs }
        };
        let rounds: Vec<Round> = std::iter::once(Round::plain()).chain(lengths.iter().map(round)).collect();
        let limits = setup.limits();
        let budget = limits.max_num_batched_tokens.unwrap_or(DEFAULT_BUDGET).max(1);
        // A step takes a token at least of each sequence that decodes.
        let sequences = limits.max_num_seqs.unwrap_or(DEFAULT_SEQUENCES).min(budget);
        let at_most = |limit: Option<u64>| limit.map_or(u32::MAX, |limit| limit.min(u64::from(u32::MAX)) as u32);
        Self {
            pace: Priced { setup, drafting: !lengths.is_empty() },
            ranks: setup.ranks() as f64,
            room: Room::of(setup, lengths.iter().copied().max().unwrap_or(0)),
            sequences: (sequences * setup.ranks()) as usize,
            budget: at_most(Some(budget * setup.ranks())),
            longest: at_most(limits.max_model_len),
            edges: edges(setup),
            rounds,
        }
    }
}

impl<P: Pace> Service<P> {
    /// What decodes in a step of so many sequences, whose contexts sum up to `tokens`, at one of the rounds.
    pub(super) fn decoding(&self, sequences: usize, tokens: u64, round: &Round) -> Decoding {
        let count = sequences as f64;
        Decoding {
            // Sequences are spread evenly over the groups of devices.
            batch: if sequences == 0 { 0.0 } else { (count / self.ranks).max(1.0) },
            context: if sequences == 0 { 0.0 } else { tokens as f64 / count },
            k: round.k,
            proposing_share: round.proposing_share,
        }
    }

    /// Sequences that run at a time where all have so many tokens; one at least.
    pub(super) fn fits(&self, tokens: f64) -> usize {
        let each = self.room.bytes(self.room.blocks(tokens as u32));
        let in_cache = if each > 0.0 { (self.room.budget / each) as usize } else { usize::MAX };
        self.sequences.min(in_cache).max(1)
    }

    /// Whether a request can ever be served.
    pub(super) fn can_hold(&self, prompt: u32, output: u32) -> bool {
        let tokens = prompt.saturating_add(output);
        tokens <= self.longest && self.room.bytes(self.room.blocks(tokens)) <= self.room.budget
    }
}
