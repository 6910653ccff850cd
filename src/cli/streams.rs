//! Where rows go while they are priced: files, standard output, both or nowhere.

use serde_json::Value;

use crate::cli::error::Error;
use crate::cli::files::{Growing, Results};
use crate::cli::terminal;
use crate::report::{csv, json};

/// The forms in which rows are streamed.
pub(super) struct Streams {
    pub(super) csv: Stream,
    pub(super) json: Stream,
}

/// One form.
pub(super) struct Stream {
    file: Option<Growing>,
    stdout: bool,
    /// Whether the run has files to write, in this form or any other.
    files_wanted: bool,
    empty: bool,
}

/// Where one form goes.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) file: bool,
    pub(super) stdout: bool,
}

impl Streams {
    /// Opens the files and writes what stands before the first row.
    pub(super) fn start(csv: Route, json: Route, results: Option<&Results>, manifest: &Value) -> Result<Self, Error> {
        let open = |route: Route, ending: &str| -> Result<Stream, Error> {
            let file = results.filter(|_| route.file).map(|results| results.start(ending)).transpose()?;
            Ok(Stream { file, stdout: route.stdout, files_wanted: results.is_some(), empty: true })
        };
        let mut streams = Self { csv: open(csv, "csv")?, json: open(json, "json")? };
        if streams.csv.wanted() {
            streams.csv.write(&csv::header().map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        if streams.json.wanted() {
            streams.json.write(&json::head(manifest))?;
        }
        Ok(streams)
    }

    /// Writes what stands after the last row and hands the files over.
    pub(super) fn finish(mut self, results: Option<&mut Results>) -> Result<(), Error> {
        if self.json.wanted() {
            self.json.write(&json::tail())?;
        }
        if let Some(results) = results {
            for file in [self.csv.file, self.json.file].into_iter().flatten() {
                results.finish(file)?;
            }
        }
        Ok(())
    }
}

impl Stream {
    /// Whether anybody reads this form.
    pub(super) fn wanted(&self) -> bool {
        self.file.is_some() || self.stdout
    }

    /// Writes bytes wherever they go. A reader of standard output who has enough ends that half only, as
    /// long as files are wanted.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(file) = &mut self.file {
            file.write(bytes)?;
        }
        if !self.stdout {
            return Ok(());
        }
        match terminal::print(bytes) {
            Err(Error::ClosedPipe) if self.files_wanted => {
                self.stdout = false;
                Ok(())
            }
            other => other,
        }
    }

    /// Writes a piece of a list, with a comma between it and the piece before.
    pub(super) fn write_joined(&mut self, piece: &[u8]) -> Result<(), Error> {
        if piece.is_empty() {
            return Ok(());
        }
        if !self.empty {
            self.write(b",")?;
        }
        self.empty = false;
        self.write(piece)
    }
}
