//! What is best along an axis of whole numbers, in runs of equal answers.
//!
//! Neither batch nor context has one border: a drafter may lose at first, gain in the middle and lose again. So the axis is looked
//! at closely, and a border is pinned down only between two neighbours of that look.

/// A run of numbers with one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<T> {
    /// The first of them.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// The answer.
    pub what: T,
}

/// Up to here every whole number is looked at.
pub const DENSE: u64 = 4096;
/// Beyond, steps are this part of the number.
const PART: u64 = 1024;
/// Points on a scale by factors.
const BY_FACTOR: u32 = 512;

/// Every number from `first` to `last` that is looked at where each may matter: all up to 4096, then steps of 0.1 %.
pub fn every(first: u64, last: u64) -> impl Iterator<Item = u64> {
    let next = move |&at: &u64| {
        let step = if at < DENSE { 1 } else { at / PART };
        (at < last).then(|| at.saturating_add(step).min(last))
    };
    std::iter::successors((first <= last).then_some(first), next)
}

/// Numbers from `first` to `last` where what is asked changes slowly: 512 by equal factors, and those of `knots`, where it may
/// change its course.
#[must_use]
pub fn by_factor(first: u64, last: u64, knots: &[u64]) -> Vec<u64> {
    let (low, high) = (first.max(1) as f64, last.max(1) as f64);
    let share = |at: u32| f64::from(at) / f64::from(BY_FACTOR);
    let spread = (0..=BY_FACTOR).map(|at| (low * (high / low).powf(share(at))).round() as u64);
    let inside = |at: &u64| (first..=last).contains(at);
    let mut points: Vec<u64> =
        spread.chain(knots.iter().copied()).filter(inside).chain([first, last].into_iter().filter(inside)).collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Runs of equal answers over rising points. Between two neighbours answers may change several times, but none comes back.
///
/// # Examples
///
/// ```
/// use specplan::plan::spans::{Span, spans};
/// let found = spans([1, 2, 10, 100], |at| at >= 37);
/// assert_eq!(found, [Span { first: 1, last: 36, what: false }, Span { first: 37, last: 100, what: true }]);
/// ```
pub fn spans<T: Copy + PartialEq>(points: impl IntoIterator<Item = u64>, answer: impl Fn(u64) -> T) -> Vec<Span<T>> {
    let mut found: Vec<Span<T>> = Vec::new();
    for point in points {
        let what = answer(point);
        let Some(mut run) = found.pop() else {
            found.push(Span { first: point, last: point, what });
            continue;
        };
        while run.what != what {
            run.last = border(run.last, point, run.what, &answer);
            found.push(run);
            let next = run.last + 1;
            run = Span { first: next, last: next, what: if next == point { what } else { answer(next) } };
        }
        found.push(Span { last: point, ..run });
    }
    found
}

/// The last number from `low` on, below `high`, with the answer of `low`.
fn border<T: Copy + PartialEq>(mut low: u64, mut high: u64, of_low: T, answer: &impl Fn(u64) -> T) -> u64 {
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if answer(middle) == of_low { low = middle } else { high = middle }
    }
    low
}

/// Runs whose answers a test holds for, joined where they touch.
#[must_use]
pub fn where_holds<T: Copy>(spans: &[Span<T>], holds: impl Fn(T) -> bool) -> Vec<(u64, u64)> {
    let mut windows: Vec<(u64, u64)> = Vec::new();
    for span in spans.iter().filter(|span| holds(span.what)) {
        match windows.last_mut() {
            Some(window) if window.1 + 1 == span.first => window.1 = span.last,
            _ => windows.push((span.first, span.last)),
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_looked_at_up_to_4096_and_both_ends_always() {
        assert_eq!(every(3, 6).collect::<Vec<_>>(), [3, 4, 5, 6]);
        let all: Vec<u64> = every(1, 1_000_000_000).collect();
        assert_eq!((all[0], all[4095], all[all.len() - 1]), (1, 4096, 1_000_000_000));
        assert!(all.len() < 20_000 && all.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(every(5, 4).count(), 0);
    }

    #[test]
    fn knots_are_looked_at() {
        let points = by_factor(1, 131_072, &[12_345, 500_000]);
        assert!(points.contains(&12_345) && !points.contains(&500_000));
        assert_eq!((points[0], points[points.len() - 1]), (1, 131_072));
        assert_eq!(by_factor(7, 7, &[]), [7]);
        assert_eq!(by_factor(0, 3, &[]), [0, 1, 2, 3]);
    }

    /// Three answers between two neighbours.
    #[test]
    fn answers_that_change_twice_between_two_points_are_all_found() {
        let found = spans([1, 100], |at| {
            if at < 40 {
                3
            } else if at < 60 {
                2
            } else {
                0
            }
        });
        let borders: Vec<(u64, u64, i32)> = found.iter().map(|span| (span.first, span.last, span.what)).collect();
        assert_eq!(borders, [(1, 39, 3), (40, 59, 2), (60, 100, 0)]);
    }

    #[test]
    fn runs_that_touch_are_one_window() {
        let of = |at: u64| {
            if at < 3 {
                0
            } else if at < 7 {
                2
            } else if at < 9 {
                1
            } else if at < 12 {
                0
            } else {
                3
            }
        };
        let found = spans(1..=15, of);
        assert_eq!(found.len(), 5);
        assert_eq!(where_holds(&found, |k| k > 0), [(3, 8), (12, 15)]);
    }
}
