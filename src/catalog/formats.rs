//! Number formats: `[dtype]` of a model, and `[quantization]` of a scenario that takes its place.

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::{integer, word};
use crate::diagnostic::Diagnostic;
use crate::domain::formats::{Format, Formats, Scale};
use crate::domain::model::{Model, Shape};
use crate::words::{Dtype, Part, Word};

const WEIGHTS: Keys =
    Keys::all(&["default", "attention", "ffn", "experts", "lm_head", "embedding", "group", "scale_bytes"]);

/// Formats of weights: a default, and parts that have another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    default: Format,
    parts: [Option<Format>; Part::COUNT],
}

/// `[dtype]`: weights, activations and KV cache, each bf16 where it is absent.
pub(super) fn formats(node: &Node, problems: &mut Problems) -> Option<Formats> {
    let mut fields = Fields::open(node, &Keys::all(&["weights", "activations", "kv"]), problems)?;
    let weights = fields.optional("weights", weights);
    let activations = fields.optional("activations", word::<Dtype>);
    let kv = fields.optional("kv", word::<Dtype>);
    let (weights, activations, kv) = (weights?, activations?, kv?);
    let bf16 = |stated: Option<Dtype>| stated.unwrap_or(Dtype::Bf16);
    let formats = Formats::new(Dtype::Bf16, bf16(activations), bf16(kv));
    Some(weights.map_or(formats, |weights| formats.with_weights(weights.default, weights.parts)))
}

/// One word, or a table with a default, other formats by part, and scales of its 4-bit formats.
fn weights(node: &Node, problems: &mut Problems) -> Option<Weights> {
    if !matches!(node.value, Value::Table(_)) {
        let dtype = word::<Dtype>(node, problems)?;
        return Some(Weights { default: Format::usual(dtype), parts: [None; Part::COUNT] });
    }
    let mut fields = Fields::open(node, &WEIGHTS, problems)?;
    let default = fields.required("default", word::<Dtype>);
    let parts = Part::ALL.iter().map(|part| fields.optional(part.as_str(), word::<Dtype>)).collect::<Vec<_>>();
    let group = fields.optional("group", |node, problems| integer(node, problems, 1, 1 << 20));
    let bytes = fields.optional("scale_bytes", |node, problems| integer(node, problems, 1, 4));
    let (default, parts) = (default?, parts.into_iter().collect::<Option<Vec<_>>>()?);
    let scale = match (group?, bytes?) {
        (None, None) => None,
        (group, bytes) => Some((group, bytes)),
    };
    let stated = || std::iter::once(default).chain(parts.iter().copied().flatten());
    if scale.is_some() && !stated().any(|dtype| matches!(dtype, Dtype::Int4 | Dtype::Fp4)) {
        let found = Diagnostic::error("conflict", format!("`{}` has scales but no int4 or fp4", node.path));
        return problems.report(found.at(&node.place).hint("leave group and scale_bytes out"));
    }
    let format = |dtype: Dtype| format_of(dtype, scale);
    let mut of_parts = [None; Part::COUNT];
    for (part, dtype) in Part::ALL.iter().zip(parts) {
        of_parts[*part as usize] = dtype.map(format);
    }
    Some(Weights { default: format(default), parts: of_parts })
}

/// A format with stated scales, where it has any; what is not stated is as usual for it.
fn format_of(dtype: Dtype, scale: Option<(Option<u64>, Option<u64>)>) -> Format {
    let usual = match dtype {
        Dtype::Int4 => Scale { group: 128, bytes: 2 },
        Dtype::Fp4 => Scale { group: 16, bytes: 1 },
        _ => return Format::usual(dtype),
    };
    let Some((group, bytes)) = scale else { return Format::usual(dtype) };
    let stated = Scale { group: group.unwrap_or(usual.group), bytes: bytes.unwrap_or(usual.bytes) };
    Format::scaled(dtype, stated).unwrap_or_else(|_| Format::usual(dtype))
}

/// What takes the place of a target's own formats, with a name where there are several.
#[derive(Clone, Debug)]
pub(super) struct Quantization {
    weights: Option<Weights>,
    activations: Option<Dtype>,
    kv: Option<Dtype>,
    label: String,
}

/// `[quantization]`: every combination of its values, weights slowest.
pub(super) fn quantization(node: &Node, problems: &mut Problems) -> Option<Vec<Quantization>> {
    let mut fields = Fields::open(node, &Keys::all(&["weights", "activations", "kv"]), problems)?;
    let weights = fields.optional("weights", |node, problems| one_or_many(node, problems, weights));
    let activations = fields.optional("activations", |node, problems| one_or_many(node, problems, word::<Dtype>));
    let kv = fields.optional("kv", |node, problems| one_or_many(node, problems, word::<Dtype>));
    let (weights, activations, kv) = (axis(weights?), axis(activations?), axis(kv?));
    let mut all = Vec::new();
    for one in &weights {
        for &computes in &activations {
            for &keeps in &kv {
                let mut words = Vec::new();
                words.extend(one.filter(|_| weights.len() > 1).map(|one| one.default.dtype().to_string()));
                words.extend(computes.filter(|_| activations.len() > 1).map(|dtype| format!("computes-{dtype}")));
                words.extend(keeps.filter(|_| kv.len() > 1).map(|dtype| format!("kv-{dtype}")));
                all.push(Quantization { weights: *one, activations: computes, kv: keeps, label: words.join("-") });
            }
        }
    }
    let twice = (1..all.len()).find(|&at| all[..at].iter().any(|earlier| earlier.label == all[at].label));
    if twice.is_some() {
        let found = Diagnostic::error("bad-axis", format!("`{}` lists a format twice", node.path));
        return problems.report(found.at(&node.place).hint("formats of weights are told apart by their default"));
    }
    Some(all)
}

/// The values of an axis; one that is absent leaves the model's own.
fn axis<T>(values: Option<Vec<T>>) -> Vec<Option<T>> {
    values.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect())
}

/// Every target in every quantization; several of one target are told apart by what follows an `@`.
pub(super) fn quantized(
    targets: Vec<Model>,
    with: &[Quantization],
    node: &Node,
    problems: &mut Problems,
) -> Option<Vec<Model>> {
    let totals = targets.iter().find(|target| matches!(target.shape, Shape::Aggregate(_)));
    let by_part = |one: &Quantization| one.weights.is_some_and(|weights| weights.parts.iter().any(Option::is_some));
    if let Some(target) = totals
        && with.iter().any(|one| one.kv.is_some() || by_part(one))
    {
        let message = format!("`{}` is known by its totals: neither its KV bytes nor its parts can change", target.id);
        let found = Diagnostic::error("conflict", message).across_parts().at(&node.place);
        return problems.report(found.hint("take a model with [[layers]]"));
    }
    Some(targets.into_iter().flat_map(|target| with.iter().map(move |one| one.applied(&target))).collect())
}

impl Quantization {
    fn applied(&self, target: &Model) -> Model {
        let mut formats = target.formats;
        if let Some(weights) = self.weights {
            formats = formats.with_weights(weights.default, weights.parts);
        }
        if let Some(kv) = self.kv {
            formats = formats.with_kv(Format::usual(kv));
        }
        formats.activations = self.activations.unwrap_or(formats.activations);
        let id = if self.label.is_empty() { target.id.clone() } else { format!("{}@{}", target.id, self.label) };
        Model { id, formats, ..target.clone() }
    }
}
