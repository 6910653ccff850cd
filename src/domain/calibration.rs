//! What an engine profile was fitted to, where it was fitted to measurements of one deployment.

use crate::domain::engine::{ExpectedError, Known};
use crate::words::{DrafterKind, Term};

/// Measurements of one deployment that a profile was fitted to, and how sure its constants are together.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The profile it began with.
    pub base: String,
    /// The id of the hardware.
    pub hardware: String,
    /// The id of the target.
    pub target: String,
    /// Devices of the replica.
    pub tensor_parallel: u64,
    /// Number formats of the target, as [`crate::domain::formats::Formats`] writes them; none: not stated.
    pub formats: Option<String>,
    /// Terms that were left out of the prices it was fitted beside, in their order.
    pub without: Vec<Term>,
    /// Whether verification passes were measured ones, in place of prices.
    pub has_verify_cost: bool,
    /// Whether drafts ran beside verification.
    pub has_overlap: bool,
    /// Kinds of the drafters that were measured.
    pub drafters: Vec<DrafterKind>,
    /// The shortest and the longest draft length that were measured; none: only plain decoding was.
    pub k: Option<(u64, u64)>,
    /// How far it was off on points that were left out, in turn; with the batches and contexts that were measured.
    pub error: ExpectedError,
    /// The constants that were fitted, and how they vary together.
    pub joint: Joint,
}

/// Constants that are known together: what one of them takes the others give.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    names: Vec<String>,
    covariance: Vec<Vec<f64>>,
}

/// Why numbers are no covariance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotJoint {
    /// Not a row and a column for each constant.
    #[error("of {constants} constants the covariance has {constants} rows of {constants} numbers")]
    Shape {
        /// Constants.
        constants: usize,
    },
    /// Two places that stand for the same pair differ.
    #[error("`{first}` with `{second}` is another number than `{second}` with `{first}`")]
    Uneven {
        /// One constant.
        first: String,
        /// The other.
        second: String,
    },
    /// No numbers vary so.
    #[error("no constants vary like that: some sum of `{0}` and those before it would have a negative variance")]
    Negative(String),
    /// A constant comes twice.
    #[error("`{0}` is named twice")]
    Repeated(String),
}

/// Shares of a variance below this are rounding.
const ROUNDING: f64 = 1e-9;

impl Joint {
    /// Constants by the names they have in files, with their covariance in squares of SI units.
    ///
    /// # Errors
    ///
    /// [`NotJoint`].
    pub fn new(names: Vec<String>, covariance: Vec<Vec<f64>>) -> Result<Self, NotJoint> {
        let constants = names.len();
        if covariance.len() != constants || covariance.iter().any(|row| row.len() != constants) {
            return Err(NotJoint::Shape { constants });
        }
        if let Some(at) = (0..constants).find(|&at| names[..at].contains(&names[at])) {
            return Err(NotJoint::Repeated(names[at].clone()));
        }
        for (at, row) in covariance.iter().enumerate() {
            for (other, value) in row.iter().enumerate().take(at) {
                let size = (covariance[at][at] * covariance[other][other]).abs().sqrt();
                let difference = (value - covariance[other][at]).abs();
                if difference.is_nan() || difference > ROUNDING * size {
                    return Err(NotJoint::Uneven { first: names[at].clone(), second: names[other].clone() });
                }
            }
        }
        let joint = Self { names, covariance };
        match joint.factor() {
            Ok(_) => Ok(joint),
            Err(at) => Err(NotJoint::Negative(joint.names[at].clone())),
        }
    }

    /// The constants.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How they vary, a row for each.
    #[must_use]
    pub fn covariance(&self) -> &[Vec<f64>] {
        &self.covariance
    }

    /// What each of as many independent standard deviations adds to every constant: a row for each constant, a column for each deviation.
    ///
    /// # Formula
    ///
    /// ```text
    /// C = L L'      Cholesky; a constant that does not vary beyond those before it has no deviation of its own
    /// ```
    ///
    /// # Examples
    ///
    /// Of variances 4 and 5 with covariance 2: 2 of the first, which takes 1 of the second along, and 2 of the second alone.
    ///
    /// ```
    /// use specplan::domain::calibration::Joint;
    /// let names = ["t_round", "t_draft"].map(str::to_owned).to_vec();
    /// let joint = Joint::new(names, vec![vec![4.0, 2.0], vec![2.0, 5.0]])?;
    /// assert_eq!(joint.deviations(), [[2.0, 0.0], [1.0, 2.0]]);
    /// # Ok::<(), specplan::domain::calibration::NotJoint>(())
    /// ```
    #[must_use]
    pub fn deviations(&self) -> Vec<Vec<f64>> {
        // It has been factored before.
        self.factor().unwrap_or_default()
    }

    /// The factor, or the first constant that would need a negative variance.
    fn factor(&self) -> Result<Vec<Vec<f64>>, usize> {
        let all = self.names.len();
        let mut factor = vec![vec![0.0; all]; all];
        for at in 0..all {
            for other in 0..=at {
                let shared: f64 = (0..other).map(|by| factor[at][by] * factor[other][by]).sum();
                let rest = self.covariance[at][other] - shared;
                if other < at {
                    factor[at][other] = if factor[other][other] > 0.0 { rest / factor[other][other] } else { 0.0 };
                } else if rest > ROUNDING * self.covariance[at][at] {
                    factor[at][at] = rest.sqrt();
                } else if rest.is_nan() || rest < -ROUNDING * self.covariance[at][at].abs() {
                    return Err(at);
                }
            }
        }
        Ok(factor)
    }
}

impl Calibration {
    /// Whether a batch and context lie within what was measured, and no drafts are longer.
    #[must_use]
    pub fn covers(&self, batch: u64, context: u64, k: u64) -> bool {
        let is_in = self.error.known.is_none_or(|known: Known| known.covers(batch, context));
        is_in && (k == 0 || self.k.is_some_and(|(_, longest)| k <= longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(covariance: &[[f64; 2]; 2]) -> Result<Joint, NotJoint> {
        Joint::new(["a", "b"].map(str::to_owned).to_vec(), covariance.iter().map(|row| row.to_vec()).collect())
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        assert_eq!(of(&[[1.0, 2.0], [2.0, 1.0]]), Err(NotJoint::Negative("b".into())));
        assert_eq!(of(&[[-1.0, 0.0], [0.0, 1.0]]), Err(NotJoint::Negative("a".into())));
        assert_eq!(of(&[[1.0, 0.5], [0.4, 1.0]]), Err(NotJoint::Uneven { first: "b".into(), second: "a".into() }));
        let short = Joint::new(vec!["a".into()], vec![]);
        assert_eq!(short, Err(NotJoint::Shape { constants: 1 }));
        let twice = Joint::new(vec!["a".into(), "a".into()], vec![vec![1.0, 0.0], vec![0.0, 1.0]]);
        assert_eq!(twice, Err(NotJoint::Repeated("a".into())));
    }

    /// A constant held at its limit does not vary, and two that vary as one have one deviation.
    #[test]
    fn what_does_not_vary_has_no_deviation() {
        assert_eq!(of(&[[0.0, 0.0], [0.0, 9.0]]).unwrap().deviations(), [[0.0, 0.0], [0.0, 3.0]]);
        assert_eq!(of(&[[4.0, 6.0], [6.0, 9.0]]).unwrap().deviations(), [[2.0, 0.0], [3.0, 0.0]]);
    }
}
