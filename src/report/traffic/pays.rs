//! Up to which load speculation pays.

use serde_json::{Value, json};

use super::Shown;
use crate::domain::traffic::{Arrivals, Policy};
use crate::report::number::{figures, thousands, times};

/// Whether a policy answers sooner than plain decoding at a load, beyond chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pays {
    Yes,
    No,
    Alike,
}

/// A policy over the loads that were looked at, the least first.
struct Over<'a> {
    shown: &'a Shown<'a>,
    loads: Vec<(f64, f64, Pays)>,
}

fn over<'a>(all: &'a [Shown<'a>]) -> Vec<Over<'a>> {
    let mut found: Vec<Over<'a>> = Vec::new();
    for shown in all.iter().filter(|shown| *shown.policy() != Policy::Off) {
        let Some(ratio) = shown.latency_ratio() else { continue };
        let pays = match ratio {
            of if of.low > 1.0 => Pays::Yes,
            of if of.high < 1.0 => Pays::No,
            _ => Pays::Alike,
        };
        let load = (shown.case.load, ratio.value, pays);
        let same = |over: &&mut Over<'_>| {
            over.shown.case.subject == shown.case.subject && over.shown.case.policy == shown.case.policy
        };
        match found.iter_mut().find(same) {
            Some(over) => over.loads.push(load),
            None => found.push(Over { shown, loads: vec![load] }),
        }
    }
    found.iter_mut().for_each(|over| over.loads.sort_by(|one, other| one.0.total_cmp(&other.0)));
    found
}

impl Over<'_> {
    /// The first load at which it no longer pays, after one at which it does.
    fn ends(&self) -> Option<(f64, f64)> {
        let last = self.loads.iter().rposition(|(_, _, pays)| *pays == Pays::Yes)?;
        Some((self.loads[last].0, self.loads.get(last + 1)?.0))
    }

    fn unit(&self) -> &'static str {
        if matches!(self.shown.traffic.arrivals, Arrivals::Closed { .. }) { " clients" } else { " requests/s" }
    }

    fn sentence(&self) -> String {
        let (policy, unit) = (self.shown.policy(), self.unit());
        let ratios = || self.loads.iter().map(|(_, ratio, _)| *ratio);
        let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
        let range = if self.loads.len() > 1 { format!("{} to {}", times(least), times(most)) } else { times(most) };
        let is_all = |of: Pays| self.loads.iter().all(|(_, _, pays)| *pays == of);
        let largest = self.loads.last().map_or(0.0, |(load, ..)| *load);
        if is_all(Pays::Yes) {
            return format!("{policy} pays up to {}{unit}, the most that was looked at: {range}", figures(largest));
        }
        if is_all(Pays::No) {
            return format!("{policy} pays at no load that was looked at: {range}");
        }
        if is_all(Pays::Alike) {
            return format!("{policy}: no difference that so many requests show: {range}");
        }
        let begins = self.loads.iter().position(|(_, _, pays)| *pays == Pays::Yes);
        match (begins, self.ends()) {
            (Some(0), Some((last, next))) => {
                format!("{policy} stops paying between {} and {}{unit}: {range}", figures(last), figures(next))
            }
            (Some(begins), None) => {
                let (before, first) = (self.loads[begins - 1].0, self.loads[begins].0);
                format!("{policy} begins to pay between {} and {}{unit}: {range}", figures(before), figures(first))
            }
            (Some(_), Some(_)) => {
                let yes = self.loads.iter().filter(|(_, _, pays)| *pays == Pays::Yes);
                let at: Vec<String> = yes.map(|(load, ..)| figures(*load)).collect();
                format!("{policy} pays at {}{unit} and not at the others: {range}", at.join(", "))
            }
            (None, _) => format!("{policy} pays at no load that was looked at, beyond chance: {range}"),
        }
    }
}

/// What a policy brings where the service is always full.
fn when_full(shown: &Shown<'_>) -> Option<String> {
    let (tokens, ratio) = (shown.full_tokens_per_s()?, shown.throughput_ratio()?);
    let batch = shown.full?.batch?;
    let (tokens, batch, ratio) = (thousands(tokens), figures(batch), times(ratio));
    Some(format!("full, {batch} sequences at a time bring {tokens} output tokens/s, {ratio}"))
}

/// A sentence for each policy of a deployment that drafts; none where plain decoding was not run.
#[must_use]
pub fn sentences(all: &[Shown<'_>]) -> Vec<String> {
    let sentence = |over: &Over<'_>| {
        let full = when_full(over.shown).map_or_else(String::new, |full| format!("; {full}"));
        format!("{}{full}", over.sentence())
    };
    over(all).iter().map(sentence).collect()
}

/// Up to which load each policy pays, and from which on it does not.
pub(super) fn json(all: &[Shown<'_>]) -> Vec<Value> {
    let one = |over: &Over<'_>| {
        let yes = over.loads.iter().rev().find(|(_, _, pays)| *pays == Pays::Yes);
        json!({
            "drafter": over.shown.drafter(),
            "tensor_parallel": over.shown.labels.tensor_parallel,
            "hardware": over.shown.labels.hardware,
            "policy": over.shown.policy().to_string(),
            "pays_up_to": yes.map(|(load, ..)| *load),
            "not_from": over.ends().map(|(_, next)| next),
            "says": over.sentence(),
        })
    };
    over(all).iter().map(one).collect()
}
