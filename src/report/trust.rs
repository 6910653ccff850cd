//! How far to trust the numbers: the lines that go with every output.

use crate::domain::acceptance::{Acceptance, AcceptanceModel, OfWorkload};
use crate::domain::calibration::Calibration;
use crate::domain::drafter::{DraftSource, Drafter, HeadSource};
use crate::domain::engine::{Engine, ExpectedError, Known};
use crate::domain::model::Model;
use crate::domain::scenario::Scenario;
use crate::domain::shape::TreeShape;
use crate::domain::verify_cost::VerifyCost;
use crate::plan::backing::Backing;
use crate::plan::setting::Setting;
use crate::report::number::{counted, shortest};
use crate::words::{Status, Term};

/// Lines on engines, targets and hardware beyond this repeat each other.
const MOST_PROFILES: usize = 12;

/// One line for each engine profile and class of target, with the error to expect and the profile to
/// prefer, and one for each drafter's acceptance, with its source.
#[must_use]
pub fn lines(scenario: &Scenario) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for setting in Setting::all(scenario) {
        let line = profile(&setting.backing());
        if !lines.contains(&line) && lines.len() < MOST_PROFILES {
            lines.push(line);
        }
    }
    lines.extend(without(&scenario.without));
    lines.extend(scenario.verify_cost.as_ref().map(VerifyCost::line));
    if !scenario.measured.is_empty() {
        let count = scenario.measured.len();
        lines.push(format!(
            "[[measured]]: {count} points, which prices take no note of: `specplan calibrate` fits a profile to them"
        ));
    }
    let strictest = Setting::all(scenario).find(|setting| setting.engine.additive().is_some());
    let strictest = strictest.or_else(|| Setting::all(scenario).next()).map(|setting| setting.backing());
    lines.extend(scenario.engines.iter().filter_map(note));
    lines.extend(strictest.iter().flat_map(|backing| scenario.drafters.iter().map(|one| drafter(one, backing))));
    if scenario.drafters.is_empty() {
        lines.push("no drafter: only plain decoding is priced".to_owned());
    }
    lines
}

/// How far to trust an engine profile for a target on a device.
///
/// The figures of ideal engines: published speedups over the founding formula with the measured tokens
/// per pass put in, 333 rows of papers, engine documentation and issue threads. Those of the others stand
/// in their files.
#[must_use]
pub fn profile(backing: &Backing<'_>) -> String {
    let Backing { engine, device, target, calibration } = *backing;
    let Some(additive) = engine.additive() else {
        return format!(
            "engine {}: an ideal roofline flatters. Published speedups are 0.85 of the aggregate one in the median, 0.73 \
             at batch 17 to 64 (333 rows); prefer a fitted profile such as vllm",
            engine.id
        );
    };
    let status = match additive.status {
        Status::Fitted => "fitted to measurements",
        Status::Assumed => "assumed, not fitted",
        Status::Calibrated => "calibrated on another deployment",
    };
    if let Some(calibration) = calibration {
        return calibrated(engine, calibration);
    }
    let tested = device.family.as_deref().and_then(|family| additive.efficiencies(family)).is_some_and(|of| of.tested);
    let error = if tested { backing.error().map(|known| expected(known, target)) } else { None };
    let error = error.unwrap_or_else(|| {
        let hardware = if tested { String::new() } else { format!(" on hardware such as {}", device.id) };
        format!("no measured speedup{hardware} tests it: take one point of your own before you rely on it")
    });
    let approximate = if target.approximate { format!("; {} is approximate", target.id) } else { String::new() };
    format!("engine {}: {status}; {error}{approximate}", engine.id)
}

/// How far to trust a profile on the deployment that it was calibrated on.
fn calibrated(engine: &Engine, calibration: &Calibration) -> String {
    let error = &calibration.error;
    let lengths = match calibration.k {
        None => ", no round among them: those are as sure as before".to_owned(),
        Some((least, longest)) if least == longest => format!(", k {least}"),
        Some((least, longest)) => format!(", k {least} to {longest}"),
    };
    format!(
        "engine {}: calibrated on {} of this deployment; expect speedups to be {} % off in the median, {} % at the 90th percentile{}{lengths}",
        engine.id,
        counted(error.rows, "point"),
        percent(error.median),
        percent(error.p90),
        error.known.map_or_else(String::new, reach)
    )
}

fn reach(Known { batch: (least, largest), context }: Known) -> String {
    let batch = if least == largest { least.to_string() } else { format!("{least} to {largest}") };
    format!("; known ones have batch {batch} and context up to {context}")
}

fn expected(known: &ExpectedError, target: &Model) -> String {
    let class = if target.is_moe() { "moe" } else { "dense" };
    let of = if known.class == "all" { String::new() } else { format!("{class} ") };
    let range = known.known.map_or_else(String::new, reach);
    format!(
        "expect {of}speedups to be {} % off in the median, {} % at the 90th percentile ({} rows the fit had not seen{range})",
        percent(known.median),
        percent(known.p90),
        known.rows
    )
}

fn percent(share: f64) -> String {
    shortest((share * 1000.0).round() / 10.0)
}

/// What is said where terms are left out of the price.
#[must_use]
pub fn without(terms: &[Term]) -> Option<String> {
    let words: Vec<&str> = terms.iter().map(|term| term.as_str()).collect();
    (!words.is_empty())
        .then(|| format!("without {}: left out of every price, so that no expected error holds", words.join(", ")))
}

/// What the user of an engine profile should know beside its errors.
#[must_use]
pub fn note(engine: &Engine) -> Option<String> {
    engine.additive()?;
    engine.note.as_ref().map(|note| format!("engine {}: {note}", engine.id))
}

/// Where an acceptance was measured; of a service, where that of each workload was.
fn sources(acceptance: &Acceptance) -> Option<String> {
    let AcceptanceModel::Workloads(parts) = &acceptance.model else { return acceptance.provenance.line() };
    let of = |part: &OfWorkload| {
        let source = part.acceptance.provenance.line().unwrap_or_else(|| "source not stated".to_owned());
        format!("{}: {}, {source}", part.label, part.acceptance.model.kind())
    };
    let each: Vec<String> = acceptance.provenance.line().into_iter().chain(parts.iter().map(of)).collect();
    Some(each.join("; "))
}

/// What of a drafter's price no measurement tests.
fn untested(drafter: &Drafter, backing: &Backing<'_>) -> String {
    let is_covered = backing.error().is_some() && drafter.is_covered(backing.engine.origin());
    if backing.engine.additive().is_none() || backing.calibrated(Some(drafter)).is_some() {
        return String::new();
    }
    if backing.calibration.is_some() {
        let what = if drafter.overlap { " beside verification" } else { "" };
        return if is_covered {
            String::new()
        } else {
            format!("; unvalidated: no round of such drafts{what} is among its points")
        };
    }
    if drafter.is_covered(backing.engine.origin()) {
        return String::new();
    }
    match drafter.source.only_engine().filter(|_| !drafter.overlap) {
        Some(only) => format!("; unvalidated: the published measurements of such drafters are of {only} only"),
        None if drafter.overlap => {
            "; unvalidated: no published measurement of drafts beside verification tests its price".to_owned()
        }
        None => "; unvalidated: no published measurement of such drafters tests its price".to_owned(),
    }
}

/// Where a drafter's acceptance comes from, and what of its price is not tested.
#[must_use]
pub fn drafter(drafter: &Drafter, backing: &Backing<'_>) -> String {
    let kind = drafter.acceptance.model.kind();
    let source = sources(&drafter.acceptance).unwrap_or_else(|| "source not stated".to_owned());
    let tree = match (&drafter.acceptance.model, &drafter.tree) {
        (AcceptanceModel::Ranks(_), Some(TreeShape::Sized(_))) => {
            "; tokens of the beam that ranks alone would draft: an engine that knows in every round how sure it is accepts more"
        }
        _ => "",
    };
    let head = match &drafter.source {
        DraftSource::Head(HeadSource::Derived(_)) => "; its head is derived from the target's shape",
        _ => "",
    };
    let untested = untested(drafter, backing);
    let spread = drafter.acceptance.spread.map_or_else(String::new, |spread| {
        format!("; nine in ten accept {} to {} times as many drafts", shortest(spread.low), shortest(spread.high))
    });
    format!("drafter {}: acceptance {kind}, {source}{spread}{tree}{head}{untested}", drafter.label)
}
