//! The only writer of files: each is written under a temporary name and renamed when all is well.

use std::fs::create_dir_all;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::cli::error::Error;

/// The result files of one command.
///
/// Nothing appears under a final name before [`Results::publish`]; a dropped `Results` leaves nothing.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    stem: String,
    finished: Vec<(NamedTempFile, PathBuf)>,
}

/// A file being written.
#[derive(Debug)]
pub struct Growing {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Results {
    /// Opens the folder, making it if need be. Files are named `<scenario>.<command>[.<part>].<ext>`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the folder cannot be made.
    pub fn open(folder: &Path, scenario: &str, command: &str) -> Result<Self, Error> {
        create_dir_all(folder).map_err(at(folder))?;
        Ok(Self { folder: folder.to_owned(), stem: format!("{scenario}.{command}"), finished: Vec::new() })
    }

    /// Starts a file; `ending` is `csv` or `part.csv`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the folder takes no file.
    pub fn start(&self, ending: &str) -> Result<Growing, Error> {
        let path = self.folder.join(format!("{}.{ending}", self.stem));
        let mut builder = Builder::new();
        builder.prefix(".specplan-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Result files are for everyone whom the umask lets read, unlike other temporary files.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(&self.folder).map_err(at(&path))?;
        Ok(Growing { file: BufWriter::with_capacity(1 << 18, file), path })
    }

    /// Takes a complete file.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if its last bytes cannot be written.
    pub fn finish(&mut self, growing: Growing) -> Result<(), Error> {
        let path = growing.path;
        let file = growing.file.into_inner().map_err(|error| at(&path)(error.into_error()))?;
        self.finished.push((file, path));
        Ok(())
    }

    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn add(&mut self, ending: &str, bytes: &[u8]) -> Result<(), Error> {
        let mut growing = self.start(ending)?;
        growing.write(bytes)?;
        self.finish(growing)
    }

    /// Gives every file its final name, in the order in which they were finished; returns the names.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with the first name that cannot be given.
    pub fn publish(self) -> Result<Vec<PathBuf>, Error> {
        let mut names = Vec::new();
        for (file, path) in self.finished {
            file.persist(&path).map_err(|error| at(&path)(error.error))?;
            names.push(path);
        }
        Ok(names)
    }
}

impl Growing {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// [`Error::File`], such as for a full disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(at(&self.path))
    }
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}
