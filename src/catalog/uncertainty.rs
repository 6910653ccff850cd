//! `[uncertainty]` into [`Uncertainty`].

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems};
use crate::catalog::values::{integer, number};
use crate::diagnostic::Diagnostic;
use crate::domain::uncertainty::Uncertainty;

/// More draws say no more.
const MOST_SAMPLES: u64 = 100_000;
/// Fewer say nothing of one in twenty.
const LEAST_SAMPLES: u64 = 100;
/// A factor beyond which nothing is known of acceptance at all.
const LARGEST: f64 = 10.0;

/// Reads the section.
pub(super) fn uncertainty(node: &Node, problems: &mut Problems) -> Option<Uncertainty> {
    let mut fields = Fields::open(node, &Keys::all(&["samples", "acceptance"]), problems)?;
    let samples = fields.optional("samples", |node, problems| integer(node, problems, LEAST_SAMPLES, MOST_SAMPLES));
    let acceptance = fields.optional("acceptance", |node, problems| {
        let share = number(node, problems, 0.0)?;
        if share <= LARGEST {
            return Some(share);
        }
        let found = Diagnostic::error("out-of-range", format!("`{}` is above {LARGEST}", node.path)).at(&node.place);
        problems.report(found.hint("0.15 for accepted drafts between 1/1.15 and 1.15 times what is stated"))
    });
    let by_default = Uncertainty::default();
    Some(Uncertainty {
        samples: samples?.unwrap_or(by_default.samples),
        acceptance: acceptance?.unwrap_or(by_default.acceptance),
    })
}
