//! `models/<id>.toml` into a [`Model`].

use crate::catalog::formats::formats;
use crate::catalog::layers::group;
use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, aliases, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, flag, integer, number, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::head::{Head, MEDUSA_HEADS};
use crate::domain::layers::{Extras, Layers};
use crate::domain::model::{Aggregate, Formats, Model, Shape};
use crate::units::Bytes;
use crate::words::{Dtype, HeadKind, NormKind, Role};

const KEYS: Keys = Keys::all(&[
    "name",
    "aliases",
    "role",
    "approximate",
    "fits",
    "hidden",
    "vocab",
    "tied_embeddings",
    "head",
    "layers",
    "counts",
    "aggregate",
    "dtype",
    "source",
    "note",
]);

/// Reads a model.
pub(super) fn model(root: &Node, id: &str, problems: &mut Problems) -> Option<Model> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let name = fields.optional("name", text);
    let aliases = fields.optional("aliases", aliases);
    let role = fields.optional("role", word::<Role>);
    let source = fields.optional("source", text);
    fields.optional("note", text);
    let approximate = fields.optional("approximate", flag);
    let fits = fields.optional("fits", |node, problems| one_or_many(node, problems, text));
    let formats = fields.optional("dtype", formats);
    let shape = match (fields.has("layers"), fields.has("aggregate")) {
        (true, true) => both_shapes(root, fields.problems),
        (true, false) if is_medusa(root) => layers_of_medusa(root, fields.problems),
        (true, false) => layers(&mut fields),
        (false, false) if is_medusa(root) => layers(&mut fields),
        (false, _) => totals(&mut fields),
    };
    let Read { vocab, shape, source: own_source } = shape?;
    aliases?;
    let role = role?.unwrap_or(Role::Target);
    check_role(root, role, &shape, problems)?;
    let formats = formats?.unwrap_or_else(|| Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16));
    if matches!(shape, Shape::Aggregate(_)) && formats.other_parts().next().is_some() {
        let place = &root.at(&["dtype", "weights"]).unwrap_or(root).place;
        let found = Diagnostic::error("conflict", "formats by part belong to a model with [[layers]]").at(place);
        return problems.report(found.hint("write one word: totals do not know their parts"));
    }
    Some(Model {
        id: id.to_owned(),
        name: name?.unwrap_or_else(|| id.to_owned()),
        role,
        vocab,
        shape,
        approximate: approximate?.unwrap_or_default(),
        fits: fits?.unwrap_or_default(),
        formats,
        source: source?.or(own_source),
    })
}

/// A head says how it drafts, and nothing else does.
fn check_role(root: &Node, role: Role, shape: &Shape, problems: &mut Problems) -> Option<()> {
    let kind = match shape {
        Shape::Layers(layers) => layers.head(),
        Shape::Aggregate(_) => None,
    };
    let (key, message, hint) = match (role, kind) {
        (Role::Head, None) => ("role", "a head needs [head]", "such as kind = \"eagle3\", draft_vocab = 32000"),
        (Role::Target | Role::Drafter, Some(_)) => ("head", "[head] belongs to role = \"head\"", "leave one out"),
        _ => return Some(()),
    };
    let place = &root.get(key).unwrap_or(root).place;
    problems.report(Diagnostic::error("wrong-role", message).at(place).hint(hint))
}

/// A shape with what belongs to it.
struct Read {
    vocab: Option<u64>,
    shape: Shape,
    source: Option<String>,
}

fn both_shapes<T>(root: &Node, problems: &mut Problems) -> Option<T> {
    let place = root.get("aggregate").unwrap_or(root).place.clone();
    let found = Diagnostic::error("conflict", "a model has either [[layers]] or [aggregate]").at(&place);
    problems.report(found.hint("leave [aggregate] out: layers say more"))
}

fn layers_of_medusa<T>(root: &Node, problems: &mut Problems) -> Option<T> {
    let place = root.get("layers").unwrap_or(root).place.clone();
    let found = Diagnostic::error("conflict", "Medusa heads have no [[layers]]").at(&place);
    problems.report(found.hint("leave them out: each head is a block of hidden x hidden and an LM head"))
}

/// A model known by its totals.
fn totals(fields: &mut Fields<'_, '_>) -> Option<Read> {
    let vocab = fields.optional("vocab", whole);
    for key in ["hidden", "tied_embeddings", "counts", "head"] {
        fields.optional(key, |node, problems| {
            let found = Diagnostic::error("conflict", format!("`{key}` belongs to a model with [[layers]]"));
            problems.report::<()>(found.at(&node.place).hint("leave it out: totals already hold what it counts"))
        });
    }
    let (totals, source) = fields.required("aggregate", aggregate)?;
    Some(Read { vocab: vocab?, shape: Shape::Aggregate(totals), source })
}

/// A model known by its layers.
fn layers(fields: &mut Fields<'_, '_>) -> Option<Read> {
    let hidden = fields.required("hidden", whole);
    let vocab = fields.required("vocab", whole);
    let head = fields.optional("head", head);
    let tied = if fields.has("head") {
        fields.optional("tied_embeddings", flag).map(Option::unwrap_or_default)
    } else {
        fields.required("tied_embeddings", flag)
    };
    let groups = fields.optional("layers", |node, problems| one_or_many(node, problems, group));
    let extras = fields.optional("counts", extras);
    let (hidden, vocab, tied, groups) = (hidden?, vocab?, tied?, groups?);
    let (extras, source) = extras?.unwrap_or_default();
    let shape = match (head?, groups) {
        (Some(head), None) => Layers::heads_only(hidden, vocab, head).ok()?,
        (Some(head), Some(groups)) => Layers::new(hidden, vocab, tied, groups, extras).ok()?.as_head(head),
        (None, groups) => Layers::new(hidden, vocab, tied, groups?, extras).ok()?,
    };
    Some(Read { vocab: Some(vocab), shape: Shape::Layers(shape), source })
}

/// Whether a file describes Medusa heads, which have no layers.
fn is_medusa(root: &Node) -> bool {
    let kind = root.at(&["head", "kind"]);
    kind.is_some_and(|kind| matches!(&kind.value, Value::Text(word) if word == HeadKind::Medusa.as_str()))
}

/// The largest width or count: the product of three is exact.
pub(super) const LARGEST_COUNT: u64 = 1 << 24;

/// A width or a count.
pub(super) fn whole(node: &Node, problems: &mut Problems) -> Option<u64> {
    integer(node, problems, 1, LARGEST_COUNT)
}

/// How a head drafts.
fn head(node: &Node, problems: &mut Problems) -> Option<Head> {
    let mut fields = Fields::open(node, &Keys::all(&["kind", "draft_vocab", "modules", "reads"]), problems)?;
    let kind = fields.required("kind", word::<HeadKind>);
    let draft_vocab = fields.optional("draft_vocab", whole);
    let modules = fields.optional("modules", whole);
    let reads = fields.optional("reads", |node, problems| integer(node, problems, 0, LARGEST_COUNT));
    let (kind, draft_vocab, modules) = (kind?, draft_vocab?, modules?);
    let has_copies = matches!(kind, HeadKind::Mtp | HeadKind::Medusa);
    if let Some(node) = node.get("modules").filter(|_| !has_copies) {
        let found = Diagnostic::error("conflict", format!("`{}` belongs to mtp and medusa heads", node.path));
        return problems.report(found.at(&node.place).hint("leave it out"));
    }
    let usual = if kind == HeadKind::Medusa { MEDUSA_HEADS } else { 1 };
    Some(Head { kind, draft_vocab, copies: modules.unwrap_or(usual), reads: reads? })
}

const COUNTS: Keys = Keys::all(&[
    "norm",
    "norms_per_layer",
    "qkv_bias",
    "qk_norm",
    "mlp_bias",
    "positions",
    "extra_params",
    "source",
    "note",
]);

fn extras(node: &Node, problems: &mut Problems) -> Option<(Extras, Option<String>)> {
    let mut fields = Fields::open(node, &COUNTS, problems)?;
    let norm = fields.optional("norm", word::<NormKind>);
    let norms_per_layer = fields.optional("norms_per_layer", |node, problems| integer(node, problems, 0, 16));
    let qkv_bias = fields.optional("qkv_bias", flag);
    let qk_norm = fields.optional("qk_norm", flag);
    let mlp_bias = fields.optional("mlp_bias", flag);
    let positions = fields.optional("positions", |node, problems| integer(node, problems, 0, LARGEST_COUNT));
    let extra_params = fields.optional("extra_params", extra_params);
    let source = fields.optional("source", text);
    fields.optional("note", text);
    let extras = Extras {
        norm: norm?.unwrap_or(NormKind::Rms),
        norms_per_layer: norms_per_layer?,
        qkv_bias: qkv_bias?.unwrap_or_default(),
        qk_norm: qk_norm?.unwrap_or_default(),
        mlp_bias: mlp_bias?.unwrap_or_default(),
        positions: positions?.unwrap_or_default(),
        extra_params: extra_params?.unwrap_or_default(),
    };
    Some((extras, source?))
}

fn extra_params(node: &Node, problems: &mut Problems) -> Option<u64> {
    let mut fields = Fields::open(node, &Keys::all(&["count", "source"]), problems)?;
    let count = fields.required("count", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    let source = fields.required("source", text);
    source?;
    count
}

/// The totals, and where they are from.
fn aggregate(node: &Node, problems: &mut Problems) -> Option<(Aggregate, Option<String>)> {
    let keys = Keys::all(&["matmul_params", "total_params", "kv_bytes_per_token", "source", "note"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let matmul = fields.required("matmul_params", |node, problems| number(node, problems, 1.0));
    let total = fields.required("total_params", |node, problems| number(node, problems, 1.0));
    let kv = fields.required("kv_bytes_per_token", |node, problems| quantity::<Bytes>(node, problems, 0.0));
    let source = fields.optional("source", text);
    fields.optional("note", text);
    match Aggregate::new(matmul?, total?, kv?.get()) {
        Ok(aggregate) => Some((aggregate, source?)),
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("matmul_params leaves the input embedding out, total_params holds everything"))
        }
    }
}
