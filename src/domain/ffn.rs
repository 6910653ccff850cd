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
    /// The layer has none.
    None,
}

impl Ffn {
    /// Parameters of its matrices over a hidden width.
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
            Self::Gated { intermediate } => 3.0 * hidden * *intermediate as f64,
            Self::Plain { intermediate } => 2.0 * hidden * *intermediate as f64,
            Self::None => 0.0,
        }
    }

    /// Width between its matrices, 0 without them.
    #[must_use]
    pub const fn intermediate(&self) -> f64 {
        match self {
            Self::Gated { intermediate } | Self::Plain { intermediate } => *intermediate as f64,
            Self::None => 0.0,
        }
    }
}
