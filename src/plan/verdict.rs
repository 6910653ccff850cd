//! The decision for one context and acceptance: turn it on, leave it off, or measure first.

use crate::plan::along::Along;
use crate::plan::draws::Sure;
use crate::plan::full::AtFull;
use crate::plan::tornado::Swing;

/// The chance of a gain from which on a batch counts as one where speculation pays; below its complement it loses.
pub const SURE: f64 = 0.9;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Speculate.
    Enable,
    /// Decode plainly.
    Leave,
    /// It hangs on what nobody knows yet.
    Measure,
}

impl Answer {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Leave => "don't enable",
            Self::Measure => "measure first",
        }
    }
}

/// How a candidate stands at a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// It gains in nine of ten draws or more.
    Pays,
    /// It gains in one of ten or fewer.
    Loses,
    /// Between.
    Unsure,
    /// Another profile of the same engine says the opposite.
    Disputed,
    /// So many sequences do not run beside the drafter, and with those that do it is slower than plain decoding of all.
    Crowded,
    /// Not even plain decoding of so many sequences runs.
    TooMany,
}

impl Stand {
    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pays => "pays",
            Self::Loses => "loses",
            Self::Unsure => "unsure",
            Self::Disputed => "disputed",
            Self::Crowded => "does not fit beside the drafter",
            Self::TooMany => "does not run",
        }
    }
}

/// What the profile that contradicts an engine's says of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other {
    /// Its best draft length above 0.
    pub k: u64,
    /// What that gains.
    pub speedup: f64,
    /// Seconds of a token of one sequence with it.
    pub per_token: f64,
    /// Seconds of a plain step.
    pub plain: f64,
}

/// A candidate at one batch.
#[derive(Clone, Debug, PartialEq)]
pub struct AtBatch {
    /// Sequences that want to be decoded together.
    pub batch: u64,
    /// How many of them run plainly: fewer where memory or limits stop them.
    pub base_running: u64,
    /// How many of them run with the drafter.
    pub running: u64,
    /// The best draft length above 0; none where no sequence runs with any.
    pub k: Option<u64>,
    /// Throughput over that of plain decoding of as many of them as run without the drafter: the speedup, where all run.
    pub speedup: f64,
    /// How sure that is.
    pub sure: Option<Sure>,
    /// The same by the profile of the engine that says otherwise, where there is one.
    pub disputed: Option<Other>,
    /// How it stands.
    pub stand: Stand,
}

/// The decision for a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What to do.
    pub answer: Answer,
    /// The candidate, by its position; none where there is nothing to draft.
    pub candidate: Option<usize>,
    /// How it stands at the batches that count: those of the load, else those of the study.
    pub at: Vec<AtBatch>,
    /// Where it is decided: the position in `at` that the answer rests on.
    pub decided_at: usize,
    /// The draft length to keep: that which loses least if it is kept at every batch of the load, or of the study.
    pub k: Option<u64>,
    /// The runs of batches at which the profiles of the engine contradict each other.
    pub apart: Vec<(u64, u64)>,
    /// The runs of contexts in which it pays at the batch that decides.
    pub contexts: Vec<(u64, u64)>,
    /// Whether beyond the last of them it is room that is missing, not speed.
    pub crowded_beyond: bool,
    /// Up to which context was looked.
    pub looked_to: u64,
    /// Where memory is the limit.
    pub full: Option<AtFull>,
    /// What it hangs on, the widest swing first, at the batch that decides.
    pub swings: Vec<Swing>,
}

impl Verdict {
    /// How it stands where the answer rests.
    #[must_use]
    pub fn decisive(&self) -> Option<&AtBatch> {
        self.at.get(self.decided_at)
    }
}

/// A speedup that counts as a gain beside another profile's: published speedups of the best known targets are off by as much in the
/// median.
const CLEAR: f64 = 1.05;

/// Whether two profiles give opposite answers: a clear gain by one, clearly less and no clear gain by the other.
#[must_use]
pub fn contradict(one: f64, other: f64) -> bool {
    let (more, less) = (one.max(other), one.min(other));
    more >= CLEAR && less < CLEAR && more >= CLEAR * less
}

/// How many sequences run, and what that brings, before anything is drawn.
///
/// Of more sequences than run even plainly those that do not run wait, either way.
#[must_use]
pub fn at_batch(along: &Along<'_, '_>, batch: u64) -> AtBatch {
    let here = &along.here;
    let place = here.at(batch);
    let base_running = place.base_running;
    let none = AtBatch {
        batch,
        base_running,
        running: 0,
        k: None,
        speedup: 0.0,
        sure: None,
        disputed: None,
        stand: if base_running == 0 { Stand::TooMany } else { Stand::Crowded },
    };
    let best = place.best_of_drafting().filter(|_| base_running > 0);
    let Some((best, length)) = best.and_then(|best| Some((best, here.length(best.k)?))) else { return none };
    let running = place.running(length);
    AtBatch { running, k: Some(best.k), speedup: best.speedup, stand: Stand::Unsure, ..none }
}

impl AtBatch {
    /// How it stands, given the draws and the other profile.
    #[must_use]
    pub fn judged(self) -> Self {
        if self.k.is_none() {
            return self;
        }
        let opposite = self.disputed.is_some_and(|other| contradict(self.speedup, other.speedup));
        let gains = self.sure.as_ref().map_or(f64::from(u8::from(self.speedup > 1.0)), |sure| sure.gains);
        let stand = match () {
            () if opposite => Stand::Disputed,
            () if gains >= SURE => Stand::Pays,
            () if self.running < self.base_running && self.speedup < 1.0 => Stand::Crowded,
            () if gains <= 1.0 - SURE => Stand::Loses,
            () => Stand::Unsure,
        };
        Self { stand, ..self }
    }
}

/// The answer, and the position it rests on. Of a load the batches are its own, the usual one first.
#[must_use]
pub fn answer(at: &[AtBatch], of_load: bool) -> (Answer, usize) {
    let first = |stand: Stand| at.iter().position(|one| one.stand == stand);
    // What does not gain as it is priced is not worth a measurement.
    let unsure = at.iter().position(|one| one.stand == Stand::Unsure && one.speedup > 1.0);
    if let Some(disputed) = first(Stand::Disputed) {
        return (Answer::Measure, disputed);
    }
    match (first(Stand::Pays), unsure) {
        (Some(0), _) => (Answer::Enable, 0),
        // The usual load decides before the rare one.
        (Some(_), Some(0)) if of_load => (Answer::Measure, 0),
        (Some(pays), _) => (Answer::Enable, pays),
        (None, Some(unsure)) => (Answer::Measure, unsure),
        (None, None) => (Answer::Leave, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(stand: Stand, speedup: f64) -> AtBatch {
        AtBatch { batch: 1, base_running: 1, running: 1, k: Some(2), speedup, sure: None, disputed: None, stand }
    }

    #[test]
    fn profiles_contradict_where_one_gains_clearly_and_the_other_does_not() {
        for (one, other) in [(1.7, 1.006), (1.3, 0.7), (0.9, 1.2), (1.0, 1.06)] {
            assert!(contradict(one, other) && contradict(other, one));
        }
        for (one, other) in [(1.1, 1.06), (1.02, 0.98), (0.9, 0.8), (1.03, 1.06)] {
            assert!(!contradict(one, other) && !contradict(other, one));
        }
    }

    /// The usual load decides before the rare one; what does not gain as priced is not worth a measurement.
    #[test]
    fn answers_rest_on_the_first_batch_that_decides() {
        let (pays, loses) = (at(Stand::Pays, 1.4), at(Stand::Loses, 0.7));
        let (unsure, below) = (at(Stand::Unsure, 1.05), at(Stand::Unsure, 0.97));
        let disputed = at(Stand::Disputed, 1.5);
        let of = |all: &[&AtBatch], of_load: bool| {
            answer(&all.iter().map(|one| (*one).clone()).collect::<Vec<_>>(), of_load)
        };
        assert_eq!(of(&[&pays, &loses], true), (Answer::Enable, 0));
        assert_eq!(of(&[&loses, &pays], true), (Answer::Enable, 1));
        assert_eq!(of(&[&unsure, &pays], true), (Answer::Measure, 0));
        assert_eq!(of(&[&unsure, &pays], false), (Answer::Enable, 1));
        assert_eq!(of(&[&pays, &disputed], true), (Answer::Measure, 1));
        assert_eq!(of(&[&loses, &unsure], false), (Answer::Measure, 1));
        assert_eq!(of(&[&below, &loses], false), (Answer::Leave, 0));
        assert_eq!(of(&[], false), (Answer::Leave, 0));
    }

    /// Without draws the price alone decides; nine draws in ten make it sure.
    #[test]
    fn a_batch_pays_if_nine_draws_in_ten_gain() {
        let sure = |gains: f64| Sure { low: 0.9, median: 1.1, high: 1.3, gains, best_k: None };
        let judged = |gains: f64| AtBatch { sure: Some(sure(gains)), ..at(Stand::Unsure, 1.1) }.judged().stand;
        assert_eq!([0.95, 0.5, 0.05].map(judged), [Stand::Pays, Stand::Unsure, Stand::Loses]);
        assert_eq!(at(Stand::Unsure, 1.1).judged().stand, Stand::Pays);
        let few = AtBatch { running: 1, base_running: 3, sure: Some(sure(0.4)), ..at(Stand::Unsure, 0.9) };
        assert_eq!(few.judged().stand, Stand::Crowded);
    }
}
