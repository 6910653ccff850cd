//! A few of many positions, spaced so that a reader sees the whole.

/// At most `most` of the indices below `length`, evenly spaced, both ends included.
///
/// # Examples
///
/// ```
/// use specplan::report::pick::evenly;
/// assert_eq!(evenly(3, 8), [0, 1, 2]);
/// assert_eq!(evenly(101, 5), [0, 25, 50, 75, 100]);
/// assert_eq!(evenly(9, 4), [0, 3, 5, 8]);
/// ```
#[must_use]
pub fn evenly(length: u64, most: u64) -> Vec<u64> {
    if length <= most {
        return (0..length).collect();
    }
    let last = u128::from(length - 1);
    let steps = u128::from(most.max(2) - 1);
    (0..most).map(|at| ((u128::from(at) * last + steps / 2) / steps) as u64).collect()
}

/// At most `most` of the indices below `length`, spaced by a factor, both ends included: what happens
/// between batch 1 and 16 matters as much as between 64 and 1024, and so with k.
///
/// # Examples
///
/// ```
/// use specplan::report::pick::by_factor;
/// assert_eq!(by_factor(1000, 4), [0, 9, 99, 999]);
/// assert_eq!(by_factor(7, 6), [0, 1, 2, 4, 6]);
/// ```
#[must_use]
pub fn by_factor(length: u64, most: u64) -> Vec<u64> {
    if length <= most || most < 2 {
        return evenly(length, most);
    }
    let index = |at: u64| match at + 1 == most {
        true => length - 1,
        false => ((length as f64).powf(at as f64 / (most - 1) as f64).round() as u64).clamp(1, length) - 1,
    };
    let mut indices: Vec<u64> = (0..most).map(index).collect();
    indices.dedup();
    indices
}

/// At most `most` of `length` positions, denser at the start, both ends included.
#[must_use]
pub fn spread_by_factor(length: usize, most: u64) -> Vec<usize> {
    by_factor(length as u64, most).into_iter().map(|at| at as usize).collect()
}

/// At most `most` of `length` positions, evenly spaced, both ends included.
#[must_use]
pub fn spread(length: usize, most: u64) -> Vec<usize> {
    evenly(length as u64, most).into_iter().map(|at| at as usize).collect()
}
