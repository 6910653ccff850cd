//! Decoders that several families build on.

use crate::import::hf::family::{Family, LLAMA, Mixers, Modules, Norms, QkNorm, Small, Switch, Windows};
use crate::words::NormKind;

pub(super) const ALWAYS: Switch = Switch::Always;
pub(super) const NEVER: Switch = Switch::Never;

/// A decoder as GPT-2 has it: shifts and biases everywhere, two matrices, one table for both ends.
pub(super) const GPT2: Family = Family {
    norm: NormKind::Layer,
    gated: false,
    qkv_bias: ALWAYS,
    out_bias: ALWAYS,
    mlp_bias: ALWAYS,
    tied: true,
    four_times: true,
    positions: Some(0),
    ..LLAMA
};
/// Sizes of the classes of decoders that multimodal models are often built on: hidden, feed-forward, layers, heads,
/// KV heads, vocabulary (github:huggingface/transformers).
pub(super) const LLAMA_SIZES: &[(&str, u64)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 11_008),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("vocab_size", 32_000),
];
pub(super) const MISTRAL_SIZES: &[(&str, u64)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 14_336),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("num_key_value_heads", 8),
    ("vocab_size", 32_000),
];
pub(super) const QWEN2_SIZES: &[(&str, u64)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 22_016),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("num_key_value_heads", 32),
    ("vocab_size", 151_936),
];
pub(super) const GEMMA_SIZES: &[(&str, u64)] = &[
    ("hidden_size", 3072),
    ("intermediate_size", 24_576),
    ("num_hidden_layers", 28),
    ("num_attention_heads", 16),
    ("num_key_value_heads", 16),
    ("vocab_size", 256_000),
];
pub(super) const GEMMA2_SIZES: &[(&str, u64)] = &[
    ("hidden_size", 2304),
    ("intermediate_size", 9216),
    ("num_hidden_layers", 26),
    ("num_attention_heads", 8),
    ("num_key_value_heads", 4),
    ("vocab_size", 256_000),
];

/// A decoder as Qwen3 has it: Llama's with normalised queries and keys.
pub(super) const QWEN3: Family = Family {
    qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", true))),
    head_dim: Some(128),
    windows: Windows::Switched,
    ..LLAMA
};
/// A decoder as Qwen3-Next has it: linear attention in three of four layers, gated outputs.
pub(super) const QWEN3_NEXT: Family = Family {
    head_dim: Some(256),
    windows: Windows::Never,
    mixers: Mixers::Interval,
    output_gate: Switch::Key("attn_output_gate", true),
    ..QWEN3
};
/// Keys that every configuration of a latent mixture has, null or not.
pub(super) const LATENT_KEYS: &[&str] =
    &["kv_lora_rank", "q_lora_rank", "n_routed_experts", "n_shared_experts", "first_k_dense_replace"];
/// A decoder as DeepSeek-V3 has it.
pub(super) const DEEPSEEK_V3: Family = Family {
    small: &[Small::RouterBiasText("topk_method", "noaux_tc", true)],
    modules: Modules::KeyedWithCopies,
    present: LATENT_KEYS,
    ..LLAMA
};
/// A decoder as Gemma-3 has it: four norms a layer, a window in five of six layers.
pub(super) const GEMMA3: Family = Family {
    norms: Norms::Each(4),
    qk_norm: Some((QkNorm::Heads, ALWAYS)),
    tied: true,
    head_dim: Some(256),
    sizes: &[("vocab_size", 262_208), ("num_attention_heads", 8), ("num_key_value_heads", 4), ("sliding_window", 4096)],
    nested: GEMMA2_SIZES,
    windows: Windows::AllBut("sliding_window_pattern", 6),
    ..LLAMA
};
