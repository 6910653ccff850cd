//! `acceptance.<kind>` tables into an [`Acceptance`].

mod by;
mod measured;
mod metrics;
mod varied;

use crate::catalog::load::Loader;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, one_or_many, text};
use crate::catalog::values::{number, probability};
use crate::catalog::workloads;
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, AtContext, ReadOff};
use crate::domain::provenance::{Provenance, Spread};
use crate::words::{AcceptanceKind, Word};

const KEYS: Keys = Keys {
    known: &[
        "iid",
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
        "by_workload",
        "by_context",
        "proposing_share",
        "spread",
        "provenance",
    ],
};
/// Where an acceptance stands.
#[derive(Clone, Copy)]
pub(super) enum Context<'a> {
    /// A drafter's or a scenario's, with the workloads of the study.
    Whole(&'a [workloads::Read]),
    /// The same, where the workloads have mistakes of their own and nothing can be said of them.
    Unread,
    /// That of one workload, or of one context: a single process.
    OneOfMany,
}

/// Reads an acceptance.
pub(super) fn acceptance(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    context: Context<'_>,
) -> Option<Acceptance> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let proposing_share = fields.optional("proposing_share", probability);
    let provenance = fields.optional("provenance", provenance);
    let spread = fields.optional("spread", spread);
    hint_at_rate(node, problems);
    let mut read_off = None;
    let own = own(node, problems, loader, context, &mut read_off);
    let (from, read_off) = read_off.unzip();
    let provenance = provenance?.or(from).unwrap_or_default();
    let model = match context {
        Context::Whole(workloads) => by::of_service(node, problems, loader, workloads, own, &provenance),
        Context::Unread => own?,
        Context::OneOfMany => {
            by::not_inside(node, &["proposing_share", "spread", "by_workload"], problems);
            own?
        }
    }?;
    let (model, by_context) = model;
    Some(Acceptance { model, by_context, proposing_share: proposing_share?, provenance, read_off, spread: spread? })
}

/// Where an acceptance was read off, and what it says beside the model.
type Read = Option<(Provenance, ReadOff)>;

/// The kind that an acceptance has, and what it is at longer contexts; nothing in it is `Some(None)`.
type Own = (AcceptanceModel, Vec<AtContext>);

fn own(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    context: Context<'_>,
    read: &mut Read,
) -> Option<Option<Own>> {
    let kinds: Vec<&str> = AcceptanceKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let (kind, inner) = match kind_key(node, &kinds, problems)? {
        KindKey::One(kind) => (kind, node.get(kind)?),
        KindKey::Absent if node.get("by_workload").is_some() && node.get("by_context").is_none() => return Some(None),
        KindKey::Absent => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&node.place);
            return problems
                .report(found.hint("such as iid = { alpha = [0.6, 0.8] }, or mean_length = { tokens = 2.3, k = 3 }"));
        }
    };
    let model = if kind == AcceptanceKind::Metrics.as_str() {
        let (model, from, of) = metrics::metrics(inner, problems, loader)?;
        *read = Some((from, of));
        model
    } else {
        model(kind, inner, problems, loader)?
    };
    if matches!(context, Context::OneOfMany) && by::is_axis(&model) {
        return problems.report(by::no_axis(inner));
    }
    let by_context = match node.get("by_context") {
        Some(node) => by::contexts(node, problems, &model, loader)?,
        None => Vec::new(),
    };
    Some(Some((model, by_context)))
}

fn model(kind: &str, node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<AcceptanceModel> {
    match kind {
        "per_position" => measured::curves(node, problems).map(AcceptanceModel::PerPosition),
        "mean_length" => measured::mean_length(node, problems).map(AcceptanceModel::MeanLength),
        "rate" => measured::rate(node, problems),
        "by_k" => measured::by_k(node, problems).map(AcceptanceModel::ByK),
        "counts" => measured::counts(node, problems).map(AcceptanceModel::Counts),
        "beta" => varied::beta(node, problems),
        "markov" => varied::markov(node, problems).map(AcceptanceModel::Markov),
        "trace" => varied::trace(node, problems, loader).map(AcceptanceModel::Trace),
        "ranks" => varied::ranks(node, problems).map(AcceptanceModel::Ranks),
        "iid" => measured::iid(node, problems).map(|alpha| AcceptanceModel::Iid { alpha }),
        // Of a kind that is still to come: refused by `Fields::open`.
        _ => None,
    }
}

fn provenance(node: &Node, problems: &mut Problems) -> Option<Provenance> {
    let mut fields = Fields::open(node, &Keys::all(&["dataset", "temperature", "engine", "note"]), problems)?;
    let dataset = fields.optional("dataset", text);
    let temperature = fields.optional("temperature", |node, problems| number(node, problems, 0.0));
    let engine = fields.optional("engine", text);
    let note = fields.optional("note", text);
    Some(Provenance { dataset: dataset?, temperature: temperature?, engine: engine?, note: note?, is_published: false })
}

/// How far accepted drafts may be from what is stated: two factors.
fn spread(node: &Node, problems: &mut Problems) -> Option<Spread> {
    let both = one_or_many(node, problems, |node, problems| number(node, problems, 0.0))?;
    let error = match both[..] {
        [low, high] => match Spread::new(low, high) {
            Ok(spread) => return Some(spread),
            Err(error) => error.to_string(),
        },
        _ => "two factors are due".to_owned(),
    };
    let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
    problems.report(found.hint("accepted drafts over what is stated, nine in ten between, such as [0.8, 1.15]"))
}

/// Figures read off an engine are rates, accepted over drafted: easily taken for alpha.
fn hint_at_rate(node: &Node, problems: &mut Problems) {
    let (Some(alpha), Some(_)) = (node.at(&["iid", "alpha"]), node.at(&["provenance", "engine"])) else { return };
    let message = format!("`{}` is said to come from an engine, but no engine prints it", alpha.path);
    let hint = "alpha is the chance given that all drafts before were accepted; a printed rate is accepted over drafted, \
                lower for k > 1: alpha 0.8 prints as 0.59 at k = 4";
    problems.report::<()>(Diagnostic::error("alpha-or-rate", message).as_warning().at(&alpha.place).hint(hint));
}
