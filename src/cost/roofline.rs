//! The two rates of a roofline (Williams, Waterman, Patterson, "Roofline", CACM 2009).

use crate::domain::device::{Device, MissingPeak};
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};
use crate::words::{Bound, Dtype};

/// What a device can do at best in one number format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Dense arithmetic.
    pub peak: FlopsPerSecond,
    /// Memory.
    pub bandwidth: BytesPerSecond,
}

impl Rates {
    /// The datasheet rates of a device, computing in `dtype`.
    ///
    /// # Errors
    ///
    /// [`MissingPeak`] if the device's description has no peak for `dtype`.
    pub fn of(device: &Device, dtype: Dtype) -> Result<Self, MissingPeak> {
        Ok(Self { peak: device.peak(dtype)?, bandwidth: device.memory.bandwidth })
    }
}

/// Work and traffic under a roofline: the parts, from which time and bound follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofed {
    /// Time of the arithmetic alone.
    pub compute: Seconds,
    /// Time of the traffic alone.
    pub memory: Seconds,
}

impl Roofed {
    /// `compute = flops / peak`, `memory = bytes / bandwidth`.
    #[must_use]
    pub fn new(flops: Flops, bytes: Bytes, rates: Rates) -> Self {
        Self { compute: flops / rates.peak, memory: bytes / rates.bandwidth }
    }

    /// `max(compute, memory)`: arithmetic and traffic overlap in full.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        self.compute.max(self.memory)
    }

    /// `compute` where the arithmetic takes strictly longer, else `memory`.
    #[must_use]
    pub fn bound(&self) -> Bound {
        if self.compute > self.memory { Bound::Compute } else { Bound::Memory }
    }
}
