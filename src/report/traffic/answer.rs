//! The answer before the tables.

use super::Shown;
use super::capacity::{ShownCapacity, interval};
use crate::domain::traffic::{Arrivals, Policy};
use crate::report::number::{counted, figures, times};

/// What a reader in a hurry takes along: the policy that takes the most, or that answers soonest.
#[must_use]
pub fn answer(all: &[Shown<'_>], held: &[ShownCapacity<'_>]) -> Option<String> {
    if held.is_empty() { soonest(all) } else { most(held) }
}

fn by(drafter: Option<&str>) -> String {
    drafter.map_or_else(String::new, |drafter| format!(" of {drafter}"))
}

/// The policy of the highest rate. Of equals the first: plain decoding, where it is as good.
fn most(held: &[ShownCapacity<'_>]) -> Option<String> {
    let rate = |one: &ShownCapacity<'_>| one.found().map_or(0.0, |found| found.rate);
    let best = held.iter().reduce(|best, one| if rate(one) > rate(best) { one } else { best })?;
    let Some(found) = best.found() else {
        let is_unknown = held.iter().any(|one| one.limit().is_none());
        return Some(if is_unknown {
            "Fewer than 100 requests are measured, from which no highest rate can be told: take more traffic.requests."
                .to_owned()
        } else {
            "What is asked is met at no rate, whatever decides on drafts.".to_owned()
        });
    };
    let load = best.largest_load();
    let holds = format!("{} requests/s of one replica ({})", figures(found.rate), interval(found));
    let is_open = found.low <= 0.0 || found.high.is_infinite();
    let short = if found.at.is_too_short() || is_open { "; from too few requests to be sure of it" } else { "" };
    let takes = format!("{} for {}/s{short}", in_words(best.replicas(load)), figures(load));
    if best.is_plain() {
        return Some(format!("Plain decoding takes the most within what is asked: {holds}; {takes}."));
    }
    let than = match (best.over_off(), best.off) {
        (Some(ratio), _) => format!(", {} as many as plain decoding", times(ratio)),
        (None, Some(_)) => ", where plain decoding meets it at none".to_owned(),
        (None, None) => String::new(),
    };
    let (policy, by) = (best.policy(), by(best.labels.drafter));
    Some(format!("{policy}{by} takes the most within what is asked: {holds}{than}; {takes}."))
}

/// So many replicas, from as few to as many.
fn in_words(of: Option<(u64, u64, Option<u64>)>) -> String {
    let Some((likely, fewest, most)) = of else { return counted(1, "replica") };
    match most {
        Some(most) if most == fewest => counted(likely, "replica"),
        Some(most) => format!("{} ({fewest} to {most})", counted(likely, "replica")),
        None => format!("{} ({fewest} or more)", counted(likely, "replica")),
    }
}

/// The policy of the shortest latency at the largest load that plain decoding can keep up with.
fn soonest(all: &[Shown<'_>]) -> Option<String> {
    let keeps_up = |shown: &&Shown<'_>| shown.off.is_some_and(|off| !off.measures.is_overloaded());
    let load = all.iter().filter(keeps_up).map(|shown| shown.case.load).fold(0.0, f64::max);
    let there = all.iter().filter(keeps_up).filter(|shown| shown.case.load.to_bits() == load.to_bits());
    let drafting = there.filter(|shown| *shown.policy() != Policy::Off);
    let rated = drafting.filter_map(|shown| Some((shown.latency_ratio()?, shown)));
    let (ratio, best) = rated.max_by(|one, other| one.0.value.total_cmp(&other.0.value))?;
    let unit = match best.traffic.arrivals {
        Arrivals::Closed { .. } if load <= 1.0 => "client",
        Arrivals::Closed { .. } => "clients",
        _ => "requests/s",
    };
    let (load, policy, by) = (figures(load), best.policy(), by(best.drafter()));
    if ratio.high < 1.0 {
        return Some(format!("Plain decoding answers soonest at {load} {unit}."));
    }
    let short = if best.case.measures.is_too_short() { ", from too few requests to be sure of it" } else { "" };
    let interval =
        if ratio.high.is_finite() { format!(", {} to {}", times(ratio.low), times(ratio.high)) } else { String::new() };
    Some(format!(
        "At {load} {unit} {policy}{by} answers {} faster than plain decoding (mean latency{interval}{short}).",
        times(ratio.value)
    ))
}
