//! What a `model_type` implies that no key says, one entry for each family of decoders.
//!
//! Keys overrule what is implied wherever a key exists. The entries follow the modelling code of
//! github:huggingface/transformers (5.24) and of the releases themselves; tests compare whole parameter counts with
//! those of that code.

mod a_to_g;
mod bases;
mod g_to_z;

use crate::words::NormKind;

/// A trait of a family that a key may switch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Switch {
    Never,
    Always,
    /// A key, and what holds without it.
    Key(&'static str, bool),
    /// A key that switches it off, and what holds without it.
    NotKey(&'static str, bool),
}

/// Normalisation of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QkNorm {
    /// A vector of a head's width for queries and one for keys.
    Heads,
    /// The same with a shift.
    HeadsWithShift,
    /// Vectors as wide as all queries and all keys.
    Widths,
}

/// Normalisations of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Norms {
    /// One before each part.
    Usual,
    /// So many.
    Each(u64),
    /// One where attention and feed-forward part run side by side, which a key says, else two.
    Parallel(&'static str, bool),
    /// Four where a key says that parts are normalised after them too, else two.
    More(&'static str, bool),
    /// Falcon's: one side by side, two in its new architecture or one after the other.
    Falcon,
}

/// Which layers attend within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// None, whatever `sliding_window` says.
    Never,
    /// All, if `sliding_window` has a value.
    All,
    /// Those that `layer_types` names, which must be there if `sliding_window` has a value.
    Named,
    /// Those from `max_window_layers` on, if `use_sliding_window`.
    Switched,
    /// All but each n-th, n from a key or as given.
    AllBut(&'static str, u64),
    /// Letters, L for a window and G for none, repeated (EXAONE-4).
    Letters,
    /// Kinds with repeats (GPT-Neo).
    Repeats,
    /// 1 for a window and 0 for none (MiMo-V2).
    Ones,
    /// Chunks in all but each n-th (Llama-4).
    Chunks(u64),
}

/// What a layer has in the place of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mixers {
    /// Attention in every layer.
    Attention,
    /// Linear attention but for each n-th layer (Qwen3-Next).
    Interval,
    /// State spaces but for layers at a period and an offset (Jamba).
    Period,
    /// State spaces but for listed layers (Bamba), or as `layer_types` says.
    Listed,
    /// A letter for each block, of one part each (Nemotron-H).
    Letters,
    /// State spaces only.
    StateSpaces,
    /// Pruned layer by layer (Nemotron-NAS).
    Pruned,
}

/// How state spaces are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateSpace {
    /// With ranked steps (Mamba); the flag says whether steps and states are normalised (Jamba).
    Ranked(bool),
    /// With heads and groups (Mamba-2).
    Heads,
}

/// Which layers hold a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparse {
    /// All but what keys leave out: `first_k_dense_replace`, `moe_layer_freq`, `decoder_sparse_step`,
    /// `mlp_only_layers` and their like.
    ByKeys,
    /// Each n-th, counted from 1, n from a key or as given (Llama-4).
    Each(&'static str, u64),
    /// At a period and an offset (Jamba).
    Period,
    /// From a first to a last, at an interval (ERNIE-4.5).
    Range,
}

/// Small parameters beside matrices, biases and norms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Small {
    /// A bias of each LM head row.
    LmHeadBias,
    /// The same where a key says so.
    LmHeadBiasKey(&'static str),
    /// A normalisation after the embedding.
    EmbeddingNorm,
    /// A correction of each expert's score.
    RouterBias,
    /// The same where a key says so, with what holds without it.
    RouterBiasKey(&'static str, bool),
    /// The same where a key has this text, with what holds without it.
    RouterBiasText(&'static str, &'static str, bool),
    /// A gate of the shared expert.
    SharedGate,
    /// An attention sink for each head; of layers with a window only.
    Sinks,
    WindowSinks(&'static str, bool),
    /// A bias of the gate of attention's output, one for each head (Beam).
    OutputGateBias,
    /// A gate for each head, h for each.
    HeadGate,
    /// Normalisations inside attention and feed-forward part (BitNet).
    InnerNorms,
    /// Four numbers of the activation (Apertus).
    Activation,
    /// A scalar of each layer.
    LayerScalar,
    /// Norms of what a mixture beside a dense part adds, a scale for the router, one for each expert (Gemma-4).
    Gemma4Mixture,
    /// A normalisation in mixtures (A.X).
    MixtureNorm,
}

/// What is known of layers for multi-token prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modules {
    /// There are none, or what they are made of is not known.
    Unknown,
    /// One layer each and what joins two inputs, as many as a key says.
    Keyed,
    /// The same, released with copies of embedding and LM head.
    KeyedWithCopies,
    /// One, though no key says so (Qwen3-Next).
    Implied,
}

/// A family of decoders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// Its `model_type`s.
    pub(super) types: &'static [&'static str],
    pub(super) norm: NormKind,
    /// Switches shifts of LayerNorm off (MPT).
    pub(super) norm_without_shift: Option<&'static str>,
    pub(super) norms: Norms,
    /// Three feed-forward matrices, or two.
    pub(super) gated: bool,
    pub(super) qkv_bias: Switch,
    pub(super) out_bias: Switch,
    pub(super) mlp_bias: Switch,
    pub(super) qk_norm: Option<(QkNorm, Switch)>,
    /// Whether embedding and LM head are one table where no key says.
    pub(super) tied: bool,
    pub(super) head_dim: Option<u64>,
    /// Sizes of the class, by key, that its configurations leave out.
    pub(super) sizes: &'static [(&'static str, u64)],
    /// The same for decoders inside multimodal configurations, which leave out whatever is as in the class.
    pub(super) nested: &'static [(&'static str, u64)],
    /// Keys whose absence would mean other layers, though they may be null.
    pub(super) present: &'static [&'static str],
    /// Four times the width between feed-forward matrices where no key says.
    pub(super) four_times: bool,
    pub(super) windows: Windows,
    /// KV heads of layers with a window by those of the others, where no key says theirs.
    pub(super) window_kv: u64,
    /// Whether one expert alone is a dense part.
    pub(super) lone_expert: bool,
    pub(super) mixers: Mixers,
    pub(super) state_space: StateSpace,
    /// Queries projected with a gate as wide; the switch says whether.
    pub(super) output_gate: Switch,
    pub(super) sparse: Sparse,
    /// Learned positions beyond those a key counts; none: positions are not learned.
    pub(super) positions: Option<u64>,
    pub(super) small: &'static [Small],
    pub(super) modules: Modules,
}

impl Family {
    /// A size of the class that configurations leave out.
    pub(super) fn size(&self, key: &str, nested: bool) -> Option<u64> {
        let more = if nested { self.nested } else { &[] };
        self.sizes.iter().chain(more).find(|(known, _)| *known == key).map(|(_, size)| *size)
    }
}

/// A decoder as Llama has it.
pub(super) const LLAMA: Family = Family {
    types: &[],
    norm: NormKind::Rms,
    norm_without_shift: None,
    norms: Norms::Usual,
    gated: true,
    qkv_bias: Switch::Key("attention_bias", false),
    out_bias: Switch::Key("attention_bias", false),
    mlp_bias: Switch::Key("mlp_bias", false),
    qk_norm: None,
    tied: false,
    head_dim: None,
    sizes: &[],
    nested: &[],
    present: &[],
    four_times: false,
    windows: Windows::Never,
    window_kv: 1,
    lone_expert: false,
    mixers: Mixers::Attention,
    state_space: StateSpace::Heads,
    output_gate: Switch::Never,
    sparse: Sparse::ByKeys,
    positions: None,
    small: &[],
    modules: Modules::Unknown,
};

/// Every family that is known.
pub(super) fn families() -> impl Iterator<Item = &'static Family> {
    a_to_g::FAMILIES.iter().chain(g_to_z::FAMILIES)
}

/// The family of a `model_type`.
pub(super) fn family(model_type: &str) -> Option<&'static Family> {
    families().find(|family| family.types.contains(&model_type))
}
