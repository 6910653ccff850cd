//! The decision: verdicts in words, tables, schedules in the forms engines take, charts.

pub mod columns;
pub mod document;
mod doubt;
pub mod engines;
pub mod own;
mod room;
pub mod schedule;
pub mod tables;
pub mod text;
pub mod words;

use crate::domain::price::HourlyPrice;
use crate::plan::along::Along;
use crate::plan::candidate::Candidate;
use crate::plan::decision::{Case, Decision};
use crate::report::number::shortest;
use crate::report::table::devices;

/// Everything decided, with what tells readers how to read it.
#[derive(Debug)]
pub struct Planned<'c, 's> {
    /// Each setting.
    pub decisions: Vec<Decision<'c, 's>>,
    /// Contexts.
    pub contexts: Vec<u64>,
    /// Batches that tables show.
    pub shown: Vec<u64>,
    /// Names of the batches that count: of a load `p50` and `p95`.
    pub load: Vec<(&'static str, u64)>,
    /// What a device costs; none: nobody said.
    pub price: Option<HourlyPrice>,
    /// Tokens per second that are wanted in all.
    pub rate: Option<f64>,
    /// Tokens of an output, for its whole time.
    pub output_tokens: u64,
    /// The longest draft that was tried.
    pub k_max: u64,
}

/// A case with the setting it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'p, 'c, 's> {
    /// Everything.
    pub planned: &'p Planned<'c, 's>,
    /// The setting.
    pub decision: &'p Decision<'c, 's>,
    /// The case.
    pub case: &'p Case,
}

impl<'c, 's> Planned<'c, 's> {
    /// Every case of every setting.
    pub fn cases(&self) -> impl Iterator<Item = Seen<'_, 'c, 's>> {
        self.decisions
            .iter()
            .flat_map(move |decision| decision.cases.iter().map(move |case| Seen { planned: self, decision, case }))
    }
}

impl<'p, 's> Seen<'p, '_, 's> {
    /// Tokens in each sequence's KV cache.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.planned.contexts[self.case.context]
    }

    /// The drafter that the verdict is about, along the batches here.
    #[must_use]
    pub fn along(&self) -> Option<&'p Along<'_, 's>> {
        Some(&self.decision.lines[self.case.context][self.case.verdict.candidate?])
    }

    /// A candidate.
    #[must_use]
    pub fn candidate(&self, at: usize) -> &'p Candidate<'s> {
        &self.decision.candidates[at]
    }

    /// What a batch that counts is called: `p50 = 12`, or `batch 16`.
    #[must_use]
    pub fn batch_name(&self, batch: u64) -> String {
        let named: Vec<&str> = self.planned.load.iter().filter(|(_, of)| *of == batch).map(|(name, _)| *name).collect();
        if named.is_empty() { format!("batch {batch}") } else { format!("{} = batch {batch}", named.join(" = ")) }
    }

    /// What the case is of, in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        let setting = &self.decision.setting;
        let shared = self.decision.candidates.first().map_or_else(String::new, |one| devices(&one.setup));
        let acceptance = self.acceptance();
        let acceptance = if acceptance.is_empty() { acceptance } else { format!(", {acceptance}") };
        format!(
            "{shared}{}, target {}, engine {}, context {}{acceptance}",
            setting.device.id,
            setting.target.id,
            setting.engine.id,
            self.context()
        )
    }

    /// What tells the case's acceptances from those of others; empty where there is one for each drafter.
    #[must_use]
    pub fn acceptance(&self) -> String {
        let context = self.context();
        let several = |candidate: &Candidate<'_>| {
            let own = |other: &&Candidate<'_>| other.drafter.label == candidate.drafter.label;
            self.decision.candidates.iter().filter(own).count() > 1
        };
        let named = |&member: &usize| {
            let candidate = self.candidate(member);
            several(candidate).then(|| match candidate.process(context).alpha() {
                Some(alpha) => format!("alpha {}", shortest(alpha)),
                None => format!("list {} of acceptance", candidate.acceptance + 1),
            })
        };
        let all: Vec<(usize, String)> =
            self.case.members.iter().filter_map(|member| Some((*member, named(member)?))).collect();
        let alike = all.iter().all(|(_, name)| *name == all[0].1);
        match all.as_slice() {
            [] => String::new(),
            [(_, first), ..] if alike => first.clone(),
            all => {
                let each = all.iter().map(|(member, name)| format!("{} {name}", self.candidate(*member).drafter.label));
                each.collect::<Vec<_>>().join(", ")
            }
        }
    }
}
