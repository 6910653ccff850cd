//! What was read of engines' output, put to use: intervals, other definitions, scenarios.

use specplan::acceptance::counted::Confidence;
use specplan::acceptance::observed::{Findings, findings};
use specplan::rng::Generator;

use crate::engine_output::{fixture, number, pools, rows};
use crate::program::{folder, run};

/// Rounds drawn at a known alpha, printed as vLLM's counters and read again: intervals cover alpha and the mean as often as
/// they say. Of 400 scrapes 20 misses are due; more than 37 have a chance of 0.02 % (binomial, 5 %).
#[test]
fn intervals_of_what_was_read_cover_what_was_drawn() {
    let (mut alphas, mut laws, mut means) = (0, 0, 0);
    for seed in 0..400_u64 {
        let mut generator = Generator::from_seed(seed);
        let alpha = 0.3 + 0.6 * generator.uniform();
        let (k, rounds) = (1 + seed % 5, 300);
        let mut passed = vec![0_u64; k as usize];
        for _ in 0..rounds {
            passed.iter_mut().take_while(|_| generator.uniform() < alpha).for_each(|count| *count += 1);
        }
        let found = found(&scrape(&passed, rounds), k);
        let outside = |(low, high): (f64, f64), value: f64| u32::from(value < low || value > high);
        let of = found.alpha.unwrap();
        alphas += outside(of.wilson.unwrap(), alpha);
        laws += outside(of.posterior.unwrap(), alpha);
        let mean: f64 = (0..=k as i32).map(|power| alpha.powi(power)).sum();
        let tokens = found.tokens_per_pass.unwrap();
        means += outside((tokens.low, tokens.high), mean);
    }
    assert!(
        [alphas, laws, means].iter().all(|missed| (5..=37).contains(missed)),
        "{alphas}, {laws} and {means} of 400"
    );
}

/// Counters as vLLM's V1 engine exposes them.
fn scrape(passed: &[u64], rounds: u64) -> String {
    let drafted = rounds * passed.len() as u64;
    let mut text = format!("vllm:spec_decode_num_drafts_total{{engine=\"0\"}} {rounds}.0\n");
    text += &format!("vllm:spec_decode_num_draft_tokens_total{{engine=\"0\"}} {drafted}.0\n");
    text += &format!("vllm:spec_decode_num_accepted_tokens_total{{engine=\"0\"}} {}.0\n", passed.iter().sum::<u64>());
    for (at, count) in passed.iter().enumerate() {
        text += &format!(
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine=\"0\",position=\"{at}\"}} {count}.0\n"
        );
    }
    text
}

fn found(text: &str, k: u64) -> Findings {
    let pools = pools(text.as_bytes(), text.len());
    let (_, _, stated, pool) = pools.iter().next().unwrap();
    assert_eq!(stated, Some(k));
    findings(pool, stated, Confidence::USUAL)
}

/// The four conversions that people ask for most, and what is missing where it is.
#[test]
fn one_figure_in_every_definition() {
    let folder = folder();
    let with = |flags: &str| {
        let args: Vec<&str> = ["convert"].into_iter().chain(flags.split(' ')).chain(["--format", "csv"]).collect();
        run(folder.path(), &args)
    };
    let given = [
        "--mean-length 2.55 --k 3",
        "--without-bonus 1.55 --k 3",
        "--v0-efficiency 0.6375 --k 3",
        "--per-position 0.7,0.5,0.35",
        "--sglang-rate 0.6375 --draft-tokens 4 --sglang-version 0.5.9",
        "--sglang-rate 0.516666666666667 --draft-tokens 4 --sglang-version v0.5.11.post1",
    ];
    for flags in given {
        let ran = with(flags);
        assert_eq!(ran.code, 0, "{flags}: {}", ran.stderr);
        let rows = rows(&ran.stdout);
        let near = |column: &str, expected: f64| (number(&rows[0], column) - expected).abs() < 1e-9;
        assert!(near("tokens_per_pass", 2.55) && near("emitted_per_verified", 0.6375), "{flags}: {rows:?}");
        assert!(near("accepted_per_drafted", 1.55 / 3.0) && near("alpha", 0.704_377_394_115), "{flags}: {rows:?}");
    }
    for (flags, code, expected) in [
        ("--mean-length 2.55", 2, "give --k"),
        ("--rate 51.67 --k 3", 2, "0.5167 is meant"),
        ("--mean-length 9 --k 3", 2, "1 to k + 1 are possible"),
        ("--per-position 0.5,0.7", 2, "cumulative shares only fall"),
        ("--sglang-rate 0.5 --draft-tokens 4 --sglang-version 0.5.3", 2, "from 0.5.4 on"),
        ("--per-position 0.5,0.4 --k 3", 2, "2 positions"),
    ] {
        let ran = with(flags);
        assert!(ran.code == code && ran.stderr.contains(expected), "{flags}: {} {}", ran.code, ran.stderr);
    }
}

/// A scenario reads the file itself: the same as the counts in it; a drafter that looks drafts up needs to know how many rounds
/// drafted, which the load beside the drafts tells.
#[test]
fn a_scenario_reads_what_engines_print() {
    let folder = folder();
    let write = |drafter: &str, metrics: &str| {
        let text = format!(
            "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n[sweep]\nbatch = 1\n\
             k = [2, 3]\ncontext = 1000\n[drafters.d]\n{drafter}\nacceptance.metrics = {{ {metrics} }}\n"
        );
        std::fs::write(folder.path().join("s.toml"), text).unwrap();
        run(folder.path(), &["sweep", "--scenario", "s.toml", "--write", "none", "--format", "csv"])
    };
    for name in ["vllm-v1.prom", "vllm.log", "vllm-bench.json", "no-acceptance.json"] {
        std::fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    let eagle = "eagle = { version = 3 }";
    let ran = write(eagle, "file = \"vllm-v1.prom\"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let swept = rows(&ran.stdout);
    assert_eq!((swept[1]["tokens_per_pass"].as_str(), swept[1]["acceptance"].as_str()), ("2.55", "counts"));
    assert!((number(&swept[0], "tokens_per_pass") - 2.2).abs() < 1e-12);
    assert!(ran.stderr.contains("read off vllm-v1.prom (vllm-counters)"), "{}", ran.stderr);
    // Its log holds two engines' words.
    let several = write(eagle, "file = \"vllm.log\"");
    assert!(several.code == 3 && several.stderr.contains("it tells of several"), "{}", several.stderr);
    assert_eq!(write(eagle, "file = \"vllm.log\", form = \"vllm-log\"").code, 0);
    let gone = write(eagle, "file = \"no-such.log\"");
    assert!(gone.code == 3 && gone.stderr.contains("there is no such file"), "{}", gone.stderr);
    let other = write(eagle, "file = \"vllm-v1.prom\", k = 2");
    assert!(other.code == 3 && other.stderr.contains("printed at k = 3"), "{}", other.stderr);
    let since = write(eagle, "file = \"vllm-v1.prom\", since = \"vllm-v1.prom\"");
    assert!(since.code == 3 && since.stderr.contains("tells no tokens per pass"), "{}", since.stderr);
    let late =
        write(eagle, "file = \"vllm.log\", form = \"vllm-log\", after = \"06-06 14:00\", before = \"06-06 15:00\"");
    assert_eq!(late.code, 0, "{}", late.stderr);
    assert!(write(eagle, "file = \"vllm.log\", after = \"noon\"").stderr.contains("a moment such as"));
    // A tree's counts are its own mean.
    let tree = write(&format!("{eagle}\nshape.tree = {{ steps = 3, topk = 2, nodes = 8 }}"), "file = \"vllm-v1.prom\"");
    assert_eq!(rows(&tree.stdout)[0]["tokens_per_pass"], "2.55", "{}", tree.stderr);
    let nothing = write(eagle, "file = \"no-acceptance.json\"");
    assert!(nothing.code == 3 && nothing.stderr.contains("nothing in it says"), "{}", nothing.stderr);
    let looked_up = write("ngram = {}", "file = \"vllm-v1.prom\"");
    assert!(looked_up.code == 3 && looked_up.stderr.contains("proposing_share"), "{}", looked_up.stderr);
    // 2550 tokens in 1000 decode steps, all of which drafted: 2.55 over all of them.
    let steps = write("ngram = {}", "file = \"vllm-bench.json\"");
    assert_eq!(rows(&steps.stdout)[1]["tokens_per_pass"], "2.55", "{}", steps.stderr);
}

/// Of a mix, each part says where it was read off, the base too; and one part is enough to ask how often an n-gram drafter proposes.
#[test]
fn parts_of_a_mix_read_files_too() {
    let folder = folder();
    std::fs::copy(fixture("vllm-v1.prom"), folder.path().join("a.prom")).unwrap();
    let write = |drafter: &str, base: &str| {
        let text = format!(
            "title = \"t\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n[sweep]\nbatch = 1\n\
             k = 3\ncontext = 1000\n[drafters.d]\n{drafter}\n[drafters.d.acceptance]\n{base}\n\
             by_workload = {{ code = {{ metrics = {{ file = \"a.prom\" }} }} }}\n[workloads.code]\nshare = 0.5\noutput = 100\n\
             [workloads.chat]\nshare = 0.5\noutput = 100\n"
        );
        std::fs::write(folder.path().join("s.toml"), text).unwrap();
        run(folder.path(), &["sweep", "--scenario", "s.toml", "--write", "none"])
    };
    let mixed = write("eagle = { version = 3 }", "metrics = { file = \"a.prom\" }");
    assert!(mixed.code == 0 && !mixed.stdout.contains("source not stated"), "{} {}", mixed.stdout, mixed.stderr);
    let looked_up = write("ngram = {}", "mean_length = { tokens = 1.5, k = 3 }");
    assert!(looked_up.code == 3 && looked_up.stderr.contains("proposing_share"), "{}", looked_up.stderr);
}
