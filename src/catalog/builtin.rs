//! The catalog inside the program: whole folders, embedded as text and parsed only when asked for.

use include_dir::{Dir, include_dir};

use crate::words::Kind;

static HARDWARE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/hardware");
static MODELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/models");
static ENGINES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/engines");
static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// Published measurements, in the form that `validate` reads; each line names its public source.
pub const MEASUREMENTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/measurements/published.csv"));

/// Published tokens per pass by kind of drafter, as tables of acceptance.
pub const ACCEPTANCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/acceptance/published.toml"));

const fn folder(kind: Kind) -> &'static Dir<'static> {
    match kind {
        Kind::Hardware => &HARDWARE,
        Kind::Models => &MODELS,
        Kind::Engines => &ENGINES,
        Kind::Scenarios => &SCENARIOS,
    }
}

/// The text of a built-in file.
#[must_use]
pub fn text(kind: Kind, id: &str) -> Option<&'static str> {
    folder(kind).get_file(format!("{id}.toml"))?.contents_utf8()
}

/// The ids of a kind, in alphabetical order.
#[must_use]
pub fn ids(kind: Kind) -> Vec<String> {
    let stems = folder(kind).files().filter_map(|file| {
        let path = file.path();
        (path.extension()? == "toml").then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
    });
    let mut ids: Vec<String> = stems.collect();
    ids.sort();
    ids
}
