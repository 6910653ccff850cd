//! `acceptance.<kind>` tables into an [`Acceptance`].

use crate::catalog::node::{Entry, Node, Value};
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, one_or_many, text};
use crate::catalog::scenario::LARGEST_K;
use crate::catalog::values::{integer, number, probability, probability_axis};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Curve, Length, NotACurve, Provenance};
use crate::domain::axis::Axis;
use crate::units::Probability;
use crate::words::{AcceptanceKind, Word};

const KEYS: Keys = Keys {
    known: &["iid", "per_position", "mean_length", "rate", "by_k", "proposing_share", "provenance"],
    later: &["counts", "beta", "markov", "trace", "metrics", "ranks", "by_context"],
};
const KINDS: [AcceptanceKind; 5] = [
    AcceptanceKind::Iid,
    AcceptanceKind::PerPosition,
    AcceptanceKind::MeanLength,
    AcceptanceKind::Rate,
    AcceptanceKind::ByK,
];

/// Reads an acceptance.
pub(super) fn acceptance(node: &Node, problems: &mut Problems) -> Option<Acceptance> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let models: Vec<Option<Option<AcceptanceModel>>> = KINDS
        .iter()
        .map(|kind| fields.optional(kind.as_str(), |node, problems| model(*kind, node, problems)))
        .collect();
    let proposing_share = fields.optional("proposing_share", probability);
    let provenance = fields.optional("provenance", provenance);
    hint_at_rate(node, problems);
    let kinds: Vec<&str> = AcceptanceKind::ALL.iter().map(|kind| kind.as_str()).collect();
    match kind_key(node, &kinds, problems)? {
        KindKey::One(_) => {
            // One of a kind that is still to come has been refused by `Fields::open`.
            let model = models.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().next();
            Some(Acceptance {
                model: model?,
                proposing_share: proposing_share?,
                provenance: provenance?.unwrap_or_default(),
            })
        }
        KindKey::Absent => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&node.place);
            problems
                .report(found.hint("such as iid = { alpha = [0.6, 0.8] }, or mean_length = { tokens = 2.3, k = 3 }"))
        }
    }
}

fn model(kind: AcceptanceKind, node: &Node, problems: &mut Problems) -> Option<AcceptanceModel> {
    match kind {
        AcceptanceKind::PerPosition => curves(node, problems).map(AcceptanceModel::PerPosition),
        AcceptanceKind::MeanLength => mean_length(node, problems).map(AcceptanceModel::MeanLength),
        AcceptanceKind::Rate => rate(node, problems),
        AcceptanceKind::ByK => by_k(node, problems).map(AcceptanceModel::ByK),
        _ => iid(node, problems).map(|alpha| AcceptanceModel::Iid { alpha }),
    }
}

fn iid(node: &Node, problems: &mut Problems) -> Option<Axis<Probability>> {
    Fields::open(node, &Keys::all(&["alpha"]), problems)?.required("alpha", probability_axis)
}

/// One curve, or a list of curves; cumulative or conditional.
fn curves(node: &Node, problems: &mut Problems) -> Option<Vec<Curve>> {
    let mut fields = Fields::open(node, &Keys::all(&["cumulative", "conditional"]), problems)?;
    let cumulative = fields.optional("cumulative", |node, problems| several(node, problems, Curve::cumulative));
    let conditional = fields.optional("conditional", |node, problems| several(node, problems, Curve::conditional));
    match (cumulative?, conditional?) {
        (Some(curves), None) | (None, Some(curves)) => Some(curves),
        (Some(_), Some(_)) => {
            let found = Diagnostic::error("conflict", format!("`{}` has both forms", node.path)).at(&node.place);
            problems.report(found.hint("keep `cumulative` or `conditional`"))
        }
        (None, None) => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no shares", node.path)).at(&node.place);
            problems.report(found.hint(
                "cumulative = [0.8, 0.6]: of all rounds, those that accept at least i drafts (vLLM prints these); \
                 conditional = [0.8, 0.75]: of those that accept i - 1 drafts, those that accept the i-th",
            ))
        }
    }
}

fn several(
    node: &Node,
    problems: &mut Problems,
    make: fn(&[Probability]) -> Result<Curve, NotACurve>,
) -> Option<Vec<Curve>> {
    let nested =
        matches!(&node.value, Value::List(items) if items.iter().any(|item| matches!(item.value, Value::List(_))));
    let one = |node: &Node, problems: &mut Problems| {
        let shares = one_or_many(node, problems, probability)?;
        match make(&shares) {
            Ok(curve) => Some(curve),
            Err(error) => {
                let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
                problems.report(found.hint("chances given that all before were accepted are `conditional`"))
            }
        }
    };
    if nested { one_or_many(node, problems, one) } else { one(node, problems).map(|curve| vec![curve]) }
}

/// The draft length that a figure was measured at.
fn measured_k(node: &Node, problems: &mut Problems) -> Option<u64> {
    integer(node, problems, 1, LARGEST_K)
}

fn mean_length(node: &Node, problems: &mut Problems) -> Option<Length> {
    let mut fields = Fields::open(node, &Keys::all(&["tokens", "k"]), problems)?;
    let tokens = fields.required("tokens", |node, problems| number(node, problems, 1.0));
    let k = fields.required("k", measured_k);
    length(k?, tokens?, node, problems)
}

fn length(k: u64, tokens: f64, node: &Node, problems: &mut Problems) -> Option<Length> {
    match Length::new(k, tokens) {
        Ok(length) => Some(length),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems
                .report(found.hint("vLLM's mean acceptance length and SGLang's accept length count the bonus token"))
        }
    }
}

fn rate(node: &Node, problems: &mut Problems) -> Option<AcceptanceModel> {
    let mut fields = Fields::open(node, &Keys::all(&["value", "k"]), problems)?;
    let value = fields.required("value", probability);
    let k = fields.required("k", measured_k);
    Some(AcceptanceModel::Rate { k: k?, value: value? })
}

/// `{ "1" = 1.66, "3" = 2.25 }`
fn by_k(node: &Node, problems: &mut Problems) -> Option<Vec<Length>> {
    const EXAMPLE: &str = "such as { \"1\" = 1.66, \"3\" = 2.25 }: tokens per pass by k";
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, &format!("a table {EXAMPLE}"));
    };
    if entries.is_empty() {
        let found = Diagnostic::error("empty-axis", format!("`{}` is empty", node.path)).at(&node.place);
        return problems.report(found.hint(EXAMPLE));
    }
    let one = |entry: &Entry| {
        let tokens = number(&entry.node, problems, 1.0);
        let Some(k) = entry.key.parse::<u64>().ok().filter(|k| (1..=LARGEST_K).contains(k)) else {
            let found = Diagnostic::error("out-of-range", format!("`{}` is no draft length", entry.node.path));
            return problems.report(found.at(&entry.key_place).hint("write k as a quoted whole number, such as \"3\""));
        };
        length(k, tokens?, &entry.node, problems)
    };
    let read: Vec<Option<Length>> = entries.iter().map(one).collect();
    let mut lengths: Vec<Length> = read.into_iter().collect::<Option<_>>()?;
    lengths.sort_by_key(Length::k);
    match lengths.windows(2).find(|pair| pair[0].k() == pair[1].k()) {
        Some(pair) => {
            let message = format!("`{}` gives k = {} twice", node.path, pair[0].k());
            problems.report(Diagnostic::error("bad-axis", message).at(&node.place).hint("give each k once"))
        }
        None => Some(lengths),
    }
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
