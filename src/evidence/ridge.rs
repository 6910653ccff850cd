//! Ridge regression with a prior width for each term, weights of a t law, and limits of terms.

use crate::evidence::calibrate::Prior;
use crate::evidence::sample::{Matrix, Sample, TERMS, Vector};

/// Degrees of freedom of the law of residuals: heavier tails than a normal law, so that a point far off counts little.
const FREEDOM: f64 = 4.0;
/// Of so few points none is told by the others to lie far off.
const FEW: usize = 2;
/// Where the two paces stand among the terms.
const PACE: usize = 0;
const ROUND_PACE: usize = 2;
/// How often both are put within their common limit: it moves by less each time.
const PACES: usize = 6;
/// Paces that are closer are the same.
const CLOSE: f64 = 1e-9;

/// A point with what terms add to it, and how much it counts.
#[derive(Clone, Copy)]
pub(super) struct Weighed<'s> {
    pub(super) of: &'s Sample,
    pub(super) row: Vector,
    pub(super) weight: f64,
}

/// The terms, with weights that have stayed.
pub(super) fn weighed(mut points: Vec<Weighed<'_>>, prior: Prior, rounds: usize) -> (Vec<Weighed<'_>>, Vector, Matrix) {
    let mut solved = bounded(&points, prior);
    if points.len() <= FEW {
        return (points, solved.0, solved.1);
    }
    for _ in 0..rounds {
        for point in &mut points {
            let deviations = off(point, &solved.0) / (prior.noise * point.of.measured());
            point.weight = FREEDOM / (FREEDOM + deviations * deviations);
        }
        solved = bounded(&points, prior);
    }
    (points, solved.0, solved.1)
}

/// What is measured beyond price and terms.
pub(super) fn off(point: &Weighed<'_>, terms: &Vector) -> f64 {
    point.of.measured() - point.of.priced() - point.row.dot(terms)
}

/// The terms within their limits: the one that lies farthest beyond its own, in widths, is put there, and the others are solved again.
fn bounded(points: &[Weighed<'_>], prior: Prior) -> (Vector, Matrix) {
    let mut least = prior.least;
    let mut solved = within(points, Prior { least, ..prior });
    // The limit of one pace hangs on the other.
    for _ in 0..PACES {
        let due = (prior.least_round - solved.0[PACE]).max(prior.least[ROUND_PACE]);
        let is_held = least[ROUND_PACE] > prior.least[ROUND_PACE];
        if solved.0[ROUND_PACE] >= due - CLOSE && (!is_held || least[ROUND_PACE] <= due + CLOSE) {
            break;
        }
        least[ROUND_PACE] = due;
        solved = within(points, Prior { least, ..prior });
    }
    solved
}

fn within(points: &[Weighed<'_>], prior: Prior) -> (Vector, Matrix) {
    let mut held = Vector::zeros();
    let mut free = Vector::repeat(1.0);
    loop {
        let (terms, covariance) = solve(points, prior, (&held, &free));
        let beyond = |at: usize| (prior.least[at] - terms[at]) / prior.widths[at];
        let farthest = (0..TERMS).filter(|&at| free[at] > 0.0).max_by(|a, b| beyond(*a).total_cmp(&beyond(*b)));
        match farthest.filter(|&at| beyond(at) > 1e-9) {
            Some(at) => (held[at], free[at]) = (prior.least[at], 0.0),
            // What is held varies like the rest: where its limit was not it would not stay.
            None if free.min() > 0.0 => return (terms, covariance),
            None => return (terms, solve(points, prior, (&Vector::zeros(), &Vector::repeat(1.0))).1),
        }
    }
}

/// The terms, some of them held where they are: those have no covariance.
fn solve(points: &[Weighed<'_>], prior: Prior, (held, free): (&Vector, &Vector)) -> (Vector, Matrix) {
    // In shares of the widths, so that terms that hardly move do not spoil the digits of those that do.
    let widths = Vector::from_column_slice(&prior.widths).component_mul(free);
    let (mut normal, mut due) = (Matrix::identity(), Vector::zeros());
    for point in points {
        let sigma = prior.noise * point.of.measured();
        let rest = off(point, held);
        let row = point.row.component_mul(&widths);
        normal += row * row.transpose() * (point.weight / (sigma * sigma));
        due += row * (rest * point.weight / (sigma * sigma));
    }
    // One at least on the diagonal: always positive definite.
    let inverse = normal.cholesky().map_or_else(Matrix::identity, |factors| factors.inverse());
    let covariance = Matrix::from_fn(|at, other| inverse[(at, other)] * widths[at] * widths[other]);
    (held + (inverse * due).component_mul(&widths), covariance)
}
