//! Captured graphs: steps of other sizes are padded, and beyond the largest launches set the pace.

use crate::cost::pass::{PassCost, Timing};
use crate::units::Seconds;
use crate::words::Term;

/// The captured sizes of an engine, and the pace of what was not captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captures {
    /// Numbers of tokens, in rising order; none: every step is captured as it is.
    pub sizes: Vec<u64>,
    /// The least time of a layer that was not captured, where it is known.
    pub layer: Option<Seconds>,
}

impl Captures {
    /// Whether a step of so many tokens is larger than any that was captured.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::capture::Captures;
    /// let captures = Captures { sizes: vec![8, 16], layer: None };
    /// assert!(captures.exceeded_by(17.0) && !captures.exceeded_by(16.0));
    /// assert!(!Captures::default().exceeded_by(1e6));
    /// ```
    #[must_use]
    pub fn exceeded_by(&self, tokens: f64) -> bool {
        self.sizes.last().is_some_and(|largest| tokens > *largest as f64)
    }

    /// A pass of `tokens` tokens through `layers` layers, run in the next captured size.
    ///
    /// # Formula
    ///
    /// ```text
    /// padding     arithmetic of matrix products x (size / tokens - 1)
    /// uncaptured  max(0, layers t_layer - pass)       for more tokens than the largest size
    /// ```
    ///
    /// Only passes of the additive form are changed: an ideal engine launches nothing.
    #[must_use]
    pub fn applied(&self, cost: PassCost, tokens: f64, layers: f64) -> PassCost {
        let Timing::Added(terms) = cost.timing else { return cost };
        match self.sizes.iter().find(|size| **size as f64 >= tokens) {
            Some(size) => cost.with(Term::Padding, terms.get(Term::Arithmetic) * (*size as f64 / tokens - 1.0)),
            None if self.sizes.is_empty() => cost,
            None => {
                let least = self.layer.map_or(Seconds::ZERO, |layer| layer * layers);
                let missing = if least > terms.total() { least - terms.total() } else { Seconds::ZERO };
                cost.with(Term::Uncaptured, missing)
            }
        }
    }
}
