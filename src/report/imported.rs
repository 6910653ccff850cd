//! An imported model: its counts, and what was read, inferred and left alone, for people and for programs.

use std::ops::Add;

use serde_json::{Map, Value, json};

use crate::domain::layers::{LayerGroup, Layers};
use crate::domain::model::{Model, Shape};
use crate::import::hf::Imported;
use crate::report::catalog::columns::number;
use crate::report::catalog::model::other_parts;
use crate::report::model_file::{self, Remarks};
use crate::report::number::{counted, thousands as count};
use crate::units::Bytes;

/// What an imported model counts to.
struct Counts {
    total: f64,
    active: f64,
    without_embedding: f64,
    kv_values: f64,
    state_values: f64,
}

impl Counts {
    fn of(layers: &Layers) -> Self {
        let sum = |of: fn(&LayerGroup) -> f64| layers.groups().iter().map(of).fold(0.0, f64::add) * layers.modules();
        let (total, active) = (layers.params().total(), layers.active_total());
        Self {
            total,
            active,
            without_embedding: active - layers.params().embedding,
            kv_values: sum(|group| group.count as f64 * group.attention.kv_values()),
            state_values: sum(|group| group.count as f64 * group.attention.state_values().0),
        }
    }
}

/// Counts of a model that is known by its layers, as every imported one is.
fn counts(model: &Model) -> Option<Counts> {
    match &model.shape {
        Shape::Layers(layers) => Some(Counts::of(layers)),
        Shape::Aggregate(_) => None,
    }
}

/// The text of the model's file.
#[must_use]
pub fn file(imported: &Imported) -> Option<String> {
    let (note, extra_params) = (note(imported), extra_params(imported));
    model_file::text(&imported.model, &Remarks { note: &note, extra_params: &extra_params })
}

/// What the parameters are that no operator reads, and how many of each.
fn extra_params(imported: &Imported) -> String {
    let each = imported.report.small.iter().map(|small| format!("{} ({})", small.what, count(small.count as f64)));
    each.collect::<Vec<_>>().join("; ")
}

fn note(imported: &Imported) -> String {
    let total = imported.model.total_params();
    let mut note = format!("Counts to {} parameters.", count(total));
    if let Some(mtp) = &imported.mtp {
        let params = count(mtp.params as f64);
        note.push_str(&format!(" Modules for multi-token prediction add {params}, which this file does not hold."));
    }
    note
}

/// The report for people.
#[must_use]
pub fn text(imported: &Imported) -> String {
    let (model, report) = (&imported.model, &imported.report);
    let Some(counts) = counts(model) else { return String::new() };
    let mut lines = vec![
        line("model", &format!("{} ({})", model.id, imported.model_type.as_deref().unwrap_or("no model_type"))),
        line("role", &model.role.to_string()),
        line("parameters", &count(counts.total)),
        line("active", &format!("{}, {} without the embedding", count(counts.active), count(counts.without_embedding))),
        line(
            "weights",
            &format!("{} in {}{}", model.weight_bytes_held(), model.formats.weights(), other_parts(&model.formats)),
        ),
        line("KV cache", &kv(model)),
    ];
    if model.state_bytes_per_sequence() > Bytes::ZERO {
        lines.push(line("state", &format!("{} a sequence", model.state_bytes_per_sequence())));
    }
    if let Some(mtp) = &imported.mtp {
        let copies =
            if mtp.copies > 0 { format!(", and {} of copies", count(mtp.copies as f64)) } else { String::new() };
        let text = format!("{} in {} beside these{copies}", count(mtp.params as f64), counted(mtp.modules, "module"));
        lines.push(line("MTP", &text));
    }
    lines.extend(section("warnings", report.warnings.iter().cloned()));
    let inferred = report.inferred.iter().map(|one| format!("{}: {} ({})", one.what, one.value, one.why));
    lines.extend(section("inferred", inferred));
    let small = report.small.iter().map(|small| format!("{}: {}", small.what, count(small.count as f64)));
    lines.extend(section("counted beside the layers", small));
    let read = report.read.iter().map(|read| format!("{} = {} ({})", read.key, read.value, read.what));
    lines.extend(section("read", read));
    if !report.without_effect.is_empty() {
        lines.push(format!("without effect: {}\n", report.without_effect.join(", ")));
    }
    lines.concat()
}

fn kv(model: &Model) -> String {
    let bytes = model.kv_bytes_per_token().get();
    let mut text = format!("{} bytes a token in {}", count(bytes), model.formats.kv());
    let growing = model.growing_kv_bytes_per_token().get();
    if growing < bytes {
        text.push_str(&format!(", {} of them beyond the windows", count(growing)));
    }
    text
}

fn line(label: &str, value: &str) -> String {
    format!("{label:<12}{value}\n")
}

fn section(title: &str, entries: impl Iterator<Item = String>) -> Vec<String> {
    let entries: Vec<String> = entries.map(|entry| format!("  {entry}\n")).collect();
    if entries.is_empty() { Vec::new() } else { [vec![format!("{title}\n")], entries].concat() }
}

/// The report for programs.
///
/// Counts are whole numbers. `active_params` leaves out experts that a token does not pick;
/// `active_params_without_input_embedding` leaves out the embedding too, also where it is the LM head again.
#[must_use]
pub fn json(imported: &Imported) -> Value {
    let (model, report) = (&imported.model, &imported.report);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    put("id", model.id.as_str().into());
    put("name", model.name.as_str().into());
    put("model_type", imported.model_type.as_deref().into());
    put("role", model.role.to_string().into());
    if let Some(counts) = counts(model) {
        let whole = |number: f64| Value::from(number as u64);
        put("total_params", whole(counts.total));
        if let Some(mtp) = &imported.mtp {
            let with = (counts.total as u64).saturating_add(mtp.params);
            put("mtp_params", mtp.params.into());
            put("total_params_with_mtp", with.into());
            if mtp.copies > 0 {
                put("total_params_with_mtp_and_copies", with.saturating_add(mtp.copies).into());
            }
        }
        put("active_params", whole(counts.active));
        put("active_params_without_input_embedding", whole(counts.without_embedding));
        put("matmul_params_per_token", whole(model.matmul_params()));
        put("kv_elements_per_token", whole(counts.kv_values));
        put("kv_bytes_per_token", number(model.kv_bytes_per_token().get()));
        put("kv_bytes_per_token_without_windows", number(model.growing_kv_bytes_per_token().get()));
        put("state_elements_per_sequence", whole(counts.state_values));
        put("state_bytes_per_sequence", number(model.state_bytes_per_sequence().get()));
        put("weight_bytes", number(model.weight_bytes_held().get()));
    }
    let read = report.read.iter().map(|one| json!({ "what": one.what, "key": one.key, "value": one.value }));
    put("read", read.collect());
    let inferred = report.inferred.iter().map(|one| json!({ "what": one.what, "value": one.value, "why": one.why }));
    put("inferred", inferred.collect());
    put("counted", report.small.iter().map(|one| json!({ "what": one.what, "params": one.count })).collect());
    put("not_read", report.unknown.clone().into());
    put("without_effect", report.without_effect.clone().into());
    put("warnings", report.warnings.clone().into());
    put("toml", file(imported).into());
    Value::Object(object)
}
