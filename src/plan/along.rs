//! A candidate along the batches of one context: the best draft length by batch, where it pays, and what a fixed one loses.

use std::ops::RangeInclusive;

use crate::plan::candidate::{Candidate, Here, Length};
use crate::plan::choose::Choice;
use crate::plan::spans::{DENSE, Span, by_factor, every, spans, where_holds};

/// The longest context that is looked at where neither the study nor the engine says how long they get.
pub const LONGEST_CONTEXT: u64 = 131_072;

/// A candidate along the batches of one context.
#[derive(Clone, Debug)]
pub struct Along<'c, 's> {
    /// The candidate here.
    pub here: Here<'c, 's>,
    /// The best draft length by batch, from 1 to the largest looked at that runs with the drafter in memory; 0 where none
    /// gains. Empty where no sequence runs.
    pub schedule: Vec<Span<u64>>,
    /// What each draft length loses that is kept at every batch.
    pub fixed: Vec<Fixed>,
    /// The runs of batches in which each draft length pays by its price, whether so many sequences run or not, and up to which
    /// batch that was looked at.
    pub priced: Vec<Vec<(u64, u64)>>,
    /// The largest batch looked at.
    pub last: u64,
}

/// What a draft length that is kept at every batch loses against the best of each.
///
/// # Formula
///
/// ```text
/// loss at a batch = 1 - speedup(k) / max(1, best speedup)
/// mean            = sum of loss / batch  /  sum of 1 / batch
/// ```
///
/// over the batches that are asked about: each doubling of the batch counts alike. Of more sequences than run with it the others wait:
/// there the speedup is that of its throughput over that of plain decoding of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// The draft length.
    pub k: u64,
    /// Mean loss.
    pub mean: f64,
    /// The largest loss.
    pub worst: f64,
    /// The batch of the largest loss.
    pub worst_at: u64,
}

/// Sums over batches.
#[derive(Clone, Copy, Debug)]
struct Losses {
    k: u64,
    weight: f64,
    sum: f64,
    worst: (f64, u64),
}

impl Losses {
    fn add(&mut self, batch: u64, speedup: f64, best: f64) {
        let loss = 1.0 - speedup / best;
        let weight = 1.0 / batch as f64;
        self.weight += weight;
        self.sum += weight * loss;
        if loss > self.worst.0 {
            self.worst = (loss, batch);
        }
    }

    fn fixed(&self) -> Option<Fixed> {
        (self.weight > 0.0).then(|| Fixed {
            k: self.k,
            mean: self.sum / self.weight,
            worst: self.worst.0,
            worst_at: self.worst.1,
        })
    }
}

impl<'c, 's> Along<'c, 's> {
    /// Looks at every batch from 1 to `last`, and to the largest that runs without the drafter, where that is no more than 4096. What
    /// a fixed length loses is counted over the batches that are asked about.
    #[must_use]
    pub fn new(candidate: &'c Candidate<'s>, context: u64, last: u64, asked: RangeInclusive<u64>) -> Self {
        let here = candidate.here(context);
        let last = here.alone.running.map_or(last, |most| last.max(most.min(DENSE)));
        let most = here.resident.running.unwrap_or(last);
        let mut losses: Vec<Losses> = here
            .lengths
            .iter()
            .map(|length| Losses { k: length.k, weight: 0.0, sum: 0.0, worst: (f64::NEG_INFINITY, 1) })
            .collect();
        // Tokens per second of one rank where as many run as can.
        let crowded: Vec<f64> = here.lengths.iter().map(|length| at_most(&here, length)).collect();
        let mut looked = Vec::new();
        let mut gains: Vec<Vec<(u64, bool)>> = vec![Vec::new(); here.lengths.len()];
        for batch in every(1, last) {
            let place = here.at(batch);
            let priced: Vec<f64> = here.lengths.iter().map(|length| place.speedup(length)).collect();
            gains.iter_mut().zip(&priced).for_each(|(gains, speedup)| gains.push((batch, *speedup > 1.0)));
            if batch > most {
                continue;
            }
            let mut best = Choice { k: 0, speedup: 1.0 };
            let run = |(length, speedup): (&Length, &f64)| length.runs(batch).then_some(*speedup);
            let speedups: Vec<Option<f64>> = here.lengths.iter().zip(&priced).map(run).collect();
            for (length, speedup) in here.lengths.iter().zip(&speedups) {
                if let Some(speedup) = speedup.filter(|speedup| *speedup > best.speedup) {
                    best = Choice { k: length.k, speedup };
                }
            }
            if asked.contains(&batch) {
                let plain = batch as f64 / place.plain.seconds().get();
                for ((losses, speedup), most) in losses.iter_mut().zip(speedups).zip(&crowded) {
                    losses.add(batch, speedup.unwrap_or(most / plain), best.speedup);
                }
            }
            looked.push((batch, best.k));
        }
        let schedule = merged(&looked, |batch| here.choose(batch).k);
        let priced = here.lengths.iter().zip(&gains).map(|(length, gains)| {
            let pays = |batch: u64| here.at(batch).speedup(length) > 1.0;
            where_holds(&merged(gains, pays), |gains| gains)
        });
        let priced = priced.collect();
        let fixed = losses.iter().filter_map(Losses::fixed).collect();
        Self { here, schedule, fixed, priced, last }
    }

    /// The runs of batches in which it pays with some draft length.
    #[must_use]
    pub fn windows(&self) -> Vec<(u64, u64)> {
        where_holds(&self.schedule, |k| k > 0)
    }

    /// The best draft length of a batch; 0 where none gains, or where it was not looked at.
    #[must_use]
    pub fn k(&self, batch: u64) -> u64 {
        self.schedule.iter().find(|span| (span.first..=span.last).contains(&batch)).map_or(0, |span| span.what)
    }

    /// The draft length to keep where there is to be one: that of the least mean loss.
    #[must_use]
    pub fn steady(&self) -> Option<&Fixed> {
        self.fixed.iter().reduce(|best, next| if next.mean < best.mean { next } else { best })
    }
}

/// Tokens per second with as many sequences as run with a draft length; without end where nothing limits them.
fn at_most(here: &Here<'_, '_>, length: &Length) -> f64 {
    match length.capacity.running {
        None => f64::INFINITY,
        Some(0) => 0.0,
        Some(most) => most as f64 * length.tokens / here.at(most).round(length).seconds().get(),
    }
}

/// Runs of equal answers, from those at the batches that were looked at.
fn merged<T: Copy + PartialEq>(looked: &[(u64, T)], answer: impl Fn(u64) -> T) -> Vec<Span<T>> {
    let known = |batch: u64| looked.binary_search_by_key(&batch, |(batch, _)| *batch).ok().map(|at| looked[at].1);
    spans(looked.iter().map(|(batch, _)| *batch), |batch| known(batch).unwrap_or_else(|| answer(batch)))
}

/// The best draft length by context at a batch, from 1 to `last`; 0 where none gains or runs.
#[must_use]
pub fn by_context(candidate: &Candidate<'_>, batch: u64, last: u64) -> Vec<Span<u64>> {
    let stated = candidate.drafter.acceptance.by_context.iter().flat_map(|at| [at.context, at.context + 1]);
    let knots: Vec<u64> = stated.collect();
    spans(by_factor(1, last, &knots), |context| candidate.here(context).choose(batch).k)
}
