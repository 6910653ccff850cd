//! One point of a study taken apart: passes into operators, a round into phases, memory into lines.

use crate::cost::draft::DraftPricing;
use crate::cost::memory::Footprint;
use crate::cost::ops::{Ops, Work};
use crate::cost::pass::{PassCost, pass};
use crate::cost::pricing::{Overheads, Pricing, Served};
use crate::cost::roofline::{Rates, Roofed};
use crate::cost::shape::PassShape;
use crate::domain::drafter::Layout;
use crate::domain::model::{Model, Shape};
use crate::plan::capacity::{Capacity, capacity};
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
    /// Draft passes of the round.
    pub draft_passes: f64,
    /// What the engine spends beside the passes.
    pub overheads: Overheads,
    /// The device's rates for the target.
    pub rates: Rates,
    /// Memory with the drafter.
    pub memory: Footprint,
    /// Memory that may be used.
    pub usable: Bytes,
    /// Ranks that attend apart, each to such a batch.
    pub ranks: u64,
    /// How many sequences run together, with the drafter and without.
    pub capacity: (Capacity, Capacity),
}

impl Point {
    /// One draft pass over a plain step; 0 where there is none.
    #[must_use]
    pub fn draft_ratio(&self) -> f64 {
        let each = self.round.draft * (1.0 / self.draft_passes.max(1.0));
        let pass = self.draft.as_ref().map_or(each, |draft| draft.cost.seconds());
        pass.get() / self.plain.cost.seconds().get()
    }

    /// Takes a point apart. `proposing_share` counts only for drafters that look drafts up.
    #[must_use]
    pub fn new(setup: &Setup<'_>, batch: u64, context: u64, k: u64, proposing_share: f64) -> Self {
        let (sequences, cached) = (batch as f64, context as f64);
        let step = plain_step(setup, sequences, cached);
        let layout = setup.layout(k, proposing_share);
        let target = |shape, served| apart(setup, setup.target, &setup.pricing, shape, served);
        let mut plain = target(PassShape::decode(sequences, cached), setup.overheads.of_plain());
        // Where it was measured, as it was.
        plain.cost = step;
        let width = layout.map_or(1.0, |layout| layout.verify_width);
        let round = round(setup, &step, sequences, cached, k, proposing_share);
        let mut verify = target(PassShape::verify(sequences, width, cached), setup.overheads.of_verify());
        verify.cost = if layout.is_some() { round.verify } else { verify.cost };
        Self {
            plain,
            draft: layout.and_then(|layout| draft(setup, sequences, cached, layout)),
            verify,
            round,
            draft_passes: layout.map_or(0.0, |layout| layout.draft_passes),
            overheads: setup.overheads,
            rates: setup.pricing.rates,
            memory: setup.memory(batch, context, k),
            usable: setup.usable(),
            ranks: setup.ranks(),
            capacity: capacity(setup, context, k),
        }
    }
}

fn draft(setup: &Setup<'_>, batch: f64, context: f64, layout: Layout) -> Option<PassApart> {
    let drafting = setup.drafting.as_ref()?;
    let shape = drafting.shape(batch, layout.draft_width, context)?;
    let DraftPricing::Passes { model, pricing, .. } = drafting else { return None };
    Some(apart(setup, model, pricing, shape, setup.overheads.of_draft(layout.is_tree)))
}

fn apart(setup: &Setup<'_>, model: &Model, pricing: &Pricing, shape: PassShape, served: Served) -> PassApart {
    let together = pricing.placement.together(shape);
    let cost = setup.captures().applied(pass(model, pricing, shape), together, model.layers()).served(served);
    let part = |name: Option<OpName>, work: Work| Part { name, work, roofed: work.roofed(pricing.rates) };
    let (parts, otherwise) = match &model.shape {
        Shape::Aggregate(_) => (vec![part(None, cost.work)], None),
        Shape::Layers(layers) => {
            let roofline = pricing.roofline();
            let other = if roofline == Roofline::PerOp { Roofline::Aggregate } else { Roofline::PerOp };
            let ideal = Pricing { placement: pricing.placement, ..Pricing::ideal(pricing.rates, other) };
            let ops = Ops::of(model, layers, &[together], &pricing.placement);
            let parts = ops.iter().map(|(name, work)| part(Some(name), work)).collect();
            (parts, Some((other, pass(model, &ideal, shape))))
        }
    };
    PassApart { shape: together, parts, cost, otherwise }
}
