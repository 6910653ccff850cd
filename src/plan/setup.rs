//! One deployment made ready for pricing: every figure it needs is looked up once, here.

use std::borrow::Cow;

use crate::cost::draft::DraftPricing;
pub use crate::cost::memory::Footprint;
use crate::cost::memory::{Demand, usable};
pub use crate::cost::pass::PassCost;
use crate::cost::pricing::{Basis, Form, Overheads, Pricing, Unpriceable};
use crate::cost::terms::Without;
use crate::domain::deployment::MemoryPolicy;
use crate::domain::device::Device;
use crate::domain::drafter::{DraftSource, Layout, Tree};
use crate::domain::engine::Engine;
use crate::domain::head::NoHead;
use crate::domain::model::Model;
use crate::units::{Bytes, Probability};
use crate::words::{Roofline, Term};

/// What drafts, and in which shape.
#[derive(Clone, Copy, Debug)]
pub struct Drafts<'a> {
    /// Where drafts come from.
    pub source: &'a DraftSource,
    /// The tree; none: a chain, or a block.
    pub tree: Option<Tree>,
    /// Of drafters that look drafts up: the share of sequences that propose any in a round, if it is known.
    pub proposing_share: Option<Probability>,
}

/// What is priced: a target and what drafts for it, on devices, by an engine.
#[derive(Clone, Copy, Debug)]
pub struct Deployment<'d, 'a> {
    /// The device.
    pub device: &'d Device,
    /// The engine.
    pub engine: &'d Engine,
    /// How passes are priced.
    pub roofline: Roofline,
    /// Devices of a replica.
    pub devices: u64,
    /// Terms left out of the additive form.
    pub without: &'d [Term],
    /// How memory is handed out.
    pub policy: &'d MemoryPolicy,
    /// The target.
    pub target: &'a Model,
    /// What drafts; none: only plain decoding has a price.
    pub drafts: Option<Drafts<'a>>,
}

/// Why a deployment cannot be priced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetupError {
    /// A figure is missing, or parts do not go together.
    #[error(transparent)]
    Unpriceable(#[from] Unpriceable),
    /// No head follows from the target.
    #[error(transparent)]
    NoHead(#[from] NoHead),
}

/// A target, its drafter and its device, with the rates and memory they have. Pricing it cannot fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup<'a> {
    pub(super) target: &'a Model,
    pub(super) pricing: Pricing,
    pub(super) drafting: Option<DraftPricing<'a>>,
    pub(super) overheads: Overheads,
    source: Option<&'a DraftSource>,
    tree: Option<Tree>,
    stated_share: Option<Probability>,
    accepted_per_proposed: f64,
    demand: Demand,
    base_demand: Demand,
    usable: Bytes,
}

/// The share that engines' fits give, for an engine that states none.
const ACCEPTED_PER_PROPOSED: f64 = 0.394;

impl<'a> Setup<'a> {
    /// Looks up what pricing needs.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names the figure that is missing, or what does not go together.
    pub fn new(deployment: &Deployment<'_, 'a>) -> Result<Self, SetupError> {
        let Deployment { device, engine, roofline, devices, policy, target, drafts, .. } = *deployment;
        let without = Without::of(deployment.without);
        let basis = &Basis { device, engine, roofline, devices, without };
        let source = drafts.map(|drafts| drafts.source);
        let pricing = Pricing::of(basis, target)?;
        let beside = source.map(|source| source.beside(target)).transpose()?.flatten();
        let demand = Demand::new(target, beside.as_deref(), policy, basis.devices);
        let drafting = match (source, beside) {
            (None, _) => None,
            (Some(DraftSource::Constant { cost_ratio }), _) => Some(DraftPricing::Constant { cost_ratio: *cost_ratio }),
            (Some(DraftSource::SparseKv { budget }), _) => {
                Some(DraftPricing::Passes { model: Cow::Borrowed(target), pricing, budget: Some(*budget) })
            }
            (Some(_), Some(model)) => {
                let pricing = Pricing::of(basis, &model)?;
                Some(DraftPricing::Passes { model, pricing, budget: None })
            }
            (Some(_), None) => Some(DraftPricing::Lookup),
        };
        let additive = basis.engine.additive();
        Ok(Self {
            target,
            pricing,
            drafting,
            overheads: match pricing.form {
                Form::Additive(_) => Overheads::of(basis.engine, basis.without),
                Form::Aggregate | Form::PerOp => Overheads::NONE,
            },
            source,
            tree: drafts.and_then(|drafts| drafts.tree),
            stated_share: drafts.and_then(|drafts| drafts.proposing_share),
            accepted_per_proposed: additive
                .map_or(ACCEPTED_PER_PROPOSED, |additive| additive.accepted_per_proposed.value.get()),
            base_demand: demand.without_drafter(),
            demand,
            usable: usable(basis.device, policy),
        })
    }

    /// The passes of a round at draft length k; none where nothing is drafted.
    #[must_use]
    pub fn layout(&self, k: u64, proposing_share: f64) -> Option<Layout> {
        let source = self.source.filter(|_| k > 0)?;
        Some(source.layout(self.tree.as_ref(), k, proposing_share))
    }

    /// The share of sequences that propose in a round: 1 but for drafters that look drafts up, of which it
    /// is stated or follows from what is accepted.
    #[must_use]
    pub fn proposing_share(&self, tokens_per_pass: f64, k: u64) -> f64 {
        match self.stated_share {
            _ if !self.looks_up() || k == 0 => 1.0,
            Some(stated) => stated.get(),
            None => super::yields::proposing_share(tokens_per_pass, k, self.accepted_per_proposed),
        }
    }

    /// The share of sequences that propose, if it is stated.
    #[must_use]
    pub const fn stated_share(&self) -> Option<Probability> {
        self.stated_share
    }

    /// The only draft length there is, if it is a tree that drafts.
    #[must_use]
    pub fn depth(&self) -> Option<u64> {
        self.tree.as_ref().map(Tree::steps)
    }

    /// Whether drafts are looked up, so that the width of a verification depends on what is accepted.
    #[must_use]
    pub fn looks_up(&self) -> bool {
        self.source.is_some_and(DraftSource::looks_up)
    }

    /// How the target's passes are priced.
    #[must_use]
    pub const fn pricing(&self) -> &Pricing {
        &self.pricing
    }

    /// What drafts, if anything does.
    #[must_use]
    pub const fn drafting(&self) -> Option<&DraftPricing<'a>> {
        self.drafting.as_ref()
    }

    /// The target.
    #[must_use]
    pub const fn target(&self) -> &'a Model {
        self.target
    }

    /// Memory of `batch` sequences when speculating with k drafts; the drafter is loaded.
    #[must_use]
    pub fn memory(&self, batch: u64, context: u64, k: u64) -> Footprint {
        self.demand.footprint(batch, context, k)
    }

    /// Memory of `batch` sequences when the drafter is not loaded.
    #[must_use]
    pub fn base_memory(&self, batch: u64, context: u64) -> Footprint {
        self.base_demand.footprint(batch, context, 0)
    }

    /// Whether a device may hold that much.
    #[must_use]
    pub fn fits(&self, footprint: &Footprint) -> bool {
        footprint.total() <= self.usable
    }

    /// The largest batch that fits when speculating with k drafts; none where memory sets no limit.
    #[must_use]
    pub fn max_batch(&self, context: u64, k: u64) -> Option<u64> {
        self.demand.max_batch(self.usable, context, k)
    }

    /// What a device may hold: utilization x capacity.
    #[must_use]
    pub const fn usable(&self) -> Bytes {
        self.usable
    }
}
