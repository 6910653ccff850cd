//! The command line program: parse, run, print the error, return the exit code.

use std::process::ExitCode;

use clap::Parser;
use specplan::cli::args::Args;
use specplan::cli::{run, terminal};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version go to standard output with code 0, mistakes to standard error with 2.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            // Help that nobody got is a failure; a mistake stays one.
            return ExitCode::from(if error.print().is_err() && code == 0 { 1 } else { code });
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(text) = error.text(terminal::color_stderr(args.command.color())) {
                terminal::note(&text);
            }
            ExitCode::from(error.exit_code())
        }
    }
}
