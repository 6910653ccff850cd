//! `[traffic]` and `[slo]`: requests over time, and what is asked of their answers.

mod lengths;
mod policies;
mod seen;
mod slo;

pub(super) use lengths::length;
pub(super) use slo::slo;

use crate::catalog::load::Loader;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::traffic::lengths::kinds;
use crate::catalog::traffic::policies::policies;
use crate::catalog::values::{integer, number, probability, quantity, word};
use crate::catalog::workloads::Read;
use crate::diagnostic::Diagnostic;
use crate::domain::traffic::{Arrivals, Length, Policy, Traffic};
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
/// Requests of a run where nobody says; of a closed loop as many of each client at least as are below.
const DEFAULT_REQUESTS: u64 = 2000;
const DEFAULT_OF_EACH: u64 = 20;
/// Requests that tell anything.
const FEWEST_REQUESTS: u64 = 20;
const DEFAULT_WARMUP: f64 = 0.1;
/// The rest would tell little.
const LONGEST_WARMUP: f64 = 0.9;
/// Requests per second: a clock of 53 bits tells neither fewer apart from none, nor more from all at once.
const RATES: (f64, f64) = (1e-6, 1e9);
/// Clients of one run: each has a place in memory.
const MOST_CLIENTS: u64 = 1_000_000;
/// Shapes beyond are as good as even, below as good as one burst.
const SHAPES: (f64, f64) = (0.01, 10_000.0);
/// What chat asks where nobody says: prompts and outputs of the means of public traces.
const DEFAULT_PROMPT: Length = Length::LogNormal { mean: 1024.0, sd: 1024.0 };
const DEFAULT_OUTPUT: Length = Length::LogNormal { mean: 256.0, sd: 256.0 };

/// What other sections say of traffic.
pub(super) struct Around<'r> {
    /// Its kinds.
    pub(super) workloads: &'r [Read],
    /// Of the deployment.
    pub(super) replicas: Option<u64>,
}

/// What all traffic has.
struct Common {
    requests: Option<u64>,
    warmup: Probability,
    policies: Vec<Policy>,
    replicas: u64,
}

fn common(fields: &mut Fields<'_, '_>, fewest: u64, deployed: Option<u64>) -> Option<Common> {
    let requests = fields.optional("requests", |node, problems| integer(node, problems, fewest, MOST_REQUESTS));
    let warmup = fields.optional("warmup", warmup);
    let policies = fields.optional("policies", policies);
    let replicas = fields.optional("replicas", |node, problems| {
        let replicas = integer(node, problems, 1, MOST_CLIENTS)?;
        let Some(deployed) = deployed.filter(|deployed| *deployed != replicas) else { return Some(replicas) };
        let message = format!("`{}` is {replicas} and deployment.replicas {deployed}", node.path);
        problems.report(Diagnostic::error("conflict", message).at(&node.place).hint("state one of them"))
    });
    Some(Common {
        requests: requests?,
        warmup: warmup?.unwrap_or(Probability::nearest(DEFAULT_WARMUP)),
        policies: policies?.unwrap_or_else(|| vec![Policy::Off, Policy::Schedule, Policy::Greedy]),
        replicas: replicas?.or(deployed).unwrap_or(1),
    })
}

/// Reads `[traffic]`; workloads with lengths of their own are its kinds.
pub(super) fn traffic(
    node: &Node,
    problems: &mut Problems,
    around: &Around<'_>,
    loader: &mut Loader<'_>,
) -> Option<Traffic> {
    if node.get("trace").is_some() {
        return seen::seen(node, problems, around, loader);
    }
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let common = common(&mut fields, FEWEST_REQUESTS, around.replicas);
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
    let arriving =
        arriving?.unwrap_or(if node.get("clients").is_some() { Arriving::Closed } else { Arriving::Poisson });
    check_keys(node, arriving, problems)?;
    let arrivals = match arriving {
        Arriving::Poisson => Arrivals::Poisson,
        Arriving::Constant => Arrivals::Constant,
        Arriving::Gamma => Arrivals::Gamma { burstiness: burstiness?.unwrap_or(1.0) },
        Arriving::Closed => Arrivals::Closed { think: think?.unwrap_or(Seconds::ZERO) },
    };
    let (common, prompt, output) = (common?, prompt?.unwrap_or(DEFAULT_PROMPT), output?.unwrap_or(DEFAULT_OUTPUT));
    let (loads, requests) = match arriving {
        Arriving::Closed => closed(node, &clients??, &common, problems)?,
        _ => (checked(node, rate??, common.replicas, problems)?, common.requests.unwrap_or(DEFAULT_REQUESTS)),
    };
    Some(Traffic {
        requests,
        warmup: common.warmup,
        arrivals,
        loads,
        kinds: kinds(around.workloads, &prompt, &output, prefix_hit?.unwrap_or(Probability::ZERO)),
        policies: common.policies,
        replicas: common.replicas,
    })
}

/// Clients as loads, and how many requests are asked of them: more than there are clients of a replica, who would otherwise all come at once.
fn closed(node: &Node, clients: &[u64], common: &Common, problems: &mut Problems) -> Option<(Vec<f64>, u64)> {
    let most = clients.iter().copied().max().unwrap_or(1).div_ceil(common.replicas);
    let fewest = clients.iter().copied().min().unwrap_or(1);
    let requests = common.requests.unwrap_or(DEFAULT_REQUESTS.max(DEFAULT_OF_EACH * most));
    let place = |key: &str| &node.get(key).unwrap_or(node).place;
    if fewest < common.replicas {
        let message = format!("`{}` has {} replicas for {fewest} clients", node.path, common.replicas);
        let found = Diagnostic::error("conflict", message).at(place("replicas"));
        return problems.report(found.hint("replicas share the clients: each needs one at least"));
    }
    if requests <= most {
        let message = format!("`{}` has {requests} requests for {most} clients of a replica", node.path);
        let found = Diagnostic::error("conflict", message).at(place("requests"));
        return problems.report(found.hint(format!(
            "each client should ask several times: {} requests, or leave the key out",
            DEFAULT_OF_EACH * most
        )));
    }
    Some((clients.iter().map(|&clients| clients as f64).collect(), requests))
}

/// Rates, none of them twice, of which each replica has a share that can be told from none.
fn checked(node: &Node, rates: Vec<f64>, replicas: u64, problems: &mut Problems) -> Option<Vec<f64>> {
    let place = |key: &str| &node.get(key).unwrap_or(node).place;
    let twice = (1..rates.len()).find(|&at| rates[..at].iter().any(|rate| rate.to_bits() == rates[at].to_bits()));
    if let Some(at) = twice {
        let message = format!("`{}.rate` has {} twice", node.path, rates[at]);
        let found = Diagnostic::error("bad-axis", message).at(place("rate"));
        return problems.report(found.hint("leave one of them out"));
    }
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min) / replicas as f64;
    if least < RATES.0 {
        let message = format!("`{}` leaves {least:.1e} requests per second to a replica", node.path);
        let found = Diagnostic::error("out-of-range", message).at(place("replicas"));
        return problems.report(found.hint(format!("at least {:e}: take fewer replicas", RATES.0)));
    }
    Some(rates)
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

fn rate(node: &Node, problems: &mut Problems) -> Option<f64> {
    let rate = number(node, problems, -1e30)?;
    if (RATES.0..=RATES.1).contains(&rate) {
        return Some(rate);
    }
    let message = format!("`{}` cannot be {rate:?}", node.path);
    let found = Diagnostic::error("out-of-range", message).at(&node.place);
    problems.report(found.hint(format!("requests per second, such as 4.0: from {:e} to {:e}", RATES.0, RATES.1)))
}

fn warmup(node: &Node, problems: &mut Problems) -> Option<Probability> {
    let share = probability(node, problems)?;
    if share.get() <= LONGEST_WARMUP {
        return Some(share);
    }
    let message = format!("`{}` leaves too few requests to measure: {}", node.path, share.get());
    let found = Diagnostic::error("out-of-range", message).at(&node.place);
    problems.report(
        found.hint(format!("the first share of requests, which is not measured: 0.1, at most {LONGEST_WARMUP}")),
    )
}

fn shape(node: &Node, problems: &mut Problems) -> Option<f64> {
    let shape = number(node, problems, 0.0)?;
    if (SHAPES.0..=SHAPES.1).contains(&shape) {
        return Some(shape);
    }
    let found = Diagnostic::error("out-of-range", format!("`{}` cannot be {shape}", node.path)).at(&node.place);
    problems.report(found.hint(format!("from {} to {}: 1 is Poisson, below come bursts", SHAPES.0, SHAPES.1)))
}
