//! `specplan validate`: predicted against measured speedups.

use std::fs::write;
use std::path::Path;

use serde_json::Value;

use specplan::evidence::score::{Pair, errors};

use crate::program::{folder, names, run, run_well};

fn json(folder: &Path, flags: &[&str]) -> Value {
    let ran = run_well(folder, &[&["validate", "--write", "none", "--format", "json"], flags].concat());
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Median and 90th percentile of the rows that are not scored apart and that are kept.
fn errors_of(found: &Value, keep: impl Fn(&Value) -> bool) -> [f64; 2] {
    let rows = found["rows"].as_array().unwrap().iter();
    let kept = rows.filter(|row| row["scored_apart"] == false && row["class"].is_string() && keep(row));
    let pairs: Vec<Pair> = kept
        .filter_map(|row| Some(Pair { measured: row["measured"].as_f64()?, predicted: row["predicted"].as_f64()? }))
        .collect();
    let of = errors(&pairs).unwrap();
    [of.median, of.p90]
}

/// What a fit of the same form reached on the rows it was made from: dense 4.5 % and 9 %, mixtures 10 %, all 6.3 % and
/// 17 %, the founding formula 31 %. 167 dense rows came later, and are met as rows it had not seen were before: 5.4 % and 11.3 %.
#[test]
fn published_measurements_are_met_as_closely_as_by_the_published_fit() {
    let folder = folder();
    let found = json(folder.path(), &[]);
    let within = |value: &Value, most: f64| assert!(value.as_f64().unwrap() <= most, "{value} above {most}");
    let met = |keep: &dyn Fn(&Value) -> bool, most: [f64; 2]| {
        let got = errors_of(&found, keep);
        assert!(got[0] <= most[0] && got[1] <= most[1], "{got:?} above {most:?}");
    };
    let was_fitted = |row: &Value| row["source"] != "tomasruizt";
    met(&|row| was_fitted(row) && row["class"] == "dense", [0.046, 0.091]);
    met(&|row| row["class"] == "moe", [0.101, 0.224]);
    met(&was_fitted, [0.0635, 0.172]);
    met(&|row| !was_fitted(row), [0.054, 0.113]);
    within(&found["regret"]["model"]["mean"], 0.007);
    let losses = ["called", "count"].map(|of| found["overall"]["losses"][of].as_u64());
    assert_eq!(losses, [Some(12), Some(13)]);
    let founding = json(folder.path(), &["--engine", "ideal", "--set", "roofline=aggregate"]);
    let [median, _] = errors_of(&founding, was_fitted);
    assert!((0.29..0.33).contains(&median), "{median}");
    assert!(founding["regret"]["model"]["mean"].as_f64() > found["regret"]["model"]["mean"].as_f64());
}

/// Leaving out what matters most makes predictions worse: distinct experts are in no term of their own, but
/// rounds, steps and fixed kernels are.
#[test]
fn terms_can_be_left_out() {
    let folder = folder();
    let median = |flags: &[&str]| json(folder.path(), flags)["by_class"]["dense"]["median"].as_f64().unwrap();
    let without = r#"without=["step","draft","round","sequence","product_kernels","attention_kernels","layer_floor"]"#;
    assert!(median(&["--set", without]) > 1.3 * median(&[]));
}

const HEADER: &str = "speedup,tokens_per_pass,unheard_of,engine,hardware,target,drafter,drafter_kind,k,batch,context,closed_loop,prompt_tokens,output_tokens,id,source,group";

fn predicted(folder: &Path, rows: &[&str], flags: &[&str]) -> Vec<Vec<String>> {
    write(folder.join("own.csv"), format!("{HEADER}\n{}\n", rows.join("\n"))).unwrap();
    let always = ["validate", "--measurements", "own.csv", "--write", "none", "--format", "csv", "--quiet"];
    let ran = run_well(folder, &[&always[..], flags].concat());
    let mut lines = ran.stdout.lines();
    assert_eq!(lines.next(), Some("id,group,class,measured,predicted,error,unpriced_reason"));
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn near(cell: &str, expected: f64) {
    let got: f64 = cell.parse().unwrap();
    assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
}

/// By hand, the founding formula: at batch 1 and context 1000 a step of the target reads 15e9 + 131.072e6
/// bytes, one of the drafter 2.48e9 + 32.768e6; verification of two tokens is bound by memory too.
#[test]
fn a_row_is_priced_by_hand() {
    let folder = folder();
    let bandwidth = 3.35e12;
    let (step, draft) = ((15e9 + 131_072.0 * 1000.0) / bandwidth, (2.48e9 + 32_768.0 * 1000.0) / bandwidth);
    let row = "1.4,1.7,x,ideal,founding_h100,founding-llama-3-8b,founding-llama-3.2-1b,draft-model,1,1,1000,0,,,a,s,";
    let rows = predicted(folder.path(), &[row], &[]);
    assert_eq!(rows[0][..4], ["a", "", "other", "1.4"]);
    let speedup = 1.7 * step / (draft + step);
    near(&rows[0][4], speedup);
    near(&rows[0][5], speedup / 1.4 - 1.0);
    // A closed loop of prompts of 1000 and outputs of 100 tokens: prefill is bound by arithmetic, 2 N 1000 / 989e12.
    let row = "1.4,1.7,x,ideal,founding-h100,founding-llama-3-8b,founding-llama-3.2-1b,model,1,1,1000,1,1000,100,a,s,";
    let prefill = |params: f64| 2.0 * params * 1000.0 / 989e12;
    let (on_target, on_drafter) = (prefill(7.5e9), prefill(1.24e9));
    let plain = 100.0 * step + on_target;
    let speculating = 100.0 / 1.7 * (draft + step) + on_target + on_drafter;
    near(&predicted(folder.path(), &[row], &[])[0][4], plain / speculating);
}

/// Two devices under the founding formula are one that is twice as fast: the same speedup.
#[test]
fn the_founding_formula_takes_several_devices_as_one() {
    let folder = folder();
    let header = "engine,hardware,tensor_parallel,target,drafter_kind,k,batch,context,tokens_per_pass,speedup";
    let row = |devices: u64| format!("vllm,h100-sxm5-80gb,{devices},llama-3.1-8b,eagle3,3,8,1000,2.3,1.5");
    write(folder.path().join("own.csv"), format!("{header}\n{}\n{}\n", row(1), row(2))).unwrap();
    let flags = ["--measurements", "own.csv", "--engine", "ideal", "--set", "roofline=aggregate"];
    let found = json(folder.path(), &flags);
    assert_eq!(found["overall"]["count"], 2);
    assert!(found["overall"]["p90"].as_f64().unwrap() - found["overall"]["median"].as_f64().unwrap() < 1e-12);
}

#[test]
fn rows_that_cannot_be_priced_are_listed_and_change_no_exit_code() {
    let folder = folder();
    let rows = [
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,sound,s,",
        "1.5,2.2,x,vllm,mi300x,llama-3.1-8b,,eagle3,3,8,1000,0,,,amd,s,",
        "1.5,2.2,x,vllm,h900,llama-3.1-8b,,eagle3,3,8,1000,0,,,hardware,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-9,,eagle3,3,8,1000,0,,,target,s,",
        "1.5,2.2,x,tgi,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,engine,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,draft_model,3,8,1000,0,,,unnamed,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,eagle3-llama3.1-8b,mtp,3,8,1000,0,,,kind,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,../../etc/passwd,,mtp,3,8,1000,0,,,outside,s,",
        "much,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,number,s,",
    ];
    let found = predicted(folder.path(), &rows, &[]);
    let reason = |id: &str| found.iter().find(|row| row[0] == id).unwrap()[6..].join(",");
    assert_eq!(reason("sound"), "");
    for (id, named) in [
        ("amd", "no efficiencies for hardware `mi300x`"),
        ("hardware", "no hardware is called"),
        ("target", "no model is called"),
        ("engine", "no engine is called"),
        ("unnamed", "without a name"),
        ("kind", "no head of the kind"),
        ("outside", "is no id"),
        ("number", "is no number"),
    ] {
        assert!(reason(id).contains(named), "{id}: {}", reason(id));
    }
    let text = run_well(folder.path(), &["validate", "--measurements", "own.csv", "--write", "none"]).stdout;
    assert!(text.contains("Not priced: 8 of 9 rows") && text.contains("1 measurement: median error"), "{text}");
    let document = json(folder.path(), &["--measurements", "own.csv"]);
    assert_eq!(document["unpriced"].as_array().unwrap().len(), 8);
}

/// Nobody asks what fits: a device that does not say how much memory it has is predicted all the same.
#[test]
fn a_measurement_needs_no_memory_capacity() {
    let folder = folder();
    let rows = ["1.5,2.2,x,vllm,epyc-9654,llama-3.1-8b,,eagle3,3,8,1000,0,,,cpu,s,"];
    let found = predicted(folder.path(), &rows, &["--engine", "ideal"]);
    assert!(found[0][6..].concat().is_empty(), "{found:?}");
}

#[test]
fn excluded_sources_are_scored_apart_and_once_more_with_everything() {
    let folder = folder();
    let rows = [
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,a,s,",
        "0.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,b,s:excluded,",
    ];
    predicted(folder.path(), &rows, &[]);
    let found = json(folder.path(), &["--measurements", "own.csv"]);
    let count = |part: &str| found[part]["count"].as_u64();
    assert_eq!([count("overall"), count("excluded"), count("everything")], [Some(1), Some(1), Some(2)]);
    assert_eq!(found["by_source"].as_object().unwrap().keys().collect::<Vec<_>>(), ["s"]);
}

#[test]
fn what_is_no_table_of_measurements_is_refused() {
    let folder = folder();
    let at = |name: &str, bytes: &[u8]| write(folder.path().join(name), bytes).unwrap();
    at("few.csv", b"id,engine\na,vllm\n");
    at("none.csv", format!("{HEADER}\n").as_bytes());
    at("latin.csv", b"id\xe9\n");
    for (name, named) in [
        ("few.csv", "hardware, target, drafter_kind, k, batch, tokens_per_pass, speedup"),
        ("none.csv", "no line below the header"),
        ("latin.csv", "not UTF-8"),
        ("nowhere.csv", "there is no such file"),
        (".", "cannot be read"),
    ] {
        let ran = run(folder.path(), &["validate", "--measurements", name]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(named) && ran.stderr.contains("hint"), "{name}: {}", ran.stderr);
    }
    assert_eq!(names(folder.path()), ["few.csv", "latin.csv", "none.csv"]);
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let folder = folder();
    for (flags, named) in [
        (&["--set", "roofline=aggregate"][..], "--engine ideal"),
        (&["--engine", "ideal", "--set", "roofline=additive"], "no terms to add"),
        (&["--set", "sweep.batch=1"], "unknown key"),
        (&["--set", "without=gravity"], "cannot be"),
        (&["--engine", "vlm"], "did you mean \"vllm\"?"),
    ] {
        let ran = run(folder.path(), &[&["validate"], flags].concat());
        assert_eq!(ran.code, 2, "{flags:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(named), "{flags:?}: {}", ran.stderr);
    }
}

#[test]
fn files_are_named_after_the_measurements() {
    let folder = folder();
    run_well(folder.path(), &["validate", "--write", "csv,json,svg", "--out", "results", "--quiet"]);
    let written = names(&folder.path().join("results"));
    let parts = ["csv", "error-by-batch.svg", "json", "manifest.json", "predicted-against-measured.svg"];
    assert_eq!(written, parts.map(|part| format!("published.validate.{part}")));
}

/// What a row cannot have measured is no measurement.
#[test]
fn rows_that_contradict_themselves_are_not_scored() {
    let folder = folder();
    let rows = [
        "1.5,9,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,eagle3,3,8,1000,0,,,tokens,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,eagle3-llama3.1-8b,,mtp,3,8,1000,0,,,head,s,",
        "1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,eagle3-qwen3-8b,eagle3,3,8,1000,0,,,other,s,",
    ];
    let found = predicted(folder.path(), &rows, &[]);
    for (row, named) in found.iter().zip(["more than the 4 tokens", "cannot be a target", "is made for qwen3-8b"]) {
        assert!(row[4].is_empty() && row[6..].join(",").contains(named), "{row:?}");
    }
}

/// JSON holds every row with what its breakdowns are made of: the class's median follows from them.
#[test]
fn every_breakdown_can_be_recomputed_from_the_rows() {
    let folder = folder();
    let found = json(folder.path(), &[]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 610);
    let kept = rows.iter().filter(|row| row["class"] == "moe" && row["scored_apart"] == false);
    let mut errors: Vec<f64> = kept.filter_map(|row| Some(row["error"].as_f64()?.abs())).collect();
    errors.sort_by(f64::total_cmp);
    let median = (errors[44] + errors[45]) / 2.0;
    assert_eq!(errors.len(), 90);
    assert!((median - found["by_class"]["moe"]["median"].as_f64().unwrap()).abs() < 1e-12);
}

/// Ten thousand groups take no longer than their rows.
#[test]
fn many_groups_are_no_matter() {
    let folder = folder();
    let row = |at: usize| format!("1.5,2.2,x,vllm,h100-sxm5-80gb,llama-3.1-8b,,ngram,3,8,1000,0,,,r{at},s,g{}", at / 2);
    let rows: Vec<String> = (0..20_000).map(row).collect();
    let started = std::time::Instant::now();
    let found = predicted(folder.path(), &rows.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(found.len(), 20_000);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
