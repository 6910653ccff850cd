//! Up to which load speculation pays.

use serde_json::{Value, json};

use super::Shown;
use crate::domain::traffic::{Arrivals, Policy};
use crate::report::number::{figures, thousands, times};
use crate::traffic::study::Case;

/// Whether a policy answers sooner than plain decoding at a load, beyond chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pays {
    Yes,
    No,
    Alike,
    /// Requests pile up with it and without.
    Unknown,
}

/// A policy over the loads that were looked at, the least first.
struct Over<'a> {
    shown: &'a Shown<'a>,
    loads: Vec<(f64, Option<f64>, Pays)>,
    /// The least load at which requests pile up with it and without: nothing is said of it.
    piles_up: Option<f64>,
}

fn over<'a>(all: &'a [Shown<'a>]) -> Vec<Over<'a>> {
    let mut found: Vec<Over<'a>> = Vec::new();
    for shown in all.iter().filter(|shown| *shown.policy() != Policy::Off) {
        let Some(ratio) = shown.latency_ratio() else { continue };
        let piles_up = |case: &Case| case.measures.is_overloaded();
        let pays = match (piles_up(shown.case), shown.off.is_some_and(piles_up)) {
            // Their times say how long the runs were.
            (true, true) => Pays::Unknown,
            (true, false) => Pays::No,
            (false, true) => Pays::Yes,
            _ if ratio.low > 1.0 => Pays::Yes,
            _ if ratio.high < 1.0 => Pays::No,
            _ => Pays::Alike,
        };
        let keep_up = !piles_up(shown.case) && !shown.off.is_some_and(piles_up);
        let load = (shown.case.load, keep_up.then_some(ratio.value), pays);
        let same = |over: &&mut Over<'_>| {
            over.shown.case.subject == shown.case.subject && over.shown.case.policy == shown.case.policy
        };
        match found.iter_mut().find(same) {
            Some(over) => over.loads.push(load),
            None => found.push(Over { shown, loads: vec![load], piles_up: None }),
        }
    }
    for over in &mut found {
        over.loads.sort_by(|one, other| one.0.total_cmp(&other.0));
        over.piles_up = over.loads.iter().find(|(_, _, pays)| *pays == Pays::Unknown).map(|(load, ..)| *load);
        over.loads.retain(|(_, _, pays)| *pays != Pays::Unknown);
    }
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

    /// The least and the largest ratio at loads that are kept up with both ways.
    fn range(&self) -> String {
        let told = || self.loads.iter().filter_map(|(_, ratio, _)| *ratio);
        let (least, most) = (told().fold(f64::INFINITY, f64::min), told().fold(0.0, f64::max));
        match told().count() {
            0 => "plain decoding keeps up with none".to_owned(),
            count => {
                let range = if count == 1 { times(most) } else { format!("{} to {}", times(least), times(most)) };
                let rest = if count < self.loads.len() { " where both keep up" } else { "" };
                format!("{range}{rest}")
            }
        }
    }

    fn sentence(&self) -> String {
        let (policy, unit) = (self.shown.policy(), self.unit());
        if self.loads.is_empty() {
            return format!("{policy}: requests pile up at every load that was looked at, with it and without");
        }
        let range = self.range();
        let is_all = |of: Pays| self.loads.iter().all(|(_, _, pays)| *pays == of);
        let largest = self.loads.last().map_or(0.0, |(load, ..)| *load);
        if is_all(Pays::Yes) {
            let largest = figures(largest);
            return match self.piles_up {
                Some(load) => format!(
                    "{policy} pays up to {largest}{unit}: {range}; at {} requests pile up with it and without",
                    figures(load)
                ),
                None => format!("{policy} pays up to {largest}{unit}, the most that was looked at: {range}"),
            };
        }
        if is_all(Pays::No) {
            return format!("{policy} pays at no load that was looked at: {range}");
        }
        if is_all(Pays::Alike) {
            let is_short = self.shown.case.measures.is_too_short();
            let few = if is_short { "too few requests to tell" } else { "no difference beyond chance" };
            return format!("{policy}: {few}: {range}");
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
    let (tokens, batch, ratio) = (thousands(tokens.value), figures(batch), times(ratio));
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
