//! `sweep --where`: rows are those of the whole table whose cells meet the conditions.

use specplan::sweep::condition::Condition;

use crate::program::{folder, run, run_well};

const COMMAND: [&str; 6] = ["sweep", "--write", "none", "--format", "csv", "--quiet"];

fn table(more: &[&str]) -> Vec<Vec<String>> {
    let folder = folder();
    let ran = run_well(folder.path(), &[&COMMAND, more].concat());
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(ran.stdout.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn filtered(whole: &[Vec<String>], keeps: impl Fn(&dyn Fn(&str) -> String) -> bool) -> Vec<Vec<String>> {
    let at = |row: &[String], name: &str| row[whole[0].iter().position(|column| column == name).unwrap()].clone();
    let kept = whole[1..].iter().filter(|row| keeps(&|name| at(row, name))).cloned();
    std::iter::once(whole[0].clone()).chain(kept).collect()
}

#[test]
fn rows_are_those_of_the_whole_table_that_meet_every_condition() {
    let whole = table(&[]);
    let number = |text: String| text.parse::<f64>().unwrap();
    let expected = filtered(&whole, |at| number(at("speedup")) >= 1.2 && number(at("batch")) < 64.0);
    assert!(expected.len() > 1 && expected.len() < whole.len());
    assert_eq!(table(&["--where", "speedup>=1.2", "--where", "batch<64"]), expected);
    let expected = filtered(&whole, |at| at("fits") == "false" && at("verify_bound") == "memory");
    assert_eq!(table(&["--where", "fits = false", "--where", "verify_bound=memory"]), expected);
    let mixed = ["--scenario", "llama-8b-drafters"];
    let whole = table(&mixed);
    for (condition, keeps) in [("notes=extrapolated", true), ("notes!=extrapolated", false)] {
        let expected = filtered(&whole, |at| at("notes").split(' ').any(|word| word == "extrapolated") == keeps);
        assert!(expected.len() > 1 && expected.len() < whole.len(), "{condition}");
        assert_eq!(table(&[&mixed, ["--where", condition].as_slice()].concat()), expected, "{condition}");
    }
    let expected = filtered(&whole, |at| at("alpha").is_empty());
    assert_eq!(table(&[&mixed, ["--where", "alpha="].as_slice()].concat()), expected);
}

/// The same points make the table, and the manifest says which were wanted.
#[test]
fn tables_and_manifest_know_the_conditions() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--where", "k<=2", "--where", "speedup >1", "--write", "csv"]);
    assert!(
        !ran.stdout.contains("0.9") && ran.stdout.contains("left out: what does not meet k<=2 and speedup>1"),
        "{}",
        ran.stdout
    );
    let manifest = std::fs::read_to_string(folder.path().join("output/founding-study.sweep.manifest.json")).unwrap();
    assert!(manifest.contains("\"k<=2\"") && manifest.contains("\"speedup>1\""), "{manifest}");
}

#[test]
fn what_cannot_be_read_or_met_is_told() {
    let folder = folder();
    let ran = run(folder.path(), &["sweep", "--where", "speedp>1"]);
    assert!(ran.code == 2 && ran.stderr.contains("did you mean `speedup`?"), "{}", ran.stderr);
    let ran = run(folder.path(), &["sweep", "--where", "speedup>1000", "--where", "k<3"]);
    assert!(ran.code == 4 && ran.stderr.contains("no point meets `speedup>1000` and `k<3`"), "{}", ran.stderr);
    let ran = run(folder.path(), &["sweep", "--where", "=1"]);
    assert!(ran.code == 2 && ran.stderr.contains("`=1` is no condition: give a column"), "{}", ran.stderr);
}

/// What is printed is whole all the same: a header, a document without rows; no file is left.
#[test]
fn nothing_left_is_a_whole_table_without_rows() {
    let folder = folder();
    for rows in [&["--quiet"][..], &["--best-k"], &["--summary"]] {
        let with = |form: &str| {
            run(folder.path(), &[&["sweep", "--where", "speedup>1000", "--format", form][..], rows].concat())
        };
        let (csv, json) = (with("csv"), with("json"));
        assert!(csv.code == 4 && csv.stdout.starts_with("hardware,") && csv.stdout.lines().count() == 1, "{rows:?}");
        let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert!(json.code == 4 && document["rows"].as_array().unwrap().is_empty(), "{rows:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path().join("output")).map_or(0, Iterator::count), 0);
    let share = ["sweep", "--where", "speedup>1000", "--shard", "1/3", "--format", "csv", "--write", "none"];
    let ran = run(folder.path(), &share);
    assert!(ran.code == 0 && ran.stdout.starts_with("hardware,") && ran.stdout.lines().count() == 1, "{}", ran.stdout);
}

/// A column is compared as what its cells are: words, flags or numbers.
#[test]
fn columns_are_compared_as_what_they_hold() {
    let whole = table(&["--scenario", "llama-8b-drafters"]);
    for (at, name) in whole[0].iter().enumerate() {
        let cell = whole[1..].iter().map(|row| &row[at]).find(|cell| !cell.is_empty());
        let is_number = cell.is_some_and(|cell| cell.parse::<f64>().is_ok());
        let is_flag = cell.is_some_and(|cell| cell.parse::<bool>().is_ok());
        let reads = |value: &str| format!("{name}={value}").parse::<Condition>().is_ok();
        let expected = (is_number, is_flag, !is_number && !is_flag);
        assert_eq!((reads("1.5") && !reads("x"), reads("true") && !reads("x"), reads("x")), expected, "{name}");
    }
}
