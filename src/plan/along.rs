//! A candidate along the batches of one context: the best draft length by batch, where it pays, and what a fixed one loses.

use std::ops::RangeInclusive;

use crate::plan::candidate::{Candidate, Here, Length, Place};
use crate::plan::choose::Choice;
use crate::plan::round::{gain, plain_step};
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
    /// The runs of batches in which each draft length pays; where fewer run with it than plainly, by throughput.
    pub pays: Vec<Vec<(u64, u64)>>,
    /// The same at equal batch, by price alone, whether so many sequences run or not, and up to which batch that was looked at.
    pub priced: Vec<Vec<(u64, u64)>>,
    /// The largest batch of those.
    pub priced_to: u64,
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
    /// Looks at every batch from 1 to the largest that runs without the drafter, up to `last`, 4096 at least. What a fixed length loses is
    /// counted over the batches that are asked about.
    #[must_use]
    pub fn new(candidate: &'c Candidate<'s>, context: u64, last: u64, asked: RangeInclusive<u64>) -> Self {
        let here = candidate.here(context);
        let priced_to = here.alone.running.map_or(last, |most| last.max(most.min(DENSE)));
        let last = match here.alone.running {
            // More do not run, either way.
            Some(most) => most.min(last.max(DENSE)),
            None => last,
        };
        let most = here.resident.running.unwrap_or(last);
        let asked = (*asked.start()).min(most.min(last))..=(*asked.end()).min(most);
        let mut losses: Vec<Losses> = here
            .lengths
            .iter()
            .map(|length| Losses { k: length.k, weight: 0.0, sum: 0.0, worst: (f64::NEG_INFINITY, 1) })
            .collect();
        let crowded: Vec<f64> = here.lengths.iter().map(|length| at_most(&here, length)).collect();
        let mut looked = Vec::new();
        let mut pays: Vec<Vec<(u64, bool)>> = vec![Vec::new(); here.lengths.len()];
        let mut priced = pays.clone();
        for batch in every(1, priced_to) {
            let place = here.at(batch);
            let equal: Vec<f64> = here.lengths.iter().map(|length| at_equal_batch(&here, length, &place)).collect();
            priced.iter_mut().zip(&equal).for_each(|(of, speedup)| of.push((batch, *speedup > 1.0)));
            if batch > last {
                continue;
            }
            let alone = batch as f64 / place.plain.seconds().get();
            let of = |((length, equal), most): ((&Length, &f64), &f64)| {
                if length.runs(batch) { *equal } else { most / alone }
            };
            let speedups: Vec<f64> = here.lengths.iter().zip(&equal).zip(&crowded).map(of).collect();
            pays.iter_mut().zip(&speedups).for_each(|(of, speedup)| of.push((batch, *speedup > 1.0)));
            if batch > most {
                continue;
            }
            let mut best = Choice { k: 0, speedup: 1.0 };
            for (length, speedup) in here.lengths.iter().zip(&speedups) {
                if *speedup > best.speedup {
                    best = Choice { k: length.k, speedup: *speedup };
                }
            }
            if asked.contains(&batch) {
                losses.iter_mut().zip(speedups).for_each(|(losses, speedup)| losses.add(batch, speedup, best.speedup));
            }
            looked.push((batch, best.k));
        }
        let schedule = merged(&looked, |batch| here.choose(batch).k);
        let windows = |of: &[Vec<(u64, bool)>], pays: &dyn Fn(&Length, u64) -> bool| {
            let one = |(length, looked): (&Length, &Vec<(u64, bool)>)| {
                where_holds(&merged(looked, |batch| pays(length, batch)), |pays| pays)
            };
            here.lengths.iter().zip(of).map(one).collect()
        };
        let pays = windows(&pays, &|length, batch| here.at(batch).speedup(length) > 1.0);
        let priced = windows(&priced, &|length, batch| at_equal_batch(&here, length, &here.at(batch)) > 1.0);
        let fixed = losses.iter().filter_map(Losses::fixed).collect();
        Self { here, schedule, fixed, pays, priced, priced_to, last }
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

/// What a draft length would gain if so many sequences ran, with the drafter and without.
fn at_equal_batch(here: &Here<'_, '_>, length: &Length, place: &Place<'_, '_, '_>) -> f64 {
    let (setup, at) = (&here.candidate.setup, (place.batch as f64, here.context as f64));
    if place.base_running == place.batch {
        return gain(setup, &place.plain, at, length.k, length.tokens);
    }
    gain(setup, &plain_step(setup, at.0, at.1), at, length.k, length.tokens)
}

/// Tokens per second with as many sequences as run with a draft length; without end where nothing limits them.
fn at_most(here: &Here<'_, '_>, length: &Length) -> f64 {
    match length.capacity.running {
        None => f64::INFINITY,
        Some(0) => 0.0,
        Some(most) => most as f64 / here.at(most).per_token(length),
    }
}

/// Runs of equal answers, from those at the batches that were looked at.
fn merged<T: Copy + PartialEq>(looked: &[(u64, T)], answer: impl Fn(u64) -> T) -> Vec<Span<T>> {
    let known = |batch: u64| looked.binary_search_by_key(&batch, |(batch, _)| *batch).ok().map(|at| looked[at].1);
    spans(looked.iter().map(|(batch, _)| *batch), |batch| known(batch).unwrap_or_else(|| answer(batch)))
}

/// The best draft length by context with which a whole batch runs, from 1 to `last`; 0 where none gains or runs.
#[must_use]
pub fn by_context(candidate: &Candidate<'_>, batch: u64, last: u64) -> Vec<Span<u64>> {
    let stated = candidate.drafter.acceptance.by_context.iter().flat_map(|at| [at.context, at.context + 1]);
    let knots: Vec<u64> = stated.collect();
    spans(by_factor(1, last, &knots), |context| candidate.here(context).choose_for_all(batch).k)
}
