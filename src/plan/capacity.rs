//! How many sequences run together, and what sets that number.

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

fn of(by_memory: Option<u64>, kv_tokens: Option<u64>, limit: Option<u64>) -> Capacity {
    let (running, limiter) = match (by_memory, limit) {
        (Some(memory), Some(limit)) if limit < memory => (Some(limit), Some(Limiter::MaxNumSeqs)),
        (Some(memory), _) => (Some(memory), Some(Limiter::Memory)),
        (None, Some(limit)) => (Some(limit), Some(Limiter::MaxNumSeqs)),
        (None, None) => (None, None),
    };
    Capacity { by_memory, kv_tokens, running, limiter }
}
