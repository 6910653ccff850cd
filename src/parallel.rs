//! Many pieces of work on several threads, results taken in order: the only user of `rayon`.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// How a run ended that met no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every item was worked on and taken.
    Finished,
    /// The stop flag was raised; what was taken until then is a prefix of the whole.
    Stopped,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// `take` refused a result.
    #[error(transparent)]
    Taken(E),
}

/// Pieces in flight for each thread: enough to even out their sizes, few enough to bound memory.
const WINDOW_PER_THREAD: usize = 4;

/// Calls `work` on every item, on `threads` threads, and `take` on every result in the items' order.
///
/// While one window of results is taken, the next is worked on. At most two windows of
/// `4 x threads` results exist at a time, so memory does not grow with the number of items. `take`
/// is where the caller counts progress. The order of results, and so every byte made of them, does
/// not depend on `threads`. A single item is worked on in the calling thread.
///
/// # Errors
///
/// [`Failure::Taken`] with the first error of `take`; [`Failure::Threads`] if no threads start.
///
/// # Examples
///
/// ```
/// use specplan::parallel::{ordered, Outcome};
/// let mut squares = Vec::new();
/// let outcome = ordered(0..5_u64, 8, &Default::default(), |n| n * n, |n| {
///     squares.push(n);
///     Ok::<(), std::convert::Infallible>(())
/// })?;
/// assert_eq!((outcome, squares), (Outcome::Finished, vec![0, 1, 4, 9, 16]));
/// # Ok::<(), specplan::parallel::Failure<std::convert::Infallible>>(())
/// ```
pub fn ordered<T, R, E>(
    items: impl Iterator<Item = T> + Send,
    threads: usize,
    stop: &AtomicBool,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<Outcome, Failure<E>>
where
    T: Send,
    R: Send,
    E: Send,
{
    let threads = threads.max(1);
    let mut items = items.fuse();
    let mut next_window = || items.by_ref().take(threads * WINDOW_PER_THREAD).collect::<Vec<T>>();
    let first = next_window();
    if first.len() <= 1 {
        return take_all(first.into_iter().map(work), stop, &mut take);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::Threads { threads, reason: error.to_string() })?;
    pool.install(|| {
        let work_window = |window: Vec<T>| -> Vec<R> { window.into_par_iter().map(&work).collect() };
        let mut done = work_window(first);
        loop {
            let window = next_window();
            let last = window.is_empty();
            let (taken, next) = rayon::join(|| take_all(done.into_iter(), stop, &mut take), || work_window(window));
            let outcome = taken?;
            if last || outcome == Outcome::Stopped {
                return Ok(outcome);
            }
            done = next;
        }
    })
}

fn take_all<R, E>(
    results: impl Iterator<Item = R>,
    stop: &AtomicBool,
    take: &mut impl FnMut(R) -> Result<(), E>,
) -> Result<Outcome, Failure<E>> {
    for result in results {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        take(result).map_err(Failure::Taken)?;
    }
    Ok(Outcome::Finished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(threads: usize, items: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        let outcome = ordered(
            0..items,
            threads,
            &AtomicBool::new(false),
            |n| n,
            |n| {
                seen.push(n);
                Ok::<(), String>(())
            },
        );
        assert!(matches!(outcome, Ok(Outcome::Finished)));
        seen
    }

    #[test]
    fn order_is_that_of_the_items_whatever_the_threads() {
        for items in [0, 1, 2, 7, 1000] {
            let expected: Vec<u64> = (0..items).collect();
            for threads in [1, 2, 8] {
                assert_eq!(digits(threads, items), expected, "{items} items on {threads} threads");
            }
        }
    }

    #[test]
    fn a_refused_result_ends_the_run_at_once() {
        let mut taken = 0;
        let result = ordered(
            0..100,
            2,
            &AtomicBool::new(false),
            |n| n,
            |n| {
                taken += 1;
                if n == 10 { Err("disk full") } else { Ok(()) }
            },
        );
        assert!(matches!(result, Err(Failure::Taken("disk full"))));
        assert_eq!(taken, 11);
        let last = ordered(0..2, 2, &AtomicBool::new(false), |n| n, |n| if n == 1 { Err("disk full") } else { Ok(()) });
        assert!(matches!(last, Err(Failure::Taken("disk full"))));
    }

    #[test]
    fn a_raised_flag_stops_between_results() {
        let stop = AtomicBool::new(false);
        let mut taken = Vec::new();
        let result = ordered(
            0..100,
            2,
            &stop,
            |n| n,
            |n| {
                taken.push(n);
                stop.store(n == 41, Ordering::Relaxed);
                Ok::<(), String>(())
            },
        );
        assert!(matches!(result, Ok(Outcome::Stopped)));
        assert_eq!(taken.last(), Some(&41));
    }
}
