//! `metrics = { file = "vllm.prom" }`: acceptance read off what an engine printed.

use std::sync::Arc;

use crate::catalog::load::Loader;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, text};
use crate::catalog::scenario::LARGEST_K;
use crate::catalog::values::{integer, word};
use crate::diagnostic::{Diagnostic, Source};
use crate::domain::acceptance::{AcceptanceModel, Length, ReadOff};
use crate::domain::observed::{Group, Pool, Pools, Stamp};
use crate::domain::provenance::Provenance;
use crate::domain::trace::{RoundSeen, Trace};
use crate::import::engine::stamp::{Bounds, find};
use crate::import::engine::{Options, Reader, Unreadable};
use crate::units::Probability;
use crate::words::{Printout, Trap};

/// What makes figures of little use, as warnings name it.
const GRAVE: [Trap; 12] = [
    Trap::Cumulative,
    Trap::Restarted,
    Trap::ChainAssumed,
    Trap::Gauge,
    Trap::PositionIndependent,
    Trap::Unweighed,
    Trap::Proxy,
    Trap::Reconstructed,
    Trap::RandomPrompts,
    Trap::Contradiction,
    Trap::CutOff,
    Trap::Tree,
];

/// `{ file = "after.prom", since = "before.prom" }`, `{ file = "server.log", after = "06-10 14:00", k = 3, form = "vllm-log" }`
pub(super) fn metrics(
    node: &Node,
    problems: &mut Problems,
    loader: &mut Loader<'_>,
) -> Option<(AcceptanceModel, Provenance, ReadOff)> {
    let keys = Keys::all(&["file", "since", "after", "before", "k", "model", "form"]);
    let mut fields = Fields::open(node, &keys, problems)?;
    let k = fields.optional("k", |node, problems| integer(node, problems, 1, LARGEST_K));
    let model = fields.optional("model", text);
    let form = fields.optional("form", word::<Printout>);
    let after = fields.optional("after", moment);
    let before = fields.optional("before", moment);
    let named = |node: &Node, problems: &mut Problems, loader: &mut Loader<'_>| {
        let name = text(node, problems)?;
        loader.recording(&name, node, problems)
    };
    let source = fields.required("file", |node, problems| named(node, problems, loader));
    let since = fields.optional("since", |node, problems| named(node, problems, loader));
    let (k, model, form, source, since) = (k?, model?, form?, source?, since?);
    let bad = |problems: &mut Problems, source: &Source, error: &Unreadable| {
        let message = format!("`{}`: {}: {error}", node.path, source.name);
        problems.report(Diagnostic::error("bad-metrics", message).at(&node.place))
    };
    let since = match &since {
        None => None,
        Some(source) => {
            let mut reader = Reader::new(Options::default());
            match reader.push(source.text.as_bytes()).and_then(|()| reader.scrape()) {
                Ok(scrape) => Some(scrape),
                Err(error) => return bad(problems, source, &error),
            }
        }
    };
    let bounds = Bounds { after: after?, before: before? };
    let mut reader = Reader::new(Options { k, since, bounds, ..Options::default() });
    let pools = match reader.push(source.text.as_bytes()).and_then(|()| reader.finish()) {
        Ok(pools) => pools,
        Err(error) => return bad(problems, &source, &error),
    };
    let (printout, stated, pool) = match one(&pools, model.as_deref(), form) {
        Ok(found) => found,
        Err(reason) => {
            let message = format!("`{}`: {}: {reason}", node.path, source.name);
            let found = Diagnostic::error("conflict", message).at(&node.place);
            return problems.report(found.hint("specplan acceptance shows what the file holds"));
        }
    };
    if let (Some(asked), Some(stated)) = (k, stated)
        && asked != stated
    {
        let message = format!("`{}`: k = {asked}, and {} was printed at k = {stated}", node.path, source.name);
        return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint("leave k out"));
    }
    warn(pool, node, problems);
    let Some(model) = of(pool, stated) else {
        let (_, k) = pool.length(stated);
        let message = match (pool.tokens_per_pass(), k) {
            (Some(tokens), Some(k)) => format!("{tokens} tokens per pass cannot come of {k} drafts"),
            _ => "it does not say how many tokens each round drafts".to_owned(),
        };
        let message = format!("`{}`: {}: {message}", node.path, source.name);
        let found = Diagnostic::error("missing-key", message).at(&node.place);
        return problems.report(if k.is_none() { found.hint("add k beside file") } else { found });
    };
    if let AcceptanceModel::Counts(counts) = &model {
        super::measured::few_rounds(counts.rounds(), node, problems);
    }
    let from = Provenance { engine: Some(format!("read off {} ({printout})", source.name)), ..Provenance::default() };
    let share = pool.drafting_share().map(Probability::nearest);
    Some((model, from, ReadOff { drafting_share: share }))
}

/// The one section that is meant, or why there is none.
fn one<'p>(
    pools: &'p Pools,
    model: Option<&str>,
    form: Option<Printout>,
) -> Result<(Printout, Option<u64>, &'p Pool), String> {
    let asked = |(printout, group, _, _): &(Printout, &Group, Option<u64>, &Pool)| {
        model.is_none_or(|model| group.model.as_deref() == Some(model)) && form.is_none_or(|form| *printout == form)
    };
    let found: Vec<_> = pools.iter().filter(asked).filter(|(_, _, _, pool)| pool.tokens_per_pass().is_some()).collect();
    let named = |(printout, group, k, _): &(Printout, &Group, Option<u64>, &Pool)| {
        let model = group.model.as_ref().map_or_else(String::new, |model| format!(" of {model}"));
        format!("{printout}{model}{}", k.map_or_else(String::new, |k| format!(" at k = {k}")))
    };
    match found.as_slice() {
        [] if model.is_some() || form.is_some() => Err("it holds no rounds of this model or form".to_owned()),
        [] => Err("it tells no tokens per pass, and no rounds to work them out from".to_owned()),
        [(printout, _, k, pool)] => Ok((*printout, *k, *pool)),
        several => {
            let all: Vec<String> = several.iter().map(named).collect();
            Err(format!("it tells of several: {}; `model` and `form` choose one", all.join(", ")))
        }
    }
}

/// Rounds one by one where they are known so and differ in length, else counts, else the mean.
fn of(pool: &Pool, stated: Option<u64>) -> Option<AcceptanceModel> {
    let (even, k) = pool.length(stated);
    let seen: u64 = pool.alike.values().sum();
    if even == Some(false) && seen as f64 >= pool.accepted_of_rounds.second - 0.5 {
        let round = |(&(drafted, accepted), &count): (&(u32, u32), &u64)| (RoundSeen { drafted, accepted }, count);
        let rounds = pool.alike.iter().map(round).collect();
        return Trace::counted(rounds).ok().map(|trace| AcceptanceModel::Trace(Arc::new(trace)));
    }
    if let Some(counts) = pool.counts(stated) {
        return Some(AcceptanceModel::Counts(counts));
    }
    Length::new(k?, pool.tokens_per_pass()?).ok().map(AcceptanceModel::MeanLength)
}

/// A moment such as `06-10 14:00`.
fn moment(node: &Node, problems: &mut Problems) -> Option<Stamp> {
    let written = text(node, problems)?;
    match find(&written) {
        Some(at) => Some(at),
        None => problems.wrong_type(node, "a moment such as \"06-10 14:00\" or \"2026-06-10 14:00:00\""),
    }
}

/// Warns of what makes the figures of little use.
fn warn(pool: &Pool, node: &Node, problems: &mut Problems) {
    let grave = GRAVE.iter().filter(|trap| pool.traps.contains(trap)).map(|trap| trap.told().to_owned());
    for line in grave.chain(pool.suspects()) {
        let found = Diagnostic::error("doubtful-metrics", format!("`{}`: {line}", node.path)).as_warning();
        problems.report::<()>(found.at(&node.place));
    }
}
