//! Drafters beside each other at one batch and context.

use crate::plan::candidate::{Here, Length};
use crate::plan::choose::Choice;

/// A candidate beside the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// Its best draft length that runs, gain or not; none where none runs.
    pub best: Option<Choice>,
    /// Tokens per pass there.
    pub tokens: Option<f64>,
    /// Tokens per pass at which it would be level with the best of the others, plain decoding among them: for the best of all what it may
    /// fall to, for the others what they would have to reach. Above k + 1 out of reach; none of looked-up drafts that cannot reach it.
    pub level: Option<f64>,
}

/// All candidates at a batch, in their order.
///
/// # Formula
///
/// ```text
/// level = the tokens per pass with which its best draft length gains as much as the best of the others, at least 1
/// ```
#[must_use]
pub fn rivals(all: &[&Here<'_, '_>], batch: u64) -> Vec<Rival> {
    let best: Vec<Option<Choice>> = all.iter().map(|here| here.at(batch).best_of_drafting()).collect();
    let rival = |at: usize| {
        let others = best.iter().enumerate().filter(|(other, _)| *other != at);
        let to_beat = others.filter_map(|(_, choice)| Some((*choice)?.speedup)).fold(1.0, f64::max);
        let length = best[at].and_then(|choice| all[at].length(choice.k));
        let level = length.and_then(|length| all[at].at(batch).tokens_for(length, to_beat));
        let tokens = length.map(|length| length.tokens);
        Rival { best: best[at], tokens, level }
    };
    (0..all.len()).map(rival).collect()
}

/// The position of the candidate with the largest speedup above 1 at a batch; none where plain decoding is best.
#[must_use]
pub fn winner(rivals: &[Rival]) -> Option<usize> {
    let gain = |at: &usize| rivals[*at].best.map_or(0.0, |best| best.speedup);
    let best = (0..rivals.len()).reduce(|best, next| if gain(&next) > gain(&best) { next } else { best })?;
    (gain(&best) > 1.0).then_some(best)
}

/// What a draft length has to yield to pay at a batch, and what it yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakEven {
    /// The draft length with what it yields.
    pub length: Length,
    /// What it gains.
    pub speedup: f64,
    /// Tokens per pass that pay for a round; none where no number of them up to k + 1 does.
    pub tokens: Option<f64>,
}

/// The break-even of every draft length at a batch.
#[must_use]
pub fn break_even(here: &Here<'_, '_>, batch: u64) -> Vec<BreakEven> {
    let place = here.at(batch);
    let of = |length: &Length| BreakEven {
        length: *length,
        speedup: place.speedup(length),
        tokens: place.tokens_to_pay(length),
    };
    here.lengths.iter().map(of).collect()
}
