//! `specplan catalog list`: one list for each kind, grouped and filtered.

use serde_json::{Map, Value};

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::ListArgs;
use crate::cli::catalog::filters::Filters;
use crate::cli::error::Error;
use crate::cli::terminal;
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
    let lists: Result<Vec<List>, Error> = filters.kinds.iter().map(|kind| of(search, *kind, &filters)).collect();
    let lists = lists?;
    if matches!(format, Format::Csv | Format::Json) {
        lists.iter().filter_map(|list| list.empty.as_deref()).for_each(terminal::note);
    }
    terminal::print(&shown(&lists, format)?)
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

fn of(search: &SearchPath, kind: Kind, filters: &Filters) -> Result<List, Error> {
    let mut empty = None;
    let entries = match read(search, kind)? {
        Entries::Hardware(devices) => Entries::Hardware(filters.devices(devices)?),
        Entries::Models(models) => Entries::Models(filters.models(models).unwrap_or_else(|why| {
            empty = Some(why);
            Vec::new()
        })),
        others => others,
    };
    Ok(List { entries, heading: filters.heading(kind), empty })
}

/// Every entry of a kind.
fn read(search: &SearchPath, kind: Kind) -> Result<Entries, Error> {
    let (mut devices, mut models, mut engines, mut scenarios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in search.ids(kind) {
        match entry(search, kind, &id).map_err(Error::Input)?.0 {
            Entry::Device(device) => devices.push(*device),
            Entry::Model(model) => models.push(*model),
            Entry::Engine(engine) => engines.push(*engine),
            Entry::Scenario(scenario) => scenarios.push(*scenario),
        }
    }
    Ok(match kind {
        Kind::Hardware => Entries::Hardware(devices),
        Kind::Models => Entries::Models(models),
        Kind::Engines => Entries::Engines(engines),
        Kind::Scenarios => Entries::Scenarios(scenarios),
    })
}
