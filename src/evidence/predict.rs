//! What the cost model says of a measured point, its own tokens per pass put in.

use crate::cost::draft::DraftPricing;
use crate::cost::pass::pass;
use crate::cost::shape::PassShape;
use crate::domain::deployment::{Limits, Spread};
use crate::domain::device::Device;
use crate::domain::drafter::{DraftSource, HeadSource, Layout};
use crate::domain::engine::{Engine, Profile};
use crate::domain::head::{EAGLE3_VOCAB, Head, MEDUSA_HEADS, NoHead, derived};
use crate::domain::measurement::{ClosedLoop, Measurement};
use crate::domain::model::{AggregateError, Model, Shape};
use crate::evidence::founding::{by_totals, joined};
use crate::plan::round::{plain_step, round_of};
use crate::plan::setup::{Deployment, Drafts, Setup, SetupError};
use crate::plan::speedup::speedup;
use crate::units::Seconds;
use crate::words::{Class, HeadKind, MeasuredDrafter, Role, Roofline, Term};

/// What a measurement names, found in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The device.
    pub device: &'a Device,
    /// The target.
    pub target: &'a Model,
    /// The drafter, where the measurement names one.
    pub drafter: Option<&'a Model>,
    /// The engine: its own, or one that stands in for all.
    pub engine: &'a Engine,
}

/// How every measurement is priced.
#[derive(Clone, Copy, Debug)]
pub struct Method<'a> {
    /// The roofline of ideal engines; none: `per_op` for models known by their layers. `aggregate` is the
    /// founding study's formula: models by their totals, devices as one.
    pub roofline: Option<Roofline>,
    /// Terms left out of the additive form.
    pub without: &'a [Term],
}

/// What is predicted for a measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Speculative over plain.
    pub speedup: f64,
    /// The plain step.
    pub base_step: Seconds,
    /// The round.
    pub round: Seconds,
    /// The prefill of one prompt, where throughput of closed-loop traffic was measured.
    pub prefill: Option<Prefill>,
}

/// The prefill of one prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefill {
    /// On the target.
    pub target: Seconds,
    /// On the drafter, beside it.
    pub drafter: Seconds,
}

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unpriced {
    /// The deployment cannot be priced.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No head follows from the target.
    #[error(transparent)]
    NoHead(#[from] NoHead),
    /// A separate model has to be named.
    #[error("a separate draft model without a name")]
    NoDrafter,
    /// A head cannot be a target.
    #[error("`{0}` is a head, which cannot be a target")]
    HeadAsTarget(String),
    /// The drafter is made for other targets.
    #[error("`{drafter}` is made for {fits}, not for `{target}`")]
    OtherTarget {
        /// The drafter.
        drafter: String,
        /// Its targets.
        fits: String,
        /// The target it was measured with.
        target: String,
    },
    /// The head that is named drafts in another way.
    #[error("`{0}` is no head of the kind that the line states")]
    WrongHead(String),
    /// A model multiplies nothing.
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
}

/// Whether a measurement is one of a dense target or of a mixture on vLLM or SGLang, or of another engine.
#[must_use]
pub fn class(engine: &str, target: &Model) -> Class {
    if !engine.starts_with("vllm") && !engine.starts_with("sglang") {
        Class::Other
    } else if target.is_moe() {
        Class::Moe
    } else {
        Class::Dense
    }
}

/// Predicts a measured point.
///
/// # Formula
///
/// ```text
/// s = tau t_1 / t_R                                                           decode only
/// s = (O t_1 + B P_T) / ((O / tau) t_R + B (P_T + P_D))                       closed loop
/// ```
///
/// tau: measured tokens per pass; t_1, t_R: plain step and round; O: output tokens; P_T, P_D: the prefill
/// pass of one prompt on target and drafter. Weights have the bytes that the measurement states; the
/// arithmetic is that of 16-bit activations.
///
/// # Errors
///
/// [`Unpriced`] names what is missing.
pub fn predict(measured: &Measurement, named: Named<'_>, method: Method<'_>) -> Result<Prediction, Unpriced> {
    if named.target.role == Role::Head {
        return Err(Unpriced::HeadAsTarget(named.target.id.clone()));
    }
    if let Some(drafter) = named.drafter
        && !drafter.fits.is_empty()
        && !drafter.fits.contains(&named.target.id)
    {
        let (drafter, fits) = (drafter.id.clone(), drafter.fits.join(", "));
        return Err(Unpriced::OtherTarget { drafter, fits, target: named.target.id.clone() });
    }
    let target = with_weights(named.target, measured.weight_bytes);
    let source = source(measured, &target, named.drafter)?;
    if method.roofline == Some(Roofline::Aggregate) {
        let (device, target) = (joined(named.device, measured.devices), by_totals(&target)?);
        let source = source_by_totals(source)?;
        return priced(
            measured,
            &Priced { device: &device, devices: 1, target: &target, source: &source },
            named,
            method,
        );
    }
    let (device, devices) = (named.device, measured.devices);
    priced(measured, &Priced { device, devices, target: &target, source: &source }, named, method)
}

/// What is priced, once everything is found.
struct Priced<'a> {
    device: &'a Device,
    devices: u64,
    target: &'a Model,
    source: &'a DraftSource,
}

fn priced(
    measured: &Measurement,
    what: &Priced<'_>,
    named: Named<'_>,
    method: Method<'_>,
) -> Result<Prediction, Unpriced> {
    let setup = Setup::new(&Deployment {
        device: what.device,
        engine: named.engine,
        roofline: roofline(named.engine, what.target, method.roofline),
        devices: what.devices,
        spread: Spread::default(),
        without: method.without,
        limits: &Limits::default(),
        policy: None,
        verify_cost: None,
        target: what.target,
        drafts: Some(Drafts { source: what.source, overlap: false, tree: None, proposing_share: None }),
    })?;
    let plain = plain_step(&setup, measured.batch, measured.context);
    let layout = layout(measured, &setup);
    let round = round_of(&setup, &plain, measured.batch, measured.context, layout).seconds(measured.tokens_per_pass);
    let base_step = plain.seconds();
    let prefill = measured.closed_loop.map(|requests| prefill(&setup, measured.drafter_kind, requests));
    let times = Times { base_step, round, prefill };
    Ok(Prediction { speedup: ratio(measured, times), base_step, round, prefill })
}

fn source_by_totals(source: DraftSource) -> Result<DraftSource, Unpriced> {
    Ok(match source {
        DraftSource::Model(model) => DraftSource::Model(by_totals(&model)?),
        DraftSource::Head(HeadSource::Named(model)) => DraftSource::Model(by_totals(&model)?),
        other => other,
    })
}

fn roofline(engine: &Engine, target: &Model, ideal: Option<Roofline>) -> Roofline {
    match (&engine.profile, &target.shape) {
        (Profile::Additive(_), _) => Roofline::Additive,
        (Profile::Ideal, Shape::Aggregate(_)) => Roofline::Aggregate,
        (Profile::Ideal, Shape::Layers(_)) => ideal.unwrap_or(Roofline::PerOp),
    }
}

/// The passes that the measurement states; where drafts are looked up, only some sequences propose any.
fn layout(measured: &Measurement, setup: &Setup<'_>) -> Layout {
    if !setup.looks_up() {
        return measured.layout;
    }
    let share = setup.proposing_share(measured.tokens_per_pass, measured.k);
    Layout { verify_width: 1.0 + measured.k as f64 * share, ..measured.layout }
}

fn with_weights(model: &Model, bytes: f64) -> Model {
    Model { formats: model.formats.with_weight_bytes(bytes), ..model.clone() }
}

/// What drafts in a measurement: by name, or derived from the target.
///
/// # Errors
///
/// [`Unpriced`] names what is missing.
pub fn source(measured: &Measurement, target: &Model, named: Option<&Model>) -> Result<DraftSource, Unpriced> {
    let bytes = measured.drafter_weight_bytes;
    let head = match measured.drafter_kind {
        MeasuredDrafter::Ngram => return Ok(DraftSource::Ngram),
        MeasuredDrafter::Suffix => return Ok(DraftSource::Suffix),
        MeasuredDrafter::SelfSparseKv => return Ok(DraftSource::SparseKv { budget: measured.draft_budget }),
        MeasuredDrafter::Model => {
            return named.map(|model| DraftSource::Model(with_weights(model, bytes))).ok_or(Unpriced::NoDrafter);
        }
        MeasuredDrafter::Eagle1 => Head { kind: HeadKind::Eagle1, draft_vocab: None, copies: 1, reads: None },
        MeasuredDrafter::Eagle3 => {
            Head { kind: HeadKind::Eagle3, draft_vocab: Some(EAGLE3_VOCAB), copies: 1, reads: None }
        }
        MeasuredDrafter::Eagle3FullHead => {
            Head { kind: HeadKind::Eagle3, draft_vocab: target.vocab, copies: 1, reads: None }
        }
        MeasuredDrafter::Mtp => Head { kind: HeadKind::Mtp, draft_vocab: None, copies: 1, reads: None },
        MeasuredDrafter::Block => Head { kind: HeadKind::Block, draft_vocab: None, copies: 1, reads: None },
        MeasuredDrafter::Medusa => {
            Head { kind: HeadKind::Medusa, draft_vocab: None, copies: MEDUSA_HEADS, reads: None }
        }
    };
    let model = match named {
        Some(model) if model.head_kind() == Some(head.kind) => model.clone(),
        Some(model) => return Err(Unpriced::WrongHead(model.id.clone())),
        None => derived(target, head)?,
    };
    Ok(DraftSource::Head(HeadSource::Named(Box::new(with_weights(&model, bytes)))))
}

/// What a speedup is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    /// The plain step.
    pub(super) base_step: Seconds,
    /// The round.
    pub(super) round: Seconds,
    /// The prefill of one prompt, in closed-loop traffic.
    pub(super) prefill: Option<Prefill>,
}

/// Speculative over plain: of decode alone, or of the throughputs of closed-loop traffic, prefill included.
pub(super) fn ratio(measured: &Measurement, times: Times) -> f64 {
    let (tokens, batch) = (measured.tokens_per_pass, measured.batch);
    match measured.closed_loop.zip(times.prefill) {
        None => speedup(tokens, times.base_step, times.round),
        Some((requests, prefill)) => {
            let plainly = times.base_step * requests.output + prefill.target * batch;
            let speculating = times.round * (requests.output / tokens) + (prefill.target + prefill.drafter) * batch;
            plainly / speculating
        }
    }
}

fn prefill(setup: &Setup<'_>, kind: MeasuredDrafter, requests: ClosedLoop) -> Prefill {
    let shape = PassShape::prefill(1.0, requests.prompt, 0.0);
    let drafter = match setup.drafting() {
        // Medusa heads keep no cache, and a capped cache is the target's own.
        Some(DraftPricing::Passes { model, pricing, budget: None }) if kind != MeasuredDrafter::Medusa => {
            pass(model, pricing, shape).seconds()
        }
        _ => Seconds::ZERO,
    };
    Prefill { target: pass(setup.target(), setup.pricing(), shape).seconds(), drafter }
}
