//! `scenarios/<name>.toml` into a [`Scenario`].

use crate::catalog::acceptance::{Context, acceptance};
use crate::catalog::check;
use crate::catalog::deployment::{default_memory, degree, limits, memory, spread};
use crate::catalog::drafter::{Shared, drafters};
use crate::catalog::formats::{quantization, quantized};
use crate::catalog::load::Loader;
use crate::catalog::measured::measured;
use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::catalog::simulate::simulate;
use crate::catalog::traffic::{Around, slo, traffic};
use crate::catalog::uncertainty::uncertainty;
use crate::catalog::values::{LARGEST_INTEGER, integer_axis, word};
use crate::catalog::verify_cost::verify_cost;
use crate::catalog::workloads::{together, workloads};
use crate::diagnostic::Diagnostic;
use crate::domain::axis::Axis;
use crate::domain::drafter::Drafter;
use crate::domain::engine::Engine;
use crate::domain::model::Model;
use crate::domain::scenario::{Scenario, SweepAxes};
use crate::words::{Roofline, Term};

const KEYS: Keys = Keys {
    known: &[
        "title",
        "hardware",
        "target",
        "engine",
        "roofline",
        "tensor_parallel",
        "drafters",
        "acceptance",
        "sweep",
        "simulate",
        "memory",
        "deployment",
        "limits",
        "without",
        "quantization",
        "workloads",
        "uncertainty",
        "measured",
        "verify_cost",
        "launch",
        "traffic",
        "slo",
    ],
};

/// The longest chain: a thousand times what any engine runs.
pub(super) const LARGEST_K: u64 = 1_000_000;
/// The longest draft that is swept where a scenario does not say.
const DEFAULT_K: u64 = 8;
/// The seed of a scenario that names none.
const DEFAULT_SEED: u64 = 5;

/// Reads a scenario and everything it names.
pub(super) fn scenario(root: &Node, name: &str, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Scenario> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let title = fields.required("title", text);
    let hardware = fields.required("hardware", |node, problems| {
        axis_of(node, problems, |node, problems| loader.device(node, problems), |device| device.id.clone())
    });
    let (targets, formats_read) = targets(&mut fields, root, loader);
    let engines = engines(&mut fields, loader);
    let roofline = fields.optional("roofline", word::<Roofline>);
    let tensor_parallel =
        fields.optional("tensor_parallel", |node, problems| axis_of(node, problems, degree, u64::to_string));
    let without = fields.optional("without", |node, problems| match &node.value {
        Value::List(items) if items.is_empty() => Some(Vec::new()),
        _ => one_or_many(node, problems, word::<Term>),
    });
    let workloads = fields.optional("workloads", |node, problems| workloads(node, problems, loader));
    let kinds = workloads.as_ref().and_then(Option::as_deref).unwrap_or_default();
    let context = if workloads.is_none() { Context::Unread } else { Context::Whole(kinds) };
    let stated = fields.optional("acceptance", |node, problems| acceptance(node, problems, loader, context));
    let shared = match stated {
        // Of workloads that could not be read nothing can be said.
        _ if workloads.is_none() => None,
        Some(None) => Some(together(kinds)),
        stated => stated,
    };
    let drafting =
        fields.optional("drafters", |node, problems| drafters(node, problems, Shared::of(&shared), context, loader));
    let by_default = k_by_default(drafting.as_ref().and_then(Option::as_deref).unwrap_or_default());
    let axes = fields.optional("sweep", |node, problems| sweep_axes(node, problems, &by_default));
    let memory = fields.optional("memory", memory);
    let spread = fields.optional("deployment", spread);
    let limits = fields.optional("limits", limits);
    let simulating = fields.optional("simulate", simulate);
    let uncertainty = fields.optional("uncertainty", uncertainty);
    let measured = fields.optional("measured", measured);
    let around = Around { workloads: kinds, replicas: spread.flatten().and_then(|(_, replicas)| replicas) };
    let traffic = fields.optional("traffic", |node, problems| traffic(node, problems, &around, loader));
    let slo = fields.optional("slo", slo);
    let verify_cost = fields.optional("verify_cost", verify_cost);
    fields.optional("launch", origin)?;
    let parts = check::Parts {
        is_measured: matches!(verify_cost, Some(Some(_))),
        tensor_parallel: tensor_parallel.as_ref().and_then(Option::as_deref).map_or(1, <[u64]>::len),
        hardware: hardware.as_deref().unwrap_or_default(),
        targets: targets.as_deref().unwrap_or_default(),
        engines: engines.as_deref().unwrap_or_default(),
        drafters: drafting.as_ref().and_then(Option::as_deref).unwrap_or_default(),
        roofline: roofline.flatten(),
        without: without.as_ref().and_then(Option::as_deref).unwrap_or_default(),
        // Of a section that could not be read nothing can be said.
        k: match &axes {
            Some(Some(axes)) => Some(axes.k().clone()),
            Some(None) => by_default.clone(),
            None => None,
        },
    };
    check::parts(&parts, root, problems);
    shared?;
    formats_read?;
    let (simulate, seed) = simulating?.map_or((None, None), |(simulate, seed)| (Some(simulate), seed));
    Some(Scenario {
        name: name.to_owned(),
        title: title?,
        hardware: hardware?,
        targets: targets?,
        engines: engines?,
        roofline: roofline?,
        tensor_parallel: tensor_parallel?.unwrap_or_else(|| vec![1]),
        drafters: drafting?.unwrap_or_default(),
        workloads: workloads?.unwrap_or_default().into_iter().map(|(workload, _)| workload).collect(),
        axes: axes?.or_else(|| default_axes(by_default?))?,
        spread: spread?.map(|(spread, _)| spread).unwrap_or_default(),
        limits: limits?.unwrap_or_default(),
        memory: memory?.or_else(default_memory)?,
        verify_cost: verify_cost?,
        measured: measured?.unwrap_or_default(),
        traffic: traffic?,
        slo: slo?,
        simulate,
        uncertainty: uncertainty?.unwrap_or_default(),
        without: without?.unwrap_or_default(),
        seed: seed.unwrap_or(DEFAULT_SEED),
    })
}

/// Where the study is from, for people and for the manifest.
fn origin(node: &Node, problems: &mut Problems) -> Option<()> {
    match node.entries() {
        Some(_) => Some(()),
        None => problems.wrong_type(node, "a table, as `specplan check --print-scenario` writes it"),
    }
}

/// The targets in the formats that the scenario states, and whether those could be read.
fn targets(fields: &mut Fields<'_, '_>, root: &Node, loader: &mut Loader<'_>) -> (Option<Vec<Model>>, Option<()>) {
    let targets = fields.required("target", |node, problems| {
        axis_of(node, problems, |node, problems| loader.model(node, problems), |model| model.id.clone())
    });
    let quantization = fields.optional("quantization", quantization);
    let targets = match (targets, &quantization) {
        (Some(targets), Some(Some(with))) => {
            let at = root.get("quantization").unwrap_or(root);
            quantized(targets, with, at, fields.problems)
        }
        (targets, _) => targets,
    };
    (targets, quantization.map(drop))
}

/// The engines that a scenario names, or the one it gets without naming any.
fn engines(fields: &mut Fields<'_, '_>, loader: &mut Loader<'_>) -> Option<Vec<Engine>> {
    let named = fields.optional("engine", |node, problems| {
        axis_of(node, problems, |node, problems| loader.engine(node, problems), |engine| engine.id.clone())
    });
    match named? {
        Some(engines) => Some(engines),
        None => loader.default_engine(fields.problems).map(|engine| vec![engine]),
    }
}

/// An axis of things that tables tell apart by their labels, so that none may come twice.
fn axis_of<T>(
    node: &Node,
    problems: &mut Problems,
    read: impl FnMut(&Node, &mut Problems) -> Option<T>,
    label: impl Fn(&T) -> String,
) -> Option<Vec<T>> {
    let things = one_or_many(node, problems, read)?;
    let labels: Vec<String> = things.iter().map(label).collect();
    match (0..labels.len()).find(|&at| labels[..at].contains(&labels[at])) {
        None => Some(things),
        Some(at) => {
            let message = format!("`{}` has `{}` twice", node.path, labels[at]);
            let hint = "name each once; two files are told apart by their names";
            problems.report(Diagnostic::error("bad-axis", message).at(&node.place).hint(hint))
        }
    }
}

/// What is swept when a scenario does not say; the manifest states it.
fn default_batch() -> Option<Axis<u64>> {
    Axis::powers_of_two(1, 256).ok()
}

/// Up to the longest that every drafter drafts, 8 at most.
fn k_by_default(drafters: &[Drafter]) -> Option<Axis<u64>> {
    let longest = drafters.iter().filter_map(|drafter| drafter.longest).min();
    Axis::range(1, longest.map_or(DEFAULT_K, |longest| longest.min(DEFAULT_K)), 1).ok()
}

fn default_context() -> Option<Axis<u64>> {
    Axis::list(vec![2048, 16_384]).ok()
}

fn default_axes(k: Axis<u64>) -> Option<SweepAxes> {
    SweepAxes::new(default_batch()?, k, default_context()?).ok()
}

fn sweep_axes(node: &Node, problems: &mut Problems, by_default: &Option<Axis<u64>>) -> Option<SweepAxes> {
    let mut fields = Fields::open(node, &Keys::all(&["batch", "k", "context"]), problems)?;
    let batch = fields.optional("batch", |node, problems| integer_axis(node, problems, 1, LARGEST_INTEGER));
    let k = fields.optional("k", |node, problems| integer_axis(node, problems, 0, LARGEST_K));
    let context = fields.optional("context", |node, problems| integer_axis(node, problems, 0, LARGEST_INTEGER));
    let (batch, k, context) =
        (batch?.or_else(default_batch)?, k?.or_else(|| by_default.clone())?, context?.or_else(default_context)?);
    match SweepAxes::new(batch, k, context) {
        Ok(axes) => Some(axes),
        Err(error) => problems.report(Diagnostic::error("out-of-range", error.to_string()).at(&node.place)),
    }
}
