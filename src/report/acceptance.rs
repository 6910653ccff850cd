//! Acceptance as engines printed it, in every definition in use.

pub mod document;
pub mod text;
pub mod warnings;

use crate::acceptance::counted::Confidence;
use crate::acceptance::observed::{Findings, findings};
use crate::domain::observed::{Group, Pool, Pools};
use crate::report::number::shortest;
use crate::words::Printout;

/// What was read in one form, of one model, rank and span of time, at one draft length.
#[derive(Clone, Debug, PartialEq)]
pub struct Section<'p> {
    /// The form.
    pub printout: Printout,
    /// Whose rounds.
    pub group: &'p Group,
    /// What was added up.
    pub pool: &'p Pool,
    /// What it says.
    pub found: Findings,
}

/// Every section, in the order of forms, groups and draft lengths.
#[must_use]
pub fn sections(pools: &Pools, confidence: Confidence) -> Vec<Section<'_>> {
    let section = |(printout, group, k, pool)| Section { printout, group, pool, found: findings(pool, k, confidence) };
    pools.iter().map(section).collect()
}

/// What a scenario takes: counts where they hold, else the mean at its k.
#[must_use]
pub fn scenario_line(found: &Findings) -> Option<String> {
    if let Some(counts) = &found.counts {
        let accepted: Vec<String> = counts.accepted().iter().map(u64::to_string).collect();
        return Some(format!(
            "acceptance.counts = {{ accepted_per_position = [{}], rounds = {} }}",
            accepted.join(", "),
            counts.rounds()
        ));
    }
    let (tokens, k) = (found.tokens_per_pass?.value, found.k?);
    let possible = (1.0..=k as f64 + 1.0).contains(&tokens);
    let tokens = shortest((tokens * 1e6).round() / 1e6);
    possible.then(|| format!("acceptance.mean_length = {{ tokens = {tokens}, k = {k} }}"))
}
