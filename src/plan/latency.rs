//! What a user waits for each token, against what a device brings: the frontier that batches move along.

use crate::acceptance::batch::finish;
use crate::acceptance::process::Process;
use crate::plan::candidate::Here;
use crate::plan::round::plain_step;
use crate::plan::setup::Setup;

/// Decoding at one batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Sequences decoded together; of each rank where attention is apart.
    pub batch: u64,
    /// Draft length; 0: plain decoding.
    pub k: u64,
    /// Seconds of a token of one sequence.
    pub per_token: f64,
    /// Tokens per second of one device, those of the drafter's own counted.
    pub per_device: f64,
    /// Seconds of a round; of a plain step.
    pub round: f64,
}

impl Pace {
    fn new(setup: &Setup<'_>, batch: u64, k: u64, round: f64, tokens: f64, devices: u64) -> Self {
        let per_token = round / tokens;
        let all = (setup.ranks() * batch) as f64 / per_token;
        Self { batch, k, per_token, per_device: all / devices as f64, round }
    }

    /// Tokens per second of one sequence.
    #[must_use]
    pub fn per_user(&self) -> f64 {
        1.0 / self.per_token
    }
}

/// Plain decoding at the batches that run, the drafter not loaded.
#[must_use]
pub fn plain(setup: &Setup<'_>, context: u64, batches: impl Iterator<Item = u64>) -> Vec<Pace> {
    let pace = |batch: u64| {
        let step = plain_step(setup, batch as f64, context as f64).seconds().get();
        Pace::new(setup, batch, 0, step, 1.0, setup.devices())
    };
    batches.map(pace).collect()
}

/// A candidate at these batches, at the best draft length of each, gain or not, with as many sequences as run with it.
#[must_use]
pub fn speculative(here: &Here<'_, '_>, batches: impl Iterator<Item = u64>) -> Vec<Pace> {
    let setup = &here.candidate.setup;
    let pace = |batch: u64| {
        let place = here.at(batch);
        let length = here.length(place.best_of_drafting()?.k)?;
        let round = place.round(length).seconds(length.tokens).get();
        let devices = setup.devices() + setup.own_devices();
        Some(Pace::new(setup, place.running(length), length.k, round, length.tokens, devices))
    };
    batches.filter_map(pace).collect()
}

/// Seconds until `tokens` tokens are out, the first of them from prefill, which is not counted: expected rounds, the overshoot of
/// the last one included, times their time at one context.
///
/// # Formula
///
/// ```text
/// t = E[R(tokens - 1)] t_round,   R rounds until so many tokens are out
/// ```
#[must_use]
pub fn end_to_end(pace: &Pace, process: &Process, tokens: u64) -> f64 {
    let left = tokens.saturating_sub(1);
    let rounds = if pace.k == 0 { left as f64 } else { finish(&process.law(pace.k), left).rounds };
    rounds * pace.round
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Probability;

    /// By hand: of four tokens three are decoded. Rounds of one or two, half each: 2.25 of them on average.
    #[test]
    fn an_output_takes_whole_rounds() {
        let process = Process::Iid { alpha: Probability::new(0.5).unwrap() };
        let pace = |k: u64| Pace { batch: 2, k, per_token: 0.1, per_device: 20.0, round: 0.2 };
        assert!((end_to_end(&pace(1), &process, 4) - 0.45).abs() < 1e-12);
        assert!((end_to_end(&pace(0), &process, 4) - 0.6).abs() < 1e-12);
        assert_eq!([0, 1].map(|tokens| end_to_end(&pace(1), &process, tokens)).map(f64::to_bits), [0, 0]);
        assert!((pace(1).per_user() - 10.0).abs() < 1e-12);
    }
}
