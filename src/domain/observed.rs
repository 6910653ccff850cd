//! What engines print of their rounds: windows, and what they come to together.

mod pool;

pub use pool::{Pairs, Pool, Pools};

use crate::domain::trace::Trace;
use crate::words::{Printout, Trap};

/// A moment as logs print it. Some leave the year out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Seconds since 1970, of the year 2000 where none is printed; no time zone.
    pub seconds: i64,
    /// Whether the year is known.
    pub has_year: bool,
}

/// Whose rounds a window counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The model, where it is named.
    pub model: Option<String>,
    /// The rank or engine, where there is one.
    pub rank: Option<String>,
    /// The file; set where files are kept apart.
    pub file: Option<String>,
    /// Start of a span of time, in seconds; set where spans are asked for.
    pub span: Option<i64>,
}

/// Rounds that drafted and accepted alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// Drafts.
    pub drafted: u32,
    /// Of these accepted.
    pub accepted: u32,
    /// How many rounds.
    pub rounds: u64,
}

/// One log line, one rank's counters, one request, or one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// What it was read from.
    pub format: Printout,
    /// Whose rounds.
    pub group: Group,
    /// When it was printed.
    pub at: Option<Stamp>,
    /// Draft length, where it is known.
    pub k: Option<u64>,
    /// Rounds that drafted.
    pub rounds: Option<f64>,
    /// Drafts.
    pub drafted: Option<f64>,
    /// Accepted drafts, the bonus left out.
    pub accepted: Option<f64>,
    /// Accepted drafts as vLLM's V0 engine counts them: whatever came before.
    pub independent: Option<f64>,
    /// Rounds that accepted at least the first, second, … draft.
    pub passed: Vec<f64>,
    /// Rounds one by one, where they are known so.
    pub alike: Vec<Alike>,
    /// Tokens of all decode steps, and those steps: rounds without a draft included.
    pub steps: Option<(f64, f64)>,
    /// A printed mean length, bonus included, and its weight; where rounds are not counted.
    pub length: Option<(f64, f64)>,
    /// What is to be known of it.
    pub traps: Vec<Trap>,
}

impl Window {
    /// The same without what cannot be: figures that are negative or no numbers, more accepted than drafted, positions that rise.
    #[must_use]
    pub fn checked(mut self) -> Self {
        let mut wrong = false;
        let mut sound = |figure: &mut Option<f64>| {
            if figure.is_some_and(|figure| !figure.is_finite() || figure < 0.0) {
                (*figure, wrong) = (None, true);
            }
        };
        let figures = [&mut self.rounds, &mut self.drafted, &mut self.accepted, &mut self.independent];
        figures.into_iter().for_each(&mut sound);
        let most = |more: Option<f64>, less: Option<f64>| {
            more.zip(less).is_some_and(|(more, less)| more > less * (1.0 + 1e-9))
        };
        let reached = self.rounds.zip(self.k).map(|(rounds, k)| rounds * k as f64);
        if most(self.accepted, self.drafted) || most(self.accepted, reached) {
            (self.rounds, self.drafted, self.accepted, wrong) = (None, None, None, true);
        }
        if most(self.rounds, self.drafted) {
            (self.rounds, wrong) = (None, true);
        }
        // Lengths are printed to two digits.
        if self.length.zip(self.k).is_some_and(|((length, _), k)| length > k as f64 + 1.01) {
            (self.length, wrong) = (None, true);
        }
        let before = std::iter::once(self.rounds.unwrap_or(f64::INFINITY)).chain(self.passed.iter().copied());
        // Rates are printed to three digits.
        let rises = |(here, before): (&f64, f64)| {
            !here.is_finite() || *here < 0.0 || *here > before + 0.001 * before.max(1000.0)
        };
        let odd = |round: &Alike| round.accepted > round.drafted || round.drafted > Trace::LONGEST;
        if self.passed.iter().zip(before).any(rises) || self.alike.iter().any(odd) {
            self.passed.clear();
            self.alike.clear();
            wrong = true;
        }
        if wrong {
            self.traps.push(Trap::Contradiction);
        }
        self
    }

    /// One that says nothing yet.
    #[must_use]
    pub fn of(format: Printout) -> Self {
        Self {
            format,
            group: Group::default(),
            at: None,
            k: None,
            rounds: None,
            drafted: None,
            accepted: None,
            independent: None,
            passed: Vec::new(),
            alike: Vec::new(),
            steps: None,
            length: None,
            traps: Vec::new(),
        }
    }
}
