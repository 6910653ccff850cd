//! SGLang's flags into settings.

use crate::import::launch::names::{Drafting, head, of_flag, quantization};
use crate::import::launch::{Captures, Reading};
use crate::words::{CaptureUnit, DrafterKind};

pub(super) fn read(reading: &mut Reading<'_>) {
    let positional = reading.flags.free.first().cloned();
    reading.launch.settings.target = reading.text(&["model-path"]).or(positional);
    parallel(reading);
    limits(reading);
    reading.formats();
    captures(reading);
    drafts(reading);
}

fn parallel(reading: &mut Reading<'_>) {
    let (tensor, pipeline) = (reading.whole(&["tp-size"]), reading.whole(&["pp-size"]));
    let (data, experts) = (reading.whole(&["dp-size"]), reading.whole(&["ep-size"]));
    // Before there was a size, experts were spread over as many devices as matrices.
    let is_spread = ["enable-ep-moe", "enable-deepep-moe"].iter().any(|flag| reading.flags.is_set(flag));
    let settings = &mut reading.launch.settings;
    (settings.tensor_parallel, settings.pipeline_parallel, settings.data_parallel) = (tensor, pipeline, data);
    settings.expert_parallel = experts.or(if is_spread { Some(tensor.unwrap_or(1)) } else { None });
    reading.launch.further.is_attention_dp = reading.flags.is_set("enable-dp-attention");
    reading.launch.further.nodes = reading.whole(&["nnodes"]);
}

fn limits(reading: &mut Reading<'_>) {
    let fraction = reading.number(&["mem-fraction-static"]);
    let (seqs, length) = (reading.whole(&["max-running-requests"]), reading.whole(&["context-length"]));
    let settings = &mut reading.launch.settings;
    settings.gpu_memory_utilization = fraction;
    (settings.max_num_seqs, settings.max_model_len) = (seqs, length);
    if fraction.is_some() {
        reading.also("memory_fraction_kind", "static");
    }
    reading.launch.further.block_tokens = reading.whole(&["page-size"]);
    reading.launch.further.chunk_tokens = reading.whole(&["chunked-prefill-size"]);
    if let Some(tokens) = reading.whole(&["max-total-tokens"]) {
        reading.also("max_total_tokens", tokens);
    }
}

fn captures(reading: &mut Reading<'_>) {
    reading.launch.further.is_eager =
        ["disable-cuda-graph", "disable-decode-cuda-graph"].iter().any(|flag| reading.flags.is_set(flag));
    let listed = reading.flags.last(&["cuda-graph-bs", "cuda-graph-bs-decode"]);
    let sizes: Vec<u64> = listed.map_or_else(Vec::new, |flag| {
        flag.values.iter().flat_map(|of| of.split([',', ' '])).filter_map(|of| of.parse().ok()).collect()
    });
    let largest =
        reading.whole(&["cuda-graph-max-bs", "cuda-graph-max-bs-decode"]).or_else(|| sizes.iter().max().copied());
    if largest.is_some() {
        reading.launch.further.captures = Some(Captures { unit: CaptureUnit::Sequences, sizes, largest });
    }
}

fn drafts(reading: &mut Reading<'_>) {
    let Some(algorithm) = reading.text(&["speculative-algorithm"]) else { return };
    let algorithm = algorithm.to_uppercase().replace('-', "_");
    let drafter = reading.text(&["speculative-draft-model-path"]);
    let by_name = drafter.as_deref().and_then(head);
    let drafting = kind(&algorithm, drafter.is_some(), by_name);
    if drafting == Drafting::Unsaid {
        reading.note(format!("--speculative-algorithm {algorithm} is none that is known here"));
    }
    if let (Drafting::Of(DrafterKind::Eagle, Some(3)), Some(Drafting::Of(DrafterKind::Mtp, _))) = (drafting, by_name) {
        reading
            .note("EAGLE3 with a head that is an MTP module by its name: EAGLE or NEXTN is meant for those".to_owned());
    }
    let steps = reading.whole(&["speculative-num-steps"]);
    let nodes = reading.whole(&["speculative-num-draft-tokens"]);
    let block = reading.whole(&["speculative-dflash-block-size"]);
    // The anchor is one of a DFlash block's tokens, and none of a DSpark block's.
    let of_block = block.or(nodes).map(|tokens| tokens.saturating_sub(1));
    let of_spark = reading.whole(&["speculative-dspark-block-size"]);
    let topk = reading.whole(&["speculative-eagle-topk"]);
    let settings = &mut reading.launch.settings;
    settings.k = if algorithm.starts_with("DFLASH") { of_block } else { steps.or(of_spark) };
    (settings.drafting, settings.drafter) = (drafting, drafter);
    (settings.tree_topk, settings.tree_nodes) = (topk, nodes);
    if settings.max_num_seqs.is_none() {
        reading.note(
            "SGLang sets 48 running requests where speculation is on and --max-running-requests is not given: more wait".to_owned(),
        );
    }
    beside(reading, algorithm);
}

fn beside(reading: &mut Reading<'_>, algorithm: String) {
    reading.also("method", algorithm);
    let drafter = reading.launch.settings.drafter.clone();
    reading.launch.further.draft_quantization = match reading.text(&["speculative-draft-model-quantization"]) {
        Some(flag) => of_flag(&flag, drafter.as_deref()),
        None => drafter.as_deref().and_then(quantization),
    };
    if reading.flags.is_set("speculative-adaptive") {
        reading.also("adaptive", true);
        reading.note("--speculative-adaptive changes k with the batch; the k given is where it begins".to_owned());
    }
    for name in [
        "speculative-ngram-max-match-window-size",
        "speculative-ngram-max-bfs-breadth",
        "speculative-draft-window-size",
    ] {
        if let Some(value) = reading.whole(&[name]) {
            reading.also(name, value);
        }
    }
}

fn kind(algorithm: &str, has_drafter: bool, by_name: Option<Drafting>) -> Drafting {
    let of = |kind| Drafting::Of(kind, None);
    match algorithm {
        "EAGLE3" => Drafting::Of(DrafterKind::Eagle, Some(3)),
        // Without a head of its own it is the target's module.
        "EAGLE" if !has_drafter => of(DrafterKind::Mtp),
        "EAGLE" => match by_name {
            Some(Drafting::Of(DrafterKind::Mtp, _)) => of(DrafterKind::Mtp),
            _ => Drafting::Of(DrafterKind::Eagle, Some(2)),
        },
        "NEXTN" | "MTP" | "FROZEN_KV_MTP" => of(DrafterKind::Mtp),
        "STANDALONE" => of(DrafterKind::Model),
        "NGRAM" | "LOOKAHEAD" => of(DrafterKind::Ngram),
        "DFLASH" | "DFLASH2" | "DSPARK" => of(DrafterKind::Block),
        "NONE" => Drafting::Nothing,
        _ => Drafting::Unsaid,
    }
}
