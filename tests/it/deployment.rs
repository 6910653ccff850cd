//! How a replica is spread, what its engine is limited to, and the drafters that nothing published covers.

use std::collections::HashMap;
use std::fs::write;
use std::path::Path;

use serde_json::Value;

use crate::program::{folder, run_well};

/// Cells of each row by column.
fn rows(folder: &Path, scenario: &str, flags: &[&str]) -> Vec<HashMap<String, String>> {
    write(folder.join("one.toml"), scenario).unwrap();
    let always = ["sweep", "--scenario", "./one.toml", "--write", "none", "--format", "csv", "--quiet"];
    let ran = run_well(folder, &[&always[..], flags].concat());
    let mut lines = ran.stdout.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().unwrap().collect();
    lines.map(|line| header.iter().cloned().zip(line).collect()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs(), "{got} is not {expected}");
}

/// A study on H100s of 3.35 TB/s and 989.4 TFLOP/s in bf16, joined at 450 GB/s.
fn study(target: &str, engine: &str, rest: &str) -> String {
    format!("title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"{target}\"\nengine = \"{engine}\"\n{rest}\n")
}

const POINT: &str = "[sweep]\nbatch = 16\nk = 3\ncontext = 2048\n";
const MEAN: &str = "acceptance.mean_length = { tokens = 2.25, k = 3 }";

/// Each word stands where its limit is passed, and nowhere else.
#[test]
fn points_beyond_the_limits_of_an_engine_say_so() {
    let folder = folder();
    let limits = "[limits]\nmax_num_seqs = 16\nmax_num_batched_tokens = 40\nmax_model_len = 2050\n\
                  capture_sizes = { from = 8, to = 32, step = 8 }\n";
    let drafter = format!("[drafters.d]\neagle = {{ version = 3 }}\n{MEAN}\n");
    let sweep = "[sweep]\nbatch = [1, 8, 16, 32]\nk = [1, 3]\ncontext = [2048]\n";
    let found = rows(folder.path(), &study("llama-3.1-8b", "vllm", &format!("{limits}{drafter}{sweep}")), &[]);
    let words = |row: &HashMap<String, String>| {
        let beyond: Vec<&str> = row["notes"].split(' ').filter_map(|word| word.strip_prefix("beyond_")).collect();
        format!("{} {}: {}", row["batch"], row["k"], beyond.join(" "))
    };
    // 2048 + k + 1 tokens against 2050; batch x (k + 1) new ones against 32 and 40.
    assert_eq!(
        found.iter().map(words).collect::<Vec<String>>(),
        [
            "1 1: ",
            "1 3: max_model_len",
            "8 1: ",
            "8 3: max_model_len",
            "16 1: ",
            "16 3: capture max_num_batched_tokens max_model_len",
            "32 1: capture max_num_seqs max_num_batched_tokens",
            "32 3: capture max_num_seqs max_num_batched_tokens max_model_len",
        ]
    );
}

/// 61 layers of 576 values of latent; each rank holds all weights but 31 of 32 experts less.
#[test]
fn memory_and_sequences_of_a_rank_are_counted_by_hand() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"h200-sxm-141gb\"\ntarget = \"deepseek-v3\"\nengine = \"ideal\"\n\
                [sweep]\nbatch = 4\ncontext = 4095\n";
    let weights = |spread: &str| {
        let rows = rows(folder.path(), &format!("{text}{spread}"), &[]);
        number(&rows[0], "base_memory_bytes") - 4.0 * 4096.0 * 61.0 * 576.0 * 2.0
    };
    let sliced = weights("[memory]\nblock_tokens = 16\n");
    let apart = weights("[deployment]\nexpert_parallel = 8\ndata_parallel_attention = true\n");
    // Sliced over 8, each device keeps 58 routers and 61 pairs of projections down to the ranks whole.
    let eighth = number(&rows(folder.path(), &format!("tensor_parallel = 8\n{text}"), &[])[0], "base_memory_bytes")
        - 4.0 * 4096.0 * 61.0 * 576.0 * 2.0;
    let whole = 58.0 * 7168.0 * 256.0 + 61.0 * 7168.0 * (1536.0 + 576.0);
    near(eighth, (sliced - whole) / 8.0 + whole);
    // 58 layers of 256 experts of 3 x 7168 x 2048 in fp8.
    let experts = 58.0 * 256.0 * 3.0 * 7168.0 * 2048.0;
    near(sliced - apart, experts * 7.0 / 8.0);
}

/// 62 layers in 8 stages: some have 8, and the first and the last hold the tied table of 262144 x 5376 as well.
#[test]
fn the_fullest_stage_counts() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"h200-sxm-141gb\"\ntarget = \"gemma-3-27b\"\nengine = \"ideal\"\n\
                [deployment]\npipeline = 8\n[sweep]\nbatch = 1\ncontext = 15\n";
    let row = rows(folder.path(), text, &[]).remove(0);
    let layer = 5376.0 * (32.0 + 32.0) * 128.0 + 4096.0 * 5376.0 + 3.0 * 5376.0 * 21_504.0;
    // Four normalisations of the hidden size and two of a head; the last one of the model in equal parts.
    let norms = 4.0 * 5376.0 + 2.0 * 128.0 + 5376.0 / 62.0;
    let weights = 2.0 * (8.0 * (layer + norms) + 262_144.0 * 5376.0);
    let cache = 8.0 * 2.0 * 16.0 * 128.0 * 2.0 * 16.0;
    near(number(&row, "base_memory_bytes"), weights + cache);
}

/// Sequences of all ranks count in tokens per second, and the larger drafter of its own devices in memory.
#[test]
fn replicas_are_counted_whole() {
    let folder = folder();
    let ranks = "[deployment]\nexpert_parallel = 8\ndata_parallel_attention = true\n";
    let text = format!("[drafters.d]\neagle = {{ version = 3 }}\n{MEAN}\n{POINT}{ranks}");
    let row = rows(folder.path(), &study("qwen3-30b-a3b", "vllm", &text), &[]).remove(0);
    near(number(&row, "base_tokens_per_s"), 8.0 * 16.0 / number(&row, "base_step_s"));
    near(number(&row, "tokens_per_s"), number(&row, "base_tokens_per_s") * number(&row, "speedup"));
    let text = format!("[drafters.d]\nmodel = {{ id = \"llama-3.3-70b\" }}\noverlap = true\n{MEAN}\n{POINT}");
    let row = rows(folder.path(), &study("llama-3.1-8b", "vllm", &text), &[]).remove(0);
    assert_eq!((row["base_fits"].as_str(), row["fits"].as_str()), ("true", "false"));
    assert!(number(&row, "memory_bytes") > 2.0 * 70_553_706_496.0);
}

/// A drafter on one of eight devices takes as long as it does beside a target on a single one.
#[test]
fn a_drafter_may_be_sliced_over_fewer_devices() {
    let folder = folder();
    let drafter = format!("[drafters.d]\nmodel = {{ id = \"llama-3.2-1b\" }}\n{MEAN}\n{POINT}");
    let one = |rest: &str| rows(folder.path(), &study("llama-3.1-8b", "vllm", rest), &[]).remove(0);
    let alone = one(&drafter);
    let sliced = one(&format!("tensor_parallel = 8\n{drafter}"));
    let apart = one(&format!("tensor_parallel = 8\n[deployment]\ndraft_tensor_parallel = 1\n{drafter}"));
    let own = drafter.replace("\"llama-3.2-1b\"", "\"llama-3.2-1b\", tensor_parallel = 1");
    let own = one(&format!("tensor_parallel = 8\n{own}"));
    assert_eq!((&apart["draft_s"], &own["draft_s"]), (&alone["draft_s"], &alone["draft_s"]));
    assert_ne!(sliced["draft_s"], alone["draft_s"]);
    assert_eq!(apart["base_step_s"], sliced["base_step_s"]);
    assert!(number(&apart, "memory_bytes") > number(&sliced, "memory_bytes"));
}

/// On devices of their own drafts hide behind verification, and take none of its memory.
#[test]
fn overlapping_drafts_cost_what_outlasts_verification() {
    let folder = folder();
    let of = |ratio: &str, overlap: &str| {
        let model = format!("model = {{ id = \"{ratio}\" }}");
        let drafter = format!("[drafters.d]\n{model}\n{overlap}\n{MEAN}\n{POINT}");
        rows(folder.path(), &study("llama-3.1-8b", "vllm", &drafter), &[]).remove(0)
    };
    let (apart, together) = (of("llama-3.2-1b", "overlap = true"), of("llama-3.2-1b", ""));
    let verify = number(&together, "verify_s");
    near(number(&apart, "draft_s"), (number(&together, "draft_s") - verify).max(0.0));
    assert_eq!(apart["memory_bytes"], apart["base_memory_bytes"]);
    assert!(apart["notes"].contains("unvalidated"), "{}", apart["notes"]);
    // The target's own size drafts three steps in the time of one verification: the rest shows.
    let (apart, together) = (of("llama-3.1-8b", "overlap = true"), of("llama-3.1-8b", ""));
    near(number(&apart, "draft_s"), number(&together, "draft_s") - number(&together, "verify_s"));
    assert!(number(&apart, "draft_s") > 0.0);
}

/// Ideal passes at batch 1 read weights and cache: each draft of the first 8 of 32 layers reads 8 x 218,103,808
/// parameters and the LM head, and 2048 cached tokens and one new one of 8 layers.
#[test]
fn early_exit_runs_the_first_layers_over_the_targets_cache() {
    let folder = folder();
    let of = |drafter: &str| {
        let text =
            format!("roofline = \"aggregate\"\n[drafters.d]\n{drafter}\n[sweep]\nbatch = 1\nk = 3\ncontext = 2048\n");
        rows(folder.path(), &study("llama-3.1-8b", "ideal", &text), &[]).remove(0)
    };
    let row = of(&format!("layer_skip = {{ layers = 8 }}\n{MEAN}"));
    let weights = 8.0 * 218_103_808.0 + 128_256.0 * 4096.0;
    // A row of the embedding, and the norms: two for each layer and the last.
    let small = 4096.0 + 17.0 * 4096.0;
    let bytes = 2.0 * (weights + small) + 8.0 * 4096.0 * 2049.0;
    near(number(&row, "draft_s"), 3.0 * bytes / 3.35e12);
    assert_eq!(row["memory_bytes"], row["base_memory_bytes"]);
}

/// Look-ahead of W = 5 and N = 4 verifies 2 x 5 x 3 tokens in one pass and has one length, 3; Medusa's heads are
/// residual blocks of h x h and an LM head each, all in one pass.
#[test]
fn look_ahead_and_medusa_draft_in_one_pass() {
    let folder = folder();
    let of = |drafter: &str| {
        let text = format!(
            "roofline = \"aggregate\"\n[drafters.d]\n{drafter}\n[sweep]\nbatch = 1\nk = [1, 3]\ncontext = 2048\n"
        );
        rows(folder.path(), &study("llama-3.1-8b", "ideal", &text), &[])
    };
    let ahead = of(&format!("lookahead = {{ window = 5, ngram = 4 }}\n{MEAN}"));
    assert_eq!(ahead.len(), 1);
    assert_eq!((ahead[0]["k"].as_str(), ahead[0]["verify_width"].as_str()), ("3", "30"));
    assert_eq!(ahead[0]["draft_s"], "0");
    // 2048 + 30 tokens in 130 blocks of 16 and not in 129.
    near(number(&ahead[0], "memory_bytes") - number(&ahead[0], "base_memory_bytes"), 16.0 * 131_072.0);
    let medusa = of(&format!("medusa = {{ heads = 3 }}\n{MEAN}"));
    assert_eq!(medusa[0]["draft_s"], medusa[1]["draft_s"]);
    // Published measurements are of Transformers.
    let noted = |engine: &str| {
        let text =
            format!("[drafters.d]\nmedusa = {{ heads = 3 }}\n{MEAN}\n[sweep]\nbatch = 1\nk = 3\ncontext = 300\n");
        rows(folder.path(), &study("llama-3.1-8b", engine, &text), &[])[0]["notes"].clone()
    };
    assert_eq!((noted("vllm").as_str(), noted("hf-eager").as_str()), ("unvalidated", ""));
    let heads = 3.0 * (4096.0 * 4096.0 + 128_256.0 * 4096.0);
    let (draft, bytes) = (number(&medusa[1], "draft_s"), 2.0 * heads);
    assert!((draft * 3.35e12 / bytes - 1.0).abs() < 1e-3, "{draft} s for {bytes} B");
}

/// The engine's own limit binds where it is below what memory holds.
#[test]
fn capacity_says_which_limit_binds() {
    let folder = folder();
    let of = |limits: &str| -> Value {
        let drafter = format!("{limits}[drafters.d]\neagle = {{ version = 3 }}\n{MEAN}\n{POINT}");
        write(folder.path().join("one.toml"), study("llama-3.1-8b", "vllm", &drafter)).unwrap();
        let point = ["explain", "--scenario", "./one.toml", "--format", "json"];
        serde_json::from_str(&run_well(folder.path(), &point).stdout).unwrap()
    };
    // 0.9 of 85.52 GB without 16.06 GB of weights, over 129 blocks of 16 tokens of 131072 B.
    let free = of("");
    let usable = free["memory"]["usable_bytes"].as_f64().unwrap();
    let fits = ((usable - 2.0 * 8_030_261_248.0) / (129.0 * 16.0 * 131_072.0)).floor();
    let base = |answer: &Value, key: &str| answer["capacity_without_drafter"][key].clone();
    assert_eq!(base(&free, "max_running_sequences").as_f64(), Some(fits), "{free:#}");
    assert_eq!(base(&free, "limiter"), "memory");
    let held = of("[limits]\nmax_num_seqs = 100\n");
    assert_eq!((base(&held, "max_running_sequences"), base(&held, "by_memory").as_f64()), (100.into(), Some(fits)));
    assert_eq!(base(&held, "limiter"), "max_num_seqs");
}

/// The table names the first point beyond each limit, and whose batch it counts.
#[test]
fn tables_tell_limits_and_ranks() {
    let folder = folder();
    let limits = "[limits]\nmax_num_seqs = 16\ncapture_sizes = [8, 16, 24, 32]\n";
    let text =
        format!("{limits}[drafters.d]\neagle = {{ version = 3 }}\n{MEAN}\n[sweep]\nbatch = [8, 16, 32]\nk = [1, 3]\n");
    write(folder.path().join("one.toml"), study("llama-3.1-8b", "vllm", &text)).unwrap();
    let shown = |flags: &[&str]| {
        let always = ["sweep", "--scenario", "./one.toml", "--write", "none", "--set", "sweep.context=2048"];
        run_well(folder.path(), &[&always[..], flags].concat()).stdout
    };
    let known =
        "beyond the engine's limits: captured graphs from batch 16 (k=3) on; max_num_seqs from batch 32 (k=1) on";
    assert!(shown(&[]).contains(known), "{}", shown(&[]));
    let ideal = shown(&["--engine", "ideal"]);
    assert!(
        ideal.contains("max_num_seqs from batch 32 (k=1) on; launches beyond captured graphs are priced as nothing"),
        "{ideal}"
    );
    let apart = ["target=qwen3-30b-a3b", "drafters.d.eagle.version=3", "deployment.expert_parallel=4"];
    let apart: Vec<&str> =
        apart.iter().chain(&["deployment.data_parallel_attention=true"]).flat_map(|set| ["--set", set]).collect();
    let apart = shown(&apart);
    assert!(apart.contains("4 x (4 ranks) h100-sxm5-80gb"), "{apart}");
    assert!(
        apart.contains("batch: the sequences of each of 4 ranks, which share the experts; tokens/s are those of all"),
        "{apart}"
    );
}

/// Several drafters make one short table, which tells of limits too; explained points tell them in words.
#[test]
fn every_view_of_a_study_tells_of_limits() {
    let folder = folder();
    let drafters = format!("[drafters.a]\neagle = {{ version = 3 }}\n{MEAN}\n[drafters.b]\nmtp = {{}}\n{MEAN}\n");
    let limits = "[limits]\nmax_num_seqs = 16\nmax_model_len = 2050\n";
    let sweep = "[sweep]\nbatch = [8, 32]\nk = [1, 3]\ncontext = [1024, 2048, 4096]\n";
    write(folder.path().join("one.toml"), study("llama-3.1-8b", "vllm", &format!("{limits}{drafters}{sweep}")))
        .unwrap();
    let swept = run_well(folder.path(), &["sweep", "--scenario", "./one.toml", "--write", "none"]).stdout;
    let words = "beyond the engine's limits in some rows, as their notes say: max_model_len, max_num_seqs";
    assert!(swept.contains(words), "{swept}");
    let point = ["explain", "--scenario", "./one.toml", "--batch", "32", "--k", "3", "--context", "4096"];
    let explained = run_well(folder.path(), &[&point[..], &["--write", "none"]].concat()).stdout;
    assert!(explained.contains("beyond_max_num_seqs, beyond_max_model_len"), "{explained}");
    assert!(explained.contains("with the drafter: 0 sequences run together, set by max_model_len"), "{explained}");
}

/// 9 devices are named where a drafter has its own; what one of its passes costs is not what outlasts verification.
#[test]
fn a_drafter_on_devices_of_its_own_is_named() {
    let folder = folder();
    let drafter =
        format!("[drafters.d]\nmodel = {{ id = \"llama-3.2-1b\", tensor_parallel = 1 }}\noverlap = true\n{MEAN}\n");
    let text = format!("tensor_parallel = 8\n{drafter}{POINT}");
    write(folder.path().join("one.toml"), study("llama-3.3-70b", "vllm", &text)).unwrap();
    let explained = |overlap: &str| {
        let set = format!("drafters.d.overlap={overlap}");
        run_well(folder.path(), &["explain", "--scenario", "./one.toml", "--write", "none", "--set", &set]).stdout
    };
    let ratio = |text: &str| text.lines().find(|line| line.contains("a draft pass costs")).unwrap().to_owned();
    let (apart, beside) = (explained("true"), explained("false"));
    assert!(apart.contains("8 + 1 for the drafter x h100-sxm5-80gb"), "{apart}");
    assert!(apart.contains("drafts are made while the target verifies: 0.000 plain steps outlast it"), "{apart}");
    assert_eq!(ratio(&apart), ratio(&beside));
}
