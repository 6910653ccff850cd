//! What benchmarks share.

use std::hint::black_box;
use std::time::Instant;

/// Seconds of a piece of work.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let made = black_box(work());
    (start.elapsed().as_secs_f64(), made)
}

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
