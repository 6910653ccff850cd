//! What a replica holds in memory, and how many sequences fit.

use std::num::NonZeroU64;

use crate::cost::placement::Placement;
use crate::domain::deployment::MemoryPolicy;
use crate::domain::device::{Device, MissingCapacity};
use crate::domain::model::{KvShare, Model, Shape};
use crate::units::Bytes;

/// What one model holds on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// All its weights, those a pass does not multiply included.
    pub weights: Bytes,
    /// KV cache, by the tokens that layers keep. Empty: nothing is kept.
    pub kv: Vec<KvShare>,
    /// State of one sequence that does not grow, once for each position that a round may go back to.
    pub state: Bytes,
}

impl Held {
    /// Nothing: no drafter, or one that takes no memory.
    pub const NOTHING: Self = Self { weights: Bytes::ZERO, kv: Vec::new(), state: Bytes::ZERO };

    /// Of a model on each device of a placement: an even share of the weights but for what each holds whole, of the
    /// picked experts also over the ranks; KV by heads; of everything the part that the fullest stage holds,
    /// which counts as having an end of the model too.
    ///
    /// # Formula
    ///
    /// ```text
    /// bytes = ((all - ends - experts - whole + experts / r) ceil(L / P) / L + larger end) / n + whole ceil(L / P) / L
    /// ```
    ///
    /// n devices for each of r ranks in P stages of L layers; the ends, embedding and LM head, count among all
    /// where P is 1.
    #[must_use]
    pub fn by(model: &Model, placement: &Placement) -> Self {
        let stage = placement.fullest_stage(model);
        let kv = match &model.shape {
            Shape::Aggregate(_) => model.kv_shares(),
            Shape::Layers(layers) => layers
                .groups()
                .iter()
                .map(|group| {
                    let share = model.kv_share(group);
                    let kept = placement.cache_share(&group.attention) * layers.modules() * stage;
                    KvShare { bytes_per_token: share.bytes_per_token * kept, ..share }
                })
                .collect(),
        };
        let (weights, experts) = (model.weight_bytes_held(), model.expert_bytes_held());
        let ends = if placement.stages > 1 { model.end_bytes_held() } else { [Bytes::ZERO; 2] };
        let (end, whole) = (ends[0].max(ends[1]), model.replicated_bytes_held());
        let weights = weights - ends[0] - ends[1];
        let over_ranks = experts * (1.0 / placement.ranks as f64);
        Self {
            weights: ((weights - experts - whole + over_ranks) * stage + end) * placement.share() + whole * stage,
            kv,
            state: model.state_bytes_per_sequence() * (placement.share() * stage),
        }
    }

    /// KV bytes of one sequence: for each share the slots that its layers keep; and its state, of which a
    /// verification of k drafts keeps k + 1.
    fn kv_bytes(&self, context: u64, k: u64, block_tokens: NonZeroU64) -> Bytes {
        let of_share = |share: &KvShare| share.bytes_per_token * slots(context, k, share.window, block_tokens) as f64;
        let grown: Bytes = self.kv.iter().map(of_share).sum();
        grown + self.state * (k as f64 + 1.0)
    }
}

/// KV slots of one sequence: `context + k + 1` rounded up to whole blocks. A verification pass writes
/// k + 1 positions: the last emitted token and k drafts. A layer with a window keeps the `W - 1` tokens
/// before them that the first of them still sees.
fn slots(context: u64, k: u64, window: Option<u64>, block_tokens: NonZeroU64) -> u64 {
    let cached = window.map_or(context, |window| context.min(window.saturating_sub(1)));
    let slots = cached.saturating_add(k).saturating_add(1);
    slots.div_ceil(block_tokens.get()).saturating_mul(block_tokens.get())
}

/// The memory demand of a replica on one device.
#[derive(Clone, Debug, PartialEq)]
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
///
/// # Errors
///
/// [`MissingCapacity`] if the device's description does not say how much there is.
pub fn usable(device: &Device, policy: &MemoryPolicy) -> Result<Bytes, MissingCapacity> {
    Ok(device.capacity()? * policy.utilization().get())
}

impl Demand {
    /// Target and drafter, each on devices of its own placement, under a policy; without one nothing is reserved.
    #[must_use]
    pub fn new(
        target: (&Model, &Placement),
        drafter: Option<(&Model, &Placement)>,
        policy: Option<&MemoryPolicy>,
    ) -> Self {
        Self {
            target: Held::by(target.0, target.1),
            drafter: drafter.map_or(Held::NOTHING, |(model, placement)| Held::by(model, placement)),
            reserve: policy.map_or(Bytes::ZERO, MemoryPolicy::reserve),
            block_tokens: policy.map_or(MemoryPolicy::DEFAULT_BLOCK_TOKENS, MemoryPolicy::block_tokens),
        }
    }

    /// A drafter on devices of its own.
    #[must_use]
    pub fn of_drafter_alone(&self, drafter: (&Model, &Placement)) -> Self {
        Self { target: Held::NOTHING, drafter: Held::by(drafter.0, drafter.1), ..self.clone() }
    }

    /// The same without the drafter: plain decoding.
    #[must_use]
    pub fn without_drafter(&self) -> Self {
        Self { drafter: Held::NOTHING, ..self.clone() }
    }

    /// KV bytes of one sequence, of target and drafter: slots, in whole blocks, times bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use specplan::cost::memory::{Demand, Held};
    /// use specplan::domain::model::KvShare;
    /// use specplan::units::Bytes;
    /// let share = |kv| KvShare { bytes_per_token: Bytes::new(kv), window: None };
    /// let held = |weights, kv| Held { weights: Bytes::new(weights), kv: vec![share(kv)], state: Bytes::ZERO };
    /// let demand = Demand { target: held(16.06e9, 131072.0), drafter: held(2.47e9, 32768.0), reserve: Bytes::ZERO, block_tokens: NonZeroU64::new(16).unwrap() };
    /// // 2048 + 4 + 1 = 2053 slots become 2064; 2064 x 163840 bytes.
    /// assert_eq!(demand.bytes_per_sequence(2048, 4).get(), 338_165_760.0);
    /// ```
    #[must_use]
    pub fn bytes_per_sequence(&self, context: u64, k: u64) -> Bytes {
        let of = |held: &Held| held.kv_bytes(context, k, self.block_tokens);
        of(&self.target) + of(&self.drafter)
    }

    /// Everything that `batch` sequences hold.
    #[must_use]
    pub fn footprint(&self, batch: u64, context: u64, k: u64) -> Footprint {
        let of = |held: &Held| held.kv_bytes(context, k, self.block_tokens) * batch as f64;
        Footprint {
            target_weights: self.target.weights,
            target_kv: of(&self.target),
            drafter_weights: self.drafter.weights,
            drafter_kv: of(&self.drafter),
            reserve: self.reserve,
        }
    }

    /// What is left for KV cache: `usable - reserve - weights`. Negative where the weights alone do
    /// not fit.
    #[must_use]
    pub fn kv_budget(&self, usable: Bytes) -> Bytes {
        usable - self.reserve - self.target.weights - self.drafter.weights
    }

    /// Tokens of sequences of this context that memory holds: `floor(kv_budget / bytes_per_sequence x slots)`,
    /// whole sequences or not; none where a sequence takes no bytes. Where every layer keeps every token it is
    /// the same at every context.
    ///
    /// # Examples
    ///
    /// (100 - 5 - 10) / 2 = 42.5 tokens, at contexts of 3 and 30.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use specplan::cost::memory::{Demand, Held};
    /// use specplan::domain::model::KvShare;
    /// use specplan::units::Bytes;
    /// let share = |kv| KvShare { bytes_per_token: Bytes::new(kv), window: None };
    /// let held = |weights, kv| Held { weights: Bytes::new(weights), kv: vec![share(kv)], state: Bytes::ZERO };
    /// let demand = Demand { target: held(10.0, 2.0), drafter: Held::NOTHING, reserve: Bytes::new(5.0), block_tokens: NonZeroU64::MIN };
    /// assert_eq!([3, 30].map(|context| demand.kv_tokens(Bytes::new(100.0), context, 0)), [Some(42), Some(42)]);
    /// ```
    #[must_use]
    pub fn kv_tokens(&self, usable: Bytes, context: u64, k: u64) -> Option<u64> {
        let each = self.bytes_per_sequence(context, k);
        let tokens = slots(context, k, None, self.block_tokens) as f64;
        (each > Bytes::ZERO).then(|| (self.kv_budget(usable) / each * tokens).floor().max(0.0) as u64)
    }

    /// The largest batch that fits: `floor(kv_budget / bytes_per_sequence)`, 0 where the weights
    /// alone do not fit, `None` where a sequence takes no bytes and so memory sets no limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use specplan::cost::memory::{Demand, Held};
    /// use specplan::domain::model::KvShare;
    /// use specplan::units::Bytes;
    /// let share = |kv| KvShare { bytes_per_token: Bytes::new(kv), window: None };
    /// let held = |weights, kv| Held { weights: Bytes::new(weights), kv: vec![share(kv)], state: Bytes::ZERO };
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
