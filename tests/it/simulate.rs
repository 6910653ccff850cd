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
        let (_, rounds) = ran.stdout.split_once("Tokens per pass").unwrap();
        let (table, _) = rounds.split_once("intervals miss").unwrap();
        assert!(!table.contains('*'), "{}", ran.stdout);
    }
}

/// Every way to draft from two laws, by temperature; figures of the verified cases of the rule: acceptance 0.79 drawn,
/// 0.25 of the likeliest token, 0.24 of equal draws; two drafts 0.9475 and 0.9661 at best. At temperature 0 the target
/// emits token 0 and the drafter token 1.
#[test]
fn laws_are_compared_by_temperature_and_number_of_drafts() {
    let folder = folder();
    let set = ["--set", "simulate.temperature=[0, 1]", "--set", "simulate.drafts=2"];
    let ran =
        run_well(folder.path(), &[&["simulate", "--write", "none", "--format", "csv", "--quiet"][..], &set].concat());
    let theory = |estimate: &str, temperature: &str| -> f64 {
        let here =
            |line: &&str| line.starts_with(&format!("{estimate},")) && line.split(',').nth(13) == Some(temperature);
        let line =
            ran.stdout.lines().find(here).unwrap_or_else(|| panic!("{estimate} at {temperature}: {}", ran.stdout));
        line.split(',').nth(4).unwrap().parse().unwrap()
    };
    let expected = [
        ("acceptance_drawn", 0.0, 0.79),
        ("acceptance_greedy", 0.0, 0.25),
        ("acceptance_matching", 0.0, 0.24),
        ("several_bound", 0.0, 0.9475),
        ("several_without_bound", 0.0, 0.966_114_806_246_385_3),
    ];
    for (estimate, cold, warm) in expected {
        assert!((theory(estimate, "0") - cold).abs() < 1e-12, "{estimate} at 0: {}", theory(estimate, "0"));
        assert!((theory(estimate, "1") - warm).abs() < 1e-9, "{estimate} at 1: {}", theory(estimate, "1"));
    }
}

/// Two small language models that look one token back: a verified case of the formulas, 3.1815 tokens at k = 3.
#[test]
fn laws_that_depend_on_the_token_before_give_tokens_per_pass() {
    let folder = folder();
    let text = "title = \"Two models\"\nhardware = \"founding-h100\"\ntarget = \"founding-llama-3-8b\"\n[simulate]\nk = 3\n\
                p = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.25, 0.25, 0.5]]\n\
                q = [[0.4, 0.4, 0.2], [0.3, 0.4, 0.3], [0.25, 0.5, 0.25]]\n";
    write(folder.path().join("mine.toml"), text).unwrap();
    let ran = run_well(folder.path(), &["simulate", "--scenario", "./mine.toml", "--write", "none"]);
    assert!(ran.stdout.contains("3.1815"), "{}", ran.stdout);
}

/// What is simulated of every kind of acceptance lies beside its formula; of sequences that keep their alpha the last of a
/// batch waits longer than independent rounds would have it.
#[test]
fn drafters_are_simulated_with_what_ties_their_rounds_together() {
    let folder = folder();
    let text = "title = \"Kept\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n\
                [drafters.head]\neagle = { version = 3 }\n\
                acceptance.beta = { mean = 0.7, concentration = 4, scope = \"sequence\" }\n\
                [simulate]\nk = [1, 4]\nbatch = [1, 32]\n[sweep]\ncontext = [1000]\n";
    write(folder.path().join("mine.toml"), text).unwrap();
    let flags = ["simulate", "--scenario", "./mine.toml", "--write", "none", "--format", "csv", "--quiet"];
    let table = run_well(folder.path(), &flags).stdout;
    let row = |estimate: &str, k: &str, batch: &str| -> Vec<String> {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        table.lines().map(cells).find(|row| row[0] == estimate && row[2] == k && row[11] == batch).unwrap()
    };
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let last = row("rounds_of_last", "4", "32");
    assert!(last[4].is_empty() && number(&last[6]) > 1.5 * number(&last[14]), "{last:?}");
    // One sequence alone: what it takes is its rounds, and a batch of one never waits.
    let (alone, finish) = (row("rounds_of_last", "1", "1"), row("rounds_to_finish", "1", ""));
    assert_eq!(alone[5], finish[5]);
    let reach = |share: &str| number(&row(&format!("tokens_per_s_{share}"), "4", "32")[5]);
    assert!(reach("p50") > reach("p95") && reach("p95") > reach("p99"), "{table}");
}

/// Two small language models: the first round from its start, and what all rounds come to, by hand: after token 0 1.6 tokens,
/// after token 1 2; one round in eight begins after 1.
#[test]
fn language_models_say_what_all_rounds_come_to() {
    let folder = folder();
    let scenario = "title = \"t\"\nhardware = \"founding-h100\"\ntarget = \"founding-llama-3-8b\"\n[simulate]\nk = 1\n\
                    p = [[0.9, 0.1], [0.5, 0.5]]\nq = [[0.5, 0.5], [0.5, 0.5]]\nstart = 1\n";
    std::fs::write(folder.path().join("two.toml"), scenario).unwrap();
    let args = ["simulate", "--scenario", "two.toml", "--quiet", "--write", "none", "--format", "csv"];
    let table = run_well(folder.path(), &args).stdout;
    let of = |estimate: &str| -> f64 {
        let start = format!("{estimate},");
        let line = table.lines().find(|line| line.starts_with(&start)).unwrap();
        line.split(',').nth(4).unwrap().parse().unwrap()
    };
    assert!((of("tokens_per_pass_drawn") - 2.0).abs() < 1e-12, "{table}");
    assert!((of("tokens_per_pass_drawn_long_run") - 1.65).abs() < 1e-12, "{table}");
    // 40 tokens and k = 10000 would take minutes.
    let row = |at: usize| (0..40).map(|to| if to == at { "1" } else { "0" }).collect::<Vec<_>>().join(", ");
    let all = (0..40).map(|at| format!("[{}]", row(at))).collect::<Vec<_>>().join(", ");
    let (p, q) = (format!("simulate.p=[{all}]"), format!("simulate.q=[{all}]"));
    let large = [&args[..], &["--set", &p, "--set", &q, "--set", "simulate.k=10000"]].concat();
    let refused = crate::program::run(folder.path(), &large);
    assert!(refused.stderr.contains("language models of 40 tokens"), "{}", refused.stderr);
}

/// Draft lengths that a drafter does not have are named, and so is a mean that falls where more is drafted.
#[test]
fn what_is_not_simulated_is_said() {
    let folder = folder();
    let scenario = "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"vicuna-7b-v1.3\"\nengine = \"hf-eager\"\n\
                    [drafters.heads]\nmedusa = { heads = 3 }\nacceptance = { by_k = { \"1\" = 1.7, \"3\" = 1.6 } }\n\
                    [simulate]\nrounds = 1000\nbatch = 2\ntokens = 20\n";
    std::fs::write(folder.path().join("heads.toml"), scenario).unwrap();
    let ran = crate::program::run(folder.path(), &["simulate", "--scenario", "heads.toml", "--write", "none"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("drafter heads: k = 1, 2; it has no rounds of 4, 8 drafts"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\n ~2 ") && ran.stdout.contains("~: tokens per pass carried over"), "{}", ran.stdout);
    assert!(ran.stderr.contains("tokens per pass fall from 1.7 at k = 1 to 1.6 at k = 3"), "{}", ran.stderr);
}
