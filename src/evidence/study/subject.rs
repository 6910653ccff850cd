//! What was measured with everything it names, and its price with other constants.

use crate::domain::device::Device;
use crate::domain::engine::{Additive, Constant, Efficiency, Engine, Profile};
use crate::domain::measurement::Measurement;
use crate::domain::model::Model;
use crate::evidence::predict::{Method, Named, Prediction, Prefill, Times, Unpriced, class, predict, ratio};
use crate::evidence::study::constants::{Values, changes_passes};
use crate::units::Seconds;
use crate::words::{Class, Fitted, Term, Word};

/// A measurement with what it names.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What was measured.
    pub measured: Measurement,
    /// The device.
    pub device: Device,
    /// The target.
    pub target: Model,
    /// The drafter, where the measurement names one.
    pub drafter: Option<Model>,
    /// The engine.
    pub engine: Engine,
}

/// The engine's own times, which are added to those of passes.
const OWN: [Term; 4] = [Term::Step, Term::Draft, Term::Round, Term::Sequence];

impl Subject {
    /// Its class.
    #[must_use]
    pub fn class(&self) -> Class {
        class(&self.measured.engine, &self.target)
    }

    /// Who measured it, rows that are scored apart included.
    #[must_use]
    pub fn source(&self) -> &str {
        self.measured.source.trim_end_matches(":excluded")
    }

    const fn named<'a>(&'a self, engine: &'a Engine) -> Named<'a> {
        Named { device: &self.device, target: &self.target, drafter: self.drafter.as_ref(), engine }
    }

    /// Its price with the constants of the engine's profile.
    ///
    /// # Errors
    ///
    /// [`Unpriced`] names what is missing.
    pub fn shipped(&self) -> Result<Prediction, Unpriced> {
        predict(&self.measured, self.named(&self.engine), Method { roofline: None, without: &[] })
    }

    /// What its passes cost with other constants, the engine's own times left out.
    pub(super) fn passes(&self, values: &Values) -> Result<Passes, Unpriced> {
        let engine = self.engine_with(values);
        let found = predict(&self.measured, self.named(&engine), Method { roofline: None, without: &OWN })?;
        Ok(Passes { base_step: found.base_step, round: found.round, prefill: found.prefill })
    }

    fn engine_with(&self, values: &Values) -> Engine {
        let Profile::Additive(stated) = &self.engine.profile else { return self.engine.clone() };
        let family = self.device.family.as_deref();
        let families = stated.families.iter().filter(|(name, _)| Some(name.as_str()) == family).cloned().collect();
        let mut additive = Additive { families, errors: Vec::new(), ..(**stated).clone() };
        for (of, value) in Fitted::ALL.iter().filter_map(|&of| Some((of, values.get(of)?))) {
            set(&mut additive, of, value);
        }
        Engine { profile: Profile::Additive(Box::new(additive)), ..self.engine.clone() }
    }

    /// The prediction of passes and the engine's own times.
    ///
    /// # Formula
    ///
    /// ```text
    /// t_1 = passes + t_step
    /// t_R = passes + t_step + n (t_draft + tree + shared) + t_round + (devices - 1) device + B t_sequence
    /// ```
    ///
    /// n: draft passes. Terms that are not tried are 0.
    pub(super) fn predicted(&self, passes: &Passes, values: &Values) -> Prediction {
        let of = |term: Fitted| Seconds::new(values.get(term).unwrap_or(0.0));
        let among = |applies: bool, term: Fitted| if applies { of(term) } else { Seconds::ZERO };
        let Measurement { devices, topology, batch, layout, .. } = &self.measured;
        let each =
            of(Fitted::Draft) + among(topology == "tree", Fitted::TreePass) + among(*devices > 1, Fitted::SharedPass);
        let once =
            of(Fitted::Round) + of(Fitted::FurtherDevice) * (*devices as f64 - 1.0) + of(Fitted::Sequence) * *batch;
        let step = of(Fitted::Step);
        let base_step = passes.base_step + step;
        let round = passes.round + step + each * layout.draft_passes + once;
        let waited = values.get(Fitted::PrefillShare).unwrap_or(1.0);
        let prefill = passes.prefill.map(|of| Prefill { target: of.target * waited, drafter: of.drafter * waited });
        let speedup = ratio(&self.measured, Times { base_step, round, prefill });
        Prediction { speedup, base_step, round, prefill }
    }
}

/// The passes of a plain step and of a round, and the prefill of a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    base_step: Seconds,
    round: Seconds,
    prefill: Option<Prefill>,
}

/// Sets a constant that changes what passes cost.
fn set(additive: &mut Additive, of: Fitted, value: f64) {
    if !changes_passes(of) {
        return;
    }
    let share = |constant: &mut Constant<Efficiency>, value: f64| {
        if let Ok(value) = Efficiency::new(value) {
            constant.value = value;
        }
    };
    let time = Seconds::new(value);
    match of {
        Fitted::MoeLayer => additive.moe_layer.value = time,
        Fitted::AllReduce => additive.all_reduce.value = time,
        Fitted::RoutingIndependence => {
            share(&mut additive.routing_independence, value);
            additive.routing_power = None;
        }
        Fitted::RoutingPower => additive.routing_power.iter_mut().for_each(|power| share(power, value)),
        Fitted::AcceptedPerProposed => share(&mut additive.accepted_per_proposed, value),
        Fitted::LayerFloor => additive.layer_floor.iter_mut().for_each(|floor| floor.value = time),
        Fitted::QuantisedCompute => {
            additive.quantised.iter_mut().for_each(|quantised| share(&mut quantised.compute, value));
        }
        Fitted::QuantisedBandwidth => {
            additive.quantised.iter_mut().for_each(|quantised| share(&mut quantised.bandwidth, value));
        }
        _ => {
            for (_, known) in &mut additive.families {
                match of {
                    Fitted::Bandwidth => share(&mut known.bandwidth, value),
                    Fitted::Compute => share(&mut known.compute, value),
                    Fitted::KvBandwidth => {
                        let mut own = known.kv_bandwidth.clone().unwrap_or_else(|| known.bandwidth.clone());
                        share(&mut own, value);
                        known.kv_bandwidth = Some(own);
                    }
                    _ => {}
                }
            }
        }
    }
}
