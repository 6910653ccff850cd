//! The program as its users meet it.

use std::fs::{create_dir, read, write};
use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::program::{command, folder, names, run, run_well};

const FILES: [&str; 5] = [
    "founding-study.sweep.csv",
    "founding-study.sweep.heat-map.png",
    "founding-study.sweep.manifest.json",
    "founding-study.sweep.speedup-by-batch.png",
    "founding-study.sweep.speedup-by-k.png",
];

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
fn invariant_10_an_output_that_cannot_be_written_leaves_nothing_behind() {
    let folder = folder();
    write(folder.path().join("file"), "in the way").unwrap();
    let ran = run(folder.path(), &["sweep", "--out", "file"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("file"), "{}", ran.stderr);
    create_dir(folder.path().join("out")).unwrap();
    create_dir(folder.path().join("out/founding-study.sweep.csv")).unwrap();
    let ran = run(folder.path(), &["sweep", "--out", "out", "--write", "csv"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(names(&folder.path().join("out")), ["founding-study.sweep.csv"]);
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

/// A terminated run leaves no file under a final name, and no temporary one either.
#[cfg(unix)]
#[test]
fn invariant_10_a_terminated_run_leaves_nothing_behind() {
    let folder = folder();
    let axes = ["--set", "sweep.batch={from=1,to=1000000,step=1}", "--set", "sweep.context={from=1,to=50,step=1}"];
    let arguments = [&["sweep", "--write", "csv"][..], &axes].concat();
    let mut child = command(folder.path(), &arguments).stderr(Stdio::piped()).spawn().unwrap();
    let output = folder.path().join("output");
    while !output.is_dir() || names(&output).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{message}");
    assert!(message.contains("interrupted"), "{message}");
    assert_eq!(names(&output), [""; 0]);
}

/// Charts stay beside a table only while they say the same.
#[test]
fn files_of_an_earlier_run_go_when_they_no_longer_hold() {
    let folder = folder();
    write(folder.path().join("founding-study.sweep.mine.csv"), "").unwrap();
    let out = ["sweep", "--out", "."];
    run_well(folder.path(), &out);
    run_well(folder.path(), &[&out[..], &["--write", "csv"]].concat());
    assert!(FILES.iter().all(|name| folder.path().join(name).is_file()), "the same study: the charts hold");
    run_well(folder.path(), &[&out[..], &["--write", "csv", "--set", "sweep.k=3"]].concat());
    let left = ["founding-study.sweep.csv", "founding-study.sweep.manifest.json", "founding-study.sweep.mine.csv"];
    assert_eq!(names(folder.path()), left, "another study: the charts go, foreign files stay");
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
