//! One model with its shape, counts, what follows from them, and its source.

use serde_json::{Value, json};

use crate::domain::attention::Attention;
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::formats::Format;
use crate::domain::layers::Layers;
use crate::domain::model::{Formats, Model, Shape};
use crate::report::catalog::columns::number;
use crate::report::catalog::sheet::{Remarks, Sheet};
use crate::report::figures;
use crate::report::number::thousands;
use crate::report::table::Style;
use crate::units::Bytes;
use crate::words::Dtype;

/// What a whole model may be stored in, and the usual scales that are counted.
pub(super) const STORED_IN: [(Dtype, &str); 5] = [
    (Dtype::Bf16, ""),
    (Dtype::Fp8, ""),
    (Dtype::Int4, ", a scale of 2 bytes for 128 weights (GPTQ, AWQ)"),
    (Dtype::Fp4, ", a scale of 1 byte for 16 weights (NVFP4)"),
    (Dtype::Mxfp4, ", a scale of 1 byte for 32 weights"),
];

/// A model with its shape, counts and source.
#[must_use]
pub fn text(model: &Model, remarks: &Remarks, style: Style) -> String {
    let mut sheet = Sheet::of(&model.name, remarks);
    sheet.line("role", model.role.as_str());
    if let Some(kind) = model.head_kind() {
        sheet.line("drafts as", kind.as_str());
        sheet.line("fits", if model.fits.is_empty() { "not stated".to_owned() } else { model.fits.join(", ") });
    }
    if model.approximate {
        sheet.line("approximate", "its shape is partly a guess");
    }
    if let Shape::Layers(layers) = &model.shape {
        shape(layers, &mut sheet);
        sheet.source(model.source.as_deref());
    }
    parameters(model, &mut sheet);
    kept(model, &mut sheet);
    if matches!(model.shape, Shape::Aggregate(_)) {
        sheet.source(model.source.as_deref());
    }
    weights(model, &mut sheet);
    sheet.line("computes in", model.formats.activations.as_str());
    sheet.render(style)
}

fn shape(layers: &Layers, sheet: &mut Sheet) {
    sheet.line("width", format!("{}, vocabulary {}", layers.hidden(), layers.vocab()));
    for group in layers.groups() {
        let ffn = match group.ffn {
            Ffn::Gated { intermediate } => format!("gated {intermediate}"),
            Ffn::Plain { intermediate } => format!("plain {intermediate}"),
            Ffn::Moe(moe) => mixture(&moe),
            Ffn::None => "none".to_owned(),
        };
        let attention = attention(&group.attention);
        sheet.line("layers", format!("{} with {attention}; feed-forward {ffn}", group.count));
    }
}

fn parameters(model: &Model, sheet: &mut Sheet) {
    sheet.line("parameters", format!("{} in memory", thousands(model.total_params())));
    if let Shape::Layers(layers) = &model.shape {
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
        for (name, params) in parts.into_iter().filter(|(_, params)| *params > 0.0) {
            sheet.line(format!("  {name}"), thousands(params));
        }
    }
    if let Some(active) = model.active_total().filter(|_| model.is_moe()) {
        let text = format!("{}, all but the experts that are not picked for a token", thousands(active));
        sheet.line("active", text);
    }
    let lm_head = match &model.shape {
        Shape::Layers(layers) if layers.head().is_some() && layers.params().lm_head == 0.0 => {
            "with the target's LM head"
        }
        _ => "without the input embedding",
    };
    sheet.line("multiplied", format!("{} with each token, {lm_head}", thousands(model.matmul_params())));
}

fn weights(model: &Model, sheet: &mut Sheet) {
    let formats = &model.formats;
    let (held, dtype, others) = (model.weight_bytes_held(), formats.weights(), other_parts(formats));
    sheet.line("weights", format!("{held} as released, in {dtype}{others}"));
    for (dtype, scales) in STORED_IN {
        let bytes = model.weight_bytes_in(Format::usual(dtype));
        sheet.line(format!("  all in {dtype}"), format!("{bytes}{scales}"));
    }
}

/// What has another format than most weights.
pub(in crate::report) fn other_parts(formats: &Formats) -> String {
    formats.other_parts().map(|(part, format)| format!(", {part} in {}", format.dtype())).collect()
}

/// What a sequence keeps in memory.
fn kept(model: &Model, sheet: &mut Sheet) {
    let bytes = |bytes: Bytes| thousands(bytes.get());
    let windows = model.window_kv_bytes_per_sequence();
    let so_long = if windows > Bytes::ZERO { ", while every layer keeps it" } else { "" };
    let (kv, format) = (bytes(model.kv_bytes_per_token()), model.formats.kv());
    sheet.line("KV cache", format!("{kv} bytes a token in {format}{so_long}"));
    if windows > Bytes::ZERO {
        let growing = bytes(model.growing_kv_bytes_per_token());
        sheet.line("  growing", format!("{growing} bytes a token, in the layers without a window"));
        sheet.line("  windows", format!("{} bytes a sequence once they are full", bytes(windows)));
    }
    let state = model.state_bytes_per_sequence();
    if state > Bytes::ZERO {
        sheet.line("state", format!("{} bytes a sequence, whatever the context", bytes(state)));
    }
}

fn attention(attention: &Attention) -> String {
    match attention {
        Attention::Gqa(gqa) => {
            let window = gqa.window().map_or_else(String::new, |window| format!(", window {window}"));
            let gate = if gqa.output_gate() { ", gated output" } else { "" };
            let values = gqa.value_dim().map_or_else(String::new, |width| format!(", values of {width}"));
            let shared = if gqa.shared_values() { ", values projected with keys" } else { "" };
            let (heads, kv_heads, width) = (gqa.heads(), gqa.kv_heads(), gqa.head_dim());
            format!("{heads} heads, {kv_heads} KV heads of {width}{values}{shared}{window}{gate}")
        }
        Attention::Mla(mla) => {
            let selected = mla.index().map_or_else(String::new, |index| match &index.selector {
                Some(one) => format!(", to {} tokens that {} heads of {} select", index.top_k, one.heads, one.dim),
                None => format!(", to {} tokens that an earlier layer selected", index.top_k),
            });
            format!("{} heads over a latent of {}{selected}", mla.heads(), mla.latent_width())
        }
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
    let plain = if moe.plain() { ", two matrices each" } else { "" };
    let latent = moe.latent().map_or_else(String::new, |width| format!(" over a latent of {width}"));
    format!("{} of {} experts of {}{latent}{plain}{shared}", moe.top_k(), moe.experts(), moe.intermediate())
}

/// A model as JSON, with its parameters by what they are for and its weights by what they may be stored in.
#[must_use]
pub fn json(model: &Model, remarks: &Remarks) -> Value {
    let mut value = figures::model(model);
    value["aliases"] = remarks.aliases.as_slice().into();
    value["note"] = remarks.note.as_deref().into();
    value["active_params"] = model.active_total().map_or(Value::Null, number);
    value["weight_bytes"] = model.weight_bytes_held().get().into();
    let stored =
        |(dtype, _): (Dtype, &str)| (dtype.to_string(), number(model.weight_bytes_in(Format::usual(dtype)).get()));
    value["weight_bytes_in"] = STORED_IN.into_iter().map(stored).collect();
    value["growing_kv_bytes_per_token"] = number(model.growing_kv_bytes_per_token().get());
    value["window_kv_bytes_per_sequence"] = number(model.window_kv_bytes_per_sequence().get());
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
