//! A pass taken apart into operators, each the sum over all layers of what it does.
//!
//! Left out: activations, softmax, rotary embeddings, sampling, launches.

mod ends;
mod ffn;
mod gqa;

use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::attention::Attention;
use crate::domain::layers::Layers;
use crate::domain::model::Model;
use crate::units::{Bytes, Flops};
use crate::words::{OpName, Word};

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

    fn plus(self, other: Self) -> Self {
        Self {
            flops: self.flops + other.flops,
            weights: self.weights + other.weights,
            kv_read: self.kv_read + other.kv_read,
            kv_written: self.kv_written + other.kv_written,
        }
    }
}

/// The operators of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ops([Work; OpName::COUNT]);

impl Ops {
    /// The operators of a model with layers.
    #[must_use]
    pub fn of(model: &Model, layers: &Layers, shape: PassShape) -> Self {
        let mut ops = Self([Work::NONE; OpName::COUNT]);
        for group in layers.groups() {
            let Attention::Gqa(gqa) = group.attention;
            gqa::add(&mut ops, &gqa, model, layers, group, shape);
            ffn::add(&mut ops, model, layers, group, shape);
        }
        ends::add(&mut ops, model, layers, shape);
        ops
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
