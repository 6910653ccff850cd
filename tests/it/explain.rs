//! `specplan explain`: one point taken apart.

use std::fs::{read, write};

use serde_json::Value;

use crate::program::{folder, names, run, run_well};

/// Llama-3.1-8B with Llama-3.2-1B on an H100.
const LAYERS: [&str; 8] = [
    "--set",
    "hardware=h100-sxm5-80gb",
    "--set",
    "target=llama-3.1-8b",
    "--set",
    "drafters.llama-1b.model.id=llama-3.2-1b",
    "--batch",
    "64",
];

fn document(more: &[&str]) -> Value {
    let folder = folder();
    let all = [&["explain", "--write", "none", "--format", "json", "--quiet"], &LAYERS[..], more].concat();
    serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap()
}

fn row<'d>(document: &'d Value, pass: &str, operator: &str) -> &'d Value {
    let rows = document["rows"].as_array().unwrap();
    rows.iter().find(|row| row["pass"] == pass && row["operator"] == operator).unwrap()
}

fn assert_near(row: &Value, column: &str, expected: f64) {
    let found = row[column].as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-9, "{column}: {found}, not {expected}");
}

#[test]
fn a_point_as_text() {
    let folder = folder();
    let all = [&["explain", "--write", "none", "--set", "roofline=per_op", "--k", "4"], &LAYERS[..]].concat();
    insta::assert_snapshot!(run_well(folder.path(), &all).stdout);
}

#[test]
fn the_founding_study_where_its_speedup_falls() {
    let folder = folder();
    let all = ["explain", "--write", "none", "--batch", "64", "--k", "4"];
    insta::assert_snapshot!(run_well(folder.path(), &all).stdout);
}

/// By hand, 64 x 5 = 320 tokens, 32 layers, 989.4 TFLOP/s, 3.35 TB/s. qkv: 4096 x 6144 parameters; o: 4096^2;
/// gate and up: 2 x 4096 x 14336; down: half of that; head: 128256 x 4096. KV: 131072 B for each of 64 x 2048
/// tokens read and 320 written; keys: 5 x 2048 + 15 for each sequence, 4 x 4096 FLOPs in each layer.
#[test]
fn verification_by_hand() {
    let document = document(&["--k", "4", "--set", "roofline=per_op"]);
    let (peak, bandwidth) = (989.4e12, 3.35e12);
    let per_layer: [(&str, f64); 4] = [
        ("qkv", 4096.0 * 6144.0),
        ("o", 4096.0 * 4096.0),
        ("gate_up", 2.0 * 4096.0 * 14336.0),
        ("down", 4096.0 * 14336.0),
    ];
    for (name, params) in per_layer {
        let row = row(&document, "verify", name);
        assert_near(row, "flops", 32.0 * 2.0 * 320.0 * params);
        assert_near(row, "weight_bytes", 32.0 * 2.0 * params);
        assert_near(row, "time_s", 32.0 * 2.0 * 320.0 * params / peak);
        assert_eq!(row["bound"], "compute");
    }
    let attention = row(&document, "verify", "attention");
    assert_near(attention, "flops", 32.0 * 4.0 * 4096.0 * 64.0 * (5.0 * 2048.0 + 15.0));
    assert_near(attention, "time_s", 131_072.0 * (64.0 * 2048.0 + 320.0) / bandwidth);
    assert_eq!(attention["bound"], "memory");
    let products: f64 = ["qkv", "o", "gate_up", "down", "lm_head"]
        .iter()
        .map(|name| row(&document, "verify", name)["time_s"].as_f64().unwrap())
        .sum();
    assert!((products - 4.854e-3).abs() < 1e-6, "{products}");
}

#[test]
fn one_maximum_calls_the_same_pass_bound_by_memory() {
    let document = document(&["--k", "4", "--set", "roofline=aggregate"]);
    let priced = row(&document, "verify", "priced");
    assert!((priced["time_s"].as_f64().unwrap() - 9.62e-3).abs() < 5e-6, "{priced}");
    assert_eq!(priced["bound"], "memory");
}

/// The sweep's row of the same point has the same price.
#[test]
fn it_explains_what_the_sweep_says() {
    let folder = folder();
    let sweep = run_well(folder.path(), &["sweep", "--write", "none", "--format", "json", "--quiet"]);
    let sweep: Value = serde_json::from_str(&sweep.stdout).unwrap();
    for (batch, k) in [(1, 2), (64, 8), (256, 1)] {
        let (at, long) = (batch.to_string(), k.to_string());
        let all = ["explain", "--write", "none", "--format", "json", "--quiet", "--batch", &at, "--k", &long];
        let explained: Value = serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap();
        let rows = sweep["rows"].as_array().unwrap();
        let same = |row: &&Value| row["batch"] == batch && row["k"] == k && row["alpha"] == 0.8;
        let row = rows.iter().find(same).unwrap();
        assert_eq!(explained["factors"]["speedup"], row["speedup"]);
        assert_eq!(explained["memory"]["total_bytes"], row["memory_bytes"]);
    }
}

#[test]
fn what_is_not_there_is_refused() {
    let folder = folder();
    for (flags, code) in [
        (&["--drafter", "llama1b"][..], 2),
        (&["--batch", "0"], 2),
        (&["--k", "-1"], 2),
        (&["--alpha", "1.5"], 2),
        (&["--set", "hardware=nothing"], 2),
    ] {
        let ran = run(folder.path(), &[&["explain"], flags].concat());
        assert_eq!(ran.code, code, "{flags:?}: {}", ran.stderr);
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn files_and_standard_output_agree() {
    let folder = folder();
    let ran = run_well(folder.path(), &["explain", "--write", "csv,json", "--format", "csv", "--out", "x"]);
    assert_eq!(ran.stdout.as_bytes(), read(folder.path().join("x/founding-study.explain.csv")).unwrap());
    assert_eq!(names(&folder.path().join("x")).len(), 3);
    run_well(folder.path(), &["explain", "--write", "png,svg", "--out", "y"]);
    let charts = ["roofline.png", "roofline.svg", "round.png", "round.svg"];
    let found = names(&folder.path().join("y"));
    assert!(charts.iter().all(|chart| found.contains(&format!("founding-study.explain.{chart}"))), "{found:?}");
}

/// Without a drafter, with one that is no model, at no draft and at no context.
#[test]
fn points_at_the_edges_are_drawn_too() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"l4-24gb\"\ntarget = \"qwen3-8b\"\n";
    write(folder.path().join("plain.toml"), text).unwrap();
    let ran = run_well(folder.path(), &["explain", "--scenario", "./plain.toml"]);
    assert!(!ran.stderr.contains("round.png") && !ran.stdout.contains("Verification"), "{}{}", ran.stderr, ran.stdout);
    for flags in [
        &["--scenario", "./plain.toml"][..],
        &["--set", "drafters.llama-1b.constant.cost_ratio=0"],
        &["--k", "0"],
        &["--context", "0", "--batch", "100000"],
    ] {
        run_well(folder.path(), &[&["explain", "--write", "png,svg,csv,json"], flags].concat());
    }
}
