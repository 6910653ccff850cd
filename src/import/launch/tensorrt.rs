//! TensorRT-LLM's flags and options into settings.

use serde_json::Value;

use crate::import::launch::names::{Drafting, quantization};
use crate::import::launch::{Captures, Reading, said, under};
use crate::words::{CaptureUnit, DrafterKind};

pub(super) fn read(reading: &mut Reading<'_>) {
    let options = std::mem::take(&mut reading.options);
    reading.launch.settings.target = reading.flags.free.first().cloned().or_else(|| said(&options, &["model"]));
    // The file overrules the command.
    let mut of = |flags: &[&str], keys: &[&str]| under(&options, keys).or_else(|| reading.whole(flags));
    let tensor = of(&["tensor-parallel-size"], &["tensor_parallel_size", "tp_size"]);
    let pipeline = of(&["pipeline-parallel-size"], &["pipeline_parallel_size", "pp_size"]);
    let experts = of(&["moe-expert-parallel-size"], &["moe_expert_parallel_size", "ep_size"]);
    let seqs = of(&["max-batch-size"], &["max_batch_size"]);
    let tokens = of(&["max-num-tokens"], &["max_num_tokens"]);
    let length = of(&["max-seq-len"], &["max_seq_len"]);
    let settings = &mut reading.launch.settings;
    (settings.tensor_parallel, settings.pipeline_parallel, settings.expert_parallel) = (tensor, pipeline, experts);
    (settings.max_num_seqs, settings.max_num_batched_tokens, settings.max_model_len) = (seqs, tokens, length);
    memory(reading, &options);
    captures(reading, &options);
    let name = reading.launch.settings.target.clone();
    reading.launch.settings.target_quantization = name.as_deref().and_then(quantization);
    reading.launch.further.is_attention_dp = options.get("enable_attention_dp") == Some(&Value::Bool(true));
    if let Some(backend) = reading.text(&["backend"]) {
        reading.also("backend", backend);
    }
    drafts(reading, &options);
}

fn memory(reading: &mut Reading<'_>, options: &Value) {
    let cache = options.get("kv_cache_config").cloned().unwrap_or_default();
    let flag = reading.number(&["free-gpu-memory-fraction"]);
    let fraction = cache.get("free_gpu_memory_fraction").and_then(Value::as_f64).or(flag);
    reading.launch.further.free_memory_fraction = fraction;
    reading.launch.further.block_tokens = under(&cache, &["tokens_per_block"]);
    reading.launch.settings.kv_dtype = reading
        .text(&["kv-cache-dtype"])
        .or_else(|| said(&cache, &["dtype"]))
        .or_else(|| said(options, &["kv_cache_dtype"]));
}

fn captures(reading: &mut Reading<'_>, options: &Value) {
    let Some(graphs) = options.get("cuda_graph_config") else { return };
    let sizes: Vec<u64> =
        graphs.get("batch_sizes").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64).collect();
    let largest = under(graphs, &["max_batch_size"]).or_else(|| sizes.iter().max().copied());
    reading.launch.further.is_eager = graphs.is_null();
    if largest.is_some() {
        reading.launch.further.captures = Some(Captures { unit: CaptureUnit::Sequences, sizes, largest });
    }
}

fn drafts(reading: &mut Reading<'_>, options: &Value) {
    if options.is_null() && reading.flags.is_set("config") {
        let named = reading.text(&["config"]).unwrap_or_default();
        reading.launch.settings.drafting = Drafting::Unsaid;
        return reading
            .note(format!("the options of {named} are not known, speculation among them: give the file with --extra"));
    }
    let Some(config) = options.get("speculative_config").filter(|config| config.is_object()) else { return };
    let decoding = said(config, &["decoding_type"]).unwrap_or_default();
    let backend = reading.text(&["backend"]).unwrap_or_default();
    let drafting = kind(&decoding, &backend, config);
    // Releases that call a tree's nodes draft length have its depth beside.
    let layers = under(config, &["num_eagle_layers"]);
    let depth = layers.or_else(|| reading.length(config, &["max_draft_len", "num_nextn_predict_layers"]));
    let drafter = said(
        config,
        &[
            "speculative_model",
            "speculative_model_dir",
            "pytorch_weights_path",
            "pytorch_eagle_weights_path",
            "draft_model",
        ],
    );
    let is_tree = config.get("use_dynamic_tree") == Some(&Value::Bool(true));
    let topk = under(config, &["dynamic_tree_max_topK", "dynamic_tree_max_topk", "dynamic_tree_max_top_k"])
        .filter(|_| is_tree);
    // The root is not among the drafted nodes.
    let nodes = layers.and_then(|_| under(config, &["max_draft_len"]));
    let drafted = under(config, &["max_total_draft_tokens"]).or(nodes).or_else(|| Some(topk? * depth?));
    let settings = &mut reading.launch.settings;
    (settings.drafting, settings.k) = (drafting, depth);
    settings.drafter =
        drafter.filter(|_| !matches!(drafting, Drafting::Of(DrafterKind::Ngram | DrafterKind::Suffix, _)));
    (settings.tree_topk, settings.tree_nodes) = (topk, drafted.map(|nodes| nodes + 1));
    if !decoding.is_empty() {
        reading.also("method", decoding.clone());
    }
    for key in ["max_window_size", "max_ngram_size", "max_matching_ngram_size"] {
        if let Some(size) = under(config, &[key]) {
            reading.also(key, size);
        }
    }
    if decoding == "PARD" {
        reading.note("PARD drafts every token in one pass: a price with a pass for each is too long".to_owned());
    }
    if config.get("max_batch_size").is_some() {
        reading.note("max_batch_size inside speculative_config is none of its keys: not taken as a limit".to_owned());
    }
    let relaxed = config.get("use_relaxed_acceptance_for_thinking") == Some(&Value::Bool(true));
    if relaxed {
        reading.note("relaxed acceptance changes what is emitted: more is accepted than by the exact rule".to_owned());
    }
    let drafter = reading.launch.settings.drafter.clone();
    reading.launch.further.draft_quantization = drafter.as_deref().and_then(quantization);
}

fn kind(decoding: &str, backend: &str, config: &Value) -> Drafting {
    let of = |kind| Drafting::Of(kind, None);
    let is_built = matches!(backend, "trt" | "tensorrt")
        || ["num_eagle_layers", "eagle_choices", "max_non_leaves_per_layer"]
            .iter()
            .any(|key| config.get(*key).is_some());
    match decoding.to_lowercase().as_str() {
        "eagle3" => Drafting::Of(DrafterKind::Eagle, Some(3)),
        // Another name of Eagle3, but for engines that were built beforehand.
        "eagle" => Drafting::Of(DrafterKind::Eagle, if is_built { None } else { Some(3) }),
        "mtp" | "mtp_eagle" => of(DrafterKind::Mtp),
        "ngram" => of(DrafterKind::Ngram),
        "sa" => of(DrafterKind::Suffix),
        "drafttarget" | "draft_target" => of(DrafterKind::Model),
        "pard" => of(DrafterKind::Model),
        "medusa" => of(DrafterKind::Medusa),
        "lookahead" => of(DrafterKind::Lookahead),
        "dflash" => of(DrafterKind::Block),
        "" if config.get("num_nextn_predict_layers").is_some() => of(DrafterKind::Mtp),
        _ => Drafting::Unsaid,
    }
}
