//! The terms of the additive form: every cost of a pass by its name.

use crate::units::Seconds;
use crate::words::{Bound, Term, Word};

/// Times by term. Parts are stored, their sum derived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms([Seconds; Term::COUNT]);

/// Terms that are left out, to see what each contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without(u32);

impl Without {
    /// These terms.
    #[must_use]
    pub fn of(terms: &[Term]) -> Self {
        Self(terms.iter().fold(0, |set, term| set | 1 << *term as u32))
    }

    /// Whether a term is left out.
    #[must_use]
    pub const fn holds(self, term: Term) -> bool {
        self.0 >> term as u32 & 1 == 1
    }

    /// A time, unless its term is left out.
    #[must_use]
    pub const fn unless(self, term: Term, time: Seconds) -> Seconds {
        if self.holds(term) { Seconds::ZERO } else { time }
    }
}

impl Terms {
    /// No cost.
    pub const NONE: Self = Self([Seconds::ZERO; Term::COUNT]);

    /// Sets one term.
    pub const fn set(&mut self, term: Term, time: Seconds) {
        self.0[term as usize] = time;
    }

    /// Makes every term so many times as long.
    pub fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|time| *time = *time * factor);
    }

    /// One term.
    #[must_use]
    pub const fn get(&self, term: Term) -> Seconds {
        self.0[term as usize]
    }

    /// Every term that costs something, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Term, Seconds)> {
        Term::ALL.iter().map(|&term| (term, self.get(term))).filter(|(_, time)| *time > Seconds::ZERO)
    }

    /// Their sum.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.0.iter().copied().sum()
    }

    /// The sum of one class.
    #[must_use]
    pub fn of_class(&self, class: Bound) -> Seconds {
        self.iter().filter(|(term, _)| self::class(*term) == class).map(|(_, time)| time).sum()
    }

    /// The class with the largest share; of equal ones the first of memory, compute, network, overhead.
    #[must_use]
    pub fn bound(&self) -> Bound {
        let largest = |best: (Bound, Seconds), class: &Bound| {
            let time = self.of_class(*class);
            if time > best.1 { (*class, time) } else { best }
        };
        Bound::ALL.iter().fold((Bound::Memory, Seconds::ZERO), largest).0
    }
}

/// What a term counts as when the bound of a pass is named.
#[must_use]
pub const fn class(term: Term) -> Bound {
    match term {
        Term::Weights | Term::SmallReads | Term::KvRead | Term::KvWrite => Bound::Memory,
        Term::Arithmetic | Term::AttentionArithmetic | Term::Padding => Bound::Compute,
        Term::AllReduceStart
        | Term::AllReduceTraffic
        | Term::AllToAllStart
        | Term::AllToAllTraffic
        | Term::Pipeline => Bound::Network,
        Term::ProductKernels
        | Term::AttentionKernels
        | Term::Routing
        | Term::LayerFloor
        | Term::Uncaptured
        | Term::Step
        | Term::Draft
        | Term::Round
        | Term::Sequence
        | Term::Token => Bound::Overhead,
    }
}
