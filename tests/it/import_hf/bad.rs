//! Broken configurations: refused with the place, whatever is broken, and never a panic.

use std::fs::write;

use serde_json::{Map, Value, json};
use specplan::import::hf::{Asked, config};
use specplan::words::Role;

use super::{all, asked, source, text};
use crate::program::{folder, run};

fn llama() -> Map<String, Value> {
    serde_json::from_str(&text("llama-3.1-8b")).unwrap()
}

/// The codes and places of what is wrong with a text.
fn refused(text: &str) -> Vec<(String, String)> {
    let found = config(&source(text), &Asked { id: "m".to_owned(), ..Asked::default() }).unwrap_err();
    let at = |place: &specplan::diagnostic::Place| text.get(place.span.clone()).unwrap_or_default().to_owned();
    found.iter().map(|one| (one.code.to_owned(), one.place.as_ref().map_or_else(String::new, at))).collect()
}

fn with(key: &str, value: Value) -> String {
    let mut llama = llama();
    llama.insert(key.to_owned(), value);
    Value::Object(llama).to_string()
}

#[test]
fn wrong_values_are_refused_where_they_stand() {
    for (key, value, code) in [
        ("hidden_size", json!(-4096), "out-of-range"),
        ("hidden_size", json!(0), "out-of-range"),
        ("hidden_size", json!("4096"), "wrong-type"),
        ("hidden_size", json!(4096.5), "wrong-type"),
        ("hidden_size", json!([4096]), "wrong-type"),
        ("hidden_size", json!(1_u64 << 40), "out-of-range"),
        ("num_hidden_layers", json!(0), "out-of-range"),
        ("num_hidden_layers", json!(100_000), "out-of-range"),
        ("num_attention_heads", json!(0), "out-of-range"),
        ("num_key_value_heads", json!(7), "conflict"),
        ("vocab_size", json!({}), "wrong-type"),
        ("tie_word_embeddings", json!("yes"), "wrong-type"),
        ("torch_dtype", json!("int3"), "unpriced"),
        ("quantization_config", json!({ "quant_method": "aqlm" }), "unpriced"),
        ("quantization_config", json!({ "quant_method": "gptq", "bits": 3 }), "unpriced"),
        ("is_encoder_decoder", json!(true), "unpriced"),
        ("layer_types", json!(["full_attention"]), "conflict"),
        ("num_kv_shared_layers", json!(4), "unpriced"),
        ("model_type", json!(["llama"]), "wrong-type"),
        ("num_local_experts", json!(8), "conflict"),
    ] {
        let found = refused(&with(key, value.clone()));
        assert!(found.iter().any(|(found, _)| found == code), "{key} = {value}: {found:?}");
        assert!(found.iter().all(|(_, at)| !at.is_empty()), "{key} = {value}: {found:?}");
    }
}

/// Heads that do not divide a width, where no key says theirs.
#[test]
fn heads_that_do_not_divide_are_refused() {
    let found = refused(&with("num_attention_heads", json!(30)));
    assert_eq!(found[0], ("conflict".to_owned(), "30".to_owned()));
}

/// Every mistake is shown at once.
#[test]
fn all_missing_keys_are_named() {
    let found = config(&source("{\"model_type\": \"llama\"}"), &Asked { id: "m".to_owned(), ..Asked::default() });
    let messages: Vec<String> = found.unwrap_err().into_iter().map(|one| one.message).collect();
    for key in ["hidden_size", "vocab_size", "num_hidden_layers", "num_attention_heads"] {
        assert!(messages.iter().any(|message| message.contains(&format!("`{key}`"))), "{messages:#?}");
    }
}

/// A model that nothing here knows is read as a decoder such as Llama, but for keys that might change its cost.
#[test]
fn unknown_types_are_read_only_if_nothing_in_them_is_unknown() {
    let plain = with("model_type", json!("brand_new"));
    let read = config(&source(&plain), &Asked { id: "m".to_owned(), ..Asked::default() }).unwrap();
    assert_eq!(read.model.total_params().to_bits(), f64::to_bits(8_030_261_248.0));
    assert!(read.report.warnings.iter().any(|one| one.contains("brand_new is not known here")), "{:?}", read.report);
    let mut odd: Map<String, Value> = serde_json::from_str(&plain).unwrap();
    odd.insert("memory_slots".to_owned(), json!(64));
    let odd = Value::Object(odd).to_string();
    assert!(refused(&odd).contains(&("unpriced".to_owned(), "64".to_owned())));
    let ignore = vec!["memory_slots".to_owned()];
    assert!(config(&source(&odd), &Asked { id: "m".to_owned(), ignore, ..Asked::default() }).is_ok());
    let plain_ffn = with("model_type", json!("brand_new")).replace("\"silu\"", "\"relu2\"");
    assert!(refused(&plain_ffn).iter().any(|(_, at)| at == "\"relu2\""));
}

/// Keys that a known family reads mean nothing certain in one that is not known.
#[test]
fn unknown_types_say_what_known_ones_imply() {
    let odd = |changes: &[(&str, Value)]| {
        let mut odd = llama();
        odd.insert("model_type".to_owned(), json!("brand_new"));
        for (key, value) in changes {
            odd.insert((*key).to_owned(), value.clone());
        }
        odd.retain(|_, value| *value != json!("taken out"));
        refused(&Value::Object(odd).to_string())
    };
    for (key, value, code, at) in [
        ("sliding_window", json!(4096), "unpriced", "4096"),
        ("tie_word_embeddings", json!("taken out"), "missing-key", "{"),
        ("hidden_act", json!("taken out"), "missing-key", "{"),
        ("num_shared_experts", json!(2), "unpriced", "2"),
    ] {
        let found = odd(&[(key, value)]);
        assert!(found.contains(&(code.to_owned(), at.to_owned())), "{key}: {found:?}");
    }
}

/// Sizes that no model has, alone or as a product; numbers beyond 64 bits.
#[test]
fn sizes_that_no_model_has_are_refused() {
    for key in ["hidden_size", "intermediate_size", "vocab_size"] {
        let found = refused(&with(key, json!(1_u64 << 25)));
        assert!(found.contains(&("out-of-range".to_owned(), "33554432".to_owned())), "{key}: {found:?}");
    }
    let beyond = text("llama-3.1-8b").replace("4096", "4096000000000000000000000000");
    assert!(refused(&beyond).iter().any(|(_, at)| at.starts_with("4096000")), "{:?}", refused(&beyond));
}

/// Mistral's own form of the same facts is no config.json.
#[test]
fn the_params_of_a_release_are_told_apart() {
    let params = json!({ "dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
        "n_kv_heads": 8, "norm_eps": 1e-5, "vocab_size": 32768 });
    let asked = Asked { id: "m".to_owned(), ..Asked::default() };
    let found = config(&source(&params.to_string()), &asked).unwrap_err();
    assert!(found.len() == 1 && found[0].message.contains("params.json"), "{found:?}");
}

/// What a role asks for must be there.
#[test]
fn a_model_is_no_head() {
    let asked = Asked { id: "m".to_owned(), role: Some(Role::Head), ..Asked::default() };
    let found = config(&source(&text("llama-3.1-8b")), &asked).unwrap_err();
    assert!(found.iter().any(|one| one.message.contains("head")), "{found:?}");
}

/// A text cut anywhere, and a key taken out or changed to nonsense, is refused or read, and nothing else.
#[test]
fn no_change_of_a_configuration_makes_the_reader_panic() {
    let nonsense =
        [json!(null), json!(-1), json!(0), json!(1e300), json!(""), json!([]), json!({}), json!([[1]]), json!(true)];
    for name in all() {
        let whole = text(&name);
        let step = (whole.len() / 40).max(1);
        for at in (0..whole.trim_end().len() - 1).step_by(step) {
            let Some(cut) = whole.get(..at) else { continue };
            let found = config(&source(cut), &asked(&name)).unwrap_err();
            assert!(found.iter().all(|one| one.place.is_some()), "{name} cut at {at}");
        }
        let table: Map<String, Value> = lenient(&whole);
        for key in table.keys() {
            let mut without = table.clone();
            without.remove(key);
            let _ = config(&source(&Value::Object(without).to_string()), &asked(&name));
            for value in &nonsense {
                let mut changed = table.clone();
                changed.insert(key.clone(), value.clone());
                let role = if value.is_null() { Some(Role::Target) } else { None };
                let asked = Asked { role, ..asked(&name) };
                let _ = config(&source(&Value::Object(changed).to_string()), &asked);
            }
        }
    }
}

/// JSON as tools write it, without what a strict reader refuses.
fn lenient(text: &str) -> Map<String, Value> {
    serde_json::from_str(&text.replace("Infinity", "1e9")).unwrap()
}

/// Sizes of a decoder never give a figure when they are nonsense.
#[test]
fn no_nonsense_in_a_size_gives_a_figure() {
    for key in ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"] {
        for value in [json!(-1), json!(0), json!("x"), json!([1, 2]), json!({}), json!(1.5), json!(true), json!(1e18)] {
            let found = refused(&with(key, value.clone()));
            assert!(!found.is_empty() && found.iter().all(|(_, at)| !at.is_empty()), "{key} = {value}");
        }
    }
}

#[test]
fn broken_files_exit_with_three_and_name_the_place() {
    let folder = folder();
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(50 << 20));
    for (name, text, said) in [
        ("cut.json", "{\"hidden_size\": 40", "cut.json:1:19"),
        ("deep.json", deep.as_str(), "deep.json:1:"),
        ("large.json", large.as_str(), "large.json: larger than 8 MiB"),
        ("list.json", "[1, 2]", "list.json:1:1"),
        ("twice.json", "{\"a\": 1,\n \"a\": 2}", "twice.json:2:2"),
        ("empty.json", "", "empty.json"),
        ("comma.json", "{\"a\": 1,}", "comma.json:1:9"),
        ("negative.json", "{\"model_type\": \"llama\",\n\"hidden_size\": -1}", "negative.json:2:16"),
    ] {
        write(folder.path().join(name), text).unwrap();
        let ran = run(folder.path(), &["import", "hf", name]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{name}: {}", ran.stderr);
        assert!(ran.stdout.is_empty() && !ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
    }
    let missing = run(folder.path(), &["import", "hf", "nowhere.json"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("nowhere.json: there is no such file"), "{}", missing.stderr);
}
