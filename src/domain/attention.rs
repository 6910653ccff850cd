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
        Ok(Self { heads, kv_heads, head_dim, window })
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
