//! The values along one dimension of a sweep, listed or described, never expanded.

use crate::units::Probability;

/// A value an axis can hold.
pub trait AxisValue: Copy + PartialOrd {
    /// `from + index * step`.
    fn stepped(from: Self, step: Self, index: u64) -> Self;
    /// How many whole steps lie between `from` and `to`; `from <= to` and `step > 0` hold.
    fn steps_between(from: Self, to: Self, step: Self) -> u64;
    /// `from`, doubled `times` times.
    fn doubled(from: Self, times: u64) -> Self;
    /// Zero, which no step may be.
    const ZERO: Self;
}

impl AxisValue for u64 {
    const ZERO: Self = 0;

    fn stepped(from: Self, step: Self, index: u64) -> Self {
        from + step * index
    }

    fn steps_between(from: Self, to: Self, step: Self) -> u64 {
        (to - from) / step
    }

    fn doubled(from: Self, times: u64) -> Self {
        from << times
    }
}

impl AxisValue for f64 {
    const ZERO: Self = 0.0;

    /// Rounded to the decimals that `from` and `step` are written with: a range from 0.5 in steps of
    /// 0.05 holds 0.65, the number a reader would type, and not 0.6500000000000001.
    fn stepped(from: Self, step: Self, index: u64) -> Self {
        if index == 0 {
            return from;
        }
        let value = from + step * index as f64;
        let decimals = decimals(from).max(decimals(step));
        // The text of a finite number reads back as one.
        format!("{value:.decimals$}").parse().unwrap_or(value)
    }

    /// A step that misses `to` by rounding alone, of the inputs or of their difference, still reaches it.
    fn steps_between(from: Self, to: Self, step: Self) -> u64 {
        let slack = 1e-9 + 4.0 * Self::EPSILON * from.abs().max(to.abs()) / step;
        ((to - from) / step + slack.min(0.25)).floor() as u64
    }

    fn doubled(from: Self, times: u64) -> Self {
        from * (times as f64).exp2()
    }
}

/// Digits after the point in the shortest decimal form.
fn decimals(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

impl AxisValue for Probability {
    const ZERO: Self = Self::ZERO;

    /// A range ends at or below `to`, so that only the last rounding could pass 1.
    fn stepped(from: Self, step: Self, index: u64) -> Self {
        Self::new(f64::stepped(from.get(), step.get(), index)).unwrap_or(Self::ONE)
    }

    fn steps_between(from: Self, to: Self, step: Self) -> u64 {
        f64::steps_between(from.get(), to.get(), step.get())
    }

    fn doubled(from: Self, times: u64) -> Self {
        Self::new(f64::doubled(from.get(), times)).unwrap_or(Self::ONE)
    }
}

/// How the values are given.
#[derive(Clone, Debug, PartialEq)]
enum Values<T> {
    List(Vec<T>),
    Range { from: T, step: T, count: u64 },
    Powers { from: T, count: u64 },
}

/// At least one value, none twice.
///
/// # Examples
///
/// ```
/// use specplan::domain::axis::Axis;
/// let batch = Axis::powers_of_two(1, 256)?;
/// assert_eq!(batch.iter().collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
/// let alpha = Axis::range(0.5, 0.95, 0.05)?;
/// assert_eq!((alpha.len(), alpha.get(3)), (10, 0.65));
/// # Ok::<(), specplan::domain::axis::AxisError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis<T>(Values<T>);

/// Why no axis can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AxisError {
    /// No value.
    #[error("an axis needs at least one value")]
    Empty,
    /// A value is listed twice.
    #[error("the value at position {position} is listed twice")]
    Repeated {
        /// Of the second one, counted from 1.
        position: usize,
    },
    /// The range ends before it starts.
    #[error("the range is empty: `from` lies above `to`")]
    Backwards,
    /// The step is zero or negative.
    #[error("`step` must be above zero")]
    Step,
    /// Rounding swallows the step.
    #[error("`step` is too small to tell the values of the range apart")]
    StepTooSmall,
    /// Doubling zero leads nowhere.
    #[error("a log2 range must start at 1 or above")]
    FromZero,
}

impl<T: AxisValue> Axis<T> {
    /// The values as listed, in their order.
    ///
    /// # Errors
    ///
    /// [`AxisError::Empty`], [`AxisError::Repeated`].
    pub fn list(values: Vec<T>) -> Result<Self, AxisError> {
        if values.is_empty() {
            return Err(AxisError::Empty);
        }
        let mut sorted: Vec<(usize, T)> = values.iter().copied().enumerate().collect();
        sorted.sort_by(|a, b| a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal).then(a.0.cmp(&b.0)));
        let repeated = sorted.windows(2).filter(|pair| pair[0].1 == pair[1].1).map(|pair| pair[1].0 + 1).min();
        match repeated {
            Some(position) => Err(AxisError::Repeated { position }),
            None => Ok(Self(Values::List(values))),
        }
    }

    /// One value.
    #[must_use]
    pub fn single(value: T) -> Self {
        Self(Values::List(vec![value]))
    }

    /// `from`, `from + step`, … up to `to`.
    ///
    /// # Errors
    ///
    /// [`AxisError::Backwards`], [`AxisError::Step`], [`AxisError::StepTooSmall`].
    pub fn range(from: T, to: T, step: T) -> Result<Self, AxisError> {
        if step <= T::ZERO {
            return Err(AxisError::Step);
        }
        if to < from {
            return Err(AxisError::Backwards);
        }
        let count = T::steps_between(from, to, step).saturating_add(1);
        // Floats lie farthest apart at the upper end.
        if count > 1 && T::stepped(from, step, count - 2) >= T::stepped(from, step, count - 1) {
            return Err(AxisError::StepTooSmall);
        }
        Ok(Self(Values::Range { from, step, count }))
    }

    /// How many values.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Values::List(values) => values.len() as u64,
            Values::Range { count, .. } | Values::Powers { count, .. } => *count,
        }
    }

    /// Never: an axis has at least one value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `index`, which is below [`Self::len`].
    #[must_use]
    pub fn get(&self, index: u64) -> T {
        match &self.0 {
            Values::List(values) => values[index as usize],
            Values::Range { from, step, .. } => T::stepped(*from, *step, index),
            Values::Powers { from, .. } => T::doubled(*from, index),
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// How the axis is given: every value of a list, the rule of a range.
    #[must_use]
    pub fn described(&self) -> Described<'_, T> {
        match &self.0 {
            Values::List(values) => Described::List(values),
            Values::Range { from, step, count } => Described::Range { from: *from, step: *step, count: *count },
            Values::Powers { from, count } => Described::Powers { from: *from, count: *count },
        }
    }
}

/// How an axis is given. Equal descriptions mean equal values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Described<'a, T> {
    /// These values.
    List(&'a [T]),
    /// `from`, `from + step`, …
    Range {
        /// The first value.
        from: T,
        /// Between neighbours.
        step: T,
        /// How many values.
        count: u64,
    },
    /// `from`, twice `from`, …
    Powers {
        /// The first value.
        from: T,
        /// How many values.
        count: u64,
    },
}

impl Axis<u64> {
    /// `from`, twice `from`, … up to `to`.
    ///
    /// # Errors
    ///
    /// [`AxisError::FromZero`], [`AxisError::Backwards`].
    pub fn powers_of_two(from: u64, to: u64) -> Result<Self, AxisError> {
        if from == 0 {
            return Err(AxisError::FromZero);
        }
        if to < from {
            return Err(AxisError::Backwards);
        }
        Ok(Self(Values::Powers { from, count: u64::from((to / from).ilog2()) + 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_range_is_counted_and_not_expanded() {
        let axis = Axis::range(1_u64, 1_000_000_000_000_000, 1).unwrap();
        assert_eq!((axis.len(), axis.get(999_999_999_999_999)), (1_000_000_000_000_000, 1_000_000_000_000_000));
    }

    #[test]
    fn a_range_ends_where_it_is_told_to() {
        assert_eq!(Axis::range(1_u64, 10, 4).unwrap().iter().collect::<Vec<_>>(), [1, 5, 9]);
        assert_eq!(Axis::range(0.1, 0.3, 0.1).unwrap().iter().collect::<Vec<_>>(), [0.1, 0.2, 0.3]);
        assert_eq!(Axis::powers_of_two(3, 23).unwrap().iter().collect::<Vec<_>>(), [3, 6, 12]);
    }

    /// Fine steps are not rounded away, and the first value is the one given.
    #[test]
    fn a_range_keeps_the_digits_it_is_given() {
        let values = |from, to, step| Axis::range(from, to, step).unwrap().iter().collect::<Vec<f64>>();
        assert_eq!(values(1e-14, 1e-13, 3e-14), [1e-14, 4e-14, 7e-14, 1e-13]);
        assert_eq!(values(0.123_456_789_012_345_67, 0.5, 1.0), [0.123_456_789_012_345_67]);
        assert_eq!(values(0.999_999_999_999, 1.0, 5e-13), [0.999_999_999_999, 0.999_999_999_999_5, 1.0]);
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        assert_eq!(Axis::<u64>::list(vec![]), Err(AxisError::Empty));
        assert_eq!(Axis::list(vec![4_u64, 1, 2, 1, 4]), Err(AxisError::Repeated { position: 4 }));
        assert_eq!(Axis::range(2_u64, 1, 1), Err(AxisError::Backwards));
        assert_eq!(Axis::range(0.5, 0.9, 0.0), Err(AxisError::Step));
        assert_eq!(Axis::powers_of_two(0, 8), Err(AxisError::FromZero));
        assert_eq!(Axis::range(0.5, 0.9, 1e-17), Err(AxisError::StepTooSmall));
    }
}
