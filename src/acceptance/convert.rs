//! Between the definitions of acceptance that are in use.
//!
//! Five numbers are called acceptance: a mean length with or without the bonus token, a share of drafts, a share of verified
//! tokens, rates by position of all rounds or of those tested. A share and a mean say the same once k is known; rates by
//! position say more than both; alpha is one number for all positions, and stands for them only if they pass alike.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::invert::{NoAlpha, alpha_of_mean_length};
use crate::domain::acceptance::{Curve, NotACurve};
use crate::units::Probability;

/// A figure as it was printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// Tokens per pass, bonus included: vLLM from 0.9.0, SGLang, TensorRT-LLM, llama.cpp.
    MeanLength(f64),
    /// Accepted drafts of a round: vLLM 0.8.5.
    WithoutBonus(f64),
    /// Accepted over drafted.
    Rate(f64),
    /// Of all rounds, those that accept at least the first, second, … draft.
    Cumulative(Vec<Probability>),
    /// Of drafts tested at each position, those that pass.
    Conditional(Vec<Probability>),
    /// Every test passes with this chance.
    Alpha(Probability),
    /// SGLang's accept rate of a version, with its number of draft tokens: verified tokens, the root included.
    Sglang {
        /// The rate.
        rate: f64,
        /// Verified tokens of a round.
        width: u64,
        /// Up to 0.5.10, where it is length over width; later it is accepted over drafted.
        with_bonus: bool,
    },
    /// vLLM's V0 system efficiency: emitted over the most there could be.
    Efficiency(f64),
}

/// Why a figure has no other forms.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoConversion {
    /// k is needed.
    #[error("how many tokens each round drafts is missing")]
    NoLength,
    /// The figure is no share.
    #[error("a share of drafts lies between 0 and 1, not {0}")]
    NotAShare(f64),
    /// No drafts of this length bring it.
    #[error(transparent)]
    Impossible(#[from] NoAlpha),
    /// No chances by position.
    #[error(transparent)]
    NotACurve(#[from] NotACurve),
    /// Fewer drafts than levels.
    #[error("{drafts} drafts do not fill {k} levels")]
    TooFew {
        /// Drafts of a round.
        drafts: u64,
        /// Levels asked for.
        k: u64,
    },
    /// A verification of one token drafts nothing.
    #[error("{0} verified tokens leave no draft: the root is one of them")]
    NoDrafts(u64),
}

/// The same acceptance in every definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// Draft length: levels, of a tree.
    pub k: u64,
    /// Drafts of a round: k, of a tree more.
    pub drafts: u64,
    /// Tokens per pass, bonus included.
    pub tokens: f64,
    /// Accepted over drafted.
    pub rate: f64,
    /// Emitted over verified tokens: vLLM's V0 efficiency, SGLang's rate up to 0.5.10.
    pub per_verified: f64,
    /// The alpha that gives the mean.
    pub alpha: Probability,
    /// Chances by position: as given, or those of alpha.
    pub law: Accepted,
    /// Whether they were given.
    pub by_position: bool,
    /// Whether alpha was.
    pub is_alpha: bool,
    /// Whether verified tokens were taken for a chain, since no levels were given.
    pub is_chain_assumed: bool,
}

/// A figure in every definition; k is needed but for rates by position and SGLang's rate, of which it is the width less the
/// root.
///
/// # Errors
///
/// [`NoConversion`] where k is missing or the figure cannot be.
///
/// # Examples
///
/// 2.55 tokens at k = 3: 1.55 of 3 drafts, 2.55 of 4 verified tokens. SGLang 0.5.9 prints the latter, of 4 draft tokens:
///
/// ```
/// use specplan::acceptance::convert::{Given, convert};
/// let of = convert(&Given::MeanLength(2.55), Some(3))?;
/// assert!((of.rate - 1.55 / 3.0).abs() < 1e-12 && (of.per_verified - 0.6375).abs() < 1e-12);
/// let same = convert(&Given::Sglang { rate: 0.6375, width: 4, with_bonus: true }, None)?;
/// assert!((same.tokens - 2.55).abs() < 1e-12 && same.k == 3);
/// # Ok::<(), specplan::acceptance::convert::NoConversion>(())
/// ```
pub fn convert(given: &Given, k: Option<u64>) -> Result<Converted, NoConversion> {
    let share = |rate: f64| if (0.0..=1.0).contains(&rate) { Ok(rate) } else { Err(NoConversion::NotAShare(rate)) };
    let known = || k.filter(|k| *k > 0).ok_or(NoConversion::NoLength);
    match given {
        Given::MeanLength(tokens) => of_mean(*tokens, known()?, known()?),
        Given::WithoutBonus(accepted) => of_mean(1.0 + accepted, known()?, known()?),
        Given::Rate(rate) => of_mean(1.0 + share(*rate)? * known()? as f64, known()?, known()?),
        Given::Efficiency(rate) => of_mean(share(*rate)? * (known()? as f64 + 1.0), known()?, known()?),
        Given::Alpha(alpha) => {
            let of = of_law(Accepted::iid(*alpha, known()?), false)?;
            Ok(Converted { alpha: *alpha, is_alpha: true, ..of })
        }
        Given::Cumulative(shares) => of_law(along(&Curve::cumulative(shares)?), true),
        Given::Conditional(chances) => of_law(along(&Curve::conditional(chances)?), true),
        Given::Sglang { rate, width, with_bonus } => {
            let drafts = width.checked_sub(1).filter(|drafts| *drafts > 0).ok_or(NoConversion::NoDrafts(*width))?;
            if let Some(k) = k.filter(|k| *k > drafts) {
                return Err(NoConversion::TooFew { drafts, k });
            }
            let rate = share(*rate)?;
            let tokens = if *with_bonus { rate * *width as f64 } else { 1.0 + rate * drafts as f64 };
            let of = of_mean(tokens, k.unwrap_or(drafts), drafts)?;
            Ok(Converted { is_chain_assumed: k.is_none(), ..of })
        }
    }
}

fn along(curve: &Curve) -> Accepted {
    Accepted::from_survival(curve.survival().to_vec())
}

fn of_mean(tokens: f64, k: u64, drafts: u64) -> Result<Converted, NoConversion> {
    let alpha = alpha_of_mean_length(tokens, k)?;
    Ok(of(tokens, k, drafts, alpha, Accepted::iid(alpha, k), false))
}

fn of_law(law: Accepted, by_position: bool) -> Result<Converted, NoConversion> {
    let (tokens, k) = (law.mean_tokens(), law.survival().len() as u64);
    let alpha = alpha_of_mean_length(tokens, k)?;
    Ok(of(tokens, k, k, alpha, law, by_position))
}

fn of(tokens: f64, k: u64, drafts: u64, alpha: Probability, law: Accepted, by_position: bool) -> Converted {
    let rate = (tokens - 1.0) / drafts as f64;
    let per_verified = tokens / (drafts as f64 + 1.0);
    Converted {
        k,
        drafts,
        tokens,
        rate,
        per_verified,
        alpha,
        law,
        by_position,
        is_alpha: false,
        is_chain_assumed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One scenario in every definition: 700, 500 and 350 of 1000 rounds accept positions 1 to 3.
    #[test]
    fn every_definition_leads_to_every_other() {
        let p = |values: [f64; 3]| values.map(|value| Probability::new(value).unwrap()).to_vec();
        let given = [
            Given::MeanLength(2.55),
            Given::WithoutBonus(1.55),
            Given::Rate(1.55 / 3.0),
            Given::Efficiency(0.6375),
            Given::Cumulative(p([0.7, 0.5, 0.35])),
            Given::Conditional(p([0.7, 5.0 / 7.0, 0.7])),
            Given::Sglang { rate: 0.6375, width: 4, with_bonus: true },
            Given::Sglang { rate: 1.55 / 3.0, width: 4, with_bonus: false },
        ];
        for given in given {
            let of = convert(&given, Some(3)).unwrap();
            assert!((of.tokens - 2.55).abs() < 1e-12 && (of.rate - 1.55 / 3.0).abs() < 1e-12, "{given:?}: {of:?}");
            assert!((of.per_verified - 0.6375).abs() < 1e-12, "{given:?}");
        }
        // A tree of 8 nodes, 5 deep: 1.8 of 7 drafts are accepted.
        let tree = convert(&Given::Sglang { rate: 1.8 / 7.0, width: 8, with_bonus: false }, Some(5)).unwrap();
        assert!((tree.tokens - 2.8).abs() < 1e-12 && (tree.k, tree.drafts) == (5, 7));
    }

    #[test]
    fn what_is_missing_or_cannot_be_is_refused() {
        assert_eq!(convert(&Given::MeanLength(2.5), None), Err(NoConversion::NoLength));
        assert_eq!(convert(&Given::Rate(51.67), Some(3)), Err(NoConversion::NotAShare(51.67)));
        assert!(matches!(convert(&Given::MeanLength(4.5), Some(3)), Err(NoConversion::Impossible(_))));
        let one = Given::Sglang { rate: 0.5, width: 1, with_bonus: false };
        assert_eq!(convert(&one, None), Err(NoConversion::NoDrafts(1)));
        let few = Given::Sglang { rate: 0.5, width: 4, with_bonus: false };
        assert_eq!(convert(&few, Some(4)), Err(NoConversion::TooFew { drafts: 3, k: 4 }));
    }
}
