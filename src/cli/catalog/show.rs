//! `specplan catalog show`: one entry with its figures and sources.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::load::{Entry, entry, kind_at};
use crate::catalog::lookup::{SearchPath, called, note};
use crate::cli::catalog::resolve::resolve;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::diagnostic::Source;
use crate::report::catalog::list::Entries;
use crate::report::catalog::sheet::Remarks;
use crate::report::catalog::{device, model};
use crate::report::engine;
use crate::report::table::Style;
use crate::words::{Format, Kind, Word};

/// An entry as it was read.
struct Shown {
    kind: Kind,
    id: String,
    entry: Entry,
    source: Arc<Source>,
    remarks: Remarks,
}

/// Everything of that name, whatever its kind.
pub(super) fn show(search: &SearchPath, name: &str, format: Format) -> Result<(), Error> {
    let (id, kinds) = match kind_at(search, name).map_err(|found| Error::Input(vec![found]))? {
        Some(kind) => (name.to_owned(), vec![kind]),
        None => resolve(search, name, Kind::ALL)?,
    };
    let read = |kind: Kind| {
        let (entry, source) = entry(search, kind, &id).map_err(Error::Input)?;
        let remarks = Remarks { aliases: called(kind, &id, &source).aliases, note: note(&source) };
        Ok(Shown { kind, id: id.clone(), entry, source, remarks })
    };
    let all: Result<Vec<Shown>, Error> = kinds.into_iter().map(read).collect();
    terminal::print(&rendered(all?, format)?)
}

fn rendered(all: Vec<Shown>, format: Format) -> Result<Vec<u8>, Error> {
    let texts = |style| all.iter().map(|one| one.text(style)).collect::<Vec<_>>().join("\n").into_bytes();
    Ok(match format {
        Format::Text => texts(Style::Plain),
        Format::Md => texts(Style::Markdown),
        Format::Json => {
            let values = all.iter().map(Shown::json).collect();
            format!("{:#}\n", Value::Array(values)).into_bytes()
        }
        Format::Csv => table(all)?,
    })
}

/// A table has the columns of one kind. A study beside something of its name has the fewest figures: it is left out.
fn table(all: Vec<Shown>) -> Result<Vec<u8>, Error> {
    let (studies, others): (Vec<Shown>, Vec<Shown>) = all.into_iter().partition(|one| one.kind == Kind::Scenarios);
    if !studies.is_empty() && !others.is_empty() {
        terminal::note("the scenario of that name is left out");
    }
    let mut rows = if others.is_empty() { studies } else { others };
    let Some(row) = rows.pop() else { return Ok(Vec::new()) };
    if let Some(other) = rows.pop() {
        let message = format!("CSV holds one kind, and {} is the name of {} and {}", row.id, other.kind, row.kind);
        return Err(Error::Usage(format!("{message}: take --format json")));
    }
    let entries = match row.entry {
        Entry::Device(device) => Entries::Hardware(vec![*device]),
        Entry::Model(model) => Entries::Models(vec![*model]),
        Entry::Engine(engine) => Entries::Engines(vec![*engine]),
        Entry::Scenario(scenario) => Entries::Scenarios(vec![*scenario]),
    };
    entries.csv().map_err(|error| Error::Internal(error.to_string()))
}

impl Shown {
    fn text(&self, style: Style) -> String {
        let (id, file) = (&self.id, &self.source.name);
        let head = match style {
            Style::Markdown => format!("## {id}\n\nfrom `{file}`\n\n"),
            Style::Plain | Style::Ansi => format!("{id}, from {file}\n"),
        };
        let body = match &self.entry {
            Entry::Device(one) => device::text(one, &self.remarks, style),
            Entry::Model(one) => model::text(one, &self.remarks, style),
            Entry::Engine(one) => engine::text(one, style),
            // A scenario is read best as it is written.
            Entry::Scenario(_) if style == Style::Markdown => format!("```toml\n{}```\n", self.source.text),
            Entry::Scenario(_) => format!("\n{}", self.source.text),
        };
        format!("{head}{body}")
    }

    fn json(&self) -> Value {
        let entry = match &self.entry {
            Entry::Device(one) => device::json(one, &self.remarks),
            Entry::Model(one) => model::json(one, &self.remarks),
            Entry::Engine(one) => engine::json(one, None),
            Entry::Scenario(scenario) => json!({ "name": scenario.name, "title": scenario.title }),
        };
        json!({ "kind": self.kind.as_str(), "file": self.source.name, "entry": entry })
    }
}
