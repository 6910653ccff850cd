//! Quantisation matrix by matrix: every way of saying which ones, on Llama-3.1-8B.
//!
//! A layer has 2 x 4096 x 4096 + 2 x 4096 x 1024 = 41,943,040 parameters in attention, of which queries are two in
//! five, and 3 x 4096 x 14,336 in its feed-forward part, a third in each matrix.

use serde_json::{Map, Value, json};
use specplan::import::hf::{Asked, Imported, config};
use specplan::words::{Dtype, Part};

use super::{source, text};

fn read(key: &str, declared: &Value) -> Result<Imported, Vec<String>> {
    let mut llama: Map<String, Value> = serde_json::from_str(&text("llama-3.1-8b")).unwrap();
    llama.insert(key.to_owned(), declared.clone());
    let text = Value::Object(llama).to_string();
    config(&source(&text), &Asked { id: "m".to_owned(), ..Asked::default() })
        .map_err(|found| found.into_iter().map(|one| format!("{}: {}", one.code, one.message)).collect())
}

/// The formats of attention, feed-forward parts, LM head and embedding, that of products, and the warnings.
fn formats(declared: &Value) -> ([Dtype; 4], Dtype, Vec<String>) {
    let read = read("quantization_config", declared).map_err(|found| format!("{declared}: {found:?}")).unwrap();
    let formats = read.model.formats;
    let parts = [Part::Attention, Part::Ffn, Part::LmHead, Part::Embedding].map(|part| formats.part(part).dtype());
    (parts, formats.activations, read.report.warnings)
}

/// The names of a module in every layer.
fn in_layers(names: &[&str]) -> Vec<String> {
    (0..32).flat_map(|at| names.iter().map(move |name| format!("model.layers.{at}.{name}"))).collect()
}

fn groups(targets: Value, bits: u64, kind: &str, group: Option<u64>) -> Value {
    let strategy = if group.is_some() { "group" } else { "channel" };
    let weights = json!({ "num_bits": bits, "type": kind, "strategy": strategy, "group_size": group });
    json!({ "targets": targets, "weights": weights, "input_activations": null })
}

fn compressed(groups: Value, ignore: Value) -> Value {
    json!({ "quant_method": "compressed-tensors", "format": "x", "config_groups": groups, "ignore": ignore })
}

#[test]
fn lists_of_what_stays_are_weighed_by_part() {
    use Dtype::{Bf16, Fp8};
    let fp8 = |ignore: Value| compressed(json!({ "group_0": groups(json!(["Linear"]), 8, "float", None) }), ignore);
    let norms = in_layers(&["input_layernorm", "post_attention_layernorm"]);
    for (ignore, parts) in [
        (json!(["lm_head"]), [Fp8, Fp8, Bf16, Bf16]),
        // A list of all norms, as Qwen's releases have it, changes nothing.
        (json!([norms, vec!["lm_head".to_owned()]].concat()), [Fp8, Fp8, Bf16, Bf16]),
        (json!(["re:.*self_attn.*", "lm_head"]), [Bf16, Fp8, Bf16, Bf16]),
        (json!([in_layers(&["self_attn"]), vec!["lm_head".to_owned()]].concat()), [Bf16, Fp8, Bf16, Bf16]),
        (json!(["re:.*mlp\\.(gate|up|down)_proj$", "lm_head"]), [Fp8, Bf16, Bf16, Bf16]),
    ] {
        assert_eq!(formats(&fp8(ignore.clone())), (parts, Bf16, Vec::new()), "{ignore}");
    }
}

/// What is split has the format of most of it, and that is told.
#[test]
fn a_part_in_two_formats_is_told() {
    use Dtype::{Bf16, Fp8};
    let fp8 = |ignore: Value| compressed(json!({ "group_0": groups(json!(["Linear"]), 8, "float", None) }), ignore);
    for (ignore, parts, told) in [
        (json!(["re:.*q_proj", "lm_head"]), [Fp8, Fp8, Bf16, Bf16], "40 % of the weights of attention"),
        (json!(["re:.*(q|o)_proj", "lm_head"]), [Bf16, Fp8, Bf16, Bf16], "20 % of the weights of attention"),
        (json!([in_layers(&["mlp.down_proj"])].concat()), [Fp8, Fp8, Bf16, Bf16], "33 % of the weights of ffn"),
        (json!(["model.layers.0*", "model.layers.1.*"]), [Fp8, Fp8, Bf16, Bf16], "6 % of the weights of attention"),
        (json!(["model.layer_groups.7"]), [Fp8, Fp8, Bf16, Bf16], "`model.layer_groups.7`"),
    ] {
        let (found, _, warnings) = formats(&fp8(ignore.clone()));
        assert_eq!(found, parts, "{ignore}");
        assert!(warnings.iter().any(|one| one.contains(told)), "{ignore}: {warnings:?}");
    }
}

#[test]
fn each_tool_has_its_own_way_to_say_it() {
    use Dtype::{Bf16, Fp4, Fp8, Int4, Int8};
    let mixed: Map<String, Value> =
        in_layers(&["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"])
            .into_iter()
            .map(|name| (name, json!({ "quant_algo": "FP8" })))
            .chain(
                in_layers(&["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"])
                    .into_iter()
                    .map(|name| (name, json!({ "quant_algo": "NVFP4" }))),
            )
            .collect();
    for (declared, parts, products) in [
        (
            json!({ "quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128] }),
            [Fp8, Fp8, Bf16, Bf16],
            Fp8,
        ),
        (json!({ "quant_method": "gptq", "bits": 8, "group_size": 128 }), [Int8, Int8, Bf16, Bf16], Bf16),
        (json!({ "quant_method": "awq", "bits": 4, "group_size": 128 }), [Int4, Int4, Bf16, Bf16], Bf16),
        (
            json!({ "quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head", "model.layers.*.self_attn*"] }),
            [Bf16, Fp4, Bf16, Bf16],
            Fp4,
        ),
        (
            json!({ "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": mixed }),
            [Fp8, Fp4, Bf16, Bf16],
            Fp4,
        ),
    ] {
        let (found, activations, _) = formats(&declared);
        assert_eq!((found, activations), (parts, products), "{declared}");
    }
    // MLX quantises both ends too: 8,030,261,248 parameters but 266,240 of norms, 4 bits and 4 bytes for 64.
    let mlx = read("quantization", &json!({ "bits": 4, "group_size": 64 })).unwrap().model;
    let bytes = 8_029_995_008.0 * (0.5 + 4.0 / 64.0);
    assert!((mlx.weight_bytes_held().get() - bytes).abs() <= 2.0 * 266_240.0, "{} {bytes}", mlx.weight_bytes_held());
}

#[test]
fn what_cannot_be_weighed_is_refused() {
    let two = json!({
        "group_0": groups(json!(["re:.*self_attn.*"]), 4, "int", Some(32)),
        "group_1": groups(json!(["re:.*mlp.*"]), 4, "int", Some(128)),
    });
    for (declared, said) in [
        (compressed(two, json!([])), "formats of four bits with different scales"),
        (json!({ "quant_method": "modelopt", "quant_algo": "W2A16" }), "W2A16"),
        (json!({ "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION" }), "no `quantized_layers`"),
        (json!({ "quant_method": "gptq", "bits": 4, "dynamic": { "-:.*down.*": {} } }), "dynamic"),
        (
            json!({ "quant_method": "auto-round", "bits": 4, "extra_config": { "lm_head": { "bits": 16 } } }),
            "extra_config",
        ),
        (json!({ "bits": 4 }), "`quant_method`"),
        (json!("fp8"), "must be a table"),
        (json!({ "quant_method": 8 }), "must be a text"),
    ] {
        let found = read("quantization_config", &declared).map(|read| read.report.warnings).unwrap_err();
        assert!(found.iter().any(|one| one.contains(said)), "{declared}: {found:?}");
    }
    let mut sparse = compressed(json!({ "group_0": groups(json!(["Linear"]), 8, "float", None) }), json!(["lm_head"]));
    sparse["sparsity_config"] = json!({ "format": "sparse-24-bitmask", "sparsity_structure": "2:4" });
    assert!(read("quantization_config", &sparse).unwrap_err()[0].contains("sparse pattern"));
}
