//! The description of acceptance that a scenario carries; `crate::acceptance` computes with it.

use crate::domain::axis::Axis;
use crate::units::Probability;
use crate::words::AcceptanceKind;

/// How drafts are accepted, and where that is known from.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// The model.
    pub model: AcceptanceModel,
    /// Of drafters that look drafts up: the share of sequences that propose any in a round.
    pub proposing_share: Option<Probability>,
    /// Where the figures come from, as the scenario's author says.
    pub provenance: Provenance,
}

/// The model of acceptance.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptanceModel {
    /// Every draft is accepted with the same chance alpha, given all before it were. The values are
    /// an axis of the sweep.
    Iid {
        /// Per-test acceptance.
        alpha: Axis<Probability>,
    },
    /// A chance for each position. Several curves are an axis of the sweep.
    PerPosition(Vec<Curve>),
    /// Mean tokens per pass, measured at one k.
    MeanLength(Length),
    /// Accepted over drafted, measured at one k.
    Rate {
        /// The draft length it was measured at.
        k: u64,
        /// Accepted drafts over drafts.
        value: Probability,
    },
    /// Mean tokens per pass, measured at several k.
    ByK(Vec<Length>),
}

/// Chances that the first i drafts are all accepted, for i = 1, 2, …
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<f64>);

/// What is no such curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACurve {
    /// No position.
    #[error("at least one position is due")]
    Empty,
    /// More survive a position than the one before it.
    #[error("position {0} is accepted more often than the one before it: cumulative shares only fall")]
    Rising(usize),
}

impl Curve {
    /// From cumulative shares: of all rounds, those that accept at least i drafts.
    ///
    /// # Errors
    ///
    /// [`NotACurve`] for no position, or shares that rise.
    pub fn cumulative(shares: &[Probability]) -> Result<Self, NotACurve> {
        if shares.is_empty() {
            return Err(NotACurve::Empty);
        }
        match shares.windows(2).position(|pair| pair[1] > pair[0]) {
            Some(at) => Err(NotACurve::Rising(at + 2)),
            None => Ok(Self(shares.iter().map(|share| share.get()).collect())),
        }
    }

    /// From conditional chances: of the rounds that accept i - 1 drafts, those that accept the i-th.
    ///
    /// # Errors
    ///
    /// [`NotACurve`] for no position.
    pub fn conditional(chances: &[Probability]) -> Result<Self, NotACurve> {
        if chances.is_empty() {
            return Err(NotACurve::Empty);
        }
        let survive = |left: &mut f64, chance: &Probability| {
            *left *= chance.get();
            Some(*left)
        };
        Ok(Self(chances.iter().scan(1.0, survive).collect()))
    }

    /// Cumulative shares, first position first.
    #[must_use]
    pub fn survival(&self) -> &[f64] {
        &self.0
    }
}

/// Mean tokens per pass at one draft length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    k: u64,
    tokens: f64,
}

/// What a round of k drafts cannot yield.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{tokens} tokens per pass at k = {k}: a round of k drafts yields 1 to k + 1, the bonus token included, and k is at least 1"
)]
pub struct NotALength {
    /// Draft length.
    pub k: u64,
    /// Tokens per pass.
    pub tokens: f64,
}

impl Length {
    /// Mean tokens of a round of k drafts, bonus included.
    ///
    /// # Errors
    ///
    /// [`NotALength`] unless `1 <= tokens <= k + 1` and `k >= 1`.
    pub fn new(k: u64, tokens: f64) -> Result<Self, NotALength> {
        let possible = k >= 1 && (1.0..=k as f64 + 1.0).contains(&tokens);
        if possible { Ok(Self { k, tokens }) } else { Err(NotALength { k, tokens }) }
    }

    /// Draft length.
    #[must_use]
    pub const fn k(&self) -> u64 {
        self.k
    }

    /// Tokens per pass, bonus included.
    #[must_use]
    pub const fn tokens(&self) -> f64 {
        self.tokens
    }
}

impl AcceptanceModel {
    /// The word of the scenario format.
    #[must_use]
    pub const fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
            Self::PerPosition(_) => AcceptanceKind::PerPosition,
            Self::MeanLength(_) => AcceptanceKind::MeanLength,
            Self::Rate { .. } => AcceptanceKind::Rate,
            Self::ByK(_) => AcceptanceKind::ByK,
        }
    }
}

/// Where acceptance figures were measured. Outputs repeat it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The prompts.
    pub dataset: Option<String>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The engine and its version.
    pub engine: Option<String>,
    /// Anything else.
    pub note: Option<String>,
}

impl Provenance {
    /// One line for a report, or `None` if nothing is known.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let temperature = self.temperature.map(|value| format!("temperature {value}"));
        let parts: Vec<&str> =
            [&self.dataset, &temperature, &self.engine, &self.note].into_iter().flatten().map(String::as_str).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
