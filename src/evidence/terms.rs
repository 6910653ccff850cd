//! What fitted terms say of rounds: their time, how sure it is, and which measurement would tell more.

use crate::evidence::calibrate::{Fit, Matrix, Sample, Vector, row};

impl Fit {
    /// Seconds of a round with the fitted terms.
    #[must_use]
    pub fn round(&self, of: &Sample) -> f64 {
        of.round + row(of, self.scale).dot(&Vector::from(self.terms))
    }

    /// The speedup with the fitted terms, of one that was priced.
    #[must_use]
    pub fn speedup(&self, priced: f64, of: &Sample) -> f64 {
        priced * of.round / self.round(of)
    }

    /// Standard deviation of such a round for the terms, without the noise of measuring it, as a share of it.
    #[must_use]
    pub fn spread(&self, of: &Sample) -> f64 {
        let (row, covariance) = (row(of, self.scale), self.matrix());
        (row.transpose() * covariance * row)[0].max(0.0).sqrt() / self.round(of)
    }

    /// How much of a term's width is left: near 1 the points say nothing of it.
    #[must_use]
    pub fn left_open(&self, part: usize) -> f64 {
        self.covariance[part][part].sqrt() / self.prior.widths[part]
    }

    /// How much less the rounds that are planned would vary, in mean square, if a point were measured: the larger, the more it helps.
    ///
    /// # Formula
    ///
    /// ```text
    /// mean over planned p of (x_p' C x_c)^2 / (noise^2 R_c^2 + x_c' C x_c) / R_p^2
    /// ```
    ///
    /// what one more row takes from the covariance (Sherman and Morrison 1950).
    #[must_use]
    pub fn gained(&self, candidate: &Sample, planned: &[Sample]) -> f64 {
        let covariance = self.matrix();
        let own = row(candidate, self.scale);
        let towards = covariance * own;
        let sigma = self.prior.noise * self.round(candidate);
        let all = sigma * sigma + own.dot(&towards);
        let taken = |of: &Sample| (row(of, self.scale).dot(&towards)).powi(2) / all / self.round(of).powi(2);
        planned.iter().map(taken).sum::<f64>() / planned.len().max(1) as f64
    }

    fn matrix(&self) -> Matrix {
        Matrix::from_fn(|at, other| self.covariance[at][other])
    }
}
