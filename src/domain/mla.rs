//! Multi-head latent attention, to all tokens or to selected ones.

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mla {
    heads: u64,
    q_lora: Option<u64>,
    kv_lora: u64,
    qk_nope: u64,
    qk_rope: u64,
    v_head: u64,
    index: Option<Index>,
}

/// Sparse attention: each token sees the `top_k` of the tokens before it that score best (DeepSeek-V3.2, DSA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Tokens that a token sees.
    pub top_k: u64,
    /// What scores them; none: the layer takes over what an earlier one selected (GLM-5.2).
    pub selector: Option<Selector>,
}

/// What scores all tokens before a token: small heads over one cached key of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Heads.
    pub heads: u64,
    /// Width of a head, and of the cached key.
    pub dim: u64,
}

impl Selector {
    /// Parameters: heads from the rank of the queries (from the inputs without one), one key and a weight of each
    /// head from the inputs.
    const fn params(&self, inputs: f64, rank: f64) -> f64 {
        (rank * (self.heads * self.dim) as f64) + inputs * (self.dim + self.heads) as f64
    }
}

/// A width of nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("heads, kv_lora, qk_nope, qk_rope, v_head and q_lora where it is given are at least 1")]
pub struct NoLatent;

impl Mla {
    /// Heads over a latent of width `kv_lora`; `q_lora` is the rank of the queries, if they have one.
    ///
    /// # Errors
    ///
    /// [`NoLatent`] for a zero.
    pub fn new(
        heads: u64,
        q_lora: Option<u64>,
        kv_lora: u64,
        [qk_nope, qk_rope, v_head]: [u64; 3],
    ) -> Result<Self, NoLatent> {
        if [heads, kv_lora, qk_nope, qk_rope, v_head, q_lora.unwrap_or(1)].contains(&0) {
            return Err(NoLatent);
        }
        Ok(Self { heads, q_lora, kv_lora, qk_nope, qk_rope, v_head, index: None })
    }

    /// With tokens selected in the place of all.
    ///
    /// # Errors
    ///
    /// [`NoLatent`] for a zero.
    pub const fn with_index(self, index: Index) -> Result<Self, NoLatent> {
        let empty = matches!(index.selector, Some(Selector { heads: 0, .. } | Selector { dim: 0, .. }));
        if index.top_k == 0 || empty { Err(NoLatent) } else { Ok(Self { index: Some(index), ..self }) }
    }

    /// How tokens are selected, if they are.
    #[must_use]
    pub const fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// What scores tokens in this layer.
    #[must_use]
    pub const fn selector(&self) -> Option<&Selector> {
        match &self.index {
            Some(Index { selector: Some(selector), .. }) => Some(selector),
            _ => None,
        }
    }

    const fn selector_params(&self, inputs: f64) -> f64 {
        let rank = match self.q_lora {
            Some(rank) => rank as f64,
            None => inputs,
        };
        match self.selector() {
            Some(selector) => selector.params(inputs, rank),
            None => 0.0,
        }
    }

    /// Values cached of each token: those of the latent, and the key that scores.
    pub(super) const fn cached_values(&self) -> f64 {
        match self.selector() {
            Some(selector) => self.latent_width() + selector.dim as f64,
            None => self.latent_width(),
        }
    }

    /// Matrix products of a layer.
    pub(super) const fn products(&self) -> f64 {
        let selecting = if self.selector().is_some() { 3.0 } else { 0.0 };
        selecting + if self.q_lora.is_some() { 5.0 } else { 4.0 }
    }

    /// Heads, H.
    #[must_use]
    pub const fn heads(&self) -> u64 {
        self.heads
    }

    /// Rank of the queries, if they have one.
    #[must_use]
    pub const fn q_lora(&self) -> Option<u64> {
        self.q_lora
    }

    /// Widths of a head's plain part, its rotary part and its values.
    #[must_use]
    pub const fn head_widths(&self) -> [u64; 3] {
        [self.qk_nope, self.qk_rope, self.v_head]
    }

    /// Values of the latent of each token, the rotary key included: r + p.
    #[must_use]
    pub const fn latent_width(&self) -> f64 {
        (self.kv_lora + self.qk_rope) as f64
    }

    /// Width of the latent, r.
    #[must_use]
    pub const fn rank(&self) -> f64 {
        self.kv_lora as f64
    }

    /// Width of all heads' values, H v.
    #[must_use]
    pub const fn output_width(&self) -> f64 {
        (self.heads * self.v_head) as f64
    }

    /// Parameters that project queries and the latent, and score tokens.
    #[must_use]
    pub const fn projection_params(&self, inputs: f64) -> f64 {
        let queries = (self.heads * (self.qk_nope + self.qk_rope)) as f64;
        let latent = inputs * self.latent_width();
        latent
            + self.selector_params(inputs)
            + match self.q_lora {
                Some(rank) => (inputs + queries) * rank as f64,
                None => inputs * queries,
            }
    }

    /// Of these, what projects down to the ranks and what scores tokens: every device of a sliced model keeps it whole.
    #[must_use]
    pub const fn down_params(&self, inputs: f64) -> f64 {
        let queries = match self.q_lora {
            Some(rank) => inputs * rank as f64,
            None => 0.0,
        };
        inputs * self.latent_width() + queries + self.selector_params(inputs)
    }

    /// Parameters that turn the latent into keys and values, or that queries and outputs absorb: r H (n + v).
    #[must_use]
    pub const fn absorb_params(&self) -> f64 {
        self.rank() * (self.heads * (self.qk_nope + self.v_head)) as f64
    }

    /// Scales of the normalisations of query and latent, and those of the key that scores, with shifts.
    #[must_use]
    pub const fn norm_params(&self) -> f64 {
        let queries = match self.q_lora {
            Some(rank) => rank as f64,
            None => 0.0,
        };
        let key = match self.selector() {
            Some(selector) => 2.0 * selector.dim as f64,
            None => 0.0,
        };
        self.rank() + queries + key
    }
}
