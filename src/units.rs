//! Quantities as types: only legal arithmetic exists, and text goes in and out here alone.
//!
//! Values are `f64` in SI base units: seconds, bytes, FLOPs (one multiply-add counts 2), bytes per
//! second, FLOPs per second. Decimal prefixes are powers of 1000, `Ki` to `Ei` powers of
//! 1024; they exist in text only, see [`text`].

pub mod text;

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Nothing of this quantity.
            pub const ZERO: Self = Self(0.0);

            #[doc = concat!("A value in the SI base unit, ", $unit, ".")]
            #[must_use]
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            #[doc = concat!("The value in the SI base unit, ", $unit, ".")]
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of the two.
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self::ZERO, Add::add)
            }
        }
    };
}

quantity!(
    /// A time.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::units::Seconds;
    /// assert_eq!((Seconds::new(0.5) + Seconds::new(0.25)).get(), 0.75);
    /// ```
    Seconds,
    "seconds"
);
quantity!(
    /// An amount of memory or of traffic. Divided by a [`BytesPerSecond`] it is a time.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::units::{Bytes, BytesPerSecond};
    /// // 15 GB of weights at 3 TB/s take 5 ms.
    /// assert_eq!((Bytes::new(15e9) / BytesPerSecond::new(3e12)).get(), 0.005);
    /// ```
    Bytes,
    "bytes"
);
quantity!(
    /// A bandwidth.
    BytesPerSecond,
    "bytes per second"
);
quantity!(
    /// Arithmetic work; one multiply-add is 2 FLOPs. Divided by a [`FlopsPerSecond`] it is a time.
    Flops,
    "FLOPs"
);
quantity!(
    /// A rate of arithmetic, dense.
    FlopsPerSecond,
    "FLOPs per second"
);

impl Div<BytesPerSecond> for Bytes {
    type Output = Seconds;
    fn div(self, rate: BytesPerSecond) -> Seconds {
        Seconds(self.0 / rate.0)
    }
}

impl Div<FlopsPerSecond> for Flops {
    type Output = Seconds;
    fn div(self, rate: FlopsPerSecond) -> Seconds {
        Seconds(self.0 / rate.0)
    }
}

/// A number from 0 to 1.
///
/// # Examples
///
/// ```
/// use specplan::units::Probability;
/// assert_eq!(Probability::new(0.8)?.get(), 0.8);
/// assert!(Probability::new(1.2).is_err());
/// assert!(Probability::new(f64::NAN).is_err());
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// A number that was to be a probability lies outside 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{value} is not between 0 and 1")]
pub struct NotAProbability {
    /// The number that was given.
    pub value: f64,
}

impl Probability {
    /// Impossible.
    pub const ZERO: Self = Self(0.0);
    /// Certain.
    pub const ONE: Self = Self(1.0);

    /// Accepts 0 to 1, both included.
    ///
    /// # Errors
    ///
    /// [`NotAProbability`] for anything else, NaN included.
    pub fn new(value: f64) -> Result<Self, NotAProbability> {
        // Plus zero, so that -0 is 0 in every output.
        if (0.0..=1.0).contains(&value) { Ok(Self(value + 0.0)) } else { Err(NotAProbability { value }) }
    }

    /// A chance that was computed, and may leave [0, 1] by rounding but by no more.
    #[must_use]
    pub fn nearest(value: f64) -> Self {
        debug_assert!((-1e-9..=1.0 + 1e-9).contains(&value), "{value} is no chance");
        Self(value.clamp(0.0, 1.0))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}
