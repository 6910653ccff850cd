//! Where memory is the limit: each way of decoding with as many sequences as it runs.

use crate::plan::candidate::{Here, Length};
use crate::plan::capacity::full;
use crate::plan::round::plain_step;
use crate::plan::spans::every;

/// Throughput where as many sequences run as can, each way with its own number of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtFull {
    /// The draft length with the largest throughput.
    pub k: u64,
    /// Sequences that run plainly.
    pub plain_batch: u64,
    /// Sequences that run with the drafter, drafting k.
    pub batch: u64,
    /// Tokens per second of all ranks, plainly.
    pub plain: f64,
    /// The same, speculating.
    pub speculative: f64,
    /// Where speculating loses at the end: the least number of sequences that want to run at which plain decoding, which runs
    /// more of them, is faster.
    pub loses_from: Option<u64>,
}

impl AtFull {
    /// Speculating over plainly: below the speedup at equal batch by the sequences that the drafter takes the place of.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.speculative / self.plain
    }
}

/// Looks at every draft length; none where nothing limits the batch, where no sequence runs plainly, or where no draft length is tried.
#[must_use]
pub fn at_full(here: &Here<'_, '_>) -> Option<AtFull> {
    let setup = &here.candidate.setup;
    let plain_batch = here.alone.running.filter(|&most| most > 0)?;
    let of = |length: &Length| {
        let full = full(setup, here.context, length.k, length.tokens)?;
        Some(AtFull {
            k: length.k,
            plain_batch,
            batch: length.capacity.running?,
            plain: full.plain,
            speculative: full.speculative,
            loses_from: None,
        })
    };
    let best = here
        .lengths
        .iter()
        .filter_map(of)
        .reduce(|best, next| if next.speculative > best.speculative { next } else { best })?;
    Some(AtFull { loses_from: loses_from(here, &best), ..best })
}

/// Plain decoding of more sequences than the drafter leaves room for, against speculating with as many as there is room for.
fn loses_from(here: &Here<'_, '_>, best: &AtFull) -> Option<u64> {
    if best.speculative >= best.plain {
        return None;
    }
    let setup = &here.candidate.setup;
    let plain = |batch: u64| {
        let step = plain_step(setup, batch as f64, here.context as f64).seconds().get();
        setup.ranks() as f64 * batch as f64 / step
    };
    every(best.batch.max(1), best.plain_batch).find(|&batch| plain(batch) > best.speculative)
}
