//! What became of each request, and of each kind of them.

use crate::traffic::tally::Gaps;

/// What became of a request that is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Its number, from 0.
    pub number: u64,
    /// Its kind.
    pub kind: usize,
    /// When it came, in seconds.
    pub arrived: f64,
    /// When it found room for the first time; none where it can never be served.
    pub admitted: Option<f64>,
    /// When its first token came out; none of an output without tokens.
    pub first: Option<f64>,
    /// When its last token came out, or its prompt was read if it asked for none; none where it can never be served.
    pub answered: Option<f64>,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of its output.
    pub output: u32,
    /// How often it gave up its cache.
    pub preempted: u32,
    /// Steps in which it decoded.
    pub steps: u32,
    /// Tokens that were drafted for it.
    pub drafted: u64,
    /// Whether it met all that is asked.
    pub good: bool,
}

impl Answer {
    /// Time to its first token.
    #[must_use]
    pub fn ttft(&self) -> Option<f64> {
        Some(self.first? - self.arrived)
    }

    /// Time for each further token.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::traffic::measures::Answer;
    /// let mut answer = Answer {
    ///     number: 0, kind: 0, arrived: 1.0, admitted: Some(1.25), first: Some(1.5), answered: Some(3.5),
    ///     prompt: 10, output: 101, preempted: 0, steps: 40, drafted: 120, good: true,
    /// };
    /// assert_eq!((answer.ttft(), answer.tpot(), answer.e2e()), (Some(0.5), Some(0.02), Some(2.5)));
    /// answer.output = 1;
    /// assert_eq!(answer.tpot(), None);
    /// ```
    #[must_use]
    pub fn tpot(&self) -> Option<f64> {
        let further = self.output.checked_sub(1).filter(|further| *further > 0)?;
        Some((self.answered? - self.first?) / f64::from(further))
    }

    /// Time to its last token.
    #[must_use]
    pub fn e2e(&self) -> Option<f64> {
        Some(self.answered? - self.arrived)
    }
}

/// The requests of a kind.
#[derive(Clone, Debug)]
pub struct ByKind {
    /// How many were measured.
    pub requests: u64,
    /// Of these, those that met all that is asked.
    pub good: u64,
    /// Time to first token.
    pub ttft: Gaps,
    /// Time for each further token.
    pub tpot: Gaps,
    /// Time to the last token.
    pub e2e: Gaps,
}

impl ByKind {
    pub(super) fn none() -> Self {
        Self { requests: 0, good: 0, ttft: Gaps::none(), tpot: Gaps::none(), e2e: Gaps::none() }
    }

    pub(super) fn take(&mut self, answer: &Answer) {
        self.requests += 1;
        self.good += u64::from(answer.good);
        for (times, seconds) in
            [(&mut self.ttft, answer.ttft()), (&mut self.tpot, answer.tpot()), (&mut self.e2e, answer.e2e())]
        {
            if let Some(seconds) = seconds {
                times.take(seconds, 1);
            }
        }
    }
}
