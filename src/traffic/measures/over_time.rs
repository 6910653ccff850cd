//! How busy a service was.

use crate::acceptance::estimate::Estimate;
use crate::traffic::tally::Rates;

/// Sums over the time in which measured requests came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverTime {
    /// Seconds.
    pub seconds: f64,
    /// Of these, those with a step.
    pub busy: f64,
    /// Sequences that decode x seconds.
    pub decoding: f64,
    /// Requests that wait x seconds.
    pub waiting: f64,
    /// Share of the cache in use x seconds.
    pub cache: f64,
    /// Tokens that came out.
    pub tokens: u64,
    /// Requests answered.
    pub answered: u64,
    /// Prompt tokens of these.
    pub prompt_tokens: u64,
    /// Steps in which sequences decoded.
    pub steps: u64,
    /// Of these, those that drafted.
    pub speculating: u64,
    /// Drafts proposed by all sequences, and how many of them came out.
    pub drafted: u64,
    /// See above.
    pub accepted: u64,
    /// Tokens over seconds, by runs of requests.
    pub tokens_by_batch: Rates,
    /// Answers over seconds, by runs of requests.
    pub answered_by_batch: Rates,
}

impl OverTime {
    /// A count by the second; none where all requests came within one step.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::traffic::measures::OverTime;
    /// let over = OverTime { seconds: 4.0, tokens: 600, ..OverTime::default() };
    /// assert_eq!(over.per_second(over.tokens), Some(150.0));
    /// assert_eq!(OverTime::default().per_second(600), None);
    /// ```
    #[must_use]
    pub fn per_second(&self, count: u64) -> Option<f64> {
        self.mean(count as f64)
    }

    /// The mean over time of what was summed over it; none where all requests came within one step.
    #[must_use]
    pub fn mean(&self, sum: f64) -> Option<f64> {
        (self.seconds > 0.0).then(|| sum / self.seconds)
    }

    /// Output tokens per second, with an interval from how they vary over the run.
    #[must_use]
    pub fn tokens_per_s(&self) -> Option<Estimate> {
        self.tokens_by_batch.per_second()
    }

    /// Answers per second, with an interval from how they vary over the run.
    #[must_use]
    pub fn answers_per_s(&self) -> Option<Estimate> {
        self.answered_by_batch.per_second()
    }

    /// Steps that drafted, of those in which sequences decoded.
    #[must_use]
    pub fn speculating_share(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.speculating as f64 / self.steps as f64)
    }

    /// Drafts that did not come out, of those proposed; none where nothing was drafted.
    #[must_use]
    pub fn wasted_share(&self) -> Option<f64> {
        (self.drafted > 0).then(|| self.drafted.saturating_sub(self.accepted) as f64 / self.drafted as f64)
    }
}
