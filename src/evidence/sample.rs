//! A measured point beside its price, and what each term of a fit adds to it.

use nalgebra::{SMatrix, SVector};

/// Terms of steps and rounds.
pub const TERMS: usize = 8;

pub(super) type Vector = SVector<f64, TERMS>;
pub(super) type Matrix = SMatrix<f64, TERMS, TERMS>;

/// A term that a calibration may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All passes, as a share of their price.
    Pace,
    /// Each plain step and each verification.
    Step,
    /// Passes of rounds on top, as a share of their price.
    RoundPace,
    /// Each round.
    Round,
    /// Each draft pass.
    Draft,
    /// Each sequence of a round.
    Sequence,
    /// Each draft pass of a tree, on top.
    Tree,
    /// Each token that a step or round emits of a sequence, whatever the batch.
    Token,
}

impl Part {
    /// All of them, in the order of coefficients.
    pub const ALL: [Self; TERMS] =
        [Self::Pace, Self::Step, Self::RoundPace, Self::Round, Self::Draft, Self::Sequence, Self::Tree, Self::Token];
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// Seconds of a plain step.
    Step(f64),
    /// Seconds of a round.
    Round(f64),
    /// Tokens of a round times the plain step, over the round.
    Speedup(f64),
}

/// A measured point beside its price, and what each term adds to it: in the order of [`Part::ALL`], of paces seconds for a share of 1, of
/// times how often they are paid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds of the priced plain step.
    pub base_step: f64,
    /// What each term adds to it.
    pub of_step: [f64; TERMS],
    /// Seconds of the priced round.
    pub round: f64,
    /// What each term adds to it.
    pub of_round: [f64; TERMS],
    /// Sequences decoded together.
    pub batch: f64,
    /// Tokens of each sequence in the step or the verification.
    pub width: f64,
    /// Tokens per pass.
    pub tokens: f64,
    /// Seconds of prefill that the priced step or round holds, in closed loops.
    pub prefill: f64,
    /// What was measured.
    pub seen: Seen,
}

impl Sample {
    /// Seconds that the price has to come to: of a speedup those of the round beside the priced plain step.
    #[must_use]
    pub fn measured(&self) -> f64 {
        match self.seen {
            Seen::Step(seconds) | Seen::Round(seconds) => seconds,
            Seen::Speedup(speedup) => self.tokens * self.base_step / speedup,
        }
    }

    /// Whether no term moves its price: where that was measured itself.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let of = if matches!(self.seen, Seen::Step(_)) { &self.of_step } else { &self.of_round };
        of.iter().all(|added| added.abs() < 1e-9)
    }

    /// Seconds of what was measured, as priced.
    #[must_use]
    pub const fn priced(&self) -> f64 {
        match self.seen {
            Seen::Step(_) => self.base_step,
            Seen::Round(_) | Seen::Speedup(_) => self.round,
        }
    }
}

/// What each term adds to what was measured.
pub(super) fn row(of: &Sample, scale: f64) -> Vector {
    match of.seen {
        Seen::Step(_) => step_row(of, scale),
        Seen::Round(_) => round_row(of, scale),
        Seen::Speedup(speedup) => round_row(of, scale) - step_row(of, scale) * (of.tokens / speedup),
    }
}

/// What each term adds to a plain step.
pub(super) fn step_row(of: &Sample, scale: f64) -> Vector {
    scaled(&of.of_step, scale)
}

/// What each term adds to a round.
pub(super) fn round_row(of: &Sample, scale: f64) -> Vector {
    scaled(&of.of_round, scale)
}

/// Times are shares of a scale, as paces are of passes.
fn scaled(of: &[f64; TERMS], scale: f64) -> Vector {
    let is_pace = |at: usize| matches!(Part::ALL[at], Part::Pace | Part::RoundPace);
    Vector::from_fn(|at, _| if is_pace(at) { of[at] } else { of[at] * scale })
}
