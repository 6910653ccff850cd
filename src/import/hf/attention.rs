//! The attention of each kind of layer.

use crate::diagnostic::Diagnostic;
use crate::domain::attention::{Attention, Gqa, Index, Linear, Mla, Selector, Ssm, SsmForm};
use crate::import::hf::family::{Family, StateSpace};
use crate::import::hf::layers::{Mixer, on};
use crate::import::hf::reader::Reader;

const HEADS: [&str; 4] = ["num_attention_heads", "n_head", "n_heads", "num_heads"];
const KV_HEADS: [&str; 6] = [
    "num_key_value_heads",
    "n_head_kv",
    "multi_query_group_num",
    "num_attention_groups",
    "attn_config.kv_n_heads",
    "num_kv_heads",
];
const HEAD_DIM: [&str; 4] = ["head_dim", "attention_head_dim", "kv_channels", "hidden_size_per_head"];

/// The attention of a layer.
pub(super) fn attention(reader: &mut Reader<'_>, family: &Family, mixer: Mixer, hidden: u64) -> Option<Attention> {
    match mixer {
        Mixer::None => Some(Attention::None),
        Mixer::Linear => linear(reader).map(Attention::Linear),
        Mixer::StateSpace => state_space(reader, family, hidden).map(Attention::Ssm),
        Mixer::Full | Mixer::Shared | Mixer::Window | Mixer::Chunk => {
            if reader.has(&["kv_lora_rank"]) {
                if matches!(mixer, Mixer::Window | Mixer::Chunk) {
                    let found = reader.find(&["sliding_window", "attention_chunk_size", "kv_lora_rank"])?;
                    let message = format!("`{}`: a window over a latent cannot be priced", found.path);
                    return reader.problem(Diagnostic::error("unpriced", message), found.node);
                }
                return mla(reader, family, mixer).map(Attention::Mla);
            }
            let window = window(reader, family, mixer)?;
            let form =
                if mixer == Mixer::Full { full(reader, family, hidden) } else { windowed(reader, family, hidden) };
            grouped(reader, family, &form?, window).map(Attention::Gqa)
        }
    }
}

/// Tokens that a token of such a layer sees, itself included.
fn window(reader: &mut Reader<'_>, family: &Family, mixer: Mixer) -> Option<Option<u64>> {
    match mixer {
        Mixer::Window => {
            let keys = ["sliding_window", "sliding_window_size", "window_size"];
            let usual = reader.size(family, "sliding_window").or_else(|| reader.size(family, "window_size"));
            reader.count_or("window", &keys, usual).map(Some)
        }
        Mixer::Chunk => {
            let chunk = reader.count_or("chunk", &["attention_chunk_size"], Some(8192))?;
            reader.warn("attention within chunks is written as a window, an upper bound of what it reads");
            Some(Some(chunk))
        }
        _ => Some(None),
    }
}

/// Heads and their widths.
struct Heads {
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    value_dim: Option<u64>,
    shared_values: bool,
}

/// Heads of layers that see all.
fn full(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Heads> {
    let usual = usual(reader, family, hidden)?;
    // Gemma-4 has other heads where it sees all.
    let head_dim = reader.count("width of a head that sees all", &["global_head_dim"]);
    let kv_heads = reader.count("KV heads that see all", &["num_global_key_value_heads"]);
    let shared_values = reader.flag("values are projected with keys", &["attention_k_eq_v"]).unwrap_or(false);
    Some(Heads {
        kv_heads: kv_heads.filter(|_| shared_values).unwrap_or(usual.kv_heads),
        head_dim: head_dim.unwrap_or(usual.head_dim),
        shared_values,
        ..usual
    })
}

/// Heads of layers with a window.
fn windowed(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Heads> {
    let usual = usual(reader, family, hidden)?;
    // MiMo-V2 has other heads within a window.
    let heads = reader.count("heads within a window", &["swa_num_attention_heads"]);
    let own = usual.kv_heads * family.window_kv;
    let kv_heads = reader.count("KV heads within a window", &["swa_num_key_value_heads"]);
    if kv_heads.is_none() && own != usual.kv_heads {
        reader.infer("KV heads within a window", own, "no key says; the class of this model_type has it so");
    }
    let head_dim = reader.count("width of a head within a window", &["swa_head_dim"]);
    let value_dim = reader.count("width of values within a window", &["swa_v_head_dim"]);
    Some(Heads {
        heads: heads.unwrap_or(usual.heads),
        kv_heads: kv_heads.unwrap_or(own),
        head_dim: head_dim.unwrap_or(usual.head_dim),
        value_dim: value_dim.or(usual.value_dim),
        ..usual
    })
}

/// Query heads, as most decoders state them.
pub(super) fn heads(reader: &mut Reader<'_>, family: &Family) -> Option<u64> {
    let usual = reader.size(family, "num_attention_heads");
    reader.count_or("heads", &HEADS, usual)
}

fn usual(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Heads> {
    let heads = heads(reader, family)?;
    let kv_heads = kv_heads(reader, family, heads)?;
    let head_dim = head_dim(reader, family, hidden, heads)?;
    let value_dim = reader.count("width of a head's values", &["v_head_dim"]).filter(|width| *width != head_dim);
    Some(Heads { heads, kv_heads, head_dim, value_dim, shared_values: false })
}

/// KV heads. Old Falcon and GPT-BigCode share one among all, whatever a stale key says.
fn kv_heads(reader: &mut Reader<'_>, family: &Family, heads: u64) -> Option<u64> {
    let usual = reader.size(family, "num_key_value_heads");
    let one_for_all = ["falcon", "gpt_bigcode"].iter().any(|name| family.types.contains(name));
    let new = reader.flag("architecture", &["new_decoder_architecture"]).unwrap_or(false);
    if one_for_all && !new && reader.flag("one KV head for all", &["multi_query"]).unwrap_or(false) {
        if reader.find(&["num_kv_heads"]).is_some() {
            reader.warn("`num_kv_heads` is stale: `multi_query` without a new architecture means one KV head");
        }
        reader.infer("KV heads", 1, "`multi_query` is true");
        return Some(1);
    }
    let kind = reader.find(&["attn_config.attn_type"]);
    if let Some(found) = kind.filter(|found| found.node.text() == Some("multiquery_attention")) {
        reader.note("kind of attention", &found.path, found.node);
        return Some(1);
    }
    if reader.flag("KV heads are grouped", &["multi_query_attention"]) == Some(false) {
        reader.find(&KV_HEADS);
        return Some(heads);
    }
    if reader.find(&KV_HEADS).is_some() {
        return reader.count("KV heads", &KV_HEADS);
    }
    let (count, why) = match usual {
        Some(usual) => (usual, "no key says; the class of this model_type has it so"),
        None => (heads, "no key says, so that every head has its own"),
    };
    reader.infer("KV heads", count, why);
    Some(count)
}

fn head_dim(reader: &mut Reader<'_>, family: &Family, hidden: u64, heads: u64) -> Option<u64> {
    match reader.find(&HEAD_DIM) {
        // As the classes themselves take it.
        Some(found) if found.node.whole() == Some(0) => reader.warn(format!("`{}` is 0: read as absent", found.path)),
        Some(found) => return reader.whole("width of a head", &found, 1),
        None => {}
    }
    if let Some(usual) = family.head_dim {
        reader.infer("width of a head", usual, "no key says; the class of this model_type has it so");
        return Some(usual);
    }
    if hidden.is_multiple_of(heads) {
        reader.infer("width of a head", hidden / heads, "no key says: hidden width by heads");
        return Some(hidden / heads);
    }
    let found = reader.find(&HEADS)?;
    let message =
        format!("`{}`: {heads} heads do not divide a width of {hidden}, and no `head_dim` says theirs", found.path);
    reader.problem(Diagnostic::error("conflict", message).hint("take the whole config.json of the model"), found.node)
}

fn grouped(reader: &mut Reader<'_>, family: &Family, form: &Heads, window: Option<u64>) -> Option<Gqa> {
    let gqa = match Gqa::new(form.heads, form.kv_heads, form.head_dim, window) {
        Ok(gqa) => gqa,
        Err(error) => {
            let found = reader.find(&KV_HEADS).or_else(|| reader.find(&HEADS))?;
            let message = format!("`{}`: {error}", found.path);
            let hint = "heads are a multiple of KV heads: check both keys";
            return reader.problem(Diagnostic::error("conflict", message).hint(hint), found.node);
        }
    };
    let gqa = if on(reader, "gated attention output", family.output_gate) { gqa.with_output_gate() } else { gqa };
    let gqa = if form.shared_values { gqa.with_shared_values() } else { gqa };
    Some(form.value_dim.map_or(gqa, |width| gqa.with_value_dim(width)))
}

fn mla(reader: &mut Reader<'_>, family: &Family, mixer: Mixer) -> Option<Mla> {
    let heads = reader.required("heads", &HEADS);
    let q_lora = reader.count("rank of queries", &["q_lora_rank"]);
    let kv_lora = reader.required("rank of keys and values", &["kv_lora_rank"]);
    let nope = reader.required("plain width of a head", &["qk_nope_head_dim"]);
    let rope = reader.required("rotary width of a head", &["qk_rope_head_dim"]);
    let usual = reader.size(family, "v_head_dim");
    let value = reader.count_or("width of a head's values", &["v_head_dim"], usual);
    // Each token's latent serves all heads; what these say of KV heads or widths does not count.
    reader.find(&["num_key_value_heads"]);
    reader.find(&["head_dim"]);
    reader.find(&["qk_head_dim"]);
    let selected = reader.count("tokens that are selected", &["index_topk"]);
    let mla = Mla::new(heads?, q_lora, kv_lora?, [nope?, rope?, value?]).ok()?;
    let Some(top_k) = selected else { return Some(mla) };
    let selector = if mixer == Mixer::Shared {
        None
    } else {
        let heads = reader.required("heads that select tokens", &["index_n_heads"]);
        let dim = reader.required("width of such a head", &["index_head_dim"]);
        Some(Selector { heads: heads?, dim: dim? })
    };
    mla.with_index(Index { top_k, selector }).ok()
}

fn linear(reader: &mut Reader<'_>) -> Option<Linear> {
    let key_heads = reader.required("key heads of linear attention", &["linear_num_key_heads"]);
    let value_heads = reader.required("value heads of linear attention", &["linear_num_value_heads"]);
    let key_dim = reader.required("width of such a key head", &["linear_key_head_dim"]);
    let value_dim = reader.required("width of such a value head", &["linear_value_head_dim"]);
    let conv = reader.count_or("tokens of its filter", &["linear_conv_kernel_dim"], Some(4));
    match Linear::new([key_heads?, value_heads?], [key_dim?, value_dim?], conv?) {
        Ok(linear) => Some(linear),
        Err(error) => {
            let found = reader.find(&["linear_num_value_heads"])?;
            reader.problem(Diagnostic::error("conflict", format!("`{}`: {error}", found.path)), found.node)
        }
    }
}

fn state_space(reader: &mut Reader<'_>, family: &Family, hidden: u64) -> Option<Ssm> {
    let state = reader.required("values of state", &["mamba_d_state", "ssm_state_size", "state_size"]);
    let conv = reader.count_or("tokens of the filter", &["mamba_d_conv", "conv_kernel"], Some(4));
    let form = match family.state_space {
        StateSpace::Ranked(inner_norms) => ranked(reader, hidden, inner_norms),
        StateSpace::Heads => heads_and_groups(reader, hidden),
    };
    match Ssm::new(form?, state?, conv?) {
        Ok(ssm) => Some(ssm),
        Err(error) => {
            let found =
                reader.find(&["mamba_n_groups", "n_groups", "mamba_d_state", "ssm_state_size", "state_size"])?;
            reader.problem(Diagnostic::error("conflict", format!("`{}`: {error}", found.path)), found.node)
        }
    }
}

fn ranked(reader: &mut Reader<'_>, hidden: u64, inner_norms: bool) -> Option<SsmForm> {
    // Jamba's `intermediate_size` is that of its feed-forward parts.
    let stated = if inner_norms { None } else { reader.count("channels", &["intermediate_size"]) };
    let inner = match stated {
        Some(inner) => inner,
        None => {
            let times = reader.count_or("channels by width", &["mamba_expand", "expand"], Some(2))?;
            reader.derived("channels of a state space", hidden * times)?
        }
    };
    unbiased(reader);
    let rank = reader.find(&["mamba_dt_rank", "time_step_rank"]);
    let dt_rank = match rank.filter(|found| found.node.text() != Some("auto")) {
        Some(found) => reader.whole("rank of steps", &found, 1)?,
        None => hidden.div_ceil(16),
    };
    Some(SsmForm::Ranked { inner, dt_rank, inner_norms })
}

/// Biases of the projections are refused, and so are filters without one.
fn unbiased(reader: &mut Reader<'_>) {
    let told = [("mamba_proj_bias", true), ("use_bias", true), ("use_conv_bias", false), ("mamba_conv_bias", false)];
    for (key, refused) in told {
        let Some(found) = reader.find(&[key]) else { continue };
        if reader.flag("biases of state spaces", &[key]) == Some(refused) {
            let message = format!("`{}` is {refused}: such state spaces are not counted", found.path);
            reader.problem::<()>(Diagnostic::error("unpriced", message), found.node);
        }
    }
}

fn heads_and_groups(reader: &mut Reader<'_>, hidden: u64) -> Option<SsmForm> {
    let groups = reader.count_or("groups of state spaces", &["mamba_n_groups", "n_groups"], None);
    // Where both are there, `head_dim` is that of attention.
    let own = reader.find(&["mamba_d_head", "mamba_head_dim"]);
    let width = own.or_else(|| reader.find(&["head_dim"]));
    let width = match width.filter(|found| found.node.text() != Some("auto")) {
        Some(found) => reader.whole("width of a state-space head", &found, 1),
        None => None,
    };
    unbiased(reader);
    let heads = ["mamba_n_heads", "mamba_num_heads", "num_heads"];
    let heads = reader.required("state-space heads", &heads)?;
    let width = match width {
        Some(width) => width,
        None => {
            let times = reader.count_or("channels by width", &["mamba_expand", "expand"], Some(2))?;
            reader.derived("channels of a state space", hidden * times)? / heads
        }
    };
    Some(SsmForm::Heads { heads, head_dim: width, groups: groups? })
}
