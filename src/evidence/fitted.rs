//! Measurements of a deployment in, a profile of it out, with everything that its user should know.

use crate::domain::engine::{Engine, Known};
use crate::domain::measured::Measured;
use crate::evidence::calibrate::{Fit, NoFit, Prior, Residual, fit, scale};
use crate::evidence::deployment::Prices;
use crate::evidence::next::{Next, Planned, next};
use crate::evidence::predict::class;
use crate::evidence::profile::{Moved, NoProfile, Subject, moved, prior, profile};
use crate::evidence::regime::{Regime, regime};
use crate::evidence::repeated::{Pair, repeated};
use crate::evidence::sample::{Sample, Seen};
use crate::plan::setting::Setting;
use crate::plan::setup::SetupError;
use crate::words::Side;

/// A point that was used, beside its price.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// As it was measured.
    pub point: Measured,
    /// Beside its price.
    pub sample: Sample,
    /// How far off it was, before and after.
    pub residual: Residual,
    /// Whether the profile was fitted to it: not where it lies beyond a change of course.
    pub is_fitted: bool,
}

/// Everything that a calibration finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The points in their order.
    pub used: Vec<Used>,
    /// Points that say nothing: where they stand, and why.
    pub refused: Vec<(String, String)>,
    /// Points among those used that are like another, by their positions there.
    pub repeated: Vec<Pair>,
    /// The fit.
    pub fit: Fit,
    /// A batch, or number of tokens, at which rounds change their course.
    pub regime: Option<Regime>,
    /// The side of it that the profile is of.
    pub side: Side,
    /// The profile.
    pub engine: Engine,
    /// Its constants, before and after.
    pub moved: Vec<Moved>,
    /// What to measure next.
    pub next: Option<Next>,
}

/// Why there is no calibration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoCalibration {
    /// The deployment cannot be priced.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Not a single point can be used.
    #[error("not one point can be used")]
    NoPoint(Vec<(String, String)>),
    /// The points make no fit.
    #[error(transparent)]
    Fit(#[from] NoFit),
    /// The fit makes no profile.
    #[error(transparent)]
    Profile(#[from] NoProfile),
}

/// What a calibration is asked for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The id of the new profile.
    pub id: &'a str,
    /// Where the deployment is meant to run.
    pub planned: Planned,
    /// The side of a change of course that is fitted.
    pub side: Side,
}

/// Fits a profile to the points of a setting.
///
/// Where rounds change their course at a batch, only points on one side are fitted: together they would be averaged into constants that hold on
/// neither.
///
/// # Errors
///
/// [`NoCalibration`].
pub fn fitted(setting: &Setting<'_>, points: Vec<Measured>, asked: &Asked<'_>) -> Result<Fitted, NoCalibration> {
    let Some(additive) = setting.engine.additive() else {
        return Err(NoProfile::Ideal(setting.engine.id.clone()).into());
    };
    let prices = Prices::new(setting)?;
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for point in points {
        match prices.sample(&point) {
            Ok(sample) => kept.push((point, sample)),
            Err(reason) => refused.push((point.label, reason.to_string())),
        }
    }
    if kept.is_empty() {
        return Err(NoCalibration::NoPoint(refused));
    }
    let (points, samples): (Vec<Measured>, Vec<Sample>) = kept.into_iter().unzip();
    let repeated = repeated(&points);
    let family = setting.device.family.as_deref().unwrap_or_default();
    let known = additive.efficiencies(family);
    let shares = known.map_or((1.0, 1.0), |of| (of.bandwidth.value.get(), of.compute.value.get()));
    let least = samples.iter().zip(&points).filter(|(sample, _)| matches!(sample.seen, Seen::Step(_)));
    let fastest = least.map(|(_, point)| prices.fastest(shares, point.batch, point.context)).fold(0.0, f64::max);
    let believed = prior(additive, scale(&samples), if fastest > 0.0 { fastest } else { 0.5 });
    // The same number again is one measurement.
    let again: Vec<usize> = repeated.iter().filter(|pair| pair.apart <= 0.0).map(|pair| pair.second).collect();
    let is_own = |at: usize| !again.contains(&at);
    let whole = fit(&chosen(&samples, is_own), believed)?;
    let regime = regime(&chosen(&samples, is_own), &whole, believed);
    let on_side = |of: &Sample| match (&regime, asked.side) {
        (None, _) => true,
        (Some(regime), Side::Below) => regime.along.of(of) <= regime.last_below,
        (Some(regime), Side::Above) => regime.along.of(of) >= regime.first_above,
    };
    let is_fitted: Vec<bool> = (0..samples.len()).map(|at| is_own(at) && on_side(&samples[at])).collect();
    let found = if regime.is_some() { fit(&chosen(&samples, |at| is_fitted[at]), believed)? } else { whole };
    let residuals = spread_over(&samples, &is_fitted, &found, believed);
    let subject = Subject {
        id: asked.id,
        family,
        hardware: &setting.device.id,
        target: &setting.target.id,
        tensor_parallel: setting.tensor_parallel,
        drafters: prices.kinds(points.iter()),
        class: class(setting.engine.origin(), setting.target),
        known: reach(&points, &is_fitted),
    };
    let engine = profile(setting.engine, &found, &subject)?;
    let used = points.into_iter().zip(samples).zip(residuals).zip(is_fitted);
    Ok(Fitted {
        used: used
            .map(|(((point, sample), residual), is_fitted)| Used { point, sample, residual, is_fitted })
            .collect(),
        refused,
        repeated,
        moved: moved(additive, &found),
        next: next(&prices, &found, &asked.planned),
        fit: found,
        regime,
        side: asked.side,
        engine,
    })
}

fn chosen(samples: &[Sample], is_in: impl Fn(usize) -> bool) -> Vec<Sample> {
    samples.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, of)| *of).collect()
}

/// Residuals of all points: of those that were not fitted as the fit predicts them.
fn spread_over(samples: &[Sample], is_fitted: &[bool], found: &Fit, believed: Prior) -> Vec<Residual> {
    let mut own = found.residuals.iter();
    let unseen = |of: &Sample| {
        let (before, after) = (of.priced() / of.measured() - 1.0, found.seconds(of) / of.measured() - 1.0);
        let times = after / believed.noise;
        Residual { before, after, left_out: after, weight: 4.0 / (4.0 + times * times) }
    };
    let of = |(sample, is_fitted): (&Sample, &bool)| match is_fitted {
        true => own.next().copied().unwrap_or_else(|| unseen(sample)),
        false => unseen(sample),
    };
    samples.iter().zip(is_fitted).map(of).collect()
}

/// Batches and contexts of the points that were fitted.
fn reach(points: &[Measured], is_fitted: &[bool]) -> Known {
    let fitted = || points.iter().zip(is_fitted).filter(|(_, is_fitted)| **is_fitted).map(|(point, _)| point);
    let least = fitted().map(|point| point.batch).fold(f64::INFINITY, f64::min);
    let largest = fitted().map(|point| point.batch).fold(1.0, f64::max);
    let context = fitted().map(|point| point.context).fold(0.0, f64::max);
    Known { batch: (least.min(largest).floor().max(1.0) as u64, largest.ceil() as u64), context: context.ceil() as u64 }
}
