//! Runs every verified case against the library and prints `fn: passed/total` for each function.
//!
//! A case is `{id, fn, inputs, expected, tolerance: {rel, abs}, how_verified}`; its expected values
//! were made by one implementation and reproduced by a second, differently built one, neither of them
//! this program. The cases lie in `tests/reference/*.json`; files named in `SPECPLAN_REFERENCE`,
//! separated by `:`, are run as well.
//!
//! A number passes when `|got - expected| <= abs + rel * max(|got|, |expected|)`, a whole one computed
//! as such only when equal; words, lists' lengths and nulls must be equal; `{"error": "domain"}` expects a refusal; keys beyond the expected
//! ones are fine.

#![expect(clippy::print_stdout, clippy::panic, reason = "a test runner prints, and stops on a broken case file")]

#[path = "reference/batches.rs"]
mod batches;
#[path = "reference/breakeven.rs"]
mod breakeven;
#[path = "reference/compare.rs"]
mod compare;
#[path = "reference/estimation.rs"]
mod estimation;
#[path = "reference/heterogeneity.rs"]
mod heterogeneity;
#[path = "reference/memory.rs"]
mod memory;
#[path = "reference/roofline.rs"]
mod roofline;
#[path = "reference/rule.rs"]
mod rule;
#[path = "reference/serving.rs"]
mod serving;
#[path = "reference/speedup.rs"]
mod speedup;
#[path = "reference/tokens.rs"]
mod tokens;
#[path = "reference/trees.rs"]
mod trees;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value;

/// Why there is no answer.
pub(crate) enum Unanswered {
    /// The library refuses the input.
    Refused(String),
    /// The case lacks an input or has it in another form: no refusal, but a fault of the case.
    Broken(String),
}

/// What a function gave for a case's inputs.
pub(crate) type Answer = Result<Value, Unanswered>;

/// Functions that the library does not have yet, with the reason. The table only shrinks.
const PENDING: &[(&str, &str)] = &[];

fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    tokens::evaluate(function, inputs)
        .or_else(|| speedup::evaluate(function, inputs))
        .or_else(|| memory::evaluate(function, inputs))
        .or_else(|| roofline::evaluate(function, inputs))
        .or_else(|| rule::evaluate(function, inputs))
        .or_else(|| heterogeneity::evaluate(function, inputs))
        .or_else(|| trees::evaluate(function, inputs))
        .or_else(|| batches::evaluate(function, inputs))
        .or_else(|| estimation::evaluate(function, inputs))
        .or_else(|| breakeven::evaluate(function, inputs))
        .or_else(|| serving::evaluate(function, inputs))
}

/// Passed and total of one function, and what went wrong.
#[derive(Default)]
struct Tally {
    passed: usize,
    total: usize,
    pending: bool,
    mistakes: Vec<String>,
}

fn main() -> ExitCode {
    // Runners that list tests before they run them, such as nextest, get the one there is.
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("reference: test");
        }
        return ExitCode::SUCCESS;
    }
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in files() {
        for case in cases(&file) {
            let function = case["fn"].as_str().unwrap_or("(no fn)").to_owned();
            judge(&case, tallies.entry(function.clone()).or_default(), &function);
        }
    }
    report(&tallies)
}

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let own = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> =
        own.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no cases", folder.display());
    let more = std::env::var("SPECPLAN_REFERENCE").unwrap_or_default();
    files.extend(more.split(':').filter(|name| !name.is_empty()).map(PathBuf::from));
    files
}

fn cases(file: &PathBuf) -> Vec<Value> {
    let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    match value {
        Value::Array(cases) => cases,
        other => other["cases"].as_array().unwrap_or_else(|| panic!("{}: no list of cases", file.display())).clone(),
    }
}

fn judge(case: &Value, tally: &mut Tally, function: &str) {
    tally.total += 1;
    let id = case["id"].as_str().unwrap_or("(no id)");
    match evaluate(function, &case["inputs"]) {
        Some(answer) => match compare::answer(&answer, &case["expected"], &case["tolerance"]) {
            Ok(()) => tally.passed += 1,
            Err(mistake) => tally.mistakes.push(format!("{id}: {mistake}")),
        },
        None if PENDING.iter().any(|(name, _)| *name == function) => tally.pending = true,
        None => tally.mistakes.push(format!("{id}: no such function, and it is not pending")),
    }
}

fn report(tallies: &BTreeMap<String, Tally>) -> ExitCode {
    let mut failed = 0;
    for (function, tally) in tallies {
        let reason = PENDING.iter().find(|(name, _)| name == function).map_or("", |(_, reason)| reason);
        let note = if tally.pending { format!(" pending: {reason}") } else { String::new() };
        println!("{function}: {}/{}{note}", tally.passed, tally.total);
        for mistake in &tally.mistakes {
            println!("  {mistake}");
        }
        failed += tally.mistakes.len();
        if !tally.pending && !reason.is_empty() && tally.mistakes.is_empty() {
            println!("  {function} runs: take it out of the pending table");
            failed += 1;
        }
    }
    println!("pending: {}", tallies.values().filter(|tally| tally.pending).count());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
