//! What was run: the program's version, the resolved scenario, digests of inputs, assumptions.
//!
//! Equal manifests mean equal results, so neither time, folder nor number of threads is in it.

mod traffic_of;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::domain::acceptance::{Acceptance, AcceptanceModel, AtContext, Curve, Length, OfWorkload};
use crate::domain::axis::{Axis, AxisValue, Described};
use crate::domain::drafter::{DraftSource, Drafter, HeadSource};
use crate::domain::engine::Engine;
use crate::domain::law::{Law, Pair};
use crate::domain::measured::Measured;
use crate::domain::scenario::Scenario;
use crate::domain::shape::TreeShape;
use crate::domain::simulate::{Laws, Simulate};
use crate::domain::verify_cost::VerifyCost;
use crate::domain::workload::Workload;
use crate::report::engine;
use crate::report::figures::{device, model};
use crate::report::trust;
use crate::units::{Probability, Seconds};
use crate::words::Roofline;

/// A file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// What it describes, such as `hardware` or `measurements`.
    pub kind: &'static str,
    /// Its id.
    pub id: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// The manifest of a command.
#[must_use]
pub fn manifest(command: &str, scenario: &Scenario, inputs: &[Input<'_>], options: &Value) -> Value {
    json!({
        "program": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "command": command,
        "options": options,
        "seed": scenario.seed,
        "scenario": resolved(scenario),
        "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
        "assumptions": assumptions(scenario),
        "trust": trust::lines(scenario),
    })
}

/// The manifest of a command without a scenario.
#[must_use]
pub fn general(command: &str, inputs: &[Input<'_>], options: &Value, trust: &[String]) -> Value {
    json!({
        "program": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "command": command,
        "options": options,
        "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
        "trust": trust,
    })
}

/// A document as a file: indented, with a final newline.
#[must_use]
pub fn bytes(manifest: &Value) -> Vec<u8> {
    format!("{manifest:#}\n").into_bytes()
}

fn verify_cost(of: &VerifyCost) -> Value {
    let row = |row: &Vec<Seconds>| row.iter().map(|of| of.get()).collect::<Vec<_>>();
    json!({
        "batch": of.batches(),
        "width": of.widths(),
        "context": of.context(),
        "seconds": of.seconds().iter().map(row).collect::<Vec<_>>(),
    })
}

fn measured(of: &Measured) -> Value {
    json!({
        "drafter": of.drafter,
        "k": of.k,
        "batch": of.batch,
        "context": of.context,
        "tokens_per_pass": of.tokens_per_pass,
        "measured": of.timed.what(),
        "value": of.timed.number(),
    })
}

fn input(input: &Input<'_>) -> Value {
    let mut digest = Digest::default();
    digest.update(input.text.as_bytes());
    digest.input(input.kind, input.id)
}

/// The digest of an input that comes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Digest(Sha256);

impl Digest {
    /// The next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The input's entry in a manifest.
    #[must_use]
    pub fn input(self, kind: &str, id: &str) -> Value {
        json!({ "kind": kind, "id": id, "sha256": self.hex() })
    }

    /// SHA-256 in hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn assumptions(scenario: &Scenario) -> Vec<String> {
    let policy = &scenario.memory;
    let mut lines = vec![
        "speedup compares decode steps at equal batch and context; prefill plays no part".to_owned(),
        format!(
            "memory: weights by total parameters, KV of context + k + 1 tokens in blocks of {}, reserve {}; fits means at most {} of the capacity",
            policy.block_tokens(),
            policy.reserve(),
            policy.utilization().get()
        ),
        "base_memory_bytes leaves the drafter out and holds context + 1 tokens".to_owned(),
        "every draft pass reads the context of the round's start".to_owned(),
    ];
    lines.extend(scenario.engines.iter().flat_map(|engine| {
        scenario.targets.iter().map(|target| {
            let roofline = scenario.roofline_of(engine, target);
            let form = match roofline {
                Roofline::Aggregate => "one maximum over the sums of a pass; no launch, sampling or scheduling time",
                Roofline::PerOp => "one maximum for each operator, summed; no launch, sampling or scheduling time",
                Roofline::Additive => "kernels, bytes, arithmetic and the engine's own time, summed; nothing overlaps",
            };
            format!("{} on engine {}: {roofline}, {form}", target.id, engine.id)
        })
    }));
    lines
}

fn resolved(scenario: &Scenario) -> Value {
    let mut resolved = described(scenario);
    if let Some(traffic) = &scenario.traffic {
        resolved["traffic"] = traffic_of::traffic(traffic);
    }
    if let Some(slo) = &scenario.slo {
        resolved["slo"] = traffic_of::slo(slo);
    }
    resolved
}

fn described(scenario: &Scenario) -> Value {
    json!({
        "name": scenario.name,
        "title": scenario.title,
        "hardware": scenario.hardware.iter().map(device).collect::<Vec<_>>(),
        "target": scenario.targets.iter().map(model).collect::<Vec<_>>(),
        "engine": engines(scenario),
        "roofline": rooflines(scenario),
        "without": scenario.without.iter().map(|term| term.as_str()).collect::<Vec<_>>(),
        "tensor_parallel": scenario.tensor_parallel,
        "deployment": {
            "expert_parallel": scenario.spread.expert_parallel,
            "pipeline": scenario.spread.pipeline,
            "data_parallel_attention": scenario.spread.data_parallel_attention,
            "draft_tensor_parallel": scenario.spread.draft_tensor_parallel,
        },
        "limits": {
            "max_num_seqs": scenario.limits.max_num_seqs,
            "max_num_batched_tokens": scenario.limits.max_num_batched_tokens,
            "max_model_len": scenario.limits.max_model_len,
            "capture_sizes": scenario.limits.capture_sizes,
            "capture_unit": scenario.limits.capture_unit.as_str(),
        },
        "drafters": scenario.drafters.iter().map(drafter).collect::<Vec<_>>(),
        "workloads": scenario.workloads.iter().map(workload).collect::<Vec<_>>(),
        "sweep": {
            "batch": axis(scenario.axes.batch(), Value::from),
            "k": axis(scenario.axes.k(), Value::from),
            "context": axis(scenario.axes.context(), Value::from),
        },
        "memory": {
            "utilization": scenario.memory.utilization().get(),
            "reserve_bytes": scenario.memory.reserve().get(),
            "block_tokens": scenario.memory.block_tokens().get(),
        },
        "verify_cost": scenario.verify_cost.as_ref().map(verify_cost),
        "measured": scenario.measured.iter().map(measured).collect::<Vec<_>>(),
        "uncertainty": {
            "samples": scenario.uncertainty.samples,
            "acceptance": scenario.uncertainty.acceptance,
        },
        "simulate": scenario.simulate.as_ref().map(simulate),
    })
}

/// Engines with the efficiencies of the hardware at hand.
fn engines(scenario: &Scenario) -> Vec<Value> {
    let families: Vec<&str> = scenario.hardware.iter().filter_map(|device| device.family.as_deref()).collect();
    scenario.engines.iter().map(|one| engine::json(one, Some(&families))).collect()
}

/// The rooflines in force, by engine and target.
fn rooflines(scenario: &Scenario) -> Vec<Value> {
    let of = |engine: &Engine| {
        let engine = engine.clone();
        scenario.targets.iter().map(move |target| {
            let roofline = scenario.roofline_of(&engine, target);
            json!({ "engine": engine.id, "target": target.id, "roofline": roofline.as_str() })
        })
    };
    scenario.engines.iter().flat_map(of).collect()
}

fn axis<T: AxisValue>(axis: &Axis<T>, value: impl Fn(T) -> Value) -> Value {
    match axis.described() {
        Described::List(values) => values.iter().copied().map(value).collect(),
        Described::Range { from, step, count } => json!({ "from": value(from), "step": value(step), "count": count }),
        Described::Powers { from, count } => json!({ "from": value(from), "scale": "log2", "count": count }),
    }
}

fn drafter(drafter: &Drafter) -> Value {
    let source = match &drafter.source {
        DraftSource::Model(drafting) => json!({ "model": model(drafting) }),
        DraftSource::Head(HeadSource::Named(head)) => json!({ "head": model(head) }),
        DraftSource::Head(HeadSource::Derived(head)) => json!({ "derived_head": {
            "kind": head.kind.as_str(),
            "draft_vocab": head.draft_vocab,
            "modules": head.copies,
        } }),
        DraftSource::Ngram => json!({ "ngram": {} }),
        DraftSource::Suffix => json!({ "suffix": {} }),
        DraftSource::SparseKv { budget } => json!({ "sparse_kv": { "budget": budget } }),
        DraftSource::LayerSkip { layers } => json!({ "layer_skip": { "layers": layers } }),
        DraftSource::Lookahead { window, ngram } => json!({ "lookahead": { "window": window, "ngram": ngram } }),
        DraftSource::Constant { cost_ratio } => json!({ "constant": { "cost_ratio": cost_ratio.get() } }),
    };
    let tree = drafter.tree.as_ref().map(|shape| match shape {
        TreeShape::Sized(tree) => json!({ "steps": tree.steps(), "topk": tree.topk(), "nodes": tree.nodes() }),
        TreeShape::Drawn(tree) => json!({ "paths": tree.paths() }),
    });
    json!({ "label": drafter.label, "source": source, "overlap": drafter.overlap, "tree": tree, "acceptance": acceptance(&drafter.acceptance) })
}

fn acceptance_model(model: &AcceptanceModel) -> Value {
    let length = |length: &Length| json!({ "k": length.k(), "tokens": length.tokens() });
    match model {
        AcceptanceModel::Iid { alpha } => json!({ "alpha": axis(alpha, |alpha| alpha.get().into()) }),
        AcceptanceModel::PerPosition(curves) => {
            json!({ "cumulative": curves.iter().map(Curve::survival).collect::<Vec<_>>() })
        }
        AcceptanceModel::MeanLength(at) => length(at),
        AcceptanceModel::Rate { k, value } => json!({ "k": k, "value": value.get() }),
        AcceptanceModel::ByK(lengths) => lengths.iter().map(length).collect(),
        AcceptanceModel::Counts(counts) => {
            json!({ "accepted_per_position": counts.accepted(), "rounds": counts.rounds() })
        }
        AcceptanceModel::Beta { beta, scope } => {
            json!({ "a": beta.a(), "b": beta.b(), "scope": scope.as_str() })
        }
        AcceptanceModel::Markov(spans) => json!({ "alphas": spans.alphas(), "transitions": spans.transitions() }),
        AcceptanceModel::Trace(trace) => {
            json!({ "cumulative": trace.curve().survival(), "proposing_share": trace.proposing_share() })
        }
        AcceptanceModel::Ranks(ranks) => {
            json!({ "probabilities": ranks.levels(), "on_all_levels": ranks.deepest().is_none() })
        }
        AcceptanceModel::Workloads(parts) => parts.iter().map(of_workload).collect(),
    }
}

fn of_workload(part: &OfWorkload) -> Value {
    json!({ "label": part.label, "tokens": part.tokens, "acceptance": acceptance(&part.acceptance) })
}

fn at_context(at: &AtContext) -> Value {
    json!({ "context": at.context, at.model.kind().as_str(): acceptance_model(&at.model) })
}

fn acceptance(acceptance: &Acceptance) -> Value {
    let provenance = &acceptance.provenance;
    let kind = acceptance.model.kind();
    json!({
        kind.as_str(): acceptance_model(&acceptance.model),
        "by_context": acceptance.by_context.iter().map(at_context).collect::<Vec<_>>(),
        "proposing_share": acceptance.proposing_share.map(Probability::get),
        "spread": acceptance.spread.map(|spread| [spread.low, spread.high]),
        "provenance": {
            "dataset": provenance.dataset,
            "temperature": provenance.temperature,
            "engine": provenance.engine,
            "note": provenance.note,
        },
    })
}

fn workload(workload: &Workload) -> Value {
    json!({ "label": workload.label, "share": workload.share.get(), "output": workload.output })
}

fn spelled(laws: &Laws, of: fn(&Pair) -> &Law) -> Value {
    match laws {
        Laws::Same(pair) => json!(of(pair).chances()),
        Laws::After { pairs, .. } => pairs.iter().map(|pair| of(pair).chances()).collect(),
    }
}

fn simulate(simulate: &Simulate) -> Value {
    json!({
        "rounds": simulate.rounds,
        "alpha": simulate.alpha.map(Probability::get),
        "k": simulate.k,
        "batch": simulate.batch,
        "tokens": simulate.tokens,
        "p": simulate.laws.as_ref().map(|laws| spelled(laws, Pair::p)),
        "q": simulate.laws.as_ref().map(|laws| spelled(laws, Pair::q)),
        "temperature": simulate.temperature,
        "drafts": simulate.drafts,
    })
}
