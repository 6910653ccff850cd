//! A model as the text of its file, which the catalog reads back to the same model.

use std::fmt::Write as _;

use crate::domain::attention::{Attention, Gqa, Index, Linear, Ssm, SsmForm};
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::formats::{Format, Formats};
use crate::domain::head::Head;
use crate::domain::layers::{Extras, Layers};
use crate::domain::model::{Model, Shape};
use crate::words::{HeadKind, NormKind, Role};

/// What a model's file says beside the model.
#[derive(Clone, Debug, Default)]
pub struct Remarks<'a> {
    /// The note at its head.
    pub note: &'a str,
    /// What the parameters are that no operator reads.
    pub extra_params: &'a str,
}

/// The file of a model that is known by its layers; `None` for totals, which are written by hand.
#[must_use]
pub fn text(model: &Model, remarks: &Remarks<'_>) -> Option<String> {
    let Shape::Layers(layers) = &model.shape else { return None };
    let mut lines = vec![format!("name = {}", quoted(&model.name)), format!("role = \"{}\"", model.role)];
    if !model.fits.is_empty() {
        let fits: Vec<String> = model.fits.iter().map(|id| quoted(id)).collect();
        lines.push(format!("fits = [{}]", fits.join(", ")));
    }
    lines.push(format!("hidden = {}", layers.hidden()));
    lines.push(format!("vocab = {}", layers.vocab()));
    if model.role != Role::Head {
        lines.push(format!("tied_embeddings = {}", layers.tied_embeddings()));
    }
    lines.extend(model.source.iter().map(|source| format!("source = {}", quoted(source))));
    if !remarks.note.is_empty() {
        lines.push(format!("note = {}", quoted(remarks.note)));
    }
    lines.extend(layers.head().map(head));
    for group in layers.groups() {
        let (attention, ffn) = (attention(&group.attention), ffn(&group.ffn));
        lines.push(format!("\n[[layers]]\ncount = {}\n{attention}\n{ffn}", group.count));
    }
    lines.push(dtype(&model.formats));
    lines.extend(counts(layers, remarks));
    Some(lines.join("\n") + "\n")
}

/// A basic string: what TOML and JSON both read.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn head(head: &Head) -> String {
    let mut text = format!("\n[head]\nkind = \"{}\"", head.kind);
    if let Some(own) = head.draft_vocab {
        let _ = write!(text, "\ndraft_vocab = {own}");
    }
    if matches!(head.kind, HeadKind::Mtp | HeadKind::Medusa) {
        let _ = write!(text, "\nmodules = {}", head.copies);
    }
    if let Some(reads) = head.reads {
        let _ = write!(text, "\nreads = {reads}");
    }
    text
}

fn attention(attention: &Attention) -> String {
    match attention {
        Attention::Gqa(gqa) => format!("attention.gqa = {{ {} }}", grouped(gqa)),
        Attention::Mla(mla) => {
            let q_lora = mla.q_lora().map_or_else(String::new, |rank| format!("q_lora = {rank}, "));
            let [nope, rope, value] = mla.head_widths();
            let (heads, rank) = (mla.heads(), mla.rank());
            let index = mla.index().map_or_else(String::new, selected);
            format!(
                "attention.mla = {{ heads = {heads}, {q_lora}kv_lora = {rank}, qk_nope = {nope}, qk_rope = {rope}, \
                 v_head = {value}{index} }}"
            )
        }
        Attention::Linear(one) => format!("attention.linear = {{ {} }}", linear(one)),
        Attention::Ssm(one) => format!("attention.ssm = {{ {} }}", state_space(one)),
        Attention::None => "attention.none = {}".to_owned(),
    }
}

/// Which tokens a token sees.
fn selected(index: &Index) -> String {
    let selector = index.selector.map_or_else(String::new, |one| format!(", heads = {}, dim = {}", one.heads, one.dim));
    format!(", index = {{ top_k = {}{selector} }}", index.top_k)
}

fn grouped(gqa: &Gqa) -> String {
    let mut text = format!("heads = {}, kv_heads = {}, head_dim = {}", gqa.heads(), gqa.kv_heads(), gqa.head_dim());
    if let Some(width) = gqa.value_dim() {
        let _ = write!(text, ", value_dim = {width}");
    }
    if gqa.shared_values() {
        text.push_str(", shared_values = true");
    }
    if let Some(window) = gqa.window() {
        let _ = write!(text, ", window = {window}");
    }
    if gqa.output_gate() {
        text.push_str(", output_gate = true");
    }
    text
}

fn linear(linear: &Linear) -> String {
    let ([key_heads, value_heads], [key_dim, value_dim], conv) = (linear.heads(), linear.widths(), linear.conv());
    format!(
        "key_heads = {key_heads}, value_heads = {value_heads}, key_dim = {key_dim}, value_dim = {value_dim}, conv = {conv}"
    )
}

fn state_space(ssm: &Ssm) -> String {
    let form = match ssm.form() {
        SsmForm::Heads { heads, head_dim, groups } => {
            format!("heads = {heads}, head_dim = {head_dim}, groups = {groups}")
        }
        SsmForm::Ranked { inner, dt_rank, inner_norms } => {
            format!("inner = {inner}, dt_rank = {dt_rank}, inner_norms = {inner_norms}")
        }
    };
    format!("{form}, state = {}, conv = {}", ssm.state(), ssm.conv())
}

fn ffn(ffn: &Ffn) -> String {
    match ffn {
        Ffn::Gated { intermediate } => format!("ffn.gated = {{ intermediate = {intermediate} }}"),
        Ffn::Plain { intermediate } => format!("ffn.plain = {{ intermediate = {intermediate} }}"),
        Ffn::Moe(moe) => format!("ffn.moe = {{ {} }}", mixture(moe)),
        Ffn::None => "ffn.none = {}".to_owned(),
    }
}

fn mixture(moe: &Moe) -> String {
    let mut text = format!("experts = {}, top_k = {}", moe.experts(), moe.top_k());
    if moe.shared() > 0 {
        let _ = write!(text, ", shared = {}", moe.shared());
    }
    let _ = write!(text, ", intermediate = {}", moe.intermediate());
    if moe.shared() > 0 && moe.shared_intermediate() != moe.intermediate() {
        let _ = write!(text, ", shared_intermediate = {}", moe.shared_intermediate());
    }
    if moe.plain() {
        text.push_str(", gated = false");
    }
    if let Some(latent) = moe.latent() {
        let _ = write!(text, ", latent = {latent}");
    }
    text
}

fn dtype(formats: &Formats) -> String {
    let default = formats.default_format();
    let parts: Vec<(_, Format)> = formats.other_parts().collect();
    let scale =
        std::iter::once(default).chain(parts.iter().map(|(_, format)| *format)).find_map(|format| format.scale());
    let weights = if parts.is_empty() && scale.is_none() {
        format!("\"{}\"", default.dtype())
    } else {
        let mut entries = vec![format!("default = \"{}\"", default.dtype())];
        entries.extend(parts.iter().map(|(part, format)| format!("{part} = \"{}\"", format.dtype())));
        entries.extend(scale.map(|scale| format!("group = {}, scale_bytes = {}", scale.group, scale.bytes)));
        format!("{{ {} }}", entries.join(", "))
    };
    let (activations, kv) = (formats.activations, formats.kv());
    format!("\n[dtype]\nweights = {weights}\nactivations = \"{activations}\"\nkv = \"{kv}\"")
}

/// What the layer tables do not say; nothing where they say all.
fn counts(layers: &Layers, remarks: &Remarks<'_>) -> Option<String> {
    let extras = layers.extras();
    if layers.groups().is_empty() || *extras == Extras::NONE {
        return None;
    }
    let mut lines = vec!["\n[counts]".to_owned()];
    if extras.norm != NormKind::Rms {
        lines.push(format!("norm = \"{}\"", extras.norm.as_str()));
    }
    lines.extend(extras.norms_per_layer.map(|count| format!("norms_per_layer = {count}")));
    let flags = [("qkv_bias", extras.qkv_bias), ("qk_norm", extras.qk_norm), ("mlp_bias", extras.mlp_bias)];
    lines.extend(flags.iter().filter(|(_, on)| *on).map(|(key, _)| format!("{key} = true")));
    if extras.positions > 0 {
        lines.push(format!("positions = {}", extras.positions));
    }
    if extras.extra_params > 0 {
        let source = if remarks.extra_params.is_empty() { "as counted" } else { remarks.extra_params };
        lines.push(format!("extra_params = {{ count = {}, source = {} }}", extras.extra_params, quoted(source)));
    }
    Some(lines.join("\n"))
}
