//! vLLM's flags, those of V0 among them, into settings.

use serde_json::Value;

use crate::import::launch::names::{Drafting, head, of_flag, quantization};
use crate::import::launch::{Captures, Reading, said, under};
use crate::words::{CaptureUnit, DrafterKind};

/// Keys of the speculative configuration, of whatever release.
const KEYS: [&str; 48] = [
    "method",
    "model",
    "revision",
    "code_revision",
    "quantization",
    "max_model_len",
    "enforce_eager",
    "num_speculative_tokens",
    "draft_tensor_parallel_size",
    "draft_pipeline_parallel_size",
    "prompt_lookup_max",
    "prompt_lookup_min",
    "suffix_decoding_max_tree_depth",
    "suffix_decoding_max_cached_requests",
    "suffix_decoding_max_spec_factor",
    "suffix_decoding_min_token_prob",
    "num_speculative_tokens_per_batch_size",
    "parallel_drafting",
    "disable_padded_drafter_batch",
    "disable_eagle_block_drop",
    "use_local_argmax_reduction",
    "use_heterogeneous_vocab",
    "draft_lm_head_quantization",
    "kv_cache_dtype",
    "attention_backend",
    "moe_backend",
    "draft_sample_method",
    "rejection_sample_method",
    "synthetic_acceptance_rates",
    "synthetic_acceptance_length",
    "enable_adaptive_verification",
    "fly_window",
    "fly_threshold",
    "xpress_topc",
    "disable_by_batch_size",
    "speculative_token_tree",
    "acceptance_method",
    "posterior_threshold",
    "posterior_alpha",
    "disable_logprobs",
    "disable_mqa_scorer",
    "disable_log_stats",
    "draft_load_config",
    "draft_model_config",
    "draft_parallel_config",
    "target_model_config",
    "target_parallel_config",
    "custom_class",
];
/// Flags of V0, in whose place V1 has the configuration.
const OF_V0: [&str; 3] = ["speculative-model", "num-speculative-tokens", "speculative-draft-tensor-parallel-size"];

pub(super) fn read(reading: &mut Reading<'_>) {
    let positional = reading.flags.free.first().cloned();
    reading.launch.settings.target = reading.text(&["model"]).or(positional);
    parallel(reading);
    limits(reading);
    reading.formats();
    captures(reading);
    drafts(reading);
}

fn parallel(reading: &mut Reading<'_>) {
    let (tensor, data) = (reading.whole(&["tensor-parallel-size"]), reading.whole(&["data-parallel-size"]));
    let pipeline = reading.whole(&["pipeline-parallel-size"]);
    let shares_experts = reading.flags.is_set("enable-expert-parallel");
    let settings = &mut reading.launch.settings;
    (settings.tensor_parallel, settings.data_parallel, settings.pipeline_parallel) = (tensor, data, pipeline);
    // Over all ranks of all groups.
    settings.expert_parallel = shares_experts.then(|| tensor.unwrap_or(1) * data.unwrap_or(1));
    reading.launch.further.nodes = reading.whole(&["nnodes"]);
}

fn limits(reading: &mut Reading<'_>) {
    let utilization = reading.number(&["gpu-memory-utilization"]);
    let (seqs, tokens) = (reading.whole(&["max-num-seqs"]), reading.whole(&["max-num-batched-tokens"]));
    let is_auto = matches!(reading.flags.text(&["max-model-len"]), Some("auto" | "-1"));
    let length = if is_auto { None } else { reading.whole(&["max-model-len"]) };
    let settings = &mut reading.launch.settings;
    settings.gpu_memory_utilization = utilization;
    (settings.max_num_seqs, settings.max_num_batched_tokens, settings.max_model_len) = (seqs, tokens, length);
    reading.launch.further.block_tokens = reading.whole(&["block-size"]);
}

fn captures(reading: &mut Reading<'_>) {
    let compilation = reading.json("compilation-config");
    let listed = |value: Option<&Value>| -> Vec<u64> {
        value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64).collect()
    };
    let mut sizes = listed(compilation.get("cudagraph_capture_sizes"));
    if let Some(flag) = reading.flags.last(&["cudagraph-capture-sizes", "cuda-graph-sizes"]) {
        sizes =
            flag.values.iter().flat_map(|values| values.split(',')).filter_map(|of| of.trim().parse().ok()).collect();
    }
    // One size alone is the largest of those that are captured.
    let only = sizes.first().copied().filter(|_| sizes.len() == 1 && reading.flags.is_set("cuda-graph-sizes"));
    if only.is_some() {
        sizes.clear();
    }
    let flag = reading.whole(&["max-cudagraph-capture-size"]).or(only);
    let largest =
        flag.or_else(|| under(&compilation, &["max_cudagraph_capture_size"])).or_else(|| sizes.iter().max().copied());
    let mode = said(&compilation, &["cudagraph_mode"]);
    reading.launch.further.is_eager = reading.flags.is_set("enforce-eager") || mode.as_deref() == Some("NONE");
    if let Some(mode) = mode {
        reading.also("cudagraph_mode", mode);
    }
    if largest.is_some() {
        reading.launch.further.captures = Some(Captures { unit: CaptureUnit::Tokens, sizes, largest });
    }
}

fn drafts(reading: &mut Reading<'_>) {
    let config = reading.json("speculative-config");
    let by_v0 = OF_V0.iter().any(|flag| reading.flags.is_set(flag));
    let by_flags = ["spec-method", "spec-model", "spec-tokens"].iter().any(|flag| reading.flags.is_set(flag));
    if !config.is_object() && !by_v0 && !by_flags {
        if config.is_null() {
            return head_alone(reading);
        }
        // There is one, and nobody can read it.
        reading.launch.settings.drafting = Drafting::Unsaid;
        return reading.note("the speculative configuration is no table of keys: not read".to_owned());
    }
    if by_v0 && !config.is_object() {
        reading.note("--speculative-model and --num-speculative-tokens are flags of vLLM's V0: later releases refuse them and take --speculative-config".to_owned());
    }
    let method = said(&config, &["method"]).or_else(|| reading.text(&["spec-method"]));
    let model = said(&config, &["model"]).or_else(|| reading.text(&["spec-model", "speculative-model"]));
    let drafting = kind(method.as_deref(), model.as_deref());
    reading.launch.settings.drafting = drafting;
    let looks_up = matches!(drafting, Drafting::Of(DrafterKind::Ngram | DrafterKind::Suffix, _));
    let target = reading.launch.settings.target.clone();
    reading.launch.settings.drafter =
        model.filter(|model| !(looks_up || is_mtp(drafting) && Some(model) == target.as_ref()));
    let k = reading.length(&config, &["num_speculative_tokens"]);
    let flag = reading.whole(&["spec-tokens", "num-speculative-tokens"]);
    reading.launch.settings.k = k.or(flag).filter(|k| (1..=1024).contains(k));
    let parallel = under(&config, &["draft_tensor_parallel_size"]);
    reading.launch.settings.draft_tensor_parallel =
        parallel.or_else(|| reading.whole(&["speculative-draft-tensor-parallel-size"]));
    let off = under(&config, &["disable_by_batch_size"]);
    reading.launch.settings.disable_by_batch_size =
        off.or_else(|| reading.whole(&["speculative-disable-by-batch-size"]));
    tree(reading, &config);
    reading.launch.further.schedule = schedule(config.get("num_speculative_tokens_per_batch_size"));
    beside(reading, &config, method);
}

/// What else the configuration says.
fn beside(reading: &mut Reading<'_>, config: &Value, method: Option<String>) {
    let drafter = reading.launch.settings.drafter.clone();
    let format = said(config, &["quantization"]).or_else(|| reading.text(&["speculative-model-quantization"]));
    reading.launch.further.draft_quantization = match format {
        Some(flag) => of_flag(&flag, drafter.as_deref()),
        None => drafter.as_deref().and_then(quantization),
    };
    if let Some(method) = method {
        reading.also("method", method);
    }
    for key in ["max_model_len", "prompt_lookup_min", "prompt_lookup_max", "draft_sample_method"] {
        if let Some(value) = config.get(key) {
            reading.also(&format!("draft.{key}"), value.clone());
        }
    }
    let keys = config.as_object().into_iter().flat_map(|entries| entries.keys().cloned());
    let unknown: Vec<String> = keys
        .filter(|key| !KEYS.contains(&key.as_str()) && !key.starts_with("dspark_") && !key.starts_with("fly_"))
        .collect();
    reading.launch.unknown.extend(unknown.into_iter().map(|key| format!("--speculative-config {key}")));
}

const fn is_mtp(drafting: Drafting) -> bool {
    matches!(drafting, Drafting::Of(DrafterKind::Mtp, _))
}

/// What drafts, by the method, else by the name of the drafter.
fn kind(method: Option<&str>, model: Option<&str>) -> Drafting {
    let of = |kind| Drafting::Of(kind, None);
    match method {
        Some("eagle") => Drafting::Of(DrafterKind::Eagle, Some(1)),
        Some("eagle3" | "peagle" | "p_eagle") => Drafting::Of(DrafterKind::Eagle, Some(3)),
        Some("ngram" | "ngram_gpu" | "[ngram]") => of(DrafterKind::Ngram),
        Some("suffix") => of(DrafterKind::Suffix),
        Some("draft_model") => of(DrafterKind::Model),
        Some("medusa") => of(DrafterKind::Medusa),
        Some(block) if block.starts_with("dflash") || block.starts_with("dspark") => of(DrafterKind::Block),
        Some(mtp) if mtp == "mtp" || mtp.ends_with("_mtp") => of(DrafterKind::Mtp),
        Some("mlp_speculator") => Drafting::Other("mlp_speculator"),
        Some(_) => Drafting::Unsaid,
        // Without either a release takes the target's own module.
        None => match model {
            None => of(DrafterKind::Mtp),
            Some("[ngram]" | "ngram") => of(DrafterKind::Ngram),
            Some(name) => head(name).unwrap_or(of(DrafterKind::Model)),
        },
    }
}

/// A served model that is a drafting head: its configuration names the target.
fn head_alone(reading: &mut Reading<'_>) {
    let Some(name) = reading.launch.settings.target.clone() else { return };
    let Some(drafting @ Drafting::Of(kind, _)) = head(&name) else { return };
    if kind == DrafterKind::Mtp {
        return;
    }
    let settings = &mut reading.launch.settings;
    (settings.drafting, settings.drafter, settings.target) = (drafting, Some(name.clone()), None);
    settings.target_quantization = None;
    reading.note(format!(
        "{name} is a drafting head by its name, which vLLM serves with the target that its config.json names under speculators_config: name that target"
    ));
}

/// A tree of tuples, one for each node but the root.
fn tree(reading: &mut Reading<'_>, config: &Value) {
    let Some(text) = said(config, &["speculative_token_tree"]) else { return };
    let paths: Vec<Vec<u64>> = text
        .split('(')
        .skip(1)
        .filter_map(|path| path.split(')').next())
        .map(|path| path.split(',').filter_map(|of| of.trim().parse().ok()).collect())
        .filter(|path: &Vec<u64>| !path.is_empty())
        .collect();
    if paths.is_empty() {
        return;
    }
    let settings = &mut reading.launch.settings;
    settings.tree_nodes = Some(paths.len() as u64 + 1);
    settings.tree_topk = paths.iter().filter_map(|path| path.last()).max().map(|most| most + 1);
    settings.k = paths.iter().map(|path| path.len() as u64).max().or(settings.k);
}

/// `[[1, 16, 5], …]`, or `{"1-16": 5}` of an earlier release.
fn schedule(value: Option<&Value>) -> Vec<[u64; 3]> {
    match value {
        Some(Value::Array(rows)) => rows
            .iter()
            .filter_map(|row| {
                let row: Vec<u64> = row.as_array()?.iter().filter_map(Value::as_u64).collect();
                row.try_into().ok()
            })
            .collect(),
        Some(Value::Object(entries)) => entries
            .iter()
            .filter_map(|(range, k)| {
                let (from, to) = range.split_once('-')?;
                Some([from.trim().parse().ok()?, to.trim().parse().ok()?, k.as_u64()?])
            })
            .collect(),
        _ => Vec::new(),
    }
}
