//! `[workloads.<label>]` into [`Workload`]s and the acceptance of the service they make.

use crate::catalog::acceptance::{Context, acceptance};
use crate::catalog::load::Loader;
use crate::catalog::lookup::is_id;
use crate::catalog::node::{Entry, Node};
use crate::catalog::reader::{Fields, Keys, Problems};
use crate::catalog::traffic::length;
use crate::catalog::values::probability;
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, OfWorkload};
use crate::domain::traffic::Length;
use crate::domain::workload::Workload;
use crate::units::Probability;

const KEYS: Keys = Keys::all(&["share", "prompt", "output", "prefix_hit", "acceptance"]);
/// Shares may be rounded to so much of the whole.
const SLACK: f64 = 1e-6;

/// A workload, with its acceptance if it has one of its own.
pub(super) type Read = (Workload, Option<Acceptance>);

/// Reads the workloads.
pub(super) fn workloads(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Vec<Read>> {
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, "a table with one table for each workload");
    };
    let read: Vec<Option<Read>> = entries.iter().map(|entry| workload(entry, problems, loader)).collect();
    let read: Vec<Read> = read.into_iter().collect::<Option<_>>()?;
    check(node, &read, problems);
    Some(read)
}

/// What drafters without an acceptance of their own share, where every workload has one.
pub(super) fn together(workloads: &[Read]) -> Option<Acceptance> {
    let part = |(workload, own): &Read| {
        Some(OfWorkload { label: workload.label.clone(), tokens: workload.tokens(), acceptance: own.clone()? })
    };
    let parts: Vec<OfWorkload> = workloads.iter().map(part).collect::<Option<_>>()?;
    (!parts.is_empty()).then(|| Acceptance::of(AcceptanceModel::Workloads(parts)))
}

fn workload(entry: &Entry, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Read> {
    if !is_id(&entry.key) {
        let found = Diagnostic::error("bad-id", format!("`{}` is no workload label", entry.key)).at(&entry.key_place);
        problems.report::<()>(found.hint("a label has letters, digits, `-`, `_` and `.`, a letter or digit first"));
    }
    let mut fields = Fields::open(&entry.node, &KEYS, problems)?;
    let share = fields.required("share", probability);
    let prompt = fields.optional("prompt", |node, problems| length(node, problems, loader, |seen| seen.prompt));
    let output = fields.optional("output", |node, problems| length(node, problems, loader, |seen| seen.output));
    let prefix_hit = fields.optional("prefix_hit", probability);
    let own = fields.optional("acceptance", |node, problems| acceptance(node, problems, loader, Context::OneOfMany));
    let output = output?;
    let workload = Workload {
        label: entry.key.clone(),
        share: share?,
        output: output.as_ref().map(Length::mean),
        prompt_length: prompt?,
        output_length: output,
        prefix_hit: prefix_hit?.unwrap_or(Probability::ZERO),
    };
    Some((workload, own?))
}

/// Shares sum to one, and all or none say how long their outputs are.
fn check(node: &Node, read: &[Read], problems: &mut Problems) {
    let sum: f64 = read.iter().map(|(workload, _)| workload.share.get()).sum();
    let with_output = read.iter().filter(|(workload, _)| workload.output.is_some()).count();
    let mut found = Vec::new();
    if (sum - 1.0).abs() > SLACK {
        let message = format!("the shares of `{}` sum to {sum}, not to 1", node.path);
        found.push(Diagnostic::error("out-of-range", message).hint("a share is a fraction of all requests"));
    }
    if with_output > 0 && with_output < read.len() {
        let message = format!("only some of `{}` say how long their outputs are", node.path);
        let hint = "give each one its `output`, or none: then all are taken to be equally long";
        found.push(Diagnostic::error("missing-key", message).hint(hint));
    }
    for one in found {
        problems.report::<()>(one.at(&node.place));
    }
}
