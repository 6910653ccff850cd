//! How a model is spread over devices, and how independently its experts are picked.

use crate::cost::shape::PassShape;
use crate::domain::attention::{Attention, Gqa};
use crate::domain::layers::Layers;
use crate::domain::model::{Model, Shape};
use crate::units::{Bytes, BytesPerSecond, Seconds};

/// Where a model runs: what settles the work of one device beside the shape of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Devices that hold a slice of every matrix but the picked experts, n.
    pub devices: u64,
    /// Groups of such devices that each attend to a batch of their own and share the experts, r.
    pub ranks: u64,
    /// Stages that the layers are cut into, P.
    pub stages: u64,
    /// Parts that a batch is cut into, so that every stage of the target works on another.
    pub parts: u64,
    /// One-way bandwidth of a device's link; zero on a single device, which needs none.
    pub link: BytesPerSecond,
    /// How tokens of one sequence share experts.
    pub routing: Routing,
}

/// How tokens of one sequence share experts; those of different sequences pick independently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Routing {
    /// Each token beyond the first picks independently for this share, rho; 1: like tokens of other sequences.
    Share(f64),
    /// q tokens pick like so many independent ones as q to this power: the wider a verification, the more its tokens share.
    Power(f64),
}

impl Routing {
    /// Tokens that pick independently, of q of one sequence.
    ///
    /// # Formula
    ///
    /// ```text
    /// 1 + (q - 1) rho        or q^p
    /// ```
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::placement::Routing;
    /// assert_eq!([Routing::Share(0.5), Routing::Power(0.5)].map(|of| of.independent(9.0)), [5.0, 3.0]);
    /// assert_eq!([Routing::Share(0.5), Routing::Power(0.5)].map(|of| of.independent(1.0)), [1.0, 1.0]);
    /// ```
    #[must_use]
    pub fn independent(self, tokens: f64) -> f64 {
        match self {
            Self::Share(rho) => 1.0 + (tokens - 1.0) * rho,
            Self::Power(power) => tokens.powf(power),
        }
    }
}

/// KV heads that cannot be spread evenly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {kv_heads} heads that keep KV in `{model}` cannot be spread over {devices} devices: one number must divide the other"
)]
pub struct Unsplittable {
    /// The model's id.
    pub model: String,
    /// KV heads of a layer.
    pub kv_heads: u64,
    /// Devices.
    pub devices: u64,
}

impl Placement {
    /// One device, tokens routed independently.
    pub const SINGLE: Self =
        Self { devices: 1, ranks: 1, stages: 1, parts: 1, link: BytesPerSecond::ZERO, routing: Routing::Share(1.0) };

    /// Checks that a model's KV heads divide the devices, or the other way round.
    ///
    /// # Errors
    ///
    /// [`Unsplittable`] names the first layer group that cannot be spread.
    pub fn check(&self, model: &Model) -> Result<(), Unsplittable> {
        let Shape::Layers(layers) = &model.shape else { return Ok(()) };
        for group in layers.groups() {
            let Some(kv_heads) = group.attention.shared_heads() else { continue };
            if !kv_heads.is_multiple_of(self.devices) && !self.devices.is_multiple_of(kv_heads) {
                return Err(Unsplittable { model: model.id.clone(), kv_heads, devices: self.devices });
            }
        }
        Ok(())
    }

    /// Share of a layer's KV cache on each device: `max(1, K / n) / K`. With more devices than KV heads
    /// each head is kept several times, as engines do.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::placement::Placement;
    /// use specplan::domain::attention::Gqa;
    /// let gqa = Gqa::new(32, 4, 128, None)?;
    /// let share = |devices| Placement { devices, ..Placement::SINGLE }.kv_share(&gqa);
    /// assert_eq!([1, 2, 4, 8].map(share), [1.0, 0.5, 0.25, 0.25]);
    /// # Ok::<(), specplan::domain::attention::GqaError>(())
    /// ```
    #[must_use]
    pub fn kv_share(&self, gqa: &Gqa) -> f64 {
        let kv_heads = gqa.kv_heads() as f64;
        (kv_heads / self.devices as f64).max(1.0) / kv_heads
    }

    /// Share of a layer's KV cache or state on each device: that of its heads; a latent is kept on every
    /// device.
    #[must_use]
    pub fn cache_share(&self, attention: &Attention) -> f64 {
        match attention {
            Attention::Gqa(gqa) => self.kv_share(gqa),
            Attention::Mla(_) | Attention::None => 1.0,
            Attention::Linear(_) | Attention::Ssm(_) => self.share(),
        }
    }

    /// The same pass of the sequences that go through the stages together: `B / parts` of them, but at least
    /// one.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::placement::Placement;
    /// use specplan::cost::shape::PassShape;
    /// let placement = Placement { stages: 4, parts: 4, ..Placement::SINGLE };
    /// let together = |batch: f64| placement.together(PassShape::decode(batch, 100.0)).batch;
    /// assert_eq!([1.0, 2.0, 8.0].map(together), [1.0, 1.0, 2.0]);
    /// ```
    #[must_use]
    pub fn together(&self, shape: PassShape) -> PassShape {
        PassShape { batch: (shape.batch / self.parts as f64).max(shape.batch.min(1.0)), ..shape }
    }

    /// Share of the layers on the fullest stage: `ceil(L / P) / L`. Of 62 layers in 8 stages some stages have 8.
    #[must_use]
    pub fn fullest_stage(&self, model: &Model) -> f64 {
        let layers = model.layers();
        if self.stages == 1 || layers == 0.0 { 1.0 } else { (layers / self.stages as f64).ceil() / layers }
    }

    /// The same with all layers on one stage, as a drafter's are: the batch still comes in parts.
    #[must_use]
    pub const fn on_one_stage(self) -> Self {
        Self { stages: 1, ..self }
    }

    /// Devices of a replica.
    #[must_use]
    pub const fn all_devices(&self) -> u64 {
        self.devices * self.ranks * self.stages
    }

    /// What one device sends to those that hold the picked experts, in each direction: `tokens / n x top_k h`
    /// values of two bytes, but for the share that stays.
    #[must_use]
    pub fn all_to_all_bytes(&self, hidden: f64, top_k: f64, tokens: f64) -> Bytes {
        let holders = (self.devices * self.ranks) as f64;
        Bytes::new(2.0 * tokens / self.devices as f64 * top_k * hidden * (holders - 1.0) / holders)
    }

    /// Share of weights and arithmetic on each device: `1 / n`.
    #[must_use]
    pub fn share(&self) -> f64 {
        1.0 / self.devices as f64
    }

    /// What one device sends and waits for in a pass of `tokens` tokens: two all-reduces a layer, each
    /// over `tokens x h` values of two bytes.
    #[must_use]
    pub fn all_reduce_bytes(&self, layers: &Layers, tokens: f64) -> Bytes {
        Bytes::new(2.0 * tokens * layers.hidden())
    }
}

/// Time of one ring all-reduce of `bytes` on each of `devices` devices.
///
/// # Formula
///
/// ```text
/// t = start + 2 (n - 1) / n * bytes / bandwidth         nothing for n = 1
/// ```
///
/// Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms".
///
/// # Examples
///
/// 1 MB over 8 devices at 450 GB/s: 10 us + 1.75 x 2.22 us.
///
/// ```
/// use specplan::cost::placement::ring_all_reduce;
/// use specplan::units::{Bytes, BytesPerSecond, Seconds};
/// let time = ring_all_reduce(Bytes::new(1e6), 8, BytesPerSecond::new(450e9), Seconds::new(1e-5));
/// assert!((time.get() - 1.388_888_888_888_889e-5).abs() < 1e-18);
/// ```
#[must_use]
pub fn ring_all_reduce(bytes: Bytes, devices: u64, bandwidth: BytesPerSecond, start: Seconds) -> Seconds {
    if devices == 1 {
        return Seconds::ZERO;
    }
    let devices = devices as f64;
    start + bytes / bandwidth * (2.0 * (devices - 1.0) / devices)
}
