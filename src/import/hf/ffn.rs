//! Feed-forward parts and mixtures.

use crate::diagnostic::Diagnostic;
use crate::domain::ffn::{Ffn, Moe};
use crate::import::hf::family::Family;
use crate::import::hf::layers::{EXPERTS, Feed};
use crate::import::hf::reader::{Found, Reader};

const WIDTH: [&str; 6] =
    ["intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner", "ffn_config.ffn_hidden_size", "d_ff"];
const PICKED: [&str; 8] = [
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "top_k_experts",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "ffn_config.moe_top_k",
];
pub(super) const SHARED: [&str; 5] =
    ["n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert", "num_share_experts"];
const SHARED_WIDTH: [&str; 4] = [
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
];

/// The feed-forward part of a layer.
pub(super) fn ffn(reader: &mut Reader<'_>, family: &Family, feed: Feed, hidden: u64) -> Option<Ffn> {
    match feed {
        Feed::None => Some(Ffn::None),
        Feed::Dense => {
            let intermediate = dense_width(reader, family, hidden)?;
            Some(if family.gated { Ffn::Gated { intermediate } } else { Ffn::Plain { intermediate } })
        }
        Feed::Experts => moe(reader, family, hidden).map(Ffn::Moe),
    }
}

fn is(family: &Family, model_type: &str) -> bool {
    family.types.contains(&model_type)
}

fn dense_width(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<u64> {
    if is(family, "qwen") {
        // The first Qwen states the width of both halves of its gated part together.
        let both = reader.required("feed-forward width, both halves", &["intermediate_size"])?;
        reader.infer("feed-forward width", both / 2, "`intermediate_size` of the first Qwen counts both halves");
        return Some(both / 2);
    }
    if is(family, "llama4")
        && let Some(width) = reader.count("feed-forward width of dense layers", &["intermediate_size_mlp"])
    {
        return Some(width);
    }
    if is(family, "granitemoehybrid")
        && let Some(width) = reader.count("feed-forward width", &SHARED_WIDTH)
    {
        // Without experts this model_type keeps the part that stands beside them.
        return Some(width);
    }
    if let Some(found) = reader.find(&WIDTH).filter(|found| found.node.items().is_some()) {
        return alike(reader, "feed-forward width", &found);
    }
    if let Some(width) = reader.count("feed-forward width", &WIDTH) {
        return Some(width);
    }
    if let Some(ratio) = reader.count("feed-forward width by hidden width", &["expansion_ratio"]) {
        return reader.derived("the feed-forward width", ratio * hidden);
    }
    if family.four_times {
        reader.infer("feed-forward width", 4 * hidden, "no key says: four times the hidden width");
        return reader.derived("the feed-forward width", 4 * hidden);
    }
    if reader.has(&WIDTH) {
        return None;
    }
    let usual = reader.size(family, "intermediate_size");
    reader.count_or("feed-forward width", &WIDTH, usual)
}

/// A number, or a list of the same number for each layer.
fn alike<'j>(reader: &mut Reader<'j>, what: &'static str, found: &Found<'j>) -> Option<u64> {
    let Some(items) = found.node.items() else { return reader.whole(what, found, 0) };
    let first = items.first().and_then(|item| item.whole());
    if items.iter().all(|item| item.whole() == first)
        && let Some(first) = items.first()
    {
        return reader.whole(what, &Found { path: found.path.clone(), node: first }, 0);
    }
    let message = format!("`{}` differs from layer to layer ({what}), which is not read here", found.path);
    reader.problem(Diagnostic::error("unpriced", message).hint("write the model's file by hand"), found.node)
}

fn moe(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Moe> {
    let experts = reader.required("experts", &EXPERTS);
    let top_k = match reader.find(&PICKED) {
        Some(found) => alike(reader, "experts picked", &found),
        None => reader.missing("experts picked", &PICKED),
    };
    let width = match reader.find(&["moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"]) {
        Some(found) => alike(reader, "width of an expert", &found),
        None => {
            let width = reader.required("width of an expert", &WIDTH);
            if let Some(width) = width {
                reader.infer("width of an expert", width, "no `moe_intermediate_size`: the feed-forward width");
            }
            width
        }
    };
    let (experts, top_k, width) = (experts?, top_k?, width?);
    let mixture = match Moe::new(experts, top_k, width) {
        Ok(mixture) => mixture,
        Err(error) => {
            let found = reader.find(&PICKED)?;
            return reader.problem(Diagnostic::error("conflict", format!("`{}`: {error}", found.path)), found.node);
        }
    };
    let mixture = if family.gated { mixture } else { mixture.with_plain_experts() };
    let latent = reader.count("width that experts work on", &["moe_latent_size", "routed_expert_hidden_size"]);
    let mixture = latent.filter(|latent| *latent != hidden).map_or(mixture, |latent| mixture.with_latent(latent));
    let (shared, shared_width) = shared(reader, family, width, hidden)?;
    Some(if shared > 0 { mixture.with_shared(shared, shared_width) } else { mixture })
}

/// Shared experts and their width.
fn shared(reader: &mut Reader<'_>, family: &Family, width: u64, hidden: u64) -> Option<(u64, u64)> {
    if is(family, "llama4") {
        reader.infer("shared experts", 1, "every mixture of this model_type has one");
        return Some((1, width));
    }
    if is(family, "gemma4") {
        // A dense part runs beside the mixture: in cost it is a shared expert.
        let dense = dense_width(reader, family, hidden)?;
        reader.infer("shared experts", 1, "this model_type runs a dense part beside its mixture");
        return Some((1, dense));
    }
    let own = reader.count_from("width of shared experts", &SHARED_WIDTH, 0);
    let count = match reader.find(&SHARED) {
        Some(found) => Some(alike(reader, "shared experts", &found)?),
        None => None,
    };
    Some(match (count, own) {
        // Nemotron-H states the width of all shared experts together.
        (Some(1..), Some(own)) if own > 0 && is(family, "nemotron_h") => (1, own),
        (Some(count), own) => (count, own.filter(|own| *own > 0).unwrap_or(width)),
        (None, Some(own)) if own > 0 => (1, own),
        _ => (0, width),
    })
}
