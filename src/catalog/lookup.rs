//! Where a name leads: a path, then `--catalog DIR`, then the working folder, then the built-in files.
//!
//! A reference with a slash or the ending `.toml` is a path; anything else is an id, a single file
//! name inside the folder of its kind, so that it cannot reach outside.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::catalog::builtin;
use crate::diagnostic::{Diagnostic, Source, meant};
use crate::words::Kind;

/// The largest input file: a thousand times the largest scenario, small enough to refuse quickly.
const LARGEST_FILE: u64 = 4 << 20;

/// More ids than this are not listed in an error.
const MOST_LISTED: usize = 12;

/// A text that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The id: the file's name without its ending.
    pub(super) id: String,
    /// The text.
    pub(super) source: Arc<Source>,
    /// The folder it lies in; none for a built-in file.
    pub(super) folder: Option<PathBuf>,
}

/// The places that are searched.
#[derive(Clone, Debug, Default)]
pub struct SearchPath {
    /// `--catalog DIR`.
    pub catalog: Option<PathBuf>,
}

impl SearchPath {
    /// Finds what a reference names; `beside` is the folder that a relative path starts from.
    pub(super) fn find(&self, kind: Kind, reference: &str, beside: Option<&Path>) -> Result<Found, Diagnostic> {
        if is_path(reference) {
            let path = match beside.filter(|folder| !folder.as_os_str().is_empty() && *folder != Path::new(".")) {
                Some(folder) => folder.join(without_dots(reference)),
                None => PathBuf::from(reference),
            };
            return read(&path).and_then(|text| found(text, &path));
        }
        if !is_id(reference) {
            let found = Diagnostic::error("bad-id", format!("\"{reference}\" is neither an id nor a path"));
            return Err(found.hint("an id has letters, digits, `-`, `_` and `.`, a letter or digit first; a path has a slash or ends in .toml"));
        }
        for folder in self.folders(kind) {
            let path = folder.join(format!("{reference}.toml"));
            if path.symlink_metadata().is_ok() {
                return read(&path).and_then(|text| found(text, &path));
            }
        }
        match builtin::text(kind, reference) {
            Some(text) => {
                Ok(Found { id: reference.to_owned(), source: builtin_source(kind, reference, text), folder: None })
            }
            None => Err(self.unknown(kind, reference)),
        }
    }

    fn folders(&self, kind: Kind) -> impl Iterator<Item = PathBuf> {
        let catalog = self.catalog.as_ref().map(|catalog| catalog.join(kind.as_str()));
        catalog.into_iter().chain([PathBuf::from(kind.as_str())])
    }

    /// Every id that can be named, in alphabetical order.
    #[must_use]
    pub fn ids(&self, kind: Kind) -> Vec<String> {
        let mut ids = builtin::ids(kind);
        for entry in self.folders(kind).filter_map(|folder| folder.read_dir().ok()).flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                ids.extend(
                    path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| is_id(stem)).map(str::to_owned),
                );
            }
        }
        ids.sort();
        ids.dedup();
        ids
    }

    fn unknown(&self, kind: Kind, reference: &str) -> Diagnostic {
        let ids = self.ids(kind);
        let known: Vec<&str> = ids.iter().map(String::as_str).collect();
        let all = || match known.len() {
            0..=MOST_LISTED => format!("known {kind}: {}", known.join(", ")),
            _ => format!("specplan catalog list {kind} names all {}", known.len()),
        };
        let hint = meant(reference, &known)
            .unwrap_or_else(|| format!("{}; a file is named by its path, such as ./{reference}.toml", all()));
        Diagnostic::error("unknown-id", format!("no {} is called \"{reference}\"", singular(kind))).hint(hint)
    }
}

const fn singular(kind: Kind) -> &'static str {
    match kind {
        Kind::Hardware => "hardware",
        Kind::Models => "model",
        Kind::Engines => "engine",
        Kind::Scenarios => "scenario",
    }
}

fn builtin_source(kind: Kind, id: &str, text: &str) -> Arc<Source> {
    Arc::new(Source { name: format!("<built-in>/{kind}/{id}.toml"), text: text.to_owned(), command_line: false })
}

pub(super) fn is_path(reference: &str) -> bool {
    reference.contains(['/', '\\']) || reference.to_ascii_lowercase().ends_with(".toml")
}

/// A path without its `.` parts, so that joined paths read well; an absolute one stays absolute.
fn without_dots(reference: &str) -> PathBuf {
    Path::new(reference).components().filter(|part| *part != Component::CurDir).collect()
}

/// Whether a name is an id: a plain file name, and a label that every table can show.
#[must_use]
pub fn is_id(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().next().is_some_and(|c| c.is_ascii_alphanumeric()) && name.chars().all(plain)
}

fn found(text: String, path: &Path) -> Result<Found, Diagnostic> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if !is_id(stem) {
        let found = Diagnostic::error("bad-id", format!("{}: the file's name is no id", path.display()));
        return Err(found.hint(
            "name files with letters, digits, `-`, `_` and `.`, a letter or digit first: their names head results",
        ));
    }
    let source = Arc::new(Source { name: path.display().to_string(), text, command_line: false });
    Ok(Found { id: stem.to_owned(), source, folder: path.parent().map(Path::to_owned) })
}

/// Reads a text of bounded size.
fn read(path: &Path) -> Result<String, Diagnostic> {
    let name = path.display();
    let bytes = read_bytes(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Diagnostic::error("not-found", format!("{name}: there is no such file"))
            .hint("check the path; an id without a slash names a file of the catalog"),
        ErrorKind::IsADirectory => {
            Diagnostic::error("not-a-file", format!("{name}: this is a folder")).hint("name a file in it")
        }
        _ => Diagnostic::error("unreadable", format!("{name}: cannot be read: {error}"))
            .hint("check what the path names, and its permissions"),
    })?;
    if bytes.len() as u64 > LARGEST_FILE {
        let found = Diagnostic::error("too-large", format!("{name}: larger than {} MiB", LARGEST_FILE >> 20));
        return Err(found.hint("is this the right file? catalog files and scenarios have a few kilobytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let head = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let (line, column) =
            (head.matches('\n').count() + 1, head.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1);
        Diagnostic::error("not-utf8", format!("{name}:{line}:{column}: this is not UTF-8 text"))
            .hint("save the file as UTF-8")
    })
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A named pipe may never be written to; the shell's <(…) lies under /dev or /proc and is.
    let kind = path.metadata()?.file_type();
    let from_shell = path.starts_with("/dev") || path.starts_with("/proc");
    if !kind.is_file() && !kind.is_dir() && !from_shell {
        return Err(std::io::Error::other("it is no plain file"));
    }
    File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
