//! Acceptance by temperature: target and drafter laws made flatter or sharper, as engines do before they draw.

use crate::acceptance::exact::{NotATemperature, Sampling, law};
use crate::domain::law::{Law, NotALaw, Pair};
use crate::units::Probability;

/// Two laws at a temperature.
#[derive(Clone, Debug, PartialEq)]
pub struct Tempered {
    /// Both at that temperature: drafts are drawn, as SpecInfer, EAGLE and vLLM's separate draft models do.
    pub drawn: Pair,
    /// The target at that temperature against the drafter's likeliest token: drafts are taken without chance, as vLLM's
    /// EAGLE and MTP heads do.
    pub greedy: Pair,
}

/// Why laws have no such temperature.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotTempered {
    /// No temperature.
    #[error(transparent)]
    Temperature(#[from] NotATemperature),
    /// Chances that are too small to be told from 0 at it.
    #[error(transparent)]
    Law(#[from] NotALaw),
}

/// Laws at a temperature; 1 leaves them as they are.
///
/// # Formula
///
/// ```text
/// p_T(x) = p(x)^(1/T) / sum over y of p(y)^(1/T)          T = 0: the first of the likeliest tokens
/// ```
///
/// # Errors
///
/// [`NotTempered`] for a temperature below 0, or none.
///
/// # Examples
///
/// At T = 1/2 chances are squared: 0.64 and 0.04 of 0.68.
///
/// ```
/// use specplan::{acceptance::temperature::at, domain::law::{Law, Pair}};
/// let pair = Pair::new(Law::new(vec![0.8, 0.2])?, Law::new(vec![0.5, 0.5])?)?;
/// let half = at(&pair, 0.5)?;
/// assert!((half.drawn.p().chances()[0] - 0.64 / 0.68).abs() < 1e-12);
/// assert!((half.greedy.acceptance() - 0.64 / 0.68).abs() < 1e-12);
/// assert_eq!(at(&pair, 0.0)?.drawn.acceptance(), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn at(pair: &Pair, temperature: f64) -> Result<Tempered, NotTempered> {
    let p = tempered(pair.p(), temperature)?;
    let (drawn, greedy) = (tempered(pair.q(), temperature)?, tempered(pair.q(), 0.0)?);
    let of = |q: Law| pair.clone().with_target(p.clone()).with_drafter(q);
    Ok(Tempered { drawn: of(drawn), greedy: of(greedy) })
}

fn tempered(of: &Law, temperature: f64) -> Result<Law, NotTempered> {
    let logits: Vec<f64> = of.chances().iter().map(|chance| chance.ln()).collect();
    Ok(law(&logits, Sampling::new(temperature, 0, Probability::ONE)?)?)
}
