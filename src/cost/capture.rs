//! Captured graphs: steps of other sizes are padded, and beyond the largest launches set the pace.

use crate::cost::pass::{PassCost, Timing};
use crate::cost::shape::PassShape;
use crate::cost::terms::Without;
use crate::units::Seconds;
use crate::words::{CaptureUnit, Term};

/// The captured sizes of an engine, and the pace of what was not captured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Captures<'s> {
    /// Numbers of tokens or of sequences, in rising order; none: every step is captured as it is.
    pub sizes: &'s [u64],
    /// What they count; vLLM tokens, SGLang and TensorRT-LLM sequences.
    pub unit: CaptureUnit,
    /// The least time of a layer that was not captured, where it is known.
    pub layer: Option<Seconds>,
    /// Terms that are left out.
    pub without: Without,
}

impl Captures<'_> {
    /// Whether a step of a shape is larger than any that was captured.
    ///
    /// # Examples
    ///
    /// Four sequences of four tokens:
    ///
    /// ```
    /// use specplan::{cost::{capture::Captures, shape::PassShape}, words::CaptureUnit};
    /// let (step, captures) = (PassShape::verify(4.0, 4.0, 100.0), Captures { sizes: &[2, 8], ..Captures::default() });
    /// assert!(captures.exceeded_by(step));
    /// assert!(!Captures { unit: CaptureUnit::Sequences, ..captures }.exceeded_by(step));
    /// assert!(!Captures::default().exceeded_by(step));
    /// ```
    #[must_use]
    pub fn exceeded_by(&self, step: PassShape) -> bool {
        self.sizes.last().is_some_and(|largest| self.counted(step) > *largest as f64)
    }

    fn counted(&self, step: PassShape) -> f64 {
        match self.unit {
            CaptureUnit::Tokens => step.new_tokens(),
            CaptureUnit::Sequences => step.batch,
        }
    }

    /// A pass of a shape through `layers` layers, run in the next captured size. The shape is that of the sequences
    /// that pass together.
    ///
    /// # Formula
    ///
    /// ```text
    /// padding     arithmetic of matrix products x (size / n - 1)       in seconds, n = B q tokens, or B sequences
    /// uncaptured  max(0, layers t_layer - pass)       for more than the largest size
    /// ```
    ///
    /// Only passes of the additive form are changed: an ideal engine launches nothing.
    #[must_use]
    pub fn applied(&self, cost: PassCost, together: PassShape, layers: f64) -> PassCost {
        let Timing::Added(terms) = &cost.timing else { return cost };
        let counted = self.counted(together);
        let with = |term: Term, time: Seconds| cost.with(term, self.without.unless(term, time));
        match self.sizes.iter().find(|size| **size as f64 >= counted) {
            Some(size) => with(Term::Padding, terms.get(Term::Arithmetic) * (*size as f64 / counted - 1.0)),
            None if self.sizes.is_empty() => cost,
            None => {
                let least = self.layer.map_or(Seconds::ZERO, |layer| layer * layers);
                let missing = if least > terms.total() { least - terms.total() } else { Seconds::ZERO };
                with(Term::Uncaptured, missing)
            }
        }
    }
}
