//! How `validate` prices: the few keys of a scenario that hold for measurements of any deployment.

use std::sync::Arc;

use crate::catalog::check::NEEDED;
use crate::catalog::edit::{self, Assignment};
use crate::catalog::load::Loader;
use crate::catalog::lookup::SearchPath;
use crate::catalog::node::{Node, Value, parse};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::word;
use crate::diagnostic::{Diagnostic, Severity, Source};
use crate::domain::engine::{Engine, Profile};
use crate::words::{Roofline, Term};

/// How every measurement is priced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// In place of each measurement's own engine.
    pub engine: Option<Engine>,
    /// The roofline of an ideal engine.
    pub roofline: Option<Roofline>,
    /// Terms left out of the additive form.
    pub without: Vec<Term>,
}

/// Reads settings from the command line.
///
/// # Errors
///
/// Every mistake in them, and in the engine's file.
pub fn settings(search: &SearchPath, changes: &[Assignment]) -> Result<Settings, Vec<Diagnostic>> {
    let source = Source { name: "<command line>".to_owned(), text: String::new(), command_line: true };
    let mut document = parse(&Arc::new(source));
    let mut problems = Problems::of(&document);
    for change in changes {
        if let Err(error) = edit::apply(&mut document.root, change) {
            problems.report::<()>(error);
        }
    }
    let mut loader = Loader::new(search, None);
    let read = read(&document.root, &mut problems, &mut loader);
    let mut found = problems.finish();
    found.append(&mut loader.into_mistakes());
    found.retain(|one| one.severity == Severity::Error);
    match read {
        Some(settings) if found.is_empty() => Ok(settings),
        _ => Err(found),
    }
}

fn read(root: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Settings> {
    let mut fields = Fields::open(root, &Keys::all(&["engine", "roofline", "without"]), problems)?;
    let engine = fields.optional("engine", |node, problems| loader.engine(node, problems));
    let roofline = fields.optional("roofline", word::<Roofline>);
    let without = fields.optional("without", |node, problems| match &node.value {
        Value::List(items) if items.is_empty() => Some(Vec::new()),
        _ => one_or_many(node, problems, word::<Term>),
    });
    let settings = Settings { engine: engine?, roofline: roofline?, without: without?.unwrap_or_default() };
    let ideal = settings.engine.as_ref().map(|engine| engine.profile == Profile::Ideal);
    let (message, hint) = match (settings.roofline, ideal) {
        (Some(Roofline::Aggregate | Roofline::PerOp), None | Some(false)) => (
            "only an ideal engine prices with that roofline",
            "add --engine ideal, which then stands in for every engine",
        ),
        _ if ideal == Some(true) && !settings.without.is_empty() => {
            ("an ideal engine has no terms to leave out", "drop `without`, or name another engine")
        }
        _ if NEEDED.iter().all(|term| settings.without.contains(term)) => {
            ("without products, weights and arithmetic a pass costs nothing", "keep one of them")
        }
        (Some(Roofline::Additive), Some(true)) => ("an ideal engine has no terms to add", "leave one of them out"),
        _ => return Some(settings),
    };
    let place = root.get("roofline").or_else(|| root.get("without")).map_or(&root.place, |node| &node.place);
    problems.report(Diagnostic::error("conflict", message).at(place).hint(hint))
}
