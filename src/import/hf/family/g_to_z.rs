//! The families from Granite to Z, in the order of their names.

use crate::import::hf::family::bases::{
    ALWAYS, GPT2, LLAMA_SIZES, MISTRAL_SIZES, NEVER, QWEN2_SIZES, QWEN3, QWEN3_NEXT,
};
use crate::import::hf::family::{
    Family, LLAMA, Mixers, Modules, Norms, QkNorm, Small, Sparse, StateSpace, Switch, Windows,
};
use crate::words::NormKind;

pub(super) const FAMILIES: &[Family] = &[
    Family { types: &["granite"], ..LLAMA },
    Family { types: &["granitemoe", "granitemoeshared"], present: &["num_local_experts"], ..LLAMA },
    Family {
        types: &["granite_swa", "granitemoe_swa"],
        tied: true,
        windows: Windows::Named,
        small: &[Small::Sinks],
        ..LLAMA
    },
    Family { types: &["granitemoehybrid"], present: &["num_local_experts"], mixers: Mixers::Listed, ..LLAMA },
    Family { types: &["helium"], ..LLAMA },
    Family { types: &["hyperclovax"], norms: Norms::More("use_post_norm", true), ..LLAMA },
    Family {
        types: &["hunyuan", "hunyuan_v1_dense", "hunyuan_dense"],
        lone_expert: true,
        qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", true))),
        ..LLAMA
    },
    Family {
        types: &["hunyuan_v1_moe", "hunyuan_moe"],
        qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", true))),
        ..LLAMA
    },
    Family {
        types: &["hy_v3"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        small: &[Small::RouterBias],
        modules: Modules::Keyed,
        ..LLAMA
    },
    Family {
        types: &["internlm", "internlm2", "internlm3"],
        qkv_bias: Switch::Key("bias", false),
        out_bias: Switch::Key("bias", false),
        mlp_bias: NEVER,
        ..LLAMA
    },
    Family {
        types: &["jais2"],
        norm: NormKind::Layer,
        gated: false,
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: Switch::Key("attention_bias", true),
        mlp_bias: Switch::Key("mlp_bias", true),
        ..LLAMA
    },
    Family {
        types: &["jamba"],
        lone_expert: true,
        present: &["num_experts"],
        qkv_bias: NEVER,
        out_bias: NEVER,
        mixers: Mixers::Period,
        state_space: StateSpace::Ranked(true),
        sparse: Sparse::Period,
        ..LLAMA
    },
    Family { types: &["kolibri1"], norms: Norms::Each(4), windows: Windows::Named, ..QWEN3 },
    Family {
        types: &["laguna"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        small: &[Small::RouterBias, Small::HeadGate],
        ..LLAMA
    },
    Family { types: &["lara_mini"], tied: true, present: &["layer_types"], ..QWEN3 },
    Family { types: &["llama", "aria_text", "yi", "Yi", "deepseek", "xverse", "aquila"], nested: LLAMA_SIZES, ..LLAMA },
    Family {
        types: &["llama4", "llama4_text"],
        windows: Windows::Chunks(4),
        sparse: Sparse::Each("interleave_moe_layer_step", 1),
        ..LLAMA
    },
    Family { types: &["mamba2"], mixers: Mixers::StateSpaces, ..LLAMA },
    Family { types: &["cwm"], windows: Windows::Named, ..LLAMA },
    Family { types: &["minicpm"], tied: true, ..LLAMA },
    Family { types: &["mellum"], windows: Windows::Never, ..QWEN3 },
    Family {
        types: &["mimo"],
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: NEVER,
        modules: Modules::Keyed,
        ..LLAMA
    },
    Family {
        types: &["mimo_v2", "mimo_v2_flash"],
        window_kv: 2,
        out_bias: NEVER,
        windows: Windows::Ones,
        small: &[
            Small::RouterBiasText("topk_method", "noaux_tc", true),
            Small::WindowSinks("add_swa_attention_sink_bias", true),
        ],
        ..LLAMA
    },
    Family { types: &["minicpm3"], tied: true, sizes: &[("v_head_dim", 64)], ..LLAMA },
    Family {
        types: &["minimax_m2"],
        present: &["num_local_experts"],
        qk_norm: Some((QkNorm::Widths, Switch::Key("use_qk_norm", true))),
        small: &[Small::RouterBiasKey("use_routing_bias", true)],
        ..LLAMA
    },
    Family {
        types: &["ministral", "ministral3", "mistral", "mistral3"],
        sizes: &[("num_key_value_heads", 8)],
        nested: MISTRAL_SIZES,
        windows: Windows::All,
        ..LLAMA
    },
    Family { types: &["mixtral"], windows: Windows::All, present: &["num_local_experts"], ..LLAMA },
    Family {
        types: &["mpt"],
        norm_without_shift: Some("no_bias"),
        qkv_bias: Switch::NotKey("no_bias", false),
        out_bias: Switch::NotKey("no_bias", false),
        mlp_bias: Switch::NotKey("no_bias", false),
        positions: None,
        ..GPT2
    },
    Family { types: &["nemotron"], norm: NormKind::Layer, gated: false, ..LLAMA },
    Family {
        types: &["nemotron_h", "nemotron_h_puzzle"],
        gated: false,
        mixers: Mixers::Letters,
        modules: Modules::Keyed,
        ..LLAMA
    },
    Family { types: &["nemotron-nas", "nemotron_nas", "deci"], mixers: Mixers::Pruned, ..LLAMA },
    Family { types: &["olmo"], norm: NormKind::None, ..LLAMA },
    Family {
        types: &["olmo2", "olmo3", "olmoe"],
        qk_norm: Some((QkNorm::Widths, ALWAYS)),
        windows: Windows::Named,
        ..LLAMA
    },
    Family {
        types: &["opt"],
        qkv_bias: Switch::Key("enable_bias", true),
        out_bias: Switch::Key("enable_bias", true),
        mlp_bias: Switch::Key("enable_bias", true),
        positions: Some(2),
        ..GPT2
    },
    Family {
        types: &["persimmon"],
        qk_norm: Some((QkNorm::HeadsWithShift, Switch::Key("qk_layernorm", true))),
        tied: false,
        positions: None,
        ..GPT2
    },
    Family {
        types: &["phi"],
        norms: Norms::Each(1),
        qk_norm: Some((QkNorm::HeadsWithShift, Switch::Key("qk_layernorm", false))),
        tied: false,
        positions: None,
        small: &[Small::LmHeadBias],
        ..GPT2
    },
    Family {
        types: &["phi3", "phi4mm", "phi4_multimodal"],
        qkv_bias: NEVER,
        out_bias: NEVER,
        windows: Windows::All,
        ..LLAMA
    },
    Family {
        types: &["phimoe"],
        present: &["num_local_experts"],
        norm: NormKind::Layer,
        windows: Windows::All,
        small: &[Small::LmHeadBiasKey("lm_head_bias")],
        ..LLAMA
    },
    Family { types: &["qwen"], qkv_bias: ALWAYS, out_bias: NEVER, mlp_bias: NEVER, ..LLAMA },
    Family {
        types: &["qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"],
        nested: QWEN2_SIZES,
        qkv_bias: ALWAYS,
        out_bias: NEVER,
        windows: Windows::Switched,
        ..LLAMA
    },
    Family {
        types: &["qwen2_moe"],
        present: &["num_experts"],
        qkv_bias: Switch::Key("qkv_bias", true),
        out_bias: NEVER,
        windows: Windows::Switched,
        small: &[Small::SharedGate],
        ..LLAMA
    },
    Family {
        types: &[
            "qwen3",
            "qwen3_vl",
            "qwen3_vl_text",
            "qwen3_vl_moe",
            "qwen3_vl_moe_text",
            "qwen3_omni_moe_text",
            "qwen3_omni_moe",
        ],
        ..QWEN3
    },
    Family { types: &["qwen3_moe"], present: &["num_experts"], head_dim: None, ..QWEN3 },
    Family {
        types: &["qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text"],
        small: &[Small::SharedGate],
        modules: Modules::Keyed,
        ..QWEN3_NEXT
    },
    Family {
        types: &["qwen3_next"],
        present: &["num_experts"],
        small: &[Small::SharedGate],
        modules: Modules::Implied,
        ..QWEN3_NEXT
    },
    Family {
        types: &["sarvam_moe"],
        qk_norm: Some((QkNorm::Heads, Switch::Key("use_qk_norm", true))),
        small: &[Small::RouterBias],
        ..LLAMA
    },
    Family {
        types: &["seed_oss"],
        qkv_bias: Switch::Key("attention_bias", true),
        out_bias: Switch::Key("attention_out_bias", false),
        head_dim: Some(128),
        ..LLAMA
    },
    Family { types: &["smollm3"], tied: true, windows: Windows::Switched, ..LLAMA },
    Family {
        types: &["stablelm"],
        norm: NormKind::Layer,
        norms: Norms::Parallel("use_parallel_residual", false),
        qkv_bias: Switch::Key("use_qkv_bias", false),
        out_bias: NEVER,
        qk_norm: Some((QkNorm::Widths, Switch::Key("qk_layernorm", false))),
        ..LLAMA
    },
    Family {
        types: &["starcoder2"],
        norm: NormKind::Layer,
        gated: false,
        qkv_bias: Switch::Key("use_bias", true),
        out_bias: Switch::Key("use_bias", true),
        mlp_bias: Switch::Key("use_bias", true),
        tied: true,
        windows: Windows::All,
        ..LLAMA
    },
    Family {
        types: &["step3p5", "step3p7"],
        qk_norm: Some((QkNorm::Heads, ALWAYS)),
        small: &[Small::HeadGate, Small::RouterBiasKey("use_moe_router_bias", false)],
        ..LLAMA
    },
    Family {
        types: &["vaultgemma"],
        sizes: &[("sliding_window", 4096)],
        windows: Windows::Named,
        tied: true,
        head_dim: Some(256),
        ..LLAMA
    },
    Family { types: &["youtu"], tied: true, ..LLAMA },
];
