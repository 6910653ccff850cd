//! One combination of hardware, target, devices and engine of a study.

use crate::domain::calibration::Calibration;
use crate::domain::deployment::Spread;
use crate::domain::device::Device;
use crate::domain::drafter::Drafter;
use crate::domain::engine::Engine;
use crate::domain::model::Model;
use crate::domain::scenario::Scenario;
use crate::plan::backing::Backing;
use crate::plan::setup::{Deployment, Drafts, Setup, SetupError};
use crate::words::{Roofline, Term};

/// Where a study is priced: everything but the drafter and the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'s> {
    /// The study.
    pub scenario: &'s Scenario,
    /// The device.
    pub device: &'s Device,
    /// The target.
    pub target: &'s Model,
    /// Devices that matrices are sliced over.
    pub tensor_parallel: u64,
    /// The engine.
    pub engine: &'s Engine,
}

impl<'s> Setting<'s> {
    /// Every combination, in the order of the axes.
    pub fn all(scenario: &'s Scenario) -> impl Iterator<Item = Self> {
        let of_target = move |device: &'s Device, target: &'s Model| {
            scenario.tensor_parallel.iter().flat_map(move |&tensor_parallel| {
                let of = move |engine| Self { scenario, device, target, tensor_parallel, engine };
                scenario.engines.iter().map(of)
            })
        };
        let of_device = move |device| scenario.targets.iter().flat_map(move |target| of_target(device, target));
        scenario.hardware.iter().flat_map(of_device)
    }

    /// The roofline in force.
    #[must_use]
    pub fn roofline(&self) -> Roofline {
        self.scenario.roofline_of(self.engine, self.target)
    }

    /// What is priced with a drafter, or without one, on an engine that may be another than the study's.
    #[must_use]
    pub fn deployment<'d>(&self, engine: &'d Engine, drafter: Option<&'s Drafter>) -> Deployment<'d, 's>
    where
        's: 'd,
    {
        let own = drafter.and_then(|drafter| drafter.tensor_parallel);
        Deployment {
            device: self.device,
            engine,
            roofline: self.scenario.roofline_of(engine, self.target),
            devices: self.tensor_parallel,
            spread: Spread {
                draft_tensor_parallel: own.or(self.scenario.spread.draft_tensor_parallel),
                ..self.scenario.spread
            },
            limits: &self.scenario.limits,
            without: &self.scenario.without,
            policy: Some(&self.scenario.memory),
            verify_cost: self.scenario.verify_cost.as_ref(),
            target: self.target,
            drafts: drafter.map(|drafter| Drafts {
                source: &drafter.source,
                overlap: drafter.overlap,
                tree: drafter.tree.as_ref(),
                proposing_share: drafter.acceptance.proposing_share,
            }),
        }
    }

    /// What prices a drafter here, or plain decoding.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names what is missing, or does not go together.
    pub fn setup(&self, drafter: Option<&'s Drafter>) -> Result<Setup<'s>, SetupError> {
        Setup::new(&self.deployment(self.engine, drafter))
    }

    /// What measurements stand behind prices here.
    #[must_use]
    pub fn backing(&self) -> Backing<'s> {
        let own = self.engine.additive().and_then(|additive| additive.calibration.as_ref());
        let calibration = own.filter(|of| self.is_ground_of(of));
        Backing { engine: self.engine, device: self.device, target: self.target, calibration }
    }

    /// Terms that are left out of every price, in their order.
    #[must_use]
    pub fn without(&self) -> Vec<Term> {
        let mut without = self.scenario.without.clone();
        without.sort_unstable();
        without.dedup();
        without
    }

    /// Whether a profile was calibrated on this deployment, priced in this way.
    fn is_ground_of(&self, of: &Calibration) -> bool {
        of.hardware == self.device.id
            && of.target == self.target.id
            && of.tensor_parallel == self.tensor_parallel
            && of.formats.as_ref().is_none_or(|known| *known == self.target.formats.to_string())
            && of.without == self.without()
            && of.has_verify_cost == self.scenario.verify_cost.is_some()
    }

    /// Whether no measurement stands behind the price of a drafter at a batch, context and draft length.
    #[must_use]
    pub fn is_unvalidated(&self, drafter: Option<&Drafter>, batch: u64, context: u64, k: u64) -> bool {
        self.backing().is_unvalidated(drafter, (batch, context, k))
    }
}
