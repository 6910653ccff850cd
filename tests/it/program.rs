//! Runs the program in a folder of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What the founding study leaves in its folder.
pub(crate) const FILES: [&str; 5] = [
    "founding-study.sweep.csv",
    "founding-study.sweep.heat-map.png",
    "founding-study.sweep.manifest.json",
    "founding-study.sweep.speedup-by-batch.png",
    "founding-study.sweep.speedup-by-k.png",
];

/// An empty working folder.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The program with a working folder, no colour and no terminal.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(folder).args(arguments).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// What a run printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program to its end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let Output { status, stdout, stderr } = command(folder, arguments).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8 output");
    Ran { code: status.code().expect("an exit code"), stdout: text(stdout), stderr: text(stderr) }
}

/// Runs the program, which must end well.
#[track_caller]
pub(crate) fn run_well(folder: &Path, arguments: &[&str]) -> Ran {
    let ran = run(folder, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
    ran
}

/// The names of a folder's files, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("a readable folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
