//! Configurations of public models, counted to what is published.

mod bad;
mod counts;
mod quantised;
mod written;

use std::path::PathBuf;
use std::sync::Arc;

use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::diagnostic::{Diagnostic, Source};
use specplan::domain::model::Model;
use specplan::import::hf::{Asked, Imported, config};
use specplan::words::Kind;

/// Where the configurations lie.
fn configs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/configs")
}

/// The names of all configurations.
fn all() -> Vec<String> {
    let mut all: Vec<String> = crate::program::names(&configs())
        .iter()
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| !name.starts_with("sidecar-"))
        .collect();
    all.sort();
    all
}

fn text(name: &str) -> String {
    std::fs::read_to_string(configs().join(format!("{name}.json"))).unwrap()
}

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source { name: "config.json".to_owned(), text: text.to_owned(), command_line: false })
}

fn built_in(id: &str) -> Model {
    match entry(&SearchPath::default(), Kind::Models, id).unwrap().0 {
        Entry::Model(model) => Some(*model),
        _ => None,
    }
    .unwrap()
}

/// What every import here is asked; Medusa heads need their target.
fn asked(name: &str) -> Asked {
    let target = name.contains("medusa").then(|| built_in("vicuna-7b-v1.3"));
    Asked { id: name.to_owned(), target, ..Asked::default() }
}

fn import(name: &str) -> Result<Imported, Vec<Diagnostic>> {
    config(&source(&text(name)), &asked(name))
}

fn imported(name: &str) -> Imported {
    import(name).map_err(|found| format!("{name}: {found:#?}")).unwrap()
}
