//! Quantisation as NVIDIA's ModelOpt declares it, in the configuration or in a file beside it.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::domain::formats::{Format, Scale};
use crate::import::hf::formats::declared::{Declared, Rule, What, kv_cache, modules, refuse};
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::Json;
use crate::words::Dtype;

const ALGORITHMS: &str =
    "priced are FP8, FP8_PB_WO, NVFP4, W4A16_AWQ, W4A8_AWQ, W4A16_NVFP4, W8A16, W8A8_SQ and MIXED_PRECISION";

/// An algorithm for all layers, or one for each module.
pub(super) fn modelopt(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Declared> {
    let table = found.node;
    let path = |key: &str| format!("{}.{key}", found.path);
    let kv = kv_cache(reader, found)?;
    let Some(algorithm) = table.get("quant_algo").filter(|node| !node.is_null()) else {
        if kv.is_some() {
            return Some(Declared { kv, ..Declared::default() });
        }
        let message = format!("`{}` has no `quant_algo`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), table);
    };
    reader.note("algorithm of quantisation", &path("quant_algo"), algorithm);
    let left_out = modules(reader, found, &["exclude_modules", "ignore"])?;
    let group = table.get("group_size").and_then(Json::whole).filter(|group| (1..=1 << 20).contains(group));
    let name = algorithm.text().unwrap_or_default();
    if name == "MIXED_PRECISION" {
        let mut declared = by_module(reader, found)?;
        declared.rules.push(Rule { what: What::Named(left_out), format: None });
        return Some(Declared { kv, ..declared });
    }
    let Some((format, computes)) = of_algorithm(name, group) else {
        return refuse(reader, &path("quant_algo"), algorithm, ALGORITHMS);
    };
    let declared = Declared::layers_but(format, left_out);
    Some(Declared { activations: computes.into_iter().collect(), kv, ..declared })
}

/// Weights, and what they are computed in if that is not the format of the checkpoint.
fn of_algorithm(name: &str, group: Option<i64>) -> Option<(Format, Option<Dtype>)> {
    let usual = Format::usual;
    // Groups of 128 and of 16 are the usual ones of these formats.
    let of_group = |dtype: Dtype, bytes: u64, common: i64| match group.filter(|group| *group != common) {
        Some(group) => Format::scaled(dtype, Scale { group: group as u64, bytes }).unwrap_or(usual(dtype)),
        None => usual(dtype),
    };
    Some(match name {
        "FP8" | "FP8_PB_REAL" | "FP8_PB_WO" | "FP8_PER_CHANNEL_PER_TOKEN" => (usual(Dtype::Fp8), Some(Dtype::Fp8)),
        "NVFP4" | "NVFP4_AWQ" => (of_group(Dtype::Fp4, 1, 16), Some(Dtype::Fp4)),
        "W4A16_NVFP4" => (of_group(Dtype::Fp4, 1, 16), None),
        "W4A16_AWQ" | "W4A16" => (of_group(Dtype::Int4, 2, 128), None),
        "W4A8_AWQ" => (of_group(Dtype::Int4, 2, 128), Some(Dtype::Fp8)),
        "W8A16" => (usual(Dtype::Int8), None),
        "W8A8_SQ" | "W8A8_SQ_PER_CHANNEL" => (usual(Dtype::Int8), Some(Dtype::Int8)),
        _ => return None,
    })
}

/// `quantized_layers`: modules with an algorithm each; what is not named stays as it is.
fn by_module(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Declared> {
    let modules = found.node.get("quantized_layers").map(Json::entries).unwrap_or_default();
    if modules.is_empty() {
        let message = format!("`{}` is mixed, and no `quantized_layers` say how", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), found.node);
    }
    let mut by_algorithm: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in modules {
        let algorithm = entry.value.get("quant_algo").and_then(Json::text).unwrap_or_default();
        by_algorithm.entry(algorithm).or_default().push(entry.key.clone());
    }
    let mut declared = Declared::default();
    for (algorithm, names) in by_algorithm {
        let Some((format, computes)) = of_algorithm(algorithm, None) else {
            let message = format!("`{}.quantized_layers` has the algorithm {algorithm:?}", found.path);
            return reader.problem(Diagnostic::error("unpriced", message).hint(ALGORITHMS), found.node);
        };
        declared.activations.extend(computes);
        declared.rules.push(Rule { what: What::Named(names), format: Some(format) });
    }
    if declared.activations.len() > 1 {
        reader.warn("modules compute in different formats: all count as computed in the narrowest");
    }
    Some(declared)
}
