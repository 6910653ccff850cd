//! Alpha from counted tests: estimate, intervals, posterior, and how many rounds a precision takes.
//!
//! A round tests drafts one by one until the first is rejected: with A accepted of D drafted it makes A tests that pass, and one
//! that fails where A < D. Sources: maximum likelihood of a geometric law censored at D; Wilson 1927 and Wald for intervals;
//! the Beta law is the conjugate prior, whatever rule stops the tests.

use statrs::distribution::{Beta as BetaLaw, ContinuousCDF, Normal};

use crate::acceptance::chain::{expected_tokens, expected_tokens_derivative};
use crate::acceptance::estimate::wilson_at;
use crate::domain::beta::{Beta, NotABeta};
use crate::units::Probability;

/// Tests that were made.
///
/// # Examples
///
/// Of 100 rounds with one draft each 70 accept it:
///
/// ```
/// use specplan::{acceptance::counted::Tests, units::Probability};
/// let tests = Tests { accepted: 70, rejected: 30 };
/// assert_eq!(tests.alpha().map(Probability::get), Some(0.7));
/// assert!((tests.std_error().unwrap() - (0.21_f64 / 100.0).sqrt()).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Drafts accepted.
    pub accepted: u64,
    /// Rounds that rejected a draft.
    pub rejected: u64,
}

/// How sure an interval is.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

/// A number that is no confidence.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a confidence lies between 0 and 1, such as 0.95, not {0}")]
pub struct NotAConfidence(pub f64);

impl Confidence {
    /// 95 %.
    pub const USUAL: Self = Self(0.95);

    /// A confidence.
    ///
    /// # Errors
    ///
    /// [`NotAConfidence`] unless it lies between 0 and 1, both left out.
    pub fn new(level: f64) -> Result<Self, NotAConfidence> {
        if level > 0.0 && level < 1.0 { Ok(Self(level)) } else { Err(NotAConfidence(level)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Standard deviations on each side of a normal law: 1.96 at 95 %.
    #[must_use]
    pub fn deviations(self) -> f64 {
        Normal::standard().inverse_cdf(f64::midpoint(1.0, self.0))
    }
}

impl Tests {
    /// The tests of rounds of whatever length: drafted, accepted, and how many there were. Rounds without a draft test nothing.
    ///
    /// # Examples
    ///
    /// Ten rounds accept all four drafts, seven the first of four: 47 pass, 7 fail.
    ///
    /// ```
    /// use specplan::acceptance::counted::Tests;
    /// assert_eq!(Tests::of_rounds([(4, 4, 10), (4, 1, 7), (0, 0, 6)]), Tests { accepted: 47, rejected: 7 });
    /// ```
    #[must_use]
    pub fn of_rounds(rounds: impl IntoIterator<Item = (u64, u64, u64)>) -> Self {
        rounds.into_iter().fold(Self::default(), |sum, (drafted, accepted, count)| Self {
            accepted: sum.accepted + accepted * count,
            rejected: sum.rejected + if accepted < drafted { count } else { 0 },
        })
    }

    /// How many there were.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.accepted + self.rejected
    }

    /// Alpha of maximum likelihood: accepted over tests; none without a test.
    #[must_use]
    pub fn alpha(&self) -> Option<Probability> {
        (self.all() > 0).then(|| Probability::nearest(self.accepted as f64 / self.all() as f64))
    }

    /// Its standard error `sqrt(alpha (1 - alpha) / tests)`, if tests are independent and alike.
    #[must_use]
    pub fn std_error(&self) -> Option<f64> {
        let alpha = self.alpha()?.get();
        Some((alpha * (1.0 - alpha) / self.all() as f64).sqrt())
    }

    /// Wald's interval, cut at 0 and 1. It has no width at alpha = 0 or 1: [`Self::wilson`] keeps one.
    #[must_use]
    pub fn wald(&self, confidence: Confidence) -> Option<(f64, f64)> {
        let (alpha, reach) = (self.alpha()?.get(), confidence.deviations() * self.std_error()?);
        Some(((alpha - reach).max(0.0), (alpha + reach).min(1.0)))
    }

    /// Wilson's score interval.
    #[must_use]
    pub fn wilson(&self, confidence: Confidence) -> Option<(f64, f64)> {
        Some(wilson_at(self.alpha()?.get(), self.all() as f64, confidence.deviations()))
    }

    /// The law of alpha after these tests, by a Beta(a, b) before them: Beta(a + accepted, b + rejected).
    ///
    /// # Errors
    ///
    /// [`NotABeta`] for a prior without a law.
    pub fn posterior(&self, prior: (f64, f64)) -> Result<Beta, NotABeta> {
        let Self { accepted, rejected } = self;
        Beta::new(prior.0, prior.1)?;
        Beta::new(prior.0 + *accepted as f64, prior.1 + *rejected as f64)
    }
}

/// The interval of a Beta law that leaves as much out on both sides.
///
/// # Examples
///
/// Beta(1, 1) is even over 0 to 1:
///
/// ```
/// use specplan::{acceptance::counted::{Confidence, equal_tailed}, domain::beta::Beta};
/// let (low, high) = equal_tailed(&Beta::new(1.0, 1.0)?, Confidence::USUAL);
/// assert!((low - 0.025).abs() < 1e-9 && (high - 0.975).abs() < 1e-9);
/// # Ok::<(), specplan::domain::beta::NotABeta>(())
/// ```
#[must_use]
pub fn equal_tailed(law: &Beta, confidence: Confidence) -> (f64, f64) {
    let tail = f64::midpoint(1.0, -confidence.get());
    match BetaLaw::new(law.a(), law.b()) {
        Ok(of) => (of.inverse_cdf(tail), of.inverse_cdf(1.0 - tail)),
        // A law that was checked has quantiles.
        Err(_) => (0.0, 1.0),
    }
}

/// Tests of a round of k drafts in the mean: `1 + alpha + … + alpha^(k-1)`.
#[must_use]
pub fn tests_per_round(alpha: Probability, k: u64) -> f64 {
    if k == 0 { 0.0 } else { expected_tokens(alpha, k - 1) }
}

/// Rounds of k drafts after which alpha is known to plus or minus `half_width`.
///
/// # Formula
///
/// ```text
/// n = (z / half_width)^2 alpha (1 - alpha) / (1 + alpha + … + alpha^(k-1))
/// ```
///
/// The Fisher information of a round is its mean number of tests over alpha (1 - alpha).
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::counted::{Confidence, rounds_for_precision}, units::Probability};
/// let rounds = rounds_for_precision(Probability::new(0.8)?, 4, 0.01, Confidence::USUAL);
/// assert_eq!(rounds.ceil(), 2083.0);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn rounds_for_precision(alpha: Probability, k: u64, half_width: f64, confidence: Confidence) -> f64 {
    let a = alpha.get();
    (confidence.deviations() / half_width).powi(2) * a * (1.0 - a) / tests_per_round(alpha, k)
}

/// What rounds of one draft length tell of another: standard errors of alpha and of tokens per pass (delta method), if tests
/// are independent and alike.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::counted::carried_error, units::Probability};
/// let (alpha, tokens) = carried_error(Probability::new(0.8)?, 4, 500, 4);
/// assert!((alpha - 0.010_411_6).abs() < 1e-6 && (tokens - 0.068_383_3).abs() < 1e-6);
/// # Ok::<(), specplan::units::NotAProbability>(())
/// ```
#[must_use]
pub fn carried_error(alpha: Probability, seen_k: u64, rounds: u64, k: u64) -> (f64, f64) {
    let a = alpha.get();
    let error = (a * (1.0 - a) / (rounds as f64 * tests_per_round(alpha, seen_k))).sqrt();
    (error, expected_tokens_derivative(alpha, k) * error)
}
