//! How many sequences run together, and what sets that number.

use crate::plan::round::{plain_step, round};
use crate::plan::setup::Setup;
use crate::words::Limiter;

/// What fits beside the weights of a deployment, with its drafter or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Sequences that memory holds; none where a sequence takes no memory.
    pub by_memory: Option<u64>,
    /// Tokens of sequences of this context that memory holds; none where a sequence takes no memory.
    pub kv_tokens: Option<u64>,
    /// Sequences that run together: the smaller of memory and `max_num_seqs`.
    pub running: Option<u64>,
    /// What sets that number.
    pub limiter: Option<Limiter>,
}

/// What fits of sequences of a context, drafting k tokens a round, and what of it without the drafter.
///
/// # Formula
///
/// ```text
/// by_memory  floor( (utilization x capacity - reserve - weights) / bytes of a sequence )
/// kv_tokens  floor( the same / bytes of a sequence x its slots )
/// running    min( by_memory, max_num_seqs )
/// ```
#[must_use]
pub fn capacity(setup: &Setup<'_>, context: u64, k: u64) -> (Capacity, Capacity) {
    let limit = setup.max_num_seqs;
    let with =
        of(setup.max_batch(context, k), setup.demand.kv_tokens(setup.usable(), context, setup.drafted(k)), limit);
    let base = &setup.base_demand;
    let without = of(base.max_batch(setup.usable(), context, 0), base.kv_tokens(setup.usable(), context, 0), limit);
    (with, without)
}

/// Tokens per second where as many sequences run as can, each way with its own number of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Full {
    /// Decoding plainly, the drafter not loaded.
    pub plain: f64,
    /// Speculating.
    pub speculative: f64,
}

impl Full {
    /// What speculation gains where memory is the limit: below the speedup at equal batch by the sequences
    /// that the drafter takes the place of. None where not one sequence fits.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.plain > 0.0).then(|| self.speculative / self.plain)
    }
}

/// Throughput at the largest batches of [`capacity`]; none where nothing limits them.
///
/// # Formula
///
/// ```text
/// plain        B_plain / t_plain(B_plain)
/// speculative  B_spec tokens_per_pass / t_round(B_spec)          0 where nothing fits
/// ```
#[must_use]
pub fn full(setup: &Setup<'_>, context: u64, k: u64, tokens_per_pass: f64) -> Option<Full> {
    let (with, without) = capacity(setup, context, k);
    let (drafting, alone) = (with.running? as f64, without.running? as f64);
    let cached = context as f64;
    let plain = if alone > 0.0 { alone / plain_step(setup, alone, cached).seconds().get() } else { 0.0 };
    let speculative = if drafting > 0.0 {
        let share = setup.proposing_share(tokens_per_pass, k);
        let round = round(setup, &plain_step(setup, drafting, cached), drafting, cached, k, share);
        drafting * tokens_per_pass / round.seconds().get()
    } else {
        0.0
    };
    Some(Full { plain, speculative })
}

fn of(by_memory: Option<u64>, kv_tokens: Option<u64>, limit: Option<u64>) -> Capacity {
    let (running, limiter) = match (by_memory, limit) {
        (Some(memory), Some(limit)) if limit < memory => (Some(limit), Some(Limiter::MaxNumSeqs)),
        (Some(memory), _) => (Some(memory), Some(Limiter::Memory)),
        (None, Some(limit)) => (Some(limit), Some(Limiter::MaxNumSeqs)),
        (None, None) => (None, None),
    };
    Capacity { by_memory, kv_tokens, running, limiter }
}
