//! `specplan catalog`: what can be named, with figures and sources.

mod resolve;

use serde_json::{Value, json};

use crate::catalog::load::{Entry, entry, kind_at};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::{CatalogAction, CatalogArgs};
use crate::cli::error::Error;
use crate::cli::opening::catalog_folder;
use crate::cli::terminal;
use crate::report::catalog::{self, DEVICE_COLUMNS, ENGINE_COLUMNS, Line, MODEL_COLUMNS, NAME_COLUMNS};
use crate::report::engine;
use crate::words::{Kind, ListFormat, Word};

pub(super) fn catalog(args: &CatalogArgs) -> Result<(), Error> {
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    match &args.action {
        CatalogAction::List { kind } => list(&search, *kind, args.format),
        CatalogAction::Show { id } => show(&search, id, args.format),
    }
}

/// One table for each kind, or for the kind asked for.
fn list(search: &SearchPath, kind: Option<Kind>, format: ListFormat) -> Result<(), Error> {
    let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|known| kind.is_none_or(|kind| kind == *known)).collect();
    let mut tables = Vec::new();
    let mut document = serde_json::Map::new();
    for kind in kinds {
        let lines: Result<Vec<Line>, Error> = search.ids(kind).iter().map(|id| line(search, kind, id)).collect();
        let (columns, lines) = (columns(kind), lines?);
        document.insert(kind.to_string(), catalog::list_json(columns, &lines));
        tables.push(format!("{kind}\n{}", catalog::list(columns, &lines)));
    }
    let text = match format {
        ListFormat::Text => tables.join("\n"),
        ListFormat::Json => format!("{:#}\n", Value::Object(document)),
    };
    terminal::print(text.as_bytes())
}

const fn columns(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Hardware => &DEVICE_COLUMNS,
        Kind::Models => &MODEL_COLUMNS,
        Kind::Engines => &ENGINE_COLUMNS,
        Kind::Scenarios => &NAME_COLUMNS,
    }
}

fn line(search: &SearchPath, kind: Kind, id: &str) -> Result<Line, Error> {
    let (entry, _) = entry(search, kind, id).map_err(Error::Input)?;
    Ok(match &entry {
        Entry::Device(device) => catalog::device_line(device),
        Entry::Model(model) => catalog::model_line(model),
        Entry::Engine(engine) => {
            let status = engine.additive().map_or("ideal", |additive| additive.status.as_str());
            vec![engine.id.clone(), status.to_owned(), engine.name.clone()]
        }
        Entry::Scenario(scenario) => vec![id.to_owned(), scenario.title.clone()],
    })
}

/// Everything of that name, whatever its kind.
fn show(search: &SearchPath, name: &str, format: ListFormat) -> Result<(), Error> {
    let (id, kinds) = match kind_at(search, name).map_err(|found| Error::Input(vec![found]))? {
        Some(kind) => (name.to_owned(), vec![kind]),
        None => resolve::resolve(search, name, Kind::ALL)?,
    };
    let id = id.as_str();
    let mut texts = Vec::new();
    let mut values = Vec::new();
    for kind in kinds {
        let (entry, source) = entry(search, kind, id).map_err(Error::Input)?;
        let (text, value) = shown(&entry, &source.text);
        texts.push(format!("{id}, from {}\n{text}", source.name));
        values.push(json!({ "kind": kind.as_str(), "file": source.name, "entry": value }));
    }
    let text = match format {
        ListFormat::Text => texts.join("\n"),
        ListFormat::Json => format!("{:#}\n", Value::Array(values)),
    };
    terminal::print(text.as_bytes())
}

fn shown(entry: &Entry, file: &str) -> (String, Value) {
    match entry {
        Entry::Device(device) => (catalog::device(device), catalog::device_json(device)),
        Entry::Model(model) => (catalog::model(model), catalog::model_json(model)),
        Entry::Engine(one) => (engine::text(one), engine::json(one, None)),
        // A scenario is read best as it is written.
        Entry::Scenario(scenario) => (format!("\n{file}"), json!({ "name": scenario.name, "title": scenario.title })),
    }
}
