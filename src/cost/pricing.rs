//! How the passes of one model are priced: the form in force with everything it needs.

use crate::cost::additive::Coefficients;
use crate::cost::placement::{Placement, Routing, Unsplittable};
use crate::cost::roofline::Rates;
use crate::cost::terms::Without;
use crate::domain::deployment::Spread;
use crate::domain::device::{Device, MissingCapacity, MissingPeak};
use crate::domain::engine::{Additive, Constant, Efficiency, Engine, Pace, Profile};
use crate::domain::model::{Model, Shape};
use crate::units::{BytesPerSecond, FlopsPerSecond, Seconds};
use crate::words::{Roofline, Term};

/// How the passes of one model on one kind of device are priced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pricing {
    /// The datasheet.
    pub rates: Rates,
    /// Devices and routing.
    pub placement: Placement,
    /// What a pass costs.
    pub form: Form,
}

/// The form of the cost of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// One maximum over the sums.
    Aggregate,
    /// One maximum for each operator.
    PerOp,
    /// A sum of terms.
    Additive(Coefficients),
}

/// Why a model cannot be priced on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unpriceable {
    /// No peak for its number format.
    #[error(transparent)]
    MissingPeak(#[from] MissingPeak),
    /// Nobody knows how much memory there is, and the question is what fits.
    #[error(transparent)]
    MissingCapacity(#[from] MissingCapacity),
    /// The engine's profile does not know the device.
    #[error("engine `{engine}` has no efficiencies for hardware `{device}` ({family})")]
    MissingEfficiencies {
        /// The engine.
        engine: String,
        /// The device.
        device: String,
        /// Its family, for people.
        family: String,
    },
    /// Several devices without a link between them.
    #[error("hardware `{device}` has no [link]: a replica cannot be spread over {devices} of it")]
    MissingLink {
        /// The device.
        device: String,
        /// Devices asked for.
        devices: u64,
    },
    /// More devices than reach each other.
    #[error("the link of hardware `{device}` joins {domain} device{}, not {devices}", if *domain == 1 { "" } else { "s" })]
    BeyondLink {
        /// The device.
        device: String,
        /// Devices that reach each other.
        domain: u64,
        /// Devices asked for.
        devices: u64,
    },
    /// A drafter over more devices than there are.
    #[error("a drafter over {own} devices beside a target over {devices}")]
    DrafterDevices {
        /// Devices of the drafter.
        own: u64,
        /// Devices of the target.
        devices: u64,
    },
    /// More stages than layers.
    #[error("the {layers} layers of `{model}` cannot be cut into {stages} stages")]
    Stages {
        /// The model.
        model: String,
        /// Its layers.
        layers: f64,
        /// Stages asked for.
        stages: u64,
    },
    /// Experts that cannot be shared so.
    #[error("{expert_parallel} devices cannot share the experts of `{model}`: {reason}")]
    Experts {
        /// The model.
        model: String,
        /// Devices asked for.
        expert_parallel: u64,
        /// Why not.
        reason: String,
    },
    /// KV heads that cannot be spread.
    #[error(transparent)]
    Unsplittable(#[from] Unsplittable),
    /// Terms need layers.
    #[error("model `{model}` is known by its totals, and the {form} form needs its layers")]
    NeedsLayers {
        /// The model.
        model: String,
        /// What was asked for.
        form: Roofline,
    },
}

/// What a study prices with, beside the models.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a> {
    /// The device.
    pub device: &'a Device,
    /// The engine.
    pub engine: &'a Engine,
    /// The form in force.
    pub roofline: Roofline,
    /// Devices that matrices are sliced over.
    pub devices: u64,
    /// How it is spread beyond that.
    pub spread: Spread,
    /// Terms left out of the additive form.
    pub without: Without,
}

impl Pricing {
    /// An ideal roofline on a single device.
    #[must_use]
    pub const fn ideal(rates: Rates, roofline: Roofline) -> Self {
        let form = match roofline {
            Roofline::Aggregate => Form::Aggregate,
            Roofline::PerOp | Roofline::Additive => Form::PerOp,
        };
        Self { rates, placement: Placement::SINGLE, form }
    }

    /// Looks up what pricing a model needs.
    ///
    /// # Errors
    ///
    /// [`Unpriceable`] names the figure that is missing, or what does not go together.
    pub fn of(basis: &Basis<'_>, model: &Model) -> Result<Self, Unpriceable> {
        let rates = Rates::of(basis.device, model.formats.activations)?;
        let placement = placement(basis, model)?;
        if basis.roofline != Roofline::Aggregate && matches!(model.shape, Shape::Aggregate(_)) {
            return Err(Unpriceable::NeedsLayers { model: model.id.clone(), form: basis.roofline });
        }
        match (&basis.engine.profile, basis.roofline) {
            (Profile::Additive(additive), Roofline::Additive) => {
                let coefficients = coefficients(basis, additive, model, rates, placement.link)?;
                let power = additive.routing_power.as_ref().map(|power| Routing::Power(power.value.get()));
                let routing = power.unwrap_or(Routing::Share(additive.routing_independence.value.get()));
                let placement = Placement { routing, ..placement };
                Ok(Self { rates, placement, form: Form::Additive(coefficients) })
            }
            (_, roofline) => Ok(Self { placement, ..Self::ideal(rates, roofline) }),
        }
    }

    /// The same for a drafter, whose layers all lie on one stage.
    #[must_use]
    pub const fn on_one_stage(self) -> Self {
        Self { placement: self.placement.on_one_stage(), ..self }
    }

    /// The roofline in force.
    #[must_use]
    pub const fn roofline(&self) -> Roofline {
        match self.form {
            Form::Aggregate => Roofline::Aggregate,
            Form::PerOp => Roofline::PerOp,
            Form::Additive(_) => Roofline::Additive,
        }
    }
}

fn placement(basis: &Basis<'_>, model: &Model) -> Result<Placement, Unpriceable> {
    let (device, stages) = (basis.device, basis.spread.pipeline);
    let ranks = ranks(basis, model)?;
    let devices = basis.devices * ranks * stages;
    if devices == 1 {
        return Ok(Placement::SINGLE);
    }
    let Some(link) = &device.link else {
        return Err(Unpriceable::MissingLink { device: device.id.clone(), devices });
    };
    if devices > link.domain {
        return Err(Unpriceable::BeyondLink { device: device.id.clone(), domain: link.domain, devices });
    }
    if let Shape::Aggregate(_) = model.shape {
        return Err(Unpriceable::NeedsLayers { model: model.id.clone(), form: basis.roofline });
    }
    let placement =
        Placement { devices: basis.devices, ranks, stages, parts: stages, link: link.bandwidth, ..Placement::SINGLE };
    placement.check(model)?;
    Ok(placement)
}

/// Groups of devices that attend apart: as many as share the experts, over those that share attention.
fn ranks(basis: &Basis<'_>, model: &Model) -> Result<u64, Unpriceable> {
    let (sliced, spread) = (basis.devices, basis.spread);
    let Some(sharing) = spread.expert_parallel else { return Ok(1) };
    let refused =
        |reason: String| Err(Unpriceable::Experts { model: model.id.clone(), expert_parallel: sharing, reason });
    if let Shape::Layers(layers) = &model.shape
        && let Some(moe) =
            layers.groups().iter().filter_map(|group| group.ffn.moe()).find(|moe| moe.experts() % sharing != 0)
    {
        return refused(format!("{} do not divide evenly", moe.experts()));
    }
    match spread.data_parallel_attention {
        true if sharing % sliced == 0 => Ok(sharing / sliced),
        true => refused(format!("with attention apart they are a multiple of tensor_parallel, {sliced}")),
        // Every device sees every token: whole experts on some or slices on all take the same time in the mean.
        false if sliced % sharing == 0 => Ok(1),
        false => refused(format!("they divide tensor_parallel, {sliced}, unless data_parallel_attention = true")),
    }
}

fn coefficients(
    basis: &Basis<'_>,
    additive: &Additive,
    model: &Model,
    rates: Rates,
    link: BytesPerSecond,
) -> Result<Coefficients, Unpriceable> {
    let family = basis.device.family.as_deref();
    let found = family.and_then(|family| additive.efficiencies(family));
    let known = found.ok_or_else(|| Unpriceable::MissingEfficiencies {
        engine: basis.engine.id.clone(),
        device: basis.device.id.clone(),
        family: family.map_or_else(|| "no family".to_owned(), |family| format!("family \"{family}\"")),
    })?;
    let quantised = additive.quantised.as_ref().filter(|_| model.mean_weight_bytes() < SIXTEEN_BITS);
    let factor = |of: Option<Efficiency>| of.map_or(1.0, Efficiency::get);
    let on_compute = factor(quantised.map(|quantised| quantised.compute.value));
    let on_bandwidth = factor(quantised.map(|quantised| quantised.bandwidth.value));
    let bandwidth = known.bandwidth.value.get() * on_bandwidth;
    // Where no efficiency of its own is known, the cache is read like the weights.
    let kv_bandwidth = known.kv_bandwidth.as_ref().map_or(bandwidth, |known| known.value.get());
    let rate = |efficiency: f64| BytesPerSecond::new(rates.bandwidth.get() * efficiency);
    Ok(Coefficients {
        product: known.product.value,
        attention: known.attention.value,
        moe_layer: additive.moe_layer.value,
        arithmetic: FlopsPerSecond::new(rates.peak.get() * known.compute.value.get() * on_compute),
        bandwidth: rate(bandwidth),
        kv_bandwidth: rate(kv_bandwidth),
        all_reduce: additive.all_reduce.value,
        link: BytesPerSecond::new(link.get() * additive.link.value.get()),
        layer_floor: additive.layer_floor.as_ref().map(|floor| floor.value),
        without: basis.without,
    })
}

/// Bytes of an unquantised weight, below which an engine's factors for quantised ones hold.
const SIXTEEN_BITS: f64 = 2.0;

/// What an engine makes of a pass: how long it takes over its price, and a time beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    /// Over its price.
    pub pace: Pace,
    /// What the time is for.
    pub term: Term,
    /// The time beside it.
    pub time: Seconds,
}

/// What an engine spends beside the passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overheads {
    /// For each step and each verification.
    pub step: Seconds,
    /// For each draft pass.
    pub draft: Seconds,
    /// For each speculative round.
    pub round: Seconds,
    /// For each sequence of a speculative round.
    pub sequence: Seconds,
    /// For each speculative round and each device beyond the first.
    pub device: Seconds,
    /// For each draft pass of a tree, on top.
    pub tree: Seconds,
    /// For each token that a step or round emits of a sequence.
    pub token: Seconds,
    /// How long plain passes take, over their price.
    pub plain_pace: Pace,
    /// How long passes of rounds take, over their price.
    pub round_pace: Pace,
}

impl Overheads {
    /// Nothing: an ideal engine.
    pub const NONE: Self = Self {
        step: Seconds::ZERO,
        draft: Seconds::ZERO,
        round: Seconds::ZERO,
        sequence: Seconds::ZERO,
        device: Seconds::ZERO,
        tree: Seconds::ZERO,
        token: Seconds::ZERO,
        plain_pace: Pace::AS_PRICED,
        round_pace: Pace::AS_PRICED,
    };

    /// Of an engine, without the terms that are left out.
    #[must_use]
    pub fn of(engine: &Engine, without: Without) -> Self {
        let Some(additive) = engine.additive() else { return Self::NONE };
        let time = |of: &Option<Constant<Seconds>>| of.as_ref().map_or(Seconds::ZERO, |of| of.value);
        let pace = |of: &Option<Constant<Pace>>| of.as_ref().map_or(Pace::AS_PRICED, |of| of.value);
        Self {
            step: without.unless(Term::Step, additive.step.value),
            draft: without.unless(Term::Draft, additive.draft.value),
            round: without.unless(Term::Round, additive.round.value),
            sequence: without.unless(Term::Sequence, additive.sequence.value),
            device: without.unless(Term::Round, time(&additive.device)),
            tree: without.unless(Term::Draft, time(&additive.tree)),
            token: without.unless(Term::Token, time(&additive.token)),
            plain_pace: pace(&additive.plain_pace),
            round_pace: pace(&additive.round_pace),
        }
    }

    /// Of a plain step, beside its emitted tokens.
    #[must_use]
    pub const fn of_plain(&self) -> Served {
        Served { pace: self.plain_pace, term: Term::Step, time: self.step }
    }

    /// Of a verification.
    #[must_use]
    pub const fn of_verify(&self) -> Served {
        Served { pace: self.round_pace, term: Term::Step, time: self.step }
    }

    /// Of a draft pass: `t_draft`, and `t_tree` where several candidates are drafted for a position.
    #[must_use]
    pub fn of_draft(&self, is_tree: bool) -> Served {
        let tree = if is_tree { self.tree } else { Seconds::ZERO };
        Served { pace: self.round_pace, term: Term::Draft, time: self.draft + tree }
    }

    /// What a round of `batch` sequences costs on `devices` devices only because it speculates: `t_round + (devices - 1) t_round_device + batch t_sequence`.
    #[must_use]
    pub fn of_round(&self, batch: f64, devices: u64) -> Seconds {
        self.round + self.device * (devices.max(1) - 1) as f64 + self.sequence * batch
    }
}
