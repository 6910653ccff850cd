//! The ways in which checkpoints declare quantisation.

use crate::diagnostic::Diagnostic;
use crate::domain::formats::{Format, Scale};
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::{Json, Value};
use crate::words::{Dtype, Part};

/// What a declaration says.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// Most weights; none: as they are.
    pub(super) weights: Option<Format>,
    /// Parts with another format.
    pub(super) parts: [Option<Format>; Part::COUNT],
    /// Whether the LM head is quantised too.
    pub(super) lm_head: bool,
    /// What products are computed in, where it is not the format of the checkpoint.
    pub(super) activations: Option<Dtype>,
    /// The KV cache, where it is not.
    pub(super) kv: Option<Dtype>,
    /// Names and patterns of modules that are left out.
    pub(super) excluded: Vec<String>,
}

fn texts(node: Option<&Json>) -> Vec<String> {
    let items = node.and_then(Json::items).unwrap_or_default();
    items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
}

/// A key of a declaration that has no price.
fn refuse<T>(reader: &mut Reader<'_>, path: &str, node: &Json, hint: &str) -> Option<T> {
    let message = format!("`{path}` is {}, which cannot be priced", node.shown());
    reader.problem(Diagnostic::error("unpriced", message).hint(hint), node)
}

/// Methods that have one format for all they quantise.
pub(super) fn one_format(reader: &mut Reader<'_>, name: &str, found: &Found<'_>, base: Dtype) -> Option<Declared> {
    let table = found.node;
    let mut declared = Declared { excluded: texts(table.get("modules_to_not_convert")), ..Declared::default() };
    match name {
        "fp8" | "fbgemm_fp8" => {
            declared.weights = Some(Format::usual(Dtype::Fp8));
            declared.activations = Some(Dtype::Fp8);
        }
        "awq" | "gptq" | "awq_marlin" | "gptq_marlin" | "auto-round" => {
            declared.weights = Some(grouped(reader, name, found)?);
            declared.lm_head = matches!(table.get("lm_head").map(|node| &node.value), Some(Value::Flag(true)));
        }
        "mxfp4" => {
            declared.parts[Part::Experts as usize] = Some(Format::usual(Dtype::Mxfp4));
            declared.weights = Some(Format::usual(base));
            reader.infer("parts that are quantised", "experts", "mxfp4 of this kind holds experts only");
        }
        "bitsandbytes" => declared.weights = Some(bitsandbytes(reader, found)?),
        _ => {
            let method = table.get("quant_method").unwrap_or(table);
            let hint = "known are fp8, compressed-tensors, awq, gptq, mxfp4, bitsandbytes and modelopt";
            return refuse(reader, &format!("{}.quant_method", found.path), method, hint);
        }
    }
    Some(declared)
}

/// AWQ and GPTQ: whole numbers with a scale for each group, and zero points.
fn grouped(reader: &mut Reader<'_>, name: &str, found: &Found<'_>) -> Option<Format> {
    let table = found.node;
    let either = |keys: [&'static str; 2]| {
        keys.into_iter().find_map(|key| table.get(key).filter(|node| !node.is_null()).map(|node| (key, node)))
    };
    let Some((key, node)) = either(["bits", "w_bit"]) else {
        let message = format!("`{}` has no `bits`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), table);
    };
    reader.note("bits of a weight", &format!("{}.{key}", found.path), node);
    let dtype = match node.whole() {
        Some(4) => Dtype::Int4,
        Some(8) => return Some(Format::usual(Dtype::Int8)),
        _ => return refuse(reader, &format!("{}.{key}", found.path), node, "priced are 4 and 8 bits"),
    };
    let group = match either(["group_size", "q_group_size"]) {
        Some((key, node)) => {
            reader.note("weights that share a scale", &format!("{}.{key}", found.path), node);
            match node.whole() {
                // One scale for each column: as good as none.
                Some(-1) => 1 << 20,
                Some(group @ 1..=1_048_576) => group as u64,
                _ => return refuse(reader, &format!("{}.{key}", found.path), node, "a group has at least one weight"),
            }
        }
        None => {
            reader.infer(
                "weights that share a scale",
                128,
                format!("{name} has groups of 128 unless it says otherwise"),
            );
            128
        }
    };
    reader.warn("zero points, half a byte for each group, are not counted");
    Format::scaled(dtype, Scale { group, bytes: 2 }).ok()
}

fn bitsandbytes(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Format> {
    let says = |key: &str| matches!(found.node.get(key).map(|node| &node.value), Some(Value::Flag(true)));
    if says("load_in_8bit") {
        return Some(Format::usual(Dtype::Int8));
    }
    if says("load_in_4bit") {
        // Blocks of 64 with a 32-bit scale, or an 8-bit one where scales are quantised again.
        let bytes = if says("bnb_4bit_use_double_quant") { 1 } else { 4 };
        reader.infer("weights that share a scale", 64, "bitsandbytes has blocks of 64");
        return Format::scaled(Dtype::Int4, Scale { group: 64, bytes }).ok();
    }
    let message = format!("`{}` says neither load_in_4bit nor load_in_8bit", found.path);
    reader.problem(Diagnostic::error("missing-key", message), found.node)
}

/// ModelOpt: an algorithm for all, or one for each layer.
pub(super) fn modelopt(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Declared> {
    let table = found.node;
    let path = |key: &str| format!("{}.{key}", found.path);
    let Some(algorithm) = table.get("quant_algo").filter(|node| !node.is_null()) else {
        let message = format!("`{}` has no `quant_algo`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), table);
    };
    reader.note("algorithm of quantisation", &path("quant_algo"), algorithm);
    let mut excluded = texts(table.get("exclude_modules"));
    excluded.extend(texts(table.get("ignore")));
    let mut declared = Declared { excluded, ..Declared::default() };
    let name = algorithm.text().unwrap_or_default();
    if name == "MIXED_PRECISION" {
        mixed(reader, found, &mut declared)?;
    } else {
        let Some((format, activations)) = of_algorithm(name) else {
            return refuse(reader, &path("quant_algo"), algorithm, ALGORITHMS);
        };
        (declared.weights, declared.activations) = (Some(format), activations);
    }
    declared.kv = kv_cache(reader, found)?;
    Some(declared)
}

/// The format of the KV cache, by a name or a scheme. `Some(None)` if none is declared.
fn kv_cache(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Option<Dtype>> {
    let at = |key: &'static str| found.node.get(key).filter(|node| !node.is_null()).map(|node| (key, node));
    let Some((key, node)) = at("kv_cache_quant_algo").or_else(|| at("kv_cache_scheme")) else { return Some(None) };
    let path = format!("{}.{key}", found.path);
    let dtype = match (node.text(), &node.value) {
        (Some("FP8"), _) => Dtype::Fp8,
        (Some("NVFP4"), _) => Dtype::Fp4,
        (Some("INT8"), _) => Dtype::Int8,
        (None, Value::Table(_)) => scheme(reader, &path, node)?.dtype(),
        _ => return refuse(reader, &path, node, "priced are FP8, NVFP4, INT8 and schemes of 4 and 8 bits"),
    };
    reader.note("format of the KV cache", &path, node);
    Some(Some(dtype))
}

const ALGORITHMS: &str =
    "priced are FP8, FP8_PB_WO, NVFP4, W4A16_AWQ, W4A8_AWQ, W4A16_NVFP4, W8A16, W8A8_SQ and MIXED_PRECISION";

/// Weights and what they are computed in, if that is not the format of the checkpoint.
fn of_algorithm(name: &str) -> Option<(Format, Option<Dtype>)> {
    let usual = Format::usual;
    Some(match name {
        "FP8" | "FP8_PB_REAL" | "FP8_PER_CHANNEL_PER_TOKEN" => (usual(Dtype::Fp8), Some(Dtype::Fp8)),
        "FP8_PB_WO" => (usual(Dtype::Fp8), Some(Dtype::Fp8)),
        "NVFP4" => (usual(Dtype::Fp4), Some(Dtype::Fp4)),
        "NVFP4_AWQ" => (usual(Dtype::Fp4), Some(Dtype::Fp4)),
        "W4A16_NVFP4" => (usual(Dtype::Fp4), None),
        "W4A16_AWQ" | "W4A16" => (usual(Dtype::Int4), None),
        "W4A8_AWQ" => (usual(Dtype::Int4), Some(Dtype::Fp8)),
        "W8A16" => (usual(Dtype::Int8), None),
        "W8A8_SQ" | "W8A8_SQ_PER_CHANNEL" => (usual(Dtype::Int8), Some(Dtype::Int8)),
        _ => return None,
    })
}

/// `quantized_layers`: the algorithm that most modules of a part have.
fn mixed(reader: &mut Reader<'_>, found: &Found<'_>, declared: &mut Declared) -> Option<()> {
    let layers = found.node.get("quantized_layers").map(Json::entries).unwrap_or_default();
    let mut counts: Vec<(Option<Part>, String, usize)> = Vec::new();
    for entry in layers {
        let part = super::excluded::excluded(&[plain(&entry.key)], u64::MAX).whole.first().copied();
        let algorithm = entry.value.get("quant_algo").and_then(Json::text).unwrap_or_default().to_owned();
        match counts.iter_mut().find(|(known, name, _)| *known == part && *name == algorithm) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((part, algorithm, 1)),
        }
    }
    if counts.is_empty() {
        let message = format!("`{}` is mixed, and no `quantized_layers` say how", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), found.node);
    }
    counts.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
    let mut activations = None;
    for (part, algorithm, _) in &counts {
        let Some((format, computes)) = of_algorithm(algorithm) else {
            let message = format!("`{}.quantized_layers` has the algorithm {algorithm:?}", found.path);
            return reader.problem(Diagnostic::error("unpriced", message).hint(ALGORITHMS), found.node);
        };
        activations = activations.or(computes);
        let Some(part) = part else { continue };
        declared.parts[*part as usize].get_or_insert(format);
    }
    // What is not named stays as it is.
    declared.lm_head = declared.parts[Part::LmHead as usize].is_some();
    declared.activations = activations;
    reader.warn(
        "layers are quantised differently: each part has the format that most of its modules have, and all products \
         count as computed in the narrowest",
    );
    Some(())
}

/// A name without the number of its layer.
fn plain(name: &str) -> String {
    name.split('.').filter(|part| part.parse::<u64>().is_err()).collect::<Vec<_>>().join(".")
}

/// Groups of targets, each with formats of weights and activations.
pub(super) fn compressed_tensors(reader: &mut Reader<'_>, found: &Found<'_>, _base: Dtype) -> Option<Declared> {
    let groups = found.node.get("config_groups").map(Json::entries).unwrap_or_default();
    if groups.is_empty() {
        let message = format!("`{}` has no `config_groups`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), found.node);
    }
    let mut declared = Declared { excluded: texts(found.node.get("ignore")), ..Declared::default() };
    for group in groups {
        let path = format!("{}.config_groups.{}", found.path, group.key);
        let Some(weights) = group.value.get("weights").filter(|node| !node.is_null()) else { continue };
        let format = scheme(reader, &format!("{path}.weights"), weights)?;
        let activations = match group.value.get("input_activations").filter(|node| !node.is_null()) {
            Some(node) => Some(scheme(reader, &format!("{path}.input_activations"), node)?.dtype()),
            None => None,
        };
        declared.activations = declared.activations.or(activations);
        place(&texts(group.value.get("targets")), format, &mut declared);
    }
    declared.kv = kv_cache(reader, found)?;
    Some(declared)
}

/// Where the targets of a group are parts, only these have its format.
fn place(targets: &[String], format: Format, declared: &mut Declared) {
    let parts: Vec<Part> = super::excluded::excluded(targets, u64::MAX).whole;
    if parts.is_empty() {
        declared.weights = Some(declared.weights.unwrap_or(format));
    }
    for part in parts {
        declared.parts[part as usize] = Some(format);
        declared.lm_head |= part == Part::LmHead;
    }
}

/// `num_bits`, `type` and `group_size`.
fn scheme(reader: &mut Reader<'_>, path: &str, node: &Json) -> Option<Format> {
    let bits = node.get("num_bits").and_then(Json::whole);
    let kind = node.get("type").and_then(Json::text);
    let group = node.get("group_size").and_then(Json::whole).filter(|group| (1..=1 << 20).contains(group));
    let shown = node.get("num_bits").unwrap_or(node);
    reader.note("bits of a value", &format!("{path}.num_bits"), shown);
    match (bits, kind) {
        (Some(8), Some("float")) => Some(Format::usual(Dtype::Fp8)),
        (Some(8), Some("int")) => Some(Format::usual(Dtype::Int8)),
        (Some(4), Some("int")) => {
            let group = group.map_or(1 << 20, |group| group as u64);
            Format::scaled(Dtype::Int4, Scale { group, bytes: 2 }).ok()
        }
        (Some(4), Some("float")) if group == Some(32) => Some(Format::usual(Dtype::Mxfp4)),
        (Some(4), Some("float")) => Some(Format::usual(Dtype::Fp4)),
        _ => refuse(reader, &format!("{path}.num_bits"), shown, "priced are int and float of 4 and 8 bits"),
    }
}
