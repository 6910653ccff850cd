//! Follows the references of a scenario from file to file.

use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog::edit::{self, Assignment};
use crate::catalog::lookup::{Found, SearchPath, leads_to_file, recording};
use crate::catalog::node::{Document, Node, Value, parse};
use crate::catalog::reader::{Problems, text};
use crate::catalog::{engine, hardware, inherit, model, scenario};
use crate::diagnostic::{Diagnostic, Place, Severity, Source};
use crate::domain::acceptance::AcceptanceModel;
use crate::domain::device::Device;
use crate::domain::engine::Engine;
use crate::domain::model::Model;
use crate::domain::scenario::Scenario;
use crate::words::Kind;

/// What to load.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A path or a name.
    pub scenario: &'a str,
    /// Changes from the command line, in their order.
    pub changes: &'a [Assignment],
    /// In place of the scenario's seed.
    pub seed: Option<u64>,
    /// Whether drafters without an acceptance take what is published of their kind.
    pub published: bool,
}

/// A scenario with the texts it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The study.
    pub scenario: Scenario,
    /// Every file that was read, the scenario first.
    pub inputs: Vec<Input>,
    /// What its author should know.
    pub warnings: Vec<Diagnostic>,
    /// Where the scenario starts.
    pub root: Place,
    /// Where its keys are given, by their dotted paths.
    keys: Vec<(String, Place)>,
    /// Where the axis with the most values is given, for a sweep that turns out too large; the start if
    /// no axis is given.
    pub longest_axis: Place,
}

impl Loaded {
    /// Where the first of some keys that the scenario gives is given, each by its dotted path; the start if none
    /// is.
    #[must_use]
    pub fn place(&self, keys: &[&str]) -> &Place {
        let given = |key: &&str| self.keys.iter().find(|(path, _)| path == key).map(|(_, place)| place);
        keys.iter().find_map(given).unwrap_or(&self.root)
    }
}

/// Every key below a node, by its dotted path.
fn places(node: &Node, before: &str, keys: &mut Vec<(String, Place)>) {
    for entry in node.entries().unwrap_or_default() {
        let path = format!("{before}{}", entry.key);
        keys.push((path.clone(), entry.node.place.clone()));
        places(&entry.node, &format!("{path}."), keys);
    }
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// What it describes: a kind of the catalog, or `rounds`.
    pub kind: &'static str,
    /// Its id, or its path as it was written.
    pub id: String,
    /// Its text.
    pub source: Arc<Source>,
}

/// Loads a scenario and everything it names.
///
/// # Errors
///
/// Every mistake of every file that was read.
pub fn load(search: &SearchPath, request: &Request<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    let found = search
        .find(Kind::Scenarios, request.scenario, None)
        .map_err(|error| vec![error.at(&typed_scenario(request.scenario))])?;
    read(search, &found, request)
}

/// Loads a scenario that lies in no file; relative paths in it start from the working folder.
///
/// # Errors
///
/// Every mistake of it and of every file that was read.
pub fn load_text(search: &SearchPath, text: &str, request: &Request<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    let source = Source { name: format!("<{}>", request.scenario), text: text.to_owned(), command_line: false };
    let found = Found { id: request.scenario.to_owned(), source: Arc::new(source), folder: None };
    read(search, &found, request)
}

fn read(search: &SearchPath, found: &Found, request: &Request<'_>) -> Result<Loaded, Vec<Diagnostic>> {
    let mut document = parse(&found.source);
    let mut problems = Problems::of(&document);
    for change in request.changes {
        if let Err(error) = edit::apply(&mut document.root, change) {
            problems.report::<()>(error);
        }
    }
    let mut loader = Loader { published: request.published, ..Loader::new(search, found.folder.clone()) };
    loader.remember(Kind::Scenarios, found);
    let read = scenario::scenario(&document.root, &found.id, &mut problems, &mut loader);
    let mut all = problems.finish();
    all.append(&mut loader.mistakes);
    let (errors, warnings): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.severity == Severity::Error);
    match read {
        Some(scenario) if errors.is_empty() => {
            let root = document.root.place.clone();
            let longest_axis = longest_axis(&document.root, &scenario).unwrap_or_else(|| root.clone());
            let seed = request.seed.unwrap_or(scenario.seed);
            let mut keys = Vec::new();
            places(&document.root, "", &mut keys);
            let scenario = Scenario { seed, ..scenario };
            Ok(Loaded { scenario, inputs: loader.inputs, warnings, root, keys, longest_axis })
        }
        _ => Err(errors),
    }
}

/// What a catalog file describes.
#[derive(Clone, Debug)]
pub enum Entry {
    /// An accelerator.
    Device(Box<Device>),
    /// A target, a drafter or a head.
    Model(Box<Model>),
    /// An engine profile.
    Engine(Box<Engine>),
    /// A study.
    Scenario(Box<Scenario>),
}

/// Reads one file of the catalog by its id, or any file of a kind by its path.
///
/// # Errors
///
/// Every mistake of the file, and of those that a scenario names.
pub fn entry(search: &SearchPath, kind: Kind, reference: &str) -> Result<(Entry, Arc<Source>), Vec<Diagnostic>> {
    let found = search.find(kind, reference, None).map_err(|error| vec![error])?;
    let source = Arc::clone(&found.source);
    if kind == Kind::Scenarios {
        let loaded = load(search, &Request { scenario: reference, changes: &[], seed: None, published: false })?;
        return Ok((Entry::Scenario(Box::new(loaded.scenario)), source));
    }
    let mut loader = Loader::new(search, None);
    let read = match kind {
        Kind::Hardware => loader.read(kind, &found, hardware::device).map(Box::new).map(Entry::Device),
        Kind::Models => loader.read(kind, &found, model::model).map(Box::new).map(Entry::Model),
        Kind::Engines | Kind::Scenarios => loader.engine_in(&found).map(Box::new).map(Entry::Engine),
    };
    read.map(|entry| (entry, source)).ok_or(loader.mistakes)
}

/// What a reference that is a path holds, by the keys that only such files have; none for an id. A file with none
/// of them is read as a model, whose mistakes say the rest.
///
/// # Errors
///
/// Why the file cannot be read.
pub fn kind_at(search: &SearchPath, reference: &str) -> Result<Option<Kind>, Diagnostic> {
    if !leads_to_file(reference) {
        return Ok(None);
    }
    let found = search.find(Kind::Models, reference, None)?;
    let root = parse(&found.source).root;
    let own = [(Kind::Engines, "form"), (Kind::Hardware, "peak"), (Kind::Scenarios, "target")];
    let kind = own.into_iter().find(|(_, key)| root.get(key).is_some()).map_or(Kind::Models, |(kind, _)| kind);
    Ok(Some(kind))
}

/// The scenario as it was asked for. That it cannot be had is a fault of the input, not of the flags.
fn typed_scenario(reference: &str) -> Place {
    const FLAG: &str = "--scenario ";
    let text = format!("{FLAG}{reference}");
    let span = FLAG.len()..text.len();
    Place { source: Arc::new(Source { name: "<command line>".to_owned(), text, command_line: false }), span }
}

/// The numeric axes of a scenario with their lengths and the places that give them.
fn longest_axis(root: &Node, scenario: &Scenario) -> Option<Place> {
    let axes = &scenario.axes;
    let sweep = [("batch", axes.batch().len()), ("k", axes.k().len()), ("context", axes.context().len())];
    let swept = sweep.into_iter().map(|(key, length)| (length, root.at(&["sweep", key])));
    let alphas = scenario.drafters.iter().filter_map(|drafter| {
        let AcceptanceModel::Iid { alpha } = &drafter.acceptance.model else { return None };
        let own = root.at(&["drafters", &drafter.label, "acceptance", "iid", "alpha"]);
        Some((alpha.len(), own.or_else(|| root.at(&["acceptance", "iid", "alpha"]))))
    });
    let given = swept.chain(alphas).filter_map(|(length, node)| Some((length, node?)));
    given.max_by_key(|(length, _)| *length).map(|(_, node)| node.place.clone())
}

/// Reads the files that a scenario names.
pub(super) struct Loader<'c> {
    search: &'c SearchPath,
    /// Where the scenario lies, from which its relative paths start.
    folder: Option<PathBuf>,
    inputs: Vec<Input>,
    mistakes: Vec<Diagnostic>,
    /// Whether published acceptance serves drafters of which the scenario states none.
    published: bool,
}

impl<'c> Loader<'c> {
    pub(super) const fn new(search: &'c SearchPath, folder: Option<PathBuf>) -> Self {
        Self { search, folder, inputs: Vec::new(), mistakes: Vec::new(), published: false }
    }

    /// Whether published acceptance serves drafters of which the scenario states none.
    pub(super) const fn takes_published(&self) -> bool {
        self.published
    }

    /// The mistakes of every file that was read.
    pub(super) fn into_mistakes(self) -> Vec<Diagnostic> {
        self.mistakes
    }

    /// The device that a value names.
    pub(super) fn device(&mut self, node: &Node, problems: &mut Problems) -> Option<Device> {
        self.named(Kind::Hardware, node, problems, hardware::device)
    }

    /// The model that a value names.
    pub(super) fn model(&mut self, node: &Node, problems: &mut Problems) -> Option<Model> {
        self.named(Kind::Models, node, problems, model::model)
    }

    /// The engine that a value names.
    pub(super) fn engine(&mut self, node: &Node, problems: &mut Problems) -> Option<Engine> {
        let reference = text(node, problems)?;
        let beside = if node.place.source.command_line { None } else { self.folder.clone() };
        match self.search.find(Kind::Engines, &reference, beside.as_deref()) {
            Ok(found) => self.engine_in(&found),
            Err(error) => problems.report(error.at(&node.place)),
        }
    }

    /// The text of a recording that a value names by its path, from the scenario's folder on.
    pub(super) fn recording(&mut self, name: &str, node: &Node, problems: &mut Problems) -> Option<Arc<Source>> {
        self.named_file("rounds", name, node, problems)
    }

    /// The text of a trace of requests, likewise.
    pub(super) fn requests(&mut self, name: &str, node: &Node, problems: &mut Problems) -> Option<Arc<Source>> {
        self.named_file("requests", name, node, problems)
    }

    fn named_file(
        &mut self,
        kind: &'static str,
        name: &str,
        node: &Node,
        problems: &mut Problems,
    ) -> Option<Arc<Source>> {
        let beside = if node.place.source.command_line { None } else { self.folder.as_deref() };
        match recording(name, beside) {
            Ok(source) => {
                self.note(Input { kind, id: name.to_owned(), source: Arc::clone(&source) });
                Some(source)
            }
            Err(error) => problems.report(error.at(&node.place)),
        }
    }

    /// The engine of a scenario that names none.
    pub(super) fn default_engine(&mut self, problems: &mut Problems) -> Option<Engine> {
        match self.search.find(Kind::Engines, "ideal", None) {
            Ok(found) => self.engine_in(&found),
            Err(error) => problems.report(error),
        }
    }

    /// The engine of a file and of those it builds on.
    fn engine_in(&mut self, found: &Found) -> Option<Engine> {
        let (document, broken) = self.engine_tree(found, inherit::MOST_STEPS);
        let mut problems = Problems::of(&document);
        if let Some(found) = broken {
            // What would be inherited is not there, so that nothing can be said of it.
            problems.report::<()>(found);
            self.keep(problems.finish());
            return None;
        }
        let value = engine::engine(&document.root, &found.id, &mut problems);
        let mistakes = problems.finish();
        let sound = mistakes.iter().all(|one| one.severity == Severity::Warning);
        self.keep(mistakes);
        value.filter(|_| sound)
    }

    /// The tree of an engine's file over those of the files it builds on, and why that could not be had.
    fn engine_tree(&mut self, found: &Found, steps: usize) -> (Document, Option<Diagnostic>) {
        self.remember(Kind::Engines, found);
        let mut document = parse(&found.source);
        let Some(Node { value: Value::Text(reference), place, .. }) = document.root.get("extends").cloned() else {
            return (document, None);
        };
        if steps == 0 {
            let found = Diagnostic::error("conflict", "engines build on each other in a ring, or in too long a line");
            return (document, Some(found.at(&place).hint("build on a file that stands on its own")));
        }
        match self.search.find(Kind::Engines, &reference, found.folder.as_deref()) {
            Ok(base) => {
                let (base, broken) = self.engine_tree(&base, steps - 1);
                document.syntax.extend(base.syntax);
                document.root = inherit::over(base.root, document.root);
                (document, broken)
            }
            Err(error) => (document, Some(error.at(&place))),
        }
    }

    /// Notes mistakes, each once: two files may build on the same broken one.
    fn keep(&mut self, mistakes: Vec<Diagnostic>) {
        for mistake in mistakes {
            if !self.mistakes.contains(&mistake) {
                self.mistakes.push(mistake);
            }
        }
    }

    fn named<T>(
        &mut self,
        kind: Kind,
        node: &Node,
        problems: &mut Problems,
        read: fn(&Node, &str, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let reference = text(node, problems)?;
        let beside = if node.place.source.command_line { None } else { self.folder.as_deref() };
        match self.search.find(kind, &reference, beside) {
            Ok(found) => self.read(kind, &found, read),
            Err(error) => problems.report(error.at(&node.place)),
        }
    }

    fn read<T>(&mut self, kind: Kind, found: &Found, read: fn(&Node, &str, &mut Problems) -> Option<T>) -> Option<T> {
        let first_time = self.remember(kind, found);
        let document = parse(&found.source);
        let mut problems = Problems::of(&document);
        let value = read(&document.root, &found.id, &mut problems);
        let mistakes = problems.finish();
        let sound = mistakes.iter().all(|one| one.severity == Severity::Warning);
        if first_time {
            self.mistakes.extend(mistakes);
        }
        value.filter(|_| sound)
    }

    /// Notes an input; whether it is new.
    fn remember(&mut self, kind: Kind, found: &Found) -> bool {
        self.note(Input { kind: kind.as_str(), id: found.id.clone(), source: Arc::clone(&found.source) })
    }

    fn note(&mut self, input: Input) -> bool {
        let new = !self.inputs.contains(&input);
        if new {
            self.inputs.push(input);
        }
        new
    }
}
