//! Captured graphs: steps of other sizes are padded, and beyond the largest launches set the pace.

use crate::cost::pass::{PassCost, Timing};
use crate::cost::shape::PassShape;
use crate::cost::terms::Without;
use crate::units::Seconds;
use crate::words::Term;

/// The captured sizes of an engine, and the pace of what was not captured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Captures<'s> {
    /// Numbers of tokens, in rising order; none: every step is captured as it is.
    pub sizes: &'s [u64],
    /// The least time of a layer that was not captured, where it is known.
    pub layer: Option<Seconds>,
    /// Terms that are left out.
    pub without: Without,
}

impl Captures<'_> {
    /// Whether a step of so many tokens is larger than any that was captured.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::cost::capture::Captures;
    /// let captures = Captures { sizes: &[8, 16], ..Captures::default() };
    /// assert!(captures.exceeded_by(17.0) && !captures.exceeded_by(16.0));
    /// assert!(!Captures::default().exceeded_by(1e6));
    /// ```
    #[must_use]
    pub fn exceeded_by(&self, tokens: f64) -> bool {
        self.sizes.last().is_some_and(|largest| tokens > *largest as f64)
    }

    /// A pass of a shape through `layers` layers, run in the next captured size. The shape is that of the sequences
    /// that pass together.
    ///
    /// # Formula
    ///
    /// ```text
    /// padding     arithmetic of matrix products x (size / tokens - 1)       in seconds, tokens = B q
    /// uncaptured  max(0, layers t_layer - pass)       for more tokens than the largest size
    /// ```
    ///
    /// Only passes of the additive form are changed: an ideal engine launches nothing.
    #[must_use]
    pub fn applied(&self, cost: PassCost, together: PassShape, layers: f64) -> PassCost {
        let Timing::Added(terms) = cost.timing else { return cost };
        let tokens = together.new_tokens();
        let with = |term: Term, time: Seconds| cost.with(term, self.without.unless(term, time));
        match self.sizes.iter().find(|size| **size as f64 >= tokens) {
            Some(size) => with(Term::Padding, terms.get(Term::Arithmetic) * (*size as f64 / tokens - 1.0)),
            None if self.sizes.is_empty() => cost,
            None => {
                let least = self.layer.map_or(Seconds::ZERO, |layer| layer * layers);
                let missing = if least > terms.total() { least - terms.total() } else { Seconds::ZERO };
                with(Term::Uncaptured, missing)
            }
        }
    }
}
