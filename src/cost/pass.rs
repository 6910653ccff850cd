//! One forward pass of one model.

use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::model::Model;
use crate::units::{Bytes, Flops, Seconds};
use crate::words::Bound;

/// What a pass does and how long it takes. Parts are stored, totals derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// Arithmetic of the matrix products.
    pub flops: Flops,
    /// Weights, read once.
    pub weight_bytes: Bytes,
    /// KV cache, read once for each sequence, whatever the number of new tokens.
    pub kv_bytes: Bytes,
    /// The times of both.
    pub roofed: Roofed,
}

impl PassCost {
    /// All bytes moved.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.weight_bytes + self.kv_bytes
    }

    /// The time of the pass.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        self.roofed.seconds()
    }

    /// What it is bound by.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.roofed.bound()
    }
}

/// A pass under the aggregate roofline: one maximum over the sums.
///
/// # Formula
///
/// ```text
/// t(B, q) = max( 2 N B q / peak,  (w N + kv ctx B) / bandwidth )
/// ```
///
/// N: matmul parameters; w: bytes of a weight; kv: KV bytes of a token. Attention arithmetic, KV
/// writes and activations are left out, and the single maximum lets KV reads hide arithmetic, so
/// the result flatters. This is the formula of the founding study.
///
/// # Examples
///
/// Llama-3-8B (7.50e9 matmul parameters, 131072 KV bytes for each token) decoding one sequence at
/// context 2048 on an H100 reads 15 GB + 0.268 GB at 3.35 TB/s:
///
/// ```
/// use specplan::cost::{pass::aggregate, roofline::Rates, shape::PassShape};
/// use specplan::domain::model::{Aggregate, Formats, Model, Shape};
/// use specplan::units::{BytesPerSecond, FlopsPerSecond};
/// use specplan::words::{Bound, Dtype, Role};
///
/// let model = Model {
///     id: "llama-3-8b".into(),
///     name: "Llama-3-8B".into(),
///     role: Role::Target,
///     vocab: None,
///     shape: Shape::Aggregate(Aggregate::new(7.50e9, 8.03e9, 131072.0)?),
///     formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16)?,
///     source: None,
/// };
/// let rates = Rates { peak: FlopsPerSecond::new(989e12), bandwidth: BytesPerSecond::new(3.35e12) };
/// let step = aggregate(&model, rates, PassShape::decode(1.0, 2048.0));
/// assert!((step.seconds().get() - 15.268_435_456e9 / 3.35e12).abs() < 1e-15);
/// assert_eq!(step.bound(), Bound::Memory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn aggregate(model: &Model, rates: Rates, shape: PassShape) -> PassCost {
    let flops = Flops::new(2.0 * model.matmul_params() * shape.new_tokens());
    let weight_bytes = model.weight_bytes_read();
    let kv_bytes = model.kv_bytes_per_token() * shape.context * shape.batch;
    PassCost { flops, weight_bytes, kv_bytes, roofed: Roofed::new(flops, weight_bytes + kv_bytes, rates) }
}
