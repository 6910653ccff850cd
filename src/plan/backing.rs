//! What measurements stand behind a price.

use crate::domain::calibration::Calibration;
use crate::domain::device::Device;
use crate::domain::drafter::Drafter;
use crate::domain::engine::{Engine, ExpectedError};
use crate::domain::model::Model;

/// An engine on a device with a target, and the user's own measurements of just that deployment, if its profile was fitted to some.
#[derive(Clone, Copy, Debug)]
pub struct Backing<'s> {
    /// The engine.
    pub engine: &'s Engine,
    /// The device.
    pub device: &'s Device,
    /// The target.
    pub target: &'s Model,
    /// The calibration, where it is of this hardware, target, number formats, devices and way of pricing.
    pub calibration: Option<&'s Calibration>,
}

impl<'s> Backing<'s> {
    /// The measurements of such a drafter's rounds, or of plain decoding.
    #[must_use]
    pub fn calibrated(&self, drafter: Option<&Drafter>) -> Option<&'s Calibration> {
        let is_measured = |of: &&Calibration| {
            drafter
                .is_none_or(|drafter| of.drafters.contains(&drafter.source.kind()) && of.has_overlap == drafter.overlap)
        };
        self.calibration.filter(is_measured)
    }

    /// The error that the profile states for such targets; none of one that was fitted to another deployment.
    #[must_use]
    pub fn error(&self) -> Option<&'s ExpectedError> {
        let additive = self.engine.additive()?;
        let holds = additive.calibration.is_none() || self.calibration.is_some();
        additive.error(if self.target.is_moe() { "moe" } else { "dense" }).filter(|_| holds)
    }

    /// Whether no published measurement, nor one of the user's own, stands behind the price of a drafter at a batch, context and draft length.
    #[must_use]
    pub fn is_unvalidated(&self, drafter: Option<&Drafter>, (batch, context, k): (u64, u64, u64)) -> bool {
        let Some(additive) = self.engine.additive() else { return false };
        if let Some(calibration) = self.calibrated(drafter) {
            return !calibration.covers(batch, context, k);
        }
        let family = self.device.family.as_deref().and_then(|family| additive.efficiencies(family));
        let is_tested = family.is_some_and(|known| known.tested);
        let error = self.error().map(|error| error.known);
        let is_covered = is_tested && error.is_some_and(|known| known.is_none_or(|known| known.covers(batch, context)));
        !is_covered || drafter.is_some_and(|drafter| !drafter.is_covered(self.engine.origin()))
    }
}
