//! How a command can fail, with its text and exit code.

use std::io::ErrorKind;
use std::path::PathBuf;

use crate::diagnostic::{Diagnostic, render, visible};

/// Why a command did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Inputs are wrong.
    #[error("wrong input")]
    Input(Vec<Diagnostic>),
    /// A flag asks for something that does not exist or does not go together.
    #[error("{0}")]
    Usage(String),
    /// A name fits several entries of the catalog.
    #[error("\"{name}\" fits several entries; name one by its id:")]
    Ambiguous {
        /// As it was typed.
        name: String,
        /// A line for each entry.
        candidates: Vec<String>,
    },
    /// Reading or writing failed.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Standard output failed.
    #[error("standard output: {0}")]
    Stdout(std::io::Error),
    /// Whoever read standard output has enough.
    #[error("standard output was closed")]
    ClosedPipe,
    /// The user or the system stopped the run.
    #[error("interrupted: no result file was written")]
    Interrupted,
    /// The same, with what was done kept.
    #[error("{0}")]
    Paused(String),
    /// What was asked for cannot run.
    #[error("{0}")]
    CannotRun(String),
    /// A fault of the program or the machine.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// The exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::File { .. } | Self::Stdout(_) | Self::Interrupted | Self::Paused(_) | Self::Internal(_) => 1,
            Self::Usage(_) | Self::Ambiguous { .. } => 2,
            Self::Input(found) if found.iter().all(Diagnostic::on_command_line) => 2,
            Self::Input(_) => 3,
            Self::CannotRun(_) => 4,
        }
    }

    /// What to do about it, where the message does not say.
    fn next_step(&self) -> &'static str {
        let Self::File { source, .. } = self else { return "" };
        match source.kind() {
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "; a folder is due here: name another with --out",
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "; name another folder with --out",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                "; free some space, write less (--write, --only-fitting), or name another folder with --out"
            }
            ErrorKind::InvalidFilename => "; shorten the scenario's name or the folder's",
            _ => "; name another folder with --out",
        }
    }

    /// What to show, if there is anything to say.
    #[must_use]
    pub fn text(&self, color: bool) -> Option<String> {
        match self {
            Self::ClosedPipe => None,
            Self::Input(found) => Some(render(found, color)),
            Self::Ambiguous { candidates, .. } => {
                let lines = std::iter::once(format!("error: {self}"));
                let lines = lines.chain(candidates.iter().map(|line| format!("  {line}")));
                // Line by line, since line breaks are control characters too.
                Some(lines.map(|line| visible(&line)).collect::<Vec<_>>().join("\n"))
            }
            other => Some(visible(&format!("error: {other}{}", other.next_step()))),
        }
    }
}
