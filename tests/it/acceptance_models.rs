//! Every kind of acceptance of the scenario format, from text to the table.

use std::fs::write;

use crate::program::{folder, run, run_well};

const HEAD: &str = "\
title = \"Kinds of acceptance\"
hardware = \"h100-sxm5-80gb\"
target = \"llama-3.1-8b\"
engine = \"vllm\"
[sweep]
batch = [16]
";

/// Eight rounds at k = 2: five pass the first draft, three of these the second.
const ROUNDS: &str = "request,drafted,accepted\na,2,2\na,2,0\na,2,1\nb,2,2\nb,2,0\nb,2,0\nc,2,2\nc,2,1\n";

/// Tokens per pass and notes of one point.
fn priced(acceptance: &str, shape: &str, k: u64, context: u64) -> (f64, String) {
    let folder = folder();
    write(folder.path().join("rounds.csv"), ROUNDS).unwrap();
    let workloads = "[workloads.chat]\nshare = 0.7\noutput = 300\n[workloads.code]\nshare = 0.3\noutput = 900\n";
    let drafter = format!("[drafters.head]\neagle = {{ version = 3 }}\n{shape}\n{acceptance}\n");
    write(folder.path().join("s.toml"), format!("{HEAD}k = [{k}]\ncontext = [{context}]\n{drafter}{workloads}"))
        .unwrap();
    let flags = ["sweep", "--scenario", "./s.toml", "--format", "csv", "--write", "none", "--quiet"];
    let table = run_well(folder.path(), &flags).stdout;
    let mut lines = table.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
    let cell = |name: &str| row[header.iter().position(|column| column == name).unwrap()].clone();
    (cell("tokens_per_pass").parse().unwrap(), cell("notes"))
}

fn assert_tokens(acceptance: &str, k: u64, expected: f64, note: &str) {
    let (tokens, notes) = priced(acceptance, "", k, 1000);
    assert!((tokens / expected - 1.0).abs() < 1e-9, "{acceptance} at k = {k}: {tokens}, {expected} expected");
    assert_eq!(notes, note, "{acceptance} at k = {k}");
}

/// By hand, but for the Markov chain: a verified case of the formulas.
#[test]
fn each_kind_yields_what_its_formula_says() {
    let counts = "acceptance.counts = { accepted_per_position = [4100, 2700, 1500], rounds = 6000 }";
    assert_tokens(counts, 3, 1.0 + 8300.0 / 6000.0, "");
    assert_tokens(counts, 4, 1.0 + 8300.0 / 6000.0 + 0.25 * 1500.0 / 2700.0, "extrapolated");
    let even = |scope: &str| format!("acceptance.beta = {{ mean = 0.5, concentration = 2, scope = \"{scope}\" }}");
    assert_tokens(&even("round"), 2, 1.0 + 1.0 / 2.0 + 1.0 / 3.0, "");
    assert_tokens(&even("sequence"), 1, 1.0 / 2.0_f64.ln(), "");
    let spans = "acceptance.markov = { easy = 0.95, hard = 0.4, easy_to_hard = 0.1, hard_to_easy = 0.2 }";
    assert_tokens(spans, 4, 2.950_393_095_278_03, "");
    assert_tokens("acceptance.trace = { file = \"rounds.csv\" }", 2, 2.0, "");
    assert_tokens("acceptance.trace = { file = \"rounds.csv\" }", 3, 2.0 + 0.375 * 0.6, "extrapolated");
    assert_tokens("acceptance.ranks = { probabilities = [0.6, 0.2] }", 2, 1.96, "");
}

/// By hand: 0.7 x 300 of 480 tokens at 1.7 a round, the others at 1.9.
#[test]
fn workloads_take_their_own_acceptance_and_leave_the_rest_to_the_drafter() {
    let by_workload = "acceptance.iid = { alpha = 0.7 }\nacceptance.by_workload = { code = { iid = { alpha = 0.9 } } }";
    assert_tokens(by_workload, 1, 480.0 / (210.0 / 1.7 + 270.0 / 1.9), "");
    let all = "acceptance.by_workload = { chat = { iid = { alpha = 0.7 } }, code = { iid = { alpha = 0.9 } } }";
    assert_tokens(all, 1, 480.0 / (210.0 / 1.7 + 270.0 / 1.9), "");
}

/// Published tokens per pass of an EAGLE-3 head at 2k, 4k and 8k tokens (vllm-project/speculators, pull request 684).
#[test]
fn acceptance_by_context_is_joined_and_never_carried_on_in_silence() {
    let acceptance = "acceptance.mean_length = { tokens = 2.295, k = 3 }\n\
                      acceptance.by_context = { \"2000\" = 2.295, \"4000\" = 2.04, \"8000\" = { mean_length = { tokens = 1.687, k = 3 } } }";
    let at = |context| priced(acceptance, "", 3, context);
    let near = |(tokens, notes): (f64, String), expected: f64, note: &str| {
        assert!((tokens - expected).abs() < 1e-9 && notes == note, "{tokens} {notes}, {expected} {note} expected");
    };
    near(at(4000), 2.04, "");
    near(at(6000), (2.04 + 1.687) / 2.0, "interpolated");
    near(at(8001), 1.687, "extrapolated");
}

/// By hand: scores 0.6, 0.2, 0.36, 0.12 and 0.12 below the root.
#[test]
fn a_tree_node_by_node_yields_the_sum_of_its_scores() {
    let ranks = "acceptance.ranks = { probabilities = [0.6, 0.2] }";
    for shape in
        ["parents = [0, 0, 1, 1, 2]", "parents = [-1, 0, 0, 1, 1, 2]", "paths = [[0], [1], [0, 0], [0, 1], [1, 0]]"]
    {
        let (tokens, _) = priced(ranks, &format!("shape.tree = {{ {shape} }}"), 2, 1000);
        assert!((tokens - 2.4).abs() < 1e-12, "{shape}: {tokens}");
    }
    // Of a tree whose nodes the engine picks, what the best fixed one of its sizes yields.
    let (tokens, _) = priced(ranks, "shape.tree = { steps = 2, topk = 2, nodes = 6 }", 2, 1000);
    assert!((tokens - 2.4).abs() < 1e-12, "{tokens}");
}

#[test]
fn a_recording_is_an_input_like_any_other() {
    let folder = folder();
    write(folder.path().join("rounds.csv"), ROUNDS).unwrap();
    let drafter = "[drafters.head]\neagle = { version = 3 }\nacceptance.trace = { file = \"rounds.csv\" }\n";
    write(folder.path().join("s.toml"), format!("{HEAD}k = [2]\n{drafter}")).unwrap();
    run_well(folder.path(), &["sweep", "--scenario", "./s.toml", "--write", "json"]);
    let manifest = std::fs::read(folder.path().join("output/s.sweep.manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let inputs = manifest["inputs"].as_array().unwrap();
    assert!(inputs.iter().any(|input| input["kind"] == "rounds" && input["id"] == "rounds.csv"), "{inputs:#?}");
    let gone =
        run(folder.path(), &["sweep", "--scenario", "./s.toml", "--set", "drafters.head.acceptance.trace.file=no.csv"]);
    assert_eq!(gone.code, 2);
    assert!(gone.stderr.contains("no.csv: there is no such file"), "{}", gone.stderr);
}

/// By hand: three of four rounds propose, two of these pass the first draft: 1 + 0.75 x 2/3 tokens, and 1.75 positions
/// verified at k = 1. Whole sequences propose as often.
#[test]
fn a_recording_of_look_ups_says_how_often_they_propose() {
    let folder = folder();
    write(folder.path().join("rounds.csv"), "request,drafted,accepted\r\na,3,1\r\na,0,0\r\nb,2,2\r\nb,3,0\r\n")
        .unwrap();
    let drafter = "[drafters.lookup]\nngram = {}\nacceptance.trace = { file = \"rounds.csv\" }\n";
    let simulate = "[simulate]\nk = 1\nbatch = 4\n";
    write(folder.path().join("s.toml"), format!("{HEAD}k = [1]\ncontext = [1024]\n{drafter}{simulate}")).unwrap();
    let flags = ["--scenario", "./s.toml", "--format", "csv", "--write", "none", "--quiet"];
    let table = run_well(folder.path(), &[&["sweep"][..], &flags].concat()).stdout;
    let row: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((row[9], row[12]), ("1.75", "1.5"));
    let table = run_well(folder.path(), &[&["simulate"][..], &flags].concat()).stdout;
    let tokens: Vec<&str> =
        table.lines().find(|line| line.starts_with("tokens_per_pass")).unwrap().split(',').collect();
    assert_eq!(tokens[4], "1.5");
    let (low, high) = (tokens[6].parse::<f64>().unwrap(), tokens[7].parse::<f64>().unwrap());
    assert!(low < 1.5 && 1.5 < high && high - low < 0.1, "{tokens:?}");
}
