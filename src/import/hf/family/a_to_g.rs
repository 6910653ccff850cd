//! The families from A to G, in the order of their names.

use crate::import::hf::family::bases::{
    ALWAYS, DEEPSEEK_V3, GEMMA_SIZES, GEMMA2_SIZES, GEMMA3, GPT2, LATENT_KEYS, NEVER, QWEN3,
};
use crate::import::hf::family::{
    Family, LLAMA, Mixers, Modules, Norms, QkNorm, Small, Sparse, StateSpace, Switch, Windows,
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        types: &["afmoe"],
        norms: Norms::Each(4),
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        windows: Windows::AllBut("global_attn_every_n_layers", 4),
        output_gate: ALWAYS,
        small: &[Small::RouterBias],
        ..LLAMA
    },
    Family {
        types: &["apertus"],
        gated: false,
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        small: &[Small::Activation],
        ..LLAMA
    },
    Family { types: &["arcee"], gated: false, ..LLAMA },
    Family {
        types: &["axk1"],
        small: &[Small::RouterBias, Small::MixtureNorm],
        modules: Modules::KeyedWithCopies,
        ..LLAMA
    },
    Family { types: &["baichuan"], qkv_bias: NEVER, out_bias: NEVER, ..LLAMA },
    Family {
        types: &["bailing_moe", "bailing_moe_v2", "bailing_moe_linear"],
        qkv_bias: Switch::Key("use_qkv_bias", false),
        out_bias: Switch::Key("use_bias", false),
        mlp_bias: Switch::Key("use_bias", false),
        qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", false))),
        small: &[Small::RouterBiasKey("moe_router_enable_expert_bias", false)],
        modules: Modules::Keyed,
        ..LLAMA
    },
    Family { types: &["bamba"], mixers: Mixers::Listed, ..LLAMA },
    Family {
        types: &["beam"],
        norms: Norms::Each(4),
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        head_dim: Some(128),
        present: &["num_experts", "mlp_layer_types"],
        windows: Windows::Named,
        output_gate: ALWAYS,
        small: &[Small::OutputGateBias],
        ..LLAMA
    },
    Family { types: &["bitnet"], tied: true, small: &[Small::InnerNorms], ..LLAMA },
    Family { types: &["bloom"], positions: None, small: &[Small::EmbeddingNorm], ..GPT2 },
    Family {
        types: &["chatglm"],
        qkv_bias: Switch::Key("add_qkv_bias", false),
        out_bias: Switch::Key("add_bias_linear", false),
        mlp_bias: Switch::Key("add_bias_linear", false),
        ..LLAMA
    },
    Family {
        types: &["codegen", "gptj"],
        norms: Norms::Each(1),
        qkv_bias: NEVER,
        out_bias: NEVER,
        tied: false,
        positions: None,
        small: &[Small::LmHeadBias],
        ..GPT2
    },
    // LayerNorm without a shift counts as a scale.
    Family {
        types: &["cohere"],
        norms: Norms::Each(1),
        qk_norm: Some((QkNorm::Widths, Switch::Key("use_qk_norm", false))),
        tied: true,
        ..LLAMA
    },
    Family {
        types: &["cohere2", "cohere2_moe"],
        norms: Norms::Each(1),
        tied: true,
        windows: Windows::AllBut("sliding_window_pattern", 4),
        ..LLAMA
    },
    Family { types: &["dbrx"], present: &["ffn_config"], qkv_bias: NEVER, out_bias: NEVER, ..LLAMA },
    Family { types: &["deepseek_v2"], present: LATENT_KEYS, ..LLAMA },
    Family { types: &["deepseek_v3", "kimi_k2", "deepseek_v32", "sarvam_mla"], ..DEEPSEEK_V3 },
    Family {
        types: &["dots1"],
        present: &["n_routed_experts", "first_k_dense_replace"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        windows: Windows::Switched,
        small: &[Small::RouterBiasText("topk_method", "noaux_tc", true)],
        ..LLAMA
    },
    Family {
        types: &["ernie4_5", "ernie4_5_text"],
        qkv_bias: Switch::Key("use_bias", false),
        out_bias: Switch::Key("use_bias", false),
        mlp_bias: Switch::Key("use_bias", false),
        tied: true,
        head_dim: Some(128),
        ..LLAMA
    },
    Family {
        types: &["ernie4_5_moe"],
        present: &["moe_num_experts"],
        qkv_bias: Switch::Key("use_bias", false),
        out_bias: Switch::Key("use_bias", false),
        mlp_bias: Switch::Key("use_bias", false),
        tied: true,
        sparse: Sparse::Range,
        small: &[Small::RouterBiasKey("moe_use_aux_free", true)],
        ..LLAMA
    },
    Family { types: &["exaone"], ..LLAMA },
    Family {
        types: &["exaone4", "exaone4_5"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        windows: Windows::Letters,
        ..LLAMA
    },
    Family {
        types: &["exaone_moe"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        windows: Windows::Letters,
        small: &[Small::RouterBias],
        modules: Modules::Keyed,
        ..LLAMA
    },
    Family {
        types: &["falcon", "RefinedWebModel", "RefinedWeb"],
        norms: Norms::Falcon,
        qkv_bias: Switch::Key("bias", false),
        out_bias: Switch::Key("bias", false),
        mlp_bias: Switch::Key("bias", false),
        positions: None,
        ..GPT2
    },
    Family {
        types: &["falcon_mamba", "mamba"],
        mixers: Mixers::StateSpaces,
        state_space: StateSpace::Ranked(false),
        tied: true,
        ..LLAMA
    },
    Family {
        types: &["flint"],
        present: &["num_experts", "mlp_only_layers"],
        windows: Windows::Named,
        small: &[Small::Sinks],
        ..QWEN3
    },
    Family { types: &["flex_olmo"], qk_norm: Some((QkNorm::Widths, ALWAYS)), ..LLAMA },
    Family { types: &["gemma"], tied: true, head_dim: Some(256), nested: GEMMA_SIZES, ..LLAMA },
    Family {
        types: &["gemma2"],
        nested: GEMMA2_SIZES,
        norms: Norms::Each(4),
        tied: true,
        head_dim: Some(256),
        sizes: &[("sliding_window", 4096)],
        windows: Windows::AllBut("sliding_window_pattern", 2),
        ..LLAMA
    },
    Family { types: &["gemma3", "gemma3_text"], ..GEMMA3 },
    Family {
        types: &["gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text"],
        present: &["hidden_size_per_layer_input", "global_head_dim"],
        sizes: &[("vocab_size", 262_144)],
        small: &[Small::LayerScalar, Small::Gemma4Mixture],
        ..GEMMA3
    },
    Family { types: &["glm"], qkv_bias: Switch::Key("attention_bias", true), out_bias: NEVER, ..LLAMA },
    Family {
        types: &["glm4", "glm4v", "glm4v_text"],
        norms: Norms::Each(4),
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: NEVER,
        ..LLAMA
    },
    Family {
        types: &["glm4_moe", "glm4v_moe", "glm4v_moe_text", "solar_open"],
        present: &["n_routed_experts"],
        out_bias: NEVER,
        qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", false))),
        small: &[Small::RouterBias],
        modules: Modules::KeyedWithCopies,
        ..LLAMA
    },
    Family { types: &["glm_moe_dsa"], modules: Modules::Keyed, ..DEEPSEEK_V3 },
    Family { types: &["glm4_moe_lite"], small: &[Small::RouterBias], ..DEEPSEEK_V3 },
    Family { types: &["gpt2", "gpt-sw3"], ..GPT2 },
    Family { types: &["gpt_bigcode"], ..GPT2 },
    Family { types: &["gpt_neo"], qkv_bias: NEVER, sizes: &[("window_size", 256)], windows: Windows::Repeats, ..GPT2 },
    Family {
        types: &["gpt_neox"],
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: Switch::Key("attention_bias", true),
        tied: false,
        positions: None,
        ..GPT2
    },
    Family {
        types: &["gpt_oss"],
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: Switch::Key("attention_bias", true),
        mlp_bias: ALWAYS,
        head_dim: Some(64),
        sizes: &[("sliding_window", 128)],
        windows: Windows::AllBut("sliding_window_pattern", 2),
        small: &[Small::RouterBias, Small::Sinks],
        ..LLAMA
    },
];
