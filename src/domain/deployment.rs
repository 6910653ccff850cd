//! How a replica uses its devices.

use std::num::NonZeroU64;

use crate::units::{Bytes, Probability};

/// How device memory is handed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryPolicy {
    utilization: Probability,
    reserve: Bytes,
    block_tokens: NonZeroU64,
}

/// Why memory cannot be handed out so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MemoryPolicyError {
    /// The engine may use nothing.
    #[error("a utilization of 0 leaves no memory")]
    NoMemory,
    /// A negative or endless reserve.
    #[error("a reserve of {0} bytes makes no sense")]
    Reserve(f64),
}

impl MemoryPolicy {
    /// What an engine does when told nothing: 90 % of the memory, no reserve, blocks of 16 tokens
    /// (the defaults of vLLM's `gpu_memory_utilization` and `block_size`).
    pub const DEFAULT_UTILIZATION: f64 = 0.9;
    /// See [`Self::DEFAULT_UTILIZATION`].
    pub const DEFAULT_BLOCK_TOKENS: NonZeroU64 = NonZeroU64::new(16).unwrap();

    /// A policy.
    ///
    /// # Errors
    ///
    /// [`MemoryPolicyError`] for a utilization of 0 or a reserve that is negative or not finite.
    pub fn new(utilization: Probability, reserve: Bytes, block_tokens: NonZeroU64) -> Result<Self, MemoryPolicyError> {
        if utilization == Probability::ZERO {
            return Err(MemoryPolicyError::NoMemory);
        }
        if !reserve.get().is_finite() || reserve < Bytes::ZERO {
            return Err(MemoryPolicyError::Reserve(reserve.get()));
        }
        Ok(Self { utilization, reserve, block_tokens })
    }

    /// Share of the capacity that the engine may use, in (0, 1].
    #[must_use]
    pub const fn utilization(&self) -> Probability {
        self.utilization
    }

    /// Bytes that are neither weights nor KV cache: activations, graphs, other processes.
    #[must_use]
    pub const fn reserve(&self) -> Bytes {
        self.reserve
    }

    /// Tokens in one block of the KV cache.
    #[must_use]
    pub const fn block_tokens(&self) -> NonZeroU64 {
        self.block_tokens
    }
}
