//! `specplan plan`: verdicts, tables, schedules read back as their engines read them, and answers to what cannot run.

use std::path::Path;

use serde_json::Value;

use crate::program::{folder, names, run, run_well};

fn planned(folder: &Path, more: &[&str]) -> Value {
    let all = [&["plan", "--write", "none", "--format", "json", "--quiet"], more].concat();
    serde_json::from_str(&run_well(folder, &all).stdout).unwrap()
}

pub(crate) fn rows<'v>(document: &'v Value, part: &str) -> &'v Vec<Value> {
    document[part].as_array().unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| unreachable!("{of} is no number"))
}

/// The exercise's answers: KV of one sequence at context 2048 is read in 80.1 us, the arithmetic of one token takes 15.2 us; up to nine
/// drafts pay at every batch, ten up to 1345, twelve up to 242, sixteen up to 91; 206 sequences fit, 205 with sixteen drafts of room.
#[test]
fn the_second_exercise_has_a_batch_for_each_length_or_none() {
    let folder = folder();
    let document = planned(folder.path(), &["--scenario", "founding-exercise-2"]);
    let by_k = rows(&document["verdicts"][0], "pays_at_batch_by_k");
    let pays = |k: usize| by_k[k - 1]["at_equal_batch"].to_string();
    for k in 1..=9 {
        assert_eq!(pays(k), "[[1,4096]]", "k = {k}");
    }
    assert_eq!([10, 12, 16].map(pays), ["[[1,1345]]", "[[1,242]]", "[[1,91]]"]);
    assert_eq!([1, 16].map(|k| by_k[k - 1]["sequences"].as_u64()), [Some(206), Some(205)]);
}

/// The best k at batch 1 for alpha 0.5 to 0.95, and two rules of thumb: that for drafts at a sixth of a step is one off at 0.85.
#[test]
fn the_third_exercise_has_the_best_lengths_beside_the_rules_of_thumb() {
    let folder = folder();
    let document = planned(folder.path(), &["--scenario", "founding-exercise-3"]);
    let verdicts = rows(&document, "verdicts");
    let k: Vec<u64> = verdicts.iter().map(|verdict| verdict["k"].as_u64().unwrap()).collect();
    assert_eq!(k, [2, 2, 2, 3, 3, 4, 4, 5, 7, 11]);
    let rule = |verdict: &Value| {
        let words = rows(verdict, "words").iter().find(|line| line["about"] == "rule of thumb").unwrap();
        let says = words["says"].as_str().unwrap().to_owned();
        let last: u64 = says.rsplit(' ').next().unwrap().parse().unwrap();
        let constant: u64 = says.split("k = ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        (constant, last)
    };
    let rules: Vec<(u64, u64)> = verdicts.iter().map(rule).collect();
    let off: Vec<usize> = (0..10).filter(|&at| rules[at].1 != k[at]).collect();
    assert_eq!(off, [7], "{rules:?}");
    // At batch 1 verification costs one step, so that a constant cost is all there is to it.
    assert_eq!(rules.iter().map(|rule| rule.0).collect::<Vec<_>>(), k);
}

/// The founding table again: best speedups at batch 1, and batch 256 runs with no length.
#[test]
fn the_founding_study_is_decided_as_its_table_says() {
    let folder = folder();
    let document = planned(folder.path(), &[]);
    let row = |batch: u64, alpha: f64| {
        let of = |row: &&Value| row["batch"] == batch && (number(&row["alpha"]) - alpha).abs() < 1e-9;
        rows(&document, "rows").iter().find(of).unwrap().clone()
    };
    let shown = |row: &Value| (row["best_k"].as_u64().unwrap(), format!("{:.2}", number(&row["speedup"])));
    assert_eq!(shown(&row(1, 0.6)), (2, "1.47".to_owned()));
    assert_eq!(shown(&row(64, 0.8)), (4, "1.82".to_owned()));
    let large = row(256, 0.8);
    assert_eq!((large["runs"].as_bool(), large["base_runs"].as_bool()), (Some(false), Some(false)));
    assert_eq!((large["running"].as_u64(), large["base_running"].as_u64()), (Some(158), Some(206)));
    let verdict = &document["verdicts"][1];
    assert_eq!(verdict["answer"], "enable");
    assert_eq!(verdict["memory"]["without_drafter"]["sequences"], 206);
    // 158 sequences of 2053 tokens in blocks of 16: 338 MB each, beside 18.54 GB of weights in 72 GB.
    assert_eq!(verdict["memory"]["with_drafter"]["sequences"], 158);
}

/// A chance of 0 pays nowhere: the answer says so, and there is no schedule to emit.
#[test]
fn what_never_pays_is_left_off() {
    let folder = folder();
    let zero = ["--set", "drafters.llama-1b.acceptance.iid.alpha=0"];
    let document = planned(folder.path(), &zero);
    let verdict = &document["verdicts"][0];
    assert_eq!(
        (verdict["answer"].as_str(), verdict["pays_at_batch"].as_array().unwrap().len()),
        (Some("don't enable"), 0)
    );
    assert!(rows(&document, "rows").iter().all(|row| row["best_k"] == 0));
    assert_eq!(document["schedules"][0]["off"], true);
    for form in ["vllm", "sglang", "trtllm"] {
        let ran = run(folder.path(), &[&["plan", "--quiet", "--emit", form], &zero[..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("leave speculation off"), "{}", ran.stderr);
    }
}

/// Nothing drafted: a plain answer.
#[test]
fn no_draft_length_is_a_plain_answer() {
    let folder = folder();
    for none in [&["--k-max", "0"][..], &["--set", "sweep.k=[0]"][..]] {
        let ran = run_well(folder.path(), &[&["plan", "--write", "none"], none].concat());
        assert!(
            ran.stdout.contains("DON'T ENABLE speculation: no draft length was to be tried (k at most 0)"),
            "{}",
            ran.stdout
        );
    }
}

/// A target that no device holds is refused with what it needs; a drafter that leaves no room is not recommended.
#[test]
fn what_cannot_run_is_never_recommended() {
    let folder = folder();
    let small = ["plan", "--write", "none", "--set", "memory.utilization=0.2"];
    let ran = run(folder.path(), &small);
    assert_eq!(ran.code, 4);
    assert!(
        ran.stderr.contains("one sequence at context 2048 needs 16.3") && ran.stderr.contains("of 16 GB"),
        "{}",
        ran.stderr
    );
    // 17 GB hold the target and 3 sequences, not the drafter's 2.48 GB besides.
    let tight = [
        "--set",
        "memory.utilization=0.2125",
        "--scenario",
        "founding-study",
        "--set",
        "drafters.llama-1b.acceptance.iid.alpha=0.8",
    ];
    let document = planned(folder.path(), &tight);
    let verdict = &document["verdicts"][0];
    assert_eq!(verdict["answer"], "don't enable");
    assert_eq!(verdict["memory"]["with_drafter"]["sequences"], 0);
    assert!(number(&verdict["memory"]["without_drafter"]["sequences"]) >= 1.0);
    let says = verdict["words"][0]["says"].as_str().unwrap();
    assert!(says.contains("no sequence runs with drafts of llama-1b: it leaves no room for KV cache"), "{says}");
}

/// A drafter that takes so much memory that plain decoding of more sequences is faster: a win at equal batch, a loss at equal
/// memory.
#[test]
fn a_win_at_equal_batch_that_loses_at_equal_memory_is_called_a_loss() {
    let folder = folder();
    let tight = [
        "--set",
        "memory.utilization=0.26",
        "--set",
        "drafters.llama-1b.acceptance.iid.alpha=0.7",
        "--set",
        "sweep.batch=[1,4,8]",
    ];
    let document = planned(folder.path(), &tight);
    let verdict = &document["verdicts"][0];
    let full = &verdict["memory_full"];
    assert!(number(&full["throughput_ratio"]) < 1.0, "{full}");
    let (few, many) = (number(&full["sequences"]), number(&full["base_sequences"]));
    assert!(few < many);
    // Throughput is proportional to what runs, over one step or round.
    let from = number(&full["loses_from_sequences"]);
    assert!(few <= from && from <= many, "{full}");
    assert!(rows(&document, "rows").iter().any(|row| row["runs"] == true && number(&row["speedup"]) > 1.0));
    let says = verdict["words"][0]["says"].as_str().unwrap();
    assert!(says.contains("with memory full a LOSS: off once"), "{says}");
    // At a load of as many as run plainly it stands as a loss.
    let load = format!("p50=1,p95={many}");
    let document = planned(folder.path(), &[&tight[..], &["--load", &load]].concat());
    let stands: Vec<&str> =
        rows(&document["verdicts"][0], "at").iter().map(|at| at["stand"].as_str().unwrap()).collect();
    assert_eq!(stands[1], "does not fit beside the drafter", "{stands:?}");
}

/// Two profiles of SGLang contradict each other from batch 64 on, and both are told.
#[test]
fn contradicting_profiles_ask_for_a_measurement() {
    let folder = folder();
    let document = planned(folder.path(), &["--scenario", "llama-8b-drafters", "--engine", "sglang"]);
    let verdict = &document["verdicts"][0];
    assert_eq!(verdict["answer"], "measure first");
    let at = rows(verdict, "at");
    let disputed: Vec<&Value> = at.iter().filter(|at| at["stand"] == "disputed").collect();
    assert!(!disputed.is_empty());
    for at in disputed {
        assert!(number(&at["speedup"]) > 1.0 && number(&at["disputed_speedup"]) < 1.0, "{at}");
    }
    assert_eq!(at[0]["stand"], "pays");
    // The other way round it is the same dispute.
    let document = planned(folder.path(), &["--scenario", "llama-8b-drafters", "--engine", "sglang-host-bound"]);
    assert_eq!(document["verdicts"][0]["answer"], "measure first");
    // Where the load stays below the dispute, the answer stands.
    let document =
        planned(folder.path(), &["--scenario", "llama-8b-drafters", "--engine", "sglang", "--load", "p50=2,p95=8"]);
    assert_eq!(document["verdicts"][0]["answer"], "enable");
}

/// Without an acceptance the published figures of the kind serve, with a wide interval; other commands do not take them.
#[test]
fn published_acceptance_serves_where_there_is_none() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n\
                [drafters.head]\neagle = { version = 3 }\n";
    std::fs::write(folder.path().join("t.toml"), text).unwrap();
    let document = planned(folder.path(), &["--scenario", "./t.toml"]);
    let row = &rows(&document, "break_even").iter().find(|row| row["k"] == 3).unwrap().clone();
    assert_eq!(row["tokens_per_pass"].to_string(), "2.66");
    let at = &document["verdicts"][0]["at"][0];
    assert!(number(&at["high"]) / number(&at["low"]) > 2.0, "{at}");
    let trust = document["manifest"]["trust"].as_array().unwrap();
    assert!(trust.iter().any(|line| line.as_str().unwrap().contains("medians of 150 figures")), "{trust:?}");
    let ran = run(folder.path(), &["sweep", "--scenario", "./t.toml"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("acceptance = \"published\" takes published"), "{}", ran.stderr);
    // Whoever wants them there says so, and gets the same.
    let said = format!("{text}acceptance = \"published\"\n[sweep]\nbatch = [1]\nk = [3]\ncontext = [2048]\n");
    std::fs::write(folder.path().join("said.toml"), said).unwrap();
    let swept = run_well(
        folder.path(),
        &["sweep", "--scenario", "./said.toml", "--write", "none", "--format", "csv", "--quiet"],
    );
    assert!(swept.stdout.contains(",by_k,,2.66,"), "{}", swept.stdout);
    let suffix = text.replace("eagle = { version = 3 }", "suffix = {}");
    std::fs::write(folder.path().join("t.toml"), suffix).unwrap();
    assert_eq!(run(folder.path(), &["plan", "--scenario", "./t.toml"]).code, 3);
}

/// The same bytes for any number of threads, and other draws for another seed.
#[test]
fn invariant_1_a_plan_is_the_same_on_any_number_of_threads() {
    let folder = folder();
    let of = |more: &[&str]| {
        let all = ["plan", "--scenario", "llama-8b-drafters", "--write", "none", "--format", "json", "--quiet"];
        run_well(folder.path(), &[&all[..], more].concat()).stdout
    };
    let one = of(&["--threads", "1"]);
    assert!(one == of(&["--threads", "2"]) && one == of(&["--threads", "7"]));
    let (a, b): (Value, Value) =
        (serde_json::from_str(&one).unwrap(), serde_json::from_str(&of(&["--seed", "6"])).unwrap());
    let low = |of: &Value| number(&of["verdicts"][0]["at"][0]["low"]);
    assert!((low(&a) - low(&b)).abs() > 0.0 && (low(&a) / low(&b) - 1.0).abs() < 0.02);
}

#[test]
fn every_file_is_written_and_named() {
    let folder = folder();
    let all = ["plan", "--scenario", "llama-8b-drafters", "--write", "csv,json,svg", "--quiet"];
    run_well(folder.path(), &all);
    let files = names(&folder.path().join("output"));
    let due = [
        "llama-8b-drafters.plan.break-even.csv",
        "llama-8b-drafters.plan.csv",
        "llama-8b-drafters.plan.drafters.svg",
        "llama-8b-drafters.plan.frontier.svg",
        "llama-8b-drafters.plan.json",
        "llama-8b-drafters.plan.manifest.json",
        "llama-8b-drafters.plan.tornado.svg",
    ];
    assert_eq!(files, due);
}

/// A price and a rate by hand: replicas are whole.
#[test]
fn dollars_and_devices_follow_from_throughput() {
    let folder = folder();
    let all = ["plan", "--scenario", "llama-8b-drafters", "--write", "none", "--price", "3.6", "--rate", "30000"];
    let text = run_well(folder.path(), &all).stdout;
    let line = text.lines().find(|line| line.trim_start().starts_with("plain ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    let tokens: f64 = cells[3].replace(',', "").parse().unwrap();
    assert_eq!(cells[5], format!("{:.3}", 1000.0 / tokens));
    assert_eq!(cells[6], format!("{:.0}", (30_000.0 / tokens).ceil()));
}

#[test]
fn wrong_flags_are_told() {
    let folder = folder();
    let refused = |more: &[&str], due: &str| {
        let ran = run(folder.path(), &[&["plan"], more].concat());
        assert_eq!(ran.code, 2, "{more:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(due), "{more:?}: {}", ran.stderr);
    };
    refused(&["--load", "p50=0"], "no number of sequences");
    refused(&["--load", "p50=30,p95=12"], "p95 = 12 lies below p50 = 30");
    refused(&["--load", "p99=12"], "p50 and p95 are");
    refused(&["--load", "p50=1,p50=2"], "given twice");
    refused(&["--price", "-1"], "above 0");
    refused(&["--rate", "nan"], "above 0");
    refused(&["--drafter", "llama-1"], "did you mean \"llama-1b\"?");
    refused(&["--emit", "vllm", "--format", "json"], "cannot be used with");
    refused(&["--samples", "5"], "100");
    refused(&["--k-max", "1025"], "--k-max: drafts of 1025 tokens are longer than 1024");
}

/// What stops sequences is named, be it memory or a limit.
#[test]
fn what_stops_sequences_is_named() {
    let folder = folder();
    let says = |limit: &str| {
        let document =
            planned(folder.path(), &["--scenario", "llama-8b-drafters", "--drafter", "llama-1b", "--set", limit]);
        document["verdicts"][0]["words"][0]["says"].as_str().unwrap().to_owned()
    };
    assert!(says("limits.max_model_len=1025").ends_with("context and drafts exceed max_model_len"));
    assert!(says("limits.max_num_batched_tokens=1").ends_with("max_num_batched_tokens does not allow it"));
}

/// A drafter on a device of its own gains for each GPU less than at equal batch, and no engine's form says that it is apart.
#[test]
fn a_drafter_apart_is_counted_for_each_gpu() {
    let folder = folder();
    let all = ["--scenario", "llama-8b-drafters", "--drafter", "llama-1b", "--set", "drafters.llama-1b.overlap=true"];
    let document = planned(folder.path(), &all);
    let says = document["verdicts"][0]["words"][0]["says"].as_str().unwrap().to_owned();
    assert!(says.contains("for each GPU, its own counted"), "{says}");
    assert_eq!(run(folder.path(), &[&["plan"], &all[..], &["--emit", "vllm"]].concat()).code, 2);
}

/// The worst of a draft length that is kept counts batches of which it lets fewer run.
#[test]
fn a_draft_length_that_lets_fewer_run_loses_what_they_would_bring() {
    let folder = folder();
    let all = ["--scenario", "llama-8b-drafters", "--drafter", "block", "--set", "limits.max_num_batched_tokens=512"];
    let document = planned(folder.path(), &all);
    let fixed = rows(&document["verdicts"][0], "fixed_k").iter().find(|fixed| fixed["k"] == 5).unwrap().clone();
    // 85 of 128 run: 6 x 85 = 510 tokens.
    assert_eq!(fixed["worst_at_batch"], 128);
    assert!(number(&fixed["worst_loss"]) > 0.15, "{fixed}");
}

#[test]
fn a_study_without_a_drafter_cannot_be_decided() {
    let folder = folder();
    let ran = run(folder.path(), &["plan", "--scenario", "founding-exercise-1"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("there is no drafter to decide on"), "{}", ran.stderr);
}

#[test]
fn too_large_a_plan_is_refused_before_it_starts() {
    let folder = folder();
    let large = ["plan", "--set", "sweep.batch={ from = 1, to = 100_000_000, step = 1 }"];
    let ran = run(folder.path(), &large);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("too-many-points"), "{}", ran.stderr);
    let long = run(folder.path(), &["plan", "--k-max", "100000"]);
    assert_eq!(long.code, 2);
    assert!(long.stderr.contains("no engine drafts that many"), "{}", long.stderr);
    let long = run(folder.path(), &["plan", "--set", "sweep.k=[2000]"]);
    assert_eq!(long.code, 2);
    assert!(long.stderr.contains("longer than 1024"), "{}", long.stderr);
}

/// What people read, as a whole.
#[test]
fn golden_plan() {
    let folder = folder();
    let all =
        ["plan", "--scenario", "llama-8b-drafters", "--write", "none", "--load", "p50=12,p95=64", "--rate", "20000"];
    insta::assert_snapshot!("plan-text", run_well(folder.path(), &all).stdout);
    insta::assert_snapshot!("plan-md", run_well(folder.path(), &[&all[..], &["--format", "md"]].concat()).stdout);
}
