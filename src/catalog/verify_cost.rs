//! `[verify_cost]` into a [`VerifyCost`].

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, lists, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, integer, number, quantity};
use crate::diagnostic::Diagnostic;
use crate::domain::verify_cost::VerifyCost;
use crate::units::Seconds;

/// Shorter times, and longer ones, are in another unit.
const LEAST: f64 = 2e-5;
const MOST: f64 = 5.0;

/// Reads the section.
pub(super) fn verify_cost(node: &Node, problems: &mut Problems) -> Option<VerifyCost> {
    let mut fields = Fields::open(node, &Keys::all(&["batch", "width", "context", "seconds", "source"]), problems)?;
    let batches = fields.required("batch", numbers);
    let widths = fields.required("width", numbers);
    let context = fields.required("context", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    let seconds = fields.required("seconds", |node, problems| {
        let row = |node: &Node, problems: &mut Problems| one_or_many(node, problems, time);
        lists(node, problems, "a list of times for each batch", row)
    });
    let source = fields.optional("source", text);
    let source = source?.unwrap_or_else(|| "source not stated".to_owned());
    match VerifyCost::new(batches?, widths?, seconds?, context? as f64, source) {
        Ok(table) => Some(table),
        Err(error) => {
            let found = Diagnostic::error("bad-table", format!("`{}`: {error}", node.path)).at(&node.place);
            let hint = "such as batch = [1, 8], width = [1, 4], seconds = [[\"8.1 ms\", \"8.9 ms\"], [\"8.3 ms\", \"9.8 ms\"]]";
            problems.report(found.hint(hint))
        }
    }
}

/// A time that a verification can take; another is in another unit.
fn time(node: &Node, problems: &mut Problems) -> Option<Seconds> {
    let time = quantity::<Seconds>(node, problems, 0.0)?;
    if (LEAST..=MOST).contains(&time.get()) {
        return Some(time);
    }
    let found = Diagnostic::error("out-of-range", format!("`{}`: no verification takes {time}", node.path));
    problems.report(found.at(&node.place).hint("a bare number is in seconds; write \"8.1 ms\""))
}

fn numbers(node: &Node, problems: &mut Problems) -> Option<Vec<f64>> {
    one_or_many(node, problems, |node, problems| number(node, problems, 1.0))
}
