//! The accept/reject rule over explicit laws: acceptance, residual, and the law of what comes out.
//!
//! A draft x is drawn from q and accepted with chance `min(1, p(x) / q(x))`; on rejection a token is
//! drawn from the residual `norm(max(0, p - q))`. What comes out then follows p exactly, whatever q is,
//! as long as the q in the test is the q that drafted.
//!
//! Sources: Leviathan et al. 2023 (arXiv 2211.17192), section 2.3 and appendix A.1; Chen et al. 2023
//! (arXiv 2302.01318), theorem 1.

use crate::domain::law::{Law, NotALaw, Pair, first_maximum};
use crate::units::Probability;

impl Pair {
    fn zip(&self) -> impl Iterator<Item = (f64, f64)> {
        self.p().chances().iter().copied().zip(self.q().chances().iter().copied())
    }

    /// The chance that a token is drafted and accepted: `min(p, q)`, of each token.
    pub fn overlap(&self) -> impl Iterator<Item = f64> {
        self.zip().map(|(p, q)| p.min(q))
    }

    /// The chance that a draft is accepted: `sum min(p, q) = 1 - TV(p, q)`.
    ///
    /// # Examples
    ///
    /// 0.2 + 0.5 + 0.2:
    ///
    /// ```
    /// use specplan::domain::law::{Law, Pair};
    /// let pair = Pair::new(Law::new(vec![0.2, 0.5, 0.3])?, Law::new(vec![0.3, 0.5, 0.2])?)?;
    /// assert!((pair.acceptance() - 0.9).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.overlap().sum()
    }

    /// The total variation distance `1/2 sum |p - q|`.
    #[must_use]
    pub fn total_variation(&self) -> f64 {
        0.5 * self.zip().map(|(p, q)| (p - q).abs()).sum::<f64>()
    }

    /// What a rejected draft is replaced from: `norm(max(0, p - q))`; none where p = q, since nothing is
    /// ever rejected.
    #[must_use]
    pub fn residual(&self) -> Option<Law> {
        let left: Vec<f64> = self.zip().map(|(p, q)| (p - q).max(0.0)).collect();
        Law::normalised(&left).ok()
    }

    /// The chance that two draws agree: `sum p q`, the acceptance of comparing with a sample of p. Exact
    /// too, and never above [`Self::acceptance`].
    #[must_use]
    pub fn match_chance(&self) -> f64 {
        self.zip().map(|(p, q)| p * q).sum()
    }

    /// The acceptance of a greedy drafter under a sampling target: p of the drafter's likeliest token.
    #[must_use]
    pub fn greedy_draft(&self) -> f64 {
        self.p().chances()[self.q().likeliest()]
    }

    /// The acceptance where both are greedy: 1 where they agree on the likeliest token, else 0.
    #[must_use]
    pub fn greedy_both(&self) -> f64 {
        if self.p().likeliest() == self.q().likeliest() { 1.0 } else { 0.0 }
    }
}

/// The chance that a draft passes its test: `min(1, p / q)`; where the tested q is 0, whether p has it.
pub(super) fn test_chance(p: f64, q: f64) -> f64 {
    if q > 0.0 { (p / q).min(1.0) } else { f64::from(u8::from(p > 0.0)) }
}

/// What a rejected draft is replaced from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The residual of p and the tested q, as the rule asks.
    Residual,
    /// The target's law again: a mistake, and what it costs.
    Target,
}

/// What comes out of the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The law of the emitted token.
    pub law: Vec<f64>,
    /// The chance that the draft was accepted.
    pub acceptance: f64,
    /// How far the law is from the target's.
    pub total_variation: f64,
}

/// A draft was rejected that nothing can replace: the tested law equals p, and another law drafted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a draft is rejected, and p equals the tested q: there is no residual to draw from")]
pub struct NoReplacement;

/// The law that comes out when x is drawn from `drafted_by` and tested against `tested.q()`.
///
/// # Formula
///
/// ```text
/// out(x) = d(x) a(x) + (1 - sum d a) r(x)     a(x) = min(1, p(x) / q(x))
/// ```
///
/// d: the law that drafted; r: the replacement. With d = q and the residual it is p.
///
/// # Errors
///
/// [`NoReplacement`] where a residual is needed and there is none.
pub fn output(tested: &Pair, drafted_by: &Law, replacement: Replacement) -> Result<Output, NoReplacement> {
    let kept: Vec<f64> =
        drafted_by.chances().iter().zip(tested.zip()).map(|(drafted, (p, q))| drafted * test_chance(p, q)).collect();
    let acceptance: f64 = kept.iter().sum();
    let rejected: f64 = drafted_by.chances().iter().zip(&kept).map(|(drafted, kept)| drafted - kept).sum();
    let replaced = match replacement {
        Replacement::Target => Some(tested.p().clone()),
        Replacement::Residual => tested.residual(),
    };
    let law: Vec<f64> = match replaced {
        Some(from) => kept.iter().zip(from.chances()).map(|(kept, from)| kept + rejected * from).collect(),
        None if rejected <= f64::EPSILON => kept,
        None => return Err(NoReplacement),
    };
    let distance: f64 = law.iter().zip(tested.p().chances()).map(|(out, p)| (out - p).abs()).sum();
    Ok(Output { law, acceptance, total_variation: 0.5 * distance })
}

/// How logits become a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    temperature: f64,
    top_k: usize,
    top_p: Probability,
}

/// A temperature below zero, or none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a temperature is 0 (greedy) or more, not {value}")]
pub struct NotATemperature {
    /// What was given.
    pub value: f64,
}

impl Sampling {
    /// All tokens, the logits as they are.
    pub const PLAIN: Self = Self { temperature: 1.0, top_k: 0, top_p: Probability::ONE };

    /// `temperature` divides the logits, and 0 takes the first of the largest; `top_k` keeps so many of
    /// the likeliest tokens, and 0 all; `top_p` keeps the shortest list of likeliest tokens with so much
    /// mass, one token at least.
    ///
    /// # Errors
    ///
    /// [`NotATemperature`] if it is negative, infinite or NaN.
    pub fn new(temperature: f64, top_k: usize, top_p: Probability) -> Result<Self, NotATemperature> {
        let valid = temperature.is_finite() && temperature >= 0.0;
        if valid { Ok(Self { temperature, top_k, top_p }) } else { Err(NotATemperature { value: temperature }) }
    }
}

/// A law from logits, in the order that engines use: temperature, top-k, top-p, each followed by
/// normalisation. Tokens are ranked by logit, equal ones by index.
///
/// # Errors
///
/// [`NotALaw`] if there is no logit, one is NaN or infinite, or none is above minus infinity, which masks
/// a token.
///
/// # Examples
///
/// Two equal logits share what is there; a temperature of 0 takes the first:
///
/// ```
/// use specplan::{acceptance::exact::{law, Sampling}, units::Probability};
/// assert_eq!(law(&[1.0, 1.0], Sampling::PLAIN)?.chances(), [0.5, 0.5]);
/// let greedy = Sampling::new(0.0, 0, Probability::ONE)?;
/// assert_eq!(law(&[1.0, 1.0], greedy)?.chances(), [1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn law(logits: &[f64], sampling: Sampling) -> Result<Law, NotALaw> {
    /// A mass within this of `top_p` has reached it.
    const SLACK: f64 = 1e-12;
    if logits.is_empty() {
        return Err(NotALaw::Empty);
    }
    let largest = first_maximum(logits);
    let impossible = |&token: &usize| logits[token].is_nan() || logits[token] == f64::INFINITY;
    if let Some(token) = (0..logits.len()).find(impossible).or((!logits[largest].is_finite()).then_some(largest)) {
        return Err(NotALaw::Logit { token, logit: logits[token] });
    }
    if sampling.temperature == 0.0 {
        return Ok(Law::certain(largest, logits.len()));
    }
    let mut ranked: Vec<usize> = (0..logits.len()).collect();
    ranked.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
    let kept = if sampling.top_k == 0 { ranked.len() } else { sampling.top_k.min(ranked.len()) };
    let mut weights = vec![0.0; logits.len()];
    for &token in &ranked[..kept] {
        weights[token] = ((logits[token] - logits[largest]) / sampling.temperature).exp();
    }
    let within = Law::normalised(&weights)?;
    let mut mass = 0.0;
    let mut nucleus = vec![0.0; logits.len()];
    for &token in &ranked[..kept] {
        nucleus[token] = within.chances()[token];
        mass += within.chances()[token];
        if mass >= sampling.top_p.get() - SLACK {
            break;
        }
    }
    Law::normalised(&nucleus)
}
