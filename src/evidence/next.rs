//! The single measurement that tells most of what is planned.

use crate::evidence::calibrate::Fit;
use crate::evidence::deployment::Prices;
use crate::evidence::sample::Sample;

/// Where a deployment is meant to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Sequences decoded together.
    pub batches: Vec<u64>,
    /// Tokens in each sequence's KV cache.
    pub contexts: Vec<u64>,
    /// Draft lengths that are tried, without 0.
    pub lengths: Vec<u64>,
}

/// A measurement that would help.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// The drafter, by its label; none: a plain step.
    pub drafter: Option<String>,
    /// Draft tokens of a round; 0: a plain step.
    pub k: u64,
    /// Sequences decoded together.
    pub batch: u64,
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// Seconds of the step or round that are expected.
    pub seconds: f64,
    /// Expected tokens of that round.
    pub tokens: f64,
    /// How sure planned speedups are now: the root mean square of their deviations for the fitted terms.
    pub now: f64,
    /// The same with this point.
    pub then: f64,
}

/// Where something can be measured.
struct Candidate {
    drafter: Option<usize>,
    k: u64,
    batch: u64,
    context: u64,
    sample: Sample,
}

/// Looks through every planned batch and context, plain and with every drafter and draft length; none where nothing is drafted.
///
/// What is planned is, at each batch and context, the drafter and draft length that gain most with the fitted terms.
#[must_use]
pub fn next(prices: &Prices<'_>, fit: &Fit, planned: &Planned) -> Option<Next> {
    let mut candidates = Vec::new();
    let mut aims = Vec::new();
    for &context in &planned.contexts {
        for &batch in &planned.batches {
            let (sequences, cached) = (batch as f64, context as f64);
            let plain = prices.plain(sequences, cached);
            candidates.push(Candidate { drafter: None, k: 0, batch, context, sample: plain });
            let rounds = rounds(prices, &planned.lengths, (batch, context));
            let gain = |of: &Candidate| fit.speedup(&of.sample);
            let best = rounds.iter().reduce(|best, next| if gain(next) > gain(best) { next } else { best });
            aims.extend(best.map(|best| best.sample));
            candidates.extend(rounds);
        }
    }
    let squares: f64 = aims.iter().map(|of| fit.spread(of).powi(2)).sum();
    let now = squares / aims.len().max(1) as f64;
    let gained = |of: &Candidate| fit.gained(&of.sample, &aims);
    let best = candidates.iter().reduce(|best, next| if gained(next) > gained(best) { next } else { best })?;
    if aims.is_empty() {
        return None;
    }
    let label = best.drafter.and_then(|at| prices.drafters().nth(at)).map(|drafter| drafter.label.clone());
    Some(Next {
        drafter: label,
        k: best.k,
        batch: best.batch,
        context: best.context,
        seconds: fit.seconds(&best.sample),
        tokens: best.sample.tokens,
        now: now.sqrt(),
        then: (now - gained(best)).max(0.0).sqrt(),
    })
}

fn rounds(prices: &Prices<'_>, lengths: &[u64], (batch, context): (u64, u64)) -> Vec<Candidate> {
    let of = |(at, only): (usize, Option<u64>)| {
        let tried = only.map_or_else(|| lengths.to_vec(), |only| vec![only]);
        let candidate = move |k: u64| {
            let sample = prices.round(at, k, batch as f64, context as f64)?;
            Some(Candidate { drafter: Some(at), k, batch, context, sample })
        };
        tried.into_iter().filter_map(candidate).collect::<Vec<_>>()
    };
    prices.drafters().map(|drafter| drafter.only_length()).enumerate().flat_map(of).collect()
}
