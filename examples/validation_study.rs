//! The validation study: `cargo run --release --example validation_study`.
//!
//! Fits the shared form to all sources of the built-in measurements but one, predicts that one, and prints the tables of
//! `docs/validation.md`. With `--check FILE` it prints nothing, and fails if the file's generated part is another one; with
//! `--write FILE` it puts the tables there.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "an example prints, and reads and writes its document"
)]

use std::fs::{read_to_string, write};
use std::process::ExitCode;

use specplan::catalog::builtin::MEASUREMENTS;
use specplan::catalog::lookup::SearchPath;
use specplan::catalog::shelf::Shelf;
use specplan::domain::measurement::Measurement;
use specplan::evidence::study::findings::{others, study, variants};
use specplan::evidence::study::folds::{Left, unseen};
use specplan::evidence::study::subject::Subject;
use specplan::evidence::study::variant::{checks, tried};
use specplan::import::measurements::measurements;
use specplan::report::study::{Studied, document, generated, with_generated};

const REGENERATE: &str = "cargo run --release --example validation_study -- --write";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        [] => print!("{}", tables()?),
        ["--check", path] => {
            let text = read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            if generated(&text) != Some(tables()?.as_str()) {
                return Err(format!("{path} is not what the study finds; to renew it: {REGENERATE} {path}"));
            }
        }
        ["--write", path] => {
            let text = read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
            let renewed = with_generated(&text, &tables()?).ok_or_else(|| format!("{path} has no markers"))?;
            write(path, renewed).map_err(|error| format!("{path}: {error}"))?;
        }
        _ => return Err("usage: validation_study [--check FILE | --write FILE]".to_owned()),
    }
    Ok(())
}

/// Every measurement that can be priced, with what it names.
fn subjects(text: &str, search: &SearchPath) -> Result<Vec<Subject>, String> {
    let mut shelf = Shelf::new(search);
    let named = |measured: Measurement| {
        Ok::<Subject, String>(Subject {
            device: shelf.device(&measured.hardware)?,
            target: shelf.model(&measured.target)?,
            drafter: measured.drafter.as_ref().map(|id| shelf.model(id)).transpose()?,
            engine: shelf.engine(&measured.engine)?,
            measured,
        })
    };
    let lines = measurements(text).map_err(|error| error.to_string())?;
    let all = lines.into_iter().filter_map(|line| line.read.ok());
    let all = all.map(named).collect::<Result<Vec<Subject>, String>>()?;
    Ok(all.into_iter().filter(|of| of.shipped().is_ok()).collect())
}

/// Reports by those who made measurements that are fitted: qwen38mtp (30, 73) and thc1006 (57).
const OF_SOURCES: [&str; 3] = ["report-30-", "report-57-", "report-73-"];

/// The public reports of `docs/reports.md`, but for those by authors of a source.
fn reports() -> Result<Vec<Subject>, String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reports");
    let path = format!("{folder}.csv");
    let text = read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let mut all = subjects(&text, &SearchPath::new(Some(folder.into())))?;
    all.retain(|of| !OF_SOURCES.iter().any(|report| of.measured.id.starts_with(report)));
    Ok(all)
}

fn tables() -> Result<String, String> {
    let subjects = subjects(MEASUREMENTS, &SearchPath::default())?;
    let found = study(&subjects).map_err(|error| error.to_string())?;
    let by_target = unseen(&subjects, &found.design, Left::Target).map_err(|error| error.to_string())?.predictions;
    let of = |list| variants(&subjects, &found, list).map_err(|error| error.to_string());
    let (tried, checks) = (of(tried(&found.measured))?, of(checks(&found.measured))?);
    let reports = others(&reports()?, &found, &tried).map_err(|error| error.to_string())?;
    Ok(document(&Studied {
        subjects: &subjects,
        study: &found,
        by_target: &by_target,
        tried: &tried,
        checks: &checks,
        reports: &reports,
    }))
}
