//! How a replica uses its devices.

use std::num::NonZeroU64;

use crate::units::{Bytes, Probability};
use crate::words::CaptureUnit;

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

/// How a replica is spread beyond slicing every matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Devices that share the experts.
    pub expert_parallel: Option<u64>,
    /// Stages of layers, one after the other.
    pub pipeline: u64,
    /// Whether attention is computed apart on each group of devices, for a batch of its own.
    pub data_parallel_attention: bool,
    /// Devices that the drafter's matrices are sliced over; none: as many as the target's.
    pub draft_tensor_parallel: Option<u64>,
}

impl Spread {
    /// Of a drafter that is sliced over `own` devices beside a target that is sliced over `devices`: as many
    /// groups attend apart as of the target.
    #[must_use]
    pub const fn of_drafter(self, devices: u64, own: u64) -> Self {
        let expert_parallel = match self.expert_parallel {
            Some(sharing) if self.data_parallel_attention => Some(sharing / devices * own),
            _ if own == devices => self.expert_parallel,
            _ => None,
        };
        Self { expert_parallel, ..self }
    }
}

impl Default for Spread {
    fn default() -> Self {
        Self { expert_parallel: None, pipeline: 1, data_parallel_attention: false, draft_tensor_parallel: None }
    }
}

/// What an engine is told not to exceed. Absent: no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Sequences that run together.
    pub max_num_seqs: Option<u64>,
    /// New tokens of one step, drafts included.
    pub max_num_batched_tokens: Option<u64>,
    /// Tokens of one sequence, prompt and output.
    pub max_model_len: Option<u64>,
    /// Numbers of tokens that a step's graph was captured for, in rising order: others are padded to the
    /// next, and beyond the largest launches set the pace.
    pub capture_sizes: Vec<u64>,
    /// What those count.
    pub capture_unit: CaptureUnit,
}
