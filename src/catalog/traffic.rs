//! `[traffic]` and `[slo]`: requests over time, and what is asked of their answers.

use std::sync::Arc;

use crate::catalog::load::Loader;
use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many, text};
use crate::catalog::values::{integer, number, probability, quantity, word};
use crate::catalog::workloads::Read;
use crate::diagnostic::Diagnostic;
use crate::domain::served::{Seen, Served};
use crate::domain::traffic::{Arrivals, Gate, Kind, Length, Policy, Slo, Traffic};
use crate::import::requests::requests;
use crate::units::{Probability, Seconds};
use crate::words::Arriving;

const KEYS: Keys = Keys::all(&[
    "requests",
    "warmup",
    "rate",
    "arrivals",
    "burstiness",
    "clients",
    "think",
    "prompt",
    "output",
    "prefix_hit",
    "policies",
    "replicas",
    "trace",
    "time_scale",
    "window",
]);
/// Hours of simulation.
const MOST_REQUESTS: u64 = 100_000_000;
/// Requests of a run where nobody says.
const DEFAULT_REQUESTS: u64 = 2000;
/// Requests that tell anything.
const FEWEST_REQUESTS: u64 = 20;
const DEFAULT_WARMUP: f64 = 0.1;
/// Clients of one run: each has a place in memory.
const MOST_CLIENTS: u64 = 1_000_000;
const LARGEST_K: u64 = 1000;
/// Shapes beyond are as good as even, below as good as one burst.
const SHAPES: (f64, f64) = (0.01, 10_000.0);
/// What chat asks where nobody says: prompts and outputs of the means of public traces.
const DEFAULT_PROMPT: Length = Length::LogNormal { mean: 1024.0, sd: 1024.0 };
const DEFAULT_OUTPUT: Length = Length::LogNormal { mean: 256.0, sd: 256.0 };

/// Reads `[traffic]`; workloads with lengths of their own are its kinds.
pub(super) fn traffic(
    node: &Node,
    problems: &mut Problems,
    workloads: &[Read],
    loader: &mut Loader<'_>,
) -> Option<Traffic> {
    if node.get("trace").is_some() {
        return seen(node, problems, workloads, loader);
    }
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let requests =
        fields.optional("requests", |node, problems| integer(node, problems, FEWEST_REQUESTS, MOST_REQUESTS));
    let warmup = fields.optional("warmup", probability);
    let arriving = fields.optional("arrivals", word::<Arriving>);
    let burstiness = fields.optional("burstiness", shape);
    let think = fields.optional("think", |node, problems| quantity::<Seconds>(node, problems, 0.0));
    let rate = fields.optional("rate", |node, problems| one_or_many(node, problems, rate));
    let clients = fields.optional("clients", |node, problems| {
        one_or_many(node, problems, |node, problems| integer(node, problems, 1, MOST_CLIENTS))
    });
    let prompt = fields.optional("prompt", |node, problems| length(node, problems, loader, |seen| seen.prompt));
    let output = fields.optional("output", |node, problems| length(node, problems, loader, |seen| seen.output));
    let prefix_hit = fields.optional("prefix_hit", probability);
    let policies = fields.optional("policies", |node, problems| one_or_many(node, problems, policy));
    let replicas = fields.optional("replicas", |node, problems| integer(node, problems, 1, MOST_CLIENTS));
    let arriving =
        arriving?.unwrap_or(if node.get("clients").is_some() { Arriving::Closed } else { Arriving::Poisson });
    check_keys(node, arriving, problems)?;
    let arrivals = match arriving {
        Arriving::Poisson => Arrivals::Poisson,
        Arriving::Constant => Arrivals::Constant,
        Arriving::Gamma => Arrivals::Gamma { burstiness: burstiness?.unwrap_or(1.0) },
        Arriving::Closed => Arrivals::Closed { think: think?.unwrap_or(Seconds::ZERO) },
    };
    let loads = match arriving {
        Arriving::Closed => clients?.map(|clients| clients.into_iter().map(|clients| clients as f64).collect()),
        _ => rate?,
    };
    let (prompt, output) = (prompt?.unwrap_or(DEFAULT_PROMPT), output?.unwrap_or(DEFAULT_OUTPUT));
    Some(Traffic {
        requests: requests?.unwrap_or(DEFAULT_REQUESTS),
        warmup: warmup?.unwrap_or(Probability::nearest(DEFAULT_WARMUP)),
        arrivals,
        loads: loads?,
        kinds: kinds(workloads, &prompt, &output, prefix_hit?.unwrap_or(Probability::ZERO)),
        policies: policies?.unwrap_or_else(|| vec![Policy::Off, Policy::Schedule, Policy::Greedy]),
        replicas: replicas?.unwrap_or(1),
    })
}

/// Refuses keys that play no part, and asks for the one that must be there.
fn check_keys(node: &Node, arriving: Arriving, problems: &mut Problems) -> Option<()> {
    let (due, idle): (&str, &[&str]) = match arriving {
        Arriving::Closed => ("clients", &["rate", "burstiness"]),
        Arriving::Gamma => ("rate", &["clients", "think"]),
        Arriving::Poisson | Arriving::Constant => ("rate", &["clients", "think", "burstiness"]),
    };
    let mut is_right = Some(());
    for idle in idle.iter().filter_map(|key| node.get(key)) {
        let message = format!("`{}` plays no part: arrivals are {arriving}", idle.path);
        let hint =
            "leave it out, or state the arrivals that it is of: closed has clients and think, gamma a burstiness";
        is_right = problems.report(Diagnostic::error("conflict", message).at(&idle.place).hint(hint));
    }
    if node.get(due).is_none() {
        let message = format!("`{}` does not say `{due}`", node.path);
        let hint = match arriving {
            Arriving::Closed => "how many clients ask at a time: clients = 32, or a list of numbers",
            _ => {
                "requests per second of the whole service: rate = 4.0, or a list of rates; or clients = 32 for a closed loop"
            }
        };
        is_right = problems.report(Diagnostic::error("missing-key", message).at(&node.place).hint(hint));
    }
    is_right
}

/// Traffic as it was seen.
fn seen(node: &Node, problems: &mut Problems, workloads: &[Read], loader: &mut Loader<'_>) -> Option<Traffic> {
    for key in ["arrivals", "burstiness", "clients", "think", "prompt", "output", "prefix_hit"] {
        if let Some(idle) = node.get(key) {
            let found = Diagnostic::error("conflict", format!("`{}` plays no part beside a trace", idle.path));
            return problems
                .report(found.at(&idle.place).hint("the trace says when requests come and how long they are"));
        }
    }
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let served = fields.required("trace", |node, problems| trace(node, problems, loader));
    let scale = fields.optional("time_scale", rate);
    let window = fields.optional("window", window);
    let rates = fields.optional("rate", |node, problems| one_or_many(node, problems, rate));
    let count = fields.optional("requests", |node, problems| integer(node, problems, 1, MOST_REQUESTS));
    let warmup = fields.optional("warmup", probability);
    let policies = fields.optional("policies", |node, problems| one_or_many(node, problems, policy));
    let replicas = fields.optional("replicas", |node, problems| integer(node, problems, 1, MOST_CLIENTS));
    let (mut served, window, scale, rates) = (served?, window?, scale?, rates?);
    let refused = |message: String, hint: &str, problems: &mut Problems| {
        problems.report(Diagnostic::error("bad-trace", message).at(&node.get("trace").unwrap_or(node).place).hint(hint))
    };
    if !served.is_timed {
        let hint = "use its lengths: prompt = { trace = … }, output = { trace = … }, with a rate";
        return refused(format!("{} does not say when requests came", served.name), hint, problems);
    }
    if let Some((from, to)) = window {
        served.requests.retain(|seen| (from..to).contains(&seen.at));
        let first = served.requests.first().map_or(0.0, |seen| seen.at);
        served.requests.iter_mut().for_each(|seen| seen.at -= first);
    }
    let replicas = replicas?.unwrap_or(1);
    let rows = served.requests.len() as u64 / replicas;
    if rows < 2 {
        let hint = "take a wider window, or fewer replicas";
        return refused(format!("{} has too few requests: {}", served.name, served.requests.len()), hint, problems);
    }
    let Some(own) = served.rate() else {
        let hint = "use its lengths: prompt = { trace = … }, output = { trace = … }, with a rate";
        return refused(format!("all requests of {} came at once", served.name), hint, problems);
    };
    if rates.is_some() && scale.is_some() {
        let hint = "a rate says how fast they come, time_scale how much faster than they did: keep one";
        return refused(format!("`{}` has both a rate and a time_scale", node.path), hint, problems);
    }
    Some(Traffic {
        requests: count?.unwrap_or(rows).min(rows),
        warmup: warmup?.unwrap_or(Probability::nearest(DEFAULT_WARMUP)),
        arrivals: Arrivals::Seen(Arc::new(served)),
        loads: rates.unwrap_or_else(|| vec![own * scale.unwrap_or(1.0)]),
        kinds: kinds(workloads, &DEFAULT_PROMPT, &DEFAULT_OUTPUT, Probability::ZERO),
        policies: policies?.unwrap_or_else(|| vec![Policy::Off, Policy::Schedule, Policy::Greedy]),
        replicas,
    })
}

/// Requests of a file that a value names.
fn trace(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Served> {
    let name = text(node, problems)?;
    let source = loader.requests(&name, node, problems)?;
    requests(&source.name, &source.text).map_or_else(
        |error| {
            let message = format!("`{}`: {}: {error}", node.path, source.name);
            problems.report(Diagnostic::error("bad-trace", message).at(&node.place))
        },
        Some,
    )
}

/// `{ from = "0 s", to = "600 s" }`, of the trace's own time.
fn window(node: &Node, problems: &mut Problems) -> Option<(f64, f64)> {
    let mut fields = Fields::open(node, &Keys::all(&["from", "to"]), problems)?;
    let from = fields.optional("from", |node, problems| quantity::<Seconds>(node, problems, 0.0));
    let to = fields.optional("to", |node, problems| quantity::<Seconds>(node, problems, 0.0));
    let (from, to) = (from?.map_or(0.0, Seconds::get), to?.map_or(f64::INFINITY, Seconds::get));
    if from < to {
        return Some((from, to));
    }
    let found = Diagnostic::error("conflict", format!("`{}` ends before it begins", node.path)).at(&node.place);
    problems.report(found.hint("from is the smaller"))
}

fn rate(node: &Node, problems: &mut Problems) -> Option<f64> {
    let rate = number(node, problems, 0.0)?;
    if rate > 0.0 {
        return Some(rate);
    }
    let found = Diagnostic::error("out-of-range", format!("`{}` is 0", node.path)).at(&node.place);
    problems.report(found.hint("requests per second, such as 4.0"))
}

fn shape(node: &Node, problems: &mut Problems) -> Option<f64> {
    let shape = number(node, problems, 0.0)?;
    if (SHAPES.0..=SHAPES.1).contains(&shape) {
        return Some(shape);
    }
    let found = Diagnostic::error("out-of-range", format!("`{}` cannot be {shape}", node.path)).at(&node.place);
    problems.report(found.hint(format!("from {} to {}: 1 is Poisson, below come bursts", SHAPES.0, SHAPES.1)))
}

/// A length in tokens: a number, `{ fixed = … }`, `{ mean = …, sd = … }` or `{ trace = "file" }`, whose lengths are drawn.
pub(super) fn length(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
    of: fn(&Seen) -> u32,
) -> Option<Length> {
    let tokens = |node: &Node, problems: &mut Problems| {
        integer(node, problems, 0, u64::from(Length::LONGEST)).map(|tokens| Length::Fixed(tokens as u32))
    };
    if matches!(node.value, Value::Integer(_) | Value::Float(_)) {
        return tokens(node, problems);
    }
    let mut fields = Fields::open(node, &Keys::all(&["fixed", "mean", "sd", "trace"]), problems)?;
    if let Some(alone) = ["fixed", "trace"].into_iter().find(|key| fields.has(key)) {
        let read = match alone {
            "fixed" => fields.required("fixed", tokens),
            _ => fields.required("trace", |node, problems| {
                let served = trace(node, problems, loader)?;
                Some(Length::Seen(Arc::new(served.requests.iter().map(of).collect())))
            }),
        };
        for key in ["fixed", "trace", "mean", "sd"].into_iter().filter(|key| *key != alone) {
            if let Some(idle) = node.get(key) {
                let message = format!("`{}` plays no part beside `{alone}`", idle.path);
                let found = Diagnostic::error("conflict", message).at(&idle.place);
                return problems
                    .report(found.hint("a length is fixed, of a trace, or has a mean and a standard deviation"));
            }
        }
        return read;
    }
    let mean = fields.required("mean", |node, problems| {
        let mean = number(node, problems, 1.0)?;
        if mean <= f64::from(Length::LONGEST) {
            return Some(mean);
        }
        let found = Diagnostic::error("out-of-range", format!("`{}` is above {}", node.path, Length::LONGEST));
        problems.report(found.at(&node.place).hint("tokens, such as 1024"))
    });
    let sd = fields.required("sd", |node, problems| number(node, problems, 0.0));
    Some(Length::LogNormal { mean: mean?, sd: sd? })
}

/// `"off"`, `"k=3"`, `"schedule"`, `"greedy"`, or `{ gate = "batch", k = 3, on = 8, off = 16 }`.
fn policy(node: &Node, problems: &mut Problems) -> Option<Policy> {
    const ALLOWED: &str = r#""off", "k=3", "schedule", "greedy", or { gate = "batch", k = 3, on = 8, off = 16 }"#;
    let Value::Text(word) = &node.value else { return gate(node, problems) };
    let drafts = word.strip_prefix("k=").and_then(|k| k.trim().parse::<u64>().ok());
    match (word.as_str(), drafts) {
        ("off", _) => Some(Policy::Off),
        ("schedule", _) => Some(Policy::Schedule),
        ("greedy", _) => Some(Policy::Greedy),
        (_, Some(k)) if (1..=LARGEST_K).contains(&k) => Some(Policy::Fixed { k }),
        _ => {
            let found = Diagnostic::error("unknown-word", format!("`{}` knows no policy `{word}`", node.path));
            problems.report(found.at(&node.place).hint(format!("allowed: {ALLOWED}")))
        }
    }
}

fn gate(node: &Node, problems: &mut Problems) -> Option<Policy> {
    let mut fields = Fields::open(node, &Keys::all(&["gate", "k", "on", "off"]), problems)?;
    let by = fields.required("gate", word);
    let k = fields.required("k", |node, problems| integer(node, problems, 1, LARGEST_K));
    let on = fields.required("on", |node, problems| number(node, problems, 0.0));
    let off = fields.required("off", |node, problems| number(node, problems, 0.0));
    let gate = Gate { by: by?, k: k?, on: on?, off: off? };
    if gate.off < gate.on || gate.off == 0.0 {
        let message = format!("`{}` ends at {} what begins at {}", node.path, gate.off, gate.on);
        let hint = "drafting begins at or below `on` and ends at or above `off`, which is the larger";
        return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint(hint));
    }
    Some(Policy::Gate(gate))
}

fn kinds(workloads: &[Read], prompt: &Length, output: &Length, prefix_hit: Probability) -> Vec<Kind> {
    if workloads.is_empty() {
        let (prompt, output) = (prompt.clone(), output.clone());
        return vec![Kind { label: None, share: Probability::ONE, prompt, output, prefix_hit }];
    }
    let kind = |(workload, _): &Read| Kind {
        label: Some(workload.label.clone()),
        share: workload.share,
        prompt: workload.prompt_length.clone().unwrap_or_else(|| prompt.clone()),
        output: workload.output_length.clone().unwrap_or_else(|| output.clone()),
        prefix_hit: if workload.prefix_hit == Probability::ZERO { prefix_hit } else { workload.prefix_hit },
    };
    workloads.iter().map(kind).collect()
}

/// Reads `[slo]`.
pub(super) fn slo(node: &Node, problems: &mut Problems) -> Option<Slo> {
    let mut fields = Fields::open(node, &Keys::all(&["ttft", "tpot", "e2e", "percentile"]), problems)?;
    let time = |fields: &mut Fields<'_, '_>, key: &str| {
        fields.optional(key, |node, problems| {
            let time = quantity::<Seconds>(node, problems, 0.0)?;
            if time > Seconds::ZERO {
                return Some(time);
            }
            let found = Diagnostic::error("out-of-range", format!("`{}` is 0", node.path)).at(&node.place);
            problems.report(found.hint("a time such as \"200 ms\""))
        })
    };
    let (ttft, tpot, e2e) = (time(&mut fields, "ttft"), time(&mut fields, "tpot"), time(&mut fields, "e2e"));
    let percentile = fields.optional("percentile", |node, problems| {
        if let Value::Integer(percent @ 2..=100) = node.value {
            let message = format!("`{}` is a fraction, not {percent}", node.path);
            let found = Diagnostic::error("out-of-range", message).at(&node.place);
            return problems
                .report(found.hint(format!("write {} for the {percent}th percentile", percent as f64 / 100.0)));
        }
        probability(node, problems)
    });
    let slo =
        Slo { ttft: ttft?, tpot: tpot?, e2e: e2e?, percentile: percentile?.unwrap_or(Probability::nearest(0.95)) };
    if slo.ttft.is_none() && slo.tpot.is_none() && slo.e2e.is_none() {
        let found = Diagnostic::error("missing-key", format!("`{}` asks nothing", node.path)).at(&node.place);
        return problems.report(found.hint("state at least one of ttft, tpot and e2e, such as tpot = \"30 ms\""));
    }
    Some(slo)
}
