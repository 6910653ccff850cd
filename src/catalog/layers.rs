//! `[[layers]]` of a model: attention and feed-forward parts.

use crate::catalog::model::{LARGEST_COUNT, whole};
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, KindKey, Problems, kind_key};
use crate::catalog::values::{LARGEST_INTEGER, flag, integer};
use crate::diagnostic::Diagnostic;
use crate::domain::attention::{Attention, Gqa, Index, Linear, Mla, Selector, Ssm, SsmForm};
use crate::domain::ffn::{Ffn, Moe};
use crate::domain::layers::LayerGroup;

const ATTENTION: Keys = Keys::all(&["gqa", "mla", "linear", "ssm", "none"]);
const FFN: Keys = Keys::all(&["gated", "plain", "moe", "none"]);

/// A group of equal layers.
pub(super) fn group(node: &Node, problems: &mut Problems) -> Option<LayerGroup> {
    let mut fields = Fields::open(node, &Keys::all(&["count", "attention", "ffn"]), problems)?;
    let count = fields.required("count", whole);
    let attention = fields.required("attention", attention);
    let ffn = fields.required("ffn", ffn);
    Some(LayerGroup { count: count?, attention: attention?, ffn: ffn? })
}

fn attention(node: &Node, problems: &mut Problems) -> Option<Attention> {
    let mut fields = Fields::open(node, &ATTENTION, problems)?;
    let gqa = fields.optional("gqa", gqa);
    let mla = fields.optional("mla", mla);
    let linear = fields.optional("linear", linear);
    let ssm = fields.optional("ssm", ssm);
    fields.optional("none", |node, problems| Fields::open(node, &Keys::all(&[]), problems).map(|_| ()));
    match kind_key(node, ATTENTION.known, problems)? {
        KindKey::One("gqa") => gqa.flatten().map(Attention::Gqa),
        KindKey::One("mla") => mla.flatten().map(Attention::Mla),
        KindKey::One("linear") => linear.flatten().map(Attention::Linear),
        KindKey::One("ssm") => ssm.flatten().map(Attention::Ssm),
        KindKey::One(_) => Some(Attention::None),
        KindKey::Absent => no_kind(node, "gqa = { heads = 32, kv_heads = 8, head_dim = 128 }", problems),
    }
}

fn gqa(node: &Node, problems: &mut Problems) -> Option<Gqa> {
    let keys = Keys::all(&["heads", "kv_heads", "head_dim", "window", "output_gate", "value_dim", "shared_values"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let heads = fields.required("heads", whole);
    let kv_heads = fields.required("kv_heads", whole);
    let head_dim = fields.required("head_dim", whole);
    let window = fields.optional("window", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    let gated = fields.optional("output_gate", flag);
    let value_dim = fields.optional("value_dim", whole);
    let shared = fields.optional("shared_values", flag);
    let (gated, value_dim, shared) = (gated?.unwrap_or_default(), value_dim?, shared?.unwrap_or_default());
    match Gqa::new(heads?, kv_heads?, head_dim?, window?) {
        Ok(gqa) => {
            let gqa = if gated { gqa.with_output_gate() } else { gqa };
            let gqa = if shared { gqa.with_shared_values() } else { gqa };
            Some(value_dim.map_or(gqa, |width| gqa.with_value_dim(width)))
        }
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("heads is a multiple of kv_heads"))
        }
    }
}

fn mla(node: &Node, problems: &mut Problems) -> Option<Mla> {
    let keys = Keys::all(&["heads", "q_lora", "kv_lora", "qk_nope", "qk_rope", "v_head", "index"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let heads = fields.required("heads", whole);
    let q_lora = fields.optional("q_lora", whole);
    let kv_lora = fields.required("kv_lora", whole);
    let qk_nope = fields.required("qk_nope", whole);
    let qk_rope = fields.required("qk_rope", whole);
    let v_head = fields.required("v_head", whole);
    let index = fields.optional("index", index);
    let mla = Mla::new(heads?, q_lora?, kv_lora?, [qk_nope?, qk_rope?, v_head?]).ok()?;
    match index? {
        Some(index) => mla.with_index(index).ok(),
        None => Some(mla),
    }
}

/// Which tokens a token sees; without heads, those that an earlier layer selected.
fn index(node: &Node, problems: &mut Problems) -> Option<Index> {
    let mut fields = Fields::open(node, &Keys::all(&["top_k", "heads", "dim"]), problems)?;
    let top_k = fields.required("top_k", whole);
    let selector = if fields.has("heads") || fields.has("dim") {
        let heads = fields.required("heads", whole);
        let dim = fields.required("dim", whole);
        Some(Selector { heads: heads?, dim: dim? })
    } else {
        None
    };
    Some(Index { top_k: top_k?, selector })
}

fn linear(node: &Node, problems: &mut Problems) -> Option<Linear> {
    let keys = Keys::all(&["key_heads", "value_heads", "key_dim", "value_dim", "conv"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let key_heads = fields.required("key_heads", whole);
    let value_heads = fields.required("value_heads", whole);
    let key_dim = fields.required("key_dim", whole);
    let value_dim = fields.required("value_dim", whole);
    let conv = fields.required("conv", whole);
    match Linear::new([key_heads?, value_heads?], [key_dim?, value_dim?], conv?) {
        Ok(linear) => Some(linear),
        Err(error) => uneven(&error.to_string(), node, problems),
    }
}

/// Mamba-2 with heads and groups, or Mamba with channels and a rank.
fn ssm(node: &Node, problems: &mut Problems) -> Option<Ssm> {
    let keys = Keys::all(&["heads", "head_dim", "groups", "inner", "dt_rank", "inner_norms", "state", "conv"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let state = fields.required("state", whole);
    let conv = fields.required("conv", whole);
    let form = if fields.has("inner") || fields.has("dt_rank") {
        let inner = fields.required("inner", whole);
        let dt_rank = fields.required("dt_rank", whole);
        let inner_norms = fields.optional("inner_norms", flag);
        for key in ["heads", "head_dim", "groups"] {
            fields.optional(key, |node, problems| {
                let found = Diagnostic::error("conflict", format!("`{key}` belongs to a layer with heads"));
                problems
                    .report::<()>(found.at(&node.place).hint("keep inner and dt_rank, or heads, head_dim and groups"))
            });
        }
        SsmForm::Ranked { inner: inner?, dt_rank: dt_rank?, inner_norms: inner_norms?.unwrap_or(true) }
    } else {
        let heads = fields.required("heads", whole);
        let head_dim = fields.required("head_dim", whole);
        let groups = fields.required("groups", whole);
        SsmForm::Heads { heads: heads?, head_dim: head_dim?, groups: groups? }
    };
    match Ssm::new(form, state?, conv?) {
        Ok(ssm) => Some(ssm),
        Err(error) => uneven(&error.to_string(), node, problems),
    }
}

fn uneven<T>(error: &str, node: &Node, problems: &mut Problems) -> Option<T> {
    problems.report(Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place))
}

fn ffn(node: &Node, problems: &mut Problems) -> Option<Ffn> {
    let mut fields = Fields::open(node, &FFN, problems)?;
    let gated = fields.optional("gated", intermediate);
    let plain = fields.optional("plain", intermediate);
    let moe = fields.optional("moe", moe);
    fields.optional("none", |node, problems| Fields::open(node, &Keys::all(&[]), problems).map(|_| ()));
    match kind_key(node, FFN.known, problems)? {
        KindKey::One("gated") => gated.flatten().map(|intermediate| Ffn::Gated { intermediate }),
        KindKey::One("plain") => plain.flatten().map(|intermediate| Ffn::Plain { intermediate }),
        KindKey::One("moe") => moe.flatten().map(Ffn::Moe),
        KindKey::One(_) => Some(Ffn::None),
        KindKey::Absent => no_kind(node, "gated = { intermediate = 14336 }", problems),
    }
}

fn intermediate(node: &Node, problems: &mut Problems) -> Option<u64> {
    Fields::open(node, &Keys::all(&["intermediate"]), problems)?.required("intermediate", whole)
}

fn moe(node: &Node, problems: &mut Problems) -> Option<Moe> {
    let keys = Keys::all(&["experts", "top_k", "shared", "intermediate", "shared_intermediate", "gated", "latent"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let experts = fields.required("experts", whole);
    let top_k = fields.required("top_k", whole);
    let intermediate = fields.required("intermediate", whole);
    let shared = fields.optional("shared", |node, problems| integer(node, problems, 0, LARGEST_COUNT));
    let shared_intermediate = fields.optional("shared_intermediate", whole);
    let gated = fields.optional("gated", flag);
    let latent = fields.optional("latent", whole);
    let (intermediate, shared) = (intermediate?, shared?.unwrap_or(0));
    let (gated, latent) = (gated?.unwrap_or(true), latent?);
    match Moe::new(experts?, top_k?, intermediate) {
        Ok(moe) => {
            let moe = moe.with_shared(shared, shared_intermediate?.unwrap_or(intermediate));
            let moe = if gated { moe } else { moe.with_plain_experts() };
            Some(latent.map_or(moe, |width| moe.with_latent(width)))
        }
        Err(error) => {
            let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("such as { experts = 128, top_k = 8, intermediate = 768 }"))
        }
    }
}

/// A table without a kind.
fn no_kind<T>(node: &Node, example: &str, problems: &mut Problems) -> Option<T> {
    let found = Diagnostic::error("missing-key", format!("`{}` has no kind", node.path)).at(&node.place);
    problems.report(found.hint(format!("such as {example}")))
}
