//! The program as its users meet it.

use std::fs::{read, write};
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;
use specplan::catalog::builtin;
use specplan::words::Kind;

use crate::program::{FILES, command, folder, names, run, run_well};

#[test]
fn without_arguments_the_founding_study_goes_to_output() {
    let folder = folder();
    run_well(folder.path(), &["sweep"]);
    assert_eq!(names(&folder.path().join("output")), FILES);
}

#[test]
fn invariant_1_the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    let all = [
        "sweep",
        "--scenario",
        "founding-study",
        "--write",
        "csv,json,png,svg",
        "--set",
        "sweep.batch={from=1,to=400,step=1}",
    ];
    for threads in ["1", "2", "8"] {
        run_well(folder.path(), &[&all[..], &["--threads", threads, "--out", threads]].concat());
    }
    let one = names(&folder.path().join("1"));
    assert_eq!(one.len(), 9, "{one:?}");
    for threads in ["2", "8"] {
        assert_eq!(names(&folder.path().join(threads)), one);
        for name in &one {
            let bytes = |threads: &str| read(folder.path().join(threads).join(name)).unwrap();
            assert!(bytes("1") == bytes(threads), "{name} on {threads} threads");
        }
    }
}

#[test]
fn csv_and_json_on_standard_output_are_nothing_else() {
    let folder = folder();
    let csv = run_well(folder.path(), &["sweep", "--write", "csv", "--out", "x", "--format", "csv"]);
    assert_eq!(csv.stdout.as_bytes(), read(folder.path().join("x/founding-study.sweep.csv")).unwrap());
    assert!(csv.stderr.contains("ideal roofline flatters"), "{}", csv.stderr);
    let json = run_well(folder.path(), &["sweep", "--write", "json", "--out", "y", "--format", "json"]);
    assert_eq!(json.stdout.as_bytes(), read(folder.path().join("y/founding-study.sweep.json")).unwrap());
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 40);
    assert_eq!(document["manifest"]["scenario"]["name"], "founding-study");

    let mut reader = csv::Reader::from_reader(csv.stdout.as_bytes());
    let header = reader.headers().unwrap().clone();
    for (record, row) in reader.records().map(Result::unwrap).zip(document["rows"].as_array().unwrap()) {
        for (name, cell) in header.iter().zip(&record) {
            let same = match &row[name] {
                Value::Null => cell.is_empty(),
                Value::Number(number) => cell.parse::<f64>().ok() == number.as_f64(),
                Value::String(text) => cell == text,
                Value::Bool(flag) => cell == flag.to_string(),
                other => panic!("{name}: {other}"),
            };
            assert!(same, "{name}: {cell} and {}", row[name]);
        }
    }
}

#[test]
fn quiet_is_quiet() {
    let folder = folder();
    for format in ["text", "csv", "json", "md"] {
        let ran = run_well(folder.path(), &["sweep", "--quiet", "--format", format]);
        assert_eq!(ran.stderr, "", "{format}");
    }
}

#[test]
fn none_writes_nothing() {
    let folder = folder();
    run_well(folder.path(), &["sweep", "--write", "none"]);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn only_fitting_drops_what_does_not_fit() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--format", "csv", "--only-fitting"]);
    assert_eq!(ran.stdout.lines().count(), 1 + 30, "three batches of four fit");
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--only-fitting"]);
    assert!(!ran.stdout.contains('!'), "{}", ran.stdout);
    let ran = run(folder.path(), &["sweep", "--only-fitting", "--set", "sweep.batch=[256]"]);
    assert_eq!((ran.code, names(folder.path()).contains(&"output".to_owned())), (4, true));
    assert_eq!(names(&folder.path().join("output")), [""; 0], "nothing half-written");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = folder();
    let long = ["sweep", "--write", "none", "--format", "csv", "--set", "sweep.batch={from=1,to=20000,step=1}"];
    let mut child = command(folder.path(), &long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut head = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut head).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn many_blocks_are_summed_up_and_the_file_named() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "csv", "--set", "sweep.context=[1,2,3,4,5]"]);
    assert!(ran.stdout.contains("Best k and its speedup"), "{}", ran.stdout);
    assert!(ran.stdout.contains("every row: output/founding-study.sweep.csv"), "{}", ran.stdout);
}

#[test]
fn without_a_drafter_plain_decoding_is_priced() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--set", "drafters={}"]);
    assert!(ran.stderr.contains("warning[no-drafter]") && ran.stdout.contains("tokens/s"), "{}", ran.stdout);
    let csv = String::from_utf8(read(folder.path().join("output/founding-study.sweep.csv")).unwrap()).unwrap();
    assert_eq!(csv.lines().count(), 5);
    assert!(
        csv.lines().skip(1).all(|row| row.starts_with("founding-h100,founding-llama-3-8b,,ideal,aggregate,1,")),
        "{csv}"
    );
}

#[test]
fn markdown_is_a_table() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--format", "md"]);
    assert!(
        ran.stdout.contains("|     1 |   0.8 |  1.54x |      1.83x |  **2.02x** |  1.97x |  1.85x |"),
        "{}",
        ran.stdout
    );
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = folder();
    for arguments in [&["--help"][..], &["--version"], &["sweep", "--help"]] {
        let ran = run_well(folder.path(), arguments);
        assert!(ran.stdout.contains("specplan"), "{}", ran.stdout);
    }
    assert_eq!(run(folder.path(), &[]).code, 2);
}

/// Four thousandths tell these apart; a legend that cuts them would not.
#[test]
fn charts_name_their_lines_and_say_how_far_to_trust_them() {
    let folder = folder();
    let alphas = "drafters.llama-1b.acceptance.iid.alpha=[0.625,0.6251,0.6259,0.62599]";
    run_well(folder.path(), &["sweep", "--write", "svg", "--set", alphas]);
    for part in ["heat-map", "speedup-by-batch", "speedup-by-k"] {
        let path = folder.path().join(format!("output/founding-study.sweep.{part}.svg"));
        let text = String::from_utf8(read(path).unwrap()).unwrap();
        for needed in ["0.625\n", "0.6251\n", "0.6259\n", "0.62599\n"] {
            assert!(text.contains(needed), "{part}: {needed:?}");
        }
        for needed in
            ["an ideal roofline flatters", "acceptance iid, assumed by the study", "does not fit", "context 2048"]
        {
            assert!(text.contains(needed), "{part}: {needed:?}");
        }
    }
}

/// The k that wins is small; a sample of a long axis must not skip it.
#[test]
fn charts_of_a_long_k_axis_show_where_it_pays() {
    let folder = folder();
    run_well(folder.path(), &["sweep", "--write", "svg", "--set", "sweep.k={from=0,to=100,step=1}"]);
    let text = String::from_utf8(read(folder.path().join("output/founding-study.sweep.speedup-by-batch.svg")).unwrap())
        .unwrap();
    for k in ["\n1\n", "\n4\n", "7 of 101 draft lengths shown"] {
        assert!(text.contains(k), "{k:?}");
    }
}

#[test]
fn every_output_says_how_far_to_trust_it() {
    let folder = folder();
    for format in ["text", "md"] {
        let ran = run_well(folder.path(), &["sweep", "--quiet", "--format", format]);
        assert!(
            ran.stdout.contains("flatters") && ran.stdout.contains("assumed by the study"),
            "{format}: {}",
            ran.stdout
        );
    }
    let manifest: Value = serde_json::from_slice(&read(folder.path().join("output").join(FILES[2])).unwrap()).unwrap();
    assert!(manifest["trust"].to_string().contains("flatters"));
    assert_eq!(manifest["scenario"]["roofline"][0]["roofline"], "aggregate");
    assert!(manifest["scenario"]["target"][0]["source"].is_string());
}

#[test]
fn nothing_that_fits_is_exit_4_with_figures_and_whole_json() {
    let folder = folder();
    let flags = ["--set", "memory.reserve=81 GB", "--only-fitting", "--format", "json"];
    let ran = run(folder.path(), &[&["sweep"], &flags[..]].concat());
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("of 72 GB") && ran.stderr.contains("smaller batch"), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 0);
}

#[test]
fn what_has_no_effect_is_told() {
    let folder = folder();
    let warned = |set: &[&str]| {
        let flags: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        run_well(folder.path(), &[&["sweep", "--write", "none"], &flags[..]].concat()).stderr
    };
    assert!(warned(&["acceptance.iid.alpha=0.1"]).contains("warning[unused]"));
    assert!(warned(&["drafters.llama-1b.acceptance.provenance.engine=vllm"]).contains("warning[alpha-or-rate]"));
    assert!(!warned(&["sweep.k=[1]"]).contains("warning"));
}

/// Drafters may accept along axes of different lengths; what is left out is told.
#[test]
fn a_summary_says_when_it_is_a_sample() {
    let folder = folder();
    let wide = "drafters.llama-1b.acceptance.iid.alpha={from=0.1,to=0.9,step=0.05}";
    let more = "drafters.free={constant={cost_ratio=0},acceptance={iid={alpha=0.5}}}";
    let flags = ["--write", "none", "--set", wide, "--set", more, "--set", "sweep.context=[1,2,3]"];
    let ran = run_well(folder.path(), &[&["sweep"], &flags[..]].concat());
    assert!(ran.stdout.contains("these are samples"), "{}", ran.stdout);
}

#[test]
fn emphasis_on_a_terminal_is_bold_and_dimmed() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none", "--color", "always"]);
    let row = ran.stdout.lines().find(|line| line.contains("64    0.6")).unwrap();
    let (bold, dim) = (row.find("\u{1b}[1m").unwrap(), row.find("\u{1b}[2m").unwrap());
    assert!(row[bold..].contains("1.38x") && row[dim..].contains("0.92x") && bold < dim, "{row:?}");
}

/// 989.4e12 / 3.35e12 = 295.3 FLOPs for each byte; 2 x 36 layers x 8 KV heads x 128 x 2 bytes = 147456.
#[test]
fn the_catalog_shows_figures_sources_and_what_follows() {
    let folder = folder();
    let list = run_well(folder.path(), &["catalog", "list"]).stdout;
    for id in ["h100-sxm5-80gb", "mi300x", "qwen3-8b", "ideal", "founding-study"] {
        assert!(list.lines().any(|line| line.trim_start().starts_with(id)), "{id} in {list}");
    }
    let models = run_well(folder.path(), &["catalog", "list", "models"]).stdout;
    assert!(models.contains("70.6B") && !models.contains("mi300x"), "{models}");
    let device = run_well(folder.path(), &["catalog", "show", "h100-sxm5-80gb"]).stdout;
    assert!(
        device.contains("989.4 TFLOP/s dense, ridge point 295.3 FLOP/B") && device.contains("nvidia.com"),
        "{device}"
    );
    let model = run_well(folder.path(), &["catalog", "show", "qwen3-8b"]).stdout;
    assert!(model.contains("147,456 bytes a token") && model.contains("config.json of Qwen/Qwen3-8B"), "{model}");
    let json = run_well(folder.path(), &["catalog", "show", "llama-3.2-1b", "--format", "json"]).stdout;
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document[0]["entry"]["matmul_params"], 1_235_746_816.0);
    for (kind, id, shown) in [
        (Kind::Hardware, "h100-sxm5-80gb", "ridge point 295.3"),
        (Kind::Models, "qwen3-8b", "147,456 bytes a token"),
        (Kind::Engines, "ideal", "form"),
        (Kind::Scenarios, "founding-study", "[drafters.llama-1b]"),
    ] {
        write(folder.path().join("mine.toml"), builtin::text(kind, id).unwrap()).unwrap();
        let own = run_well(folder.path(), &["catalog", "show", "./mine.toml"]).stdout;
        assert!(own.starts_with("./mine.toml, from ./mine.toml") && own.contains(shown), "{own}");
    }
    let ran = run(folder.path(), &["catalog", "show", "H100"]);
    assert!(ran.code == 2 && ran.stderr.contains("h100-sxm5-80gb"), "{}", ran.stderr);
}
