//! One forward pass of one model.

use crate::cost::ops::{Ops, Work};
use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::layers::Layers;
use crate::domain::model::{Aggregate, Model, Shape};
use crate::units::{Bytes, Flops, Seconds};
use crate::words::{Bound, Roofline};

/// What a pass does and how long it takes. Parts are stored, totals derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// What it does.
    pub work: Work,
    /// How long that takes.
    pub timing: Timing,
}

/// How the times of a pass add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timing {
    /// All arithmetic beside all traffic: the longer of the two.
    Overlapped(Roofed),
    /// Operator after operator, each the longer of its two: the sum, by what each was bound by.
    Summed {
        /// Operators bound by arithmetic.
        compute: Seconds,
        /// Operators bound by traffic.
        memory: Seconds,
    },
}

impl PassCost {
    /// The time of the pass.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        match self.timing {
            Timing::Overlapped(roofed) => roofed.seconds(),
            Timing::Summed { compute, memory } => compute + memory,
        }
    }

    /// The class with the larger share of the time; memory where both are equal.
    #[must_use]
    pub fn bound(&self) -> Bound {
        match self.timing {
            Timing::Overlapped(roofed) => roofed.bound(),
            Timing::Summed { compute, memory } => {
                if compute > memory {
                    Bound::Compute
                } else {
                    Bound::Memory
                }
            }
        }
    }
}

/// A pass of a model under a roofline. A model known by its totals has one way to be priced; a full
/// shape has one maximum over its sums, or one for each operator.
#[must_use]
pub fn pass(model: &Model, rates: Rates, roofline: Roofline, shape: PassShape) -> PassCost {
    match (&model.shape, roofline) {
        (Shape::Aggregate(totals), _) => overlapped(aggregate(model, totals, shape), rates),
        (Shape::Layers(layers), Roofline::Aggregate) => overlapped(Ops::of(model, layers, shape).total(), rates),
        (Shape::Layers(layers), Roofline::PerOp | Roofline::Additive) => per_op(model, layers, rates, shape),
    }
}

/// One maximum over the sums.
///
/// # Formula
///
/// ```text
/// t = max( flops / peak,  bytes / bandwidth )
/// ```
///
/// It lets KV reads hide arithmetic of the matrix products, so that it flatters.
fn overlapped(work: Work, rates: Rates) -> PassCost {
    PassCost { work, timing: Timing::Overlapped(work.roofed(rates)) }
}

/// What a pass does according to a model's totals: the founding study's formula.
///
/// # Formula
///
/// ```text
/// flops = 2 N B q
/// bytes = w N + kv ctx B
/// ```
///
/// N: matmul parameters; w: bytes of a weight; kv: KV bytes of a token. Attention arithmetic, KV writes
/// and activations are left out.
///
/// # Examples
///
/// Llama-3-8B (7.50e9 matmul parameters, 131072 KV bytes for each token) decoding one sequence at
/// context 2048 on an H100 reads 15 GB + 0.268 GB at 3.35 TB/s:
///
/// ```
/// use specplan::cost::{pass::pass, roofline::Rates, shape::PassShape};
/// use specplan::domain::model::{Aggregate, Formats, Model, Shape};
/// use specplan::units::{BytesPerSecond, FlopsPerSecond};
/// use specplan::words::{Bound, Dtype, Role, Roofline};
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
/// let step = pass(&model, rates, Roofline::Aggregate, PassShape::decode(1.0, 2048.0));
/// assert!((step.seconds().get() - 15.268_435_456e9 / 3.35e12).abs() < 1e-15);
/// assert_eq!(step.bound(), Bound::Memory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn aggregate(model: &Model, totals: &Aggregate, shape: PassShape) -> Work {
    Work {
        flops: Flops::new(2.0 * totals.matmul_params() * shape.new_tokens()),
        weights: Bytes::new(totals.matmul_params() * model.formats.weight_bytes()),
        kv_read: Bytes::new(totals.kv_bytes_per_token()) * shape.context * shape.batch,
        kv_written: Bytes::ZERO,
    }
}

/// One maximum for each operator, summed: operators run one after another.
fn per_op(model: &Model, layers: &Layers, rates: Rates, shape: PassShape) -> PassCost {
    let ops = Ops::of(model, layers, shape);
    let (mut compute, mut memory) = (Seconds::ZERO, Seconds::ZERO);
    for (_, work) in ops.iter() {
        let roofed = work.roofed(rates);
        match roofed.bound() {
            Bound::Compute => compute = compute + roofed.seconds(),
            _ => memory = memory + roofed.seconds(),
        }
    }
    PassCost { work: ops.total(), timing: Timing::Summed { compute, memory } }
}
