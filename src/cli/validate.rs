//! `specplan validate`: measured speedups against predicted ones.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::builtin;
use crate::catalog::edit::Assignment;
use crate::catalog::lookup::SearchPath;
use crate::catalog::method::{Settings, settings};
use crate::catalog::shelf::Shelf;
use crate::cli::args::validate::ValidateArgs;
use crate::cli::error::Error;
use crate::cli::files::read::read_text;
use crate::cli::forms::Forms;
use crate::cli::opening::catalog_folder;
use crate::cli::publish::publish;
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, Place, Source};
use crate::domain::measurement::Measurement;
use crate::domain::model::Model;
use crate::evidence::predict::{Method, Named, Prediction, class, predict};
use crate::evidence::validation::{Row, Validation, validate as score};
use crate::import::measurements::{Line, measurements};
use crate::report::manifest::{Input, general};
use crate::report::table::{self, Style};
use crate::report::{chart, trust, validation};
use crate::words::{Class, Format};

/// The name of the built-in measurements, which heads the names of result files.
const PUBLISHED: &str = "published";

pub(super) fn validate(args: &ValidateArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    let engine = args.engine.iter().map(|name| Assignment::engine(name));
    let changes: Vec<Assignment> = args.set.iter().cloned().chain(engine).collect();
    let settings = settings(&search, &changes).map_err(Error::Input)?;
    let (name, text) = open(args.measurements.as_deref())?;
    let lines = measurements(&text).map_err(|error| not_measurements(&name, &text, &error.to_string()))?;
    let mut pricer = Pricer { shelf: Shelf::new(&search), settings: &settings };
    let rows: Vec<Row> = lines.into_iter().map(|line| pricer.row(line)).collect();
    let found = score(&rows);
    let output = Output { args, name: &name, rows: &rows, found: &found, settings: &settings, text: &text };
    let results = forms.open(&args.output.out, &name, "validate", args.quiet)?;
    let published = match results {
        Some(results) => Some(output.files(results, &forms)?),
        None => None,
    };
    let shown = output.show();
    if let Some(published) = published.filter(|_| !args.quiet) {
        published.tell();
    }
    shown
}

/// The measurements with a name for result files.
fn open(path: Option<&Path>) -> Result<(String, String), Error> {
    let Some(path) = path else { return Ok((PUBLISHED.to_owned(), builtin::MEASUREMENTS.to_owned())) };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().chars().map(plain).collect());
    let name = if stem.starts_with(|c: char| c.is_ascii_alphanumeric()) { stem } else { "measurements".to_owned() };
    Ok((name, read_text(path)?))
}

fn not_measurements(name: &str, text: &str, reason: &str) -> Error {
    let end = text.find('\n').unwrap_or(text.len());
    let source = Source { name: format!("{name}.csv"), text: text[..end].to_owned(), command_line: false };
    let place = Place { source: Arc::new(source), span: 0..end };
    let found = Diagnostic::error("not-measurements", reason.to_owned()).at(&place);
    Error::Input(vec![found.hint("a CSV with columns by name; specplan validate --help lists them")])
}

/// Prices lines.
struct Pricer<'s> {
    shelf: Shelf<'s>,
    settings: &'s Settings,
}

impl Pricer<'_> {
    fn row(&mut self, line: Line) -> Row {
        let Line { id, source, read } = line;
        match read {
            Err(reason) => Row { id, source, measured: None, class: None, predicted: Err(reason) },
            Ok(measured) => {
                let (class, predicted) = self.priced(&measured);
                Row { id, source, measured: Some(measured), class, predicted }
            }
        }
    }

    fn priced(&mut self, measured: &Measurement) -> (Option<Class>, Result<Prediction, String>) {
        let target = match self.shelf.model(&measured.target) {
            Ok(target) => target,
            Err(reason) => return (None, Err(reason)),
        };
        (Some(class(&measured.engine, &target)), self.predicted(measured, &target))
    }

    fn predicted(&mut self, measured: &Measurement, target: &Model) -> Result<Prediction, String> {
        let device = self.shelf.device(&measured.hardware)?;
        let engine = match &self.settings.engine {
            Some(engine) => engine.clone(),
            None => self.shelf.engine(&measured.engine)?,
        };
        let drafter = measured.drafter.as_ref().map(|id| self.shelf.model(id)).transpose()?;
        let named = Named { device: &device, target, drafter: drafter.as_ref(), engine: &engine };
        let method = Method { roofline: self.settings.roofline, without: &self.settings.without };
        predict(measured, named, method).map_err(|error| error.to_string())
    }
}

/// What a finished validation becomes.
struct Output<'a> {
    args: &'a ValidateArgs,
    name: &'a str,
    rows: &'a [Row],
    found: &'a Validation,
    settings: &'a Settings,
    text: &'a str,
}

impl Output<'_> {
    fn title(&self) -> String {
        let what = match self.args.measurements {
            None => "published measurements".to_owned(),
            Some(_) => format!("measurements of {}", self.name),
        };
        match &self.settings.engine {
            None => what,
            Some(engine) => format!("{what}, engine {} in place of each row's own", engine.id),
        }
    }

    fn trust(&self) -> Vec<String> {
        let mut lines =
            vec!["every row is priced with its own measured tokens per pass: this tests the cost side only".to_owned()];
        lines.extend(trust::without(&self.settings.without));
        if self.args.measurements.is_none() && self.settings.engine.is_none() {
            lines.push("the engines' constants were fitted to most of these rows: on rows they had not seen the errors were larger, see README.md".to_owned());
        }
        lines
    }

    fn manifest(&self) -> Value {
        let engine = self.settings.engine.as_ref().map(|engine| engine.id.as_str());
        let without: Vec<&str> = self.settings.without.iter().map(|term| term.as_str()).collect();
        let roofline = self.settings.roofline.map(|roofline| roofline.as_str());
        let options = json!({ "engine": engine, "roofline": roofline, "without": without });
        let input = Input { kind: "measurements", id: self.name, text: self.text };
        general("validate", &[input], &options, &self.trust())
    }

    fn csv(&self) -> Result<Vec<u8>, Error> {
        validation::csv(self.rows).map_err(|error| Error::Internal(error.to_string()))
    }

    fn files(
        &self,
        mut results: crate::cli::files::Results,
        forms: &Forms,
    ) -> Result<crate::cli::publish::Published, Error> {
        if forms.csv {
            results.add("csv", &self.csv()?)?;
        }
        if forms.json {
            results.add("json", &validation::document(self.rows, self.found, &self.manifest()))?;
        }
        let charts = chart::validation::charts(self.rows, self.found, &self.title(), &self.trust());
        forms.draw(&mut results, &charts)?;
        publish(results, self.manifest())
    }

    fn show(&self) -> Result<(), Error> {
        let (title, trust) = (self.title(), self.trust());
        let title = format!("Predicted against measured: {title}");
        let page = |style| table::page(&title, &validation::text(self.rows, self.found, style), &trust, style);
        match self.args.output.format {
            Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
            Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
            Format::Csv => terminal::print(&self.csv()?)?,
            Format::Json => terminal::print(&validation::document(self.rows, self.found, &self.manifest()))?,
        }
        if !self.args.quiet {
            trust.iter().for_each(|line| terminal::note(line));
        }
        Ok(())
    }
}
