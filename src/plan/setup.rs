//! One deployment made ready for pricing: every figure it needs is looked up once, here.

use std::borrow::Cow;

use crate::cost::capture::Captures;
use crate::cost::draft::DraftPricing;
pub use crate::cost::memory::Footprint;
use crate::cost::memory::{Demand, usable};
pub use crate::cost::pass::PassCost;
use crate::cost::pricing::{Basis, Form, Overheads, Pricing, Unpriceable};
use crate::cost::shape::PassShape;
use crate::cost::terms::Without;
use crate::domain::deployment::{Limits, MemoryPolicy, Spread};
use crate::domain::device::Device;
use crate::domain::drafter::{DraftSource, Layout};
use crate::domain::engine::Engine;
use crate::domain::head::{NoHead, first_layers};
use crate::domain::model::Model;
use crate::domain::shape::TreeShape;
use crate::domain::verify_cost::VerifyCost;
use crate::units::{Bytes, Probability, Seconds};
use crate::words::{Roofline, Term};

/// What drafts, and in which shape.
#[derive(Clone, Copy, Debug)]
pub struct Drafts<'a> {
    /// Where drafts come from.
    pub source: &'a DraftSource,
    /// Whether drafts are made on devices of their own, while the target verifies.
    pub overlap: bool,
    /// The tree; none: a chain, or a block.
    pub tree: Option<&'a TreeShape>,
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
    /// Devices that matrices are sliced over.
    pub devices: u64,
    /// How a replica is spread beyond that.
    pub spread: Spread,
    /// Terms left out of the additive form.
    pub without: &'d [Term],
    /// What the engine is told not to exceed.
    pub limits: &'d Limits,
    /// How memory is handed out; none: nobody asks what fits, and the device need not say how much it has.
    pub policy: Option<&'d MemoryPolicy>,
    /// Verification passes that were measured, in place of prices.
    pub verify_cost: Option<&'a VerifyCost>,
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
    pub(super) verify_cost: Option<&'a VerifyCost>,
    uncaptured_layer: Option<Seconds>,
    without: Without,
    pub(super) overlap: bool,
    source: Option<&'a DraftSource>,
    tree: Option<&'a TreeShape>,
    stated_share: Option<Probability>,
    accepted_per_proposed: f64,
    pub(super) demand: Demand,
    pub(super) base_demand: Demand,
    limits: Limits,
    /// A drafter on devices of its own.
    apart: Option<Demand>,
    usable: Bytes,
}

/// Refuses more devices, stages or experts than there are.
fn check(deployment: &Deployment<'_, '_>, own: u64) -> Result<(), Unpriceable> {
    let Deployment { devices, spread, target, drafts, .. } = *deployment;
    if own > devices && !drafts.is_some_and(|drafts| drafts.overlap) {
        return Err(Unpriceable::DrafterDevices { own, devices });
    }
    let (model, layers, stages) = (target.id.clone(), target.layers(), spread.pipeline);
    if stages > 1 && stages as f64 > layers {
        return Err(Unpriceable::Stages { model, layers, stages });
    }
    match spread.expert_parallel {
        Some(expert_parallel) if !target.is_moe() => {
            Err(Unpriceable::Experts { model, expert_parallel, reason: "it has none".to_owned() })
        }
        _ => Ok(()),
    }
}

/// How drafts are priced; `beside` is the model that sits beside the target.
fn drafting<'a>(
    source: &DraftSource,
    target: &'a Model,
    pricing: Pricing,
    beside: Option<(Cow<'a, Model>, Pricing)>,
) -> Result<DraftPricing<'a>, NoHead> {
    Ok(match (source, beside) {
        (DraftSource::Constant { cost_ratio }, _) => DraftPricing::Constant { cost_ratio: *cost_ratio },
        (DraftSource::SparseKv { budget }, _) => {
            DraftPricing::Passes { model: Cow::Borrowed(target), pricing, budget: Some(*budget) }
        }
        (DraftSource::LayerSkip { layers }, _) => {
            let model = Cow::Owned(first_layers(target, *layers)?);
            DraftPricing::Passes { model, pricing, budget: None }
        }
        (_, Some((model, pricing))) => DraftPricing::Passes { model, pricing, budget: None },
        (_, None) => DraftPricing::Lookup,
    })
}

/// What may be held where nobody asks what fits.
const UNASKED: Bytes = Bytes::new(f64::INFINITY);

/// The share that engines' fits give, for an engine that states none.
const ACCEPTED_PER_PROPOSED: f64 = 0.394;

impl<'a> Setup<'a> {
    /// Looks up what pricing needs.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names the figure that is missing, or what does not go together.
    pub fn new(deployment: &Deployment<'_, 'a>) -> Result<Self, SetupError> {
        let Deployment { device, engine, roofline, devices, spread, policy, target, drafts, .. } = *deployment;
        let without = Without::of(deployment.without);
        let basis = &Basis { device, engine, roofline, devices, spread, without };
        let own_devices = spread.draft_tensor_parallel.unwrap_or(devices);
        let own = &Basis { devices: own_devices, spread: spread.of_drafter(devices, own_devices), ..*basis };
        let source = drafts.map(|drafts| drafts.source);
        let pricing = Pricing::of(basis, target)?;
        check(deployment, own_devices)?;
        let beside = source.map(|source| source.beside(target)).transpose()?.flatten();
        let overlap = drafts.is_some_and(|drafts| drafts.overlap);
        let beside_pricing =
            beside.as_ref().map(|model| Pricing::of(own, model)).transpose()?.map(Pricing::on_one_stage);
        let in_memory = beside_pricing.map(|pricing| pricing.placement);
        let drafter = beside.as_deref().zip(in_memory.as_ref());
        let demand = Demand::new((target, &pricing.placement), drafter.filter(|_| !overlap), policy);
        let apart = drafter.filter(|_| overlap).map(|drafter| demand.of_drafter_alone(drafter));
        let drafting = match source {
            Some(source) => Some(drafting(source, target, pricing, beside.zip(beside_pricing))?),
            None => None,
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
            verify_cost: deployment.verify_cost,
            uncaptured_layer: additive.and_then(|additive| Some(additive.uncaptured_layer.as_ref()?.value)),
            without,
            limits: deployment.limits.clone(),
            overlap,
            source,
            tree: drafts.and_then(|drafts| drafts.tree),
            stated_share: drafts.and_then(|drafts| drafts.proposing_share),
            accepted_per_proposed: additive
                .map_or(ACCEPTED_PER_PROPOSED, |additive| additive.accepted_per_proposed.value.get()),
            base_demand: demand.without_drafter(),
            demand,
            apart,
            usable: policy.map_or(Ok(UNASKED), |policy| usable(basis.device, policy)).map_err(Unpriceable::from)?,
        })
    }

    /// The passes of a round at draft length k; none where nothing is drafted.
    #[must_use]
    pub fn layout(&self, k: u64, proposing_share: f64) -> Option<Layout> {
        let source = self.source.filter(|_| k > 0)?;
        Some(source.layout(self.tree, k, proposing_share))
    }

    /// The passes of a round that drafts a tree in place of the drafter's own shape; none without a drafter.
    #[must_use]
    pub fn layout_of(&self, tree: &TreeShape) -> Option<Layout> {
        Some(self.source?.layout(Some(tree), tree.depth(), 1.0))
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

    /// The only draft length there is, if a tree or look-ahead drafts.
    #[must_use]
    pub fn depth(&self) -> Option<u64> {
        self.tree.map(TreeShape::depth).or_else(|| self.source?.only_length())
    }

    /// Whether drafts are looked up, so that the width of a verification depends on what is accepted.
    #[must_use]
    pub fn looks_up(&self) -> bool {
        self.source.is_some_and(DraftSource::looks_up)
    }

    /// The graphs that passes run in.
    pub(super) fn captures(&self) -> Captures<'_> {
        Captures {
            sizes: &self.limits.capture_sizes,
            unit: self.limits.capture_unit,
            layer: self.uncaptured_layer,
            without: self.without,
        }
    }

    /// Whether a verification of so many tokens of each sequence is larger than any captured graph.
    #[must_use]
    pub fn is_beyond_capture(&self, batch: u64, verify_width: f64) -> bool {
        let verify = PassShape::verify(batch as f64, verify_width, 0.0);
        self.captures().exceeded_by(self.pricing.placement.together(verify))
    }

    /// What the engine is told not to exceed.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Tokens of each sequence that a round at draft length k verifies, where all propose.
    #[must_use]
    pub fn verify_width(&self, k: u64) -> f64 {
        self.layout(k, 1.0).map_or(1.0, |layout| layout.verify_width)
    }

    /// Groups of devices that attend apart, each to a batch of its own.
    #[must_use]
    pub const fn ranks(&self) -> u64 {
        self.pricing.placement.ranks
    }

    /// Devices of a replica.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.pricing.placement.all_devices()
    }

    /// Stages that the layers are cut into.
    #[must_use]
    pub const fn stages(&self) -> u64 {
        self.pricing.placement.stages
    }

    /// Devices of a drafter that has its own, or 0.
    #[must_use]
    pub fn own_devices(&self) -> u64 {
        match &self.drafting {
            Some(DraftPricing::Passes { pricing, .. }) if self.overlap => pricing.placement.all_devices(),
            _ => 0,
        }
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

    /// Tokens beside the last emitted one that a round writes into the cache, of each sequence: k of a chain,
    /// all drafts of a tree.
    pub(super) fn drafted(&self, k: u64) -> u64 {
        self.verify_width(k) as u64 - 1
    }

    /// Memory of `batch` sequences when speculating with k drafts; the drafter is loaded. Where it has devices of
    /// its own, that of the fuller ones.
    #[must_use]
    pub fn memory(&self, batch: u64, context: u64, k: u64) -> Footprint {
        self.memory_of(batch, context, self.drafted(k))
    }

    /// Memory of `batch` sequences whose rounds write `drafted` tokens beside the last emitted one, such as the drafts of
    /// a tree in place of the drafter's own shape.
    #[must_use]
    pub fn memory_of(&self, batch: u64, context: u64, drafted: u64) -> Footprint {
        let of = |demand: &Demand| demand.footprint(batch, context, drafted);
        let together = of(&self.demand);
        self.apart.as_ref().map(of).filter(|apart| apart.total() > together.total()).unwrap_or(together)
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
        let of = |demand: &Demand| demand.max_batch(self.usable, context, self.drafted(k));
        let apart = self.apart.as_ref().and_then(of);
        of(&self.demand).into_iter().chain(apart).min()
    }

    /// The KV cache of all groups of devices that attend apart, and the tokens of a block of it: with the drafter, or for plain decoding
    /// without one. Below 0 where the weights alone do not fit.
    #[must_use]
    pub fn cache(&self, drafting: bool) -> (Bytes, u32) {
        let demand = if drafting { &self.demand } else { &self.base_demand };
        let block = u32::try_from(demand.block_tokens.get()).unwrap_or(u32::MAX);
        (demand.kv_budget(self.usable) * self.pricing.placement.ranks as f64, block)
    }

    /// What a sequence takes of it whose rounds write `drafted` tokens beside the last emitted one.
    #[must_use]
    pub fn bytes_per_sequence(&self, context: u64, drafting: bool, drafted: u64) -> Bytes {
        let demand = if drafting { &self.demand } else { &self.base_demand };
        demand.bytes_per_sequence(context, drafted)
    }

    /// The KV cache of a drafter on devices of its own, and what a sequence takes of it.
    #[must_use]
    pub fn own_cache(&self, context: u64, drafted: u64) -> Option<(Bytes, Bytes)> {
        let of = |demand: &Demand| (demand.kv_budget(self.usable), demand.bytes_per_sequence(context, drafted));
        self.apart.as_ref().map(of).map(|(budget, each)| (budget * self.pricing.placement.ranks as f64, each))
    }

    /// What a device may hold: utilization x capacity; without a policy no end of it.
    #[must_use]
    pub const fn usable(&self) -> Bytes {
        self.usable
    }
}
