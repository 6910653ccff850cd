//! Acceptance that differs from round to round or from sequence to sequence, by a Beta law.

use crate::units::Probability;

/// A Beta law of alpha: density in proportion to `alpha^(a-1) (1-alpha)^(b-1)`.
///
/// # Examples
///
/// ```
/// use specplan::{domain::beta::Beta, units::Probability};
/// let beta = Beta::with_mean(Probability::new(0.8)?, 10.0)?;
/// assert!((beta.a() - 8.0).abs() < 1e-12 && (beta.b() - 2.0).abs() < 1e-12);
/// assert!((beta.mean() - 0.8).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
}

/// Numbers that make no Beta law.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotABeta {
    /// A parameter outside [`Beta::SMALLEST`] to [`Beta::LARGEST`].
    #[error("a Beta law has a and b from {:?} to {:?}, not {a:?} and {b:?}", Beta::SMALLEST, Beta::LARGEST)]
    Parameters {
        /// Of passing.
        a: f64,
        /// Of failing.
        b: f64,
    },
    /// The mean leaves nothing to vary.
    #[error("a mean of {mean} leaves nothing to vary: write iid = {{ alpha = {mean} }}")]
    Certain {
        /// 0 or 1.
        mean: f64,
    },
}

impl Beta {
    /// The smallest parameter: below, draws are 0 or 1 to double precision.
    pub const SMALLEST: f64 = 1e-3;
    /// The largest parameter: beyond, draws do not differ to six digits.
    pub const LARGEST: f64 = 1e12;

    /// A law by its parameters.
    ///
    /// # Errors
    ///
    /// [`NotABeta::Parameters`] outside [`Self::SMALLEST`] to [`Self::LARGEST`].
    pub fn new(a: f64, b: f64) -> Result<Self, NotABeta> {
        let valid = |value| (Self::SMALLEST..=Self::LARGEST).contains(&value);
        if valid(a) && valid(b) { Ok(Self { a, b }) } else { Err(NotABeta::Parameters { a, b }) }
    }

    /// A law by its mean and concentration a + b: the larger, the closer draws are to the mean. Its variance is
    /// `mean (1 - mean) / (concentration + 1)`.
    ///
    /// # Errors
    ///
    /// [`NotABeta`] for a mean of 0 or 1, or parameters out of range.
    pub fn with_mean(mean: Probability, concentration: f64) -> Result<Self, NotABeta> {
        let mean = mean.get();
        if mean <= 0.0 || mean >= 1.0 {
            return Err(NotABeta::Certain { mean });
        }
        Self::new(mean * concentration, (1.0 - mean) * concentration)
    }

    /// The parameter of passing.
    #[must_use]
    pub const fn a(&self) -> f64 {
        self.a
    }

    /// The parameter of failing.
    #[must_use]
    pub const fn b(&self) -> f64 {
        self.b
    }

    /// `a / (a + b)`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.a / (self.a + self.b)
    }

    /// `a + b`.
    #[must_use]
    pub fn concentration(&self) -> f64 {
        self.a + self.b
    }
}
