//! Number formats: the dtype of a checkpoint, and how it declares quantisation.

mod declared;
mod excluded;

use crate::diagnostic::Diagnostic;
use crate::domain::formats::{Format, Formats};
use crate::import::hf::formats::declared::{Declared, compressed_tensors, modelopt, one_format};
use crate::import::hf::formats::excluded::{Excluded, excluded};
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::Json;
use crate::words::{Dtype, Part};

/// Reads the formats of a model of so many layers; a sidecar overrules what the configuration says.
pub(super) fn formats(reader: &mut Reader<'_>, layers: u64, sidecar: Option<&mut Reader<'_>>) -> Option<Formats> {
    let base = base(reader)?;
    let own = ["quantization_config", "compression_config"];
    let declared = match sidecar {
        Some(sidecar) => {
            let declared = modelopt_sidecar(sidecar);
            if reader.find(&own).is_some() {
                reader.warn("the sidecar overrules `quantization_config`");
            }
            Some(declared?)
        }
        None => match reader.find(&own) {
            Some(found) => Some(declaration(reader, &found, base)?),
            None => None,
        },
    };
    let Some(declared) = declared else { return Some(Formats::new(base, base, base)) };
    Some(apply(reader, &declared, base, layers))
}

/// What weights that are not quantised are in, and what products are computed in.
fn base(reader: &mut Reader<'_>) -> Option<Dtype> {
    let Some(found) = reader.find(&["torch_dtype", "dtype"]) else {
        reader.infer("format of weights", Dtype::Bf16, "no `torch_dtype`: decoders are released in 16 bits");
        return Some(Dtype::Bf16);
    };
    reader.note("format of weights", &found.path, found.node);
    match found.node.text().map(|text| text.trim_start_matches("torch.")) {
        Some("bfloat16") => Some(Dtype::Bf16),
        Some("float16" | "half") => Some(Dtype::Fp16),
        Some("float32" | "float" | "auto") => {
            reader.infer("format of weights", Dtype::Bf16, "engines serve a 32-bit checkpoint in 16 bits");
            Some(Dtype::Bf16)
        }
        _ => {
            let message = format!("`{}` is {}, no format that is known here", found.path, found.node.shown());
            let hint = "known are bfloat16, float16 and float32";
            reader.problem(Diagnostic::error("unpriced", message).hint(hint), found.node)
        }
    }
}

/// What `quantization_config` declares.
fn declaration(reader: &mut Reader<'_>, found: &Found<'_>, base: Dtype) -> Option<Declared> {
    let table = found.node;
    let at = |key: &str| table.get(key).filter(|node| !node.is_null());
    let path = |key: &str| format!("{}.{key}", found.path);
    let Some(method) = at("quant_method") else {
        if at("config_groups").is_some() {
            return compressed_tensors(reader, found, base);
        }
        let message = format!("`{}` has no `quant_method`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), table);
    };
    reader.note("method of quantisation", &path("quant_method"), method);
    let algorithm = at("quant_algo").and_then(Json::text);
    match method.text() {
        Some("compressed-tensors") => compressed_tensors(reader, found, base),
        Some(name) if name.starts_with("modelopt") && algorithm.is_some() => modelopt(reader, found),
        Some(name) if name.starts_with("modelopt") => compressed_tensors(reader, found, base),
        Some(name) => one_format(reader, name, found, base),
        None => {
            let message = format!("`{}` must be a text", path("quant_method"));
            reader.problem(Diagnostic::error("wrong-type", message), method)
        }
    }
}

/// `hf_quant_config.json` of ModelOpt: the declaration lies under `quantization`.
fn modelopt_sidecar(sidecar: &mut Reader<'_>) -> Option<Declared> {
    match sidecar.find(&["quantization"]) {
        Some(found) => modelopt(sidecar, &found),
        None => sidecar.missing("what ModelOpt quantised", &["quantization"]),
    }
}

/// The formats of every part: embedding, and LM head unless it is declared, stay as they are, and so does what is
/// excluded.
fn apply(reader: &mut Reader<'_>, declared: &Declared, base: Dtype, layers: u64) -> Formats {
    let usual = Format::usual(base);
    let weights = declared.weights.unwrap_or(usual);
    let mut parts = declared.parts;
    let out = excluded(&declared.excluded, layers);
    keep(reader, &mut parts, &out, usual);
    if parts[Part::Embedding as usize].is_none() {
        parts[Part::Embedding as usize] = Some(usual);
        reader.infer("format of the embedding", base, "only matrix products are quantised");
    }
    if parts[Part::LmHead as usize].is_none() && !declared.lm_head {
        parts[Part::LmHead as usize] = Some(usual);
        reader.infer("format of the LM head", base, "it stays as it is unless the declaration names it");
    }
    for part in &mut parts {
        // What is as most weights are needs no entry of its own.
        *part = part.filter(|format| *format != weights);
    }
    let kv = declared.kv.unwrap_or(base);
    Formats::new(weights.dtype(), declared.activations.unwrap_or(base), kv).with_weights(weights, parts)
}

/// Parts that the declaration leaves out.
fn keep(reader: &mut Reader<'_>, parts: &mut [Option<Format>; Part::COUNT], out: &Excluded, usual: Format) {
    for part in &out.whole {
        parts[*part as usize] = Some(usual);
    }
    if out.single > 0 {
        reader.warn(format!(
            "{} modules of single layers are left out of quantisation: they are counted as quantised",
            out.single
        ));
    }
}
