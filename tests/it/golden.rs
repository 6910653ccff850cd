//! Results that are known from elsewhere.

use crate::program::{folder, run_well};

/// The founding study's Part 2 as it was printed.
const PRINTED: [&str; 8] = [
    "1 0.6 1.37x 1.47x 1.38x 1.21x 1.06x",
    "1 0.8 1.54x 1.83x 2.02x 1.97x 1.85x",
    "16 0.6 1.35x 1.43x 1.33x 1.15x 1.00x",
    "16 0.8 1.52x 1.78x 1.94x 1.88x 1.75x",
    "64 0.6 1.32x 1.38x 1.25x 1.07x 0.92x",
    "64 0.8 1.49x 1.72x 1.82x 1.75x 1.61x",
    "256 0.6 1.30x! 1.33x! 1.19x! 0.97x! 0.76x!",
    "256 0.8 1.46x! 1.66x! 1.73x! 1.58x! 1.32x!",
];

#[test]
fn the_founding_table_comes_out_to_the_digit() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none"]);
    let rows: Vec<String> = ran
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.replace('*', " ").split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(rows, PRINTED);
    assert!(ran.stdout.contains("one draft pass costs 0.17 of a plain step at batch 1"), "{}", ran.stdout);
}

/// By hand, for batch 16, alpha 0.8, k 4, context 2048:
///
/// ```text
/// tokens   1 + 0.8 + 0.64 + 0.512 + 0.4096               = 3.3616
/// plain    (15e9 + 131072 x 2048 x 16) / 3.35e12         = 5.7596917... ms
/// draft    4 x (2.48e9 + 32768 x 2048 x 16) / 3.35e12    = 4.2432738... ms
/// memory   16.06e9 + 2.48e9 + 16 x 2064 x 163840         = 23950652160
/// ```
#[test]
fn a_row_of_the_csv_is_what_hand_arithmetic_gives() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 40);
    let row = rows
        .iter()
        .find(|row| &row[column("batch")] == "16" && &row[column("alpha")] == "0.8" && &row[column("k")] == "4");
    let row = row.unwrap();
    let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
    let near = |name: &str, expected: f64| {
        assert!((number(name) / expected - 1.0).abs() < 1e-12, "{name}: {} and {expected}", number(name));
    };
    let plain = (15e9 + 131_072.0 * 2048.0 * 16.0) / 3.35e12;
    let draft = 4.0 * (2.48e9 + 32_768.0 * 2048.0 * 16.0) / 3.35e12;
    near("tokens_per_pass", 3.3616);
    near("base_step_s", plain);
    near("draft_s", draft);
    near("verify_s", plain);
    near("round_s", draft + plain);
    near("speedup", 3.3616 * plain / (draft + plain));
    near("base_tokens_per_s", 16.0 / plain);
    near("tokens_per_s", 16.0 * 3.3616 / (draft + plain));
    near("base_memory_bytes", 16.06e9 + 16.0 * 2064.0 * 131_072.0);
    near("memory_bytes", 23_950_652_160.0);
    let text = |name: &str| row[column(name)].to_owned();
    let words = [
        "hardware",
        "target",
        "drafter",
        "engine",
        "roofline",
        "acceptance",
        "base_bound",
        "verify_bound",
        "fits",
        "notes",
    ];
    let expected = [
        "founding-h100",
        "founding-llama-3-8b",
        "llama-1b",
        "ideal",
        "aggregate",
        "iid",
        "memory",
        "memory",
        "true",
        "",
    ];
    assert_eq!(words.map(text), expected);
}

/// The study's own formula divides by zero at alpha = 1; there are 5 tokens at k = 4.
#[test]
fn alpha_one_works() {
    let folder = folder();
    let set = ["--set", "drafters.llama-1b.acceptance.iid.alpha=1", "--set", "sweep.k=4", "--set", "sweep.batch=1"];
    let ran = run_well(folder.path(), &[&["sweep", "--write", "none", "--format", "csv"][..], &set].concat());
    let row = ran.stdout.lines().nth(1).unwrap();
    assert!(row.contains(",4,5,iid,1,5,"), "k, width, acceptance, alpha, tokens: {row}");
}

/// A constant cost ratio, as the study quotes it: 2.8x and 0.92x.
#[test]
fn a_constant_cost_ratio_gives_the_quoted_gains() {
    let folder = folder();
    for (ratio, alpha, expected) in [("0.05", "0.8", " 2.80x"), ("0.2", "0.4", " 0.92x")] {
        let drafter = format!("drafters.llama-1b.constant.cost_ratio={ratio}");
        let alpha = format!("drafters.llama-1b.acceptance.iid.alpha={alpha}");
        let arguments = [
            "sweep",
            "--write",
            "none",
            "--set",
            &drafter,
            "--set",
            &alpha,
            "--set",
            "sweep.k=4",
            "--set",
            "sweep.batch=1",
        ];
        let ran = run_well(folder.path(), &arguments);
        assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    }
}

/// k = 0 drafts nothing: the round is the plain step and the gain exactly 1.
#[test]
fn no_draft_is_plain_decoding() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--format", "csv", "--set", "sweep.k=[0]"]);
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|column| column == name).unwrap();
    for row in reader.records().map(Result::unwrap) {
        let cells = ["tokens_per_pass", "draft_s", "overhead_s", "speedup", "verify_width", "draft_bound"]
            .map(|name| row[column(name)].to_owned());
        assert_eq!(cells, ["1", "0", "0", "1", "1", ""]);
        assert_eq!(row[column("verify_s")], row[column("base_step_s")]);
        assert_ne!(row[column("memory_bytes")], row[column("base_memory_bytes")], "the drafter stays loaded");
    }
}
