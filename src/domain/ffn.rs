//! The feed-forward part of a layer.

/// The feed-forward part of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ffn {
    /// Three matrices: gate, up, down.
    Gated {
        /// Width between them.
        intermediate: u64,
    },
    /// Two matrices: up, down.
    Plain {
        /// Width between them.
        intermediate: u64,
    },
    /// A mixture of gated experts.
    Moe(Moe),
    /// The layer has none.
    None,
}

/// A mixture of experts: a router picks `top_k` of `experts` for each token; shared experts serve all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moe {
    experts: u64,
    top_k: u64,
    intermediate: u64,
    shared: u64,
    shared_intermediate: u64,
    plain: bool,
    latent: Option<u64>,
}

/// Why experts cannot be mixed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoeError {
    /// Zero where there must be one.
    #[error("experts, top_k and intermediate are at least 1")]
    Zero,
    /// More experts are picked than there are.
    #[error("top_k ({top_k}) exceeds experts ({experts})")]
    TooMany {
        /// Picked for each token.
        top_k: u64,
        /// To pick from.
        experts: u64,
    },
}

impl Moe {
    /// Experts of a width, none of them shared.
    ///
    /// # Errors
    ///
    /// [`MoeError`] for a zero, or more picked than there are.
    pub const fn new(experts: u64, top_k: u64, intermediate: u64) -> Result<Self, MoeError> {
        if experts == 0 || top_k == 0 || intermediate == 0 {
            return Err(MoeError::Zero);
        }
        if top_k > experts {
            return Err(MoeError::TooMany { top_k, experts });
        }
        let alone = Self {
            experts,
            top_k,
            intermediate,
            shared: 0,
            shared_intermediate: intermediate,
            plain: false,
            latent: None,
        };
        Ok(alone)
    }

    /// With `shared` experts of a width that every token passes through.
    #[must_use]
    pub const fn with_shared(self, shared: u64, intermediate: u64) -> Self {
        Self { shared, shared_intermediate: intermediate, ..self }
    }

    /// With experts of two matrices, up and down, in place of three.
    #[must_use]
    pub const fn with_plain_experts(self) -> Self {
        Self { plain: true, ..self }
    }

    /// With picked experts that work on vectors of width `latent`: one matrix takes tokens there, one back.
    #[must_use]
    pub const fn with_latent(self, latent: u64) -> Self {
        Self { latent: Some(latent), ..self }
    }

    /// Experts to pick from, E.
    #[must_use]
    pub const fn experts(&self) -> u64 {
        self.experts
    }

    /// Experts picked for each token.
    #[must_use]
    pub const fn top_k(&self) -> u64 {
        self.top_k
    }

    /// Experts that serve every token.
    #[must_use]
    pub const fn shared(&self) -> u64 {
        self.shared
    }

    /// Width of a picked expert.
    #[must_use]
    pub const fn intermediate(&self) -> u64 {
        self.intermediate
    }

    /// Width of a shared expert.
    #[must_use]
    pub const fn shared_intermediate(&self) -> u64 {
        self.shared_intermediate
    }

    /// Whether experts have two matrices, up and down.
    #[must_use]
    pub const fn plain(&self) -> bool {
        self.plain
    }

    /// Width of the vectors that picked experts work on, where it is not the hidden one.
    #[must_use]
    pub const fn latent(&self) -> Option<u64> {
        self.latent
    }

    /// Matrices of an expert.
    const fn matrices(&self) -> f64 {
        if self.plain { 2.0 } else { 3.0 }
    }

    /// Parameters of one expert: 3 h f, plain 2 h f; over a latent its width in place of h.
    #[must_use]
    pub const fn expert_params(&self, hidden: f64) -> f64 {
        let width = match self.latent {
            Some(latent) => latent as f64,
            None => hidden,
        };
        self.matrices() * width * self.intermediate as f64
    }

    /// Parameters of all shared experts.
    #[must_use]
    pub const fn shared_params(&self, hidden: f64) -> f64 {
        self.shared as f64 * self.matrices() * hidden * self.shared_intermediate as f64
    }

    /// Parameters that every token passes on its way to the experts: the router, h E, and what takes it to a
    /// latent and back, 2 h l.
    #[must_use]
    pub const fn router_params(&self, hidden: f64) -> f64 {
        let latent = match self.latent {
            Some(latent) => 2.0 * hidden * latent as f64,
            None => 0.0,
        };
        hidden * self.experts as f64 + latent
    }

    /// Width of a dense part with as many parameters as one token passes in these experts.
    pub(super) fn passed_width(&self, hidden: f64) -> u64 {
        let picked = self.top_k as f64 * self.expert_params(hidden) + self.shared_params(hidden);
        (picked / (self.matrices() * hidden)).round() as u64
    }

    /// Biases of one expert, where feed-forward matrices have them: as wide as what each matrix gives.
    pub(super) const fn bias_params(&self, hidden: f64) -> f64 {
        (self.matrices() - 1.0) * self.intermediate as f64 + hidden
    }
}

impl Ffn {
    /// Parameters of its matrices over a hidden width, every expert and the router included.
    ///
    /// # Examples
    ///
    /// Llama-3-8B: 3 x 4096 x 14336.
    ///
    /// ```
    /// use specplan::domain::ffn::Ffn;
    /// assert_eq!(Ffn::Gated { intermediate: 14_336 }.params(4096.0), 176_160_768.0);
    /// ```
    #[must_use]
    pub const fn params(&self, hidden: f64) -> f64 {
        match self {
            Self::Moe(moe) => {
                let experts = moe.experts as f64 * moe.expert_params(hidden);
                experts + moe.shared_params(hidden) + moe.router_params(hidden)
            }
            _ => self.active_params(hidden),
        }
    }

    /// Parameters that one token is multiplied with: of a mixture the router, the picked experts and
    /// the shared ones.
    ///
    /// # Examples
    ///
    /// Qwen3-30B-A3B, one layer: 2048 x (3 x 8 x 768 + 128).
    ///
    /// ```
    /// use specplan::domain::ffn::{Ffn, Moe};
    /// let ffn = Ffn::Moe(Moe::new(128, 8, 768)?);
    /// assert_eq!(ffn.active_params(2048.0), 38_010_880.0);
    /// assert_eq!(ffn.params(2048.0), 2048.0 * (3.0 * 128.0 * 768.0 + 128.0));
    /// # Ok::<(), specplan::domain::ffn::MoeError>(())
    /// ```
    #[must_use]
    pub const fn active_params(&self, hidden: f64) -> f64 {
        match self {
            Self::Gated { intermediate } => 3.0 * hidden * *intermediate as f64,
            Self::Plain { intermediate } => 2.0 * hidden * *intermediate as f64,
            Self::Moe(moe) => {
                let picked = moe.top_k as f64 * moe.expert_params(hidden);
                picked + moe.shared_params(hidden) + moe.router_params(hidden)
            }
            Self::None => 0.0,
        }
    }

    /// Width between the matrices that every token passes through, 0 without them.
    #[must_use]
    pub const fn intermediate(&self) -> f64 {
        match self {
            Self::Gated { intermediate } | Self::Plain { intermediate } => *intermediate as f64,
            Self::Moe(moe) => (moe.shared * moe.shared_intermediate) as f64,
            Self::None => 0.0,
        }
    }

    /// The mixture, if it is one.
    #[must_use]
    pub const fn moe(&self) -> Option<&Moe> {
        match self {
            Self::Moe(moe) => Some(moe),
            _ => None,
        }
    }
}
