//! TensorRT-LLM: statistics of iterations, and trtllm-bench's report.

use jiter::JsonValue;

use crate::domain::observed::Window;
use crate::import::engine::json::{get, number};
use crate::words::{Printout, Trap};

/// One iteration: keys in either spelling.
pub(super) fn iteration(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let drafts = get(value, "specDecodingStats").or_else(|| get(value, "spec_decoding_stats"))?;
    let drafted = number(drafts, &["numDraftTokens", "num_draft_tokens"])?;
    let accepted = number(drafts, &["numAcceptedTokens", "num_accepted_tokens"])?;
    let rounds = number(drafts, &["numRequestsWithDraftTokens", "num_requests_with_draft_tokens"]);
    let batch = get(value, "inflightBatchingStats").or_else(|| get(value, "inflight_batching_stats"));
    let each =
        batch.and_then(|batch| number(batch, &["avgNumDecodedTokensPerIter", "avg_num_decoded_tokens_per_iter"]));
    let running = batch.and_then(|batch| number(batch, &["numGenRequests", "num_gen_requests"]));
    let steps =
        each.zip(running).map(|(each, running)| (each * running, running)).filter(|(_, running)| *running > 0.0);
    let window = Window::of(Printout::TrtllmIterations);
    Some(vec![Window { k, rounds, drafted: Some(drafted), accepted: Some(accepted), steps, ..window }])
}

/// `decoding_stats` of a report: means over requests, of drafts that the tool reconstructed.
pub(super) fn bench(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let stats = get(value, "decoding_stats")?;
    let length = get(stats, "acceptance_length_percentiles").and_then(|of| number(of, &["average", "avg", "mean"]))?;
    let traps = vec![Trap::Reconstructed, Trap::Unweighed];
    Some(vec![Window { k, length: Some((length, 1.0)), traps, ..Window::of(Printout::TrtllmBench) }])
}
