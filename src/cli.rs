//! The thin shell around the library: arguments in, files and terminal out.

pub mod args;
pub mod error;
pub mod files;
pub mod terminal;

mod acceptance;
mod calibrate;
mod catalog;
mod check;
mod convert;
mod explain;
mod forms;
mod import;
mod init;
mod opening;
mod plan;
mod progress;
mod publish;
mod simulate;
mod subjects;
mod sweep;
mod traffic;
mod tree;
mod validate;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::args::{Args, Command};
use crate::cli::error::Error;

/// How long a run that was told to stop may take to tidy up.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// Runs a command.
///
/// # Errors
///
/// [`Error`], which knows its text and its exit code.
pub fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        Command::Sweep(args) => sweep::sweep(args),
        Command::Plan(args) => plan::plan(args),
        Command::Simulate(args) => simulate::simulate(args),
        Command::Explain(args) => explain::explain(args),
        Command::Traffic(args) => traffic::traffic(args),
        Command::Tree(args) => tree::tree(args),
        Command::Acceptance(args) => acceptance::acceptance(args),
        Command::Convert(args) => convert::convert(args),
        Command::Validate(args) => validate::validate(args),
        Command::Calibrate(args) => calibrate::calibrate(args),
        Command::Check(args) => check::check(args),
        Command::Import(args) => import::import(args),
        Command::Init(args) => init::init(args),
        Command::Catalog(args) => catalog::catalog(args),
    }
}

/// A flag that is raised by Ctrl-C or a request to terminate, so that long work ends between two results
/// and temporary files are removed. Until a command asks for it, such a signal ends the program at once.
fn stop_on_signal() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let handler = move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        // Work that waits for a reader who reads no more cannot look at the flag.
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            std::process::exit(1);
        });
    };
    ctrlc::set_handler(handler).map_err(|error| Error::Internal(format!("cannot listen for signals: {error}")))?;
    Ok(stop)
}
