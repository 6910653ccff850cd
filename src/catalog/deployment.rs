//! `[deployment]`, `[memory]` and `[limits]` of a scenario.

use std::num::NonZeroU64;

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems};
use crate::catalog::values::{LARGEST_INTEGER, flag, integer, integer_axis, probability, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::axis::Axis;
use crate::domain::deployment::{Limits, MemoryPolicy, Spread};
use crate::units::{Bytes, Probability};
use crate::words::CaptureUnit;

/// Devices of a replica.
pub(super) fn degree(node: &Node, problems: &mut Problems) -> Option<u64> {
    integer(node, problems, 1, 1 << 20)
}

/// `[deployment]`: how a replica is spread over devices, and how many replicas there are.
pub(super) fn spread(node: &Node, problems: &mut Problems) -> Option<(Spread, Option<u64>)> {
    let keys =
        Keys::all(&["expert_parallel", "pipeline", "data_parallel_attention", "draft_tensor_parallel", "replicas"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let expert_parallel = fields.optional("expert_parallel", degree);
    let pipeline = fields.optional("pipeline", degree);
    let apart = fields.optional("data_parallel_attention", flag);
    let draft_tensor_parallel = fields.optional("draft_tensor_parallel", degree);
    let replicas = fields.optional("replicas", degree);
    let (expert_parallel, apart) = (expert_parallel?, apart?.unwrap_or_default());
    if apart && expert_parallel.is_none() {
        let found = Diagnostic::error("missing-key", format!("`{}` has no `expert_parallel`", node.path));
        return problems
            .report(found.at(&node.place).hint("where attention is apart it says how many devices share the experts"));
    }
    let spread = Spread {
        expert_parallel,
        pipeline: pipeline?.unwrap_or(1),
        data_parallel_attention: apart,
        draft_tensor_parallel: draft_tensor_parallel?,
    };
    Some((spread, replicas?))
}

/// `[limits]`
pub(super) fn limits(node: &Node, problems: &mut Problems) -> Option<Limits> {
    let keys = Keys::all(&["max_num_seqs", "max_num_batched_tokens", "max_model_len", "capture_sizes", "capture_unit"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let count = |node: &Node, problems: &mut Problems| integer(node, problems, 1, LARGEST_INTEGER);
    let max_num_seqs = fields.optional("max_num_seqs", count);
    let max_num_batched_tokens = fields.optional("max_num_batched_tokens", count);
    let max_model_len = fields.optional("max_model_len", count);
    let capture_sizes = fields.optional("capture_sizes", |node, problems| {
        let mut sizes: Vec<u64> = few(integer_axis(node, problems, 0, MOST_TOKENS)?, node, problems)?;
        sizes.sort_unstable();
        Some(sizes)
    });
    let capture_unit = fields.optional("capture_unit", word::<CaptureUnit>);
    Some(Limits {
        max_num_seqs: max_num_seqs?,
        max_num_batched_tokens: max_num_batched_tokens?,
        max_model_len: max_model_len?,
        capture_sizes: capture_sizes?.unwrap_or_default(),
        capture_unit: capture_unit?.unwrap_or_default(),
    })
}

/// No step of an engine has more tokens.
const MOST_TOKENS: u64 = 1 << 20;
/// Engines capture tens of sizes.
const MOST_CAPTURES: u64 = 10_000;

fn few(sizes: Axis<u64>, node: &Node, problems: &mut Problems) -> Option<Vec<u64>> {
    if sizes.len() > MOST_CAPTURES {
        let message = format!("`{}` has {} sizes, more than {MOST_CAPTURES}", node.path, sizes.len());
        return problems
            .report(Diagnostic::error("out-of-range", message).at(&node.place).hint("list the sizes of the engine"));
    }
    Some(sizes.iter().collect())
}

fn default_utilization() -> Option<Probability> {
    Probability::new(MemoryPolicy::DEFAULT_UTILIZATION).ok()
}

/// What is assumed of memory when a scenario does not say.
pub(super) fn default_memory() -> Option<MemoryPolicy> {
    MemoryPolicy::new(default_utilization()?, Bytes::ZERO, MemoryPolicy::DEFAULT_BLOCK_TOKENS).ok()
}

/// `[memory]`
pub(super) fn memory(node: &Node, problems: &mut Problems) -> Option<MemoryPolicy> {
    let mut fields = Fields::open(node, &Keys::all(&["utilization", "reserve", "block_tokens"]), problems)?;
    let utilization = fields.optional("utilization", probability);
    let reserve = fields.optional("reserve", |node, problems| quantity::<Bytes>(node, problems, 0.0));
    let block = fields.optional("block_tokens", |node, problems| integer(node, problems, 1, 1 << 20));
    let block = block?.and_then(NonZeroU64::new).unwrap_or(MemoryPolicy::DEFAULT_BLOCK_TOKENS);
    match MemoryPolicy::new(utilization?.or_else(default_utilization)?, reserve?.unwrap_or(Bytes::ZERO), block) {
        Ok(policy) => Some(policy),
        Err(error) => {
            let at = node.get("utilization").unwrap_or(node);
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", at.path)).at(&at.place);
            problems.report(found.hint("such as utilization = 0.9"))
        }
    }
}
