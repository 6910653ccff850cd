//! How the tokens of a sequence look at each other.

/// The attention of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Grouped queries; with as many KV heads as heads it is plain multi-head attention.
    Gqa(Gqa),
}

/// Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gqa {
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    window: Option<u64>,
    output_gate: bool,
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
        Ok(Self { heads, kv_heads, head_dim, window, output_gate: false })
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
        let queries = if self.output_gate { 2.0 } else { 1.0 };
        queries * self.query_width() + 2.0 * self.kv_width()
    }

    /// Width of all queries together: `heads x head_dim`.
    #[must_use]
    pub const fn query_width(&self) -> f64 {
        self.heads as f64 * self.head_dim as f64
    }

    /// Width of keys, and of values: `kv_heads x head_dim`.
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
