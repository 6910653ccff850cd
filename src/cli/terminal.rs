//! The only printing: results to standard output, everything else to standard error.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use crate::cli::error::Error;
use crate::words::ColorChoice;

/// Writes results to standard output.
///
/// # Errors
///
/// [`Error::ClosedPipe`] if the reader has gone, [`Error::Stdout`] otherwise.
pub fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut out = stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::ClosedPipe,
        _ => Error::Stdout(error),
    })
}

/// Writes a line to standard error. Where that fails nobody is left to tell.
pub fn note(line: &str) {
    let _ = writeln!(stderr().lock(), "{line}");
}

/// Whether to colour standard output.
#[must_use]
pub fn color_stdout(choice: ColorChoice) -> bool {
    wanted(choice, stdout().is_terminal())
}

/// Whether to colour standard error.
#[must_use]
pub fn color_stderr(choice: ColorChoice) -> bool {
    wanted(choice, stderr().is_terminal())
}

fn wanted(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}
