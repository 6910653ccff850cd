//! A pass taken apart into operators, each the sum over all layers of what it does.
//!
//! Left out: activations, softmax, rotary embeddings, sampling, launches.

mod ends;
mod ffn;
mod gqa;
mod mla;
mod moe;
pub mod popularity;
mod recurrent;

pub use moe::distinct_experts;

use crate::cost::placement::Placement;
use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::attention::Attention;
use crate::domain::layers::Layers;
use crate::domain::model::Model;
use crate::units::{Bytes, Flops};
use crate::words::{OpName, Part, Word};

/// What an operator does. Parts are stored, their sum derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Arithmetic.
    pub flops: Flops,
    /// Weights read, once for all tokens.
    pub weights: Bytes,
    /// KV cache read, once for each sequence.
    pub kv_read: Bytes,
    /// KV cache written, for each new token.
    pub kv_written: Bytes,
}

impl Work {
    /// Nothing.
    pub const NONE: Self =
        Self { flops: Flops::ZERO, weights: Bytes::ZERO, kv_read: Bytes::ZERO, kv_written: Bytes::ZERO };

    /// A matrix product of `tokens` tokens with `params` parameters of `bytes` bytes: `2 n w` FLOPs.
    fn product(tokens: f64, params: f64, bytes: f64) -> Self {
        Self { flops: Flops::new(2.0 * tokens * params), weights: Bytes::new(params * bytes), ..Self::NONE }
    }

    /// A share of the arithmetic and the weights, and a share of the KV cache.
    fn shared(self, of_weights: f64, of_kv: f64) -> Self {
        Self {
            flops: self.flops * of_weights,
            weights: self.weights * of_weights,
            kv_read: self.kv_read * of_kv,
            kv_written: self.kv_written * of_kv,
        }
    }

    /// All bytes moved.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.weights + self.kv_read + self.kv_written
    }

    /// Its times at given rates.
    #[must_use]
    pub fn roofed(&self, rates: Rates) -> Roofed {
        Roofed::new(self.flops, self.bytes(), rates)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            flops: self.flops + other.flops,
            weights: self.weights + other.weights,
            kv_read: self.kv_read + other.kv_read,
            kv_written: self.kv_written + other.kv_written,
        }
    }
}

/// The pass that operators belong to.
struct Whole<'a> {
    model: &'a Model,
    layers: &'a Layers,
    parts: &'a [PassShape],
    placement: &'a Placement,
}

impl Whole<'_> {
    /// New tokens of all its parts.
    fn tokens(&self) -> f64 {
        self.parts.iter().map(PassShape::new_tokens).sum()
    }

    /// Positions whose next token is wanted.
    fn scored(&self) -> f64 {
        self.parts.iter().map(|part| part.batch * part.scored_per_seq).sum()
    }

    /// Further devices that do what every one does: [`Ops::split`] gives each an even share of all of them.
    const fn replicas(&self) -> f64 {
        self.placement.devices as f64 - 1.0
    }

    /// Bytes of a part's weights.
    fn bytes(&self, part: Part) -> f64 {
        self.model.formats.part(part).bytes()
    }
}

/// The operators of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ops([Work; OpName::COUNT]);

impl Ops {
    /// The operators of a model with layers: what one device does of them in a pass of several parts, such as sequences that decode
    /// and one whose prompt is read. Weights are read once for all of them, and a mixture's experts are those that all of them pick.
    #[must_use]
    pub fn of(model: &Model, layers: &Layers, parts: &[PassShape], placement: &Placement) -> Self {
        let mut ops = Self([Work::NONE; OpName::COUNT]);
        let of = Whole { model, layers, parts, placement };
        for group in layers.groups() {
            match &group.attention {
                Attention::Gqa(gqa) => gqa::add(&mut ops, gqa, group, &of),
                Attention::Mla(mla) => mla::add(&mut ops, mla, group, &of),
                Attention::Linear(linear) => recurrent::linear(&mut ops, linear, group, &of),
                Attention::Ssm(ssm) => recurrent::ssm(&mut ops, ssm, group, &of),
                Attention::None => {}
            }
            match group.ffn.moe() {
                Some(moe) => moe::add(&mut ops, moe, group, &of),
                None => ffn::add(&mut ops, group, &of),
            }
        }
        ends::add(&mut ops, &of);
        ops.split(placement);
        ops
    }

    /// What one device does: an even share of everything but the KV cache, which has been divided by
    /// heads already.
    fn split(&mut self, placement: &Placement) {
        if placement.devices > 1 {
            self.0.iter_mut().for_each(|work| *work = work.shared(placement.share(), 1.0));
        }
    }

    fn add(&mut self, name: OpName, work: Work) {
        let slot = &mut self.0[name as usize];
        *slot = slot.plus(work);
    }

    /// What one operator does.
    #[must_use]
    pub const fn work(&self, name: OpName) -> Work {
        self.0[name as usize]
    }

    /// Every operator that does something, in the order of a pass.
    pub fn iter(&self) -> impl Iterator<Item = (OpName, Work)> {
        OpName::ALL.iter().map(|&name| (name, self.work(name))).filter(|(_, work)| *work != Work::NONE)
    }

    /// All of them together.
    #[must_use]
    pub fn total(&self) -> Work {
        self.0.iter().fold(Work::NONE, |sum, work| sum.plus(*work))
    }
}
