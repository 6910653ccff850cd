//! `acceptance.<kind>` tables into an [`Acceptance`].

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, text};
use crate::catalog::values::{number, probability_axis};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Provenance};
use crate::domain::axis::Axis;
use crate::units::Probability;
use crate::words::{AcceptanceKind, Word};

const KEYS: Keys = Keys {
    known: &["iid", "provenance"],
    later: &[
        "per_position",
        "mean_length",
        "rate",
        "by_k",
        "counts",
        "beta",
        "markov",
        "trace",
        "metrics",
        "ranks",
        "proposing_share",
        "by_context",
    ],
};

/// Reads an acceptance.
pub(super) fn acceptance(node: &Node, problems: &mut Problems) -> Option<Acceptance> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let iid = fields.optional("iid", iid);
    let provenance = fields.optional("provenance", provenance);
    hint_at_rate(node, problems);
    let kinds: Vec<&str> = AcceptanceKind::ALL.iter().map(|kind| kind.as_str()).collect();
    match kind_key(node, &kinds, problems)? {
        KindKey::One("iid") => Some(Acceptance {
            model: AcceptanceModel::Iid { alpha: iid?? },
            provenance: provenance?.unwrap_or_default(),
        }),
        // Refused by `Fields::open` already.
        KindKey::One(_) => None,
        KindKey::Absent => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&node.place);
            problems.report(found.hint("such as iid = { alpha = [0.6, 0.8] }"))
        }
    }
}

fn iid(node: &Node, problems: &mut Problems) -> Option<Axis<Probability>> {
    Fields::open(node, &Keys::all(&["alpha"]), problems)?.required("alpha", probability_axis)
}

fn provenance(node: &Node, problems: &mut Problems) -> Option<Provenance> {
    let mut fields = Fields::open(node, &Keys::all(&["dataset", "temperature", "engine", "note"]), problems)?;
    let dataset = fields.optional("dataset", text);
    let temperature = fields.optional("temperature", |node, problems| number(node, problems, 0.0));
    let engine = fields.optional("engine", text);
    let note = fields.optional("note", text);
    Some(Provenance { dataset: dataset?, temperature: temperature?, engine: engine?, note: note? })
}

/// Figures read off an engine are rates, accepted over drafted: easily taken for alpha.
fn hint_at_rate(node: &Node, problems: &mut Problems) {
    let (Some(alpha), Some(_)) = (node.at(&["iid", "alpha"]), node.at(&["provenance", "engine"])) else { return };
    let message = format!("`{}` is said to come from an engine, but no engine prints it", alpha.path);
    let hint = "alpha is the chance given that all drafts before were accepted; a printed rate is accepted over drafted, \
                lower for k > 1: alpha 0.8 prints as 0.59 at k = 4";
    problems.report::<()>(Diagnostic::error("alpha-or-rate", message).as_warning().at(&alpha.place).hint(hint));
}
