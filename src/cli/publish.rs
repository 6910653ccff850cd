//! Publishes result files together with the manifest that lists them.
//!
//! A chart of an earlier run must not stand beside the table of a new one as if it belonged to it. Files
//! that the earlier manifest lists stay only if the rest of that manifest is the same, so that they still
//! say what a new run would.

use std::path::PathBuf;

use serde_json::Value;

use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::terminal;
use crate::diagnostic::visible;
use crate::report::manifest;

const MANIFEST: &str = "manifest.json";
const FILES: &str = "files";

/// What publishing did.
pub(super) struct Published {
    /// The files of this run.
    pub(super) written: Vec<PathBuf>,
    /// Files of an earlier run with other inputs, which are gone.
    pub(super) removed: Vec<String>,
    /// Files that bear this command's name and are in no manifest.
    pub(super) strangers: Vec<PathBuf>,
}

impl Published {
    /// What was written and what stands beside it, on standard error.
    pub(super) fn tell(&self) {
        for path in &self.written {
            terminal::note(&visible(&format!("wrote {}", path.display())));
        }
        for name in &self.removed {
            terminal::note(&visible(&format!("removed {name}: of an earlier run that asked for something else")));
        }
        for path in &self.strangers {
            terminal::note(&visible(&format!("{}: not of this run, and in no manifest", path.display())));
        }
    }
}

/// Adds the manifest, names every file, removes what is out of date.
pub(super) fn publish(mut results: Results, mut manifest: Value) -> Result<Published, Error> {
    let lock = results.lock();
    let mut names = results.names();
    let earlier = results.earlier(MANIFEST).and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let (still_true, listed) = earlier.map_or((false, Vec::new()), |earlier| compare(earlier, &manifest));
    let (others, stale): (Vec<String>, Vec<String>) =
        listed.into_iter().filter(|name| !names.contains(name) && results.holds(name)).partition(|_| still_true);
    names.extend(others);
    names.sort();
    let known: Vec<String> = names.iter().chain(&stale).cloned().chain([results.name(MANIFEST)]).collect();
    let strangers = results.strangers(&known);
    manifest[FILES] = names.into();
    results.add(MANIFEST, &manifest::bytes(&manifest))?;
    let written = results.publish(&stale)?;
    drop(lock);
    Ok(Published { written, removed: stale, strangers })
}

/// Whether an earlier manifest says the same but for its files, and those files.
fn compare(mut earlier: Value, new: &Value) -> (bool, Vec<String>) {
    let files = earlier.as_object_mut().and_then(|fields| fields.shift_remove(FILES));
    let names = files.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    (earlier == *new, names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
