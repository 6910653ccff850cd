//! `specplan simulate`, as its users meet it.

use std::fs::{read, write};

use serde_json::Value;

use crate::program::{folder, names, run, run_well};

#[test]
fn the_founding_study_as_text() {
    let folder = folder();
    insta::assert_snapshot!(run_well(folder.path(), &["simulate", "--write", "none"]).stdout);
}

#[test]
fn invariant_1_simulations_are_the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    for threads in ["1", "3"] {
        let all = ["simulate", "--write", "csv,json,png,svg", "--threads", threads, "--out", threads];
        run_well(folder.path(), &all);
    }
    let one = names(&folder.path().join("1"));
    assert_eq!(one.len(), 7, "{one:?}");
    for name in &one {
        let bytes = |threads: &str| read(folder.path().join(threads).join(name)).unwrap();
        assert!(bytes("1") == bytes("3"), "{name}");
    }
}

#[test]
fn another_seed_gives_other_trials() {
    let folder = folder();
    let shown = |seed| run_well(folder.path(), &["simulate", "--write", "none", "--seed", seed]).stdout;
    assert_ne!(shown("5"), shown("6"));
}

/// The founding study's first exercise: q = p is accepted always, and k = 4 gives 5 tokens.
#[test]
fn a_drafter_equal_to_the_target_is_accepted_always() {
    let folder = folder();
    let same = ["--set", "simulate.q=[0.4,0.25,0.15,0.1,0.06,0.04]", "--set", "simulate.alpha=1"];
    let all = [&["simulate", "--write", "none", "--format", "json", "--quiet"], &same[..]].concat();
    let document: Value = serde_json::from_str(&run_well(folder.path(), &all).stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let simulated = |estimate: &str, k: Value| {
        let row = rows.iter().find(|row| row["estimate"] == estimate && row["k"] == k);
        row.unwrap()["simulated"].as_f64().unwrap()
    };
    assert_eq!(simulated("acceptance", Value::Null).to_string(), "1");
    assert_eq!(simulated("tokens_per_pass", 4.into()).to_string(), "5");
}

#[test]
fn half_a_study_is_half_the_output() {
    let folder = folder();
    let text = "title = \"t\"\nhardware = \"founding-h100\"\ntarget = \"founding-llama-3-8b\"\n";
    let with = |section: &str, out: &str| {
        write(folder.path().join("mine.toml"), format!("{text}{section}")).unwrap();
        run(folder.path(), &["simulate", "--scenario", "./mine.toml", "--out", out])
    };
    let rule = with("[simulate]\nrounds = 100\np = [1.0]\nq = [1.0]\n", "rule");
    assert_eq!(rule.code, 0, "{}", rule.stderr);
    assert!(!rule.stdout.contains("Tokens per pass"), "{}", rule.stdout);
    let files = ["mine.simulate.csv", "mine.simulate.law.png", "mine.simulate.manifest.json"];
    assert_eq!(names(&folder.path().join("rule")), files);
    let rounds = with("[simulate]\nrounds = 1\nalpha = 0.5\nk = 3\n", "rounds");
    assert_eq!(rounds.code, 0, "{}", rounds.stderr);
    assert!(!rounds.stdout.contains("accept/reject"), "{}", rounds.stdout);
    for nothing in ["", "[simulate]\nrounds = 100\n"] {
        let ran = with(nothing, "nothing");
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("there is nothing to simulate"), "{}", ran.stderr);
    }
    assert!(!folder.path().join("nothing").exists());
}

/// A round in a million differs: the sample says nothing of the variance, and theory is no miss.
#[test]
fn few_or_equal_rounds_leave_a_wide_interval() {
    let folder = folder();
    for set in [["simulate.rounds=2000", "simulate.alpha=0.999999"], ["simulate.rounds=1", "simulate.alpha=0.7"]] {
        let all = ["simulate", "--write", "none", "--set", set[0], "--set", set[1]];
        let ran = run_well(folder.path(), &all);
        assert!(ran.stdout.contains("0 of these 11 intervals miss theory"), "{}", ran.stdout);
    }
}
