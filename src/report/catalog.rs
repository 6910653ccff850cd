//! The catalog for people and for programs: figures, what follows from them, and where they are from.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};

use crate::domain::attention::Attention;
use crate::domain::device::Device;
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::layers::Layers;
use crate::domain::model::{Formats, Model, Shape};
use crate::report::figures;
use crate::report::number::shortest;
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};
use crate::words::{Dtype, Word};

/// One line of a list: a cell for each column.
pub type Line = Vec<String>;

/// The cell of a figure that a file does not state.
const NOT_STATED: &str = "-";

/// The columns of a list of devices.
pub const DEVICE_COLUMNS: [&str; 6] = ["id", "memory", "bandwidth", "bf16", "fp8", "name"];
/// The columns of a list of models.
pub const MODEL_COLUMNS: [&str; 6] = ["id", "role", "parameters", "weights", "KV a token", "name"];
/// The columns of a list of engines.
pub const ENGINE_COLUMNS: [&str; 3] = ["id", "constants", "name"];
/// The columns of a list of scenarios.
pub const NAME_COLUMNS: [&str; 2] = ["id", "name"];

/// A device in a list; what it does not state is a dash.
#[must_use]
pub fn device_line(device: &Device) -> Line {
    let peak =
        |dtype| device.peak(dtype).map_or_else(|_| NOT_STATED.to_owned(), |rate: FlopsPerSecond| rate.to_string());
    vec![
        device.id.clone(),
        device.memory.capacity.map_or_else(|| NOT_STATED.to_owned(), |capacity| capacity.to_string()),
        device.memory.bandwidth.to_string(),
        peak(Dtype::Bf16),
        peak(Dtype::Fp8),
        device.name.clone(),
    ]
}

/// A model in a list.
#[must_use]
pub fn model_line(model: &Model) -> Line {
    vec![
        model.id.clone(),
        model.role.to_string(),
        count(model.total_params()),
        model.weight_bytes_held().to_string(),
        model.kv_bytes_per_token().to_string(),
        model.name.clone(),
    ]
}

/// A list as a table: the first and the last column to the left, figures to the right.
#[must_use]
pub fn list(columns: &[&str], lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).force_no_tty();
    table.set_header(columns);
    table.add_rows(lines.iter().cloned());
    for at in 1..columns.len().saturating_sub(1) {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn stated(cell: &str) -> Option<&str> {
    (cell != NOT_STATED).then_some(cell)
}

/// A list as JSON: an object for each line, null for what is not stated.
#[must_use]
pub fn list_json(columns: &[&str], lines: &[Line]) -> Value {
    let object = |line: &Line| -> Value {
        columns.iter().zip(line).map(|(name, cell)| ((*name).to_owned(), Value::from(stated(cell)))).collect()
    };
    lines.iter().map(object).collect()
}

/// A device with its figures, the ridge point of each format, and sources.
///
/// The ridge point is `peak / bandwidth`: the FLOPs for each byte above which a pass is bound by compute.
#[must_use]
pub fn device(device: &Device) -> String {
    let capacity =
        device.memory.capacity.map_or_else(|| "capacity not stated,".to_owned(), |capacity| capacity.to_string());
    let mut lines = vec![
        line("name", &device.name),
        line("memory", &format!("{capacity} at {}", device.memory.bandwidth)),
        line("", &device.memory.source),
    ];
    for (dtype, ridge) in ridges(device) {
        let (rate, ridge) = ridge;
        lines.push(line(&format!("peak {dtype}"), &format!("{rate} dense, ridge point {ridge:.1} FLOP/B")));
    }
    lines.push(line("", &device.peaks.source));
    if let Some(link) = &device.link {
        let text = format!("{}, {} one way, {} devices", link.kind, link.bandwidth, link.domain);
        lines.extend([line("link", &text), line("", &link.source)]);
    }
    if let Some(power) = &device.power {
        lines.push(line("power", &format!("{} W", shortest(power.tdp_watts))));
        lines.extend(power.source.iter().map(|source| line("", source)));
    }
    if let Some(price) = &device.price {
        let text = format!("{:.2} USD an hour ({})", price.usd_per_hour, price.date);
        lines.extend([line("price", &text), line("", &price.source)]);
    }
    lines.extend(device.note.iter().map(|note| line("note", note)));
    lines.concat()
}

/// The dense rate and ridge point of each format that a device states.
fn ridges(device: &Device) -> Vec<(Dtype, (FlopsPerSecond, f64))> {
    let bandwidth: BytesPerSecond = device.memory.bandwidth;
    let of = |dtype: &Dtype| Some((*dtype, device.peak(*dtype).ok()?));
    Dtype::ALL.iter().filter_map(of).map(|(dtype, rate)| (dtype, (rate, rate.get() / bandwidth.get()))).collect()
}

/// A model with its shape, counts and source.
#[must_use]
pub fn model(model: &Model) -> String {
    let mut lines = vec![line("name", &model.name), line("role", model.role.as_str())];
    if let Some(kind) = model.head_kind() {
        lines.push(line("drafts as", kind.as_str()));
    }
    if !model.fits.is_empty() {
        lines.push(line("fits", &model.fits.join(", ")));
    }
    if model.approximate {
        lines.push(line("approximate", "its shape is partly a guess"));
    }
    if let Shape::Layers(layers) = &model.shape {
        lines.extend(shape(layers));
    }
    let formats = &model.formats;
    lines.extend([
        line(
            "parameters",
            &format!(
                "{} in memory, {} multiplied with each token",
                count(model.total_params()),
                count(model.matmul_params())
            ),
        ),
        line("weights", &format!("{} in {}{}", model.weight_bytes_held(), formats.weights(), other_parts(formats))),
        line("KV cache", &format!("{} bytes a token in {}", count(model.kv_bytes_per_token().get()), formats.kv())),
        state(model),
        line("computes in", formats.activations.as_str()),
        line("source", model.source.as_deref().unwrap_or("not stated")),
    ]);
    lines.concat()
}

fn shape(layers: &Layers) -> Vec<String> {
    let mut lines = vec![line("width", &format!("{}, vocabulary {}", layers.hidden(), layers.vocab()))];
    for group in layers.groups() {
        let ffn = match group.ffn {
            Ffn::Gated { intermediate } => format!("gated {intermediate}"),
            Ffn::Plain { intermediate } => format!("plain {intermediate}"),
            Ffn::Moe(moe) => mixture(&moe),
            Ffn::None => "none".to_owned(),
        };
        let attention = attention(&group.attention);
        lines.push(line("layers", &format!("{} with {attention}; feed-forward {ffn}", group.count)));
    }
    let params = layers.params();
    let parts = [
        ("attention", params.attention),
        ("feed-forward", params.ffn),
        ("experts", params.experts),
        ("embedding", params.embedding),
        ("LM head", params.lm_head),
        ("norms", params.norms),
        ("joining", params.fuse),
        ("others", params.others),
    ];
    let held = parts.iter().filter(|(_, params)| *params > 0.0);
    lines.extend(held.map(|(name, params)| line(&format!("  {name}"), &count(*params))));
    lines
}

/// What has another format than most weights.
fn other_parts(formats: &Formats) -> String {
    formats.other_parts().map(|(part, format)| format!(", {part} in {}", format.dtype())).collect()
}

/// The state of one sequence, if there is one that does not grow.
fn state(model: &Model) -> String {
    let bytes = model.state_bytes_per_sequence();
    if bytes > Bytes::ZERO {
        line("state", &format!("{bytes} a sequence, whatever the context"))
    } else {
        String::new()
    }
}

fn attention(attention: &Attention) -> String {
    match attention {
        Attention::Gqa(gqa) => {
            let (heads, kv_heads) = (gqa.query_width() / gqa.head_dim(), gqa.kv_width() / gqa.head_dim());
            let window = gqa.window().map_or_else(String::new, |window| format!(", window {window}"));
            let gate = if gqa.output_gate() { ", gated output" } else { "" };
            format!("{heads} heads, {kv_heads} KV heads of {}{window}{gate}", gqa.head_dim())
        }
        Attention::Mla(mla) => format!("{} heads over a latent of {}", mla.heads(), mla.latent_width()),
        Attention::Linear(_) => format!("linear attention, {} values of state", attention.state_values().0),
        Attention::Ssm(_) => format!("a state space of {} values", attention.state_values().0),
        Attention::None => "no attention".to_owned(),
    }
}

fn mixture(moe: &Moe) -> String {
    let shared = match moe.shared() {
        0 => String::new(),
        count => format!(" and {count} shared of {}", moe.shared_intermediate()),
    };
    format!("{} of {} experts of {}{shared}", moe.top_k(), moe.experts(), moe.intermediate())
}

/// A device as JSON, with its ridge points.
#[must_use]
pub fn device_json(device: &Device) -> Value {
    let ridge = |(dtype, (_, ridge)): (Dtype, (FlopsPerSecond, f64))| (dtype.to_string(), Value::from(ridge));
    let mut value = figures::device(device);
    value["ridge_flop_per_byte"] = ridges(device).into_iter().map(ridge).collect();
    value["note"] = device.note.as_deref().into();
    value
}

/// A model as JSON, with its parameters by what they are for.
#[must_use]
pub fn model_json(model: &Model) -> Value {
    let mut value = figures::model(model);
    value["weight_bytes"] = model.weight_bytes_held().get().into();
    if let Shape::Layers(layers) = &model.shape {
        let params = layers.params();
        value["params"] = json!({
            "attention": params.attention,
            "ffn": params.ffn,
            "experts": params.experts,
            "embedding": params.embedding,
            "lm_head": params.lm_head,
            "norms": params.norms,
            "fuse": params.fuse,
            "others": params.others,
        });
    }
    value
}

fn line(label: &str, value: &str) -> String {
    format!("{label:<16}{value}\n")
}

/// A whole number with its thousands apart.
fn count(number: f64) -> String {
    let digits = format!("{number:.0}");
    let from_end = digits.len();
    let apart = |(at, digit): (usize, char)| {
        let comma = at > 0 && (from_end - at).is_multiple_of(3);
        if comma { format!(",{digit}") } else { digit.to_string() }
    };
    digits.chars().enumerate().map(apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0.0, 999.0, 1000.0, 8_030_261_248.0].map(count), ["0", "999", "1,000", "8,030,261,248"]);
    }
}
