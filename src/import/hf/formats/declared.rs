//! The ways in which checkpoints declare quantisation, as rules that follow each other.

use crate::diagnostic::Diagnostic;
use crate::domain::formats::{Format, Scale};
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::{Json, Value};
use crate::words::{Dtype, Part};

/// What a declaration says.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    /// Later rules overrule earlier ones.
    pub(super) rules: Vec<Rule>,
    /// What products are computed in, where it is not the format of the checkpoint.
    pub(super) activations: Vec<Dtype>,
    /// The KV cache, where it is not.
    pub(super) kv: Option<Dtype>,
}

/// Matrices and their format; none: as the checkpoint has them.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) what: What,
    pub(super) format: Option<Format>,
}

/// Which matrices a rule means.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// All of the layers; embedding and LM head stay as they are unless they are named.
    Layers,
    /// All of a part.
    Part(Part),
    /// Those of names and patterns.
    Named(Vec<String>),
}

impl Declared {
    /// One format for the layers but for what is left out.
    pub(super) fn layers_but(format: Format, left_out: Vec<String>) -> Self {
        let all = Rule { what: What::Layers, format: Some(format) };
        Self { rules: vec![all, Rule { what: What::Named(left_out), format: None }], ..Self::default() }
    }
}

/// The texts of a list.
pub(super) fn texts(node: Option<&Json>) -> Vec<String> {
    let items = node.and_then(Json::items).unwrap_or_default();
    items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
}

/// The names that a list of modules holds, under any of some keys.
pub(super) fn modules(reader: &mut Reader<'_>, found: &Found<'_>, keys: &[&str]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for key in keys {
        let Some(node) = found.node.get(key).filter(|node| !node.is_null()) else { continue };
        let path = format!("{}.{key}", found.path);
        let items = node.items();
        let texts = texts(Some(node));
        if items.is_none_or(|items| items.len() != texts.len()) {
            let message = format!("`{path}` must be a list of names, not {}", node.shown());
            return reader.problem(Diagnostic::error("wrong-type", message), node);
        }
        if !texts.is_empty() {
            reader.note("modules that are not quantised", &path, node);
        }
        names.extend(texts);
    }
    Some(names)
}

/// A key of a declaration that has no price.
pub(super) fn refuse<T>(reader: &mut Reader<'_>, path: &str, node: &Json, hint: &str) -> Option<T> {
    let message = format!("`{path}` is {}, which cannot be priced", node.shown());
    reader.problem(Diagnostic::error("unpriced", message).hint(hint), node)
}

const ZERO_POINTS: &str = "zero points, half a byte for each group, are not counted";
const METHODS: &str =
    "known are fp8, fbgemm_fp8, compressed-tensors, awq, gptq, auto-round, mxfp4, bitsandbytes and modelopt";

/// Methods that have one format for all they quantise.
pub(super) fn one_format(reader: &mut Reader<'_>, name: &str, found: &Found<'_>, base: Dtype) -> Option<Declared> {
    let table = found.node;
    for key in ["dynamic", "extra_config"] {
        if let Some(rules) = table.get(key).filter(|node| !node.entries().is_empty()) {
            return refuse(reader, &format!("{}.{key}", found.path), rules, "formats of single modules are not read");
        }
    }
    let left_out = modules(reader, found, &["modules_to_not_convert", "llm_int8_skip_modules", "ignored_layers"])?;
    check_blocks(reader, found)?;
    let only = only_modules(reader, found)?;
    let mut declared = match name {
        "fp8" | "fbgemm_fp8" => Declared::layers_but(Format::usual(Dtype::Fp8), left_out),
        "awq" | "gptq" | "awq_marlin" | "gptq_marlin" | "auto-round" | "intel/auto-round" | "mlx" => {
            let format = grouped(reader, name, found)?;
            let mut declared = Declared::layers_but(format, left_out);
            // MLX quantises both ends too, with a scale and a shift for each group.
            let said = |key: &str| match table.get(key).map(|node| &node.value) {
                Some(Value::Flag(said)) => *said,
                _ => name == "mlx",
            };
            let embedding = name == "mlx" && said("model.embed_tokens");
            let ends = [(Part::LmHead, said("lm_head")), (Part::Embedding, embedding)];
            let ends = ends.into_iter().filter(|(_, quantised)| *quantised);
            declared.rules.extend(ends.map(|(part, _)| Rule { what: What::Part(part), format: Some(format) }));
            declared
        }
        "mxfp4" => {
            reader.infer("parts that are quantised", "experts", "mxfp4 of this kind holds experts only");
            let experts = Rule { what: What::Part(Part::Experts), format: Some(Format::usual(Dtype::Mxfp4)) };
            Declared { rules: vec![experts], ..Declared::default() }
        }
        "bitsandbytes" => Declared::layers_but(bitsandbytes(reader, found)?, left_out),
        _ => {
            let method = table.get("quant_method").unwrap_or(table);
            return refuse(reader, &format!("{}.quant_method", found.path), method, METHODS);
        }
    };
    if let (Some(names), Some(Rule { what: all @ What::Layers, .. })) = (only, declared.rules.first_mut()) {
        *all = What::Named(names);
    }
    declared.activations = if name.ends_with("fp8") { vec![Dtype::Fp8] } else { vec![base] };
    Some(declared)
}

/// Lists in a list, of the modules that alone are quantised.
fn only_modules(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Option<Vec<String>>> {
    const KEY: &str = "modules_in_block_to_quantize";
    let Some(node) = found.node.get(KEY).filter(|node| !node.is_null()) else { return Some(None) };
    let path = format!("{}.{KEY}", found.path);
    reader.note("modules that alone are quantised", &path, node);
    let lists = node.items().unwrap_or_default();
    let names: Vec<String> = lists.iter().flat_map(|list| texts(Some(list))).chain(texts(Some(node))).collect();
    if names.is_empty() {
        let message = format!("`{path}` must be lists of names, not {}", node.shown());
        return reader.problem(Diagnostic::error("wrong-type", message), node);
    }
    Some(Some(names))
}

/// Blocks that share a scale have two sides.
fn check_blocks(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<()> {
    let Some(node) = found.node.get("weight_block_size").filter(|node| !node.is_null()) else { return Some(()) };
    let path = format!("{}.weight_block_size", found.path);
    let sides: Option<Vec<i64>> = node.items().and_then(|items| items.iter().map(Json::whole).collect());
    match sides.as_deref() {
        Some([rows, columns]) if *rows > 0 && *columns > 0 => {
            reader.note("weights that share a scale", &path, node);
            Some(())
        }
        _ => {
            let message = format!("`{path}` must be two whole numbers above 0, not {}", node.shown());
            reader.problem(Diagnostic::error("wrong-type", message), node)
        }
    }
}

/// AWQ and GPTQ: whole numbers with a scale for each group, and zero points; MLX with a shift as wide as the scale.
fn grouped(reader: &mut Reader<'_>, name: &str, found: &Found<'_>) -> Option<Format> {
    let table = found.node;
    let either = |keys: [&'static str; 2]| {
        keys.into_iter().find_map(|key| table.get(key).filter(|node| !node.is_null()).map(|node| (key, node)))
    };
    let Some((key, node)) = either(["bits", "w_bit"]) else {
        let message = format!("`{}` has no `bits`", found.path);
        return reader.problem(Diagnostic::error("missing-key", message), table);
    };
    let path = format!("{}.{key}", found.path);
    reader.note("bits of a weight", &path, node);
    match node.whole() {
        Some(4) => {}
        Some(8) => return Some(Format::usual(Dtype::Int8)),
        Some(_) => return refuse(reader, &path, node, "priced are 4 and 8 bits"),
        None => {
            let message = format!("`{path}` must be a whole number, not {}", node.shown());
            return reader.problem(Diagnostic::error("wrong-type", message), node);
        }
    }
    let group = match either(["group_size", "q_group_size"]) {
        Some((key, node)) => {
            reader.note("weights that share a scale", &format!("{}.{key}", found.path), node);
            match node.whole() {
                // One scale for each column: as good as none.
                Some(-1) => 1 << 20,
                Some(group @ 1..=1_048_576) => group as u64,
                _ => return refuse(reader, &format!("{}.{key}", found.path), node, "a group has 1 to 1048576 weights"),
            }
        }
        None => {
            let why = format!("{name} has groups of 128 unless it says otherwise");
            reader.infer("weights that share a scale", 128, why);
            128
        }
    };
    let shifted = !matches!(table.get("zero_point").map(|node| &node.value), Some(Value::Flag(false)));
    if shifted && name != "mlx" {
        reader.warn(ZERO_POINTS);
    }
    Format::scaled(Dtype::Int4, Scale { group, bytes: if name == "mlx" { 4 } else { 2 } }).ok()
}

fn bitsandbytes(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Format> {
    let says = |key: &str| matches!(found.node.get(key).map(|node| &node.value), Some(Value::Flag(true)));
    if says("load_in_8bit") && says("load_in_4bit") {
        let message = format!("`{}` says both load_in_4bit and load_in_8bit", found.path);
        return reader.problem(Diagnostic::error("conflict", message), found.node);
    }
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

/// More groups than any release has.
const MOST_GROUPS: usize = 64;

/// Groups of targets, each with formats of weights and activations.
pub(super) fn compressed_tensors(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Declared> {
    let groups = found.node.get("config_groups").map(Json::entries).unwrap_or_default();
    if groups.is_empty() || groups.len() > MOST_GROUPS {
        let message =
            format!("`{}` has {} `config_groups`: from 1 to {MOST_GROUPS} are read", found.path, groups.len());
        return reader.problem(Diagnostic::error("missing-key", message), found.node);
    }
    let mut declared = Declared::default();
    for group in groups {
        let path = format!("{}.config_groups.{}", found.path, group.key);
        let Some(weights) = group.value.get("weights").filter(|node| !node.is_null()) else { continue };
        let format = scheme(reader, &format!("{path}.weights"), weights)?;
        let shifted = matches!(weights.get("symmetric").map(|node| &node.value), Some(Value::Flag(false)));
        if shifted && format.dtype() == Dtype::Int4 {
            reader.warn(ZERO_POINTS);
        }
        if let Some(node) = group.value.get("input_activations").filter(|node| !node.is_null()) {
            declared.activations.push(scheme(reader, &format!("{path}.input_activations"), node)?.dtype());
        }
        let what = target(&texts(group.value.get("targets")));
        let same = |rule: &&Rule| matches!((&rule.what, &what), (What::Layers, What::Layers));
        if declared.rules.iter().find(same).is_some_and(|rule| rule.format != Some(format)) {
            let message = format!("`{path}` gives the matrices of another group another format");
            return reader.problem(Diagnostic::error("conflict", message), &group.value);
        }
        declared.rules.push(Rule { what, format: Some(format) });
    }
    let left_out = modules(reader, found, &["ignore"])?;
    declared.rules.push(Rule { what: What::Named(left_out), format: None });
    declared.kv = kv_cache(reader, found)?;
    Some(declared)
}

/// Targets are classes of modules, of which only `Linear` is a matrix, or names and patterns.
fn target(targets: &[String]) -> What {
    if targets.is_empty() || targets.iter().any(|target| target == "Linear") {
        What::Layers
    } else {
        What::Named(targets.to_vec())
    }
}

/// The format of the KV cache, by a name or a scheme. `Some(None)` if none is declared.
pub(super) fn kv_cache(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<Option<Dtype>> {
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
