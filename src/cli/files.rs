//! The only writer of files: each is written under a temporary name and renamed when all is well.

pub mod ongoing;
pub mod read;

use std::fs::{File, create_dir_all, remove_file};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use tempfile::{Builder, NamedTempFile};

use crate::cli::error::Error;
use crate::cli::files::read::read_text;

/// Names of temporary files.
const PREFIX: &str = ".specplan-";
const SUFFIX: &str = ".part";

/// A manifest is never larger.
const LARGEST_EARLIER: u64 = 64 << 20;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 18;

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
    /// Bytes so far and their checksum, where a later run may have to know.
    sum: Option<(u64, Hasher)>,
}

impl Results {
    /// Opens the folder, making it if need be. Files are named `<scenario>.<command>[.<part>].<ext>`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the folder cannot be made.
    pub fn open(folder: &Path, scenario: &str, command: &str) -> Result<Self, Error> {
        create_dir_all(folder).map_err(at(folder))?;
        let stem = format!("{scenario}.{command}");
        check_target(&folder.join(format!("{stem}.manifest.json")))?;
        Ok(Self { folder: folder.to_owned(), stem, finished: Vec::new() })
    }

    /// Starts a file; `ending` is `csv` or `part.csv`.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the folder takes no file.
    pub fn start(&self, ending: &str) -> Result<Growing, Error> {
        let path = self.folder.join(self.name(ending));
        check_target(&path)?;
        if self.finished.iter().any(|(_, taken)| *taken == path) {
            return Err(Error::Internal(format!("two results are called {}", path.display())));
        }
        let file = temporary().tempfile_in(&self.folder).map_err(at(&path))?;
        Ok(Growing { file: BufWriter::with_capacity(BUFFER, file), path, sum: None })
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

    /// The names of the files that are finished, without the folder.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name =
            |(_, path): &(NamedTempFile, PathBuf)| path.file_name().map(|name| name.to_string_lossy().into_owned());
        self.finished.iter().filter_map(name).collect()
    }

    /// The name of a file with this ending.
    #[must_use]
    pub fn name(&self, ending: &str) -> String {
        format!("{}.{ending}", self.stem)
    }

    /// The text of a result file of an earlier run, if there is one that can be read.
    #[must_use]
    pub fn earlier(&self, ending: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let path = self.folder.join(self.name(ending));
        // A pipe of that name would be waited for.
        let file = if path.is_file() { File::open(path).ok()? } else { return None };
        file.take(LARGEST_EARLIER).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Temporary files that a killed run left in the folder, by name; one may belong to a run that is
    /// still going on.
    #[must_use]
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let entries = self.folder.read_dir().into_iter().flatten().flatten();
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(PREFIX) && name.ends_with(SUFFIX)
        };
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(ours).collect();
        found.sort();
        found
    }

    /// Keeps other runs from giving names in the folder until what is returned is dropped: the later of
    /// two runs then wins whole. Where folders cannot be locked, nothing is.
    #[must_use]
    pub fn lock(&self) -> Option<File> {
        let folder = File::open(&self.folder).ok()?;
        folder.lock().ok()?;
        Some(folder)
    }

    /// Files in the folder that bear this command's name and are not among `names`.
    #[must_use]
    pub fn strangers(&self, names: &[String]) -> Vec<PathBuf> {
        let entries = self.folder.read_dir().into_iter().flatten().flatten();
        let here = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let here: Vec<String> = here.filter(|name| self.holds(name)).collect();
        // What begins with the name of another manifest is known there: of shares, or of the best k.
        let own = format!("{}.manifest.json", self.stem);
        let others: Vec<&str> =
            here.iter().filter(|name| **name != own).filter_map(|name| name.strip_suffix("manifest.json")).collect();
        let is_known = |name: &String| names.contains(name) || others.iter().any(|other| name.starts_with(other));
        let mut found: Vec<PathBuf> =
            here.iter().filter(|name| !is_known(name)).map(|name| self.folder.join(name)).collect();
        found.sort();
        found
    }

    /// Whether a result file of this command is in the folder.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        self.is_ours(name) && self.folder.join(name).is_file()
    }

    /// Only names that this command gives: nothing else in the folder is its business.
    fn is_ours(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.stem).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| !rest.is_empty()) && !name.contains(['/', '\\'])
    }

    /// Gives every file its final name and removes `stale` files of an earlier run; returns the names
    /// given.
    ///
    /// The last file is the manifest: an old one goes before anything else changes, the new one comes
    /// when all is done, so that a folder with a manifest is never half old and half new.
    ///
    /// # Errors
    ///
    /// [`Error::File`] with the first name that cannot be given or removed.
    pub fn publish(self, stale: &[String]) -> Result<Vec<PathBuf>, Error> {
        let old: Vec<PathBuf> =
            stale.iter().filter(|name| self.holds(name)).map(|name| self.folder.join(name)).collect();
        for (_, path) in &self.finished {
            check_target(path)?;
        }
        if let Some((_, manifest)) = self.finished.last().filter(|(_, path)| path.exists()) {
            remove_file(manifest).map_err(at(manifest))?;
        }
        for path in old {
            remove_file(&path).map_err(at(&path))?;
        }
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
        if let Some((written, sum)) = &mut self.sum {
            *written += bytes.len() as u64;
            sum.update(bytes);
        }
        self.file.write_all(bytes).map_err(at(&self.path))
    }
}

#[cfg(feature = "parquet")]
impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// A temporary file to be.
fn temporary() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Result files are for everyone whom the umask lets read, unlike other temporary files.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Makes a folder, and those above it, if it is not there.
///
/// # Errors
///
/// [`Error::File`] if it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    create_dir_all(folder).map_err(at(folder))
}

/// Writes a new file as a whole; one that is there is left alone.
///
/// # Errors
///
/// [`Error::Usage`] if there is something of that name or no folder for it, [`Error::Internal`] if the
/// folder takes no file.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Error::Usage(format!("{}: there is no such folder; make it first", folder.display())));
    }
    let failed = |error: std::io::Error| Error::Internal(format!("cannot write {}: {}", path.display(), error.kind()));
    let mut file = temporary().tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist_noclobber(path).map(drop).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => Error::Usage(format!("{}: there already; name another file", path.display())),
        _ => failed(error.error),
    })
}

/// Refuses a file that is there and whose text has to stay.
///
/// # Errors
///
/// [`Error::Usage`] that names it.
pub fn may_replace(path: &Path, may_go: impl Fn(&str) -> bool) -> Result<(), Error> {
    let is_there = path.symlink_metadata().is_ok();
    match read_text(path) {
        Ok(there) if may_go(&there) => Ok(()),
        _ if !is_there => Ok(()),
        _ => Err(Error::Usage(format!("{}: there already; name another file", path.display()))),
    }
}

/// Writes a file as a whole; of one that is there only where its text may go.
///
/// # Errors
///
/// As [`create`], and [`Error::Usage`] if what is there has to stay.
pub fn replace(path: &Path, bytes: &[u8], may_go: impl Fn(&str) -> bool) -> Result<(), Error> {
    may_replace(path, &may_go)?;
    match read_text(path) {
        Ok(there) if may_go(&there) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let mut file = temporary().tempfile_in(folder).map_err(at(path))?;
            file.write_all(bytes).map_err(at(path))?;
            file.persist(path).map(drop).map_err(|error| at(path)(error.error))
        }
        // What is there, or is no file, is told as for new ones.
        _ => create(path, bytes),
    }
}

/// Refuses a final name that cannot be given: too long, or taken by something that is no plain file.
fn check_target(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(there) if there.is_file() || there.is_symlink() => Ok(()),
        Ok(_) => Err(at(path)(std::io::Error::other("something that is no file has this name"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(at(path)(error)),
    }
}

/// An error at a path. What the temporary file's own name adds to it is left out.
fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |error| {
        let wrapped = error.raw_os_error().is_none() && error.kind() != ErrorKind::Other;
        let source = if wrapped { error.kind().into() } else { error };
        Error::File { path, source }
    }
}
