//! `specplan tree`: the best draft tree, beside the best chain.

use serde_json::Value;

use crate::program::{folder, names, run, run_well};

const BASE: [&str; 4] = ["tree", "--scenario", "llama-8b-tree", "--quiet"];

fn cells(table: &str, row: usize) -> Vec<String> {
    table.lines().nth(row).unwrap().split(',').map(str::to_owned).collect()
}

/// The tree that is emitted, given back to a sweep node by node, has the tokens and the speedup that were promised.
#[test]
fn an_emitted_tree_is_priced_alike_by_a_sweep() {
    let folder = folder();
    let with = |more: &[&str]| run_well(folder.path(), &[&BASE[..], &["--write", "none"], more].concat()).stdout;
    let table = with(&["--format", "csv"]);
    let found = cells(&table, 3);
    assert_eq!(found[5], "4");
    let choices = with(&["--batch", "4", "--emit", "medusa"]);
    let shape = format!("drafters.eagle3.shape.tree={{ paths = {} }}", choices.trim());
    let sweep = [
        "sweep",
        "--scenario",
        "llama-8b-tree",
        "--quiet",
        "--write",
        "none",
        "--format",
        "csv",
        "--set",
        "sweep.batch=4",
    ];
    let priced = cells(&run_well(folder.path(), &[&sweep[..], &["--set", &shape]].concat()).stdout, 1);
    let near = |a: &str, b: &str| (a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap() - 1.0).abs() < 1e-12;
    assert!(near(&priced[12], &found[9]) && near(&priced[18], &found[10]), "{priced:?} and {found:?}");
    assert_eq!((&priced[9], &priced[8]), (&found[6], &found[7]));
}

/// Chains are trees: none beats the best tree; and as published, trees gain less and less with the batch, nothing from 32 on.
#[test]
fn a_tree_gains_at_small_batches_only() {
    let folder = folder();
    let table = run_well(folder.path(), &[&BASE[..], &["--write", "none", "--format", "csv"]].concat()).stdout;
    let mut before = f64::INFINITY;
    for row in 1..=8 {
        let cells = cells(&table, row);
        let gain = cells[10].parse::<f64>().unwrap() / cells[14].parse::<f64>().unwrap();
        assert!(gain >= 1.0 && gain <= before + 1e-12, "{cells:?}");
        before = gain;
    }
    assert!(before < 1.0 + 1e-12);
}

#[test]
fn its_files_and_forms() {
    let folder = folder();
    run_well(folder.path(), &[&BASE[..], &["--write", "csv,json,png,svg"]].concat());
    let ends =
        ["csv", "drawing.png", "drawing.svg", "json", "manifest.json", "speedup-by-batch.png", "speedup-by-batch.svg"];
    let expected: Vec<String> = ends.iter().map(|end| format!("llama-8b-tree.tree.{end}")).collect();
    assert_eq!(names(&folder.path().join("output")), expected);
    let document = std::fs::read(folder.path().join("output/llama-8b-tree.tree.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        document["tree"]["paths"].as_array().unwrap().len() as u64 + 1,
        document["rows"][0]["nodes"].as_u64().unwrap()
    );
    let flags = run_well(folder.path(), &[&BASE[..], &["--batch", "16", "--emit", "sglang"]].concat()).stdout;
    assert_eq!(flags, "--speculative-num-steps 4 --speculative-eagle-topk 2 --speculative-num-draft-tokens 6\n");
}

#[test]
fn what_has_no_tree_says_so() {
    let folder = folder();
    let founding = run(folder.path(), &["tree", "--write", "none"]);
    assert_eq!(founding.code, 3);
    assert!(founding.stderr.contains("acceptance.ranks"), "{}", founding.stderr);
    let nobody = run(folder.path(), &[&BASE[..], &["--drafter", "eagle"]].concat());
    assert_eq!(nobody.code, 2);
    assert!(nobody.stderr.contains("did you mean \"eagle3\"?"), "{}", nobody.stderr);
    let lost = ["--set", "drafters.eagle3.acceptance.ranks.probabilities=[0.01]", "--emit", "medusa"];
    let lost = run(folder.path(), &[&BASE[..], &lost].concat());
    assert_eq!(lost.code, 4);
    assert!(lost.stderr.contains("no tree pays"), "{}", lost.stderr);
}

/// At a context that leaves little memory, trees that fit go before larger ones that would gain more; what a sweep refuses
/// to draft as a tree, this command refuses too.
#[test]
fn trees_that_fit_go_first_and_what_cannot_branch_is_refused() {
    let folder = folder();
    let tight = [
        "--set",
        "hardware=l4-24gb",
        "--set",
        "drafters.eagle3.acceptance.ranks.probabilities=[0.7, 0.11, 0.05, 0.025]",
    ];
    let more = ["--context", "35679", "--write", "none", "--format", "csv"];
    let table = run_well(folder.path(), &[&BASE[..], &tight, &more].concat()).stdout;
    let first = cells(&table, 1);
    assert_eq!((first[5].as_str(), first[11].as_str()), ("1", "true"), "{first:?}");
    assert!(first[10].parse::<f64>().unwrap() > 1.0, "{first:?}");
    let constant = run(folder.path(), &[&BASE[..], &["--set", "drafters.eagle3.constant.cost_ratio=0.05"]].concat());
    assert_eq!(constant.code, 3);
    assert!(constant.stderr.contains("constant has no draft passes to branch in"), "{}", constant.stderr);
}
