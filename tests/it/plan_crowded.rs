//! Decisions where more sequences want to run than fit: each way with as many as run, and every line of the same mind.

use std::path::Path;

use serde_json::Value;

use crate::plan::rows;
use crate::program::{folder, run_well};

/// A target and a head that leave little of a device of 24 or 80 GB.
const SMALL: &str = "title = \"A\"\nhardware = \"rtx-4090\"\ntarget = \"gpt-oss-20b\"\nengine = \"vllm\"\n\
    [drafters.d0]\nmedusa = { heads = 6 }\nacceptance.iid = { alpha = 0.52 }\n\
    [sweep]\nbatch = [1]\nk = [1, 4]\ncontext = [8192]\n";
const LARGE: &str = "title = \"B\"\nhardware = \"a100-sxm4-80gb\"\ntarget = \"qwen3-next-80b-a3b\"\nengine = \"hf-eager\"\n\
    [drafters.d0]\nmtp = { depth = 1 }\nacceptance.iid = { alpha = 0.79 }\n\
    [sweep]\nbatch = [7, 33, 64]\nk = [1, 8]\ncontext = [32768]\n\
    [quantization]\nweights = \"int4\"\nkv = \"fp8\"\n";
const LOOKED_UP: &str = "title = \"G\"\nhardware = \"rtx-4090\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n\
    [drafters.n]\nngram = {}\nacceptance.mean_length = { tokens = 2.0, k = 3 }\n\
    [sweep]\nbatch = [1, 64]\nk = [1, 3]\ncontext = [2048]\n";

fn decided(folder: &Path, text: &str, more: &[&str]) -> Value {
    std::fs::write(folder.join("made.toml"), text).unwrap();
    let own = ["plan", "--scenario", "./made.toml", "--write", "none", "--format", "json", "--quiet"];
    serde_json::from_str(&run_well(folder, &[&own, more].concat()).stdout).unwrap()
}

fn line<'v>(document: &'v Value, about: &str) -> &'v str {
    let words = rows(&document["verdicts"][0], "words");
    words.iter().find(|line| line["about"] == about).map_or("", |line| line["says"].as_str().unwrap())
}

/// What a load far beyond memory gains is what memory full gains: both are throughput with as many as run.
#[test]
fn a_load_beyond_memory_gains_what_memory_full_does() {
    let folder = folder();
    for (text, load) in [(SMALL, "p50=300,p95=4000"), (LARGE, "p50=74,p95=500"), (LOOKED_UP, "p50=64,p95=640")] {
        let document = decided(folder.path(), text, &["--load", load]);
        let verdict = &document["verdicts"][0];
        for at in rows(verdict, "at") {
            let [gain, full] =
                [&at["speedup"], &verdict["memory_full"]["throughput_ratio"]].map(|of| of.as_f64().unwrap());
            assert!((gain / full - 1.0).abs() < 1e-12, "{load}: {gain}, {full}");
            assert_eq!(
                (&at["k"], &at["running"]),
                (&verdict["memory_full"]["k"], &verdict["memory_full"]["sequences"])
            );
        }
        assert_eq!(verdict["k"], verdict["memory_full"]["k"]);
        for fixed in rows(verdict, "fixed_k") {
            assert!(fixed["mean_loss"].as_f64().unwrap() >= 0.0 && fixed["worst_loss"].as_f64().unwrap() >= 0.0);
        }
    }
}

/// Each row tells what runs, and its throughput is that of those: 46 sequences for 23.25 ms a token, 74 for 54.6 ms.
#[test]
fn rows_are_of_the_sequences_that_run() {
    let folder = folder();
    let document = decided(folder.path(), LARGE, &["--load", "p50=74,p95=74"]);
    let row = rows(&document, "rows").iter().find(|row| row["batch"] == 74).unwrap();
    let number = |name: &str| row[name].as_f64().unwrap();
    for (running, per_token, rate) in
        [("running", "per_token_s", "tokens_per_s"), ("base_running", "base_per_token_s", "base_tokens_per_s")]
    {
        assert!((number(running) / number(per_token) / number(rate) - 1.0).abs() < 1e-12);
    }
    assert!((number("tokens_per_s") / number("base_tokens_per_s") / number("speedup") - 1.0).abs() < 1e-12);
    assert!(row["runs"] == false && row["base_runs"] == true && number("running") < number("base_running"));
    // The measurement that is asked for is of the same two steps.
    let [with, without] = ["per_token_s", "base_per_token_s"].map(|name| format!("{:.1}", 1e3 * number(name)));
    let next = line(&document, "measure next");
    assert!(next.contains(&format!("{with} with k = 3 (46 running), {without} without is expected")), "{next}");
}

/// Where drafting loses by room, no line says that it pays: not the acceptance, not the swings.
#[test]
fn a_loss_by_room_is_one_in_every_line() {
    let folder = folder();
    let document = decided(folder.path(), SMALL, &["--load", "p50=300,p95=300"]);
    let verdict = &document["verdicts"][0];
    assert_eq!(verdict["answer"], "don't enable");
    let says = line(&document, "acceptance");
    let due: f64 = says.split("above ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let has: f64 = says.split(' ').next().unwrap().parse().unwrap();
    assert!((has / due - verdict["at"][0]["speedup"].as_f64().unwrap()).abs() < 5e-3, "{says}");
    for swing in rows(verdict, "hangs_on") {
        assert!(swing["speedup_at_95_percent"].as_f64().unwrap() < 1.0);
    }
}

/// One sequence more than fit changes no answer: the other profile still contradicts.
#[test]
fn profiles_contradict_each_other_beyond_memory_too() {
    let folder = folder();
    for load in ["p50=372,p95=372", "p50=373,p95=373", "p50=1000,p95=1000"] {
        for engine in ["sglang", "sglang-host-bound"] {
            let all = ["plan", "--scenario", "llama-8b-drafters", "--engine", engine, "--load", load];
            let all = [&all[..], &["--write", "none", "--format", "json", "--quiet"]].concat();
            let document: Value = serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap();
            let verdict = &document["verdicts"][0];
            assert_eq!((&verdict["answer"], &verdict["drafter"]), (&"measure first".into(), &"block".into()), "{load}");
            assert!(verdict["at"][0]["disputed_speedup"].is_f64());
        }
    }
}

/// Flags for a fixed draft length are those of the verdict, wherever the load lies.
#[test]
fn flags_carry_the_length_of_the_verdict() {
    let folder = folder();
    std::fs::write(folder.path().join("made.toml"), LOOKED_UP).unwrap();
    let all = ["plan", "--scenario", "./made.toml", "--load", "p50=64,p95=64", "--emit", "sglang", "--write", "none"];
    let stdout = run_well(folder.path(), &all).stdout;
    assert!(stdout.contains("--speculative-num-steps 3 ") && stdout.contains("num-draft-tokens 4"), "{stdout}");
}

/// A recommended length that pays at fewer batches than the best of each says so.
#[test]
fn where_the_kept_length_pays_is_told() {
    let folder = folder();
    let all =
        ["plan", "--scenario", "llama-8b-drafters", "--context", "512", "--load", "p50=12,p95=64", "--format", "json"];
    let all = [&all[..], &["--write", "none", "--quiet"]].concat();
    let document: Value = serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap();
    let by_k = rows(&document["verdicts"][0], "pays_at_batch_by_k");
    let own = by_k.iter().find(|one| one["k"] == document["verdicts"][0]["k"]).unwrap();
    let [from, to] = [0, 1].map(|at| own["batch"][0][at].as_u64().unwrap());
    let says = line(&document, "batch");
    assert!(to < document["verdicts"][0]["looked_at_batch"].as_u64().unwrap());
    assert!(says.contains(&format!("with k = {} at {from} to {to}", own["k"])), "{says}");
}
