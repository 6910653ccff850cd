//! Every kind of drafter and acceptance, through the whole program.

use std::collections::HashMap;
use std::fs::write;
use std::path::Path;

use crate::program::{folder, run, run_well};

/// The first row of a sweep of one drafter, cells by column.
fn row(folder: &Path, drafter: &str, flags: &[&str]) -> HashMap<String, String> {
    let text = format!(
        "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n\
         [drafters.d]\n{drafter}\n[sweep]\nbatch = 16\nk = 3\ncontext = 2048\n"
    );
    write(folder.join("one.toml"), text).unwrap();
    let always = ["sweep", "--scenario", "./one.toml", "--write", "none", "--format", "csv", "--quiet"];
    let ran = run_well(folder, &[&always[..], flags].concat());
    let mut lines = ran.stdout.lines().map(|line| line.split(',').map(str::to_owned));
    lines.next().unwrap().zip(lines.next().unwrap()).collect()
}

fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs(), "{got} is not {expected}");
}

const MEAN: &str = "acceptance.mean_length = { tokens = 2.25, k = 3 }";

#[test]
fn a_head_derived_from_its_target_is_the_one_that_is_trained_for_it() {
    let folder = folder();
    let derived = row(folder.path(), &format!("eagle = {{ version = 3 }}\n{MEAN}"), &[]);
    let named = row(folder.path(), &format!("eagle = {{ version = 3, id = \"eagle3-llama3.1-8b\" }}\n{MEAN}"), &[]);
    for column in ["draft_s", "verify_s", "speedup", "memory_bytes", "tokens_per_pass"] {
        assert_eq!(derived[column], named[column], "{column}");
    }
    near(number(&derived, "tokens_per_pass"), 2.25);
    near(number(&derived, "verify_width"), 4.0);
    assert_eq!((derived["acceptance"].as_str(), derived["notes"].as_str()), ("mean_length", ""));
    // An LM head over the whole vocabulary reads (128256 - 32000) x 4096 more weights in each of three passes, at
    // 0.9 x 3.35 TB/s, and multiplies 16 tokens with them at 0.72 x 989.4 TFLOP/s.
    let full = row(folder.path(), &format!("eagle = {{ version = 3, draft_vocab = 128256 }}\n{MEAN}"), &[]);
    let more = 96_256.0 * 4096.0;
    let each = more * 2.0 / (0.9 * 3.35e12) + 2.0 * more * 16.0 / (0.72 * 989.4e12);
    near(number(&full, "draft_s") - number(&derived, "draft_s"), 3.0 * each);
}

/// Only a share of the sequences proposes: (2.25 - 1) / (0.394 x 3) would be above 1, 1.396 gives 0.335.
#[test]
fn lookups_draft_in_no_pass_and_verify_what_is_proposed() {
    let folder = folder();
    let of = |acceptance: &str| row(folder.path(), &format!("ngram = {{}}\n{acceptance}"), &[]);
    let all = of(MEAN);
    near(number(&all, "verify_width"), 4.0);
    assert_eq!((all["draft_s"].as_str(), all["draft_bound"].as_str()), ("0", ""));
    assert_eq!(all["memory_bytes"], row(folder.path(), &format!("suffix = {{}}\n{MEAN}"), &[])["memory_bytes"]);
    let some = of("acceptance.mean_length = { tokens = 1.396, k = 3 }");
    near(number(&some, "verify_width"), 1.0 + 0.396 / 0.394);
    let stated = of("acceptance.mean_length = { tokens = 1.396, k = 3 }\nacceptance.proposing_share = 0.5");
    near(number(&stated, "verify_width"), 2.5);
    assert!(number(&stated, "verify_s") > number(&some, "verify_s"));
}

#[test]
fn a_block_takes_one_pass_and_a_tree_its_own_widths() {
    let folder = folder();
    let chain = row(folder.path(), &format!("eagle = {{ version = 3 }}\n{MEAN}"), &[]);
    let tree = "eagle = { version = 3 }\nshape.tree = { steps = 3, topk = 4, nodes = 16 }\n";
    let tree = row(folder.path(), &format!("{tree}{MEAN}"), &["--set", "sweep.k=[1,2,5]"]);
    assert_eq!((tree["k"].as_str(), tree["verify_width"].as_str()), ("3", "16"));
    assert!(number(&tree, "draft_s") > number(&chain, "draft_s"));
    assert!(number(&tree, "verify_s") > number(&chain, "verify_s"));
    // One pass: at k = 7 a block drafter works on 8 tokens for each sequence, not in 7 passes.
    let block = |k: &str| row(folder.path(), &format!("block = {{}}\n{MEAN}"), &["--set", &format!("sweep.k={k}")]);
    assert!(number(&block("7"), "draft_s") < 1.5 * number(&block("1"), "draft_s"));
}

/// A draft pass over a capped cache is a plain step at that context, without the engine's step but with its
/// time for a draft pass: 2152 and 159.8 us.
#[test]
fn sparse_drafts_read_their_budget_only() {
    let folder = folder();
    let sparse = row(folder.path(), &format!("sparse_kv = {{ budget = 512 }}\n{MEAN}"), &[]);
    let short = row(folder.path(), &format!("sparse_kv = {{ budget = 512 }}\n{MEAN}"), &["--set", "sweep.context=512"]);
    near(number(&sparse, "draft_s"), 3.0 * (number(&short, "base_step_s") - 2152e-6 + 159.8e-6));
    // No second set of weights: only room for the drafts, 2052 tokens in 129 blocks instead of 2049 in 129.
    assert_eq!(sparse["memory_bytes"], sparse["base_memory_bytes"]);
}

/// Each further module is one more layer in memory, 2 h x h + 218,103,808 parameters and five norms (two of what is joined), and its KV of
/// 4096 bytes for 2052 tokens in 129 blocks of 16 and 16 sequences.
#[test]
fn modules_of_multi_token_prediction_count_in_memory() {
    let folder = folder();
    let of = |depth: u64| row(folder.path(), &format!("mtp = {{ depth = {depth} }}\n{MEAN}"), &[]);
    let (one, two) = (of(1), of(2));
    assert_eq!(one["draft_s"], two["draft_s"]);
    let layer = 2.0 * 4096.0 * 4096.0 + 218_103_808.0 + 5.0 * 4096.0;
    let cache = 4096.0 * 129.0 * 16.0 * 16.0;
    near(number(&two, "memory_bytes") - number(&one, "memory_bytes"), 2.0 * layer + cache);
}

#[test]
fn untested_drafters_and_carried_acceptance_are_noted() {
    let folder = folder();
    let model = row(folder.path(), &format!("model = {{ id = \"llama-3.2-1b\" }}\n{MEAN}"), &["--set", "sweep.k=2"]);
    assert_eq!(model["notes"], "extrapolated");
    let suffix = row(folder.path(), &format!("suffix = {{}}\n{MEAN}"), &["--set", "sweep.k=2"]);
    assert_eq!(suffix["notes"], "extrapolated unvalidated");
    let by_k = "eagle = { version = 3 }\nacceptance.by_k = { \"1\" = 1.6, \"3\" = 2.2 }";
    let between = row(folder.path(), by_k, &["--set", "sweep.k=2"]);
    assert_eq!((between["notes"].as_str(), between["acceptance"].as_str()), ("interpolated", "by_k"));
    near(number(&between, "tokens_per_pass"), 1.9);
    let ideal = row(folder.path(), &format!("model = {{ id = \"llama-3.2-1b\" }}\n{MEAN}"), &["--engine", "ideal"]);
    assert_eq!(ideal["notes"], "");
}

/// Two curves are an axis: rows and labels for each.
#[test]
fn curves_are_an_axis() {
    let folder = folder();
    let two = "eagle = { version = 3 }\nacceptance.per_position = { cumulative = [[0.7, 0.5, 0.3], [0.8, 0.6, 0.5]] }";
    let first = row(folder.path(), two, &[]);
    assert_eq!((first["acceptance"].as_str(), first["alpha"].as_str()), ("per_position-1", ""));
    near(number(&first, "tokens_per_pass"), 2.5);
    let text = run_well(folder.path(), &["sweep", "--scenario", "./one.toml", "--write", "none"]).stdout;
    assert!(text.contains(" batch  curve"), "{text}");
}

/// More devices: each holds a half of weights and KV, and all-reduces make the pass more than half as long.
#[test]
fn devices_share_weights_and_cache() {
    let folder = folder();
    let of = |devices: &str| {
        row(
            folder.path(),
            &format!("eagle = {{ version = 3 }}\n{MEAN}"),
            &["--set", &format!("tensor_parallel={devices}")],
        )
    };
    let (one, two) = (of("1"), of("2"));
    near(number(&two, "base_memory_bytes"), number(&one, "base_memory_bytes") / 2.0);
    let (alone, shared) = (number(&one, "base_step_s"), number(&two, "base_step_s"));
    assert!(shared > alone / 2.0 && shared < alone);
    let ran = run(folder.path(), &["sweep", "--scenario", "./one.toml", "--set", "tensor_parallel=3"]);
    assert!(ran.code == 3 && ran.stderr.contains("cannot be spread over 3 devices"), "{}", ran.stderr);
    let ran = run(folder.path(), &["sweep", "--scenario", "./one.toml", "--set", "tensor_parallel=16"]);
    assert!(ran.code == 3 && ran.stderr.contains("joins 8 devices, not 16"), "{}", ran.stderr);
}

/// The best k of a mixture over batch 1 to 256 falls, rises and falls.
#[test]
fn the_best_k_of_a_mixture_is_not_monotone_in_the_batch() {
    let folder = folder();
    let flags = ["sweep", "--scenario", "moe-best-k", "--write", "none", "--format", "csv", "--quiet"];
    let ran = run_well(folder.path(), &flags);
    let mut lines = ran.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
    let (batch, k, alpha, speedup) = (column("batch"), column("k"), column("alpha"), column("speedup"));
    let mut best: Vec<(u64, u64, f64)> = Vec::new();
    for row in lines.filter(|row| row[alpha] == "0.5") {
        let one: (u64, u64, f64) =
            (row[batch].parse().unwrap(), row[k].parse().unwrap(), row[speedup].parse().unwrap());
        match best.last_mut() {
            Some(last) if last.0 == one.0 => *last = if one.2 > last.2 { one } else { *last },
            _ => best.push(one),
        }
    }
    let ks: Vec<u64> = best.iter().map(|one| one.1).collect();
    let falls = ks.windows(2).any(|pair| pair[1] < pair[0]);
    let first_fall = ks.windows(2).position(|pair| pair[1] < pair[0]).unwrap();
    assert!(falls && ks[first_fall..].windows(2).any(|pair| pair[1] > pair[0]), "{ks:?}");
}

/// A 70B target in bf16 does not fit one 80 GB device: figures say so.
#[test]
fn what_does_not_fit_says_what_it_needs() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--scenario", "llama-70b-devices", "--write", "none"]);
    // 70,553,706,496 parameters of 2 bytes are 141.1 GB.
    assert!(
        ran.stdout.contains("does not fit in the usable 76.97 GB of 85.52 GB; batch 1 needs 144.6 GB"),
        "{}",
        ran.stdout
    );
    let flags = ["sweep", "--scenario", "llama-70b-devices", "--set", "tensor_parallel=1", "--only-fitting"];
    let ran = run(folder.path(), &[&flags[..], &["--write", "none"]].concat());
    assert!(ran.code == 4 && ran.stderr.contains("are needed of 76.97 GB"), "{}", ran.stderr);
}

/// What a share proposes cannot yield more than it drafts; iid describes those that propose.
#[test]
fn a_stated_share_of_proposals_holds_for_the_yield_too() {
    let folder = folder();
    let some =
        row(folder.path(), "ngram = {}\nacceptance.iid = { alpha = 0.5 }\nacceptance.proposing_share = 0.1", &[]);
    // 1 + 0.1 x (0.5 + 0.25 + 0.125) tokens for 1 + 0.1 x 3 verified.
    near(number(&some, "tokens_per_pass"), 1.0875);
    near(number(&some, "verify_width"), 1.3);
    let set = "drafters.d.acceptance={mean_length={tokens=1.396,k=3},proposing_share=0.1}";
    let ran = run(folder.path(), &["sweep", "--scenario", "./one.toml", "--set", set]);
    assert!(ran.code != 0 && ran.stderr.contains("at most 1.3 can come out"), "{}", ran.stderr);
}

/// The line on trust goes where nothing stands behind it: other hardware, other batches, left-out terms.
#[test]
fn nothing_is_promised_where_nothing_was_measured() {
    let folder = folder();
    let said = |flags: &[&str]| {
        let always = ["sweep", "--scenario", "llama-8b-drafters", "--write", "none", "--set", "sweep.batch=[1]"];
        run_well(folder.path(), &[&always[..], flags].concat()).stdout
    };
    assert!(said(&[]).contains("expect dense speedups to be 5.4 % off"));
    let apple = said(&["--set", "hardware=apple-m3-max"]);
    assert!(
        apple.contains("no measured speedup on hardware such as apple-m3-max") && !apple.contains("5.4 %"),
        "{apple}"
    );
    assert!(said(&["--set", "without=[\"round\"]"]).contains("without round: left out of every price"));
    let batch = row(folder.path(), &format!("eagle = {{ version = 3 }}\n{MEAN}"), &["--set", "sweep.batch=512"]);
    assert_eq!(batch["notes"], "unvalidated");
    let all = "without=[\"product_kernels\",\"weights\",\"arithmetic\"]";
    for (set, named) in [(all, "a pass costs nothing"), ("engine=ideal", "no terms to leave out")] {
        let flags = ["sweep", "--scenario", "./one.toml", "--set", "without=[\"weights\"]", "--set", set];
        let ran = run(folder.path(), &flags);
        assert!(ran.code == 3 && ran.stderr.contains(named), "{}", ran.stderr);
    }
}
