//! What a replica holds in memory, and how many sequences fit.

use std::num::NonZeroU64;

use crate::domain::deployment::MemoryPolicy;
use crate::domain::device::Device;
use crate::domain::model::Model;
use crate::units::Bytes;

/// What one model holds on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// All its weights, those a pass does not multiply included.
    pub weights: Bytes,
    /// KV cache of one token.
    pub kv_per_token: Bytes,
}

impl Held {
    /// Nothing: no drafter, or one that takes no memory.
    pub const NOTHING: Self = Self { weights: Bytes::ZERO, kv_per_token: Bytes::ZERO };

    /// Of a model on a single device.
    #[must_use]
    pub fn by(model: &Model) -> Self {
        Self { weights: model.weight_bytes_held(), kv_per_token: model.kv_bytes_per_token() }
    }
}

/// The memory demand of a replica on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The target.
    pub target: Held,
    /// The drafter.
    pub drafter: Held,
    /// Neither weights nor KV.
    pub reserve: Bytes,
    /// Tokens in one KV block.
    pub block_tokens: NonZeroU64,
}

/// The bytes a replica holds on one device, line by line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint {
    /// Weights of the target.
    pub target_weights: Bytes,
    /// KV cache of the target.
    pub target_kv: Bytes,
    /// Weights of the drafter.
    pub drafter_weights: Bytes,
    /// KV cache of the drafter.
    pub drafter_kv: Bytes,
    /// Neither.
    pub reserve: Bytes,
}

impl Footprint {
    /// The sum of the lines.
    #[must_use]
    pub fn total(&self) -> Bytes {
        self.target_weights + self.target_kv + self.drafter_weights + self.drafter_kv + self.reserve
    }
}

/// The bytes of a device that an engine may use: `utilization x capacity`.
#[must_use]
pub fn usable(device: &Device, policy: &MemoryPolicy) -> Bytes {
    device.memory.capacity * policy.utilization().get()
}

impl Demand {
    /// Target and drafter under a policy.
    #[must_use]
    pub fn new(target: &Model, drafter: Option<&Model>, policy: &MemoryPolicy) -> Self {
        Self {
            target: Held::by(target),
            drafter: drafter.map_or(Held::NOTHING, Held::by),
            reserve: policy.reserve(),
            block_tokens: policy.block_tokens(),
        }
    }

    /// The same without the drafter: plain decoding.
    #[must_use]
    pub const fn without_drafter(self) -> Self {
        Self { drafter: Held::NOTHING, ..self }
    }

    /// KV slots of one sequence: `context + k + 1` rounded up to whole blocks. A verification pass
    /// writes k + 1 positions: the last emitted token and k drafts.
    #[must_use]
    pub fn slots(&self, context: u64, k: u64) -> u64 {
        let slots = context.saturating_add(k).saturating_add(1);
        slots.div_ceil(self.block_tokens.get()).saturating_mul(self.block_tokens.get())
    }

    /// KV bytes of one sequence: slots times the KV bytes of target and drafter.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use specplan::cost::memory::{Demand, Held};
    /// use specplan::units::Bytes;
    /// let held = |weights, kv| Held { weights: Bytes::new(weights), kv_per_token: Bytes::new(kv) };
    /// let demand = Demand { target: held(16.06e9, 131072.0), drafter: held(2.47e9, 32768.0), reserve: Bytes::ZERO, block_tokens: NonZeroU64::new(16).unwrap() };
    /// // 2048 + 4 + 1 = 2053 slots become 2064; 2064 x 163840 bytes.
    /// assert_eq!(demand.bytes_per_sequence(2048, 4).get(), 338_165_760.0);
    /// ```
    #[must_use]
    pub fn bytes_per_sequence(&self, context: u64, k: u64) -> Bytes {
        (self.target.kv_per_token + self.drafter.kv_per_token) * self.slots(context, k) as f64
    }

    /// Everything that `batch` sequences hold.
    #[must_use]
    pub fn footprint(&self, batch: u64, context: u64, k: u64) -> Footprint {
        let slots = self.slots(context, k) as f64 * batch as f64;
        Footprint {
            target_weights: self.target.weights,
            target_kv: self.target.kv_per_token * slots,
            drafter_weights: self.drafter.weights,
            drafter_kv: self.drafter.kv_per_token * slots,
            reserve: self.reserve,
        }
    }

    /// What is left for KV cache: `usable - reserve - weights`. Negative where the weights alone do
    /// not fit.
    #[must_use]
    pub fn kv_budget(&self, usable: Bytes) -> Bytes {
        usable - self.reserve - self.target.weights - self.drafter.weights
    }

    /// The largest batch that fits: `floor(kv_budget / bytes_per_sequence)`, 0 where the weights
    /// alone do not fit, `None` where a sequence takes no bytes and so memory sets no limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use specplan::cost::memory::{Demand, Held};
    /// use specplan::units::Bytes;
    /// let held = |weights, kv| Held { weights: Bytes::new(weights), kv_per_token: Bytes::new(kv) };
    /// let demand = Demand { target: held(10.0, 2.0), drafter: Held::NOTHING, reserve: Bytes::new(5.0), block_tokens: NonZeroU64::MIN };
    /// // (100 - 5 - 10) / (2 x (3 + 1)) = 10.6
    /// assert_eq!(demand.max_batch(Bytes::new(100.0), 3, 0), Some(10));
    /// ```
    #[must_use]
    pub fn max_batch(&self, usable: Bytes, context: u64, k: u64) -> Option<u64> {
        let each = self.bytes_per_sequence(context, k);
        (each > Bytes::ZERO).then(|| (self.kv_budget(usable) / each).floor().max(0.0) as u64)
    }
}
