//! Estimates from samples, with 95 % intervals.
//!
//! Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference", for the interval of a
//! share.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The standard normal's 97.5 % point: two-sided 95 %.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Fewer values than this beside the most common one say little about how they vary.
pub(super) const FEW: usize = 10;

/// Wilson's interval of a share among n, within [0, 1] and ending there at a share of 0 or 1.
pub(super) fn wilson(share: f64, n: f64) -> (f64, f64) {
    wilson_at(share, n, Z)
}

/// The same at so many standard deviations.
pub(super) fn wilson_at(share: f64, n: f64, z: f64) -> (f64, f64) {
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At either end the two halves are equal in exact arithmetic; rounding must not leave [0, 1].
    let low = if share <= 0.0 { 0.0 } else { (middle - spread) / scale };
    let high = if share >= 1.0 { 1.0 } else { (middle + spread) / scale };
    (low, high)
}

/// An estimate and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// A share of trials with Wilson's score interval, which unlike Wald's keeps a width at 0 and 1.
    ///
    /// # Formula
    ///
    /// ```text
    /// (p + z^2/2n ± z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)     p = hits / trials
    /// ```
    ///
    /// `None` without a trial.
    ///
    /// # Examples
    ///
    /// No hit in 10 trials leaves 0 to `z^2 / (10 + z^2)`, with z^2 = 3.8415:
    ///
    /// ```
    /// use specplan::acceptance::estimate::Estimate;
    /// let none = Estimate::share(0, 10).unwrap();
    /// assert_eq!((none.value, none.low), (0.0, 0.0));
    /// assert!((none.high - 3.8415 / 13.8415).abs() < 1e-5);
    /// ```
    #[must_use]
    pub fn share(hits: u64, trials: u64) -> Option<Self> {
        if trials == 0 || hits > trials {
            return None;
        }
        let value = hits as f64 / trials as f64;
        let (low, high) = wilson(value, trials as f64);
        Some(Self { value, low, high })
    }

    /// A mean of independent replications, with Student's interval; none of fewer than two.
    ///
    /// # Formula
    ///
    /// ```text
    /// mean ± t(n - 1) sqrt( sum (x - mean)^2 / (n - 1) / n )
    /// ```
    ///
    /// # Examples
    ///
    /// Two values: t with one degree of freedom is 12.706, and the half width 12.706 x 0.5.
    ///
    /// ```
    /// use specplan::acceptance::estimate::Estimate;
    /// let of = Estimate::mean([1.0, 2.0].into_iter()).unwrap();
    /// assert!((of.value - 1.5).abs() < 1e-12 && (of.high - 1.5 - 6.353).abs() < 1e-3);
    /// ```
    #[must_use]
    pub fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let (count, sum) = values.clone().fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        let value = sum / count;
        let squares: f64 = values.map(|one| (one - value) * (one - value)).sum();
        Some(Self::around(value, squares, count, student(count)?))
    }

    /// A mean of independent replications that lie between two bounds. Where fewer than ten differ from the most common
    /// value, their spread says little: the interval is then Wilson's of the share of the way from bound to bound, which
    /// is never too narrow, since no variable in [0, 1] varies more than one that is only ever 0 or 1.
    ///
    /// # Examples
    ///
    /// A hundred values of 3 between 1 and 3: the share is 1, and Wilson's lower end 100 / 103.8415.
    ///
    /// ```
    /// use specplan::acceptance::estimate::Estimate;
    /// let of = Estimate::bounded_mean(&[3.0; 100], (1.0, 3.0)).unwrap();
    /// assert_eq!(of.high, 3.0);
    /// assert!((of.low - 1.0 - 2.0 * 100.0 / 103.8415).abs() < 1e-4);
    /// ```
    #[must_use]
    pub fn bounded_mean(values: &[f64], (least, most): (f64, f64)) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let commonest = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).max()?;
        if values.len() - commonest >= FEW {
            return Self::mean(values.iter().copied());
        }
        let value = values.iter().sum::<f64>() / values.len() as f64;
        let reach = most - least;
        let share = if reach > 0.0 { (value - least) / reach } else { 0.0 };
        let (low, high) = wilson(share, values.len() as f64);
        Some(Self { value, low: least + reach * low, high: least + reach * high })
    }

    /// A ratio of two sums over independent replications, such as tokens over rounds of whole sequences; none of fewer
    /// than two.
    ///
    /// # Formula
    ///
    /// ```text
    /// r = sum a / sum b          r ± t(n - 1) sqrt( sum (a - r b)^2 / (n - 1) / n ) / mean b
    /// ```
    ///
    /// By the delta method; sequences may be of any length and their rounds depend on each other.
    ///
    /// # Examples
    ///
    /// Replications that agree leave no doubt:
    ///
    /// ```
    /// use specplan::acceptance::estimate::Estimate;
    /// let of = Estimate::ratio([(4.0, 2.0), (6.0, 3.0)].into_iter()).unwrap();
    /// assert_eq!((of.value, of.low, of.high), (2.0, 2.0, 2.0));
    /// ```
    #[must_use]
    pub fn ratio(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Self> {
        let add = |(count, a, b): (f64, f64, f64), (x, y)| (count + 1.0, a + x, b + y);
        let (count, above, below) = pairs.clone().fold((0.0, 0.0, 0.0), add);
        let value = above / below;
        let squares: f64 = pairs.map(|(a, b)| (a - value * b) * (a - value * b)).sum();
        let mean = below / count;
        Some(Self::around(value, squares / (mean * mean), count, student(count)?))
    }

    fn around(value: f64, squares: f64, count: f64, factor: f64) -> Self {
        let half = factor * (squares / (count - 1.0) / count).sqrt();
        Self { value, low: value - half, high: value + half }
    }

    /// The value that a share of a sorted sample does not exceed, with the order statistics between which the true one
    /// lies: of n values, those at `n p ± z sqrt(n p (1 - p))`. None of an empty sample.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::acceptance::estimate::Estimate;
    /// let sample: Vec<f64> = (1..=100).map(f64::from).collect();
    /// let median = Estimate::quantile(&sample, 0.5).unwrap();
    /// assert_eq!((median.value, median.low, median.high), (50.0, 40.0, 60.0));
    /// ```
    #[must_use]
    pub fn quantile(sorted: &[f64], level: f64) -> Option<Self> {
        let n = sorted.len() as f64;
        let at = |rank: f64| sorted.get((rank.ceil().max(1.0) as usize).min(sorted.len()).checked_sub(1)?).copied();
        let half = Z * (n * level * (1.0 - level)).sqrt();
        Some(Self { value: at(n * level)?, low: at((n * level - half).floor())?, high: at(n * level + half)? })
    }

    /// Whether a value lies within the interval.
    #[must_use]
    pub fn covers(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Student's two-sided 95 % point for the mean of so many values; none of fewer than two.
fn student(count: f64) -> Option<f64> {
    student_at(count, 0.975)
}

/// The same at a level.
pub(super) fn student_at(count: f64, level: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, count - 1.0).ok().map(|law| law.inverse_cdf(level))
}
