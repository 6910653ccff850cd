//! Probability laws over the tokens of a vocabulary.

/// Chances that sum to one.
///
/// # Examples
///
/// ```
/// use specplan::domain::law::Law;
/// assert_eq!(Law::new(vec![0.25, 0.75])?.chances(), [0.25, 0.75]);
/// assert!(Law::new(vec![0.5, 0.4]).is_err());
/// # Ok::<(), specplan::domain::law::NotALaw>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Law(Vec<f64>);

/// Why numbers are no law.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotALaw {
    /// No token.
    #[error("a law is over at least one token")]
    Empty,
    /// A chance is negative or no number.
    #[error("the chance of token {token} is {chance}")]
    Chance {
        /// The token, counted from 0.
        token: usize,
        /// What stands there.
        chance: f64,
    },
    /// A logit that makes no chance.
    #[error("the logit of token {token} is {logit}")]
    Logit {
        /// The token, counted from 0.
        token: usize,
        /// What stands there.
        logit: f64,
    },
    /// The chances do not sum to one.
    #[error("the chances sum to {sum}, not to 1")]
    Sum {
        /// What they sum to.
        sum: f64,
    },
}

impl Law {
    /// Rounding that decimals in a file may carry.
    const SLACK: f64 = 1e-9;

    /// A law.
    ///
    /// # Errors
    ///
    /// [`NotALaw`] if there is no token, a chance is negative or not finite, or the sum is off 1 by more
    /// than 1e-9.
    pub fn new(chances: Vec<f64>) -> Result<Self, NotALaw> {
        if chances.is_empty() {
            return Err(NotALaw::Empty);
        }
        if let Some(token) = chances.iter().position(|chance| !chance.is_finite() || *chance < 0.0) {
            return Err(NotALaw::Chance { token, chance: chances[token] });
        }
        let sum: f64 = chances.iter().sum();
        if (sum - 1.0).abs() > Self::SLACK { Err(NotALaw::Sum { sum }) } else { Ok(Self(chances)) }
    }

    /// A law in proportion to weights, at least one of them above zero.
    ///
    /// # Errors
    ///
    /// [`NotALaw`] if they cannot be normalised.
    pub fn normalised(weights: &[f64]) -> Result<Self, NotALaw> {
        let sum: f64 = weights.iter().sum();
        Self::new(weights.iter().map(|weight| weight / sum).collect())
    }

    /// All chance on one token.
    #[must_use]
    pub fn certain(token: usize, tokens: usize) -> Self {
        Self((0..tokens).map(|at| if at == token { 1.0 } else { 0.0 }).collect())
    }

    /// The chance of each token.
    #[must_use]
    pub fn chances(&self) -> &[f64] {
        &self.0
    }

    /// The first of the likeliest tokens.
    #[must_use]
    pub fn likeliest(&self) -> usize {
        first_maximum(&self.0)
    }
}

/// The first position of the largest value; 0 of an empty list.
#[must_use]
pub fn first_maximum(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

/// Two laws over different vocabularies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("laws over {p} and {q} tokens cannot be compared")]
pub struct DifferentVocabularies {
    /// Tokens of the first.
    pub p: usize,
    /// Tokens of the second.
    pub q: usize,
}

/// A target's and a drafter's law over one vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    p: Law,
    q: Law,
}

impl Pair {
    /// The target's law p and the drafter's law q.
    ///
    /// # Errors
    ///
    /// [`DifferentVocabularies`].
    pub fn new(p: Law, q: Law) -> Result<Self, DifferentVocabularies> {
        let (tokens, others) = (p.chances().len(), q.chances().len());
        if tokens == others { Ok(Self { p, q }) } else { Err(DifferentVocabularies { p: tokens, q: others }) }
    }

    /// The target's law.
    #[must_use]
    pub const fn p(&self) -> &Law {
        &self.p
    }

    /// The drafter's law.
    #[must_use]
    pub const fn q(&self) -> &Law {
        &self.q
    }

    /// The same drafter against another law over the same tokens.
    pub(crate) fn with_target(self, p: Law) -> Self {
        Self { p, ..self }
    }

    /// Another drafter over the same tokens.
    pub(crate) fn with_drafter(self, q: Law) -> Self {
        Self { q, ..self }
    }
}
