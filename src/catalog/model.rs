//! `models/<id>.toml` into a [`Model`].

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, text};
use crate::catalog::values::{LARGEST_INTEGER, integer, number, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::model::{Aggregate, Formats, Model, Shape};
use crate::units::Bytes;
use crate::words::{Dtype, Role};

const KEYS: Keys = Keys {
    known: &["name", "role", "vocab", "aggregate", "dtype", "source", "note"],
    later: &["hidden", "tied_embeddings", "layers", "counts", "fits"],
};

/// Reads a model.
pub(super) fn model(root: &Node, id: &str, problems: &mut Problems) -> Option<Model> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let name = fields.optional("name", text);
    let role = fields.optional("role", word::<Role>);
    let vocab = fields.optional("vocab", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    let source = fields.optional("source", text);
    fields.optional("note", text);
    let formats = fields.optional("dtype", formats);
    // A file with layers is refused for those; that it has no aggregate is then no mistake of its own.
    let totals = if fields.has("layers") { None } else { fields.required("aggregate", aggregate) };
    Some(Model {
        id: id.to_owned(),
        name: name?.unwrap_or_else(|| id.to_owned()),
        role: role?.unwrap_or(Role::Target),
        vocab: vocab?,
        shape: Shape::Aggregate(totals.as_ref()?.0),
        formats: match formats? {
            Some(formats) => formats,
            None => Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16).ok()?,
        },
        source: source?.or(totals?.1),
    })
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

fn formats(node: &Node, problems: &mut Problems) -> Option<Formats> {
    let mut fields = Fields::open(node, &Keys::all(&["weights", "activations", "kv"]), problems)?;
    let weights = fields.optional("weights", weights);
    let activations = fields.optional("activations", word::<Dtype>);
    let kv = fields.optional("kv", word::<Dtype>);
    let (activations, kv) = (activations.map(or_bf16), kv.map(or_bf16));
    match Formats::new(or_bf16(weights?), activations.unwrap_or(Dtype::Bf16), kv.unwrap_or(Dtype::Bf16)) {
        Ok(formats) => activations.and(kv).map(|_| formats),
        Err(error) => {
            let place = node.get("weights").unwrap_or(node).place.clone();
            let hint = "this version counts fp32, tf32, bf16, fp16, fp8 and int8 weights";
            problems.report(Diagnostic::error("not-built-yet", error.to_string()).at(&place).hint(hint))
        }
    }
}

fn or_bf16(stated: Option<Dtype>) -> Dtype {
    stated.unwrap_or(Dtype::Bf16)
}

/// One word, or a table with a default; formats by part need layers.
fn weights(node: &Node, problems: &mut Problems) -> Option<Dtype> {
    if !matches!(node.value, Value::Table(_)) {
        return word(node, problems);
    }
    let later = &["attention", "ffn", "experts", "lm_head", "embedding"];
    Fields::open(node, &Keys { known: &["default"], later }, problems)?.required("default", word)
}
