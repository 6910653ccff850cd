//! What of a drafter goes together: its source, its tree and its acceptance.

use crate::catalog::node::Node;
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel};
use crate::domain::drafter::DraftSource;
use crate::domain::ranks::Ranks;
use crate::domain::shape::TreeShape;

/// What a tree cannot be combined with, and what a chain's acceptance does not say of it.
pub(super) fn wrong_together(
    source: &DraftSource,
    tree: Option<&TreeShape>,
    acceptance: &Acceptance,
    node: &Node,
) -> Option<Diagnostic> {
    let place = |key: &str| node.get(key).unwrap_or(node).place.clone();
    if acceptance.proposing_share.is_some() && !source.looks_up() {
        let message =
            format!("`{}` always proposes: only n-gram and suffix drafters have a proposing_share", node.path);
        return Some(Diagnostic::error("conflict", message).at(&place("acceptance")).hint("leave it out"));
    }
    if let Some(found) = impossible_share(acceptance, node) {
        return Some(found);
    }
    let tree = tree?;
    if !source.branches() {
        let message = format!("`{}` drafts no tree: {} has no draft passes to branch in", node.path, source.kind());
        return Some(Diagnostic::error("conflict", message).at(&place("shape")).hint("leave `shape` out"));
    }
    let steps = tree.depth();
    let found = acceptance.models().into_iter().find_map(|model| no_tree(model, steps, node))?;
    Some(found.at(&place("acceptance")))
}

/// Why a model does not say what a tree of some depth accepts; none if it does.
fn no_tree(model: &AcceptanceModel, steps: u64, node: &Node) -> Option<Diagnostic> {
    let hint = format!(
        "give the tokens per pass measured with it: acceptance.mean_length = {{ tokens = 2.9, k = {steps} }}, or how often \
         each candidate is accepted: acceptance.ranks"
    );
    let message = match model {
        AcceptanceModel::MeanLength(length) if length.k() == steps => return None,
        AcceptanceModel::ByK(lengths) if lengths.iter().any(|length| length.k() == steps) => return None,
        AcceptanceModel::Ranks(ranks) => {
            let deepest = ranks.deepest().filter(|deepest| (*deepest as u64) < steps)?;
            format!("`{}`: the tree is {steps} deep, and acceptance is known {deepest} deep", node.path)
        }
        AcceptanceModel::MeanLength(length) => {
            let k = length.k();
            format!("`{}`: tokens per pass of k = {k} say nothing of a tree of {steps} steps", node.path)
        }
        _ => format!("`{}`: what a chain accepts does not say what this tree does", node.path),
    };
    Some(Diagnostic::error("conflict", message).hint(hint))
}

/// Warns of nodes whose rank no acceptance knows.
pub(super) fn unknown_ranks(tree: Option<&TreeShape>, acceptance: &Acceptance, node: &Node) -> Option<Diagnostic> {
    let Some(TreeShape::Drawn(tree)) = tree else { return None };
    let unknown = |ranks: &Ranks| tree.iter().skip(1).find(|(_, rank, level)| *rank > ranks.on(*level).len());
    let (_, rank, level) = acceptance.models().into_iter().find_map(|model| match model {
        AcceptanceModel::Ranks(ranks) => unknown(ranks),
        _ => None,
    })?;
    let message = format!(
        "`{}`: the tree drafts candidate {rank} of a position on level {level}, and how often it is accepted is not known",
        node.path
    );
    let place = node.get("shape").unwrap_or(node).place.clone();
    let found = Diagnostic::error("unknown-rank", message).as_warning().at(&place);
    Some(found.hint("it counts as never accepted; add it to acceptance.ranks"))
}

/// More accepted drafts than the share that proposes can have drafted.
fn impossible_share(acceptance: &Acceptance, node: &Node) -> Option<Diagnostic> {
    let share = acceptance.proposing_share?.get();
    let of = |model: &AcceptanceModel| match model {
        AcceptanceModel::MeanLength(at) => vec![(at.k(), at.tokens())],
        AcceptanceModel::ByK(lengths) => lengths.iter().map(|at| (at.k(), at.tokens())).collect(),
        AcceptanceModel::Rate { k, value } => vec![(*k, 1.0 + *k as f64 * value.get())],
        _ => Vec::new(),
    };
    let most = |k: u64| 1.0 + share * k as f64;
    let measured = acceptance.models().into_iter().flat_map(of);
    let (k, tokens) = measured.into_iter().find(|(k, tokens)| *tokens > most(*k))?;
    let message =
        format!("`{}`: {tokens} tokens per pass at k = {k}, where {share} of the sequences propose", node.path);
    let place = node.at(&["acceptance"]).unwrap_or(node).place.clone();
    let hint = format!("at most {} can come out: 1 + share x k", most(k));
    Some(Diagnostic::error("conflict", message).at(&place).hint(hint))
}
