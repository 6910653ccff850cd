//! Where rows go while they are priced: files, standard output, both or nowhere.

use serde_json::Value;

use crate::cli::error::Error;
use crate::cli::files::ongoing::{Ongoing, Reached, Written};
use crate::cli::files::{Growing, Results};
use crate::cli::terminal;
use crate::report::rows::RowForm;

/// One form in which rows are streamed.
pub(super) struct Stream {
    pub(super) form: RowForm,
    ending: String,
    file: Option<Growing>,
    stdout: bool,
    /// Whether the run has files to write, in this form or any other.
    files_wanted: bool,
    empty: bool,
}

/// Where one form goes.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) form: RowForm,
    pub(super) file: bool,
    pub(super) stdout: bool,
}

/// What is streamed, and what an earlier run wrote of it.
#[derive(Clone, Copy)]
pub(super) struct Streamed<'a> {
    pub(super) columns: &'a [&'a str],
    pub(super) manifest: &'a Value,
    pub(super) reached: Option<&'a Reached>,
    /// Whether no row was written yet.
    pub(super) empty: bool,
}

impl Stream {
    /// Opens the file and writes what stands before the first row, unless an earlier run did.
    pub(super) fn start(
        route: Route,
        of: Streamed<'_>,
        (results, ongoing): (Option<&Results>, Option<&Ongoing>),
    ) -> Result<Self, Error> {
        let Route { form, file, stdout } = route;
        let ending = form.ending().to_owned();
        let written = of.reached.and_then(|reached| reached.files.iter().find(|of| of.ending == ending));
        let open = |results: &Results| match ongoing {
            Some(ongoing) => ongoing.start(results, &ending, written),
            None => results.start(&ending),
        };
        let growing = results.filter(|_| file).map(open).transpose()?;
        let mut stream = Self { form, ending, file: growing, stdout, files_wanted: results.is_some(), empty: of.empty };
        if written.is_none() {
            let head = form.head(of.columns, of.manifest);
            stream.write(&head.map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        Ok(stream)
    }

    /// Writes what stands after the last row and hands the file over.
    pub(super) fn finish(mut self, results: Option<&mut Results>) -> Result<(), Error> {
        self.write(self.form.tail())?;
        match (results, self.file) {
            (Some(results), Some(file)) => results.finish(file),
            _ => Ok(()),
        }
    }

    /// Writes a piece of the rows.
    pub(super) fn piece(&mut self, piece: &[u8]) -> Result<(), Error> {
        if piece.is_empty() {
            return Ok(());
        }
        let from = if self.empty { self.form.separator().len() } else { 0 };
        self.empty = false;
        self.write(&piece[from..])
    }

    /// Hands all bytes to the system, and on to the disk if asked; what the file holds.
    pub(super) fn hand_over(&mut self, to_disk: bool) -> Result<Option<Written>, Error> {
        match &mut self.file {
            Some(file) => file.hand_over(&self.ending, to_disk),
            None => Ok(None),
        }
    }

    /// Writes bytes wherever they go. A reader of standard output who has enough ends that half only, as
    /// long as files are wanted.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(file) = &mut self.file {
            file.write(bytes)?;
        }
        if !self.stdout || bytes.is_empty() {
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
}
