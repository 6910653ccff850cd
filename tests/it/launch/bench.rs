//! `specplan check` as its user runs it: scenarios, verdicts, and two benchmarks.

use std::path::Path;

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use crate::program::{folder, run, run_well};

const COMMAND: &str = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 64 --speculative-config \
    '{\"method\": \"eagle3\", \"model\": \"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B\", \"num_speculative_tokens\": 3}'";

fn check(folder: &Path, command: &str, more: &[&str]) -> String {
    run_well(folder, &[&["check", "--launch", command], more].concat()).stdout
}

/// The scenario that is printed is one that `plan` reads, and the verdict is that of it.
#[test]
fn the_printed_scenario_goes_on_with_plan() {
    let folder = folder();
    let here = folder.path();
    let given = ["--gpu", "H100", "--alpha", "0.7"];
    let text = check(here, COMMAND, &[&given[..], &["--print-scenario"]].concat());
    std::fs::write(here.join("mine.toml"), &text).unwrap();
    let same = ["--load", "p50=12", "--format", "json", "--write", "none", "--quiet"];
    let own: Value = serde_json::from_str(&check(here, COMMAND, &[&given[..], &same].concat())).unwrap();
    let plan = run_well(here, &[&["plan", "--scenario", "./mine.toml"], &same[..]].concat()).stdout;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(own["plan"]["verdicts"], plan["verdicts"]);
    assert!(plan["verdicts"].as_array().is_some_and(|all| !all.is_empty()), "{plan:#}");
    // JSON says the same as TOML, and what is not set is null.
    let printed = check(here, COMMAND, &["--print-scenario", "--format", "json"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["limits"]["max_num_seqs"], &printed["launch"]["k"]), (&json!(64), &json!(3)));
    assert_eq!((&printed["launch"]["tensor_parallel"], &printed["unresolved"]), (&Value::Null, &json!([])));
}

/// Whatever the catalog does not know: everything is printed, nothing is priced; a verdict asks for it.
#[test]
fn printing_needs_nothing_that_is_known() {
    let folder = folder();
    let here = folder.path();
    let command = "sglang serve --model-path nobody/knows-this-9B --tp 4 --shiny 3 --speculative-algorithm EAGLE3 --speculative-draft-model-path nobody/head --speculative-num-steps 5";
    let printed = check(here, command, &["--gpu", "Frobnicator 9000 x4", "--print-scenario", "--format", "json"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["unresolved"], json!(["Frobnicator 9000", "nobody/knows-this-9B", "nobody/head"]));
    assert_eq!(printed["unknown_flags"], json!(["--shiny 3"]));
    assert_eq!((&printed["target"], &printed["tensor_parallel"]), (&json!("nobody/knows-this-9B"), &json!(4)));
    let verdict = run(here, &["check", "--launch", command, "--gpu", "Frobnicator 9000"]);
    assert_eq!(verdict.code, 3);
    for due in ["no accelerator called \"Frobnicator 9000\"", "no model called \"nobody/knows-this-9B\"", "--config"] {
        assert!(verdict.stderr.contains(due), "{due}: {}", verdict.stderr);
    }
    let broken = run(here, &["check", "--launch", "vllm serve m --speculative-config '{", "--print-scenario"]);
    assert!(broken.code == 3 && broken.stderr.contains("is not closed"), "{}", broken.stderr);
    let plain = run(here, &["check", "--launch", "vllm serve Qwen/Qwen3-8B", "--gpu", "H100"]);
    assert!(plain.code == 3 && plain.stderr.contains("no speculation"), "{}", plain.stderr);
}

/// The target's own configuration stands in for the catalog.
#[test]
fn a_configuration_stands_for_a_target_that_is_not_known() {
    let folder = folder();
    let here = folder.path();
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/configs/qwen3-8b.json");
    let command =
        "vllm serve me/my-own-8B --speculative-config '{\"method\": \"ngram\", \"num_speculative_tokens\": 4}'";
    let shown = check(
        here,
        command,
        &["--gpu", "H100", "--config", config, "--load", "4", "--tokens-per-pass", "1.9", "--write", "none", "--quiet"],
    );
    assert!(shown.contains("target my-own-8b") && shown.contains("As launched, k = 4"), "{shown}");
}

/// Drafts of which nobody has published what is accepted: what they need is told, and no gain.
#[test]
fn what_nobody_has_measured_is_to_be_measured_first() {
    let folder = folder();
    let command = "vllm serve meta-llama/Llama-3.1-8B-Instruct --speculative-config '{\"method\": \"draft_model\", \"model\": \"meta-llama/Llama-3.2-1B-Instruct\", \"num_speculative_tokens\": 4}'";
    let shown = check(folder.path(), command, &["--gpu", "H100", "--load", "p50=8", "--quiet"]);
    assert!(shown.contains("MEASURE FIRST drafter model") && shown.contains("tokens per pass with k = 4"), "{shown}");
    assert!(!shown.contains("ENABLE") && !shown.contains("gains in"), "{shown}");
    assert!(!folder.path().join("output").exists());
}

/// A result as `vllm bench serve --save-result` has it: all of `batch` clients decode all the time.
fn result(tpot_ms: f64, itl_ms: f64, batch: f64, tokens: Option<f64>) -> String {
    let mut run = json!({
        "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "dataset_name": "sharegpt", "max_concurrency": batch,
        "completed": 200, "total_input_tokens": 200 * 100, "total_output_tokens": 200 * 1001,
        "duration": 200_000.0 * tpot_ms / 1e3 / batch, "mean_tpot_ms": tpot_ms, "mean_itl_ms": itl_ms, "median_ttft_ms": 30.0,
    });
    if let Some(tokens) = tokens {
        run["spec_decode_acceptance_length"] = tokens.into();
        run["spec_decode_num_drafts"] = 10_000.into();
        run["spec_decode_draft_tokens"] = 30_000.into();
        run["spec_decode_accepted_tokens"] = ((tokens - 1.0) * 10_000.0).into();
    }
    run.to_string()
}

fn gap(folder: &Path, command: &str, off: &str, on: &str) -> Value {
    std::fs::write(folder.join("off.json"), off).unwrap();
    std::fs::write(folder.join("on.json"), on).unwrap();
    let more = [
        "--gpu", "H100", "--load", "p50=16", "--format", "json", "--write", "none", "--quiet", "--bench", "off.json",
        "on.json",
    ];
    let shown: Value = serde_json::from_str(&check(folder, command, &more)).unwrap();
    assert!(
        shown["plan"]["manifest"]["trust"].to_string().contains("calibrated on 2 points"),
        "{}",
        shown["plan"]["manifest"]
    );
    shown["gap"].clone()
}

fn causes(gap: &Value) -> Vec<String> {
    gap["causes"].as_array().unwrap().iter().map(|cause| cause["cause"].as_str().unwrap().to_owned()).collect()
}

/// By hand: 9.3 ms and 7.4 ms a token gain 1.257; rounds of 2.5 tokens at 7.4 ms last 18.5 ms, 1.989 plain steps.
#[test]
fn two_benchmarks_say_why_the_gain_is_what_it_is() {
    let folder = folder();
    let found = gap(folder.path(), COMMAND, &result(9.3, 9.3, 16.0, None), &result(7.4, 18.5, 16.0, Some(2.5)));
    let number = |path: &str| found.pointer(path).unwrap().as_f64().unwrap();
    assert!((number("/gain/measured") - 9.3 / 7.4).abs() < 1e-9);
    assert!((number("/round_in_plain_steps/measured") - 2.5 * 7.4 / 9.3).abs() < 1e-9);
    let unexplained = number("/round_in_plain_steps/measured") / number("/round_in_plain_steps/predicted");
    assert!((number("/unexplained") - unexplained).abs() < 1e-12 && unexplained > 1.2, "{found:#}");
    assert_eq!(causes(&found), ["itl-for-tpot", "host-bound-rounds"]);
    // What the price says has no cause to look for.
    let tpot = 9.3 * number("/round_in_plain_steps/predicted") / 2.5;
    let even = gap(folder.path(), COMMAND, &result(9.3, 9.3, 16.0, None), &result(tpot, tpot, 16.0, Some(2.5)));
    assert_eq!(causes(&even), [""; 0], "{even:#}");
}

/// Each cause that a command or a benchmark shows.
#[test]
fn causes_are_named_where_they_show() {
    let folder = folder();
    let here = folder.path();
    let (off, on) = (result(9.3, 9.3, 16.0, None), result(7.0, 17.5, 16.0, Some(2.5)));
    let has = |command: &str, off: &str, on: &str, cause: &str| {
        let found = causes(&gap(here, command, off, on));
        assert!(found.iter().any(|of| of == cause), "{cause}: {found:?}");
    };
    has(&format!("{COMMAND} --enforce-eager"), &off, &on, "no-graphs");
    has(&format!("{COMMAND} --max-cudagraph-capture-size 32"), &off, &on, "beyond-captured-graphs");
    has(COMMAND, &off, &on.replace("sharegpt", "random"), "random-prompts");
    has(COMMAND, &off, &result(12.0, 12.0, 16.0, Some(1.01)), "acceptance-about-1");
    let waits = result(7.0, 17.5, 9.0, Some(2.5)).replace("\"max_concurrency\":9.0", "\"max_concurrency\":16.0");
    has(COMMAND, &off, &waits, "fewer-running");
    has(&COMMAND.replace("64", "8"), &off, &on, "limited-running-requests");
    has(COMMAND, &result(14.0, 14.0, 16.0, None), &on, "slow-baseline");
    std::fs::write(here.join("m.prom"), "vllm:num_preemptions_total{engine=\"0\"} 12.0\nvllm:spec_decode_num_drafts_total 10\nvllm:spec_decode_num_draft_tokens_total 30\nvllm:spec_decode_num_accepted_tokens_total 15\n").unwrap();
    let more = [
        "--gpu",
        "H100",
        "--metrics",
        "m.prom",
        "--load",
        "p50=16",
        "--format",
        "json",
        "--write",
        "none",
        "--quiet",
        "--bench",
        "off.json",
        "on.json",
    ];
    let shown = check(here, COMMAND, &more);
    assert!(shown.contains("\"preemption\""), "{shown}");
    let swapped = run(here, &["check", "--launch", COMMAND, "--gpu", "H100", "--bench", "on.json", "off.json"]);
    assert!(swapped.code == 2 && swapped.stderr.contains("the first one speculates"), "{}", swapped.stderr);
}

/// Every published command is printed as TOML that says what the JSON does.
#[test]
fn toml_and_json_say_the_same() {
    let folder = folder();
    for row in super::published() {
        let command = row["launch"].as_str().unwrap();
        let text = check(folder.path(), command, &["--gpu", "H100 x8", "--print-scenario"]);
        let printed = check(folder.path(), command, &["--gpu", "H100 x8", "--print-scenario", "--format", "json"]);
        let mut json: Value = serde_json::from_str(&printed).unwrap();
        let read = DeTable::parse(&text).unwrap().into_inner();
        let entries = json.as_object_mut().unwrap();
        ["unresolved", "unknown_flags", "notes", "assumed"].iter().for_each(|key| {
            entries.remove(*key).unwrap();
        });
        assert_eq!(without_nulls(&json), as_json(&DeValue::Table(read)), "{}", row["id"]);
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        value => value.clone(),
    }
}

fn as_json(value: &DeValue<'_>) -> Value {
    let number = |text: &str| serde_json::from_str(text).unwrap();
    match value {
        DeValue::Table(entries) => {
            entries.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref()))).collect()
        }
        DeValue::Array(items) => items.iter().map(|item| as_json(item.get_ref())).collect(),
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(digits) => number(digits.as_str()),
        DeValue::Float(digits) => number(digits.as_str()),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(time) => time.to_string().into(),
    }
}

/// The worse the measured gain, the worse the answer; a measured loss is no gain at that batch, and intervals hold what they are of.
#[test]
fn the_answer_follows_what_was_measured() {
    let folder = folder();
    let here = folder.path();
    std::fs::write(here.join("off.json"), result(12.0, 12.0, 60.0, None)).unwrap();
    let mut before = f64::INFINITY;
    for tpot in [6.0, 8.0, 10.0, 12.0, 13.0, 13.8, 14.0, 16.0, 20.0] {
        std::fs::write(here.join("on.json"), result(tpot, 2.55 * tpot, 60.0, Some(2.55))).unwrap();
        let more =
            ["--gpu", "H100", "--load", "p50=60", "--write", "none", "--quiet", "--bench", "off.json", "on.json"];
        let shown = check(here, COMMAND, &more);
        let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = &told[told.find("(90 %: ").map_or(0, |at| at.saturating_sub(30))..];
        let line = &line[..line.len().min(120)];
        let numbers: Vec<f64> =
            line.split([' ', '(', ')', ',']).filter_map(|word| word.strip_suffix('x')?.parse().ok()).collect();
        let (speedup, low, high) = (numbers[0], numbers[1], numbers[2]);
        assert!(low <= speedup && speedup <= high && speedup <= before + 0.02, "{tpot}: {line}");
        before = speedup;
        if tpot > 12.5 {
            assert!(shown.contains("MEASURED: A LOSS") && shown.contains("DON'T ENABLE"), "{tpot}: {shown}");
        } else if tpot < 9.0 {
            assert!(shown.contains("ENABLE drafter"), "{tpot}: {shown}");
        }
    }
}
