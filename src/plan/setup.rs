//! One deployment made ready for pricing: every figure it needs is looked up once, here.

use crate::cost::draft::DraftPricing;
use crate::cost::memory::{Demand, Footprint, usable};
use crate::cost::roofline::Rates;
use crate::domain::deployment::MemoryPolicy;
use crate::domain::device::{Device, MissingPeak};
use crate::domain::drafter::DraftSource;
use crate::domain::model::Model;
use crate::units::Bytes;
use crate::words::Roofline;

/// A target, its drafter and its device, with the rates and memory they have. Pricing it cannot fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup<'a> {
    pub(super) target: &'a Model,
    pub(super) rates: Rates,
    pub(super) roofline: Roofline,
    pub(super) drafting: Option<DraftPricing<'a>>,
    demand: Demand,
    base_demand: Demand,
    usable: Bytes,
}

impl<'a> Setup<'a> {
    /// Looks up what pricing needs. Without a drafter only plain decoding has a price.
    ///
    /// # Errors
    ///
    /// [`MissingPeak`] if the device has no peak for the number format of target or drafter.
    pub fn new(
        device: &Device,
        target: &'a Model,
        drafter: Option<&'a DraftSource>,
        policy: &MemoryPolicy,
        roofline: Roofline,
    ) -> Result<Self, MissingPeak> {
        let demand = Demand::new(target, drafter.and_then(DraftSource::model), policy);
        let drafting = match drafter {
            None => None,
            Some(DraftSource::Constant { cost_ratio }) => Some(DraftPricing::Constant { cost_ratio: *cost_ratio }),
            Some(DraftSource::Model(model)) => {
                let rates = Rates::of(device, model.formats.activations)?;
                Some(DraftPricing::Model { model, rates, roofline })
            }
        };
        Ok(Self {
            target,
            rates: Rates::of(device, target.formats.activations)?,
            roofline,
            drafting,
            base_demand: demand.without_drafter(),
            demand,
            usable: usable(device, policy),
        })
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
