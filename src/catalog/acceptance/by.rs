//! Acceptance by context and by workload.

use crate::catalog::acceptance::{Context, Own, acceptance};
use crate::catalog::load::Loader;
use crate::catalog::node::{Entry, Node, Value};
use crate::catalog::reader::{Fields, Problems};
use crate::catalog::values::{LARGEST_INTEGER, number, probability};
use crate::catalog::workloads::Read;
use crate::diagnostic::{Diagnostic, nearest};
use crate::domain::acceptance::{Acceptance, AcceptanceModel, AtContext, Length, OfWorkload};
use crate::domain::axis::Axis;
use crate::domain::beta::Beta;
use crate::domain::provenance::Provenance;

/// Whether a model stands for several processes.
pub(super) fn is_axis(model: &AcceptanceModel) -> bool {
    match model {
        AcceptanceModel::Iid { alpha } => alpha.len() > 1,
        AcceptanceModel::PerPosition(curves) => curves.len() > 1,
        _ => false,
    }
}

pub(super) fn no_axis(node: &Node) -> Diagnostic {
    let found = Diagnostic::error("bad-axis", format!("`{}` has several values where one is due", node.path));
    found.at(&node.place).hint("acceptance by workload or by context is no axis: give one value, or one study for each")
}

/// `{ "4096" = 2.04, "16384" = { iid = { alpha = 0.3 } } }`: a figure in place of the kind's own, or another kind.
pub(super) fn contexts(
    node: &Node,
    problems: &mut Problems,
    short: &AcceptanceModel,
    loader: &mut Loader<'_>,
) -> Option<Vec<AtContext>> {
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, "a table such as { \"4096\" = 2.04, \"16384\" = 1.5 }");
    };
    if is_axis(short) {
        return problems.report(no_axis(node));
    }
    if entries.is_empty() {
        let found = Diagnostic::error("empty-axis", format!("`{}` is empty", node.path)).at(&node.place);
        return problems.report(found.hint("list at least one context, or leave it out"));
    }
    let read: Vec<Option<AtContext>> = entries.iter().map(|entry| at_context(entry, problems, short, loader)).collect();
    let mut all: Vec<AtContext> = read.into_iter().collect::<Option<_>>()?;
    all.sort_by_key(|at| at.context);
    match all.windows(2).find(|pair| pair[0].context == pair[1].context) {
        Some(pair) => {
            let message = format!("`{}` gives context {} twice", node.path, pair[0].context);
            problems.report(Diagnostic::error("bad-axis", message).at(&node.place).hint("give each context once"))
        }
        None => Some(all),
    }
}

fn at_context(
    entry: &Entry,
    problems: &mut Problems,
    short: &AcceptanceModel,
    loader: &mut Loader<'_>,
) -> Option<AtContext> {
    let model = match &entry.node.value {
        Value::Table(_) => {
            not_inside(&entry.node, &["by_context", "provenance"], problems);
            acceptance(&entry.node, problems, loader, Context::OneOfMany).map(|inner| inner.model)
        }
        _ => with_figure(short, &entry.node, problems),
    };
    let Some(context) = entry.key.parse::<u64>().ok().filter(|context| (1..=LARGEST_INTEGER).contains(context)) else {
        let found = Diagnostic::error("out-of-range", format!("`{}` is no context above 0", entry.node.path));
        let hint = "write tokens in the cache as a quoted whole number, such as \"4096\"; the kind beside holds at 0";
        return problems.report(found.at(&entry.key_place).hint(hint));
    };
    Some(AtContext { context, model: model? })
}

/// The same kind with another value of its one figure.
fn with_figure(short: &AcceptanceModel, node: &Node, problems: &mut Problems) -> Option<AcceptanceModel> {
    let refuse = |problems: &mut Problems, error: &dyn std::fmt::Display| {
        let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
        problems.report::<AcceptanceModel>(found)
    };
    match short {
        AcceptanceModel::Iid { .. } => Some(AcceptanceModel::Iid { alpha: Axis::single(probability(node, problems)?) }),
        AcceptanceModel::Rate { k, .. } => Some(AcceptanceModel::Rate { k: *k, value: probability(node, problems)? }),
        AcceptanceModel::MeanLength(at) => match Length::new(at.k(), number(node, problems, 1.0)?) {
            Ok(at) => Some(AcceptanceModel::MeanLength(at)),
            Err(error) => refuse(problems, &error),
        },
        AcceptanceModel::Beta { beta, scope } => {
            match Beta::with_mean(probability(node, problems)?, beta.concentration()) {
                Ok(beta) => Some(AcceptanceModel::Beta { beta, scope: *scope }),
                Err(error) => refuse(problems, &error),
            }
        }
        other => {
            let message = format!("`{}` is a number, and {} has more than one figure", node.path, other.kind());
            let hint = "write the whole kind there, such as { per_position = { cumulative = [0.6, 0.3] } }";
            problems.report(Diagnostic::error("wrong-type", message).at(&node.place).hint(hint))
        }
    }
}

/// What a service accepts: that of each workload where some have one of their own, else what holds for all.
///
/// A workload's own is found under `by_workload` of the drafter, then in the workload; the others take the drafter's.
pub(super) fn of_service(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    workloads: &[Read],
    own: Option<Option<Own>>,
    provenance: &Provenance,
) -> Option<Own> {
    let by_workload = match node.get("by_workload") {
        Some(node) => labelled(node, problems, loader, workloads),
        None => Some(vec![None; workloads.len()]),
    };
    let (own, by_workload) = (own?, by_workload?);
    let each: Vec<Option<&Acceptance>> =
        workloads.iter().zip(&by_workload).map(|((_, of), by)| by.as_ref().or(of.as_ref())).collect();
    if each.iter().all(Option::is_none) {
        return own;
    }
    let rest = own.map(|(model, by_context)| Acceptance {
        by_context,
        provenance: provenance.clone(),
        ..Acceptance::of(model)
    });
    if let Some((at, _)) = workloads.iter().zip(&each).find(|(_, each)| each.is_none() && rest.is_none()) {
        let message = format!("`{}` says nothing of workload `{}`", node.path, at.0.label);
        let hint = "add it to by_workload, or a kind for the others beside";
        return problems.report(Diagnostic::error("missing-key", message).at(&node.place).hint(hint));
    }
    if rest.as_ref().is_some_and(|rest| is_axis(&rest.model)) {
        return problems.report(no_axis(node));
    }
    let part = |((workload, _), each): (&Read, Option<&Acceptance>)| {
        let acceptance = each.or(rest.as_ref())?.clone();
        Some(OfWorkload { label: workload.label.clone(), tokens: workload.tokens(), acceptance })
    };
    let parts: Option<Vec<OfWorkload>> = workloads.iter().zip(each).map(part).collect();
    Some((AcceptanceModel::Workloads(parts?), Vec::new()))
}

/// `{ chat = { iid = { alpha = 0.7 } }, code = { … } }`
fn labelled(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    workloads: &[Read],
) -> Option<Vec<Option<Acceptance>>> {
    let mut fields = Fields::of_labels(node, problems)?;
    let mut read =
        |label: &str| fields.optional(label, |node, problems| acceptance(node, problems, loader, Context::OneOfMany));
    let read: Vec<Option<Option<Acceptance>>> = workloads.iter().map(|(workload, _)| read(&workload.label)).collect();
    let known = unknown(node, workloads, problems);
    read.into_iter().collect::<Option<_>>().filter(|_| known)
}

/// Whether every label is one of a workload.
fn unknown(node: &Node, workloads: &[Read], problems: &mut Problems) -> bool {
    let labels = || workloads.iter().map(|(workload, _)| workload.label.as_str());
    let mut known = true;
    for entry in node.entries().unwrap_or_default() {
        if !labels().any(|label| label == entry.key) {
            let found = Diagnostic::error("unknown-key", format!("no workload is called `{}`", entry.key));
            let hint = match nearest(&entry.key, labels()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if workloads.is_empty() => {
                    "add [workloads.<label>] tables with their share of requests".to_owned()
                }
                None => format!("the scenario has: {}", labels().collect::<Vec<_>>().join(", ")),
            };
            problems.report::<()>(found.at(&entry.key_place).hint(hint));
            known = false;
        }
    }
    known
}

/// Refuses keys that an acceptance inside another one cannot have.
pub(super) fn not_inside(node: &Node, keys: &[&str], problems: &mut Problems) {
    for extra in keys.iter().filter_map(|key| node.get(key)) {
        let found = Diagnostic::error("conflict", format!("`{}` belongs to the whole acceptance", extra.path));
        problems.report::<()>(found.at(&extra.place).hint("leave it out here"));
    }
}
