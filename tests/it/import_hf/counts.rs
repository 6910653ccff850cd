//! Parameters, KV and state, against published totals and counts by other means.

use std::collections::HashMap;

use serde_json::Value;
use specplan::domain::attention::Attention;
use specplan::domain::ffn::Ffn;
use specplan::domain::model::{Model, Shape};
use specplan::report::imported::json;
use specplan::words::Dtype;

use super::{all, asked, built_in, configs, import, imported, source, text};

/// `tests/configs/counts.csv`: an empty cell says nothing; the last column says where the figures are from.
fn known() -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(configs().join("counts.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn configurations_count_to_what_is_published() {
    let columns = [
        ("total", "total_params"),
        ("total_with_mtp", "total_params_with_mtp"),
        ("total_with_copies", "total_params_with_mtp_and_copies"),
        ("active", "active_params"),
        ("active_without_embedding", "active_params_without_input_embedding"),
        ("kv_elements", "kv_elements_per_token"),
        ("state_elements", "state_elements_per_sequence"),
    ];
    let (mut figures, mut wrong) = (0, Vec::new());
    for row in known() {
        let name = &row["name"];
        if REFUSED.iter().any(|(refused, _)| refused == name) {
            continue;
        }
        let found = json(&imported(name));
        for (column, key) in columns {
            if row[column].is_empty() {
                continue;
            }
            figures += 1;
            let got = found[key].to_string();
            if got != row[column] {
                wrong.push(format!("{name}: {key} is {got}, not {}", row[column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(figures > 170, "{figures} figures were compared");
}

/// Configurations that cannot be priced, and the keys that they are refused by.
const REFUSED: [(&str, &[&str]); 3] = [
    ("kimi-k3", &["`text_config.attn_res_block_size`", "`text_config.linear_attn_config`"]),
    ("opt-350m", &["`word_embed_proj_dim`"]),
    ("head-deepseek-mtp-tiny", &["`qk_nope_head_dim`", "`v_head_dim`", "`num_experts_per_tok`"]),
];

#[test]
fn what_has_no_price_is_refused_by_its_key() {
    for (name, keys) in REFUSED {
        let found = import(name).unwrap_err();
        for key in keys {
            assert!(found.iter().any(|one| one.message.contains(key) && one.place.is_some()), "{name}: {found:#?}");
        }
    }
    assert!(all().iter().all(|name| import(name).is_ok() || REFUSED.iter().any(|(refused, _)| refused == name)));
}

/// KV bytes of a token: 2 x layers x KV heads x width x 2 bytes, or layers x (latent + rotary) x 2.
#[test]
fn caches_are_those_that_hand_arithmetic_gives() {
    for (name, bytes, without_windows) in [
        ("llama-3.1-8b", 2.0 * 32.0 * 8.0 * 128.0 * 2.0, 131_072.0),
        ("deepseek-v3", 61.0 * 576.0 * 2.0, 70_272.0),
        ("gemma-3-27b", 2.0 * 62.0 * 16.0 * 128.0 * 2.0, 2.0 * 10.0 * 16.0 * 128.0 * 2.0),
        ("gpt-oss-20b", 2.0 * 24.0 * 8.0 * 64.0 * 2.0, 2.0 * 12.0 * 8.0 * 64.0 * 2.0),
        // Nine layers see all with 4 KV heads, 39 a window with 8; keys of 192 and values of 128.
        ("mimo-v2-flash", (9.0 * 4.0 + 39.0 * 8.0) * 320.0 * 2.0, 9.0 * 4.0 * 320.0 * 2.0),
        // 78 layers keep a latent of 576, 21 of them a key of 128 that scores.
        ("glm-5.2", (78.0 * 576.0 + 21.0 * 128.0) * 2.0, (78.0 * 576.0 + 21.0 * 128.0) * 2.0),
        // 25 layers with a window: 8 heads of 256; 5 that see all: 2 of 512, keys and values both cached.
        ("gemma-4-26b-a4b", (25.0 * 2.0 * 8.0 * 256.0 + 5.0 * 2.0 * 2.0 * 512.0) * 2.0, 5.0 * 2.0 * 2.0 * 512.0 * 2.0),
    ] {
        let found = json(&imported(name));
        assert_eq!(found["kv_bytes_per_token"].as_f64(), Some(bytes), "{name}");
        assert_eq!(found["kv_bytes_per_token_without_windows"].as_f64(), Some(without_windows), "{name}");
    }
}

/// Layers of the catalog were written from other sources than these configurations.
#[test]
fn imports_agree_with_the_catalog() {
    for (name, id) in [
        ("llama-3.1-8b", "llama-3.1-8b"),
        ("llama-3.1-70b", "llama-3.1-70b"),
        ("qwen3-8b", "qwen3-8b"),
        ("qwen3-30b-a3b", "qwen3-30b-a3b"),
        ("qwen3-next-80b-a3b", "qwen3-next-80b-a3b"),
        ("qwen3.5-27b", "qwen3.5-27b"),
        ("qwen3.5-397b-a17b", "qwen3.5-397b-a17b"),
        ("mixtral-8x7b", "mixtral-8x7b"),
        ("mistral-nemo-12b", "mistral-nemo-12b"),
        ("gemma-2-27b", "gemma-2-27b"),
        ("deepseek-v2-lite", "deepseek-v2-lite"),
        ("deepseek-v2", "deepseek-v2"),
        ("deepseek-v3", "deepseek-v3"),
        ("gpt-oss-20b", "gpt-oss-20b"),
        ("gpt-oss-120b", "gpt-oss-120b"),
        ("llama-4-maverick", "llama-4-maverick"),
        ("nemotron-super-49b-nas", "llama-3.3-nemotron-super-49b"),
        ("phi-3-mini-4k", "phi-3-mini"),
        ("phi-4-mini", "phi-4-mini"),
        ("head-eagle3-llama3-8b", "eagle3-llama3.1-8b"),
        ("head-eagle3-deepseek-v3", "eagle3-deepseek-v3"),
        ("head-eagle1-llama2-70b", "eagle-llama2-70b"),
        ("head-medusa-vicuna-7b-v1.3", "medusa-vicuna-7b"),
    ] {
        let (one, other) = (imported(name).model, built_in(id));
        let parts = |model: &Model| match &model.shape {
            Shape::Layers(layers) => {
                let params = layers.params();
                [params.attention, params.ffn, params.experts, params.embedding, params.lm_head, params.fuse]
                    .map(f64::to_bits)
            }
            Shape::Aggregate(_) => panic!("{id} is known by its totals"),
        };
        assert_eq!(parts(&one), parts(&other), "{name}");
        assert_eq!(one.matmul_params().to_bits(), other.matmul_params().to_bits(), "{name}");
        assert_eq!(one.kv_bytes_per_token(), other.kv_bytes_per_token(), "{name}");
        assert_eq!(one.state_bytes_per_sequence(), other.state_bytes_per_sequence(), "{name}");
    }
}

/// The formats that checkpoints declare, by part.
#[test]
fn declared_quantisation_is_read() {
    let weights = |name: &str| {
        let formats = imported(name).model.formats;
        let parts: Vec<String> =
            formats.other_parts().map(|(part, format)| format!("{part} {}", format.dtype())).collect();
        (formats.weights(), formats.activations, formats.kv(), parts.join(", "))
    };
    let kept = "lm_head bf16, embedding bf16".to_owned();
    assert_eq!(weights("deepseek-v3"), (Dtype::Fp8, Dtype::Fp8, Dtype::Bf16, kept.clone()));
    assert_eq!(weights("llama-4-scout-fp8-dynamic"), (Dtype::Fp8, Dtype::Fp8, Dtype::Bf16, kept));
    assert_eq!(weights("gpt-oss-20b"), (Dtype::Bf16, Dtype::Bf16, Dtype::Bf16, "experts mxfp4".to_owned()));
    let kept = "lm_head fp16, embedding fp16".to_owned();
    assert_eq!(weights("quant-awq-qwen2.5-7b"), (Dtype::Int4, Dtype::Fp16, Dtype::Fp16, kept.clone()));
    assert_eq!(weights("quant-gptq-llama2-7b"), (Dtype::Int4, Dtype::Fp16, Dtype::Fp16, kept));
    assert_eq!(weights("llama-3.1-70b-fp8-modelopt").0, Dtype::Bf16, "only the sidecar says that it is quantised");
    let sidecar = source(&text("sidecar-llama-3.1-70b-fp8"));
    let with = super::config(
        &source(&text("llama-3.1-70b-fp8-modelopt")),
        &super::Asked { sidecar: Some(sidecar), ..asked("llama-3.1-70b-fp8-modelopt") },
    );
    let model = with.unwrap().model;
    assert_eq!((model.formats.weights(), model.formats.kv()), (Dtype::Fp8, Dtype::Fp8));
    // 2 x 80 layers x 8 x 128 values of a byte.
    assert_eq!(model.kv_bytes_per_token().get().to_bits(), f64::to_bits(163_840.0));
}

/// Every kind of part that a configuration can describe is met by one of these.
#[test]
fn every_kind_of_layer_is_met() {
    let mut kinds = [false; 9];
    for name in all() {
        let Ok(imported) = import(&name) else { continue };
        for group in imported.layers().unwrap().groups() {
            match group.attention {
                Attention::Gqa(gqa) => kinds[usize::from(gqa.window().is_some())] = true,
                Attention::Mla(mla) => kinds[2 + usize::from(mla.index().is_some())] = true,
                Attention::Linear(_) => kinds[4] = true,
                Attention::Ssm(_) => kinds[5] = true,
                Attention::None => kinds[6] = true,
            }
            match group.ffn {
                Ffn::Plain { .. } => kinds[7] = true,
                Ffn::Moe(moe) if moe.latent().is_some() && moe.plain() => kinds[8] = true,
                _ => {}
            }
        }
    }
    assert_eq!(kinds, [true; 9]);
}

/// What no key says is told, with the reason.
#[test]
fn inferences_are_reported() {
    let whys = |name: &str| -> Vec<(String, String)> {
        let found = json(&imported(name));
        let all = found["inferred"].as_array().unwrap().iter();
        let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
        all.map(|one| (text(one, "what"), text(one, "value"))).collect()
    };
    let has = |name: &str, what: &str, value: &str| {
        let all = whys(name);
        assert!(all.contains(&(what.to_owned(), value.to_owned())), "{name}: {all:#?}");
    };
    has("qwen3-next-80b-a3b", "modules for multi-token prediction", "1");
    has("falcon-7b", "KV heads", "1");
    has("gpt2", "feed-forward width", "3072");
    has("gemma-3-27b", "vocabulary", "262208");
    has("gemma-3-4b", "heads", "8");
    has("mixtral-8x7b", "width of an expert", "14336");
    has("qwen-7b", "feed-forward width", "11008");
    has("head-medusa-vicuna-7b-v1.3", "heads", "5");
    let warned = json(&imported("gemma-3-27b"))["warnings"].to_string();
    assert!(warned.contains("only the text decoder"), "{warned}");
}

/// MiniCPM-2B: 122,753 x 2304 of one table, 40 x (4 x 2304^2 + 3 x 2304 x 5760 + 2 x 2304) of layers, 2304 of the
/// last norm; the published 2,724,880,896.
#[test]
fn minicpm_has_one_table_though_no_key_says_so() {
    let text = serde_json::json!({
        "model_type": "minicpm", "hidden_size": 2304, "num_hidden_layers": 40, "num_attention_heads": 36,
        "num_key_value_heads": 36, "intermediate_size": 5760, "vocab_size": 122_753, "hidden_act": "silu",
        "scale_emb": 12, "dim_model_base": 256, "scale_depth": 1.4,
    });
    let read = super::config(&source(&text.to_string()), &asked("minicpm-2b")).unwrap();
    assert_eq!(read.model.total_params().to_bits(), f64::to_bits(2_724_880_896.0));
}

/// Keys in tables of a family's own, one by one: MPT with one KV head, 2 x 32 layers x 128 values of two bytes.
#[test]
fn tables_inside_are_read_key_by_key() {
    let mpt = |kind: &str, more: &str| {
        let text = serde_json::json!({
            "model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4,
            "max_seq_len": 2048, "no_bias": true, "vocab_size": 50_432, "attn_config": { "attn_type": kind, more: 3 },
        });
        super::config(&source(&text.to_string()), &asked("mpt"))
    };
    let one = mpt("multiquery_attention", "alibi_bias_max").unwrap();
    assert_eq!(one.model.kv_bytes_per_token().get().to_bits(), f64::to_bits(16_384.0));
    let odd = mpt("multihead_attention", "memory_slots").unwrap();
    assert!(odd.report.warnings.iter().any(|one| one.contains("`attn_config.memory_slots`")), "{:?}", odd.report);
    assert!(mpt("multihead_attention", "qk_ln").is_err());
}

/// What is odd and read all the same is told.
#[test]
fn oddities_are_told() {
    let with = |key: &str, value: Value| {
        let mut llama: serde_json::Map<String, Value> = serde_json::from_str(&text("llama-3.1-8b")).unwrap();
        llama.insert(key.to_owned(), value);
        let read = super::config(&source(&Value::Object(llama).to_string()), &asked("llama")).unwrap();
        read.report.warnings.join("; ")
    };
    assert!(with("head_dim", Value::from(0)).contains("`head_dim` is 0: read as absent"));
    let classifier = Value::from(vec!["LlamaForSequenceClassification"]);
    assert!(with("architectures", classifier).contains("LlamaForSequenceClassification has no LM head"));
}

/// MiMo-V2-Flash without keys for its windows: 39 of 48 layers have a window and twice the KV heads, with keys of 192
/// values and values of 128: 2 x 320 x (9 x 4 + 39 x 8) bytes.
#[test]
fn windows_of_mimo_have_twice_the_kv_heads() {
    let mut mimo: serde_json::Map<String, Value> = serde_json::from_str(&text("mimo-v2-flash")).unwrap();
    let whole = imported("mimo-v2-flash").model;
    mimo.remove("swa_num_key_value_heads").unwrap();
    let read = super::config(&source(&Value::Object(mimo).to_string()), &asked("mimo")).unwrap().model;
    assert_eq!(read.total_params().to_bits(), whole.total_params().to_bits());
    assert_eq!(read.kv_bytes_per_token().get().to_bits(), f64::to_bits(640.0 * (9.0 * 4.0 + 39.0 * 8.0)));
}

/// One expert is a mixture for some classes and none for others.
#[test]
fn one_expert_is_refused() {
    let mut qwen: serde_json::Map<String, Value> = serde_json::from_str(&text("qwen3-30b-a3b")).unwrap();
    qwen.insert("num_experts".to_owned(), Value::from(1));
    let found = super::config(&source(&Value::Object(qwen).to_string()), &asked("qwen")).unwrap_err();
    assert!(found[0].message.contains("`num_experts` is 1"), "{found:?}");
}
