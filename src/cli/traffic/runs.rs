//! Runs, with how far they are.

use std::sync::atomic::AtomicBool;

use crate::cli::args::traffic::TrafficArgs;
use crate::cli::error::Error;
use crate::cli::files::{Growing, Results};
use crate::cli::progress::Runs;
use crate::domain::traffic::Slo;
use crate::parallel::{Failure, Outcome};
use crate::report::traffic::requests;
use crate::sweep::row::Labels;
use crate::traffic::run::NoRun;
use crate::traffic::study::{Case, Each, Full, Held, RUNS_OF_SEARCH, Study};

/// Runs at the stated loads; requests go to a file as runs end, where they are wanted.
pub(super) fn simulate(
    args: &TrafficArgs,
    study: &Study<'_>,
    labels: &[Labels<'_>],
    results: Option<&mut Results>,
    stop: &AtomicBool,
) -> Result<Vec<Case>, Error> {
    let progress = Runs::new("runs", study.runs(), args.common.quiet);
    let mut growing = match &results {
        Some(results) if study.each => Some(started(results)?),
        _ => None,
    };
    let mut cases = Vec::new();
    let take = |case: Result<Case, NoRun>| -> Result<(), Error> {
        let mut case = case.map_err(no_run)?;
        if let Some(growing) = &mut growing {
            let rows = requests::rows(&labels[case.subject], study.traffic, &case, study.slo.is_some());
            growing.write(&rows.map_err(|error| Error::Internal(error.to_string()))?)?;
            case.measures.each = Vec::new();
        }
        cases.push(case);
        Ok(())
    };
    let ended = study.cases(&Each { threads: args.common.threads(), stop, ran: &|ended| progress.ran(ended) }, take);
    progress.clear();
    finished(ended)?;
    if let Some((results, growing)) = results.zip(growing) {
        results.finish(growing)?;
    }
    Ok(cases)
}

fn started(results: &Results) -> Result<Growing, Error> {
    let mut growing = results.start("requests.csv")?;
    growing.write(&requests::header().map_err(|error| Error::Internal(error.to_string()))?)?;
    Ok(growing)
}

/// Searches the highest rates.
pub(super) fn search(args: &TrafficArgs, study: &Study<'_>, slo: &Slo, stop: &AtomicBool) -> Result<Vec<Held>, Error> {
    let progress =
        Runs::new("runs of the search for the highest rate", study.searches() * RUNS_OF_SEARCH, args.common.quiet);
    let mut found = Vec::new();
    let take = |held: Result<Held, NoRun>| -> Result<(), Error> {
        found.push(held.map_err(no_run)?);
        Ok(())
    };
    let ended =
        study.capacities(slo, &Each { threads: args.common.threads(), stop, ran: &|ended| progress.ran(ended) }, take);
    progress.clear();
    finished(ended).map(|()| found)
}

/// Runs that are always full.
pub(super) fn fill(args: &TrafficArgs, study: &Study<'_>, stop: &AtomicBool) -> Result<Vec<Full>, Error> {
    let progress = Runs::new("runs of a full service", study.searches(), args.common.quiet);
    let mut all = Vec::new();
    let take = |full: Result<Full, NoRun>| -> Result<(), Error> {
        all.push(full.map_err(no_run)?);
        Ok(())
    };
    let ended = study.full(&Each { threads: args.common.threads(), stop, ran: &|ended| progress.ran(ended) }, take);
    progress.clear();
    finished(ended).map(|()| all)
}

fn no_run(error: NoRun) -> Error {
    match error {
        NoRun::Stopped => Error::Interrupted,
        NoRun::Unbalanced(_) => Error::Internal(error.to_string()),
    }
}

fn finished(ended: Result<Outcome, Failure<Error>>) -> Result<(), Error> {
    match ended {
        Ok(Outcome::Finished) => Ok(()),
        Ok(Outcome::Stopped) => Err(Error::Interrupted),
        Err(Failure::Taken(error)) => Err(error),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}
