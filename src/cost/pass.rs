//! One forward pass of one model.

use crate::cost::additive;
use crate::cost::ops::{Ops, Work};
use crate::cost::pricing::{Form, Pricing, Served};
use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::cost::terms::Terms;
use crate::domain::engine::Pace;
use crate::domain::layers::Layers;
use crate::domain::model::{Aggregate, Model, Shape};
use crate::units::{Bytes, Flops, Seconds};
use crate::words::{Bound, Term};

/// What a pass does and how long it takes. Parts are stored, totals derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassCost {
    /// What it does.
    pub work: Work,
    /// How long that takes.
    pub timing: Timing,
    /// All-reduces of an ideal roofline. The additive form has them among its terms.
    pub network: Seconds,
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
    /// Every cost after the other.
    Added(Terms),
}

impl PassCost {
    /// The time of the pass.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        self.network
            + match self.timing {
                Timing::Overlapped(roofed) => roofed.seconds(),
                Timing::Summed { compute, memory } => compute + memory,
                Timing::Added(terms) => terms.total(),
            }
    }

    /// The class with the largest share of the time; memory before compute before network where they are
    /// equal. In a single maximum the shorter of its two has no share.
    #[must_use]
    pub fn bound(&self) -> Bound {
        let (compute, memory) = match self.timing {
            Timing::Overlapped(Roofed { compute, memory }) | Timing::Summed { compute, memory } => (compute, memory),
            Timing::Added(terms) => return terms.bound(),
        };
        if self.network > compute.max(memory) {
            Bound::Network
        } else if compute > memory {
            Bound::Compute
        } else {
            Bound::Memory
        }
    }

    /// As an engine serves it; an ideal pass takes what it takes.
    #[must_use]
    pub fn served(self, by: Served) -> Self {
        self.at(by.pace).with(by.term, by.time)
    }

    fn at(self, pace: Pace) -> Self {
        match self.timing {
            Timing::Added(_) if pace != Pace::AS_PRICED => self.times(pace.get()),
            _ => self,
        }
    }

    /// All of its parts so many times as long.
    #[must_use]
    pub fn times(mut self, factor: f64) -> Self {
        match &mut self.timing {
            Timing::Overlapped(Roofed { compute, memory }) | Timing::Summed { compute, memory } => {
                *compute = *compute * factor;
                *memory = *memory * factor;
            }
            Timing::Added(terms) => terms.scale(factor),
        }
        self.network = self.network * factor;
        self
    }

    /// With the engine's time beside the pass; an ideal pass has none.
    #[must_use]
    pub fn with(mut self, term: Term, time: Seconds) -> Self {
        if let Timing::Added(terms) = &mut self.timing {
            terms.set(term, time);
        }
        self
    }
}

/// A pass of a model. A model known by its totals has one way to be priced; a full shape has one maximum
/// over its sums, one for each operator, or a sum of terms.
#[must_use]
pub fn pass(model: &Model, pricing: &Pricing, shape: PassShape) -> PassCost {
    together(model, pricing, &[pricing.placement.together(shape)])
}

/// A pass of several parts, such as sequences that decode and prompts, or chunks of them, that are read in the same step: weights once,
/// and all else of each.
///
/// # Examples
///
/// Llama-3-8B by its totals decodes four sequences at context 1000 and reads 512 tokens of a prompt: 15 GB of weights once, 0.524 GB of
/// cached KV, and 2 x 7.5e9 x 516 FLOPs, which take 7.8 ms at 989 TFLOP/s where the bytes take 4.6 ms.
///
/// ```
/// # use specplan::domain::model::{Aggregate, Formats, Model, Shape};
/// # use specplan::units::{BytesPerSecond, FlopsPerSecond};
/// # use specplan::words::{Dtype, Role, Roofline};
/// use specplan::cost::{pass::mixed, pricing::Pricing, roofline::Rates, shape::PassShape};
/// # let model = Model {
/// #     id: "llama-3-8b".into(),
/// #     name: "Llama-3-8B".into(),
/// #     role: Role::Target,
/// #     vocab: None,
/// #     shape: Shape::Aggregate(Aggregate::new(7.50e9, 8.03e9, 131072.0)?),
/// #     formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16),
/// #     approximate: false,
/// #     fits: vec![],
/// #     source: None,
/// # };
/// let rates = Rates { peak: FlopsPerSecond::new(989e12), bandwidth: BytesPerSecond::new(3.35e12) };
/// let parts = [PassShape::decode(4.0, 1000.0), PassShape::prefill(1.0, 512.0, 0.0)];
/// let step = mixed(&model, &Pricing::ideal(rates, Roofline::Aggregate), &parts);
/// assert_eq!(step.work.weights.get(), 15e9);
/// assert!((step.seconds().get() - 2.0 * 7.5e9 * 516.0 / 989e12).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mixed(model: &Model, pricing: &Pricing, parts: &[PassShape]) -> PassCost {
    let parts: Vec<PassShape> = parts.iter().map(|part| pricing.placement.together(*part)).collect();
    together(model, pricing, &parts)
}

fn together(model: &Model, pricing: &Pricing, parts: &[PassShape]) -> PassCost {
    let (rates, placement) = (pricing.rates, &pricing.placement);
    let tokens = parts.iter().map(PassShape::new_tokens).sum();
    match &model.shape {
        Shape::Aggregate(totals) => overlapped(aggregate(model, totals, parts), rates, Seconds::ZERO),
        Shape::Layers(layers) => {
            let ops = Ops::of(model, layers, parts, placement);
            match &pricing.form {
                Form::Aggregate => overlapped(ops.total(), rates, network(layers, pricing, tokens)),
                Form::PerOp => per_op(&ops, rates, network(layers, pricing, tokens)),
                Form::Additive(coefficients) => {
                    let terms = additive::terms(&ops, layers, tokens, placement, coefficients);
                    PassCost { work: ops.total(), timing: Timing::Added(terms), network: Seconds::ZERO }
                }
            }
        }
    }
}

/// What devices exchange at the datasheet's bandwidth, without a start.
fn network(layers: &Layers, pricing: &Pricing, tokens: f64) -> Seconds {
    let placement = &pricing.placement;
    let link = placement.link;
    additive::all_reduce_traffic(layers, placement, tokens, link)
        + additive::all_to_all_traffic(layers, placement, tokens, link)
        + additive::pipeline(layers, placement, tokens, Seconds::ZERO, link)
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
fn overlapped(work: Work, rates: Rates, network: Seconds) -> PassCost {
    PassCost { work, timing: Timing::Overlapped(work.roofed(rates)), network }
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
/// use specplan::cost::{pass::pass, pricing::Pricing, roofline::Rates, shape::PassShape};
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
///     formats: Formats::new(Dtype::Bf16, Dtype::Bf16, Dtype::Bf16),
///     approximate: false,
///     fits: vec![],
///     source: None,
/// };
/// let rates = Rates { peak: FlopsPerSecond::new(989e12), bandwidth: BytesPerSecond::new(3.35e12) };
/// let step = pass(&model, &Pricing::ideal(rates, Roofline::Aggregate), PassShape::decode(1.0, 2048.0));
/// assert!((step.seconds().get() - 15.268_435_456e9 / 3.35e12).abs() < 1e-15);
/// assert_eq!(step.bound(), Bound::Memory);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn aggregate(model: &Model, totals: &Aggregate, parts: &[PassShape]) -> Work {
    let kv = Bytes::new(totals.kv_bytes_per_token());
    Work {
        flops: Flops::new(2.0 * totals.matmul_params() * parts.iter().map(PassShape::new_tokens).sum::<f64>()),
        weights: Bytes::new(totals.matmul_params() * model.formats.weight_bytes()),
        kv_read: parts.iter().map(|part| kv * part.context * part.batch).sum(),
        kv_written: Bytes::ZERO,
    }
}

/// One maximum for each operator, summed: operators run one after another.
fn per_op(ops: &Ops, rates: Rates, network: Seconds) -> PassCost {
    let (mut compute, mut memory) = (Seconds::ZERO, Seconds::ZERO);
    for (_, work) in ops.iter() {
        let roofed = work.roofed(rates);
        match roofed.bound() {
            Bound::Compute => compute = compute + roofed.seconds(),
            _ => memory = memory + roofed.seconds(),
        }
    }
    PassCost { work: ops.total(), timing: Timing::Summed { compute, memory }, network }
}
