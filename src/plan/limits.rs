//! What an engine was told not to exceed, against what a point asks of it.

use crate::plan::setup::Setup;

/// Limits of the engine that a point goes beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// More tokens in a step than the largest captured graph.
    pub capture: bool,
    /// More sequences than `max_num_seqs`.
    pub sequences: bool,
    /// More new tokens in a step than `max_num_batched_tokens`.
    pub tokens: bool,
    /// Longer sequences than `max_model_len`.
    pub length: bool,
}

impl Beyond {
    /// Each limit that is passed: its word among the notes, and its name.
    pub fn limits(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            (self.capture, ("beyond_capture", "captured graphs")),
            (self.sequences, ("beyond_max_num_seqs", "max_num_seqs")),
            (self.tokens, ("beyond_max_num_batched_tokens", "max_num_batched_tokens")),
            (self.length, ("beyond_max_model_len", "max_model_len")),
        ];
        all.into_iter().filter_map(|(holds, limit)| holds.then_some(limit))
    }
}

/// Limits that rounds of draft length k go beyond, all sequences proposing.
#[must_use]
pub fn beyond(setup: &Setup<'_>, batch: u64, context: u64, k: u64) -> Beyond {
    beyond_with(setup, batch, context, k, setup.verify_width(k))
}

/// The same where so many tokens of each sequence are verified, of which at most k are accepted.
#[must_use]
pub fn beyond_with(setup: &Setup<'_>, batch: u64, context: u64, k: u64, verify_width: f64) -> Beyond {
    let tokens = batch as f64 * verify_width;
    let limits = setup.limits();
    let over = |limit: Option<u64>, value: f64| limit.is_some_and(|limit| value > limit as f64);
    Beyond {
        capture: setup.is_beyond_capture(batch, verify_width),
        sequences: over(limits.max_num_seqs, batch as f64),
        tokens: over(limits.max_num_batched_tokens, tokens),
        length: over(limits.max_model_len, context as f64 + k as f64 + 1.0),
    }
}
