//! Rounds as an engine ran them.

use crate::domain::acceptance::Curve;

/// One recorded round of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundSeen {
    /// Drafts proposed; 0 where the drafter had nothing to propose.
    pub drafted: u32,
    /// How many of them were accepted.
    pub accepted: u32,
}

/// Recorded rounds, request by request in their order, or counted without their order.
///
/// # Examples
///
/// Two of three rounds get past the first draft, and one of these two past the second:
///
/// ```
/// use specplan::domain::trace::{RoundSeen, Trace};
/// let round = |accepted| RoundSeen { drafted: 2, accepted };
/// let trace = Trace::by_request(vec![vec![round(2), round(0)], vec![round(1)]])?;
/// assert!((trace.curve().survival()[0] - 2.0 / 3.0).abs() < 1e-15);
/// assert_eq!(trace.tests(), [(3, 2), (2, 1)]);
/// # Ok::<(), specplan::domain::trace::NotATrace>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    rounds: Rounds,
    tests: Vec<(u64, u64)>,
    curve: Curve,
}

/// How rounds were kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// In order, by request.
    ByRequest(Vec<Vec<RoundSeen>>),
    /// How many of each kind.
    Counted(Vec<(RoundSeen, u64)>),
}

/// What is no recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotATrace {
    /// No round with a draft.
    #[error("no round drafts anything")]
    NothingDrafted,
    /// More accepted than drafted.
    #[error("a round accepts {accepted} of {drafted} drafts")]
    TooManyAccepted {
        /// Drafts accepted.
        accepted: u32,
        /// Drafts proposed.
        drafted: u32,
    },
    /// A chain longer than any engine drafts.
    #[error("a round drafts {drafted} tokens, more than {}", Trace::LONGEST)]
    TooLong {
        /// Drafts proposed.
        drafted: u32,
    },
}

impl Trace {
    /// The longest round.
    pub const LONGEST: u32 = 4096;

    /// Rounds in the order in which each request ran them.
    ///
    /// # Errors
    ///
    /// [`NotATrace`].
    pub fn by_request(requests: Vec<Vec<RoundSeen>>) -> Result<Self, NotATrace> {
        let counted = requests.iter().flatten().map(|round| (*round, 1));
        let (tests, curve) = curve(counted)?;
        let requests = requests.into_iter().filter(|rounds| !rounds.is_empty()).collect();
        Ok(Self { rounds: Rounds::ByRequest(requests), tests, curve })
    }

    /// Rounds counted by what they drafted and accepted.
    ///
    /// # Errors
    ///
    /// [`NotATrace`].
    pub fn counted(rounds: Vec<(RoundSeen, u64)>) -> Result<Self, NotATrace> {
        let (tests, curve) = curve(rounds.iter().copied())?;
        Ok(Self { rounds: Rounds::Counted(rounds), tests, curve })
    }

    /// The rounds.
    #[must_use]
    pub const fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Every kind of round with how often it came.
    pub fn counts(&self) -> impl Iterator<Item = (RoundSeen, u64)> + '_ {
        let (requests, counted) = match &self.rounds {
            Rounds::ByRequest(requests) => (requests.as_slice(), &[][..]),
            Rounds::Counted(counted) => (&[][..], counted.as_slice()),
        };
        requests.iter().flatten().map(|round| (*round, 1)).chain(counted.iter().copied())
    }

    /// For each position how many drafts were tested there, and how many passed. A draft is tested if its round drafted
    /// that far and accepted all before it.
    #[must_use]
    pub fn tests(&self) -> &[(u64, u64)] {
        &self.tests
    }

    /// Acceptance by position, of rounds that draft: the product of the shares that pass each position's tests, so that
    /// short drafts do not count as rejections of positions they never reached (Kaplan and Meier 1958). Assumes that the
    /// length of a draft says nothing of its acceptance.
    #[must_use]
    pub const fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The share of rounds that draft anything.
    #[must_use]
    pub fn proposing_share(&self) -> f64 {
        let (mut all, mut proposing) = (0, 0);
        for (round, count) in self.counts() {
            all += count;
            proposing += if round.drafted > 0 { count } else { 0 };
        }
        proposing as f64 / all as f64
    }
}

/// Tests by position, and the curve they make.
fn curve(rounds: impl Iterator<Item = (RoundSeen, u64)>) -> Result<(Vec<(u64, u64)>, Curve), NotATrace> {
    let (mut reached, mut passed): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for (RoundSeen { drafted, accepted }, count) in rounds {
        if accepted > drafted {
            return Err(NotATrace::TooManyAccepted { accepted, drafted });
        }
        if drafted > Trace::LONGEST {
            return Err(NotATrace::TooLong { drafted });
        }
        if reached.len() < drafted as usize {
            reached.resize(drafted as usize, 0);
            passed.resize(drafted as usize, 0);
        }
        let tested = drafted.min(accepted + 1) as usize;
        reached[..tested].iter_mut().for_each(|tests| *tests += count);
        passed[..accepted as usize].iter_mut().for_each(|passes| *passes += count);
    }
    if reached.first().is_none_or(|first| *first == 0) {
        return Err(NotATrace::NothingDrafted);
    }
    let tests: Vec<(u64, u64)> = reached.into_iter().zip(passed).collect();
    let mut left = 1.0;
    let survival = tests.iter().map(|&(tested, passed)| {
        // A position that no draft reached is one that none passes.
        left *= if tested > 0 { passed as f64 / tested as f64 } else { 0.0 };
        left
    });
    let curve = Curve::falling(survival.collect());
    Ok((tests, curve))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: rounds of 1, 3 and 0 drafts. Position 1: 4 tested, 3 passed; position 2: 2 tested, 1 passed;
    /// position 3: 1 tested, none passed. Counting short drafts as rejections would give 1/4 at position 2.
    #[test]
    fn drafts_of_different_length_are_not_pooled_by_position() {
        let round = |drafted, accepted| RoundSeen { drafted, accepted };
        let trace = Trace::counted(vec![
            (round(1, 1), 1),
            (round(3, 2), 1),
            (round(3, 1), 1),
            (round(2, 0), 1),
            (round(0, 0), 4),
        ])
        .unwrap();
        assert_eq!(trace.tests(), [(4, 3), (2, 1), (1, 0)]);
        assert_eq!(trace.curve().survival(), [0.75, 0.375, 0.0]);
        assert_eq!(trace.proposing_share().to_bits(), 0.5_f64.to_bits());
        let reordered = Trace::by_request(vec![vec![round(2, 0), round(3, 2)], vec![], vec![round(3, 1), round(1, 1)]]);
        assert_eq!(reordered.unwrap().curve(), trace.curve());
    }

    #[test]
    fn what_is_no_recording_is_refused() {
        let one = |drafted, accepted| Trace::counted(vec![(RoundSeen { drafted, accepted }, 1)]).map(|_| ());
        assert_eq!(one(2, 3), Err(NotATrace::TooManyAccepted { accepted: 3, drafted: 2 }));
        assert_eq!(one(0, 0), Err(NotATrace::NothingDrafted));
        assert_eq!(one(5000, 0), Err(NotATrace::TooLong { drafted: 5000 }));
    }
}
