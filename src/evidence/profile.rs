//! Fitted terms as an engine profile: which constants they move, how sure these are together, and how far off it is to be expected.

use nalgebra::SMatrix;

use crate::domain::calibration::{Calibration, Joint};
use crate::domain::engine::{Additive, Constant, Efficiencies, Engine, ExpectedError, Known, Pace, Profile};
use crate::domain::provenance::NINE_IN_TEN;
use crate::evidence::calibrate::{Fit, Prior, Residual};
use crate::evidence::sample::TERMS;
use crate::evidence::score::{quantile, sorted};
use crate::units::Seconds;
use crate::words::{Class, DrafterKind, Status, Term};

/// Constants that a calibration states, by their names in files, in the order of the rows of the covariance.
pub const CONSTANTS: [&str; TERMS] =
    ["plain_pace", "round_pace", "t_step", "t_round", "t_draft", "t_sequence", "t_tree", "t_token"];
/// Where the parts of a fit stand that each constant's openness and limit are told by.
const PARTS: [usize; TERMS] = [0, 2, 1, 3, 4, 5, 6, 7];

/// A constant of a profile before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    /// Its name in files.
    pub name: &'static str,
    /// Whether it is a time, in seconds; else a pace.
    pub is_time: bool,
    /// In the profile it began with.
    pub before: f64,
    /// Fitted.
    pub after: f64,
    /// How sure that is: its standard deviation.
    pub deviation: f64,
    /// The share of what was believed before that is left, as a standard deviation; near 1 the points say nothing of it.
    pub open: f64,
    /// Whether it was held where nothing is possible beyond.
    pub is_held: bool,
}

/// What a calibration is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject<'a> {
    /// The id of the new profile.
    pub id: &'a str,
    /// The family of the hardware.
    pub family: &'a str,
    /// The id of the hardware.
    pub hardware: &'a str,
    /// The id of the target.
    pub target: &'a str,
    /// Devices of the replica.
    pub tensor_parallel: u64,
    /// Number formats of the target.
    pub formats: String,
    /// Terms left out of its prices.
    pub without: Vec<Term>,
    /// Whether verification passes were measured ones.
    pub has_verify_cost: bool,
    /// Whether drafts ran beside verification.
    pub has_overlap: bool,
    /// Kinds of drafters that were measured.
    pub drafters: Vec<DrafterKind>,
    /// The shortest and the longest draft length that were fitted; none: no round was.
    pub k: Option<(u64, u64)>,
    /// Engine and target as measurements are told apart by.
    pub class: Class,
    /// The error that the profile it began with states for such targets.
    pub error: Option<&'a ExpectedError>,
    /// Batches and contexts that were measured.
    pub known: Known,
}

/// What is believed of a profile's terms before anything is measured: no constant below 0, no pass faster than the datasheet.
///
/// `scale` is the median priced plain step of the points, `fastest` the least share of their passes that is possible, of plain ones and of those of rounds.
#[must_use]
pub fn prior(additive: &Additive, scale: f64, fastest: (f64, f64)) -> Prior {
    let [.., step, round, draft, sequence, tree, token] = before(additive);
    let down = |seconds: f64| -seconds / scale;
    let least = [
        fastest.0.min(1.0) - 1.0,
        down(step),
        f64::NEG_INFINITY,
        down(round),
        down(draft),
        down(sequence),
        down(tree),
        down(token),
    ];
    Prior { least, least_round: fastest.1.min(1.0) - 1.0, ..Prior::default() }
}

/// The constants of a profile in the order of [`CONSTANTS`].
fn before(additive: &Additive) -> [f64; TERMS] {
    let pace = |of: &Option<Constant<Pace>>| of.as_ref().map_or(1.0, |of| of.value.get());
    let time = |of: &Option<Constant<Seconds>>| of.as_ref().map_or(0.0, |of| of.value.get());
    [
        pace(&additive.plain_pace),
        pace(&additive.round_pace),
        additive.step.value.get(),
        additive.round.value.get(),
        additive.draft.value.get(),
        additive.sequence.value.get(),
        time(&additive.tree),
        time(&additive.token),
    ]
}

/// How much each constant moves with each term.
fn slopes(before: &[f64; TERMS], scale: f64) -> SMatrix<f64, TERMS, TERMS> {
    let mut slopes = SMatrix::zeros();
    // The pace of all passes moves both; that of rounds its own on top.
    slopes[(0, 0)] = before[0];
    slopes[(1, 0)] = before[1];
    slopes[(1, 2)] = before[1];
    for constant in 2..TERMS {
        slopes[(constant, PARTS[constant])] = scale;
    }
    slopes
}

/// Every constant that a fit may have moved.
#[must_use]
pub fn moved(additive: &Additive, fit: &Fit) -> Vec<Moved> {
    let (before, covariance) = (before(additive), covariance(additive, fit));
    let after = after(additive, fit);
    let of = |at: usize| {
        let part = PARTS[at];
        // A term that nothing tells of may lie at its limit by itself.
        let limit = if part == 2 { fit.prior.least_round - fit.terms[0] } else { fit.prior.least[part] };
        let is_held = (fit.terms[part] - limit).abs() < 1e-7 && fit.left_open(part) < 0.9;
        Moved {
            name: CONSTANTS[at],
            is_time: at > 1,
            before: before[at],
            after: after[at],
            deviation: covariance[at][at].max(0.0).sqrt(),
            open: fit.left_open(part),
            is_held,
        }
    };
    (0..TERMS).map(of).collect()
}

fn after(additive: &Additive, fit: &Fit) -> [f64; TERMS] {
    let before = before(additive);
    let moves = slopes(&before, fit.scale) * nalgebra::SVector::<f64, TERMS>::from(fit.terms);
    // Rounding may leave a time that was taken down to 0 a little below.
    std::array::from_fn(|at| if before[at] + moves[at] < 1e-15 { 0.0 } else { before[at] + moves[at] })
}

/// How the constants vary together.
fn covariance(additive: &Additive, fit: &Fit) -> Vec<Vec<f64>> {
    let slopes = slopes(&before(additive), fit.scale);
    let of_terms = SMatrix::<f64, TERMS, TERMS>::from_fn(|at, other| fit.covariance[at][other]);
    let all = slopes * of_terms * slopes.transpose();
    (0..TERMS).map(|at| (0..TERMS).map(|other| f64::midpoint(all[(at, other)], all[(other, at)])).collect()).collect()
}

/// Why a fit makes no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProfile {
    /// Nothing to move.
    #[error("engine `{0}` is ideal: it has no constants to fit")]
    Ideal(String),
    /// A pace or covariance that cannot be.
    #[error("the fit does not make a profile: {0}")]
    Impossible(String),
}

/// The profile of a fit.
///
/// # Errors
///
/// [`NoProfile`].
pub fn profile(base: &Engine, fit: &Fit, subject: &Subject<'_>) -> Result<Engine, NoProfile> {
    let Some(additive) = base.additive() else { return Err(NoProfile::Ideal(base.id.clone())) };
    let impossible = |error: &dyn std::fmt::Display| NoProfile::Impossible(error.to_string());
    let moved = moved(additive, fit);
    let origin = |of: &Moved| {
        let told = if of.open > 0.9 { ", hardly told by them" } else { "" };
        let count = fit.residuals.len();
        format!("calibrated on {count} point{}{told}", if count == 1 { "" } else { "s" })
    };
    let time = |at: usize| {
        let of = &moved[at];
        let reach = NINE_IN_TEN * of.deviation;
        let range = Some((Seconds::new((of.after - reach).max(0.0)), Seconds::new(of.after + reach)));
        Constant { value: Seconds::new(of.after), range, origin: origin(of) }
    };
    let pace = |at: usize| {
        let of = &moved[at];
        let reach = NINE_IN_TEN * of.deviation;
        let at = |pace: f64| Pace::new(pace).map_err(|error| impossible(&error));
        let range = Some((at((of.after - reach).max(of.after / 10.0))?, at(of.after + reach)?));
        Ok::<_, NoProfile>(Constant { value: at(of.after)?, range, origin: origin(of) })
    };
    // Plain steps say nothing of speedups: those are as sure as before.
    let error = match (subject.k, subject.error) {
        (Some(_), _) => expected(&fit.residuals, subject.class),
        (None, Some(known)) => {
            ExpectedError { class: "all".to_owned(), rows: fit.residuals.len() as u64, ..known.clone() }
        }
        (None, None) => expected(&[], subject.class),
    };
    let joint = Joint::new(CONSTANTS.map(str::to_owned).to_vec(), covariance(additive, fit));
    let calibration = Calibration {
        base: base.origin().to_owned(),
        hardware: subject.hardware.to_owned(),
        target: subject.target.to_owned(),
        tensor_parallel: subject.tensor_parallel,
        formats: Some(subject.formats.clone()),
        without: subject.without.clone(),
        has_verify_cost: subject.has_verify_cost,
        has_overlap: subject.has_overlap,
        drafters: subject.drafters.clone(),
        k: subject.k,
        error: ExpectedError { known: Some(subject.known), ..error },
        joint: joint.map_err(|error| impossible(&error))?,
    };
    let fitted = Additive {
        status: Status::Calibrated,
        plain_pace: Some(pace(0)?),
        round_pace: Some(pace(1)?),
        step: time(2),
        round: time(3),
        draft: time(4),
        sequence: time(5),
        tree: Some(time(6)),
        token: Some(time(7)),
        // Those of the base say nothing of other constants of rounds.
        errors: if subject.k.is_none() { additive.errors.clone() } else { Vec::new() },
        calibration: Some(calibration),
        ..without_ranges(additive, subject.family)
    };
    Ok(Engine {
        id: subject.id.to_owned(),
        name: format!("{}, calibrated on {} and {}", base.name, subject.hardware, subject.target),
        profile: Profile::Additive(Box::new(fitted)),
        note: None,
        // Which of two profiles applies is what the measurements tell.
        disputed_by: Vec::new(),
    })
}

/// The profile with the constants that are not fitted held where they are: what they miss is in the fit.
fn without_ranges(additive: &Additive, family: &str) -> Additive {
    fn held<T: Copy>(of: &Constant<T>) -> Constant<T> {
        Constant { value: of.value, range: None, origin: of.origin.clone() }
    }
    let mut all = additive.clone();
    all.moe_layer = held(&all.moe_layer);
    all.routing_independence = held(&all.routing_independence);
    all.routing_power = all.routing_power.as_ref().map(held);
    all.all_reduce = held(&all.all_reduce);
    all.link = held(&all.link);
    all.accepted_per_proposed = held(&all.accepted_per_proposed);
    all.device = all.device.as_ref().map(held);
    all.layer_floor = all.layer_floor.as_ref().map(held);
    all.uncaptured_layer = all.uncaptured_layer.as_ref().map(held);
    all.quantised = all.quantised.take().map(|mut quantised| {
        quantised.compute = held(&quantised.compute);
        quantised.bandwidth = held(&quantised.bandwidth);
        quantised
    });
    all.families.retain(|(name, _)| name == family);
    for (_, of) in &mut all.families {
        *of = Efficiencies {
            bandwidth: held(&of.bandwidth),
            kv_bandwidth: of.kv_bandwidth.as_ref().map(held),
            compute: held(&of.compute),
            product: held(&of.product),
            attention: held(&of.attention),
            tested: of.tested,
        };
    }
    all
}

/// Points that the errors of published deployments count for.
const WORTH: f64 = 10.0;
/// No point counts for more.
const MOST: f64 = 0.3;
/// An outlier counts for so much at least.
const LEAST_WEIGHT: f64 = 0.2;

/// How far off speedups are to be expected at points of the deployment that were not measured: what the points themselves tell, left out
/// in turn, beside what published deployments came to with three to five points.
///
/// # Formula
///
/// ```text
/// p90^2 = (1 + 1 / 2n) (10 p^2 + 1.645^2 sum of w e^2) / (10 + n)      median^2 = (1 + 1 / 2n) (10 m^2 + n median^2) / (10 + n)
/// ```
///
/// e: the n points left out, w their weights in the fit, at least 0.2. Of published deployments of at least eight points, predicted with three drawn among them, p and m were 9.6 and 2.3 % for
/// dense targets on vLLM and SGLang, 12.8 and 4.3 % for mixtures, 16 (with five 14) and 5 % on other engines.
#[must_use]
pub fn expected(residuals: &[Residual], class: Class) -> ExpectedError {
    let (median, p90) = match class {
        Class::Dense => (0.023, 0.096),
        Class::Moe => (0.043, 0.128),
        Class::Other => (0.05, 0.15),
    };
    let count = residuals.len() as f64;
    let off = || residuals.iter().map(|of| of.left_out.abs().min(MOST));
    // What hardly counted in the fit hardly counts here.
    let squares: f64 = residuals.iter().zip(off()).map(|(of, off)| of.weight.max(LEAST_WEIGHT) * off * off).sum();
    let middle = if residuals.is_empty() { 0.0 } else { quantile(&sorted(off()), 0.5) };
    // A fit hangs on the points that it has: on few of them more.
    let few = (1.0 + 0.5 / count.max(1.0)).sqrt();
    let joined = |published: f64, sum: f64| few * ((WORTH * published * published + sum) / (WORTH + count)).sqrt();
    ExpectedError {
        class: "all".to_owned(),
        median: joined(median, count * middle * middle),
        p90: joined(p90, NINE_IN_TEN * NINE_IN_TEN * squares),
        rows: residuals.len() as u64,
        known: None,
    }
}
