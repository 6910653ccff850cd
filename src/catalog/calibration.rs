//! `[calibration]` of an engine's file into a [`Calibration`].

use crate::catalog::engine::ends;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, lists, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, LARGEST_NUMBER, flag, integer, number, word};
use crate::diagnostic::{Diagnostic, nearest};
use crate::domain::calibration::{Calibration, Joint, NotJoint};
use crate::domain::engine::{ExpectedError, Known};
use crate::words::{DrafterKind, Term};

const KEYS: Keys = Keys::all(&[
    "base",
    "hardware",
    "target",
    "tensor_parallel",
    "formats",
    "without",
    "verify_cost",
    "overlap",
    "drafters",
    "k",
    "points",
    "batch",
    "context",
    "median",
    "p90",
    "constants",
    "covariance",
]);

/// Reads the section; constants are named as under `[constants]` of the same file.
pub(super) fn calibration(node: &Node, stated: &[String], problems: &mut Problems) -> Option<Calibration> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let base = fields.required("base", text);
    let hardware = fields.required("hardware", text);
    let target = fields.required("target", text);
    let tensor_parallel =
        fields.optional("tensor_parallel", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    let drafters = fields.optional("drafters", |node, problems| one_or_many(node, problems, word::<DrafterKind>));
    let k = fields.optional("k", ends);
    let formats = fields.optional("formats", text);
    let without = fields.optional("without", |node, problems| one_or_many(node, problems, word::<Term>));
    let (has_verify_cost, has_overlap) = (fields.optional("verify_cost", flag), fields.optional("overlap", flag));
    let rows = fields.required("points", |node, problems| integer(node, problems, 1, 1 << 40));
    let batch = fields.required("batch", ends);
    let context = fields.required("context", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    let median = fields.required("median", |node, problems| number(node, problems, 0.0));
    let p90 = fields.required("p90", |node, problems| number(node, problems, 0.0));
    let names = fields.required("constants", |node, problems| {
        one_or_many(node, problems, |node, problems| constant(node, stated, problems))
    });
    let covariance = fields.required("covariance", |node, problems| {
        lists(node, problems, "a list of numbers for each constant", |node, problems| {
            one_or_many(node, problems, |node, problems| number(node, problems, -LARGEST_NUMBER))
        })
    });
    let known = Some(Known { batch: batch?, context: context? });
    let error = ExpectedError { class: "all".to_owned(), median: median?, p90: p90?, rows: rows?, known };
    let joint = match Joint::new(names?, covariance?) {
        Ok(joint) => joint,
        Err(error) => return not_joint(node, &error, problems),
    };
    Some(Calibration {
        base: base?,
        hardware: hardware?,
        target: target?,
        tensor_parallel: tensor_parallel?.unwrap_or(1),
        formats: formats?,
        without: without?.unwrap_or_default(),
        has_verify_cost: has_verify_cost?.unwrap_or_default(),
        has_overlap: has_overlap?.unwrap_or_default(),
        drafters: drafters?.unwrap_or_default(),
        k: k?,
        error,
        joint,
    })
}

/// The name of a constant that the file states.
fn constant(node: &Node, stated: &[String], problems: &mut Problems) -> Option<String> {
    let name = text(node, problems)?;
    if stated.contains(&name) {
        return Some(name);
    }
    let message = format!("`{}` names \"{name}\", which [constants] does not state", node.path);
    let hint = match nearest(&name, stated.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "name constants that stand under [constants]".to_owned(),
    };
    problems.report(Diagnostic::error("unknown-word", message).at(&node.place).hint(hint))
}

fn not_joint<T>(node: &Node, error: &NotJoint, problems: &mut Problems) -> Option<T> {
    let at = node.get("covariance").unwrap_or(node);
    let found = Diagnostic::error("bad-covariance", format!("`{}`: {error}", at.path)).at(&at.place);
    problems.report(found.hint("take it as `specplan calibrate` wrote it"))
}
