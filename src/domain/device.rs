//! An accelerator: memory, dense peaks, link, power, price, each with its source.

use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};
use crate::words::Dtype;

/// One device, never a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// The catalog id.
    pub id: String,
    /// The name on the box.
    pub name: String,
    /// Who makes it.
    pub vendor: Option<String>,
    /// Selects the efficiencies of engine profiles.
    pub family: Option<String>,
    /// Memory.
    pub memory: Memory,
    /// Dense peaks.
    pub peaks: Peaks,
    /// Scale-up link; absent: no tensor parallelism.
    pub link: Option<Link>,
    /// Board power.
    pub power: Option<Power>,
    /// Rent.
    pub price: Option<Price>,
}

/// Memory of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What the driver reports, else the label; none where what is installed decides.
    pub capacity: Option<Bytes>,
    /// Datasheet bandwidth.
    pub bandwidth: BytesPerSecond,
    /// Where both are from.
    pub source: String,
}

/// A scale-up link of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub kind: String,
    /// One direction, all links of the device together.
    pub bandwidth: BytesPerSecond,
    /// Devices that reach each other.
    pub domain: u64,
    /// Where it is from.
    pub source: String,
}

/// Board power.
#[derive(Clone, Debug, PartialEq)]
pub struct Power {
    /// The design limit in watts.
    pub tdp_watts: f64,
    /// Where it is from, if the file says.
    pub source: Option<String>,
}

/// What an hour costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// US dollars for one device and hour.
    pub usd_per_hour: f64,
    /// When that was so.
    pub date: String,
    /// Who said so.
    pub source: String,
}

/// Dense arithmetic peaks by number format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peaks {
    /// What the file says, in its order.
    pub stated: Vec<(Dtype, Peak)>,
    /// Where the rates are from.
    pub source: String,
}

/// One entry of the peaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// A rate.
    Rate(FlopsPerSecond),
    /// The rate of another format stands for this one, because the file says so.
    SameAs(Dtype),
}

/// A device whose description does not say how much memory it has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hardware `{device}` states no memory capacity, without which nothing tells what fits")]
pub struct MissingCapacity {
    /// The device's id.
    pub device: String,
}

/// A figure that a device's description does not have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("hardware `{device}` has no dense peak for {dtype}")]
pub struct MissingPeak {
    /// The device's id.
    pub device: String,
    /// The format.
    pub dtype: Dtype,
}

impl Device {
    /// How much memory it has.
    ///
    /// # Errors
    ///
    /// [`MissingCapacity`] if the description does not say: what is installed is never guessed.
    pub fn capacity(&self) -> Result<Bytes, MissingCapacity> {
        self.memory.capacity.ok_or_else(|| MissingCapacity { device: self.id.clone() })
    }

    /// The dense peak for a format.
    ///
    /// # Errors
    ///
    /// [`MissingPeak`] if the description has none: no rate is derived from another format's.
    pub fn peak(&self, dtype: Dtype) -> Result<FlopsPerSecond, MissingPeak> {
        let find = |dtype| self.peaks.stated.iter().find(|entry| entry.0 == dtype).map(|entry| entry.1);
        let rate = match find(dtype) {
            Some(Peak::SameAs(other)) => find(other),
            stated => stated,
        };
        match rate {
            Some(Peak::Rate(rate)) => Ok(rate),
            _ => Err(MissingPeak { device: self.id.clone(), dtype }),
        }
    }
}
