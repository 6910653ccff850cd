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
        return Some("What is asked is met at no rate, whatever decides on drafts.".to_owned());
    };
    let load = best.largest_load();
    let replicas = best.replicas(load).map_or(1, |of| of.0);
    let holds = format!("{} requests/s of one replica ({})", figures(found.rate), interval(found));
    let takes = format!("{} for {}/s", counted(replicas, "replica"), figures(load));
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

/// The policy of the shortest latency at the largest load that plain decoding can keep up with.
fn soonest(all: &[Shown<'_>]) -> Option<String> {
    let keeps_up = |shown: &&Shown<'_>| shown.off.is_some_and(|off| !off.measures.is_overloaded());
    let load = all.iter().filter(keeps_up).map(|shown| shown.case.load).fold(0.0, f64::max);
    let there = all.iter().filter(keeps_up).filter(|shown| shown.case.load.to_bits() == load.to_bits());
    let drafting = there.filter(|shown| *shown.policy() != Policy::Off);
    let rated = drafting.filter_map(|shown| Some((shown.latency_ratio()?, shown)));
    let (ratio, best) = rated.max_by(|one, other| one.0.value.total_cmp(&other.0.value))?;
    let unit = if matches!(best.traffic.arrivals, Arrivals::Closed { .. }) { "clients" } else { "requests/s" };
    let (load, policy, by) = (figures(load), best.policy(), by(best.drafter()));
    if ratio.high < 1.0 {
        return Some(format!("Plain decoding answers soonest at {load} {unit}."));
    }
    let interval =
        if ratio.high.is_finite() { format!(", {} to {}", times(ratio.low), times(ratio.high)) } else { String::new() };
    Some(format!(
        "At {load} {unit} {policy}{by} answers {} faster than plain decoding (mean latency{interval}).",
        times(ratio.value)
    ))
}
