//! How the tokens of a sequence look at each other.

pub use crate::domain::mla::{Index, Mla, NoLatent, Selector};
pub use crate::domain::recurrent::{Linear, NoState, Ssm, SsmForm};

/// The attention of a layer, or what stands in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Grouped queries; with as many KV heads as heads it is plain multi-head attention.
    Gqa(Gqa),
    /// A latent vector stands for keys and values.
    Mla(Mla),
    /// A matrix for each head that every token updates: no cache that grows.
    Linear(Linear),
    /// A state-space layer: no cache that grows.
    Ssm(Ssm),
    /// The layer has none.
    None,
}

impl Attention {
    /// Parameters of its matrices in one layer, which reads vectors of width `inputs` and writes ones of
    /// width `hidden`.
    ///
    /// # Formula
    ///
    /// ```text
    /// gqa     inputs (H d + K d + K d_v) + H d_v h           without V of its own: inputs (H + K) d + H d h
    /// mla     inputs r_q + r_q H (n + p) + inputs (r + p) + r H (n + v) + H v h     without r_q: inputs H (n + p)
    /// linear  inputs (2 K d_k + 2 V d_v + 2 V) + V d_v h
    /// ssm     inputs (2 i + 2 g n + H) + i h                with ranked steps: inputs 2 i + i (r + 2 n) + r i + i h
    /// ```
    ///
    /// r_q, r: ranks of queries and of the latent; n, p, v: widths of a head's plain part, its rotary part
    /// and its values (DeepSeek-V2, arXiv 2405.04434). K, V: key and value heads of widths d_k, d_v, with a
    /// gate as wide as the values and two numbers for each value head (Gated DeltaNet, arXiv 2412.06464).
    /// i: inner width, g: groups, n: state (Mamba-2, arXiv 2405.21060; ranked: Mamba, arXiv 2312.00752).
    #[must_use]
    pub fn params(&self, inputs: f64, hidden: f64) -> f64 {
        match self {
            Self::Gqa(gqa) => inputs * gqa.projected_width() + gqa.output_width() * hidden,
            Self::Mla(mla) => mla.projection_params(inputs) + mla.absorb_params() + mla.output_width() * hidden,
            Self::Linear(linear) => inputs * linear.projected_width() + linear.value_width() * hidden,
            Self::Ssm(ssm) => ssm.projection_params(inputs) + ssm.inner() * hidden,
            Self::None => 0.0,
        }
    }

    /// Parameters beside the matrices: filters, decays, steps, inner normalisations. `qk_norm` and `qkv_bias`
    /// are those of the model.
    #[must_use]
    pub fn small_params(&self, qkv_bias: bool, qk_norm: bool) -> f64 {
        match self {
            Self::Gqa(gqa) => {
                let bias = if qkv_bias { gqa.projected_width() } else { 0.0 };
                bias + if qk_norm { 2.0 * gqa.head_dim() } else { 0.0 }
            }
            Self::Mla(mla) => mla.norm_params(),
            Self::Linear(linear) => linear.small_params(),
            Self::Ssm(ssm) => ssm.small_params(),
            Self::None => 0.0,
        }
    }

    /// Values that the KV cache keeps of each token in one layer.
    #[must_use]
    pub const fn kv_values(&self) -> f64 {
        match self {
            Self::Gqa(gqa) => gqa.kv_width() + gqa.value_width(),
            Self::Mla(mla) => mla.cached_values(),
            Self::Linear(_) | Self::Ssm(_) | Self::None => 0.0,
        }
    }

    /// Values of a sequence's state, and of the tail that its filter keeps, in one layer.
    #[must_use]
    pub const fn state_values(&self) -> (f64, f64) {
        match self {
            Self::Linear(linear) => linear.state_values(),
            Self::Ssm(ssm) => ssm.state_values(),
            Self::Gqa(_) | Self::Mla(_) | Self::None => (0.0, 0.0),
        }
    }

    /// Tokens that a token sees, itself included; none: all before it.
    #[must_use]
    pub const fn window(&self) -> Option<u64> {
        match self {
            Self::Gqa(gqa) => gqa.window(),
            _ => None,
        }
    }

    /// The most tokens that a new one sees: those of its window, or those that are selected.
    #[must_use]
    pub fn sees_at_most(&self) -> Option<u64> {
        match self {
            Self::Mla(mla) => mla.index().map(|index| index.top_k),
            other => other.window(),
        }
    }

    /// Whether every token before is in a cache that grows.
    #[must_use]
    pub const fn sees_all(&self) -> bool {
        matches!(self, Self::Gqa(Gqa { window: None, .. }) | Self::Mla(_))
    }

    /// Whether a layer of its own, outside its model, can attend so to all tokens.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        let borrows = matches!(self, Self::Mla(mla) if mla.index().is_some_and(|index| index.selector.is_none()));
        self.sees_all() && !borrows
    }

    /// Heads that devices can share: one number must divide the other; none where there is no attention.
    #[must_use]
    pub const fn shared_heads(&self) -> Option<u64> {
        match self {
            Self::Gqa(gqa) => Some(gqa.kv_heads()),
            Self::Mla(mla) => Some(mla.heads()),
            Self::Linear(linear) => Some(linear.key_heads),
            Self::Ssm(ssm) => Some(ssm.splits()),
            Self::None => None,
        }
    }

    /// Matrix products of a layer that start a kernel each: qkv and o; of a latent one the two that go
    /// down and up, the two that absorb keys and values, and o, and three that select tokens; of a linear one qkv with its gate, the two
    /// numbers of each head, and o; of a state-space layer in and out, with ranked steps two more.
    #[must_use]
    pub const fn products(&self) -> f64 {
        match self {
            Self::Gqa(_) => 2.0,
            Self::Mla(mla) => mla.products(),
            Self::Linear(_) => 3.0,
            Self::Ssm(Ssm { form: SsmForm::Heads { .. }, .. }) => 2.0,
            Self::Ssm(_) => 4.0,
            Self::None => 0.0,
        }
    }
}

/// Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gqa {
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    window: Option<u64>,
    output_gate: bool,
    value_dim: Option<u64>,
    shared_values: bool,
}

/// Why heads cannot be grouped so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GqaError {
    /// Zero where there must be one.
    #[error("heads, kv_heads, head_dim and window are at least 1")]
    Zero,
    /// Queries do not share KV heads evenly.
    #[error("{heads} heads do not share {kv_heads} KV heads evenly")]
    Uneven {
        /// Query heads.
        heads: u64,
        /// KV heads.
        kv_heads: u64,
    },
}

impl Gqa {
    /// Heads of a size; `window` is the number of tokens that a token sees, itself included.
    ///
    /// # Errors
    ///
    /// [`GqaError`] for a zero, or heads that KV heads do not divide.
    pub fn new(heads: u64, kv_heads: u64, head_dim: u64, window: Option<u64>) -> Result<Self, GqaError> {
        if [heads, kv_heads, head_dim, window.unwrap_or(1)].contains(&0) {
            return Err(GqaError::Zero);
        }
        if !heads.is_multiple_of(kv_heads) {
            return Err(GqaError::Uneven { heads, kv_heads });
        }
        Ok(Self { heads, kv_heads, head_dim, window, output_gate: false, value_dim: None, shared_values: false })
    }

    /// With values of another width than queries and keys.
    #[must_use]
    pub const fn with_value_dim(self, value_dim: u64) -> Self {
        Self { value_dim: Some(value_dim), ..self }
    }

    /// With values that are projected with the keys, and cached apart (Gemma-4).
    #[must_use]
    pub const fn with_shared_values(self) -> Self {
        Self { shared_values: true, ..self }
    }

    /// Query heads, H.
    #[must_use]
    pub const fn heads(&self) -> u64 {
        self.heads
    }

    /// Width of a head's values, where it is not that of its keys.
    #[must_use]
    pub const fn value_dim(&self) -> Option<u64> {
        self.value_dim
    }

    /// Whether values are projected with the keys.
    #[must_use]
    pub const fn shared_values(&self) -> bool {
        self.shared_values
    }

    /// With a gate on the output, projected beside the queries and as wide as they are.
    #[must_use]
    pub const fn with_output_gate(self) -> Self {
        Self { output_gate: true, ..self }
    }

    /// Whether the output is gated.
    #[must_use]
    pub const fn output_gate(&self) -> bool {
        self.output_gate
    }

    /// Heads that share the KV cache.
    #[must_use]
    pub const fn kv_heads(&self) -> u64 {
        self.kv_heads
    }

    /// Width of what is projected from a token: queries (twice with an output gate), keys and values.
    #[must_use]
    pub const fn projected_width(&self) -> f64 {
        let gate = if self.output_gate { self.output_width() } else { 0.0 };
        self.query_width() + gate + self.projected_kv_width()
    }

    /// Width of what is projected to keys and values.
    pub(super) const fn projected_kv_width(&self) -> f64 {
        self.kv_width() + if self.shared_values { 0.0 } else { self.value_width() }
    }

    /// Width of all heads' values together: `heads x value_dim`.
    #[must_use]
    pub const fn output_width(&self) -> f64 {
        self.heads as f64 * self.one_value_width()
    }

    /// Width of the cached values: `kv_heads x value_dim`.
    #[must_use]
    pub const fn value_width(&self) -> f64 {
        self.kv_heads as f64 * self.one_value_width()
    }

    const fn one_value_width(&self) -> f64 {
        match self.value_dim {
            Some(width) => width as f64,
            None => self.head_dim as f64,
        }
    }

    /// Width of all queries together: `heads x head_dim`.
    #[must_use]
    pub const fn query_width(&self) -> f64 {
        self.heads as f64 * self.head_dim as f64
    }

    /// Width of the cached keys: `kv_heads x head_dim`.
    #[must_use]
    pub const fn kv_width(&self) -> f64 {
        self.kv_heads as f64 * self.head_dim as f64
    }

    /// Width of one head.
    #[must_use]
    pub const fn head_dim(&self) -> f64 {
        self.head_dim as f64
    }

    /// Tokens that a token sees, itself included; none: all before it.
    #[must_use]
    pub const fn window(&self) -> Option<u64> {
        self.window
    }
}
