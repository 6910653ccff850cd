//! How a replica uses its devices.

use crate::units::{Bytes, Probability};

/// How device memory is handed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryPolicy {
    /// Share of the capacity that the engine may use, in (0, 1].
    pub utilization: Probability,
    /// Bytes that are neither weights nor KV cache: activations, graphs, other processes.
    pub reserve: Bytes,
    block_tokens: u64,
}

/// A KV block of no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a KV block holds at least one token")]
pub struct EmptyBlock;

impl MemoryPolicy {
    /// What an engine does when told nothing: 90 % of the memory, no reserve, blocks of 16 tokens
    /// (the defaults of vLLM's `gpu_memory_utilization` and `block_size`).
    pub const DEFAULT_UTILIZATION: f64 = 0.9;
    /// See [`Self::DEFAULT_UTILIZATION`].
    pub const DEFAULT_BLOCK_TOKENS: u64 = 16;

    /// A policy.
    ///
    /// # Errors
    ///
    /// [`EmptyBlock`] for blocks of no tokens.
    pub fn new(utilization: Probability, reserve: Bytes, block_tokens: u64) -> Result<Self, EmptyBlock> {
        if block_tokens == 0 { Err(EmptyBlock) } else { Ok(Self { utilization, reserve, block_tokens }) }
    }

    /// Tokens in one block of the KV cache, at least 1.
    #[must_use]
    pub const fn block_tokens(&self) -> u64 {
        self.block_tokens
    }
}
