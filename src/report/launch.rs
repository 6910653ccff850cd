//! What a launch command sets, as JSON.

use serde_json::{Map, Value, json};

use crate::import::launch::{Captures, Drafting, Launch};

/// The settings that matter, each under its name; what the command does not set is null.
#[must_use]
pub fn settings(launch: &Launch) -> Map<String, Value> {
    let of = &launch.settings;
    let (kind, version) = match of.drafting {
        Drafting::Nothing => (Value::from("none"), None),
        Drafting::Unsaid | Drafting::Other(_) => (Value::Null, None),
        Drafting::Of(kind, version) => (Value::from(kind.as_str()), version),
    };
    let all = json!({
        "target_hf": of.target,
        "target_quantization": of.target_quantization,
        "tensor_parallel": of.tensor_parallel,
        "pipeline_parallel": of.pipeline_parallel,
        "expert_parallel": of.expert_parallel,
        "data_parallel": of.data_parallel,
        "drafter_kind": kind,
        "eagle_version": version,
        "drafter_hf": of.drafter,
        "k": of.k,
        "tree_topk": of.tree_topk,
        "tree_nodes": of.tree_nodes,
        "gpu_memory_utilization": of.gpu_memory_utilization,
        "max_num_seqs": of.max_num_seqs,
        "max_num_batched_tokens": of.max_num_batched_tokens,
        "max_model_len": of.max_model_len,
        "kv_dtype": of.kv_dtype,
        "draft_tensor_parallel": of.draft_tensor_parallel,
        "disable_by_batch_size": of.disable_by_batch_size,
    });
    match all {
        Value::Object(entries) => entries,
        _ => Map::new(),
    }
}

/// What else it sets; only what is set.
#[must_use]
pub fn further(launch: &Launch) -> Map<String, Value> {
    let of = &launch.further;
    let captures = |of: &Captures| json!({ "unit": of.unit.as_str(), "sizes": of.sizes, "largest": of.largest });
    let mut all: Vec<(String, Value)> = vec![
        ("dtype".to_owned(), of.dtype.clone().into()),
        ("enforce_eager".to_owned(), if of.is_eager { true.into() } else { Value::Null }),
        ("captures".to_owned(), of.captures.as_ref().map_or(Value::Null, captures)),
        ("block_tokens".to_owned(), of.block_tokens.into()),
        ("free_gpu_memory_fraction".to_owned(), of.free_memory_fraction.into()),
        ("attention_dp".to_owned(), if of.is_attention_dp { true.into() } else { Value::Null }),
        ("k_schedule".to_owned(), if of.schedule.is_empty() { Value::Null } else { json!(of.schedule) }),
        ("draft_quantization".to_owned(), of.draft_quantization.clone().into()),
        ("chunk_tokens".to_owned(), of.chunk_tokens.into()),
        ("nodes".to_owned(), of.nodes.into()),
    ];
    all.extend(launch.also.iter().cloned());
    all.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
