//! What a verdict prices is what the command means: batches of a group, limits, graphs, schedules, formats.

use serde_json::{Value, json};

use crate::program::{folder, run, run_well};

const LLAMA: &str = "vllm serve meta-llama/Llama-3.1-8B-Instruct";
const SPEC: &str = "--speculative-config '{\"method\": \"eagle3\", \"model\": \"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B\", \"num_speculative_tokens\": 3}'";

fn printed(command: &str, gpu: &str) -> Value {
    let folder = folder();
    let args = ["check", "--launch", command, "--gpu", gpu, "--print-scenario", "--format", "json"];
    serde_json::from_str(&run_well(folder.path(), &args).stdout).unwrap()
}

fn shown(command: &str, gpu: &str, load: &str) -> String {
    let folder = folder();
    let args = [
        "check",
        "--launch",
        command,
        "--gpu",
        gpu,
        "--load",
        load,
        "--tokens-per-pass",
        "2.55",
        "--write",
        "none",
        "--quiet",
    ];
    run_well(folder.path(), &args).stdout
}

/// The speedups of the draft length that is launched.
fn launched(shown: &str) -> Vec<f64> {
    let lines =
        shown.lines().filter(|line| line.trim_start().starts_with("speedup  ") && line.contains("tokens per pass"));
    lines.map(|line| line.split_whitespace().nth(1).unwrap().trim_end_matches('x').parse().unwrap()).collect()
}

#[test]
fn limits_and_groups_are_those_of_the_server() {
    let sglang = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8 --dp 8 --enable-dp-attention --max-running-requests 256 \
        --speculative-algorithm NEXTN --speculative-num-steps 1";
    let found = printed(sglang, "8x H200");
    assert_eq!(found["limits"]["max_num_seqs"], 32);
    assert_eq!((&found["tensor_parallel"], &found["deployment"]["expert_parallel"]), (&json!(1), &json!(8)));
    assert!(found["assumed"].to_string().contains("8 groups attend apart"), "{}", found["assumed"]);
    let vllm = "vllm serve deepseek-ai/DeepSeek-R1 -dp 4 -tp 2 --max-num-seqs 64 --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 1}'";
    let found = printed(vllm, "8x H200");
    assert_eq!(found["deployment"], json!({ "expert_parallel": 8, "data_parallel_attention": true }));
    let dense = printed(&format!("{LLAMA} -dp 2 {SPEC}"), "2 H100");
    assert!(dense["deployment"].is_null() && dense["assumed"].to_string().contains("2 replicas"), "{dense:#}");
    // llama.cpp shares its context among its slots, and spreads layers.
    let llama = "llama-server -m Qwen3-8B-Q4_K_M.gguf -md Qwen3-0.6B-Q8_0.gguf -c 8192 -np 4";
    let found = printed(llama, "2x RTX 4090");
    assert_eq!((&found["limits"]["max_model_len"], &found["sweep"]["context"]), (&json!(2048), &json!([1024])));
    assert_eq!(found["deployment"]["pipeline"], 2);
    assert_eq!(found["drafters"]["model"]["model"], json!({ "id": "qwen3-0.6b", "weights": "int8" }));
    assert_eq!(printed(&format!("{llama} --kv-unified"), "RTX 4090")["limits"]["max_model_len"], 8192);
}

/// Where no graphs are captured, plain steps pay for it as rounds do.
#[test]
fn graphs_count_what_the_server_counts() {
    let at = |flags: &str, load: &str| launched(&shown(&format!("{LLAMA} {SPEC} {flags}"), "H100", load));
    let eager = at("--enforce-eager", "p50=1,p95=2");
    assert!((eager[0] / eager[1] - 1.0).abs() < 0.1, "{eager:?}");
    assert_eq!(printed(&format!("{LLAMA} {SPEC} --enforce-eager"), "H100")["limits"]["capture_sizes"], json!([0]));
    // One size is the largest of those that are captured, and pads nothing to itself.
    let (one, none) = (at("--cuda-graph-sizes 512", "p50=1"), at("", "p50=1"));
    assert!((one[0] / none[0] - 1.0).abs() < 0.01, "{one:?}, {none:?}");
    let sglang = "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --speculative-algorithm EAGLE3 \
        --speculative-draft-model-path yuhuili/EAGLE3-LLaMA3.1-Instruct-8B --speculative-num-steps 3 --cuda-graph-max-bs 8 --max-running-requests 64";
    let limits = &printed(sglang, "H100")["limits"];
    assert_eq!((&limits["capture_sizes"], &limits["capture_unit"]), (&json!([1, 2, 4, 8]), &json!("sequences")));
    let both = launched(&shown(sglang, "H100", "p50=8,p95=9"));
    assert!((both[0] / both[1] - 1.0).abs() < 0.25, "{both:?}");
}

/// A schedule by batch is what is launched.
#[test]
fn schedules_are_what_is_launched() {
    let config = "{\"method\": \"eagle3\", \"model\": \"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B\", \"num_speculative_tokens\": 3, \
        \"num_speculative_tokens_per_batch_size\": [[1, 8, 2], [9, 256, 0]]}";
    let text = shown(&format!("{LLAMA} --speculative-config '{config}'"), "H100", "p50=4,p95=32");
    assert!(text.contains("with k = 2 at p50 = batch 4"), "{text}");
    assert!(text.contains("nothing is drafted at p95 = batch 32"), "{text}");
    let off = SPEC.replace("3}", "3, \"disable_by_batch_size\": 16}");
    assert!(shown(&format!("{LLAMA} {off}"), "H100", "p50=32").contains("nothing is drafted at p50 = batch 32"));
}

/// What cannot be priced, or cannot work, is said instead of priced.
#[test]
fn what_has_no_price_is_refused() {
    let folder = folder();
    let refused = |command: &str, gpu: &str, due: &str| {
        let ran = run(folder.path(), &["check", "--launch", command, "--gpu", gpu]);
        assert!(ran.code == 3 && ran.stderr.contains(due), "{command}: {}{}", ran.stdout, ran.stderr);
    };
    refused(&format!("{LLAMA} -tp 8 {SPEC}"), "4x H100", "takes 8 accelerators, and there are 4");
    refused(
        &format!("{LLAMA} {}", SPEC.replace("LLaMA3.1-Instruct-8B", "LLaMA3.3-Instruct-70B")),
        "H100",
        "is a head for llama-3.3-70b",
    );
    refused(&format!("{LLAMA} {}", SPEC.replace("3}", "-3}")), "H100", "-3 is no draft length");
    refused("llama-server -m Qwen3-8B-Q4_K_M.gguf -md Qwen3-0.6B-Q8_0.gguf -ngl 20", "RTX 4090", "20 of 36 layers");
    refused(
        "llama-server -m Qwen3-30B-A3B-Q4_K_M.gguf --spec-type ngram-mod --draft-max 4 --n-cpu-moe 20",
        "RTX 4090",
        "experts on the CPU",
    );
    let other = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines/vllm-v1.prom");
    let metrics = ["--metrics", other.to_str().unwrap()];
    let qwen = "vllm serve Qwen/Qwen3-8B --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 3}'";
    let ran = run(folder.path(), &[&["check", "--launch", qwen, "--gpu", "H100"], &metrics[..]].concat());
    assert!(ran.code == 3 && ran.stderr.contains("is of a server of"), "{}{}", ran.stdout, ran.stderr);
}

/// What is noted of a command is told once, whatever else is due.
#[test]
fn notes_are_told_once() {
    let folder = folder();
    let ran = run(folder.path(), &["check", "--launch", "vllm serve a/b --tensor-parallel-size x"]);
    assert_eq!(ran.stderr.matches("x is no number").count(), 1, "{}", ran.stderr);
    assert!(ran.code == 3 && ran.stderr.contains("no accelerator is named"), "{}", ran.stderr);
}
