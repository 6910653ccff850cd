//! Layers that were pruned one by one (Nemotron-NAS).

use crate::diagnostic::Diagnostic;
use crate::domain::attention::{Attention, Gqa};
use crate::domain::ffn::Ffn;
use crate::import::hf::layers::MOST_LAYERS;
use crate::import::hf::reader::Reader;
use crate::import::json::{Json, Value};

/// Heads that all layers share.
struct Heads {
    heads: u64,
    head_dim: u64,
}

/// `block_configs`: what each layer kept, with feed-forward widths in steps of 256.
pub(super) fn pruned(reader: &mut Reader<'_>, hidden: u64) -> Option<Vec<(Attention, Ffn)>> {
    let Some((found, items)) = reader.list("layers, one by one", &["block_configs"]) else {
        return if reader.has(&["block_configs"]) {
            None
        } else {
            reader.missing("layers, one by one", &["block_configs"])
        };
    };
    let stated = reader.count("layers", &["num_hidden_layers"]);
    if items.len() as u64 > MOST_LAYERS || stated.is_some_and(|stated| stated != items.len() as u64) {
        let message = format!("`{}` names {} layers of {}", found.path, items.len(), stated.unwrap_or(MOST_LAYERS));
        return reader.problem(Diagnostic::error("conflict", message), found.node);
    }
    let heads = heads(reader, hidden)?;
    reader.infer("feed-forward widths", "2 ffn_mult h / 3, up to a multiple of 256", "as the release rounds them");
    let all: Vec<Option<(Attention, Ffn)>> = items.iter().map(|item| layer(reader, item, &heads, hidden)).collect();
    all.into_iter().collect()
}

fn heads(reader: &mut Reader<'_>, hidden: u64) -> Option<Heads> {
    let heads = reader.required("heads", &["num_attention_heads"])?;
    if let Some(head_dim) = reader.count("width of a head", &["head_dim"]) {
        return Some(Heads { heads, head_dim });
    }
    if !hidden.is_multiple_of(heads) {
        return reader.missing("width of a head", &["head_dim"]);
    }
    reader.infer("width of a head", hidden / heads, "no key says: hidden width by heads");
    Some(Heads { heads, head_dim: hidden / heads })
}

fn layer(reader: &mut Reader<'_>, item: &Json, heads: &Heads, hidden: u64) -> Option<(Attention, Ffn)> {
    let says = |part: &str, key: &str| item.get(part).and_then(|part| part.get(key)).map(|node| &node.value);
    for part in ["attention", "ffn"] {
        if says(part, "replace_with_linear") == Some(&Value::Flag(true)) {
            let message = format!("`block_configs` replaces {part} by a linear part, which cannot be priced");
            return reader.problem(Diagnostic::error("unpriced", message), item);
        }
    }
    if says("attention", "window_length").is_some_and(|length| *length != Value::Null) {
        let message = "`block_configs` gives single layers a window, which is not read here".to_owned();
        return reader.problem(Diagnostic::error("unpriced", message), item);
    }
    let dropped = |part: &str| says(part, "no_op") == Some(&Value::Flag(true));
    let attention = if dropped("attention") { Some(Attention::None) } else { attention(item, heads) };
    let ffn = if dropped("ffn") {
        Some(Ffn::None)
    } else {
        width(item, hidden).map(|intermediate| Ffn::Gated { intermediate })
    };
    match (attention, ffn) {
        (Some(attention), Some(ffn)) => Some((attention, ffn)),
        (None, _) => {
            let message = "`block_configs` has a layer without a usable `n_heads_in_group`".to_owned();
            reader.problem(Diagnostic::error("conflict", message), item)
        }
        (_, None) => {
            let message = "`block_configs` has a layer without a usable `ffn_mult`".to_owned();
            reader.problem(Diagnostic::error("conflict", message), item)
        }
    }
}

fn attention(item: &Json, of: &Heads) -> Option<Attention> {
    let group = item.get("attention")?.get("n_heads_in_group")?.whole()?;
    let group = u64::try_from(group).ok().filter(|group| *group > 0 && of.heads.is_multiple_of(*group))?;
    Gqa::new(of.heads, of.heads / group, of.head_dim, None).ok().map(Attention::Gqa)
}

/// `2 h ffn_mult / 3`, rounded up to a multiple of 256.
fn width(item: &Json, hidden: u64) -> Option<u64> {
    let times = match item.get("ffn")?.get("ffn_mult")?.value {
        Value::Number(times) => times,
        Value::Whole(times) => times as f64,
        _ => return None,
    };
    let width = (2.0 * times * hidden as f64 / 3.0).floor();
    (1.0..=1e7).contains(&width).then(|| (width as u64).div_ceil(256) * 256)
}
