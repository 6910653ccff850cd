//! Layers that keep a state of fixed size instead of a cache that grows.

/// Linear attention with a gated delta rule (Yang et al. 2024, arXiv 2412.06464; Qwen3-Next).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    pub(super) key_heads: u64,
    value_heads: u64,
    key_dim: u64,
    value_dim: u64,
    conv: u64,
}

/// A state-space layer (Mamba, arXiv 2312.00752; Mamba-2, arXiv 2405.21060).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ssm {
    pub(super) form: SsmForm,
    state: u64,
    conv: u64,
}

/// How the steps of a state-space layer are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsmForm {
    /// Mamba-2: heads of a width, each with a decay, and groups that share what goes in and out.
    Heads {
        /// Heads.
        heads: u64,
        /// Width of a head.
        head_dim: u64,
        /// Groups.
        groups: u64,
    },
    /// Mamba: every channel on its own, steps made through a rank.
    Ranked {
        /// Channels.
        inner: u64,
        /// The rank.
        dt_rank: u64,
        /// Whether steps and states are normalised (Jamba).
        inner_norms: bool,
    },
}

/// A state of nothing, or heads that share unevenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("heads, widths, state and conv are at least 1, and value heads share key heads (or heads share groups) evenly")]
pub struct NoState;

impl Linear {
    /// Key heads and value heads of their widths, over a causal filter of `conv` tokens.
    ///
    /// # Errors
    ///
    /// [`NoState`] for a zero, or value heads that do not share key heads evenly.
    pub fn new([key_heads, value_heads]: [u64; 2], [key_dim, value_dim]: [u64; 2], conv: u64) -> Result<Self, NoState> {
        if [key_heads, value_heads, key_dim, value_dim, conv].contains(&0) || !value_heads.is_multiple_of(key_heads) {
            return Err(NoState);
        }
        Ok(Self { key_heads, value_heads, key_dim, value_dim, conv })
    }

    /// Key heads and value heads.
    #[must_use]
    pub const fn heads(&self) -> [u64; 2] {
        [self.key_heads, self.value_heads]
    }

    /// Widths of a key head and of a value head.
    #[must_use]
    pub const fn widths(&self) -> [u64; 2] {
        [self.key_dim, self.value_dim]
    }

    /// Tokens of the filter.
    #[must_use]
    pub const fn conv(&self) -> u64 {
        self.conv
    }

    /// Width of all values: `V d_v`.
    #[must_use]
    pub const fn value_width(&self) -> f64 {
        (self.value_heads * self.value_dim) as f64
    }

    /// Channels that the filter runs over: queries, keys and values.
    const fn channels(&self) -> f64 {
        (2 * self.key_heads * self.key_dim) as f64 + self.value_width()
    }

    /// Width of what is projected from a token: queries, keys, values, their gate, and two numbers for each
    /// value head.
    #[must_use]
    pub const fn projected_width(&self) -> f64 {
        self.channels() + self.value_width() + 2.0 * self.value_heads as f64
    }

    /// The filter, a decay and a step for each value head, and a normalisation of one head's width.
    pub(super) const fn small_params(&self) -> f64 {
        self.channels() * self.conv as f64 + 2.0 * self.value_heads as f64 + self.value_dim as f64
    }

    /// Values of the state, `V d_k d_v`, and of the filter's tail.
    pub(super) const fn state_values(&self) -> (f64, f64) {
        let state = self.value_heads as f64 * self.key_dim as f64 * self.value_dim as f64;
        (state, self.channels() * (self.conv - 1) as f64)
    }
}

impl Ssm {
    /// A layer with `state` values for each channel, over a causal filter of `conv` tokens.
    ///
    /// # Errors
    ///
    /// [`NoState`] for a zero, or heads that do not share groups evenly.
    pub fn new(form: SsmForm, state: u64, conv: u64) -> Result<Self, NoState> {
        let sound = match form {
            SsmForm::Heads { heads, head_dim, groups } => {
                ![heads, head_dim, groups].contains(&0) && heads.is_multiple_of(groups)
            }
            SsmForm::Ranked { inner, dt_rank, .. } => ![inner, dt_rank].contains(&0),
        };
        if sound && state > 0 && conv > 0 { Ok(Self { form, state, conv }) } else { Err(NoState) }
    }

    /// How its steps are made.
    #[must_use]
    pub const fn form(&self) -> SsmForm {
        self.form
    }

    /// Values of state for each channel.
    #[must_use]
    pub const fn state(&self) -> u64 {
        self.state
    }

    /// Tokens of the filter.
    #[must_use]
    pub const fn conv(&self) -> u64 {
        self.conv
    }

    /// Channels.
    #[must_use]
    pub const fn inner(&self) -> f64 {
        match self.form {
            SsmForm::Heads { heads, head_dim, .. } => (heads * head_dim) as f64,
            SsmForm::Ranked { inner, .. } => inner as f64,
        }
    }

    /// What devices can share.
    pub(super) const fn splits(&self) -> u64 {
        match self.form {
            SsmForm::Heads { groups, .. } => groups,
            SsmForm::Ranked { inner, .. } => inner,
        }
    }

    /// Channels that the filter runs over.
    const fn channels(&self) -> f64 {
        match self.form {
            SsmForm::Heads { groups, .. } => self.inner() + (2 * groups * self.state) as f64,
            SsmForm::Ranked { .. } => self.inner(),
        }
    }

    /// Parameters that go in.
    #[must_use]
    pub const fn projection_params(&self, inputs: f64) -> f64 {
        match self.form {
            SsmForm::Heads { heads, .. } => inputs * (self.inner() + self.channels() + heads as f64),
            SsmForm::Ranked { dt_rank, .. } => {
                let rank = dt_rank as f64;
                inputs * 2.0 * self.inner() + self.inner() * (rank + (2 * self.state) as f64) + rank * self.inner()
            }
        }
    }

    /// The filter with its bias; decays, steps, what passes by, and the inner normalisations.
    pub(super) const fn small_params(&self) -> f64 {
        let filter = self.channels() * (self.conv + 1) as f64;
        filter
            + match self.form {
                SsmForm::Heads { heads, .. } => 3.0 * heads as f64 + self.inner(),
                SsmForm::Ranked { dt_rank, inner_norms, .. } => {
                    let norms = if inner_norms { dt_rank + 2 * self.state } else { 0 };
                    self.inner() * (self.state + 2) as f64 + norms as f64
                }
            }
    }

    /// Values of the state, channels times state, and of the filter's tail.
    pub(super) const fn state_values(&self) -> (f64, f64) {
        (self.inner() * self.state as f64, self.channels() * (self.conv - 1) as f64)
    }
}
