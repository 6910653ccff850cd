//! Measurements of a deployment in, a profile of it out, with everything that its user should know.

use std::cmp::Ordering;

use crate::domain::engine::{Engine, Known};
use crate::domain::measured::Measured;
use crate::evidence::calibrate::{Fit, NoFit, Prior, Residual, fit, scale};
use crate::evidence::deployment::Prices;
use crate::evidence::next::{Next, Planned, next};
use crate::evidence::predict::class;
use crate::evidence::profile::{Moved, NoProfile, Subject, moved, prior, profile};
use crate::evidence::regime::{Regime, missed, regime};
use crate::evidence::repeated::{Pair, repeated};
use crate::evidence::sample::{Sample, Seen};
use crate::evidence::score::median;
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
    /// The points: plain steps before rounds, by batch.
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
    /// Whether rounds take far more for each round and sequence than engines spend: as where they wait for their host.
    pub is_waiting: bool,
    /// The points behind the profile that it began with, if that was calibrated itself.
    pub began_with: Option<u64>,
    /// The profile that is not calibrated, at the beginning of all.
    pub base: String,
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
    /// The points are not of such a deployment.
    #[error(
        "the points do not go with this deployment: steps and rounds last {times:.2} times as long as priced in the median, and no constants within reach explain that"
    )]
    Unlike {
        /// Measured over priced, in the median.
        times: f64,
        /// The points with how many times as long as priced each lasts.
        points: Vec<(String, String)>,
    },
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
    /// The side of a change of course that is fitted; none: where most of the planned batches lie.
    pub side: Option<Side>,
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
    // Sums hang on their order in the last digit: the same points give the same profile in any.
    kept.sort_by(|(_, one), (_, other)| order(one).partial_cmp(&order(other)).unwrap_or(Ordering::Equal));
    let (points, samples): (Vec<Measured>, Vec<Sample>) = kept.into_iter().unzip();
    let repeated = repeated(&points);
    let family = setting.device.family.as_deref().unwrap_or_default();
    let known = additive.efficiencies(family);
    let shares = known.map_or((1.0, 1.0), |of| (of.bandwidth.value.get(), of.compute.value.get()));
    let fastest = points.iter().map(|point| prices.fastest(shares, point));
    let fastest = fastest.fold((0.0_f64, 0.0_f64), |most, of| (most.0.max(of.0), most.1.max(of.1)));
    let believed = prior(additive, scale(&samples), fastest);
    // The same number again is one measurement.
    let again: Vec<usize> = repeated.iter().filter(|pair| pair.apart <= 0.0).map(|pair| pair.second).collect();
    let is_own = |at: usize| !again.contains(&at);
    let (whole, believed, is_waiting) = waiting(&chosen(&samples, is_own), believed)?;
    let regime = regime(&chosen(&samples, is_own), &whole, believed);
    let side = asked.side.unwrap_or_else(|| regime.as_ref().map_or(Side::Above, |of| planned_side(of, &asked.planned)));
    let on_side = |of: &Sample| match (&regime, side) {
        (None, _) => true,
        (Some(regime), Side::Below) => regime.along.of(of) <= regime.last_below,
        (Some(regime), Side::Above) => regime.along.of(of) >= regime.first_above,
    };
    let is_fitted: Vec<bool> = (0..samples.len()).map(|at| is_own(at) && on_side(&samples[at])).collect();
    let found = if regime.is_some() { fit(&chosen(&samples, |at| is_fitted[at]), believed)? } else { whole };
    let subject = Subject {
        id: asked.id,
        family,
        hardware: &setting.device.id,
        target: &setting.target.id,
        tensor_parallel: setting.tensor_parallel,
        formats: setting.target.formats.to_string(),
        without: setting.without(),
        has_verify_cost: setting.scenario.verify_cost.is_some(),
        has_overlap: prices.has_overlap(points.iter()),
        drafters: prices.kinds(points.iter()),
        k: lengths(&points, &is_fitted),
        class: class(setting.engine.origin(), setting.target),
        error: setting.backing().error(),
        known: reach(&points, &is_fitted),
    };
    let engine = profile(setting.engine, &found, &subject)?;
    let residuals = spread_over(&samples, &is_fitted, &found, believed);
    let residuals = as_priced(&Setting { engine: &engine, ..*setting }, &points, residuals)?;
    check(&points, &samples, &residuals, &is_fitted)?;
    let used = points.into_iter().zip(samples).zip(residuals).zip(is_fitted);
    Ok(Fitted {
        used: used
            .map(|(((point, sample), residual), is_fitted)| Used { point, sample, residual, is_fitted })
            .collect(),
        refused,
        repeated,
        moved: moved(additive, &found),
        next: next(&prices, &found, &on_its_side(&asked.planned, regime.as_ref(), side)),
        fit: found,
        is_waiting,
        began_with: additive.calibration.as_ref().map(|of| of.error.rows),
        base: setting.engine.origin().to_owned(),
        regime,
        side,
        engine,
    })
}

/// The side of a change of course that most of the planned batches lie on; of steps by tokens, those of a round of the middle length.
fn planned_side(regime: &Regime, planned: &Planned) -> Side {
    let width = planned.lengths.get(planned.lengths.len() / 2).map_or(1.0, |k| *k as f64 + 1.0);
    let of = |batch: &u64| regime.along.at(*batch as f64, width);
    let below = planned.batches.iter().filter(|batch| of(batch) <= regime.last_below).count();
    if 2 * below > planned.batches.len() { Side::Below } else { Side::Above }
}

/// What is planned on the fitted side; everything where nothing is.
fn on_its_side(planned: &Planned, regime: Option<&Regime>, side: Side) -> Planned {
    let Some(regime) = regime else { return planned.clone() };
    let is_in = |batch: &u64| match side {
        Side::Below => regime.along.at(*batch as f64, 1.0) <= regime.last_below,
        Side::Above => regime.along.at(*batch as f64, 1.0) >= regime.first_above,
    };
    let batches: Vec<u64> = planned.batches.iter().copied().filter(is_in).collect();
    if batches.is_empty() { planned.clone() } else { Planned { batches, ..planned.clone() } }
}

/// The fit, with what was believed: where that misses points and one in which rounds wait for their host does not, the latter.
fn waiting(samples: &[Sample], believed: Prior) -> Result<(Fit, Prior, bool), NoFit> {
    let whole = fit(samples, believed)?;
    let off = missed(&[&whole], believed.noise);
    if samples.len() >= LEAST && off > DOUBTS * believed.noise {
        let wide = believed.of_waiting_hosts();
        let other = fit(samples, wide)?;
        if missed(&[&other], wide.noise) < CLEARER * off {
            return Ok((other, wide, true));
        }
    }
    Ok((whole, believed, false))
}

/// With fewer points any law fits.
const LEAST: usize = 8;
/// Points that are left out are missed by so many times the noise before anything else is believed.
const DOUBTS: f64 = 1.2;
/// What else is believed has to miss them by this share of it, or less.
const CLEARER: f64 = 0.8;

/// Plain steps before rounds, then by batch, passes and what was measured.
fn order(of: &Sample) -> [f64; 6] {
    [
        if matches!(of.seen, Seen::Step(_)) { 0.0 } else { 1.0 },
        of.batch,
        of.width,
        of.base_step,
        of.tokens,
        of.measured(),
    ]
}

/// Refuses a fit that most of its points do not follow.
fn check(
    points: &[Measured],
    samples: &[Sample],
    residuals: &[Residual],
    is_fitted: &[bool],
) -> Result<(), NoCalibration> {
    let fitted = || residuals.iter().zip(is_fitted).filter(|(_, is_fitted)| **is_fitted).map(|(residual, _)| residual);
    if median(fitted().map(|of| of.after.abs())) <= UNLIKE {
        return Ok(());
    }
    let times = |of: &Sample| of.measured() / of.priced();
    let line = |(point, sample): (&Measured, &Sample)| {
        (point.label.clone(), format!("{:.2} times as long as priced", times(sample)))
    };
    Err(NoCalibration::Unlike {
        times: median(samples.iter().map(times)),
        points: points.iter().zip(samples).map(line).collect(),
    })
}

/// A fit that misses half of its own points by more is of another deployment.
const UNLIKE: f64 = 0.25;

fn chosen(samples: &[Sample], is_in: impl Fn(usize) -> bool) -> Vec<Sample> {
    samples.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, of)| *of).collect()
}

/// Residuals with what the profile itself makes of each point: the fit goes along straight lines, and drafts that come out of the shadow of a
/// verification do not.
fn as_priced(setting: &Setting<'_>, points: &[Measured], found: Vec<Residual>) -> Result<Vec<Residual>, SetupError> {
    let prices = Prices::new(setting)?;
    let of = |(point, residual): (&Measured, Residual)| {
        // Every point was priced before.
        let after = prices.beside(point).map_or(residual.after, |of| of.priced() / of.measured() - 1.0);
        Residual { after, ..residual }
    };
    Ok(points.iter().zip(found).map(of).collect())
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

/// The shortest and the longest drafts of the points that were fitted.
fn lengths(points: &[Measured], is_fitted: &[bool]) -> Option<(u64, u64)> {
    let all = || points.iter().zip(is_fitted).filter(|(of, is_fitted)| of.k > 0 && **is_fitted).map(|(of, _)| of.k);
    all().min().zip(all().max())
}

/// Batches and contexts of the points that were fitted.
fn reach(points: &[Measured], is_fitted: &[bool]) -> Known {
    let fitted = || points.iter().zip(is_fitted).filter(|(_, is_fitted)| **is_fitted).map(|(point, _)| point);
    let least = fitted().map(|point| point.batch).fold(f64::INFINITY, f64::min);
    let largest = fitted().map(|point| point.batch).fold(1.0, f64::max);
    let context = fitted().map(|point| point.context).fold(0.0, f64::max);
    Known { batch: (least.min(largest).floor().max(1.0) as u64, largest.ceil() as u64), context: context.ceil() as u64 }
}
