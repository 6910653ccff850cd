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
    /// Sequences that run together: the smallest of memory, `max_num_seqs` and what `max_num_batched_tokens`
    /// has room for.
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
/// running    min( by_memory, max_num_seqs, floor(max_num_batched_tokens / verify width) ),
///            0 where context + k + 1 exceeds max_model_len
/// ```
#[must_use]
pub fn capacity(setup: &Setup<'_>, context: u64, k: u64) -> (Capacity, Capacity) {
    let (usable, base) = (setup.usable(), &setup.base_demand);
    let engine = |width: f64, drafted: u64| {
        let together = setup.limits().max_num_batched_tokens.map(|tokens| (tokens as f64 / width).floor() as u64);
        let too_long = setup.limits().max_model_len.filter(|most| context.saturating_add(drafted + 1) > *most);
        [
            (Limiter::MaxNumSeqs, setup.limits().max_num_seqs),
            (Limiter::MaxNumBatchedTokens, together),
            (Limiter::MaxModelLen, too_long.map(|_| 0)),
        ]
    };
    let kv_tokens = setup.demand.kv_tokens(usable, context, setup.drafted(k));
    let with = of(setup.max_batch(context, k), kv_tokens, engine(setup.verify_width(k), k));
    let without = of(base.max_batch(usable, context, 0), base.kv_tokens(usable, context, 0), engine(1.0, 0));
    (with, without)
}

/// Tokens per second of all ranks where as many sequences run as can, each way with its own number of them.
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
/// plain        ranks B_plain / t_plain(B_plain)
/// speculative  ranks B_spec tokens_per_pass / t_round(B_spec)          0 where nothing fits
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
        drafting * tokens_per_pass / round.seconds(tokens_per_pass).get()
    } else {
        0.0
    };
    let ranks = setup.ranks() as f64;
    Some(Full { plain: plain * ranks, speculative: speculative * ranks })
}

fn of(by_memory: Option<u64>, kv_tokens: Option<u64>, engine: [(Limiter, Option<u64>); 3]) -> Capacity {
    // A part of a sequence is none, nor is room beside a drafter that does not fit.
    let kv_tokens = if by_memory == Some(0) { Some(0) } else { kv_tokens };
    let all = [(Limiter::Memory, by_memory)].into_iter().chain(engine);
    let least = all.filter_map(|(limiter, sequences)| Some((limiter, sequences?))).min_by_key(|(_, least)| *least);
    Capacity { by_memory, kv_tokens, running: least.map(|(_, running)| running), limiter: least.map(|(of, _)| of) }
}
