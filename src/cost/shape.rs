//! The shape of one forward pass.

/// Numbers that are never multiplied early: weights are read once for all of them, a sequence's KV once
/// whatever `new_tokens_per_seq` is, and arithmetic grows with their product.
///
/// Fractions are means: of contexts in a mixed batch, of sequences that propose nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassShape {
    /// Sequences, B.
    pub batch: f64,
    /// New tokens of each sequence, q: 1 when decoding, k + 1 when verifying a chain, a prompt's length
    /// when prefilling.
    pub new_tokens_per_seq: f64,
    /// Tokens of each sequence already in the KV cache, ctx.
    pub context: f64,
    /// Positions of each sequence whose next token is wanted: these go through the LM head.
    pub scored_per_seq: f64,
}

impl PassShape {
    /// A plain decoding step: one new token for each sequence.
    #[must_use]
    pub const fn decode(batch: f64, context: f64) -> Self {
        Self::verify(batch, 1.0, context)
    }

    /// A verification pass: every position is scored.
    #[must_use]
    pub const fn verify(batch: f64, width: f64, context: f64) -> Self {
        Self { batch, new_tokens_per_seq: width, context, scored_per_seq: width }
    }

    /// A prefill pass: `prompt` new tokens after `context` cached ones, the last of them scored.
    #[must_use]
    pub const fn prefill(batch: f64, prompt: f64, context: f64) -> Self {
        Self { batch, new_tokens_per_seq: prompt, context, scored_per_seq: 1.0 }
    }

    /// New tokens of the whole batch, B q.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::shape::PassShape;
    /// assert_eq!(PassShape::verify(16.0, 5.0, 2048.0).new_tokens(), 80.0);
    /// ```
    #[must_use]
    pub fn new_tokens(&self) -> f64 {
        self.batch * self.new_tokens_per_seq
    }
}
