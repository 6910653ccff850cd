//! Some values of an axis.

use std::ops::Range;

/// Values kept of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    pub(super) indices: Vec<u64>,
    /// The values.
    pub values: Vec<u64>,
    /// Whether these are all.
    pub complete: bool,
}

impl Picked {
    pub(super) fn of(length: u64, indices: Vec<u64>, value: impl Fn(u64) -> u64) -> Self {
        let values = indices.iter().map(|&index| value(index)).collect();
        Self { complete: indices.len() as u64 == length, indices, values }
    }

    /// The indices that lie in a range.
    pub(super) fn within<'a>(&'a self, range: &'a Range<u64>) -> impl Iterator<Item = (usize, u64)> + 'a {
        let indices = self.indices.iter().copied().enumerate();
        indices.filter(|(_, index)| range.contains(index))
    }

    /// How many; at least one, as an axis has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.indices.len()
    }
}
