//! What must hold between the parts of a scenario.

use crate::catalog::node::Node;
use crate::catalog::reader::Problems;
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::AcceptanceModel;
use crate::domain::axis::{Axis, Described};
use crate::domain::device::Device;
use crate::domain::drafter::{DraftSource, Drafter, HeadSource};
use crate::domain::engine::{Engine, Profile};
use crate::domain::model::{Model, Shape};
use crate::domain::shape::TreeShape;
use crate::words::{Role, Roofline, Term};

/// The parts of a scenario that could be read; a part with mistakes of its own is empty here.
pub(super) struct Parts<'s> {
    pub(super) hardware: &'s [Device],
    pub(super) targets: &'s [Model],
    pub(super) engines: &'s [Engine],
    pub(super) drafters: &'s [Drafter],
    pub(super) roofline: Option<Roofline>,
    pub(super) without: &'s [Term],
    pub(super) k: Option<Axis<u64>>,
    /// Whether verifications were measured.
    pub(super) is_measured: bool,
    /// How many values it has.
    pub(super) tensor_parallel: usize,
}

/// Reports every rule that the parts of a scenario break together.
pub(super) fn parts(scenario: &Parts<'_>, root: &Node, problems: &mut Problems) {
    let at = |key: &str| root.get(key).unwrap_or(root).place.clone();
    let mut report = |found: Diagnostic, key: &str| {
        problems.report::<()>(found.across_parts().at(&at(key)));
    };
    for target in scenario.targets.iter().filter(|target| target.role == Role::Head) {
        let message = format!("`{}` is a head, which cannot be a target", target.id);
        report(Diagnostic::error("wrong-role", message), "target");
    }
    if let Some(found) = roofline(scenario) {
        let of_roofline = root.get("roofline").is_some() && !found.message.contains("needs its layers");
        report(found, if of_roofline { "roofline" } else { "engine" });
    }
    if root.get("drafters").is_none_or(Node::is_empty)
        && root.get("sweep").is_some_and(|sweep| sweep.get("k").is_some())
    {
        let found =
            Diagnostic::error("no-drafter", "`sweep.k` has no effect: the scenario has no drafter").as_warning();
        report(found.hint("add a [drafters.<label>] table; until then only plain decoding is priced"), "sweep");
    }
    if scenario.is_measured
        && (scenario.hardware.len() > 1 || scenario.targets.len() > 1 || scenario.tensor_parallel > 1)
    {
        let message =
            "`verify_cost` was measured of one hardware, target and tensor_parallel, and the scenario has several";
        report(
            Diagnostic::error("conflict", message).hint("take one value of each, or leave the section out"),
            "verify_cost",
        );
    }
    for found in without(scenario) {
        report(found, "without");
    }
    if let Some(found) = unused_acceptance(root) {
        report(found, "acceptance");
    }
    let peaks = root.at(&["quantization", "activations"]).or_else(|| root.get("hardware")).unwrap_or(root);
    for found in missing_peaks(scenario) {
        problems.report::<()>(found.across_parts().at(&peaks.place));
    }
    for (found, label) in drafters(scenario) {
        let place = root.at(&["drafters", label]).or_else(|| root.get("drafters")).unwrap_or(root).place.clone();
        problems.report::<()>(found.across_parts().at(&place));
    }
}

/// Every model that is priced, targets first.
fn models<'s>(scenario: &Parts<'s>) -> impl Iterator<Item = &'s Model> {
    scenario.targets.iter().chain(scenario.drafters.iter().filter_map(|drafter| drafter.source.model()))
}

/// Whether the roofline in force suits every engine and can price every model.
fn roofline(scenario: &Parts<'_>) -> Option<Diagnostic> {
    let (ideal, fitted): (Vec<&Engine>, Vec<&Engine>) =
        scenario.engines.iter().partition(|engine| engine.profile == Profile::Ideal);
    if let (Some(Roofline::Additive), Some(engine)) = (scenario.roofline, ideal.first()) {
        let message = format!("engine `{}` has no terms to add", engine.id);
        let hint = "set roofline to \"per_op\" or \"aggregate\", or leave it out";
        return Some(Diagnostic::error("conflict", message).hint(hint));
    }
    let known_by_totals = models(scenario).find(|model| matches!(model.shape, Shape::Aggregate(_)));
    if let (Some(engine), Some(known_by_totals)) = (fitted.first(), known_by_totals) {
        let message =
            format!("`{}` is known by its totals, and engine `{}` needs its layers", known_by_totals.id, engine.id);
        let hint = "take models with [[layers]], or a scenario that has them: --scenario llama-8b-drafters";
        return Some(Diagnostic::error("conflict", message).hint(hint));
    }
    if let (Some(stated @ (Roofline::Aggregate | Roofline::PerOp)), Some(engine)) = (scenario.roofline, fitted.first())
    {
        let message = format!("engine `{}` prices with the additive form, not with \"{stated}\"", engine.id);
        let hint = "set roofline = \"additive\" too (--set roofline=additive), or leave it out of the scenario";
        return Some(Diagnostic::error("conflict", message).hint(hint));
    }
    let known_by_totals = known_by_totals?;
    let by_default = scenario.targets.iter().any(|target| matches!(target.shape, Shape::Layers(_)));
    let per_op = scenario.roofline.map_or(by_default, |roofline| roofline == Roofline::PerOp);
    let alone = scenario.roofline.is_none() && scenario.drafters.iter().all(|drafter| drafter.source.model().is_none());
    if !per_op || alone {
        return None;
    }
    let message = format!("`{}` is known by its totals, and \"per_op\" needs its layers", known_by_totals.id);
    Some(Diagnostic::error("conflict", message).hint("set roofline = \"aggregate\", or take a model with [[layers]]"))
}

/// Terms left out where there are none, or so many that nothing is left.
fn without(scenario: &Parts<'_>) -> Vec<Diagnostic> {
    let left_out = scenario.without;
    if left_out.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(engine) = scenario.engines.iter().find(|engine| engine.profile == Profile::Ideal) {
        let message = format!("engine `{}` has no terms to leave out", engine.id);
        found.push(Diagnostic::error("conflict", message).hint("name another engine, or drop `without`"));
    }
    if NEEDED.iter().all(|term| left_out.contains(term)) {
        let words: Vec<&str> = NEEDED.iter().map(|term| term.as_str()).collect();
        let message = format!("without {} a pass costs nothing", words.join(", "));
        found.push(Diagnostic::error("conflict", message).hint("keep one of them"));
    }
    found
}

/// Terms of which one must stay.
pub(super) const NEEDED: [Term; 3] = [Term::ProductKernels, Term::Weights, Term::Arithmetic];

/// An acceptance for all drafters that none of them takes.
fn unused_acceptance(root: &Node) -> Option<Diagnostic> {
    root.get("acceptance")?;
    let drafters = root.get("drafters").and_then(Node::entries).unwrap_or_default();
    if drafters.iter().any(|drafter| drafter.node.get("acceptance").is_none()) {
        return None;
    }
    let found = Diagnostic::error("unused", "`acceptance` has no effect: every drafter has its own").as_warning();
    Some(found.hint("set drafters.<label>.acceptance, or leave it out of the drafters"))
}

fn missing_peaks(scenario: &Parts<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for device in scenario.hardware {
        for model in models(scenario) {
            if let Err(error) = device.peak(model.formats.activations) {
                let message = format!("{error}, which model `{}` computes in", model.id);
                let hint = format!(
                    "state `{}` under [peak] of that hardware, or compute in another format: quantization.activations",
                    error.dtype
                );
                found.push(Diagnostic::error("missing-figure", message).hint(hint));
            }
        }
    }
    found.dedup();
    found
}

/// Whether every drafter suits every target and the draft lengths asked for, by its label.
fn drafters<'s>(scenario: &Parts<'s>) -> Vec<(Diagnostic, &'s str)> {
    let mut all = Vec::new();
    for drafter in scenario.drafters {
        let unfit = scenario.targets.iter().filter_map(|target| fit(drafter, target));
        let found = unfit.chain(too_long(drafter, scenario.k.as_ref())).chain(summed(drafter, scenario.k.as_ref()));
        all.extend(found.map(|one| (one, drafter.label.as_str())));
    }
    all
}

/// Why a drafter does not fit a target.
fn fit(drafter: &Drafter, target: &Model) -> Option<Diagnostic> {
    let label = &drafter.label;
    if let (DraftSource::LayerSkip { layers }, Shape::Layers(of)) = (&drafter.source, &target.shape)
        && *layers as f64 >= of.layers()
    {
        let message = format!("drafter `{label}` runs {layers} layers, and `{}` has {}", target.id, of.layers());
        return Some(Diagnostic::error("does-not-fit", message).hint("a drafter by early exit leaves layers out"));
    }
    if matches!(drafter.source, DraftSource::Head(HeadSource::Derived(_)) | DraftSource::LayerSkip { .. }) {
        return matches!(target.shape, Shape::Aggregate(_)).then(|| {
            let message =
                format!("drafter `{label}` is derived from its target, and `{}` is known by its totals", target.id);
            Diagnostic::error("conflict", message).hint("take a target with [[layers]]")
        });
    }
    let model = drafter.source.model()?;
    if !model.fits.is_empty() && !model.fits.iter().any(|fits| fits == target.base_id()) {
        let message = format!(
            "drafter `{label}`: head `{}` is made for {}, not for `{}`",
            model.id,
            model.fits.join(", "),
            target.id
        );
        let hint = "name a head made for this target, or leave its id out: one of its shape is derived";
        return Some(Diagnostic::error("does-not-fit", message).hint(hint));
    }
    if let Some(found) = other_width(label, model, target) {
        return Some(found);
    }
    let (drafts, verifies) = (model.vocab?, target.vocab?);
    (drafts != verifies).then(|| {
        let message =
            format!("drafter `{label}` has {drafts} tokens in its vocabulary, target `{}` has {verifies}", target.id);
        Diagnostic::error("does-not-fit", message).hint("a drafter shares its target's vocabulary")
    })
}

/// A head reads hidden states of its target as they are: its layers have their width.
fn other_width(label: &str, model: &Model, target: &Model) -> Option<Diagnostic> {
    let (Shape::Layers(head), Shape::Layers(of)) = (&model.shape, &target.shape) else { return None };
    head.head()?;
    let (own, theirs) = (head.hidden(), of.hidden());
    (own.total_cmp(&theirs).is_ne()).then(|| {
        let message = format!(
            "drafter `{label}`: head `{}` reads hidden states of width {own}, and `{}` has {theirs}",
            model.id, target.id
        );
        let hint = "name a head made for this target, or leave its id out: one of its shape is derived";
        Diagnostic::error("does-not-fit", message).hint(hint)
    })
}

/// The longest rounds whose law is summed position by position: many times what any engine drafts.
const LONGEST_SUM: u64 = 4096;

/// A k that takes too long where there is no closed form.
fn summed(drafter: &Drafter, k: Option<&Axis<u64>>) -> Option<Diagnostic> {
    let asked = largest(k?);
    let closed = |model: &&AcceptanceModel| {
        !matches!(model, AcceptanceModel::Beta { .. } | AcceptanceModel::Markov(_) | AcceptanceModel::Ranks(_))
    };
    let models = drafter.acceptance.models();
    let of = models.iter().find(|model| !closed(model)).map(|model| model.kind().as_str());
    let of = if models.len() > 1 { Some("a mix") } else { of };
    of.filter(|_| asked > LONGEST_SUM).map(|of| {
        let message =
            format!("drafter `{}`: k goes up to {asked}, and {of} is summed position by position", drafter.label);
        Diagnostic::error("out-of-range", message).hint(format!("set sweep.k to at most {LONGEST_SUM}"))
    })
}

fn largest(k: &Axis<u64>) -> u64 {
    match k.described() {
        Described::List(values) => values.iter().copied().max().unwrap_or(0),
        _ => k.get(k.len() - 1),
    }
}

/// A k that a block drafter cannot draft in its one pass.
fn too_long(drafter: &Drafter, k: Option<&Axis<u64>>) -> Option<Diagnostic> {
    let (longest, k) = (drafter.longest?, k?);
    if let Some(depth) = drafter.tree.as_ref().map(TreeShape::depth) {
        return (depth > longest).then(|| {
            let message = format!(
                "drafter `{}` drafts {longest} tokens in its pass, and its tree is {depth} deep",
                drafter.label
            );
            Diagnostic::error("does-not-fit", message).hint(format!("make it {longest} deep at most"))
        });
    }
    let asked = largest(k);
    (asked > longest).then(|| {
        let message =
            format!("drafter `{}` drafts {longest} tokens in its pass, and k goes up to {asked}", drafter.label);
        Diagnostic::error("does-not-fit", message).hint(format!("set sweep.k to at most {longest}"))
    })
}
