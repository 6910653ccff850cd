//! The shape of one forward pass.

/// Three numbers that are never multiplied early: weights are read once for all of them, a
/// sequence's KV once whatever `new_tokens_per_seq` is, and arithmetic grows with their product.
///
/// Fractions are means: of contexts in a mixed batch, of sequences that propose nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassShape {
    /// Sequences, B.
    pub batch: f64,
    /// New tokens of each sequence, q: 1 when decoding, k + 1 when verifying a chain.
    pub new_tokens_per_seq: f64,
    /// Tokens of each sequence already in the KV cache, ctx.
    pub context: f64,
}

impl PassShape {
    /// A plain decoding step: one new token for each sequence.
    #[must_use]
    pub const fn decode(batch: f64, context: f64) -> Self {
        Self { batch, new_tokens_per_seq: 1.0, context }
    }

    /// New tokens of the whole batch, B q.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::shape::PassShape;
    /// let verify = PassShape { batch: 16.0, new_tokens_per_seq: 5.0, context: 2048.0 };
    /// assert_eq!(verify.new_tokens(), 80.0);
    /// ```
    #[must_use]
    pub fn new_tokens(&self) -> f64 {
        self.batch * self.new_tokens_per_seq
    }
}
