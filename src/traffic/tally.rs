//! What is measured of a run.
//!
//! | measure | of a request with N output tokens |
//! |---|---|
//! | TTFT | time from its arrival to its first token: waiting and prefill |
//! | TPOT | time from the first token to the last, over N - 1: none of one token |
//! | end-to-end | time from its arrival to its last token |
//! | ITL by chunk | time between one arrival of tokens at the client and the next, however many come at once |
//! | ITL by token | the same, of which each of the j tokens that come at once counts a j-th |
//!
//! A round emits several tokens at once, so that its gaps by chunk are longer, and fewer, than by token: benchmarks that time chunks show a
//! speculating server too slow.
//!
//! Means are exact. Percentiles are read from histograms with three digits. Requests after the warm-up are cut into
//! [`BATCHES`] runs of equally many in their order of arrival; how their values vary gives the intervals (batch means: Law and
//! Carson 1979).

use hdrhistogram::Histogram;

use crate::acceptance::estimate::Estimate;

/// Runs of requests that give intervals.
pub const BATCHES: usize = 20;
/// Fewer requests than this in each say nothing of how they vary.
pub(super) const FEWEST: u64 = 5;
/// Histograms count in steps of 100 ns.
const STEPS_PER_SECOND: f64 = 1e7;
const DIGITS: u8 = 3;

/// Times of a kind.
#[derive(Clone, Debug)]
pub struct Times {
    all: Histogram<u64>,
    batches: Vec<Batch>,
}

#[derive(Clone, Debug)]
struct Batch {
    sum: f64,
    count: u64,
    seen: Histogram<u32>,
}

fn steps(seconds: f64) -> u64 {
    (seconds * STEPS_PER_SECOND).round() as u64
}

fn histogram<C: hdrhistogram::Counter>() -> Histogram<C> {
    let mut made = Histogram::new_with_bounds(1, 2 * STEPS_PER_SECOND as u64, DIGITS)
        .unwrap_or_else(|_| unreachable!("bounds and digits are constants"));
    made.auto(true);
    made
}

/// Counts a time; a histogram grows with the longest.
fn count<C: hdrhistogram::Counter>(into: &mut Histogram<C>, seconds: f64, times: C) {
    if into.record_n(steps(seconds), times).is_err() {
        // It cannot grow to that on machines of fewer bits: the time counts as the longest that it can.
        into.saturating_record_n(steps(seconds), times);
    }
}

impl Times {
    /// None yet.
    #[must_use]
    pub fn none() -> Self {
        let batch = || Batch { sum: 0.0, count: 0, seen: histogram() };
        Self { all: histogram(), batches: (0..BATCHES).map(|_| batch()).collect() }
    }

    /// Takes a time.
    pub fn take(&mut self, batch: usize, seconds: f64) {
        count(&mut self.all, seconds, 1);
        let batch = &mut self.batches[batch];
        batch.sum += seconds;
        batch.count += 1;
        count(&mut batch.seen, seconds, 1);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.batches.iter().map(|batch| batch.count).sum()
    }

    /// Their mean; none of none.
    #[must_use]
    pub fn mean(&self) -> Option<Estimate> {
        let sum: f64 = self.batches.iter().map(|batch| batch.sum).sum();
        let of = |batch: &Batch| batch.sum / batch.count as f64;
        (self.count() > 0).then(|| self.between(sum / self.count() as f64, of))
    }

    /// The time that a share of them does not exceed.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Estimate> {
        let of = |batch: &Batch| batch.seen.value_at_quantile(share) as f64 / STEPS_PER_SECOND;
        (self.count() > 0).then(|| self.between(self.all.value_at_quantile(share) as f64 / STEPS_PER_SECOND, of))
    }

    /// A value with Student's interval from how it varies between batches; without end where these are too few.
    fn between(&self, value: f64, of: impl Fn(&Batch) -> f64) -> Estimate {
        let enough = self.batches.iter().all(|batch| batch.count >= FEWEST);
        let spread =
            enough.then(|| Estimate::mean(self.batches.iter().map(of).collect::<Vec<_>>().into_iter())).flatten();
        around(value, spread)
    }

    /// Their mean over that of others of the same requests, with Student's interval from how the ratio varies between batches of them: chance
    /// that both share drops out.
    ///
    /// # Examples
    ///
    /// Whatever the times, twice each of them is twice their mean.
    ///
    /// ```
    /// use specplan::traffic::tally::{BATCHES, Times};
    /// let (mut one, mut twice) = (Times::none(), Times::none());
    /// for at in 0..BATCHES * 5 {
    ///     one.take(at / 5, 1.0 + at as f64);
    ///     twice.take(at / 5, 2.0 + 2.0 * at as f64);
    /// }
    /// let ratio = twice.over(&one).unwrap();
    /// assert_eq!((ratio.value, ratio.low, ratio.high), (2.0, 2.0, 2.0));
    /// ```
    #[must_use]
    pub fn over(&self, others: &Self) -> Option<Estimate> {
        let value = self.mean()?.value / others.mean()?.value;
        let pairs = || self.batches.iter().zip(&others.batches);
        let enough = pairs().all(|(one, other)| one.count.min(other.count) >= FEWEST);
        let ratio = |(one, other): (&Batch, &Batch)| (one.sum / one.count as f64) / (other.sum / other.count as f64);
        let spread = enough.then(|| Estimate::mean(pairs().map(ratio).collect::<Vec<_>>().into_iter())).flatten();
        Some(around(value, spread))
    }
}

/// Times that have no interval: gaps between tokens, or what the requests of a kind take.
#[derive(Clone, Debug)]
pub struct Gaps {
    seen: Histogram<u64>,
    sum: f64,
    count: u64,
}

impl Gaps {
    /// None yet.
    #[must_use]
    pub fn none() -> Self {
        Self { seen: histogram(), sum: 0.0, count: 0 }
    }

    /// Takes a gap that came so often.
    pub fn take(&mut self, seconds: f64, times: u64) {
        if times > 0 {
            count(&mut self.seen, seconds, times);
            self.sum += seconds * times as f64;
            self.count += times;
        }
    }

    /// Their mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The gap that a share of them does not exceed.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<f64> {
        (self.count > 0).then(|| self.seen.value_at_quantile(share) as f64 / STEPS_PER_SECOND)
    }
}

/// Counts over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    batches: [(f64, u64); BATCHES],
}

impl Rates {
    /// Takes so much time and so many.
    pub fn take(&mut self, batch: usize, seconds: f64, count: u64) {
        let (time, counted) = &mut self.batches[batch];
        *time += seconds;
        *counted += count;
    }

    /// All of them over all of the time, with Student's interval from how the rate varies between batches; without end where one of these
    /// took no time.
    ///
    /// # Examples
    ///
    /// Batches at 10 and 30 a second in turn vary by a standard deviation of 10.26: 20 ± 2.093 x 10.26 / sqrt(20).
    ///
    /// ```
    /// use specplan::traffic::tally::{BATCHES, Rates};
    /// let mut rates = Rates::default();
    /// (0..BATCHES).for_each(|batch| rates.take(batch, 2.0, if batch % 2 == 0 { 20 } else { 60 }));
    /// let rate = rates.per_second().unwrap();
    /// assert!(rate.value == 20.0 && (rate.high - 24.80).abs() < 0.01);
    /// ```
    #[must_use]
    pub fn per_second(&self) -> Option<Estimate> {
        let (time, counted) =
            self.batches.iter().fold((0.0, 0), |(time, counted), batch| (time + batch.0, counted + batch.1));
        let enough = self.batches.iter().all(|(time, _)| *time > 0.0);
        let each = || self.batches.iter().map(|(time, counted)| *counted as f64 / time).collect::<Vec<_>>();
        let spread = enough.then(|| Estimate::mean(each().into_iter())).flatten();
        (time > 0.0).then(|| around(counted as f64 / time, spread))
    }
}

/// A value with as wide an interval as that of a mean; without end where there is none.
fn around(value: f64, spread: Option<Estimate>) -> Estimate {
    let half = spread.map_or(f64::INFINITY, |spread| (spread.high - spread.low) / 2.0);
    Estimate { value, low: (value - half).max(0.0), high: value + half }
}

/// How many of some requests had a property.
#[derive(Clone, Debug)]
pub struct Shares {
    batches: [(u64, u64); BATCHES],
}

impl Shares {
    /// None yet.
    #[must_use]
    pub const fn none() -> Self {
        Self { batches: [(0, 0); BATCHES] }
    }

    /// Takes a request.
    pub fn take(&mut self, batch: usize, has: bool) {
        let (with, all) = &mut self.batches[batch];
        *with += u64::from(has);
        *all += 1;
    }

    /// Requests with the property.
    #[must_use]
    pub fn with(&self) -> u64 {
        self.batches.iter().map(|(with, _)| with).sum()
    }

    /// Their share, with an interval from how it varies between batches.
    #[must_use]
    pub fn share(&self) -> Option<Estimate> {
        let all: u64 = self.batches.iter().map(|(_, all)| all).sum();
        let shares = self.batches.iter().filter(|(_, all)| *all > 0).map(|(with, all)| *with as f64 / *all as f64);
        let spread = Estimate::mean(shares.collect::<Vec<_>>().into_iter())?;
        let (value, half) = (self.with() as f64 / all as f64, (spread.high - spread.low) / 2.0);
        Some(Estimate { value, low: (value - half).max(0.0), high: (value + half).min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times from a millisecond to days, each a thousandth longer than the one before: percentiles are right to three digits.
    #[test]
    fn percentiles_hold_over_all_scales() {
        let all: Vec<f64> = (0..20_000).map(|at| 1e-3 * (f64::from(at) * 1e-3).exp()).collect();
        let (mut times, mut gaps) = (Times::none(), Gaps::none());
        for (at, seconds) in all.iter().enumerate() {
            times.take(at % BATCHES, *seconds);
            gaps.take(*seconds, 3);
        }
        for share in [0.001, 0.5, 0.95, 0.99, 1.0] {
            let expected = all[((share * 2e4) as usize).saturating_sub(1)];
            for got in [times.at(share).unwrap().value, gaps.at(share).unwrap()] {
                assert!((got / expected - 1.0).abs() < 2e-3, "{share}: {got} is not {expected}");
            }
        }
        let mean = all.iter().sum::<f64>() / 2e4;
        assert!((times.mean().unwrap().value / mean - 1.0).abs() < 1e-12);
    }

    /// By hand: batches of 1 and 3 s in turn. Their means vary by a standard deviation of 1.026, over 20 batches: 2 ± 2.093 x 0.2294.
    #[test]
    fn intervals_are_those_of_batch_means() {
        let mut times = Times::none();
        for at in 0..BATCHES * 5 {
            let batch = at / 5;
            times.take(batch, if batch % 2 == 0 { 1.0 } else { 3.0 });
        }
        let mean = times.mean().unwrap();
        assert!((mean.value - 2.0).abs() < 1e-12 && (mean.high - 2.480_1).abs() < 1e-3, "{mean:?}");
        let mut few = Times::none();
        few.take(0, 1.0);
        assert!(few.mean().unwrap().high.is_infinite());
    }
}
