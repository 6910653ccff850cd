//! Constants fitted to speedups: Gauss-Newton on logarithms, robust, regularised towards a prior.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use crate::evidence::predict::{Prediction, Unpriced};
use crate::evidence::study::constants::{Moved, Parameter, Values};
use crate::evidence::study::subject::{Passes, Subject};

/// What is fitted: parameters, and constants that are held.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// What moves.
    pub parameters: Vec<Parameter>,
    /// What is set otherwise than in the profile, and does not move.
    pub held: Values,
    /// How little rows of a source with many of them count: each as its number to minus this. 0: every row counts the
    /// same; 1: every source.
    pub crowding: f64,
}

/// Deviation of a measured speedup from its prediction: a share, where nothing is wrong with either.
const NOISE: f64 = 0.05;
/// Degrees of freedom of the law of residuals: heavier tails than a normal law, so that a row far off counts little.
const FREEDOM: f64 = 4.0;
/// Steps at most; four to eight are usual.
const STEPS: usize = 40;
/// A step below this share of every parameter's width is the last.
const SETTLED: f64 = 1e-4;
/// Halvings of a step that goes too far, at most.
const HALVINGS: i32 = 12;
/// For derivatives, in widths.
const DIFFERENCE: f64 = 1e-5;

/// A subject made ready: which of its constants move, and its passes where none of these changes them.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub(super) subject: &'a Subject,
    moved: Vec<Moved>,
    passes: Option<Passes>,
}

impl<'a> Row<'a> {
    /// # Errors
    ///
    /// [`Unpriced`] names what is missing.
    pub(super) fn new(subject: &'a Subject, design: &Design) -> Result<Self, Unpriced> {
        let moved = Moved::all(subject, &design.parameters);
        let fixed = !moved.iter().any(Moved::changes_passes);
        let passes = if fixed { Some(subject.passes(&design.held)?) } else { None };
        Ok(Self { subject, moved, passes })
    }

    fn passes(&self, values: &Values) -> Result<Passes, Unpriced> {
        self.passes.map_or_else(|| self.subject.passes(values), Ok)
    }

    fn values(&self, design: &Design, at: &[f64]) -> Values {
        self.moved.iter().fold(design.held, |values, one| one.set(values, &design.parameters, at))
    }

    pub(super) fn predicted(&self, design: &Design, at: &[f64]) -> Result<Prediction, Unpriced> {
        let values = self.values(design, at);
        Ok(self.subject.predicted(&self.passes(&values)?, &values))
    }

    /// How far the prediction is off, in deviations.
    fn off(&self, prediction: &Prediction) -> f64 {
        (prediction.speedup / self.subject.measured.speedup).ln() / NOISE
    }

    /// That with its derivatives by the parameters that concern it.
    fn slopes(&self, design: &Design, at: &[f64], passes: Passes) -> Result<(f64, Vec<(usize, f64)>), Unpriced> {
        let here = self.values(design, at);
        let off = self.off(&self.subject.predicted(&passes, &here));
        let mut there = at.to_vec();
        let mut slopes = Vec::new();
        for one in &self.moved {
            for &index in &one.by {
                there[index] = at[index] + DIFFERENCE;
                let values = one.set(here, &design.parameters, &there);
                there[index] = at[index];
                let passes = if one.changes_passes() { self.passes(&values)? } else { passes };
                let shifted = self.off(&self.subject.predicted(&passes, &values));
                slopes.push((index, (shifted - off) / DIFFERENCE));
            }
        }
        Ok((off, slopes))
    }
}

/// What each row counts.
fn shares(rows: &[&Row<'_>], crowding: f64) -> Vec<f64> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(row.subject.source()).or_default() += 1);
    rows.iter().map(|row| (counts[row.subject.source()] as f64).powf(-crowding)).collect()
}

/// Fits the parameters to rows, from the middle of their priors on: how far each lies from there, in widths.
///
/// # Formula
///
/// ```text
/// least  sum over rows of w (nu + 1) ln(1 + r^2 / nu) + |x|^2,      r = ln(predicted / measured) / noise
/// step   (I + J' V J) d = -(x + J' V r),    V = w (nu + 1) / (nu + r^2),   halved until the sum falls
/// ```
///
/// x: distances from the priors in widths; w = n^-crowding of the n rows of the same source, which share what is wrong
/// with it; nu = 4, noise = 5 %. Gauss-Newton with a Gaussian prior (Björck 1996, section 9.2), weights of the t law (Lange, Little and
/// Taylor 1989, section 3). Derivatives are differences.
pub(super) fn fit(rows: &[&Row<'_>], design: &Design) -> Result<Vec<f64>, Unpriced> {
    let task = Task { rows, shares: shares(rows, design.crowding), design };
    let mut here = task.point(vec![0.0; design.parameters.len()])?;
    for _ in 0..STEPS {
        let step = task.step(&here)?;
        let Some(next) = task.shortened(&here, &step)? else { break };
        let largest = next.at.iter().zip(&here.at).map(|(next, here)| (next - here).abs()).fold(0.0, f64::max);
        here = next;
        if largest < SETTLED {
            break;
        }
    }
    Ok(here.at)
}

/// What is fitted to what.
struct Task<'f, 'a> {
    rows: &'f [&'f Row<'a>],
    shares: Vec<f64>,
    design: &'f Design,
}

/// Where a fit has come to.
struct Point {
    at: Vec<f64>,
    /// By row, so that nothing is priced twice.
    passes: Vec<Passes>,
    /// What is to be least.
    sum: f64,
}

impl Task<'_, '_> {
    fn point(&self, at: Vec<f64>) -> Result<Point, Unpriced> {
        let mut sum: f64 = at.iter().map(|x| x * x).sum();
        let mut all = Vec::with_capacity(self.rows.len());
        for (row, share) in self.rows.iter().zip(&self.shares) {
            let values = row.values(self.design, &at);
            let passes = row.passes(&values)?;
            let off = row.off(&row.subject.predicted(&passes, &values));
            sum += share * (FREEDOM + 1.0) * (off * off / FREEDOM).ln_1p();
            all.push(passes);
        }
        Ok(Point { at, passes: all, sum })
    }

    fn step(&self, here: &Point) -> Result<DVector<f64>, Unpriced> {
        let count = here.at.len();
        let mut normal = DMatrix::<f64>::identity(count, count);
        let mut due = -DVector::from_column_slice(&here.at);
        for ((row, share), passes) in self.rows.iter().zip(&self.shares).zip(&here.passes) {
            let (off, slopes) = row.slopes(self.design, &here.at, *passes)?;
            let weight = share * (FREEDOM + 1.0) / (FREEDOM + off * off);
            for &(one, slope) in &slopes {
                due[one] -= weight * slope * off;
                for &(other, across) in &slopes {
                    normal[(one, other)] += weight * slope * across;
                }
            }
        }
        // One at least on the diagonal: always positive definite.
        Ok(normal.cholesky().map_or_else(|| DVector::zeros(count), |factors| factors.solve(&due)))
    }

    /// As much of a step as makes the sum smaller; none where nothing does.
    fn shortened(&self, here: &Point, step: &DVector<f64>) -> Result<Option<Point>, Unpriced> {
        for halvings in 0..HALVINGS {
            let part = 0.5_f64.powi(halvings);
            let next = self.point(here.at.iter().zip(step.iter()).map(|(x, d)| x + part * d).collect())?;
            if next.sum < here.sum {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }
}
