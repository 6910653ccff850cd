//! One point of a study taken apart: passes into operators, a round into phases, memory into lines.

use crate::cost::draft::DraftPricing;
use crate::cost::memory::Footprint;
use crate::cost::ops::{Ops, Work};
use crate::cost::pass::{PassCost, pass};
use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::model::{Model, Shape};
use crate::plan::round::{Round, plain_step, round};
use crate::plan::setup::Setup;
use crate::units::Bytes;
use crate::words::{OpName, Roofline};

/// A pass and its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct PassApart {
    /// What is computed.
    pub shape: PassShape,
    /// Its operators in their order; a model known by its totals is one part without a name.
    pub parts: Vec<Part>,
    /// The pass as it is priced.
    pub cost: PassCost,
    /// The pass under the other roofline, for models known by their layers.
    pub otherwise: Option<(Roofline, PassCost)>,
}

/// An operator of a pass, summed over layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: Option<OpName>,
    /// What it does.
    pub work: Work,
    /// Its times.
    pub roofed: Roofed,
}

/// One point of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// A plain decoding step.
    pub plain: PassApart,
    /// One draft pass; none where nothing is drafted or the draft is no modelled pass.
    pub draft: Option<PassApart>,
    /// The verification pass.
    pub verify: PassApart,
    /// The round.
    pub round: Round,
    /// The device's rates for the target.
    pub rates: Rates,
    /// Memory with the drafter.
    pub memory: Footprint,
    /// Memory that may be used.
    pub usable: Bytes,
}

impl Point {
    /// Takes a point apart.
    #[must_use]
    pub fn new(setup: &Setup<'_>, batch: u64, context: u64, k: u64) -> Self {
        let (sequences, cached) = (batch as f64, context as f64);
        let step = plain_step(setup, sequences, cached);
        let target = |shape| apart(setup.target, setup.rates, setup.roofline, shape);
        let draft = match setup.drafting {
            Some(DraftPricing::Model { model, rates, roofline }) if k > 0 => {
                Some(apart(model, rates, roofline, PassShape::decode(sequences, cached)))
            }
            _ => None,
        };
        let drafting = setup.drafting.is_some();
        Self {
            plain: target(PassShape::decode(sequences, cached)),
            draft,
            verify: target(PassShape::verify(sequences, if drafting { k as f64 + 1.0 } else { 1.0 }, cached)),
            round: round(setup, &step, sequences, cached, k),
            rates: setup.rates,
            memory: setup.memory(batch, context, k),
            usable: setup.usable(),
        }
    }
}

fn apart(model: &Model, rates: Rates, roofline: Roofline, shape: PassShape) -> PassApart {
    let cost = pass(model, rates, roofline, shape);
    let part = |name: Option<OpName>, work: Work| Part { name, work, roofed: work.roofed(rates) };
    let (parts, otherwise) = match &model.shape {
        Shape::Aggregate(_) => (vec![part(None, cost.work)], None),
        Shape::Layers(layers) => {
            let other = if roofline == Roofline::Aggregate { Roofline::PerOp } else { Roofline::Aggregate };
            let ops = Ops::of(model, layers, shape);
            let parts = ops.iter().map(|(name, work)| part(Some(name), work)).collect();
            (parts, Some((other, pass(model, rates, other, shape))))
        }
    };
    PassApart { shape, parts, cost, otherwise }
}
