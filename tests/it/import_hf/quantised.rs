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
        (
            json!(["re:.*q_proj", "lm_head"]),
            [Fp8, Fp8, Bf16, Bf16],
            "40.0 % of the weights of attention are in another format than fp8: all are counted so, 29 % too few",
        ),
        (
            json!(["re:.*(q|o)_proj", "lm_head"]),
            [Bf16, Fp8, Bf16, Bf16],
            "20.0 % of the weights of attention are in another format than bf16: all are counted so, 11 % too many",
        ),
        (
            json!([in_layers(&["mlp.down_proj"])].concat()),
            [Fp8, Fp8, Bf16, Bf16],
            "33.3 % of the weights of ffn are in another format than fp8: all are counted so, 25 % too few",
        ),
        (
            json!(["model.layers.0*", "model.layers.1.*"]),
            [Fp8, Fp8, Bf16, Bf16],
            "6.2 % of the weights of attention are in another format than fp8: all are counted so, 6 % too few",
        ),
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
    // The same lists under the name that vLLM gives them, and all modules of a layer by name.
    let mlp = json!(in_layers(&["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]));
    assert_eq!(formats(&json!({ "quant_method": "fp8", "ignored_layers": mlp })).0, [Fp8, Bf16, Bf16, Bf16]);
    let all = json!([
        ["self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj", "self_attn.o_proj"],
        ["mlp.up_proj"],
        ["mlp.gate_proj"],
        ["mlp.down_proj"]
    ]);
    let only = |modules: Value| json!({ "quant_method": "gptq", "bits": 4, "modules_in_block_to_quantize": modules });
    assert_eq!(formats(&only(all)).0, [Int4, Int4, Bf16, Bf16]);
    assert_eq!(formats(&only(json!([["self_attn.o_proj", "self_attn.q_proj"]]))).0, [Int4, Bf16, Bf16, Bf16]);
    // MLX quantises both ends too: 8,030,261,248 parameters at 4 bits and 4 bytes for 64, norms among them as all that
    // no part of its own is.
    let mlx = read("quantization", &json!({ "bits": 4, "group_size": 64 })).unwrap().model;
    assert_eq!(mlx.weight_bytes_held().get().to_bits(), f64::to_bits(8_030_261_248.0 * (0.5 + 4.0 / 64.0)));
    // An LM head that stays: 128,256 x 4096 weights of 2 bytes in place of 0.5625.
    let kept = read("quantization", &json!({ "bits": 4, "group_size": 64, "lm_head": false })).unwrap().model;
    let more = kept.weight_bytes_held().get() - mlx.weight_bytes_held().get();
    assert_eq!(more.to_bits(), f64::to_bits(525_336_576.0 * 1.4375));
    let other = json!({ "bits": 4, "group_size": 64, "lm_head": { "bits": 8, "group_size": 64 } });
    assert!(read("quantization", &other).unwrap_err()[0].contains("a format of its own"));
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
        (json!({ "quant_method": "fp8", "weight_block_size": [0, 0] }), "weight_block_size` must be two whole"),
        (json!({ "quant_method": "fp8", "modules_to_not_convert": [1, null] }), "must be a list of names"),
        (json!({ "quant_method": "gptq", "bits": 4, "modules_in_block_to_quantize": 4 }), "must be lists of names"),
        (json!({ "quant_method": "bitsandbytes", "load_in_4bit": true, "load_in_8bit": true }), "says both"),
        (json!({ "bits": 4, "group_size": 64, "model.layers.0.mlp": { "bits": 8 } }), "a format of its own"),
        (json!({ "quant_method": 8 }), "must be a text"),
    ] {
        let found = read("quantization_config", &declared).map(|read| read.report.warnings).unwrap_err();
        assert!(found.iter().any(|one| one.contains(said)), "{declared}: {found:?}");
    }
    let mut sparse = compressed(json!({ "group_0": groups(json!(["Linear"]), 8, "float", None) }), json!(["lm_head"]));
    sparse["sparsity_config"] = json!({ "format": "sparse-24-bitmask", "sparsity_structure": "2:4" });
    assert!(read("quantization_config", &sparse).unwrap_err()[0].contains("sparse pattern"));
}

/// What is not known of a declaration is told.
#[test]
fn unknown_keys_of_a_declaration_are_told() {
    let (_, _, warnings) = formats(&json!({ "quant_method": "awq", "bits": 4, "group_size": 128, "bits_of_down": 8 }));
    assert!(warnings.iter().any(|one| one.contains("`quantization_config.bits_of_down`")), "{warnings:?}");
    let mut shifted = groups(json!(["Linear"]), 4, "int", Some(128));
    shifted["weights"]["symmetric"] = json!(false);
    let (_, _, warnings) = formats(&compressed(json!({ "group_0": shifted }), json!(["lm_head"])));
    assert!(warnings.iter().any(|one| one.contains("zero points")), "{warnings:?}");
}

/// Experts by number: of Qwen3-30B-A3B's 128, in each of 48 layers.
#[test]
fn experts_are_weighed_one_by_one() {
    let read = |ignore: Value| {
        let mut qwen: Map<String, Value> = serde_json::from_str(&text("qwen3-30b-a3b")).unwrap();
        let int4 = json!({ "group_0": groups(json!(["Linear"]), 4, "int", Some(128)) });
        qwen.insert("quantization_config".to_owned(), compressed(int4, ignore));
        let text = Value::Object(qwen).to_string();
        let read = config(&source(&text), &Asked { id: "m".to_owned(), ..Asked::default() }).unwrap();
        (read.model.formats.part(Part::Experts).dtype(), read.report.warnings.join("; "))
    };
    let one = |number: u64| -> Value {
        let of =
            |at: u64| ["gate", "up", "down"].map(|name| format!("model.layers.{at}.mlp.experts.{number}.{name}_proj"));
        json!((0..48).flat_map(of).chain(["lm_head".to_owned()]).collect::<Vec<_>>())
    };
    // One of 128 in 2 bytes in place of 0.515625: 0.515625 / (0.515625 + 1.484375 / 128) is 2.2 % too few.
    let told = "0.8 % of the weights of experts are in another format than int4: all are counted so, 2 % too few bytes";
    for ignore in [one(0), one(5), one(127), json!(["re:.*experts\\.5\\..*"]), json!(["re:.*experts\\.127\\..*"])] {
        let (format, warnings) = read(ignore.clone());
        assert!(format == Dtype::Int4 && warnings.contains(told), "{ignore}: {format} {warnings}");
    }
    let half = "re:.*experts\\.([0-9]|[1-5][0-9]|6[0-9])\\..*";
    let (format, warnings) = read(json!([half]));
    assert!(format == Dtype::Bf16 && warnings.contains("45.3 % of the weights of experts"), "{format} {warnings}");
    assert_eq!(read(json!(["re:.*mlp\\.experts\\.\\d+\\..*"])), (Dtype::Bf16, String::new()));
    assert!(read(one(128)).1.contains("experts.128.gate_proj"), "{:?}", read(one(128)));
}
