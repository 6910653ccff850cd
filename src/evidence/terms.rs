//! What fitted terms say of steps and rounds: their time, how sure it is, and which measurement would tell more.

use crate::evidence::calibrate::Fit;
use crate::evidence::sample::{Matrix, Sample, Seen, Vector, round_row, row, step_row};

impl Fit {
    /// Seconds of a plain step with the fitted terms.
    #[must_use]
    pub fn step(&self, of: &Sample) -> f64 {
        of.base_step + step_row(of, self.scale).dot(&Vector::from(self.terms))
    }

    /// Seconds of a round with the fitted terms.
    #[must_use]
    pub fn round(&self, of: &Sample) -> f64 {
        of.round + round_row(of, self.scale).dot(&Vector::from(self.terms))
    }

    /// Seconds of what was measured with the fitted terms: of a speedup those of the round beside the priced plain step.
    #[must_use]
    pub fn seconds(&self, of: &Sample) -> f64 {
        of.priced() + row(of, self.scale).dot(&Vector::from(self.terms))
    }

    /// The speedup with the fitted terms.
    #[must_use]
    pub fn speedup(&self, of: &Sample) -> f64 {
        of.tokens * self.step(of) / self.round(of)
    }

    /// Standard deviation of the speedup for the terms, without the noise of measuring it, as a share of it.
    ///
    /// # Formula
    ///
    /// ```text
    /// sqrt(g' C g),     g = X_round / t_round - X_step / t_step
    /// ```
    #[must_use]
    pub fn spread(&self, of: &Sample) -> f64 {
        let slope = self.slope(of);
        (slope.transpose() * self.matrix() * slope)[0].max(0.0).sqrt()
    }

    /// How the logarithm of the speedup falls by term.
    fn slope(&self, of: &Sample) -> Vector {
        round_row(of, self.scale) / self.round(of) - step_row(of, self.scale) / self.step(of)
    }

    /// How much of a term's width is left: near 1 the points say nothing of it.
    #[must_use]
    pub fn left_open(&self, part: usize) -> f64 {
        self.covariance[part][part].sqrt() / self.prior.widths[part]
    }

    /// How much less the speedups that are planned would vary, in mean square, if a point were measured: the larger, the more it helps.
    ///
    /// # Formula
    ///
    /// ```text
    /// mean over planned p of (g_p' C x)^2 / ((noise Y)^2 + x' C x)
    /// ```
    ///
    /// what one more row x, a price of Y, takes from the covariance (Sherman and Morrison 1950).
    #[must_use]
    pub fn gained(&self, candidate: &Sample, planned: &[Sample]) -> f64 {
        let own = match candidate.seen {
            // Measured as it is expected.
            Seen::Speedup(_) => row(&Sample { seen: Seen::Speedup(self.speedup(candidate)), ..*candidate }, self.scale),
            _ => row(candidate, self.scale),
        };
        let towards = self.matrix() * own;
        let sigma = self.prior.noise * self.seconds(candidate);
        let all = sigma * sigma + own.dot(&towards);
        let taken = |of: &Sample| self.slope(of).dot(&towards).powi(2) / all;
        planned.iter().map(taken).sum::<f64>() / planned.len().max(1) as f64
    }

    fn matrix(&self) -> Matrix {
        Matrix::from_fn(|at, other| self.covariance[at][other])
    }
}
