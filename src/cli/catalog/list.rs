//! `specplan catalog list`: one list for each kind, grouped and filtered.

use serde_json::{Map, Value};

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::ListArgs;
use crate::cli::catalog::filters::Filters;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::diagnostic::Diagnostic;
use crate::report::catalog::list::Entries;
use crate::report::table::Style;
use crate::words::{Format, Kind};

/// A list with its heading, and why it is empty if it is.
struct List {
    entries: Entries,
    heading: String,
    empty: Option<String>,
}

pub(super) fn list(search: &SearchPath, asked: &ListArgs, format: Format) -> Result<(), Error> {
    let filters = Filters::of(search, asked)?;
    if format == Format::Csv && filters.kinds.len() > 1 {
        let message = "CSV holds one kind: name it, such as specplan catalog list models --format csv";
        return Err(Error::Usage(message.to_owned()));
    }
    let mut broken = Vec::new();
    let lists: Result<Vec<List>, Error> =
        filters.kinds.iter().map(|kind| of(search, *kind, &filters, &mut broken)).collect();
    let lists = lists?;
    // A table or a document that other programs read is whole or not there.
    if !broken.is_empty() && matches!(format, Format::Csv | Format::Json) {
        return Err(Error::Input(broken));
    }
    if matches!(format, Format::Csv | Format::Json) {
        lists.iter().filter_map(|list| list.empty.as_deref()).for_each(terminal::note);
    }
    terminal::print(&shown(&lists, format)?)?;
    if broken.is_empty() { Ok(()) } else { Err(Error::Input(broken)) }
}

fn shown(lists: &[List], format: Format) -> Result<Vec<u8>, Error> {
    let text = |style| {
        let texts: Vec<String> = lists.iter().map(|list| list.text(style)).collect();
        Ok(texts.join("\n").into_bytes())
    };
    match format {
        Format::Text => text(Style::Plain),
        Format::Md => text(Style::Markdown),
        Format::Csv => {
            let table = |list: &List| list.entries.csv().map_err(|error| Error::Internal(error.to_string()));
            Ok(lists.iter().map(table).collect::<Result<Vec<_>, _>>()?.concat())
        }
        Format::Json => {
            let document: Map<String, Value> =
                lists.iter().map(|list| (list.entries.kind().to_string(), list.entries.json())).collect();
            Ok(format!("{:#}\n", Value::Object(document)).into_bytes())
        }
    }
}

impl List {
    fn text(&self, style: Style) -> String {
        let text = self.entries.text(&self.heading, style);
        self.empty.as_ref().map_or_else(|| text.clone(), |why| format!("{text}{why}\n"))
    }
}

fn of(search: &SearchPath, kind: Kind, filters: &Filters, broken: &mut Vec<Diagnostic>) -> Result<List, Error> {
    let mut empty = None;
    let entries = match read(search, kind, broken) {
        Entries::Hardware(devices) => Entries::Hardware(filters.devices(devices)?),
        Entries::Models(models) => Entries::Models(filters.models(models).unwrap_or_else(|why| {
            empty = Some(why);
            Vec::new()
        })),
        others => others,
    };
    Ok(List { entries, heading: filters.heading(kind), empty })
}

/// Every entry of a kind that can be read, and what is wrong with the others.
fn read(search: &SearchPath, kind: Kind, broken: &mut Vec<Diagnostic>) -> Entries {
    let (mut devices, mut models, mut engines, mut scenarios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in search.ids(kind) {
        match entry(search, kind, &id) {
            Ok((Entry::Device(device), _)) => devices.push(*device),
            Ok((Entry::Model(model), _)) => models.push(*model),
            Ok((Entry::Engine(engine), _)) => engines.push(*engine),
            Ok((Entry::Scenario(scenario), _)) => scenarios.push(*scenario),
            Err(found) => broken.extend(found),
        }
    }
    match kind {
        Kind::Hardware => Entries::Hardware(devices),
        Kind::Models => Entries::Models(models),
        Kind::Engines => Entries::Engines(engines),
        Kind::Scenarios => Entries::Scenarios(scenarios),
    }
}
