//! `specplan tree`: the best draft tree, beside the best chain.

use std::collections::HashMap;

use serde_json::Value;

use crate::program::{folder, names, run, run_well};

const BASE: [&str; 4] = ["tree", "--scenario", "llama-8b-tree", "--quiet"];

/// The cells of a row, from 1, by column.
fn cells(table: &str, row: usize) -> HashMap<String, String> {
    let of = |row: usize| table.lines().nth(row).unwrap().split(',').map(str::to_owned);
    of(0).zip(of(row)).collect()
}

fn number(of: &HashMap<String, String>, column: &str) -> f64 {
    of[column].parse().unwrap()
}

/// The tree that is emitted, given back to a sweep node by node, has the tokens and the speedup that were promised.
#[test]
fn an_emitted_tree_is_priced_alike_by_a_sweep() {
    let folder = folder();
    let with = |more: &[&str]| run_well(folder.path(), &[&BASE[..], &["--write", "none"], more].concat()).stdout;
    let table = with(&["--format", "csv"]);
    let found = cells(&table, 3);
    assert_eq!(found["batch"], "4");
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
    let near = |column: &str| (number(&priced, column) / number(&found, column) - 1.0).abs() < 1e-12;
    assert!(near("tokens_per_pass") && near("speedup"), "{priced:?} and {found:?}");
    let sizes = [("verify_width", "nodes"), ("k", "depth"), ("tensor_parallel", "tensor_parallel"), ("notes", "notes")];
    assert!(sizes.iter().all(|(swept, searched)| priced[*swept] == found[*searched]), "{priced:?} and {found:?}");
    // Given as the drafter's own, it is the best tree again.
    let own = cells(&with(&["--format", "csv", "--set", &shape]), 3);
    assert_eq!((&own["own_speedup"], &own["own_nodes"]), (&own["speedup"], &own["nodes"]));
    assert_eq!(found["own_speedup"], "");
}

/// Chains are trees: none beats the best tree; and as published, trees gain less and less with the batch, nothing from 32 on.
#[test]
fn a_tree_gains_at_small_batches_only() {
    let folder = folder();
    let table = run_well(folder.path(), &[&BASE[..], &["--write", "none", "--format", "csv"]].concat()).stdout;
    let mut before = f64::INFINITY;
    for row in 1..=8 {
        let cells = cells(&table, row);
        let gain = number(&cells, "speedup") / number(&cells, "chain_speedup");
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
    assert_eq!((first["batch"].as_str(), first["fits"].as_str()), ("1", "true"), "{first:?}");
    assert!(number(&first, "speedup") > 1.0, "{first:?}");
    let constant = run(folder.path(), &[&BASE[..], &["--set", "drafters.eagle3.constant.cost_ratio=0.05"]].concat());
    assert_eq!(constant.code, 3);
    assert!(constant.stderr.contains("constant has no draft passes to branch in"), "{}", constant.stderr);
}

/// A Medusa scenario that leaves its sweep out is searched as deep as it has heads, and SGLang's flags are not offered for it.
#[test]
fn medusa_trees_are_as_deep_as_there_are_heads() {
    let folder = folder();
    let scenario = "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"vicuna-7b-v1.3\"\nengine = \"hf-eager\"\n\
                    [drafters.heads.medusa]\nheads = 3\n\
                    [drafters.heads.acceptance]\nranks = { probabilities = [[0.6, 0.15], [0.45, 0.1], [0.3]] }\n";
    std::fs::write(folder.path().join("medusa.toml"), scenario).unwrap();
    let with = |more: &[&str]| run(folder.path(), &[&["tree", "--scenario", "medusa.toml", "--quiet"], more].concat());
    let table = with(&["--write", "none", "--format", "csv"]);
    assert_eq!(table.code, 0, "{}", table.stderr);
    assert_eq!(cells(&table.stdout, 1)["depth"], "3");
    let text = with(&["--write", "none"]).stdout;
    assert!(text.contains("3 levels") && !text.contains("SGLang") && !text.contains("--depth"), "{text}");
    let flags = with(&["--emit", "sglang"]);
    assert_eq!(flags.code, 2);
    assert!(flags.stderr.contains("not with medusa"), "{}", flags.stderr);
    // What is left out of the sweep goes as far as the heads do; what is stated may not go further.
    let sweep =
        |more: &[&str]| run(folder.path(), &[&["sweep", "--scenario", "medusa.toml", "--quiet"], more].concat());
    let longest = sweep(&["--write", "none", "--format", "csv"]).stdout;
    assert_eq!(longest.lines().skip(1).filter_map(|line| line.split(',').nth(8)).max(), Some("3"));
    assert_eq!(sweep(&["--set", "sweep.k=4"]).code, 3);
}

/// A tree is searched with the ranks of its context, as a sweep has them; between two of them there are none, nor for a mix of
/// workloads. What cannot draft a tree is passed over.
#[test]
fn ranks_are_those_of_the_context() {
    let folder = folder();
    let scenario = |acceptance: &str| {
        format!(
            "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n\
             [sweep]\nbatch = 1\nk = [1, 2, 3, 4]\n[drafters.b]\nblock = {{ block = 4 }}\n[drafters.e]\n\
             eagle = {{ version = 3 }}\n[acceptance]\nranks = {{ probabilities = [0.6, 0.2] }}\n{acceptance}\n"
        )
    };
    let write = |acceptance: &str| std::fs::write(folder.path().join("c.toml"), scenario(acceptance)).unwrap();
    let with = |context: &str| {
        let args =
            ["tree", "--scenario", "c.toml", "--quiet", "--write", "none", "--format", "csv", "--context", context];
        run(folder.path(), &args)
    };
    write("by_context = { \"4000\" = { ranks = { probabilities = [0.4, 0.3] } } }");
    let at = cells(&with("4000").stdout, 1);
    // 1 + 0.4 + 0.4^2 + …, as many as the best chain drafts.
    let k = number(&at, "chain_k") as i32;
    let expected: f64 = (0..=k).map(|power| 0.4_f64.powi(power)).sum();
    assert!((number(&at, "chain_tokens_per_pass") - expected).abs() < 1e-12 && at["drafter"] == "e", "{at:?}");
    let beyond = cells(&with("9000").stdout, 1);
    assert!(beyond["notes"].contains("extrapolated"), "{beyond:?}");
    let between = with("2048");
    assert_eq!(between.code, 3);
    assert!(between.stderr.contains("--context takes one at which they were stated: 0, 4000"), "{}", between.stderr);
    write(
        "by_workload = { code = { ranks = { probabilities = [0.7, 0.1] } } }\n[workloads.code]\nshare = 0.5\noutput = 100\n\
           [workloads.chat]\nshare = 0.5\noutput = 100",
    );
    let mixed = with("0");
    assert!(mixed.code == 3 && mixed.stderr.contains("an acceptance for each workload"), "{}", mixed.stderr);
}

/// Sizes far beyond what engines run are refused at once, and a tree deeper than there are Medusa heads; many ranks take
/// no time.
#[test]
fn sizes_have_limits() {
    let folder = folder();
    let eagle = |shape: &str| {
        let shape = format!("drafters.eagle3.shape.tree={shape}");
        run(folder.path(), &[&BASE[..], &["--write", "none", "--set", &shape]].concat())
    };
    for shape in ["{steps=1000,topk=64,nodes=5000}", "{steps=3,topk=100,nodes=50}", "{steps=300,topk=3,nodes=50}"] {
        assert_eq!(eagle(shape).code, 2, "{shape}");
    }
    assert_eq!(eagle("{steps=256,topk=64,nodes=4096}").code, 0);
    let ninth = ["tree", "--scenario", "llama-8b-tree", "--write", "none", "--set"];
    let ninth = run(folder.path(), &[&ninth[..], &["drafters.eagle3.shape.tree={paths=[[0],[9]]}"]].concat());
    assert!(ninth.stderr.contains("candidate 10 of a position"), "{}", ninth.stderr);
    let medusa = "drafters.eagle3={ medusa = { heads = 3 }, acceptance = { ranks = { probabilities = [0.6] } }, \
                  shape = { tree = { paths = [[0],[0,0],[0,0,0],[0,0,0,0]] } } }";
    let deep = run(folder.path(), &[&BASE[..], &["--write", "none", "--set", medusa]].concat());
    assert!(deep.code == 3 && deep.stderr.contains("its tree is 4 deep"), "{}", deep.stderr);
    let ranks = format!("drafters.eagle3.acceptance.ranks.probabilities=[{}]", vec!["0.003"; 256].join(","));
    let many = ["--write", "none", "--nodes", "256", "--depth", "32", "--set", &ranks];
    assert_eq!(run(folder.path(), &[&BASE[..], &many].concat()).code, 0);
}
