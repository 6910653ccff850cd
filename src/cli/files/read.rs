//! Reading of what the user names.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::cli::error::Error;
use crate::cli::progress;
use crate::diagnostic::Diagnostic;

/// Larger inputs are no table of measurements.
const LARGEST_INPUT: u64 = 256 << 20;
/// Larger inputs are no configuration of a model: the largest real ones, with a list for each module, have 1 MiB.
const LARGEST_CONFIG: u64 = 8 << 20;

/// Reads a whole text that the user names; `-` is standard input.
///
/// # Errors
///
/// [`Error::Input`] if it cannot be read, is too large or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    read_up_to(path, LARGEST_INPUT)
}

/// Reads the configuration of a model; `-` is standard input.
///
/// # Errors
///
/// [`Error::Input`] if it cannot be read, is too large or is not UTF-8.
pub fn read_config(path: &Path) -> Result<String, Error> {
    read_up_to(path, LARGEST_CONFIG)
}

/// Bytes of one piece.
const PIECE: usize = 1 << 20;
/// Smaller files are read before a bar could be.
const WORTH_A_BAR: u64 = 256 << 20;

/// Reads what the user names piece by piece, in bounded memory; `-` is standard input.
///
/// # Errors
///
/// [`Error::Input`] if it cannot be read, and whatever `take` refuses.
pub fn read_in_pieces(path: &Path, quiet: bool, mut take: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    let name = if path == Path::new("-") { "<standard input>".to_owned() } else { path.display().to_string() };
    let refused = |error: std::io::Error| {
        let (code, message) = match error.kind() {
            ErrorKind::NotFound => ("not-found", format!("{name}: there is no such file")),
            _ => ("unreadable", format!("{name}: cannot be read: {error}")),
        };
        Error::Input(vec![Diagnostic::error(code, message).hint("check the path")])
    };
    let (mut reader, size): (Box<dyn Read>, u64) = if path == Path::new("-") {
        (Box::new(std::io::stdin().lock()), 0)
    } else {
        let file = File::open(path).map_err(refused)?;
        let size = file.metadata().map_or(0, |about| about.len());
        (Box::new(file), size)
    };
    let bar = progress::bytes(size, quiet || size < WORTH_A_BAR);
    let mut piece = vec![0; PIECE];
    loop {
        let read = match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(refused(error)),
        };
        take(&piece[..read])?;
        bar.inc(read as u64);
    }
    bar.finish_and_clear();
    Ok(())
}

fn read_up_to(path: &Path, largest: u64) -> Result<String, Error> {
    let name = if path == Path::new("-") { "<standard input>".to_owned() } else { path.display().to_string() };
    let refused = |code, message: String, hint: &str| Error::Input(vec![Diagnostic::error(code, message).hint(hint)]);
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(largest + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(largest + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(refused("not-found", format!("{name}: there is no such file"), "check the path"))
        }
        Err(error) => {
            Err(refused("unreadable", format!("{name}: cannot be read: {error}"), "check what the path names"))
        }
        Ok(size) if size as u64 > largest => {
            let message = format!("{name}: larger than {} MiB", largest >> 20);
            Err(refused("too-large", message, "is this the right file?"))
        }
        Ok(_) => String::from_utf8(bytes)
            .map(|text| text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
            .map_err(|_| refused("not-utf8", format!("{name}: this is not UTF-8 text"), "save the file as UTF-8")),
    }
}
