//! Acceptance models, one value of their axes at a time.

use crate::acceptance::chain;
use crate::acceptance::invert::{alpha_of_mean_length, alpha_of_rate};
use crate::domain::acceptance::{AcceptanceModel, Curve, Length};
use crate::units::Probability;
use crate::words::AcceptanceKind;

/// One acceptance process: a model at one value of its axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Independent tests that all pass with chance alpha.
    Iid {
        /// Per-test acceptance.
        alpha: Probability,
    },
    /// Independent tests with the alpha that gives what was measured at one k.
    Fitted {
        /// How it was measured.
        kind: AcceptanceKind,
        /// What was measured.
        at: Length,
        /// The alpha that gives it.
        alpha: Probability,
    },
    /// A chance for each position.
    Positions(Curve),
    /// Means at several k, in rising order.
    Lengths(Vec<Length>),
}

/// How a value at some k is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Measured there, or stated for every k.
    Stated,
    /// Between two measured k.
    Interpolated,
    /// From another k, by a law that may not hold.
    Extrapolated,
}

impl Process {
    /// Expected tokens per target pass, bonus included, at draft length k.
    ///
    /// # Formula
    ///
    /// ```text
    /// iid           1 + alpha + … + alpha^k
    /// mean_length   the stated mean at its k, elsewhere iid with the alpha that gives it
    /// rate          1 + k rate at its k, elsewhere the same
    /// per_position  1 + S_1 + … + S_k; beyond the last position each further one passes like the last did
    /// by_k          the stated means, straight lines between; outside iid with the alpha of the nearest k
    /// ```
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::{acceptance::model::Process, units::Probability};
    /// let process = Process::Iid { alpha: Probability::new(0.7)? };
    /// assert!((process.tokens_per_pass(4) - 2.7731).abs() < 1e-12);
    /// # Ok::<(), specplan::units::NotAProbability>(())
    /// ```
    #[must_use]
    pub fn tokens_per_pass(&self, k: u64) -> f64 {
        match self {
            Self::Iid { alpha } => chain::expected_tokens(*alpha, k),
            Self::Fitted { at, .. } if at.k() == k => at.tokens(),
            Self::Fitted { alpha, .. } => chain::expected_tokens(*alpha, k),
            Self::Positions(curve) => along(curve, k),
            Self::Lengths(lengths) => between(lengths, k),
        }
    }

    /// Whether it describes sequences that propose, rather than what was measured over all of them.
    #[must_use]
    pub const fn is_of_proposals(&self) -> bool {
        matches!(self, Self::Iid { .. } | Self::Positions(_))
    }

    /// The same over all sequences, of which a share proposes: `1 + share (tokens - 1)` of a model of
    /// proposals; what was measured counts all of them already.
    #[must_use]
    pub fn tokens_over_all(&self, k: u64, proposing_share: Option<Probability>) -> f64 {
        let tokens = self.tokens_per_pass(k);
        match proposing_share.filter(|_| self.is_of_proposals()) {
            Some(share) => 1.0 + share.get() * (tokens - 1.0),
            None => tokens,
        }
    }

    /// How the value at k is known. At k = 0 nothing is drafted, and there is nothing to know.
    #[must_use]
    pub fn known(&self, k: u64) -> Known {
        let stated = match self {
            Self::Iid { .. } => true,
            Self::Fitted { at, .. } => at.k() == k,
            Self::Positions(curve) => k <= curve.survival().len() as u64,
            Self::Lengths(lengths) => lengths.iter().any(|length| length.k() == k),
        };
        if stated || k == 0 {
            return Known::Stated;
        }
        match self {
            Self::Lengths(lengths) if is_inside(lengths, k) => Known::Interpolated,
            _ => Known::Extrapolated,
        }
    }

    /// The word of the scenario format.
    #[must_use]
    pub const fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
            Self::Fitted { kind, .. } => *kind,
            Self::Positions(_) => AcceptanceKind::PerPosition,
            Self::Lengths(_) => AcceptanceKind::ByK,
        }
    }

    /// The per-test acceptance, where there is a single one.
    #[must_use]
    pub const fn alpha(&self) -> Option<f64> {
        match self {
            Self::Iid { alpha } | Self::Fitted { alpha, .. } => Some(alpha.get()),
            Self::Positions(_) | Self::Lengths(_) => None,
        }
    }
}

/// `1 + S_1 + … + S_k`, continued with the last conditional chance.
fn along(curve: &Curve, k: u64) -> f64 {
    let survival = curve.survival();
    let known = survival.len().min(usize::try_from(k).unwrap_or(usize::MAX));
    let stated = 1.0 + survival[..known].iter().sum::<f64>();
    let beyond = k - known as u64;
    let last = survival.last().copied().unwrap_or(0.0);
    let before = if survival.len() > 1 { survival[survival.len() - 2] } else { 1.0 };
    match Probability::new(if before > 0.0 { last / before } else { 0.0 }) {
        // last x (r + r^2 + …): a chain's expected tokens without its first.
        Ok(ratio) if beyond > 0 => stated + last * (chain::expected_tokens(ratio, beyond) - 1.0),
        _ => stated,
    }
}

fn is_inside(lengths: &[Length], k: u64) -> bool {
    lengths.first().is_some_and(|first| first.k() < k) && lengths.last().is_some_and(|last| last.k() > k)
}

/// A mean at k from means at other k.
fn between(lengths: &[Length], k: u64) -> f64 {
    let above = lengths.partition_point(|length| length.k() < k);
    let nearest = match (above.checked_sub(1).and_then(|at| lengths.get(at)), lengths.get(above)) {
        (_, Some(exact)) if exact.k() == k => return exact.tokens(),
        (Some(low), Some(high)) => {
            let share = (k - low.k()) as f64 / (high.k() - low.k()) as f64;
            return low.tokens() + share * (high.tokens() - low.tokens());
        }
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return 1.0,
    };
    // A mean that was checked has an alpha.
    alpha_of_mean_length(nearest.tokens(), nearest.k()).map_or(1.0, |alpha| chain::expected_tokens(alpha, k))
}

/// How many processes a model stands for: the length of its axis.
#[must_use]
pub fn processes(model: &AcceptanceModel) -> u64 {
    match model {
        AcceptanceModel::Iid { alpha } => alpha.len(),
        AcceptanceModel::PerPosition(curves) => curves.len() as u64,
        AcceptanceModel::MeanLength(_) | AcceptanceModel::Rate { .. } | AcceptanceModel::ByK(_) => 1,
    }
}

/// The process at `index`, below [`processes`].
#[must_use]
pub fn process(model: &AcceptanceModel, index: u64) -> Process {
    match model {
        AcceptanceModel::Iid { alpha } => Process::Iid { alpha: alpha.get(index) },
        AcceptanceModel::PerPosition(curves) => Process::Positions(curves[index as usize].clone()),
        AcceptanceModel::MeanLength(at) => fitted(AcceptanceKind::MeanLength, *at),
        AcceptanceModel::Rate { k, value } => {
            let alpha = alpha_of_rate(*value, *k).unwrap_or(Probability::ZERO);
            match Length::new(*k, 1.0 + *k as f64 * value.get()) {
                Ok(at) => Process::Fitted { kind: AcceptanceKind::Rate, at, alpha },
                Err(_) => Process::Iid { alpha },
            }
        }
        AcceptanceModel::ByK(lengths) => Process::Lengths(lengths.clone()),
    }
}

/// Independent tests with the alpha of a mean; a mean that was checked has one.
fn fitted(kind: AcceptanceKind, at: Length) -> Process {
    let alpha = alpha_of_mean_length(at.tokens(), at.k()).unwrap_or(Probability::ZERO);
    Process::Fitted { kind, at, alpha }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chances(values: &[f64]) -> Vec<Probability> {
        values.iter().map(|value| Probability::new(*value).unwrap()).collect()
    }

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    /// By hand: 1 + 0.8 + 0.6, then 0.6 x 0.75 and 0.6 x 0.75^2.
    #[test]
    fn a_curve_goes_on_as_it_ended() {
        let process = Process::Positions(Curve::cumulative(&chances(&[0.8, 0.6])).unwrap());
        near(process.tokens_per_pass(1), 1.8);
        near(process.tokens_per_pass(2), 2.4);
        near(process.tokens_per_pass(4), 2.4 + 0.45 + 0.3375);
        assert_eq!([1, 2, 3].map(|k| process.known(k)), [Known::Stated, Known::Stated, Known::Extrapolated]);
        let conditional = Process::Positions(Curve::conditional(&chances(&[0.8, 0.75])).unwrap());
        near(conditional.tokens_per_pass(4), process.tokens_per_pass(4));
        let dead = Process::Positions(Curve::cumulative(&chances(&[0.5, 0.0])).unwrap());
        near(dead.tokens_per_pass(9), 1.5);
    }

    /// By hand: k = 2 lies halfway between 1.66 and 2.25; k = 1 with 1.66 is alpha 0.66 at k = 0 and below.
    #[test]
    fn means_at_several_k_are_kept_and_joined() {
        let lengths = [(1, 1.66), (3, 2.25)].map(|(k, tokens)| Length::new(k, tokens).unwrap());
        let process = Process::Lengths(lengths.to_vec());
        near(process.tokens_per_pass(1), 1.66);
        near(process.tokens_per_pass(2), 1.955);
        near(process.tokens_per_pass(3), 2.25);
        near(process.tokens_per_pass(0), 1.0);
        let five = process.tokens_per_pass(5);
        assert!(five > 2.25 && five < 2.25 + 2.0 * 0.59, "{five}");
        use Known::{Extrapolated, Interpolated, Stated};
        let known = [Stated, Stated, Interpolated, Stated, Extrapolated];
        assert_eq!([0, 1, 2, 3, 4].map(|k| process.known(k)), known);
    }

    /// By hand: alpha 0.5 gives 1.75 at k = 2 and 1.875 at k = 3; a rate of 0.375 at k = 2 is the same.
    #[test]
    fn one_mean_or_rate_holds_at_its_k_and_is_carried_elsewhere() {
        let mean = process(&AcceptanceModel::MeanLength(Length::new(2, 1.75).unwrap()), 0);
        let rate = process(&AcceptanceModel::Rate { k: 2, value: Probability::new(0.375).unwrap() }, 0);
        for process in [mean, rate] {
            assert_eq!(process.tokens_per_pass(2).to_bits(), 1.75_f64.to_bits());
            near(process.tokens_per_pass(3), 1.875);
            near(process.alpha().unwrap(), 0.5);
            assert_eq!([2, 3].map(|k| process.known(k)), [Known::Stated, Known::Extrapolated]);
        }
    }
}
