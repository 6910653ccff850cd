//! Round times of a batch that empties.

use crate::acceptance::process::Process;
use crate::plan::round::{plain_step, round};
use crate::plan::setup::Setup;

/// Seconds of a round of 1, 2, … `most` sequences at draft length k, all at one context.
#[must_use]
pub fn round_seconds(setup: &Setup<'_>, process: &Process, context: u64, k: u64, most: u64) -> Vec<f64> {
    let cached = context as f64;
    let tokens = process.tokens_per_pass(k);
    let share = setup.proposing_share(tokens, k);
    let seconds = |batch: u64| {
        let plain = plain_step(setup, batch as f64, cached);
        round(setup, &plain, batch as f64, cached, k, share).seconds(tokens).get()
    };
    (1..=most).map(seconds).collect()
}
