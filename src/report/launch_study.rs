//! A launch command as a study: the scenario that it comes to, and what of it nobody here knows.

use serde_json::{Map, Value, json};

use crate::import::launch::{Drafting, Launch};
use crate::report::launch::{further, settings};
use crate::words::{CaptureUnit, DrafterKind, Server};

/// Drafts that are tried beside those of the command.
const LENGTHS: [u64; 6] = [1, 2, 3, 4, 5, 7];
/// Batches that are shown; those of the load come beside them.
const BATCHES: [u64; 5] = [1, 4, 16, 64, 256];
/// Contexts where a scenario says none.
const CONTEXT: u64 = 2048;

/// What a command's names mean, and what stands beside it.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// The hardware: its id, else as it was written.
    pub hardware: Option<String>,
    /// The target: its id, else as it is named.
    pub target: Option<String>,
    /// A drafter of the catalog that fits the target.
    pub drafter: Option<String>,
    /// The engine profile.
    pub engine: Option<String>,
    /// Whether the target has experts.
    pub is_moe: bool,
    /// Accelerators that layers are spread over, where the server does so by itself.
    pub stages: Option<u64>,
    /// Whether the hardware computes in 4 bits.
    pub has_fp4: bool,
    /// The format of the target's weights in the catalog.
    pub weights: Option<String>,
    /// Share of the memory that weights and KV cache may take, where it follows from the weights.
    pub utilization: Option<f64>,
    /// Acceptance, as a scenario states it.
    pub acceptance: Option<Value>,
    /// Whether acceptance was counted at the draft length of the command, and says little of longer ones.
    pub is_counted: bool,
    /// Sequences that the server runs at most by itself.
    pub own_limit: Option<u64>,
    /// Tokens in the KV cache.
    pub context: Option<u64>,
    /// Names that the catalog does not know.
    pub unresolved: Vec<String>,
}

/// The scenario, with what else the command sets under `launch`.
#[must_use]
pub fn study(launch: &Launch, means: &Means) -> Map<String, Value> {
    let mut root = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() && value.as_object().is_none_or(|inner| !inner.is_empty()) {
            root.insert(key.to_owned(), value);
        }
    };
    put("title", title(launch, means).into());
    put("hardware", means.hardware.clone().into());
    put("target", means.target.clone().into());
    put("engine", means.engine.clone().into());
    put("tensor_parallel", devices(launch).into());
    put("deployment", deployment(launch, means));
    put("quantization", quantization(launch, means));
    put("memory", memory(launch, means));
    put("limits", limits(launch, means));
    put("drafters", drafters(launch, means));
    put("sweep", sweep(launch, means));
    put("launch", origin(launch, means));
    root
}

fn title(launch: &Launch, means: &Means) -> String {
    let short = |name: &str| name.trim_end_matches('/').rsplit('/').next().unwrap_or(name).to_owned();
    let target = launch.settings.target.as_deref().or(means.target.as_deref()).map_or("a target".to_owned(), short);
    let on = means.hardware.as_ref().map_or_else(String::new, |hardware| format!(" on {hardware}"));
    format!("{target}{on}, as {} serves it", launch.server)
}

/// Devices that matrices are sliced over; where attention is data parallel over those that share experts, those of one rank.
fn devices(launch: &Launch) -> Option<u64> {
    let tensor = launch.settings.tensor_parallel?;
    if !launch.further.is_attention_dp {
        return Some(tensor);
    }
    match launch.server {
        Server::TensorRtLlm => Some(1),
        _ => Some((tensor / launch.settings.data_parallel.unwrap_or(1).max(1)).max(1)),
    }
}

fn deployment(launch: &Launch, means: &Means) -> Value {
    let of = &launch.settings;
    let tensor = of.tensor_parallel.unwrap_or(1);
    let groups = of.data_parallel.unwrap_or(1);
    let shared = launch.further.is_attention_dp || (launch.server == Server::Vllm && groups > 1);
    let apart = shared && (of.expert_parallel.unwrap_or(1) > 1 || launch.further.is_attention_dp || means.is_moe);
    let all = if launch.further.is_attention_dp { tensor } else { tensor * groups };
    let experts = if apart { of.expert_parallel.unwrap_or(all).max(all) } else { of.expert_parallel.unwrap_or(1) };
    let pipeline = of.pipeline_parallel.or(means.stages).filter(|stages| *stages > 1);
    let drafter = of.draft_tensor_parallel.filter(|own| *own != tensor);
    json!({
        "expert_parallel": if experts > 1 { Some(experts) } else { None },
        "pipeline": pipeline,
        "data_parallel_attention": if apart { Some(true) } else { None },
        "draft_tensor_parallel": drafter,
    })
    .as_object()
    .map_or(Value::Null, |all| {
        all.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect()
    })
}

/// Weights, activations and KV cache in the words of a scenario.
fn quantization(launch: &Launch, means: &Means) -> Value {
    let (weights, computes) = launch
        .settings
        .target_quantization
        .as_deref()
        .map_or((Value::Null, None), |format| formats(format, means.has_fp4));
    // The catalog's own parts say more than one word for all.
    let is_own = weights.as_str().is_some() && weights.as_str() == means.weights.as_deref();
    let (weights, computes) = if is_own { (Value::Null, None) } else { (weights, computes) };
    let kv = launch.settings.kv_dtype.as_deref().and_then(cached);
    let mut all = Map::new();
    for (key, value) in [("weights", weights), ("activations", computes.into()), ("kv", kv.into())] {
        if !value.is_null() {
            all.insert(key.to_owned(), value);
        }
    }
    Value::Object(all)
}

/// Weights in the words of a scenario, and what products are computed in where it is not 16 bits.
///
/// Bits of llama.cpp's formats are those of its README for `llama-quantize`, as 4 bits with a scale of so many more; what has fewer than 4 counts as 4.
#[must_use]
pub fn formats(format: &str, has_fp4: bool) -> (Value, Option<&'static str>) {
    let grouped = |scale: u64, group: u64| json!({ "default": "int4", "scale_bytes": scale, "group": group });
    let fp4 = has_fp4.then_some("fp4");
    match format.trim_start_matches("ud-") {
        "fp8" => ("fp8".into(), Some("fp8")),
        "w8a8" => ("int8".into(), Some("int8")),
        "int8" | "w8a16" | "q8_0" => ("int8".into(), None),
        "nvfp4" | "fp4" => ("fp4".into(), fp4),
        "mxfp4" => ("mxfp4".into(), None),
        "w4afp8" => ("int4".into(), Some("fp8")),
        "awq" | "gptq" | "int4" | "w4a16" | "bitsandbytes" | "nf4" => ("int4".into(), None),
        "q4_0" | "iq4_nl" => (grouped(2, 32), None),
        "iq4_xs" => (grouped(2, 64), None),
        "q4_k_s" => (grouped(4, 55), None),
        other if other.starts_with("q4_k") || other.starts_with("q4_1") => (grouped(4, 38), None),
        other if other.starts_with("q5") => (grouped(4, 19), None),
        other if other.starts_with("q6") => (grouped(4, 12), None),
        other if other.starts_with("iq") || other.starts_with("q2") || other.starts_with("q3") => ("int4".into(), None),
        _ => (Value::Null, None),
    }
}

/// The format of the KV cache in the words of a scenario; none where it is that of the model.
fn cached(format: &str) -> Option<&'static str> {
    match format.to_lowercase().as_str() {
        format if format.starts_with("fp8") => Some("fp8"),
        "q8_0" | "int8" => Some("int8"),
        "nvfp4" | "fp4" | "fp4_e2m1" => Some("fp4"),
        "q4_0" | "q4_1" | "iq4_nl" | "int4" => Some("int4"),
        "bf16" | "bfloat16" => Some("bf16"),
        "f16" | "fp16" | "float16" | "half" => Some("fp16"),
        _ => None,
    }
}

fn memory(launch: &Launch, means: &Means) -> Value {
    let mut all = Map::new();
    if let Some(share) = launch.settings.gpu_memory_utilization.or(means.utilization) {
        all.insert("utilization".to_owned(), share.into());
    }
    if let Some(tokens) = launch.further.block_tokens {
        all.insert("block_tokens".to_owned(), tokens.into());
    }
    Value::Object(all)
}

/// Groups that hold the model, or attend, apart: each has a batch of its own.
#[must_use]
pub fn groups(launch: &Launch) -> u64 {
    match (launch.server, launch.further.is_attention_dp) {
        (Server::TensorRtLlm, true) => launch.settings.tensor_parallel.unwrap_or(1),
        _ => launch.settings.data_parallel.unwrap_or(1),
    }
    .max(1)
}

/// Tokens of a sequence, at most: llama.cpp's context is shared by its slots, unless they are one.
fn longest(launch: &Launch) -> Option<u64> {
    let of = &launch.settings;
    let is_one = launch.also.iter().any(|(name, _)| name == "kv-unified");
    let shared = launch.server == Server::LlamaCpp && !is_one;
    let slots = if shared { of.max_num_seqs.unwrap_or(1).max(1) } else { 1 };
    of.max_model_len.map(|length| (length / slots).max(1))
}

fn limits(launch: &Launch, means: &Means) -> Value {
    let of = &launch.settings;
    let mut all = Map::new();
    // SGLang counts requests of all groups that attend apart.
    let groups = if launch.server == Server::Sglang { groups(launch) } else { 1 };
    let captures = captures(launch);
    for (key, value) in [
        ("max_num_seqs", of.max_num_seqs.map(|all| (all / groups).max(1)).or(means.own_limit)),
        ("max_num_batched_tokens", of.max_num_batched_tokens),
        ("max_model_len", longest(launch)),
    ] {
        if let Some(value) = value {
            all.insert(key.to_owned(), value.into());
        }
    }
    if !captures.is_empty() {
        all.insert("capture_sizes".to_owned(), captures.into());
        if launch.further.captures.as_ref().is_some_and(|of| of.unit == CaptureUnit::Sequences) {
            all.insert("capture_unit".to_owned(), CaptureUnit::Sequences.as_str().into());
        }
    }
    Value::Object(all)
}

/// Sizes of graphs: those of the command, else what engines capture up to its largest.
fn captures(launch: &Launch) -> Vec<u64> {
    if launch.further.is_eager {
        // None at all.
        return vec![0];
    }
    let Some(of) = &launch.further.captures else { return Vec::new() };
    let largest = of.largest.unwrap_or(1);
    let mut sizes = of.sizes.clone();
    if sizes.is_empty() {
        sizes = [1, 2, 4].into_iter().chain((8..=256).step_by(8)).chain((272..=largest.max(272)).step_by(16)).collect();
        sizes.retain(|size| *size <= largest);
        sizes.push(largest);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The label of the command's drafter.
#[must_use]
pub fn label(kind: DrafterKind, version: Option<u64>) -> String {
    match (kind, version) {
        (DrafterKind::Eagle, Some(version)) => format!("eagle{version}"),
        (kind, _) => kind.as_str().to_owned(),
    }
}

fn drafters(launch: &Launch, means: &Means) -> Value {
    let of = &launch.settings;
    let Drafting::Of(kind, version) = of.drafting else { return Value::Null };
    let id = means.drafter.clone();
    let with = |entries: Value| -> Value {
        entries.as_object().map_or(Value::Null, |all| {
            all.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect()
        })
    };
    let body = match kind {
        DrafterKind::Model => with(
            json!({ "id": id.or_else(|| of.drafter.clone()), "tensor_parallel": of.draft_tensor_parallel, "weights": draft_weights(launch) }),
        ),
        DrafterKind::Eagle => with(json!({ "version": version.unwrap_or(1), "id": id })),
        DrafterKind::Block => with(json!({ "id": id, "block": of.k })),
        DrafterKind::Mtp => with(json!({ "id": id })),
        DrafterKind::Medusa => with(json!({ "id": id, "heads": if id.is_some() { None } else { of.k } })),
        DrafterKind::Lookahead => {
            let said = |name: &str| launch.also.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            with(json!({ "window": said("max_window_size"), "ngram": said("max_ngram_size") }))
        }
        _ => json!({}),
    };
    let mut drafter = Map::new();
    drafter.insert(kind.as_str().to_owned(), body);
    if let (Some(steps), Some(topk), Some(nodes)) = (of.k, of.tree_topk.filter(|topk| *topk > 1), of.tree_nodes) {
        drafter.insert("shape".to_owned(), json!({ "tree": { "steps": steps, "topk": topk, "nodes": nodes } }));
    }
    if let Some(acceptance) = &means.acceptance {
        drafter.insert("acceptance".to_owned(), acceptance.clone());
    }
    json!({ label(kind, version): drafter })
}

/// The drafter's format in the words of a scenario.
fn draft_weights(launch: &Launch) -> Option<String> {
    let (weights, _) = formats(launch.further.draft_quantization.as_deref()?, false);
    let word = weights.as_str().map(str::to_owned);
    word.or_else(|| Some(weights.get("default")?.as_str()?.to_owned()))
}

/// Draft lengths that a verdict is about.
fn sweep(launch: &Launch, means: &Means) -> Value {
    let of = &launch.settings;
    let mut all = Map::new();
    let Drafting::Of(kind, _) = of.drafting else { return Value::Object(all) };
    let is_tree = of.tree_topk.is_some_and(|topk| topk > 1);
    let most = if kind == DrafterKind::Block { of.k.unwrap_or(u64::MAX) } else { u64::MAX };
    let scheduled = launch.further.schedule.iter().map(|[.., k]| *k).filter(|k| *k > 0);
    let mut lengths: Vec<u64> = LENGTHS.into_iter().filter(|k| *k <= most).chain(of.k).chain(scheduled).collect();
    lengths.sort_unstable();
    lengths.dedup();
    if is_tree {
        lengths = of.k.into_iter().collect();
    }
    if let (true, Some(longest)) = (means.is_counted, of.k) {
        lengths.retain(|k| *k <= longest);
    }
    let limit = of.max_num_seqs.or(means.own_limit);
    let most = limit.unwrap_or(u64::MAX);
    let mut batches: Vec<u64> = BATCHES.into_iter().filter(|batch| *batch < most).collect();
    batches.extend(limit.filter(|most| *most <= BATCHES[BATCHES.len() - 1]));
    all.insert("batch".to_owned(), batches.into());
    all.insert("k".to_owned(), lengths.into());
    let longest = longest(launch).filter(|length| *length < 2 * CONTEXT).map(|length| (length / 2).max(1));
    all.insert("context".to_owned(), vec![means.context.or(longest).unwrap_or(CONTEXT)].into());
    Value::Object(all)
}

/// Where the study is from.
fn origin(launch: &Launch, means: &Means) -> Value {
    let mut all = Map::new();
    all.insert("server".to_owned(), launch.server.as_str().into());
    all.extend(settings(launch));
    all.extend(further(launch));
    if !launch.env.is_empty() {
        let env: Map<String, Value> =
            launch.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        all.insert("env".to_owned(), env.into());
    }
    all.insert("unresolved".to_owned(), means.unresolved.clone().into());
    all.insert("unknown_flags".to_owned(), launch.unknown.clone().into());
    all.insert("placeholders".to_owned(), launch.open.clone().into());
    all.insert("notes".to_owned(), launch.notes.clone().into());
    Value::Object(all)
}
