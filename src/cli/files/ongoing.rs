//! Files of a long piece of work that stay where they are when it is stopped or killed, so that it can go on.

use std::fs::{File, OpenOptions, create_dir_all, remove_dir_all, remove_file};
use std::io::{BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempPath};

use super::{BUFFER, Growing, PREFIX, Results, SUFFIX, at, check_target, temporary};
use crate::cli::error::Error;

/// How far it has come, as the system knows.
const STATE: &str = "state.json";
/// How far it had come when the files were last on the disk: what outlives a loss of power.
const SETTLED: &str = "settled.json";
const LOCK: &str = "lock";
/// The key of the state's own CRC-32: of its text without that key.
const SUM: &str = "crc32";

/// A folder beside the results, named by what is being done, with files that grow and how far they are complete.
#[derive(Debug)]
pub struct Ongoing {
    folder: PathBuf,
    digest: String,
    /// Held as long as this run goes on; given up before the folder goes, which some file systems ask for.
    lock: Option<File>,
}

/// How far a piece of work has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Steps done.
    pub steps: u64,
    /// Points and rows of those steps.
    pub counts: [u64; 2],
    /// What belongs to those steps of each file.
    pub files: Vec<Written>,
}

/// What is written of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its ending.
    pub ending: String,
    /// Bytes.
    pub bytes: u64,
    /// CRC-32 of these bytes.
    pub crc: u32,
}

fn crc(state: &Value) -> u32 {
    crc32fast::hash(state.to_string().as_bytes())
}

impl Ongoing {
    /// Opens the folder of the work that a digest names, making it if need be; none if another run works there.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if it cannot be made.
    pub fn open(results: &Results, digest: &str) -> Result<Option<Self>, Error> {
        // Long names would be too long for a folder's.
        let stem: String = results.stem.chars().take(40).collect();
        let digest_start = &digest[..digest.len().min(12)];
        let folder = results.folder.join(format!("{PREFIX}{stem}-{digest_start}{SUFFIX}"));
        create_dir_all(&folder).map_err(at(&folder))?;
        let path = folder.join(LOCK);
        let lock = OpenOptions::new().create(true).write(true).truncate(false).open(&path).map_err(at(&path))?;
        // Where files cannot be locked, nobody is kept out.
        match lock.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            _ => Ok(Some(Self { folder, digest: digest.to_owned(), lock: Some(lock) })),
        }
    }

    /// How far an earlier run came whose files still hold what it wrote.
    #[must_use]
    pub fn reached(&self) -> Option<Reached> {
        [STATE, SETTLED].iter().find_map(|name| self.read(name).filter(|of| of.files.iter().all(|of| self.holds(of))))
    }

    /// Whether an earlier run left something that its files no longer hold; asked where nothing is [`Self::reached`].
    #[must_use]
    pub fn was_damaged(&self) -> bool {
        self.folder.join(STATE).exists()
    }

    /// Whether this is its folder.
    #[must_use]
    pub fn is_in(&self, path: &Path) -> bool {
        self.folder == path
    }

    fn read(&self, name: &str) -> Option<Reached> {
        let text = std::fs::read(self.folder.join(name)).ok()?;
        let mut state: Value = serde_json::from_slice(&text).ok()?;
        let sum = state.as_object_mut()?.remove(SUM)?;
        if sum != crc(&state) {
            return None;
        }
        let count = |of: &Value, name: &str| of[name].as_u64();
        let file = |of: &Value| {
            let crc = u32::try_from(count(of, "crc32")?).ok()?;
            Some(Written { ending: of["ending"].as_str()?.to_owned(), bytes: count(of, "bytes")?, crc })
        };
        let counts = [count(&state, "points")?, count(&state, "rows")?];
        let files = state["files"].as_array()?.iter().map(file).collect::<Option<_>>()?;
        let reached = Reached { steps: count(&state, "steps")?, counts, files };
        (state["of"] == *self.digest).then_some(reached)
    }

    /// Whether a file still begins with what was written: a machine that went down may have lost some of it.
    fn holds(&self, of: &Written) -> bool {
        let Ok(file) = File::open(self.folder.join(&of.ending)) else { return false };
        let (mut file, mut sum, mut left) = (file.take(of.bytes), Hasher::new(), of.bytes);
        let mut piece = vec![0; 1 << 20];
        while let Ok(read @ 1..) = file.read(&mut piece) {
            sum.update(&piece[..read]);
            left -= read as u64;
        }
        left == 0 && sum.finalize() == of.crc
    }

    /// Opens the file that becomes the result of this ending, after what is written of it.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn start(&self, results: &Results, ending: &str, written: Option<&Written>) -> Result<Growing, Error> {
        let path = results.folder.join(results.name(ending));
        check_target(&path)?;
        let growing = self.folder.join(ending);
        let (bytes, crc) = written.map_or((0, 0), |of| (of.bytes, of.crc));
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(false).open(&growing).map_err(at(&growing))?;
        file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes))).map_err(at(&growing))?;
        let mut name = TempPath::try_from_path(&growing).map_err(at(&path))?;
        name.disable_cleanup(true);
        let file = BufWriter::with_capacity(BUFFER, NamedTempFile::from_parts(file, name));
        Ok(Growing { file, path, sum: Some((bytes, Hasher::new_with_initial_len(crc, bytes))) })
    }

    /// Keeps how far the work has come; the files have to hold it, and where it is `settled` have to be on the disk.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn keep(&self, reached: &Reached, settled: bool) -> Result<(), Error> {
        let file = |of: &Written| json!({ "ending": of.ending, "bytes": of.bytes, "crc32": of.crc });
        let files: Vec<Value> = reached.files.iter().map(file).collect();
        let [points, rows] = reached.counts;
        let mut state =
            json!({ "of": self.digest, "steps": reached.steps, "points": points, "rows": rows, "files": files });
        state[SUM] = crc(&state).into();
        for name in [STATE, SETTLED].iter().take(if settled { 2 } else { 1 }) {
            let path = self.folder.join(name);
            let mut file = temporary().tempfile_in(&self.folder).map_err(at(&path))?;
            file.write_all(state.to_string().as_bytes()).map_err(at(&path))?;
            file.persist(&path).map_err(|error| at(&path)(error.error))?;
        }
        Ok(())
    }

    /// Removes the folder, when its files have their names.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn remove(mut self) -> Result<(), Error> {
        self.lock.take();
        remove_dir_all(&self.folder).map_err(at(&self.folder))
    }

    /// Forgets how far an earlier run came: what it wrote is about to be written over.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn forget(&self) -> Result<(), Error> {
        for path in [STATE, SETTLED].map(|name| self.folder.join(name)) {
            match remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Where no step was done there is nothing to go on with.
impl Drop for Ongoing {
    fn drop(&mut self) {
        if !self.folder.join(STATE).exists() {
            self.lock.take();
            // What cannot be removed is told as left over by the next run.
            let _ = remove_dir_all(&self.folder);
        }
    }
}

impl Growing {
    /// Hands all bytes to the system, and on to the disk if asked; returns what the file holds.
    ///
    /// # Errors
    ///
    /// [`Error::File`], such as for a full disk.
    pub fn hand_over(&mut self, ending: &str, to_disk: bool) -> Result<Option<Written>, Error> {
        let handed = self.file.flush().and_then(|()| match to_disk {
            true => self.file.get_ref().as_file().sync_data(),
            false => Ok(()),
        });
        handed.map_err(at(&self.path))?;
        let written = |(bytes, sum): &(u64, Hasher)| Written {
            ending: ending.to_owned(),
            bytes: *bytes,
            crc: sum.clone().finalize(),
        };
        Ok(self.sum.as_ref().map(written))
    }
}
