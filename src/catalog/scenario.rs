//! `scenarios/<name>.toml` into a [`Scenario`].

use crate::catalog::acceptance::acceptance;
use crate::catalog::check;
use crate::catalog::drafter::{drafters, single_device};
use crate::catalog::load::Loader;
use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::catalog::simulate::simulate;
use crate::catalog::values::{LARGEST_INTEGER, integer, integer_axis, probability, quantity, word};
use crate::diagnostic::Diagnostic;
use crate::domain::axis::{Axis, AxisError};
use crate::domain::deployment::MemoryPolicy;
use crate::domain::scenario::{Scenario, SweepAxes};
use crate::units::{Bytes, Probability};
use crate::words::Roofline;

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
    ],
    later: &["deployment", "quantization", "limits", "workloads", "measured", "traffic", "slo", "uncertainty"],
};

/// The longest chain: a thousand times what any engine runs.
pub(super) const LARGEST_K: u64 = 1_000_000;
/// The seed of a scenario that names none.
const DEFAULT_SEED: u64 = 5;

/// Reads a scenario and everything it names.
pub(super) fn scenario(root: &Node, name: &str, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Scenario> {
    let mut fields = Fields::open(root, &KEYS, problems)?;
    let title = fields.required("title", text);
    let hardware = fields
        .required("hardware", |node, problems| axis_of(node, problems, |node, problems| loader.device(node, problems)));
    let targets = fields
        .required("target", |node, problems| axis_of(node, problems, |node, problems| loader.model(node, problems)));
    let engines = match fields
        .optional("engine", |node, problems| axis_of(node, problems, |node, problems| loader.engine(node, problems)))
    {
        Some(None) => loader.default_engine(fields.problems).map(|engine| vec![engine]),
        read => read.flatten(),
    };
    let roofline = fields.optional("roofline", word::<Roofline>);
    let tensor_parallel =
        fields.optional("tensor_parallel", |node, problems| one_or_many(node, problems, single_device));
    let shared = fields.optional("acceptance", acceptance);
    let drafting = fields.optional("drafters", |node, problems| {
        drafters(node, problems, shared.as_ref().and_then(Option::as_ref), loader)
    });
    let axes = fields.optional("sweep", sweep_axes);
    let memory = fields.optional("memory", memory);
    let simulating = fields.optional("simulate", simulate);
    let parts = check::Parts {
        hardware: hardware.as_deref().unwrap_or_default(),
        targets: targets.as_deref().unwrap_or_default(),
        engines: engines.as_deref().unwrap_or_default(),
        drafters: drafting.as_ref().and_then(Option::as_deref).unwrap_or_default(),
        roofline: roofline.flatten(),
    };
    check::parts(&parts, root, problems);
    shared?;
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
        axes: axes?.or_else(|| default_axes().ok())?,
        memory: memory?.or_else(default_memory)?,
        simulate,
        seed: seed.unwrap_or(DEFAULT_SEED),
    })
}

/// An axis of named things, none named twice.
fn axis_of<T>(
    node: &Node,
    problems: &mut Problems,
    read: impl FnMut(&Node, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    let things = one_or_many(node, problems, read)?;
    let Value::List(items) = &node.value else {
        return Some(things);
    };
    let names: Vec<Option<&str>> = items.iter().map(Node::as_text).collect();
    for (at, item) in items.iter().enumerate() {
        if names[..at].contains(&names[at]) {
            let error = AxisError::Repeated { position: at + 1 };
            return problems.report(Diagnostic::error("bad-axis", format!("`{}`: {error}", node.path)).at(&item.place));
        }
    }
    Some(things)
}

/// What is swept when a scenario does not say; the manifest states it.
fn default_axes() -> Result<SweepAxes, AxisError> {
    Ok(SweepAxes {
        batch: Axis::powers_of_two(1, 256)?,
        k: Axis::range(1, 8, 1)?,
        context: Axis::list(vec![2048, 16_384])?,
    })
}

fn sweep_axes(node: &Node, problems: &mut Problems) -> Option<SweepAxes> {
    let mut fields = Fields::open(node, &Keys::all(&["batch", "k", "context"]), problems)?;
    let batch = fields.optional("batch", |node, problems| integer_axis(node, problems, 1, LARGEST_INTEGER));
    let k = fields.optional("k", |node, problems| integer_axis(node, problems, 0, LARGEST_K));
    let context = fields.optional("context", |node, problems| integer_axis(node, problems, 0, LARGEST_INTEGER));
    let default = default_axes().ok()?;
    Some(SweepAxes {
        batch: batch?.unwrap_or(default.batch),
        k: k?.unwrap_or(default.k),
        context: context?.unwrap_or(default.context),
    })
}

fn default_memory() -> Option<MemoryPolicy> {
    let utilization = Probability::new(MemoryPolicy::DEFAULT_UTILIZATION).ok()?;
    MemoryPolicy::new(utilization, Bytes::ZERO, MemoryPolicy::DEFAULT_BLOCK_TOKENS).ok()
}

fn memory(node: &Node, problems: &mut Problems) -> Option<MemoryPolicy> {
    let mut fields = Fields::open(node, &Keys::all(&["utilization", "reserve", "block_tokens"]), problems)?;
    let utilization = fields.optional("utilization", |node, problems| {
        let share = probability(node, problems)?;
        if share > Probability::ZERO {
            return Some(share);
        }
        let message = format!("`{}` must be above 0", node.path);
        problems.report(Diagnostic::error("out-of-range", message).at(&node.place))
    });
    let reserve = fields.optional("reserve", |node, problems| quantity::<Bytes>(node, problems, 0.0));
    let block = fields.optional("block_tokens", |node, problems| integer(node, problems, 1, 1 << 20));
    let default = default_memory()?;
    let policy = MemoryPolicy::new(
        utilization?.unwrap_or(default.utilization),
        reserve?.unwrap_or(default.reserve),
        block?.unwrap_or(default.block_tokens()),
    );
    policy.ok()
}
