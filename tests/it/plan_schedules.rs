//! Schedules of `plan`, read back as their engines read them.

use serde_json::Value;

use crate::plan::rows;
use crate::program::{folder, run_well};

/// vLLM takes the k of the range that holds the batch; every k is at most `num_speculative_tokens`.
fn vllm_k(config: &Value, batch: u64) -> u64 {
    let ranges = rows(config, "num_speculative_tokens_per_batch_size");
    let inside = |range: &&Value| range[0].as_u64().unwrap() <= batch && batch <= range[1].as_u64().unwrap();
    let k = ranges.iter().find(inside).unwrap()[2].as_u64().unwrap();
    assert!(k <= config["num_speculative_tokens"].as_u64().unwrap());
    k
}

/// SGLang routes a batch to the entry with the largest key not above it; one candidate is one length.
fn sglang_k(config: &Value, batch: u64) -> u64 {
    let entries = config.as_object().unwrap().iter().filter_map(|(key, entry)| Some((key.parse::<u64>().ok()?, entry)));
    let (_, entry) = entries.filter(|(from, _)| *from <= batch).max_by_key(|(from, _)| *from).unwrap();
    let steps = rows(entry, "candidate_steps");
    assert_eq!(steps.len(), 1);
    steps[0].as_u64().unwrap()
}

/// TensorRT-LLM takes the first key not below the batch, and drafts nothing beyond the last.
fn trtllm_k(yaml: &str, batch: u64) -> u64 {
    let schedule = yaml.split("draft_len_schedule:\n").nth(1).unwrap();
    let pairs = schedule.lines().map_while(|line| line.strip_prefix("    ")?.split_once(": "));
    let pairs: Vec<(u64, u64)> = pairs.map(|(key, k)| (key.parse().unwrap(), k.parse().unwrap())).collect();
    assert!(pairs.windows(2).all(|pair| pair[0].0 < pair[1].0), "{pairs:?}");
    pairs.iter().find(|(to, _)| batch <= *to).map_or(0, |(_, k)| *k)
}

const ONE: [&str; 8] = [
    "plan",
    "--scenario",
    "llama-8b-drafters",
    "--drafter",
    "eagle3",
    "--quiet",
    "--set",
    "sweep.batch={ from = 1, to = 372, step = 1 }",
];

/// The k of every batch, as each engine would take it, is the best k of the rows.
#[test]
fn engines_read_the_schedule_that_was_meant() {
    let folder = folder();
    let emitted = |form: &str| run_well(folder.path(), &[&ONE[..], &["--emit", form]].concat()).stdout;
    let document: Value = serde_json::from_str(
        &run_well(folder.path(), &[&ONE[..], &["--write", "none", "--format", "json"]].concat()).stdout,
    )
    .unwrap();
    let (vllm, sglang) = (emitted("vllm"), emitted("sglang"));
    assert_eq!(vllm.lines().count(), 1, "it goes onto a command line");
    let vllm: Value = serde_json::from_str(&vllm).unwrap();
    let fields: Vec<&String> = vllm.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["method", "model", "num_speculative_tokens", "num_speculative_tokens_per_batch_size"]);
    assert_eq!(vllm["method"], "eagle3");
    let sglang: Value = serde_json::from_str(&sglang).unwrap();
    let flags = sglang["flags"].as_str().unwrap();
    assert!(
        flags.starts_with("--speculative-algorithm EAGLE3 ") && flags.contains("--speculative-adaptive "),
        "{flags}"
    );
    let trtllm = emitted("trtllm");
    assert!(trtllm.contains("\n  decoding_type: Eagle3\n  max_draft_len: 4\n"), "{trtllm}");
    let mut lengths = Vec::new();
    for row in rows(&document, "rows") {
        let (batch, k) = (row["batch"].as_u64().unwrap(), row["best_k"].as_u64().unwrap());
        assert_eq!([vllm_k(&vllm, batch), sglang_k(&sglang, batch), trtllm_k(&trtllm, batch)], [k; 3], "batch {batch}");
        lengths.push(k);
    }
    lengths.dedup();
    assert!(lengths.len() >= 3, "{lengths:?}");
}

/// Several drafters, acceptances and contexts: one labelled schedule each, never refused.
#[test]
fn several_schedules_have_labels() {
    let folder = folder();
    let emitted = |form: &str| {
        let all =
            ["plan", "--scenario", "llama-8b-drafters", "--quiet", "--set", "sweep.context=[512,8192]", "--emit", form];
        run_well(folder.path(), &all).stdout
    };
    let vllm: Value = serde_json::from_str(&emitted("vllm")).unwrap();
    let labels: Vec<&String> = vllm.as_object().unwrap().keys().collect();
    assert_eq!(labels.len(), 8);
    assert!(labels.iter().any(|label| label.contains("eagle3") && label.contains("context 8192")), "{labels:?}");
    let methods: Vec<&str> = vllm.as_object().unwrap().values().map(|of| of["method"].as_str().unwrap()).collect();
    assert_eq!(&methods[..4], ["eagle3", "ngram", "draft_model", "dflash"]);
    assert_eq!(emitted("trtllm").matches("---\n# ").count(), 8);
    let json: Value = serde_json::from_str(&emitted("json")).unwrap();
    assert_eq!(rows(&json, "schedules").len(), 8);
    for group in rows(&json, "by_batch_and_context") {
        let rectangles = rows(group, "rectangles");
        let contexts: Vec<(u64, u64)> = rectangles
            .iter()
            .map(|one| (one["context"][0].as_u64().unwrap(), one["context"][1].as_u64().unwrap()))
            .collect();
        assert!(
            contexts.iter().all(|(from, to)| matches!((*from, *to), (0, 512) | (513, 8192) | (0, 8192))),
            "{contexts:?}"
        );
    }
}
