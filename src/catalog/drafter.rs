//! `[drafters.<label>]` into a [`Drafter`].

use crate::catalog::acceptance::acceptance;
use crate::catalog::load::Loader;
use crate::catalog::lookup::is_id;
use crate::catalog::node::{Entry, Node, Value};
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, text};
use crate::catalog::values::{integer, number};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::Acceptance;
use crate::domain::drafter::{CostRatio, DraftSource, Drafter};
use crate::domain::model::Model;
use crate::words::{DrafterKind, Role, Word};

const KEYS: Keys = Keys {
    known: &["model", "constant", "acceptance"],
    later: &[
        "eagle",
        "mtp",
        "medusa",
        "block",
        "ngram",
        "suffix",
        "layer_skip",
        "sparse_kv",
        "lookahead",
        "shape",
        "overlap",
    ],
};

/// The acceptance of a whole scenario, as far as it could be read.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    Absent,
    Wrong,
    Sound(&'a Acceptance),
}

impl<'a> Shared<'a> {
    /// From the section as it was read: wrong, absent or sound.
    pub(super) const fn of(read: &'a Option<Option<Acceptance>>) -> Self {
        match read {
            None => Self::Wrong,
            Some(None) => Self::Absent,
            Some(Some(acceptance)) => Self::Sound(acceptance),
        }
    }
}

/// Reads every drafter of a scenario; `shared` serves those without an acceptance of their own.
pub(super) fn drafters(
    node: &Node,
    problems: &mut Problems,
    shared: Shared<'_>,
    loader: &mut Loader<'_>,
) -> Option<Vec<Drafter>> {
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, "a table with one table for each drafter");
    };
    let read: Vec<Option<Drafter>> = entries.iter().map(|entry| drafter(entry, problems, shared, loader)).collect();
    read.into_iter().collect()
}

fn drafter(entry: &Entry, problems: &mut Problems, shared: Shared<'_>, loader: &mut Loader<'_>) -> Option<Drafter> {
    if !is_id(&entry.key) {
        let found = Diagnostic::error("bad-id", format!("`{}` is no drafter label", entry.key)).at(&entry.key_place);
        problems.report::<()>(found.hint("a label has letters, digits, `-`, `_` and `.`, a letter or digit first"));
    }
    let node = &entry.node;
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let model = fields.optional("model", |node, problems| draft_model(node, problems, loader));
    let constant = fields.optional("constant", constant);
    let own = fields.optional("acceptance", acceptance);
    let kinds: Vec<&str> = DrafterKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let source = match kind_key(node, &kinds, problems) {
        Some(KindKey::One("model")) => model.flatten().map(DraftSource::Model),
        Some(KindKey::One("constant")) => constant.flatten().map(|cost_ratio| DraftSource::Constant { cost_ratio }),
        Some(KindKey::Absent) => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&entry.key_place);
            problems.report(found.hint("such as model = { id = \"founding-llama-3.2-1b\" }"))
        }
        _ => None,
    };
    let acceptance = match (own?, shared) {
        (Some(own), _) => Some(own),
        (None, Shared::Sound(shared)) => Some(shared.clone()),
        // The mistake is reported where it stands.
        (None, Shared::Wrong) => None,
        (None, Shared::Absent) => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no acceptance", node.path));
            let hint = "give it acceptance.iid = { alpha = 0.7 }, or the scenario an [acceptance] for all drafters";
            problems.report(found.at(&entry.key_place).hint(hint))
        }
    };
    Some(Drafter { label: entry.key.clone(), source: source?, acceptance: acceptance? })
}

fn draft_model(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Model> {
    if let Value::Text(id) = &node.value {
        let found = Diagnostic::error("wrong-type", format!("`{}` must be a table, not a text", node.path));
        return problems.report(found.at(&node.place).hint(format!("write model = {{ id = \"{id}\" }}")));
    }
    let mut fields = Fields::open(node, &Keys::all(&["id", "tensor_parallel"]), problems)?;
    let parallel = fields.optional("tensor_parallel", single_device);
    let model = fields.required("id", |node, problems| {
        text(node, problems)?;
        let model = loader.model(node, problems)?;
        if model.role == Role::Head {
            let message = format!("`{}` is a head: it drafts from its target's hidden state, not on its own", model.id);
            return problems.report(Diagnostic::error("wrong-role", message).at(&node.place));
        }
        Some(model)
    });
    parallel?;
    model
}

/// Tensor parallelism is read so that files can state 1; more is not priced yet.
pub(super) fn single_device(node: &Node, problems: &mut Problems) -> Option<u64> {
    let degree = integer(node, problems, 1, 1 << 20)?;
    if degree == 1 {
        return Some(degree);
    }
    let message = format!("`{}` = {degree}: this version prices one device only", node.path);
    problems.report(Diagnostic::error("not-built-yet", message).at(&node.place).hint("set it to 1, or leave it out"))
}

fn constant(node: &Node, problems: &mut Problems) -> Option<CostRatio> {
    let read = |node: &Node, problems: &mut Problems| {
        let ratio = number(node, problems, 0.0)?;
        match CostRatio::new(ratio) {
            Ok(ratio) => Some(ratio),
            Err(error) => problems.report(Diagnostic::error("out-of-range", error.to_string()).at(&node.place)),
        }
    };
    Fields::open(node, &Keys::all(&["cost_ratio"]), problems)?.required("cost_ratio", read)
}
