//! What a fit may move: constants on a scale without ends, around a value that no measurement has set.

use crate::evidence::study::subject::Subject;
use crate::words::{Fitted, MeasuredDrafter, Word};

/// Values by constant; none: what the engine's profile says, or no such term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values([Option<f64>; Fitted::COUNT]);

impl Values {
    /// Everything as the profile says.
    pub const AS_STATED: Self = Self([None; Fitted::COUNT]);

    /// One value, in seconds or as a share.
    #[must_use]
    pub const fn get(&self, of: Fitted) -> Option<f64> {
        self.0[of as usize]
    }

    /// The same with one value set.
    #[must_use]
    pub const fn with(mut self, of: Fitted, value: f64) -> Self {
        self.0[of as usize] = Some(value);
        self
    }
}

/// The scale on which a constant has a normal law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A time above 0: its logarithm.
    Time,
    /// A share between 0 and 1: the logarithm of its odds.
    Share,
}

impl Scale {
    /// Onto the scale.
    #[must_use]
    pub fn of(self, value: f64) -> f64 {
        match self {
            Self::Time => value.ln(),
            Self::Share => (value / (1.0 - value)).ln(),
        }
    }

    /// Back from it.
    #[must_use]
    pub fn back(self, at: f64) -> f64 {
        match self {
            Self::Time => at.exp(),
            Self::Share => 1.0 / (1.0 + (-at).exp()),
        }
    }
}

/// What is believed of a constant before any speedup is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Its scale.
    pub scale: Scale,
    /// The middle, in seconds or as a share; none: what the profile of the hardware says.
    pub centre: Option<f64>,
    /// Standard deviation on the scale. Of a time 1: within a factor of 7 in nineteen of twenty cases; of a share
    /// 1.5: nearly anything between 0 and 1.
    pub width: f64,
}

const fn time(microseconds: f64, width: f64) -> Prior {
    Prior { scale: Scale::Time, centre: Some(microseconds * 1e-6), width }
}

const fn share(centre: f64, width: f64) -> Prior {
    Prior { scale: Scale::Share, centre: Some(centre), width }
}

/// The prior of a constant. Not one middle is taken from a fit to speedups: engine times are round orders of magnitude
/// (1 ms for a step of a host loop, 0.2 ms for a draft pass, 1 ms for a round), kernel times are counts of launches and
/// micro-benchmarks, shares are an even one, and efficiencies are those of kernel micro-benchmarks.
#[must_use]
pub const fn prior(of: Fitted) -> Prior {
    match of {
        Fitted::Step | Fitted::Round => time(1000.0, 1.0),
        Fitted::Draft => time(200.0, 1.0),
        // Host work for a sequence: sampling, stop words, detokenising.
        Fitted::Sequence => time(5.0, 1.5),
        // Router, softmax, choice, sorting, gathering, scattering: six kernels of 4 us.
        Fitted::MoeLayer => time(24.0, 0.7),
        // Micro-benchmarks: 5 to 8 us with a custom kernel, 19 to 23 us with NCCL.
        Fitted::AllReduce => time(11.0, 0.5),
        // Fifty kernels of a layer, 8 us for each launch from Python.
        Fitted::LayerFloor => time(400.0, 0.7),
        Fitted::RoutingIndependence | Fitted::AcceptedPerProposed | Fitted::RoutingPower | Fitted::PrefillShare => {
            share(0.5, 1.5)
        }
        Fitted::QuantisedCompute => share(0.3, 1.5),
        Fitted::QuantisedBandwidth => share(0.8, 1.0),
        Fitted::KvBandwidth => share(0.8, 1.0),
        Fitted::Bandwidth | Fitted::Compute => Prior { scale: Scale::Share, centre: None, width: 0.4 },
        Fitted::TreePass | Fitted::SharedPass | Fitted::FurtherDevice => time(30.0, 1.5),
    }
}

/// Whether a constant has a part in the price of a subject.
#[must_use]
pub fn concerns(of: Fitted, subject: &Subject) -> bool {
    let Subject { measured, target, drafter, .. } = subject;
    let additive = subject.engine.additive();
    let has_passes = measured.layout.draft_passes > 0.0;
    match of {
        Fitted::Step | Fitted::Round | Fitted::Sequence => true,
        Fitted::Bandwidth | Fitted::Compute | Fitted::KvBandwidth => true,
        Fitted::Draft => has_passes,
        Fitted::MoeLayer | Fitted::RoutingIndependence | Fitted::RoutingPower => {
            target.is_moe() || drafter.as_ref().is_some_and(|drafter| drafter.is_moe())
        }
        Fitted::AllReduce | Fitted::FurtherDevice => measured.devices > 1,
        Fitted::AcceptedPerProposed => {
            matches!(measured.drafter_kind, MeasuredDrafter::Ngram | MeasuredDrafter::Suffix)
        }
        Fitted::LayerFloor => additive.is_some_and(|additive| additive.layer_floor.is_some()),
        Fitted::QuantisedCompute | Fitted::QuantisedBandwidth => {
            additive.is_some_and(|additive| additive.quantised.is_some())
        }
        Fitted::TreePass => has_passes && measured.topology == "tree",
        Fitted::SharedPass => has_passes && measured.devices > 1,
        Fitted::PrefillShare => measured.closed_loop.is_some(),
    }
}

/// Whether a constant changes what passes cost; the others only add to what they cost.
#[must_use]
pub const fn changes_passes(of: Fitted) -> bool {
    !matches!(
        of,
        Fitted::Step
            | Fitted::Draft
            | Fitted::Round
            | Fitted::Sequence
            | Fitted::TreePass
            | Fitted::SharedPass
            | Fitted::FurtherDevice
            | Fitted::PrefillShare
    )
}

/// Which subjects a part of a constant is shared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those of one engine.
    Engine(String),
    /// Those on hardware of one family.
    Family(String),
}

/// A number that is fitted: how far a constant lies from its prior, in widths, for the subjects of a scope. Where
/// several concern a subject they add up, so that engines that nobody has measured keep what all share.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The constant.
    pub of: Fitted,
    /// For whom.
    pub scope: Scope,
    /// One standard deviation of it, on the scale of the constant.
    pub width: f64,
    /// How far the middle of its prior is moved, on the same scale.
    pub shift: f64,
}

impl Parameter {
    /// What it adds, so many widths from the middle of its prior.
    #[must_use]
    pub fn adds(&self, widths: f64) -> f64 {
        self.shift + self.width * widths
    }

    /// Whether it has a part in the price of a subject.
    #[must_use]
    pub fn concerns(&self, subject: &Subject) -> bool {
        let within = match &self.scope {
            Scope::All => true,
            Scope::Engine(id) => subject.engine.id == *id,
            Scope::Family(name) => subject.device.family.as_deref() == Some(name),
        };
        within && concerns(self.of, subject)
    }
}

/// The middle of a constant's prior for a subject.
fn centre(of: Fitted, subject: &Subject) -> Option<f64> {
    let stated = || {
        let known = subject.engine.additive()?.efficiencies(subject.device.family.as_deref()?)?;
        match of {
            Fitted::Bandwidth => Some(known.bandwidth.value.get()),
            Fitted::Compute => Some(known.compute.value.get()),
            _ => None,
        }
    };
    prior(of).centre.or_else(stated)
}

/// A constant of one subject, with the parameters that move it.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    of: Fitted,
    /// The middle of its prior, on its scale.
    centre: f64,
    /// Which parameters concern the subject.
    pub(super) by: Vec<usize>,
}

impl Moved {
    /// Every constant of a subject that parameters move; none has a middle that is not known.
    pub(super) fn all(subject: &Subject, parameters: &[Parameter]) -> Vec<Self> {
        let moved = |of: Fitted| {
            let is_moving = |at: &usize| parameters.get(*at).is_some_and(|one| one.of == of && one.concerns(subject));
            let by: Vec<usize> = (0..parameters.len()).filter(is_moving).collect();
            let centre = prior(of).scale.of(centre(of, subject)?);
            (!by.is_empty()).then_some(Self { of, centre, by })
        };
        Fitted::ALL.iter().copied().filter_map(moved).collect()
    }

    /// Whether it changes what passes cost.
    pub(super) const fn changes_passes(&self) -> bool {
        changes_passes(self.of)
    }

    /// Sets it: `scale(value) = scale(centre) + sum of (shift + width x)`.
    pub(super) fn set(&self, values: Values, parameters: &[Parameter], at: &[f64]) -> Values {
        let adds = |&index: &usize| Some(parameters.get(index)?.adds(*at.get(index)?));
        values.with(self.of, prior(self.of).scale.back(self.centre + self.by.iter().filter_map(adds).sum::<f64>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: odds of 0.8 are 4, of 0.2 a quarter; a time e times as long is 1 further on.
    #[test]
    fn scales_have_no_ends() {
        assert!((Scale::Share.of(0.8) - 4.0_f64.ln()).abs() < 1e-12);
        assert!((Scale::Share.back(-(4.0_f64.ln())) - 0.2).abs() < 1e-12);
        assert!((Scale::Time.back(Scale::Time.of(1e-3) + 1.0) - 1e-3 * std::f64::consts::E).abs() < 1e-12);
    }
}
