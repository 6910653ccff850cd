//! `models/<id>.toml` into a [`Model`].

use crate::catalog::formats::formats;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key, one_or_many, text};
use crate::catalog::values::{LARGEST_INTEGER, flag, integer, number, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::attention::{Attention, Gqa, Linear, Mla, Ssm, SsmForm};
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::head::Head;
use crate::domain::layers::{Extras, LayerGroup, Layers};
use crate::domain::model::{Aggregate, Formats, Model, Shape};
use crate::units::Bytes;
use crate::words::{Dtype, HeadKind, NormKind, Role};

const KEYS: Keys = Keys::all(&[
    "name",
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
    let role = fields.optional("role", word::<Role>);
    let source = fields.optional("source", text);
    fields.optional("note", text);
    let approximate = fields.optional("approximate", flag);
    let fits = fields.optional("fits", |node, problems| one_or_many(node, problems, text));
    let formats = fields.optional("dtype", formats);
    let shape = match (fields.has("layers"), fields.has("aggregate")) {
        (true, true) => both_shapes(root, fields.problems),
        (true, false) => layers(&mut fields),
        (false, _) => totals(&mut fields),
    };
    let Read { vocab, shape, source: own_source } = shape?;
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
    let groups = fields.required("layers", |node, problems| one_or_many(node, problems, group));
    let extras = fields.optional("counts", extras);
    let (hidden, vocab, tied, groups) = (hidden?, vocab?, tied?, groups?);
    let (extras, source) = extras?.unwrap_or_default();
    let shape = Layers::new(hidden, vocab, tied, groups, extras).ok()?;
    let shape = match head? {
        Some(head) => shape.as_head(head),
        None => shape,
    };
    Some(Read { vocab: Some(vocab), shape: Shape::Layers(shape), source })
}

/// The largest width or count: the product of three is exact.
const LARGEST_COUNT: u64 = 1 << 24;

fn whole(node: &Node, problems: &mut Problems) -> Option<u64> {
    integer(node, problems, 1, LARGEST_COUNT)
}

/// How a head drafts. Medusa heads have no layers, so that no file describes them yet.
fn head(node: &Node, problems: &mut Problems) -> Option<Head> {
    let mut fields = Fields::open(node, &Keys::all(&["kind", "draft_vocab", "modules"]), problems)?;
    let kind = fields.required("kind", |node, problems| match word::<HeadKind>(node, problems)? {
        HeadKind::Medusa => {
            let found = Diagnostic::error("not-built-yet", "Medusa heads cannot be described by a file yet");
            problems.report(found.at(&node.place))
        }
        kind => Some(kind),
    });
    let draft_vocab = fields.optional("draft_vocab", whole);
    let modules = fields.optional("modules", whole);
    Some(Head { kind: kind?, draft_vocab: draft_vocab?, copies: modules?.unwrap_or(1) })
}

const ATTENTION: Keys = Keys::all(&["gqa", "mla", "linear", "ssm", "none"]);
const FFN: Keys = Keys::all(&["gated", "plain", "moe", "none"]);

fn group(node: &Node, problems: &mut Problems) -> Option<LayerGroup> {
    let mut fields = Fields::open(node, &Keys::all(&["count", "attention", "ffn"]), problems)?;
    let count = fields.required("count", whole);
    let attention = fields.required("attention", attention);
    let ffn = fields.required("ffn", ffn);
    Some(LayerGroup { count: count?, attention: attention?, ffn: ffn? })
}

fn attention(node: &Node, problems: &mut Problems) -> Option<Attention> {
    let mut fields = Fields::open(node, &ATTENTION, problems)?;
    let gqa = fields.optional("gqa", gqa);
    let mla = fields.optional("mla", mla);
    let linear = fields.optional("linear", linear);
    let ssm = fields.optional("ssm", ssm);
    fields.optional("none", |node, problems| Fields::open(node, &Keys::all(&[]), problems).map(|_| ()));
    match kind_key(node, ATTENTION.known, problems)? {
        KindKey::One("gqa") => gqa.flatten().map(Attention::Gqa),
        KindKey::One("mla") => mla.flatten().map(Attention::Mla),
        KindKey::One("linear") => linear.flatten().map(Attention::Linear),
        KindKey::One("ssm") => ssm.flatten().map(Attention::Ssm),
        KindKey::One(_) => Some(Attention::None),
        KindKey::Absent => no_kind(node, &ATTENTION, "gqa = { heads = 32, kv_heads = 8, head_dim = 128 }", problems),
    }
}

fn gqa(node: &Node, problems: &mut Problems) -> Option<Gqa> {
    let mut fields =
        Fields::open(node, &Keys::all(&["heads", "kv_heads", "head_dim", "window", "output_gate"]), problems)?;
    let heads = fields.required("heads", whole);
    let kv_heads = fields.required("kv_heads", whole);
    let head_dim = fields.required("head_dim", whole);
    let window = fields.optional("window", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    let gated = fields.optional("output_gate", flag);
    match Gqa::new(heads?, kv_heads?, head_dim?, window?) {
        Ok(gqa) => Some(if gated?.unwrap_or_default() { gqa.with_output_gate() } else { gqa }),
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("heads is a multiple of kv_heads"))
        }
    }
}

fn mla(node: &Node, problems: &mut Problems) -> Option<Mla> {
    let keys = Keys::all(&["heads", "q_lora", "kv_lora", "qk_nope", "qk_rope", "v_head"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let heads = fields.required("heads", whole);
    let q_lora = fields.optional("q_lora", whole);
    let kv_lora = fields.required("kv_lora", whole);
    let qk_nope = fields.required("qk_nope", whole);
    let qk_rope = fields.required("qk_rope", whole);
    let v_head = fields.required("v_head", whole);
    Mla::new(heads?, q_lora?, kv_lora?, [qk_nope?, qk_rope?, v_head?]).ok()
}

fn linear(node: &Node, problems: &mut Problems) -> Option<Linear> {
    let keys = Keys::all(&["key_heads", "value_heads", "key_dim", "value_dim", "conv"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let key_heads = fields.required("key_heads", whole);
    let value_heads = fields.required("value_heads", whole);
    let key_dim = fields.required("key_dim", whole);
    let value_dim = fields.required("value_dim", whole);
    let conv = fields.required("conv", whole);
    match Linear::new([key_heads?, value_heads?], [key_dim?, value_dim?], conv?) {
        Ok(linear) => Some(linear),
        Err(error) => uneven(&error.to_string(), node, problems),
    }
}

/// Mamba-2 with heads and groups, or Mamba with channels and a rank.
fn ssm(node: &Node, problems: &mut Problems) -> Option<Ssm> {
    let keys = Keys::all(&["heads", "head_dim", "groups", "inner", "dt_rank", "state", "conv"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let state = fields.required("state", whole);
    let conv = fields.required("conv", whole);
    let form = if fields.has("inner") || fields.has("dt_rank") {
        let inner = fields.required("inner", whole);
        let dt_rank = fields.required("dt_rank", whole);
        for key in ["heads", "head_dim", "groups"] {
            fields.optional(key, |node, problems| {
                let found = Diagnostic::error("conflict", format!("`{key}` belongs to a layer with heads"));
                problems
                    .report::<()>(found.at(&node.place).hint("keep inner and dt_rank, or heads, head_dim and groups"))
            });
        }
        SsmForm::Ranked { inner: inner?, dt_rank: dt_rank? }
    } else {
        let heads = fields.required("heads", whole);
        let head_dim = fields.required("head_dim", whole);
        let groups = fields.required("groups", whole);
        SsmForm::Heads { heads: heads?, head_dim: head_dim?, groups: groups? }
    };
    match Ssm::new(form, state?, conv?) {
        Ok(ssm) => Some(ssm),
        Err(error) => uneven(&error.to_string(), node, problems),
    }
}

fn uneven<T>(error: &str, node: &Node, problems: &mut Problems) -> Option<T> {
    problems.report(Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place))
}

fn ffn(node: &Node, problems: &mut Problems) -> Option<Ffn> {
    let mut fields = Fields::open(node, &FFN, problems)?;
    let gated = fields.optional("gated", intermediate);
    let plain = fields.optional("plain", intermediate);
    let moe = fields.optional("moe", moe);
    fields.optional("none", |node, problems| Fields::open(node, &Keys::all(&[]), problems).map(|_| ()));
    match kind_key(node, FFN.known, problems)? {
        KindKey::One("gated") => gated.flatten().map(|intermediate| Ffn::Gated { intermediate }),
        KindKey::One("plain") => plain.flatten().map(|intermediate| Ffn::Plain { intermediate }),
        KindKey::One("moe") => moe.flatten().map(Ffn::Moe),
        KindKey::One(_) => Some(Ffn::None),
        KindKey::Absent => no_kind(node, &FFN, "gated = { intermediate = 14336 }", problems),
    }
}

fn intermediate(node: &Node, problems: &mut Problems) -> Option<u64> {
    Fields::open(node, &Keys::all(&["intermediate"]), problems)?.required("intermediate", whole)
}

fn moe(node: &Node, problems: &mut Problems) -> Option<Moe> {
    let keys = Keys::all(&["experts", "top_k", "shared", "intermediate", "shared_intermediate"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let experts = fields.required("experts", whole);
    let top_k = fields.required("top_k", whole);
    let intermediate = fields.required("intermediate", whole);
    let shared = fields.optional("shared", |node, problems| integer(node, problems, 0, LARGEST_COUNT));
    let shared_intermediate = fields.optional("shared_intermediate", whole);
    let (intermediate, shared) = (intermediate?, shared?.unwrap_or(0));
    match Moe::new(experts?, top_k?, intermediate) {
        Ok(moe) => Some(moe.with_shared(shared, shared_intermediate?.unwrap_or(intermediate))),
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("such as { experts = 128, top_k = 8, intermediate = 768 }"))
        }
    }
}

/// A table without a kind; one of a kind that is still to come has been refused already.
fn no_kind<T>(node: &Node, keys: &Keys, example: &str, problems: &mut Problems) -> Option<T> {
    if keys.later.iter().any(|key| node.get(key).is_some()) {
        return None;
    }
    let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&node.place);
    problems.report(found.hint(format!("such as {example}")))
}

const COUNTS: Keys =
    Keys::all(&["norm", "qkv_bias", "qk_norm", "mlp_bias", "positions", "extra_params", "source", "note"]);

fn extras(node: &Node, problems: &mut Problems) -> Option<(Extras, Option<String>)> {
    let mut fields = Fields::open(node, &COUNTS, problems)?;
    let norm = fields.optional("norm", word::<NormKind>);
    let qkv_bias = fields.optional("qkv_bias", flag);
    let qk_norm = fields.optional("qk_norm", flag);
    let mlp_bias = fields.optional("mlp_bias", flag);
    let positions = fields.optional("positions", |node, problems| integer(node, problems, 0, LARGEST_COUNT));
    let extra_params = fields.optional("extra_params", extra_params);
    let source = fields.optional("source", text);
    fields.optional("note", text);
    let extras = Extras {
        norm: norm?.unwrap_or(NormKind::Rms),
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
