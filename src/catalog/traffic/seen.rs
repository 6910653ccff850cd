//! Requests as they were seen.

use std::sync::Arc;

use super::lengths::{kinds, trace};
use super::{Around, DEFAULT_OUTPUT, DEFAULT_PROMPT, KEYS, RATES, checked, common, rate};
use crate::catalog::load::Loader;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::{number, quantity};
use crate::diagnostic::Diagnostic;
use crate::domain::served::Served;
use crate::domain::traffic::{Arrivals, Traffic};
use crate::units::{Probability, Seconds};

const IDLE: [&str; 7] = ["arrivals", "burstiness", "clients", "think", "prompt", "output", "prefix_hit"];
const LENGTHS_ONLY: &str = "use its lengths: prompt = { trace = … }, output = { trace = … }, with a rate";

/// Traffic as it was seen.
pub(super) fn seen(
    node: &Node,
    problems: &mut Problems,
    around: &Around<'_>,
    loader: &mut Loader<'_>,
) -> Option<Traffic> {
    check_keys(node, problems)?;
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let served = fields.required("trace", |node, problems| trace(node, problems, loader));
    let scale = fields.optional("time_scale", scale);
    let window = fields.optional("window", window);
    let rates = fields.optional("rate", |node, problems| one_or_many(node, problems, rate));
    let common = common(&mut fields, 1, around.replicas);
    let (mut served, window, scale, rates, common) = (served?, window?, scale?, rates?, common?);
    let own = rate_of(&mut served, window, common.replicas)
        .map_err(|(message, hint)| {
            let place = &node.get("trace").unwrap_or(node).place;
            problems.report::<()>(Diagnostic::error("bad-trace", message).at(place).hint(hint))
        })
        .ok()?;
    let rows = served.requests.len() as u64 / common.replicas;
    let loads = match rates {
        Some(rates) => checked(node, rates, common.replicas, problems)?,
        None => vec![scaled(node, own * scale.unwrap_or(1.0), problems)?],
    };
    Some(Traffic {
        requests: common.requests.unwrap_or(rows).min(rows),
        warmup: common.warmup,
        arrivals: Arrivals::Seen(Arc::new(served)),
        loads,
        kinds: kinds(around.workloads, &DEFAULT_PROMPT, &DEFAULT_OUTPUT, Probability::ZERO),
        policies: common.policies,
        replicas: common.replicas,
    })
}

fn check_keys(node: &Node, problems: &mut Problems) -> Option<()> {
    let mut is_right = Some(());
    for idle in IDLE.iter().filter_map(|key| node.get(key)) {
        let found = Diagnostic::error("conflict", format!("`{}` plays no part beside a trace", idle.path));
        is_right =
            problems.report(found.at(&idle.place).hint("the trace says when requests come and how long they are"));
    }
    if let (Some(_), Some(scale)) = (node.get("rate"), node.get("time_scale")) {
        let found = Diagnostic::error("conflict", format!("`{}` has both a rate and a time_scale", node.path));
        let hint = "a rate says how fast they come, time_scale how much faster than they did: keep one";
        is_right = problems.report(found.at(&scale.place).hint(hint));
    }
    is_right
}

/// Leaves out what is not in the window; the rate at which the others came, or why there is none.
fn rate_of(served: &mut Served, window: Option<(f64, f64)>, replicas: u64) -> Result<f64, (String, String)> {
    let (name, span, all) = (served.name.clone(), served.span(), served.requests.len());
    if !served.is_timed {
        return Err((format!("{name} does not say when requests came"), LENGTHS_ONLY.to_owned()));
    }
    if let Some((from, to)) = window {
        served.requests.retain(|seen| (from..to).contains(&seen.at));
        let first = served.requests.first().map_or(0.0, |seen| seen.at);
        served.requests.iter_mut().for_each(|seen| seen.at -= first);
    }
    let rows = served.requests.len();
    if (rows as u64) / replicas < 2 {
        let (message, hint) = match window {
            Some(_) => (
                format!("{name} has too few requests in the window: {rows}"),
                format!("take a wider window, or fewer replicas: its {all} requests came from 0 to {} s", span.ceil()),
            ),
            None => (format!("{name} has too few requests: {rows}"), "each replica needs two at least".to_owned()),
        };
        return Err((message, hint));
    }
    served.rate().ok_or_else(|| (format!("all requests of {name} came at once"), LENGTHS_ONLY.to_owned()))
}

fn scaled(node: &Node, rate: f64, problems: &mut Problems) -> Option<f64> {
    if (RATES.0..=RATES.1).contains(&rate) {
        return Some(rate);
    }
    let place = &node.get("time_scale").or(node.get("trace")).unwrap_or(node).place;
    let found = Diagnostic::error("out-of-range", format!("`{}` comes at {rate:e} requests per second", node.path));
    problems.report(found.at(place).hint(format!("from {:e} to {:e}: state another time_scale", RATES.0, RATES.1)))
}

fn scale(node: &Node, problems: &mut Problems) -> Option<f64> {
    let scale = number(node, problems, 0.0)?;
    if scale > 0.0 {
        return Some(scale);
    }
    let found = Diagnostic::error("out-of-range", format!("`{}` is 0", node.path)).at(&node.place);
    problems.report(found.hint("how many times faster than they came, such as 2.0: above 0"))
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
