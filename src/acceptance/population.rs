//! Sequences of several kinds, such as the workloads of a service.

use crate::acceptance::accepted::Accepted;

/// Sequences of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its share of sequences, or of tokens; any scale.
    pub weight: f64,
    /// How its rounds go.
    pub law: Accepted,
}

/// The law of a round picked among equally many rounds of each kind's sequences, weights being shares of rounds.
/// Right where every sequence runs a fixed number of rounds.
///
/// # Formula
///
/// ```text
/// S_i = sum w S_i / sum w
/// ```
///
/// # Examples
///
/// alpha 0.9 and 0.5 half and half, k = 4: (4.0951 + 1.9375) / 2.
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, population::{Kind, by_rounds}};
/// use specplan::units::Probability;
/// let kinds = [0.9, 0.5].map(|alpha| Kind { weight: 1.0, law: Accepted::iid(Probability::new(alpha).unwrap(), 4) });
/// assert!((by_rounds(&kinds).mean_tokens() - 3.0163).abs() < 1e-12);
/// ```
#[must_use]
pub fn by_rounds(kinds: &[Kind]) -> Accepted {
    mixed(kinds.iter().map(|kind| (kind.weight, &kind.law)))
}

/// The law of a round of a service, weights being shares of tokens: sequences of a low acceptance take more rounds
/// for the same tokens.
///
/// # Formula
///
/// ```text
/// S_i = sum w S_i / E[T] / (sum w / E[T])          E[T] = sum w / sum (w / E[T])     (harmonic)
/// ```
///
/// # Examples
///
/// alpha 0.9 and 0.5 half and half, k = 4: 2 / (1/4.0951 + 1/1.9375).
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, population::{Kind, by_tokens}};
/// use specplan::units::Probability;
/// let kinds = [0.9, 0.5].map(|alpha| Kind { weight: 0.5, law: Accepted::iid(Probability::new(alpha).unwrap(), 4) });
/// assert!((by_tokens(&kinds).mean_tokens() - 2.630459917780062).abs() < 1e-12);
/// ```
#[must_use]
pub fn by_tokens(kinds: &[Kind]) -> Accepted {
    mixed(kinds.iter().map(|kind| (kind.weight / kind.law.mean_tokens(), &kind.law)))
}

/// Laws of equal length mixed by weights of any scale.
pub(super) fn mixed<'a>(parts: impl Iterator<Item = (f64, &'a Accepted)> + Clone) -> Accepted {
    let total: f64 = parts.clone().map(|(weight, _)| weight).sum();
    let length = parts.clone().map(|(_, law)| law.survival().len()).min().unwrap_or(0);
    let mut mass = vec![0.0; length + 1];
    let mut survival = vec![0.0; length];
    for (weight, law) in parts {
        let share = weight / total;
        mass.iter_mut().zip(law.pmf()).for_each(|(to, chance)| *to += share * chance);
        survival.iter_mut().zip(law.survival()).for_each(|(to, chance)| *to += share * chance);
    }
    Accepted::of(survival, mass)
}
