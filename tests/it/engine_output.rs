//! `specplan acceptance`: what engines print, in every form.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use specplan::domain::observed::Pools;
use specplan::import::engine::{Options, Reader};

use crate::program::{folder, names, run, run_well};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines").join(name)
}

/// The rows of the CSV that a run prints, by column.
pub(crate) fn rows(csv: &str) -> Vec<HashMap<String, String>> {
    let cells = |line: &str| -> Vec<String> {
        // Quoted cells hold commas.
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        reader.records().next().unwrap().unwrap().iter().map(str::to_owned).collect()
    };
    let mut lines = csv.lines();
    let header = cells(lines.next().unwrap());
    lines.map(|line| header.iter().cloned().zip(cells(line)).collect()).collect()
}

fn read(files: &[&Path], more: &[&str]) -> Vec<HashMap<String, String>> {
    let folder = folder();
    let files: Vec<&str> = files.iter().map(|path| path.to_str().unwrap()).collect();
    let args = [&["acceptance"], files.as_slice(), &["--format", "csv"], more].concat();
    rows(&run_well(folder.path(), &args).stdout)
}

fn of<'r>(rows: &'r [HashMap<String, String>], format: &str) -> &'r HashMap<String, String> {
    rows.iter().find(|row| row["format"] == format).expect(format)
}

pub(crate) fn number(row: &HashMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or(f64::NAN)
}

/// A count, as it is written.
pub(crate) fn count(row: &HashMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// Rounds, drafts, accepted drafts and tokens per pass of each file; NaN where they are not to be known.
#[test]
fn every_form_says_what_it_holds() {
    const N: f64 = f64::NAN;
    let table: [(&str, &str, [f64; 4], &str); 17] = [
        ("vllm-v1.prom", "vllm-counters", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        ("vllm-v0.prom", "vllm-v0-counters", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        ("vllm.log", "vllm-log", [4000.0, 12000.0, 6200.0, 2.55], "3"),
        ("vllm.log", "vllm-v0-log", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        ("vllm-bench.json", "vllm-bench", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        ("vllm-request.json", "vllm-request", [43.0, 129.0, 10.0, 53.0 / 43.0], "3"),
        ("sglang.log", "sglang-log", [N, N, N, 2.55], "3"),
        ("sglang-request-0.5.9.json", "sglang-request", [100.0, 300.0, 155.0, 2.55], "3"),
        ("sglang-request-0.5.12.json", "sglang-request", [100.0, 300.0, 155.0, 2.55], "3"),
        ("trtllm-iterations.jsonl", "trtllm-iterations", [11.0, 33.0, 15.0, 26.0 / 11.0], "3"),
        ("llamacpp-timings.json", "llamacpp-timings", [100.0, 300.0, 155.0, 2.55], "3"),
        ("llamacpp.prom", "llamacpp-counters", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        // Three generations of one request; the first prints no length.
        ("llamacpp.log", "llamacpp-log", [200.0, 900.0, 465.0, 2.55], "3"),
        ("llamacpp.log", "llamacpp-statistics", [100.0, 300.0, 155.0, 2.55], "3"),
        ("aiperf.json", "aiperf", [1000.0, 3000.0, 1550.0, 2.55], "3"),
        ("itl-tokens.jsonl", "itl-tokens", [96.0, N, 243.0, 339.0 / 96.0], ""),
        ("vllm-log-of-a-logger.jsonl", "vllm-log", [1000.0, 3000.0, 1550.0, 2.55], "3"),
    ];
    for (file, format, expected, k) in table {
        let rows = read(&[&fixture(file)], &[]);
        let row = of(&rows, format);
        for (column, expected) in ["rounds", "drafted", "accepted", "tokens_per_pass"].into_iter().zip(expected) {
            let found = number(row, column);
            assert!((found - expected).abs() < 1e-9 || found.is_nan() && expected.is_nan(), "{file} {column}: {row:?}");
        }
        assert_eq!(row["k"], k, "{file}");
    }
}

/// By hand from the counts: 1550 of 2200 tests passed, 1550 of 3000 drafts, 2550 of 4000 verified tokens.
#[test]
fn every_definition_follows_from_counts() {
    for file in ["vllm-v1.prom", "vllm-bench.json", "llamacpp.prom", "aiperf.json"] {
        let rows = read(&[&fixture(file)], &[]);
        let near = |column: &str, expected: f64| (number(&rows[0], column) - expected).abs() < 1e-12;
        assert!(near("alpha", 1550.0 / 2200.0) && near("accepted_per_drafted", 1550.0 / 3000.0), "{file}: {rows:?}");
        assert!(near("emitted_per_verified", 2550.0 / 4000.0) && near("without_bonus", 1.55), "{file}: {rows:?}");
        assert_eq!((rows[0]["tests_passed"].as_str(), rows[0]["tests_failed"].as_str()), ("1550", "650"));
        assert_eq!(rows[0]["cumulative"], "0.7 0.5 0.35");
        let conditional: Vec<f64> = rows[0]["conditional"].split(' ').map(|rate| rate.parse().unwrap()).collect();
        assert!((conditional[1] - 500.0 / 700.0).abs() < 1e-12 && (conditional[2] - 0.7).abs() < 1e-12);
        let scenario = "acceptance.counts = { accepted_per_position = [700, 500, 350], rounds = 1000 }";
        assert_eq!(rows[0]["scenario"], scenario);
    }
    // V0's own rate is kept apart: it counts drafts behind a rejected one.
    let rows = read(&[&fixture("vllm-v0.prom")], &[]);
    assert!((number(&rows[0], "position_independent_rate") - 0.516_666_666_666_666_7).abs() < 1e-12);
    assert!(rows[0]["notes"].contains("position-independent"), "{rows:?}");
    // Every decode step, from the load beside it or from output tokens: 2550 tokens in 1000 steps.
    for (file, format) in
        [("vllm.log", "vllm-log"), ("vllm-bench.json", "vllm-bench"), ("llamacpp-timings.json", "llamacpp-timings")]
    {
        let rows = read(&[&fixture(file)], &[]);
        assert!((number(of(&rows, format), "tokens_per_step") - 2.55).abs() < 1e-9, "{file}: {rows:?}");
    }
}

#[test]
fn the_line_for_a_scenario_goes_into_one() {
    let folder = folder();
    let rows = read(&[&fixture("vllm-v1.prom")], &[]);
    let line = rows[0]["scenario"].strip_prefix("acceptance").unwrap();
    let set = format!("drafters.llama-1b.acceptance{}", line.replacen(".counts = ", "={ counts = ", 1) + " }");
    let args =
        ["sweep", "--set", &set, "--set", "sweep.k=3", "--set", "sweep.batch=1", "--write", "none", "--format", "csv"];
    let swept = run_well(folder.path(), &args).stdout;
    assert!(swept.lines().nth(1).unwrap().contains(",2.55,"), "{swept}");
}

/// Files, ranks and models: counts of one model are added up, those of two are not.
#[test]
fn counts_are_added_up_and_models_are_not() {
    let folder = folder();
    let other = folder.path().join("other.prom");
    std::fs::copy(fixture("vllm-v1.prom"), &other).unwrap();
    let both = read(&[&fixture("vllm-v1.prom"), &other], &[]);
    assert_eq!((both.len(), count(&both[0], "rounds")), (1, 2000));
    let apart = read(&[&fixture("vllm-v1.prom"), &other], &["--by", "file"]);
    assert!(apart.len() == 2 && apart.iter().any(|row| row["file"].ends_with("other.prom")), "{apart:?}");
    let ranks = read(&[&fixture("vllm-v1.prom")], &["--by", "rank"]);
    assert_eq!(ranks.iter().map(|row| number(row, "rounds")).collect::<Vec<_>>(), [600.0, 400.0]);
    let text = std::fs::read(fixture("vllm-v1.prom")).unwrap();
    let other = String::from_utf8(text)
        .unwrap()
        .replace("engine=\"1\",model_name=\"meta-llama", "engine=\"1\",model_name=\"other");
    let path = folder.path().join("two.prom");
    std::fs::write(&path, other).unwrap();
    let models = read(&[&path], &[]);
    assert_eq!(models.iter().map(|row| number(row, "rounds")).collect::<Vec<_>>(), [600.0, 400.0]);
    assert!(models[0]["model"] != models[1]["model"]);
}

/// An earlier scrape is subtracted; one of a server that has restarted since is not.
#[test]
fn two_scrapes_are_subtracted() {
    let folder = folder();
    let text = String::from_utf8(std::fs::read(fixture("llamacpp.prom")).unwrap()).unwrap();
    let earlier = |from: &str, to: &str| text.replace(from, to);
    let before = [
        (" 3000", " 1200"),
        (" 1550", " 700"),
        (" 1000", " 400"),
        (" 700", " 320"),
        (" 500", " 220"),
        (" 350", " 160"),
    ];
    // The total of positions is changed last, so that no figure is changed twice.
    let mut half = text.clone();
    for (from, to) in before.into_iter().rev() {
        half = half.replace(&format!("{from}\n"), &format!("{to}\n"));
    }
    let path = folder.path().join("before.prom");
    std::fs::write(&path, half).unwrap();
    let since = ["--since", path.to_str().unwrap()];
    let rows = read(&[&fixture("llamacpp.prom")], &since);
    assert_eq!((number(&rows[0], "rounds"), number(&rows[0], "accepted")), (600.0, 850.0), "{rows:?}");
    assert!(!rows[0]["notes"].contains("since-start"), "{rows:?}");
    std::fs::write(&path, earlier(" 1000\n", " 5000\n")).unwrap();
    let rows = read(&[&fixture("llamacpp.prom")], &since);
    assert_eq!(count(&rows[0], "rounds"), 1000);
    assert!(rows[0]["notes"].contains("restarted"), "{rows:?}");
    let log =
        run(folder.path(), &["acceptance", fixture("vllm.log").to_str().unwrap(), "--since", path.to_str().unwrap()]);
    assert!(log.code == 3 && log.stderr.contains("subtracted from counters only"), "{}", log.stderr);
}

pub(crate) const LINE: &str = "SpecDecoding metrics: Mean acceptance length: 2.55, Accepted throughput: 155.00 tokens/s, Drafted throughput: \
                    300.00 tokens/s, Accepted: 1550 tokens, Drafted: 3000 tokens, Per-position acceptance rate: 0.700, 0.500, 0.350, \
                    Avg Draft acceptance rate: 51.7%";

/// Colours, CRLF, binary noise between lines, windows without a draft, and moments.
#[test]
fn logs_are_read_as_they_are_found() {
    let folder = folder();
    let path = folder.path().join("server.log");
    let nothing = LINE.replace("1550", "0").replace("3000", "0").replace("51.7%", "nan%").replace("2.55", "nan");
    let text = format!(
        "\u{1b}[1;36m(APIServer pid=1)\u{1b}[0;0m INFO 06-10 14:00:00 [metrics.py:96] {LINE}\r\n\
         \u{feff}garbage \u{fffd} {{ not json\r\n\
         INFO 06-10 14:00:10 [metrics.py:96] {nothing}\r\n\
         INFO 06-10 14:05:00 [metrics.py:96] {LINE}\r\n\
         INFO 06-10 14:20:00 [metrics.py:96] {}\r\n\
         INFO DiffusionDecoding metrics: Committed token throughput: 3.0",
        LINE.replace("1550", "300").replace("0.700, 0.500, 0.350", "0.200, 0.070, 0.030").replace("2.55", "1.30")
    );
    std::fs::write(&path, text).unwrap();
    let rows = read(&[&path], &[]);
    assert_eq!(count(&rows[0], "rounds"), 3000, "{rows:?}");
    assert!(rows[0]["notes"].contains("diffusion"), "{rows:?}");
    let early = read(&[&path], &["--after", "06-10 14:00", "--before", "2026-06-10T14:10"]);
    assert_eq!((number(&early[0], "rounds"), number(&early[0], "tokens_per_pass")), (2000.0, 2.55));
    let none = run(folder.path(), &["acceptance", path.to_str().unwrap(), "--after", "07-10 14:00"]);
    assert_eq!(none.code, 4, "{}", none.stderr);
    let spans = ["acceptance", path.to_str().unwrap(), "--by", "time", "--span", "10m", "--format", "csv"];
    let spans = rows_of_spans(&run_well(folder.path(), &spans).stdout);
    assert_eq!(spans, [2.55, 1.3]);
    let written = names(&folder.path().join("output"));
    assert_eq!(
        written,
        ["server.acceptance.csv", "server.acceptance.manifest.json", "server.acceptance.over-time.png"]
    );
}

fn rows_of_spans(csv: &str) -> Vec<f64> {
    rows(csv).iter().map(|row| number(row, "tokens_per_pass")).filter(|tokens| tokens.is_finite()).collect()
}

/// A line that stands for nothing here, cut anywhere, in any pieces, gives the same.
#[test]
fn lengths_of_drafts_that_differ_are_told() {
    let folder = folder();
    let path = folder.path().join("ngram.log");
    // 1000 rounds drafted 2000 tokens, at most 3 each.
    std::fs::write(&path, format!("INFO 06-10 14:00:00 {}\n", LINE.replace("3000", "2000"))).unwrap();
    let rows = read(&[&path], &[]);
    assert!((number(&rows[0], "rounds") - 1000.0).abs() < 1e-6, "{rows:?}");
    assert!(
        rows[0]["notes"].contains("varied-drafts")
            && rows[0]["alpha_by"] == "mean"
            && rows[0]["conditional"].is_empty()
    );
    assert!(rows[0]["scenario"].starts_with("acceptance.mean_length"), "{rows:?}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let folder = folder();
    let cases: [(&str, &[u8], &str); 8] = [
        ("empty", b"", "it is empty"),
        ("zero", b"\x7fELF\0\0\0", "zero byte"),
        ("gz", b"\x1f\x8b\x08\0", "compressed"),
        ("prose", b"nothing to see here\n", "nothing in it says"),
        ("cut.json", b"{\"spec_decode_num_drafts\": 10, ", "ends too early"),
        ("wrong.json", b"{\"a\": }", "no JSON"),
        ("other.prom", b"# TYPE up gauge\nup 1\n", "nothing in it says"),
        ("deep.json", &[b'['; 100_000], "nothing in it says"),
    ];
    for (name, bytes, expected) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let ran = run(folder.path(), &["acceptance", path.to_str().unwrap()]);
        assert!(ran.code == 3 && ran.stderr.contains(expected), "{name}: {} {}", ran.code, ran.stderr);
    }
    let ran = run(folder.path(), &["acceptance", fixture("no-acceptance.json").to_str().unwrap()]);
    assert_eq!(ran.code, 3);
    let lost = run(folder.path(), &["acceptance", "no-such.log"]);
    assert!(lost.code == 3 && lost.stderr.contains("there is no such file"), "{}", lost.stderr);
    // What came whole counts.
    let whole = String::from_utf8(std::fs::read(fixture("trtllm-iterations.jsonl")).unwrap()).unwrap();
    let path = folder.path().join("cut.jsonl");
    std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let rows = read(&[&path], &[]);
    assert_eq!(count(&rows[0], "rounds"), 8);
    assert!(rows[0]["notes"].contains("cut-off"), "{rows:?}");
}

/// Hardly any accepted, the same in every run, random prompts.
#[test]
fn what_looks_wrong_is_pointed_out() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        run_well(folder.path(), &["acceptance", path.to_str().unwrap()]).stdout
    };
    let run = "{\"backend\": \"sglang\", \"dataset_name\": \"random\", \"output_throughput\": 1, \"total_output_tokens\": 100, \
               \"accept_length\": 1.02}\n";
    let text = write("bench.jsonl", &run.repeat(3));
    for expected in ["hardly any draft is accepted", "the same 1.02 tokens per pass in all 3", "prompts were random"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// In pieces of any size, cut anywhere, the same comes out.
#[test]
fn pieces_do_not_matter() {
    for name in ["vllm.log", "sglang.log", "llamacpp.log", "vllm-v1.prom", "trtllm-iterations.jsonl", "aiperf.json"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let whole = pools(&bytes, bytes.len());
        for size in [1, 7, 64, 1000] {
            assert_eq!(pools(&bytes, size), whole, "{name} in pieces of {size}");
        }
    }
}

pub(crate) fn pools(bytes: &[u8], size: usize) -> Pools {
    let mut reader = Reader::new(Options { reading: None, ..Options::default() });
    bytes.chunks(size).for_each(|piece| reader.push(piece).unwrap());
    reader.finish().unwrap()
}
