//! Which model of acceptance recorded rounds bear out.
//!
//! Two questions. Do all positions pass alike, so that one alpha may stand for them: a likelihood-ratio test, and what
//! that alpha would say of other draft lengths. And which of several models tells best what rounds it has not seen do:
//! held-out likelihood, with whole requests held out, since rounds of one request hang together.

pub mod choose;
pub mod law;

mod likelihood;
mod simplex;

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::acceptance::chain::expected_tokens;
use crate::acceptance::process::Process;
use crate::domain::acceptance::Curve;
use crate::units::Probability;

/// Whether one alpha for all positions is tenable.
///
/// # Examples
///
/// Two positions that pass 80 % and 50 % of 100 and 80 tests, 120 of 180 together; by hand
/// `G = 2 [80 ln(0.8/0.667) + 20 ln(0.2/0.333) + 40 ln(0.5/0.667) + 40 ln(0.5/0.333)] = 18.16`, one degree of freedom:
///
/// ```
/// use specplan::acceptance::fit::one_alpha;
/// let test = one_alpha(&[(100, 80), (80, 40)]).unwrap();
/// assert!((test.alpha.get() - 120.0 / 180.0).abs() < 1e-12);
/// assert!((test.statistic - 18.16).abs() < 0.01 && test.degrees == 1 && test.p_value < 1e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OneAlpha {
    /// Accepted over tested drafts: the alpha of maximum likelihood.
    pub alpha: Probability,
    /// `G = 2 sum observed ln(observed / expected)`.
    pub statistic: f64,
    /// Positions less one.
    pub degrees: u64,
    /// The chance of a larger statistic if all positions passed alike and rounds were independent. Rounds of one request
    /// are not: it is too small where acceptance differs between requests.
    pub p_value: f64,
    /// The fewest tests that are expected to pass, or to fail, at a position (all of them, where alpha is 0 or 1): below 5 the
    /// p-value means little.
    pub fewest: f64,
}

/// Tests whether all positions pass alike; `tests` are drafts tested and passed by position. None for fewer than two
/// positions with tests.
#[must_use]
pub fn one_alpha(tests: &[(u64, u64)]) -> Option<OneAlpha> {
    let reached: Vec<(f64, f64)> =
        tests.iter().filter(|(tested, _)| *tested > 0).map(|&(n, s)| (n as f64, s as f64)).collect();
    let (tested, passed) = reached.iter().fold((0.0, 0.0), |(n, s), (tested, passed)| (n + tested, s + passed));
    let degrees = (reached.len() as u64).checked_sub(1).filter(|degrees| *degrees > 0)?;
    let alpha = passed / tested;
    let term = |observed: f64, expected: f64| if observed > 0.0 { observed * (observed / expected).ln() } else { 0.0 };
    let of = |(n, s): &(f64, f64)| term(*s, n * alpha) + term(n - s, n * (1.0 - alpha));
    let statistic = (2.0 * reached.iter().map(of).sum::<f64>()).max(0.0);
    let p_value = ChiSquared::new(degrees as f64).ok()?.sf(statistic);
    let certain = alpha <= 0.0 || alpha >= 1.0;
    let fewest = reached
        .iter()
        .map(|(n, _)| if certain { *n } else { n * alpha.min(1.0 - alpha) })
        .fold(f64::INFINITY, f64::min);
    Some(OneAlpha { alpha: Probability::nearest(alpha), statistic, degrees, p_value, fewest })
}

/// What one alpha would say of a draft length, over what the positions themselves say, less 1.
#[must_use]
pub fn error_of(alpha: Probability, curve: &Curve, k: usize) -> f64 {
    let tokens = 1.0 + curve.survival().iter().take(k).sum::<f64>();
    expected_tokens(alpha, k as u64) / tokens - 1.0
}

/// A model fitted to rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Which.
    pub model: FittedModel,
    /// Fitted to all rounds.
    pub process: Process,
    /// Mean log-likelihood, in nats, of a round of requests that the fit had not seen.
    pub held_out: f64,
}

/// The models that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FittedModel {
    /// One alpha.
    Iid,
    /// A chance for each position.
    PerPosition,
    /// Each round draws its alpha from a Beta law.
    BetaByRound,
    /// Each request keeps an alpha from a Beta law.
    BetaBySequence,
    /// Easy and hard spans.
    Markov,
}

impl FittedModel {
    /// Every model, the simplest first.
    pub const ALL: [Self; 5] = [Self::Iid, Self::PerPosition, Self::BetaByRound, Self::BetaBySequence, Self::Markov];

    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Iid => "iid",
            Self::PerPosition => "per_position",
            Self::BetaByRound => "beta by round",
            Self::BetaBySequence => "beta by sequence",
            Self::Markov => "markov",
        }
    }
}
