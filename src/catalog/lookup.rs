//! Where a name leads: a path, then `--catalog DIR`, then the working folder, then the built-in files.
//!
//! A reference with a slash or the ending `.toml` is a path; anything else is an id, a single file
//! name inside the folder of its kind, so that it cannot reach outside.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::catalog::builtin;
use crate::catalog::names::{Named, meant_by};
use crate::catalog::node::{Node, Value, parse};
use crate::diagnostic::{Diagnostic, Source, meant};
use crate::words::Kind;

/// The largest input file: a thousand times the largest scenario, small enough to refuse quickly.
const LARGEST_FILE: u64 = 4 << 20;

/// The largest recording: some ten million rounds.
const LARGEST_RECORDING: u64 = 256 << 20;

/// More ids than this are not listed in an error.
const MOST_LISTED: usize = 12;

/// More entries than this are not suggested.
const MOST_SUGGESTED: usize = 8;

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
    catalog: Option<PathBuf>,
    /// Entries that lie in no file.
    given: Vec<(Kind, String, String)>,
    /// What each kind's entries are called, read when a name is not found, and once.
    named: [OnceCell<Vec<Named>>; Kind::COUNT],
}

impl SearchPath {
    /// The folder of `--catalog` first, if there is one.
    #[must_use]
    pub fn new(catalog: Option<PathBuf>) -> Self {
        Self { catalog, ..Self::default() }
    }

    /// The same with an entry that lies in no file, found before all others of its id.
    #[must_use]
    pub fn with(mut self, kind: Kind, id: &str, text: String) -> Self {
        self.given.push((kind, id.to_owned(), text));
        self
    }

    /// Finds what a reference names; `beside` is the folder that a relative path starts from.
    pub(super) fn find(&self, kind: Kind, reference: &str, beside: Option<&Path>) -> Result<Found, Diagnostic> {
        if is_path(reference) {
            let path = from(beside, reference);
            if is_published_name(reference, &path) && !self.meant_by(reference, &[kind]).is_empty() {
                return Err(self.unknown(kind, reference));
            }
            return read(&path, LARGEST_FILE).and_then(|text| found(text, &path));
        }
        if !is_id(reference) {
            let spelled_apart = is_id(&reference.replace(' ', "-"));
            if spelled_apart && !self.meant_by(reference, &[kind]).is_empty() {
                return Err(self.unknown(kind, reference));
            }
            let found = Diagnostic::error("bad-id", format!("\"{reference}\" is neither an id nor a path"));
            return Err(found.hint("an id has letters, digits, `-`, `_` and `.`, a letter or digit first; a path has a slash or ends in .toml"));
        }
        self.file(kind, reference).unwrap_or_else(|| Err(self.unknown(kind, reference)))
    }

    /// The file of an id, if there is one.
    fn file(&self, kind: Kind, id: &str) -> Option<Result<Found, Diagnostic>> {
        if let Some((.., text)) = self.given.iter().find(|(of, known, _)| *of == kind && known == id) {
            return Some(Ok(Found { id: id.to_owned(), source: given_source(id, text), folder: None }));
        }
        for folder in self.folders(kind) {
            let path = folder.join(format!("{id}.toml"));
            if path.symlink_metadata().is_ok() {
                return Some(read(&path, LARGEST_FILE).and_then(|text| found(text, &path)));
            }
        }
        let text = builtin::text(kind, id)?;
        Some(Ok(Found { id: id.to_owned(), source: builtin_source(kind, id, text), folder: None }))
    }

    /// Entries of some kinds that a name may mean, the likeliest first; see [`meant_by`]. Reads every file of these
    /// kinds.
    #[must_use]
    pub fn meant_by(&self, name: &str, kinds: &[Kind]) -> Vec<&Named> {
        meant_by(name, kinds.iter().flat_map(|kind| self.named(*kind)))
    }

    fn named(&self, kind: Kind) -> &[Named] {
        let read = |id: &String| match self.file(kind, id) {
            Some(Ok(found)) => called(kind, id, &found.source),
            // What cannot be read can still be named, and then says why.
            _ => Named::new(kind, id, None, Vec::new()),
        };
        self.named[kind as usize].get_or_init(|| self.ids(kind).iter().map(read).collect())
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

    /// An id that is not there, with those that it may mean. None is taken in its place: a study must not change
    /// when the catalog grows.
    fn unknown(&self, kind: Kind, reference: &str) -> Diagnostic {
        let known: Vec<&str> = self.named(kind).iter().map(|one| one.id.as_str()).collect();
        let all = || match known.len() {
            0..=MOST_LISTED => format!("known {kind}: {}", known.join(", ")),
            _ => format!("specplan catalog list {kind} names all {}", known.len()),
        };
        let candidates = self.meant_by(reference, &[kind]);
        let hint = if candidates.is_empty() {
            meant(reference, &known)
                .unwrap_or_else(|| format!("{}; a file is named by its path, such as ./{reference}.toml", all()))
        } else {
            let shown = candidates.iter().take(MOST_SUGGESTED);
            let quoted: Vec<String> = shown.map(|one| format!("\"{}\"", one.id)).collect();
            let more = candidates.len().saturating_sub(MOST_SUGGESTED);
            let rest = if more > 0 { format!(" It fits {more} more: {}", all()) } else { String::new() };
            format!("did you mean {}?{rest}", quoted.join(" or "))
        };
        Diagnostic::error("unknown-id", format!("no {} is called \"{reference}\"", singular(kind))).hint(hint)
    }
}

/// What an entry is called, by its text.
#[must_use]
pub fn called(kind: Kind, id: &str, source: &Arc<Source>) -> Named {
    let root = parse(source).root;
    let key = if kind == Kind::Scenarios { "title" } else { "name" };
    let aliases = match root.get("aliases").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(written).map(str::to_owned).collect(),
        _ => root.get("aliases").and_then(written).map(str::to_owned).into_iter().collect(),
    };
    Named::new(kind, id, root.get(key).and_then(written), aliases)
}

/// What its author notes in a file; its reader has checked that it is text.
#[must_use]
pub fn note(source: &Arc<Source>) -> Option<String> {
    parse(source).root.get("note").and_then(written).map(str::to_owned)
}

fn written(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
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

fn given_source(id: &str, text: &str) -> Arc<Source> {
    Arc::new(Source { name: format!("<{id}>"), text: text.to_owned(), command_line: false })
}

fn builtin_source(kind: Kind, id: &str, text: &str) -> Arc<Source> {
    Arc::new(Source { name: format!("<built-in>/{kind}/{id}.toml"), text: text.to_owned(), command_line: false })
}

pub(super) fn is_path(reference: &str) -> bool {
    reference.contains(['/', '\\']) || reference.to_ascii_lowercase().ends_with(".toml")
}

/// Whether a reference is written as models are published, `organisation/model`, and no such file is there.
fn is_published_name(reference: &str, path: &Path) -> bool {
    let plain = reference.split_once('/').is_some_and(|(organisation, model)| is_id(organisation) && is_id(model));
    plain && !reference.to_ascii_lowercase().ends_with(".toml") && path.symlink_metadata().is_err()
}

/// Whether a reference leads to a file of its own rather than into the catalog.
pub(super) fn leads_to_file(reference: &str) -> bool {
    is_path(reference) && !is_published_name(reference, Path::new(reference))
}

/// Where a path leads that starts in some folder.
fn from(beside: Option<&Path>, reference: &str) -> PathBuf {
    match beside.filter(|folder| !folder.as_os_str().is_empty() && *folder != Path::new(".")) {
        Some(folder) => folder.join(without_dots(reference)),
        None => PathBuf::from(reference),
    }
}

/// The text of a recording, named by its path.
pub(super) fn recording(reference: &str, beside: Option<&Path>) -> Result<Arc<Source>, Diagnostic> {
    let path = from(beside, reference);
    let text = read(&path, LARGEST_RECORDING).map_err(|error| match error.code {
        "not-found" if beside.is_none() => error.hint("check the path; it starts in the current folder"),
        "not-found" => error.hint("check the path; it starts in the scenario's folder"),
        _ => error,
    })?;
    Ok(Arc::new(Source { name: path.display().to_string(), text, command_line: false }))
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
fn read(path: &Path, largest: u64) -> Result<String, Diagnostic> {
    let name = path.display();
    let bytes = read_bytes(path, largest).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Diagnostic::error("not-found", format!("{name}: there is no such file"))
            .hint("check the path; an id without a slash names a file of the catalog"),
        ErrorKind::IsADirectory => {
            Diagnostic::error("not-a-file", format!("{name}: this is a folder")).hint("name a file in it")
        }
        _ => Diagnostic::error("unreadable", format!("{name}: cannot be read: {error}"))
            .hint("check what the path names, and its permissions"),
    })?;
    if bytes.len() as u64 > largest {
        let found = Diagnostic::error("too-large", format!("{name}: larger than {} MiB", largest >> 20));
        return Err(found.hint(
            "is this the right file? catalog files and scenarios have a few kilobytes, recordings a few megabytes",
        ));
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

fn read_bytes(path: &Path, largest: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A named pipe may never be written to; the shell's <(…) lies under /dev or /proc and is.
    let kind = path.metadata()?.file_type();
    let from_shell = path.starts_with("/dev") || path.starts_with("/proc");
    if !kind.is_file() && !kind.is_dir() && !from_shell {
        return Err(std::io::Error::other("it is no plain file"));
    }
    File::open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
