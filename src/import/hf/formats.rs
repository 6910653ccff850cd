//! Number formats: the dtype of a checkpoint, and how it declares quantisation.

mod declared;
mod matrices;
mod modelopt;
mod patterns;

use std::collections::{BTreeMap, HashSet};

use crate::diagnostic::{Diagnostic, visible};
use crate::domain::attention::Attention;
use crate::domain::ffn::Ffn;
use crate::domain::formats::{Format, Formats};
use crate::domain::layers::Layers;
use crate::import::hf::formats::declared::{Declared, What, compressed_tensors, one_format};
use crate::import::hf::formats::matrices::{Matrices, Meant, Of};
use crate::import::hf::formats::modelopt::modelopt;
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::{Json, Value};
use crate::words::{Dtype, Part, Word};

/// The layers whose formats are read, one by one and grouped.
pub(super) struct Shape<'a> {
    pub(super) each: &'a [(Attention, Ffn)],
    pub(super) layers: &'a Layers,
    /// Whether experts lie beside the feed-forward part, not in it.
    pub(super) experts_apart: bool,
}

/// Reads the formats of a model; a sidecar overrules what the configuration says.
pub(super) fn formats(
    reader: &mut Reader<'_>,
    shape: Option<&Shape<'_>>,
    sidecar: Option<&mut Reader<'_>>,
) -> Option<Formats> {
    let base = base(reader)?;
    let own = ["quantization_config", "compression_config", "quantization"];
    let declared = match sidecar {
        Some(sidecar) => {
            let declared = modelopt_sidecar(sidecar);
            if reader.find(&own).is_some() {
                reader.warn("the sidecar overrules `quantization_config`");
            }
            declared?
        }
        None => match reader.find(&own) {
            Some(found) => declaration(reader, &found, base)?,
            None => return Some(Formats::new(base, base, base)),
        },
    };
    apply(reader, &declared, base, shape?)
}

/// A part whose bytes are wrong by more is told.
const LARGEST_ERROR: f64 = 0.01;

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

/// What `quantization_config` declares, or MLX's `quantization`.
fn declaration(reader: &mut Reader<'_>, found: &Found<'_>, base: Dtype) -> Option<Declared> {
    let table = found.node;
    let path = |key: &str| format!("{}.{key}", found.path);
    if !matches!(table.value, Value::Table(_)) {
        let message = format!("`{}` must be a table, not {}", found.path, table.shown());
        return reader.problem(Diagnostic::error("wrong-type", message), table);
    }
    let at = |key: &str| table.get(key).filter(|node| !node.is_null());
    refuse_sparse(reader, found)?;
    unknown_keys(reader, found)?;
    let Some(method) = at("quant_method") else {
        return if at("config_groups").is_some() {
            compressed_tensors(reader, found)
        } else if at("bits").is_some() && at("group_size").is_some() {
            one_format(reader, "mlx", found, base)
        } else {
            let message = format!("`{}` has no `quant_method`", found.path);
            reader.problem(Diagnostic::error("missing-key", message), table)
        };
    };
    reader.note("method of quantisation", &path("quant_method"), method);
    let algorithm = at("quant_algo").and_then(Json::text);
    match method.text().map(str::to_lowercase).as_deref() {
        Some("compressed-tensors") => compressed_tensors(reader, found),
        Some(name) if name.starts_with("modelopt") && algorithm.is_some() => modelopt(reader, found),
        Some(name) if name.starts_with("modelopt") => compressed_tensors(reader, found),
        // A list of modules with a format each overrules whatever method is named.
        Some(_) if algorithm.is_some() && at("quantized_layers").is_some() => modelopt(reader, found),
        Some(name) => one_format(reader, name, found, base),
        None => {
            let message = format!("`{}` must be a text", path("quant_method"));
            reader.problem(Diagnostic::error("wrong-type", message), method)
        }
    }
}

/// Keys of a declaration that are read, or that change no bytes.
const DECLARED: &[&str] = &[
    "act_per_tensor",
    "activation_scale_ub",
    "activation_scheme",
    "algorithm",
    "amp",
    "autoround_version",
    "backend",
    "batch_size",
    "bits",
    "block_name_to_quantize",
    "bnb_4bit_compute_dtype",
    "bnb_4bit_quant_storage",
    "bnb_4bit_quant_type",
    "bnb_4bit_use_double_quant",
    "checkpoint_format",
    "config_groups",
    "damp_percent",
    "data_type",
    "dataset",
    "desc_act",
    "dynamic",
    "exclude_modules",
    "extra_config",
    "fmt",
    "format",
    "global_compression_ratio",
    "group_size",
    "ignore",
    "ignored_layers",
    "iters",
    "kv_cache_quant_algo",
    "kv_cache_scheme",
    "llm_int8_skip_modules",
    "llm_int8_threshold",
    "lm_head",
    "load_in_4bit",
    "load_in_8bit",
    "meta",
    "model.embed_tokens",
    "model_file_base_name",
    "model_name_or_path",
    "modules_in_block_to_quantize",
    "modules_to_not_convert",
    "moe_quant_algo",
    "producer",
    "q_group_size",
    "quant_algo",
    "quant_method",
    "quantization_status",
    "quantized_layers",
    "scale_fmt",
    "sparsity_config",
    "static_groups",
    "sym",
    "true_sequential",
    "version",
    "w_bit",
    "weight_block_size",
    "weight_per_tensor",
    "zero_point",
];

/// Tells of keys that are not known; formats of single modules are refused.
fn unknown_keys(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<()> {
    let known = |key: &str| DECLARED.contains(&key) || key.starts_with("llm_int8") || key.starts_with("_load");
    let listed = ["config_groups", "kv_cache_scheme", "quantized_layers"];
    let single = |key: &str| !listed.contains(&key);
    for entry in found.node.entries().iter().filter(|entry| !entry.value.is_null() && single(&entry.key)) {
        let path = format!("{}.{}", found.path, entry.key);
        if entry.value.get("bits").is_some() || entry.value.get("group_size").is_some() {
            let message = format!("`{}` has a format of its own, which is not read", visible(&path));
            return reader.problem(Diagnostic::error("unpriced", message), &entry.value);
        }
        if !known(&entry.key) {
            reader.unknown(&path);
        }
    }
    Some(())
}

/// Weights of which a pattern is zero are stored and multiplied otherwise.
fn refuse_sparse(reader: &mut Reader<'_>, found: &Found<'_>) -> Option<()> {
    let Some(sparse) = found.node.get("sparsity_config") else { return Some(()) };
    let dense = sparse.entries().is_empty() || sparse.get("format").and_then(Json::text) == Some("dense");
    if dense {
        return Some(());
    }
    let message = format!("`{}.sparsity_config`: weights of a sparse pattern cannot be priced", found.path);
    reader.problem(Diagnostic::error("unpriced", message), sparse)
}

/// `hf_quant_config.json` of ModelOpt: the declaration lies under `quantization`.
fn modelopt_sidecar(sidecar: &mut Reader<'_>) -> Option<Declared> {
    match sidecar.find(&["quantization"]) {
        Some(found) => modelopt(sidecar, &found),
        None => sidecar.missing("what ModelOpt quantised: is this hf_quant_config.json?", &["quantization"]),
    }
}

/// Every matrix with its format, as rules follow each other; each part then has the one that weighs most in it.
fn apply(reader: &mut Reader<'_>, declared: &Declared, base: Dtype, shape: &Shape<'_>) -> Option<Formats> {
    let usual = Format::usual(base);
    let matrices = Matrices::of(shape.each, shape.layers, shape.experts_apart);
    let mut formats = vec![Mix::from([(usual, 1.0)]); matrices.all.len()];
    let mut unknown = Vec::new();
    for rule in &declared.rules {
        let meant = meant(reader, &matrices, &rule.what, &mut unknown)?;
        for (at, share) in shares(&matrices, meant) {
            restate(&mut formats[at], rule.format.unwrap_or(usual), share);
        }
    }
    if !unknown.is_empty() {
        let named: Vec<String> = unknown.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = if unknown.len() > 8 { format!(" and {} more", unknown.len() - 8) } else { String::new() };
        reader.warn(format!("modules named in the quantisation that mean nothing here: {}{more}", named.join(", ")));
    }
    let mut parts = [None; Part::COUNT];
    for part in Part::ALL {
        parts[*part as usize] = heaviest(reader, &matrices, &formats, *part);
    }
    let default = default_of(declared, &parts, usual);
    for part in &mut parts {
        // What is as most weights are needs no entry of its own.
        *part = part.filter(|format| *format != default);
    }
    one_scale(reader, default, &parts)?;
    let kv = declared.kv.unwrap_or(base);
    let narrowest = declared.activations.iter().copied().min_by(|a, b| bytes(*a).total_cmp(&bytes(*b)));
    Some(Formats::new(default.dtype(), narrowest.unwrap_or(base), kv).with_weights(default, parts))
}

/// Formats with the share of a matrix that each has: experts of a layer may differ.
type Mix = Vec<(Format, f64)>;

/// How much of each matrix a rule means: the experts that it names, each once, of all there are.
fn shares(matrices: &Matrices, meant: Vec<Of>) -> BTreeMap<usize, f64> {
    let mut experts: BTreeMap<usize, Option<HashSet<u64>>> = BTreeMap::new();
    for (at, expert) in meant {
        let known = experts.entry(at).or_insert_with(|| Some(HashSet::new()));
        match (expert, known.as_mut()) {
            (Some(expert), Some(known)) => {
                known.insert(expert);
            }
            _ => *known = None,
        }
    }
    let share = |at: usize, of: Option<HashSet<u64>>| {
        of.map_or(1.0, |of| of.len() as f64 / matrices.all[at].experts.max(1) as f64)
    };
    experts.into_iter().map(|(at, of)| (at, share(at, of))).collect()
}

/// Gives a share of a matrix another format, an equal share of each it has.
fn restate(mix: &mut Mix, format: Format, share: f64) {
    mix.iter_mut().for_each(|(_, weight)| *weight *= 1.0 - share);
    mix.retain(|(_, weight)| *weight > 0.0);
    match mix.iter_mut().find(|(known, _)| *known == format) {
        Some((_, weight)) => *weight += share,
        None => mix.push((format, share)),
    }
}

/// The format that a file states first: that of the layers, if some of them have it, else that of some part.
fn default_of(declared: &Declared, parts: &[Option<Format>; Part::COUNT], usual: Format) -> Format {
    let all = declared.rules.iter().find(|rule| matches!(rule.what, What::Layers)).and_then(|rule| rule.format);
    let inside = [Part::Ffn, Part::Experts, Part::Attention].map(|part| parts[part as usize]);
    let used = |format: &Format| inside.contains(&Some(*format));
    [all.unwrap_or(usual)].into_iter().find(used).or_else(|| inside.into_iter().flatten().next()).unwrap_or(usual)
}

fn bytes(dtype: Dtype) -> f64 {
    Format::usual(dtype).bytes()
}

/// The matrices that a rule means.
fn meant(reader: &mut Reader<'_>, matrices: &Matrices, what: &What, unknown: &mut Vec<String>) -> Option<Vec<Of>> {
    let of = |is: &dyn Fn(Part) -> bool| {
        matrices.all.iter().enumerate().filter(|(_, matrix)| is(matrix.part)).map(|(at, _)| (at, None)).collect()
    };
    let names = match what {
        What::Layers => return Some(of(&|part| !matches!(part, Part::LmHead | Part::Embedding))),
        What::Part(part) => return Some(of(&|of| of == *part)),
        What::Named(names) => names,
    };
    if !matrices.can_compare(names) {
        reader.warn("the quantisation names too many patterns or layers to compare: they are counted as quantised");
        return Some(Vec::new());
    }
    let mut found = Vec::new();
    for name in names {
        match matrices.meant(name) {
            Meant::These(these) => found.extend(these),
            Meant::Beside => {}
            Meant::Nothing => unknown.push(shortened(name)),
        }
    }
    Some(found)
}

/// A name, or how it starts.
fn shortened(name: &str) -> String {
    let short: String = name.chars().take(80).collect();
    let more = if short.len() < name.len() { "..." } else { "" };
    visible(&format!("{short}{more}"))
}

/// The format that most of a part is in; where others weigh more than a fiftieth, that is told.
fn heaviest(reader: &mut Reader<'_>, matrices: &Matrices, formats: &[Mix], part: Part) -> Option<Format> {
    let mut weights: Vec<(Format, f64)> = Vec::new();
    for (matrix, mix) in matrices.all.iter().zip(formats).filter(|(matrix, _)| matrix.part == part) {
        for (format, share) in mix {
            match weights.iter_mut().find(|(known, _)| known == format) {
                Some((_, weight)) => *weight += share * matrix.params,
                None => weights.push((*format, share * matrix.params)),
            }
        }
    }
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let stored: f64 = weights.iter().map(|(format, weight)| weight * format.bytes()).sum();
    let (format, weight) = weights.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let counted = total * format.bytes();
    if (counted / stored - 1.0).abs() > LARGEST_ERROR {
        let others = 100.0 * (1.0 - weight / total);
        let (wrong, how) = (100.0 * (counted / stored - 1.0).abs(), if counted < stored { "few" } else { "many" });
        reader.warn(format!(
            "{others:.1} % of the weights of {part} are in another format than {}: all are counted so, {wrong:.0} % \
             too {how} bytes",
            format.dtype()
        ));
    }
    Some(format)
}

/// A model's file states one scale for all formats of four bits.
fn one_scale(reader: &mut Reader<'_>, default: Format, parts: &[Option<Format>; Part::COUNT]) -> Option<()> {
    let four = |format: &Format| matches!(format.dtype(), Dtype::Int4 | Dtype::Fp4);
    let mut scales =
        std::iter::once(default).chain(parts.iter().copied().flatten()).filter(four).map(|one| one.scale());
    let Some(first) = scales.next() else { return Some(()) };
    if scales.all(|other| other == first) {
        return Some(());
    }
    let root = reader.root();
    let message = "the quantisation has formats of four bits with different scales, which a model's file cannot state";
    reader.problem(Diagnostic::error("unpriced", message), root)
}
