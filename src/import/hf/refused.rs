//! Keys whose meaning has no price here: such a configuration is refused by the key's name.

use crate::diagnostic::Diagnostic;
use crate::import::hf::reader::{Found, Reader};
use crate::import::json::{Json, Value};

/// When a key refuses a configuration.
#[derive(Clone, Copy)]
enum When {
    /// It has a value that is neither null, false, 0 nor empty.
    Set,
    /// It is a whole number above this.
    Above(i64),
    /// It is a list with a zero.
    HoldsZero,
    /// It is a list of numbers that differ.
    Uneven,
}

/// Keys, when they refuse, and why.
const REFUSED: &[(&str, When, &str)] = &[
    ("is_encoder_decoder", When::Set, "an encoder with a decoder"),
    ("altup_num_inputs", When::Set, "alternating updates of parallel hidden states (Gemma-3n)"),
    ("laurel_rank", When::Set, "learned residual layers (Gemma-3n)"),
    ("hidden_size_per_layer_input", When::Set, "embeddings of each layer (Gemma-3n and 4)"),
    ("num_kv_shared_layers", When::Set, "layers that read the KV cache of others"),
    ("attn_config.qk_ln", When::Set, "normalised queries and keys of this kind"),
    ("attn_config.qk_gn", When::Set, "normalised queries and keys of this kind"),
    ("use_cla", When::Set, "attention that reads the KV cache of other layers"),
    ("zero_expert_num", When::Set, "experts that do nothing, so that a token picks a varying number"),
    ("conv_L_cache", When::Set, "short convolutions in the place of attention"),
    ("compress_ratios", When::Set, "attention over compressed tokens (DeepSeek-V4)"),
    ("hc_mult", When::Set, "several residual streams (hyper-connections)"),
    ("attn_res_block_size", When::Set, "residuals over blocks of layers"),
    ("linear_attn_config", When::Set, "linear attention of Kimi's kind"),
    ("use_shared_attention_adapter", When::Set, "attention whose weights layers share (Zamba)"),
    ("use_mem_rope", When::Set, "attention whose weights layers share (Zamba)"),
    ("hybrid_layer_ids", When::Set, "attention whose weights layers share (Zamba)"),
    ("attn_type_list", When::HoldsZero, "lightning attention in some layers (MiniMax-Text-01)"),
    ("use_double_wide_mlp", When::Set, "feed-forward parts of two widths"),
    ("moe_layer_num_skipped", When::Above(0), "layers without experts that no key names"),
    ("per_layer_config", When::Set, "sizes that differ from layer to layer"),
    ("cross_attention_layers", When::Set, "layers that attend to images"),
    ("sparse_attention_config", When::Set, "sparse attention"),
    ("sparse_config", When::Set, "sparse attention"),
    ("lru_width", When::Set, "linear recurrent units"),
    ("rwkv_head_size", When::Set, "RWKV layers"),
    ("attention_other_setting", When::Set, "layers whose numbers of heads differ"),
    ("num_attention_heads_per_layer", When::Uneven, "layers whose numbers of heads differ"),
    ("parallel_ssm", When::Set, "state spaces beside attention in one layer"),
    ("use_kda_lora", When::Set, "linear attention of Kimi's kind"),
    ("enable_ngram_embedding", When::Set, "embeddings of several tokens"),
    ("loop_num", When::Above(1), "layers that run more than once"),
    ("num_loops", When::Above(1), "layers that run more than once"),
];

/// Types of models that no key tells apart from what can be priced.
const TYPES: &[(&[&str], &str)] = &[
    (&["t5", "bart", "mbart", "pegasus", "whisper", "umt5", "mt5", "t5gemma"], "an encoder and a decoder"),
    (&["bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "electra", "albert"], "an encoder"),
    (&["rwkv", "rwkv5", "rwkv6", "rwkv7"], "RWKV layers"),
    (&["falcon_h1"], "state spaces beside attention in one layer"),
    (&["zamba", "zamba2"], "attention whose weights layers share"),
    (&["recurrent_gemma"], "linear recurrent units"),
    (&["lfm2", "lfm2_moe"], "short convolutions in the place of attention"),
    (&["gemma3n", "gemma3n_text"], "alternating updates of parallel hidden states"),
    (&["longcat_flash"], "two attentions in a layer and experts that do nothing"),
    (&["deepseek_v4"], "attention over compressed tokens"),
    (
        &["kimi_linear", "kimi_k3", "bailing_hybrid", "minimax", "minimax_text_01", "olmo_hybrid"],
        "linear attention of another kind",
    ),
    (&["jetmoe"], "experts in attention"),
    (&["xlstm"], "xLSTM layers"),
    (&["mlp_speculator"], "a chain of small networks"),
    (&["minimax_m3", "minimax_m3_vl", "minimax_m3_vl_text"], "sparse attention"),
    (&["dots3_note", "dots3_note_text"], "latent attention that differs from layer to layer"),
];

/// Reports every key that has no price; whether the type of the model itself has none.
pub(super) fn check(reader: &mut Reader<'_>, model_type: &str) -> bool {
    for (key, when, why) in REFUSED {
        if let Some(found) = reader.find(&[key]).filter(|found| refuses(found.node, *when)) {
            let message = format!("`{}` is {}: {why} cannot be priced", found.path, found.node.shown());
            refuse(reader, message, &found);
        }
    }
    if let Some((_, why)) = TYPES.iter().find(|(types, _)| types.contains(&model_type))
        && let Some(found) = reader.find(&["model_type"])
    {
        let message = format!("`{}` is \"{model_type}\": {why} cannot be priced", found.path);
        refuse(reader, message, &found);
        return true;
    }
    narrow_embedding(reader);
    if reader.has(&["index_topk"])
        && !reader.has(&["kv_lora_rank"])
        && let Some(found) = reader.find(&["index_topk"])
    {
        let message = format!("`{}`: attention to selected tokens can be priced over a latent only", found.path);
        refuse(reader, message, &found);
    }
    false
}

fn refuse(reader: &mut Reader<'_>, message: String, found: &Found<'_>) {
    let hint = "no figure is better than a wrong one; a model with [aggregate] totals can be written by hand";
    reader.problem::<()>(Diagnostic::error("unpriced", message).hint(hint), found.node);
}

fn refuses(node: &Json, when: When) -> bool {
    match (when, &node.value) {
        (When::Above(most), _) => node.whole().is_some_and(|number| number > most),
        (When::Uneven, Value::List(items)) => items.windows(2).any(|pair| pair[0].whole() != pair[1].whole()),
        (When::HoldsZero, Value::List(items)) => items.iter().any(|item| item.whole() == Some(0)),
        (When::Uneven | When::HoldsZero, _) => false,
        (When::Set, Value::Null | Value::Flag(false)) => false,
        (When::Set, Value::Whole(number)) => *number != 0,
        (When::Set, Value::List(items)) => !items.is_empty(),
        (When::Set, Value::Table(entries)) => !entries.is_empty(),
        (When::Set, _) => true,
    }
}

/// An embedding of another width than the layers (OPT-350M).
fn narrow_embedding(reader: &mut Reader<'_>) {
    let Some(found) = reader.find(&["word_embed_proj_dim", "embedding_size"]) else { return };
    let hidden = reader.find(&["hidden_size"]).and_then(|hidden| hidden.node.whole());
    if found.node.whole() != hidden {
        let message = format!(
            "`{}` is {}: an embedding of another width than the layers cannot be priced",
            found.path,
            found.node.shown()
        );
        refuse(reader, message, &found);
    }
}
