//! The numbers that a plan is made for: batches, contexts, load.

use crate::cli::args::plan::{Load, PlanArgs};
use crate::domain::axis::Axis;
use crate::domain::scenario::Scenario;
use crate::plan::along::LONGEST_CONTEXT;
use crate::plan::candidate::{Candidate, runs};
use crate::report::pick::by_factor;

/// Batches of a table.
const MOST_SHOWN: u64 = 12;
/// Batches that a verdict rests on, where no load is given.
pub(super) const MOST_COUNTED: u64 = 8;

/// The numbers that a plan is made for.
pub(super) struct Numbers {
    pub(super) batches: Vec<u64>,
    pub(super) contexts: Vec<u64>,
    pub(super) shown: Vec<u64>,
    pub(super) counted: Vec<u64>,
    pub(super) load: Vec<(&'static str, u64)>,
    pub(super) longest: u64,
}

impl Numbers {
    pub(super) fn of(args: &PlanArgs, scenario: &Scenario, candidates: &[Vec<Candidate<'_>>]) -> Self {
        let axes = &scenario.axes;
        let sorted = |axis: &Axis<u64>| {
            let mut values: Vec<u64> = axis.iter().collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let contexts = args.context.map_or_else(|| axes.context().iter().collect(), |context| vec![context]);
        let load = args.load.map(Load::named).unwrap_or_default();
        let own = sorted(axes.batch());
        let picked = |most: u64| by_factor(own.len() as u64, most).into_iter().map(|at| own[at as usize]);
        let counted: Vec<u64> = match load.as_slice() {
            [] => runnable(candidates, &contexts, picked(MOST_COUNTED).collect()),
            load => {
                let mut counted: Vec<u64> = load.iter().map(|(_, batch)| *batch).collect();
                counted.dedup();
                counted
            }
        };
        let mut shown: Vec<u64> = picked(MOST_SHOWN).chain(counted.iter().copied()).collect();
        shown.sort_unstable();
        shown.dedup();
        let mut batches: Vec<u64> = own.iter().copied().chain(counted.iter().copied()).collect();
        batches.sort_unstable();
        batches.dedup();
        let farthest = contexts.iter().copied().max().unwrap_or(0).max(LONGEST_CONTEXT);
        let longest = scenario.limits.max_model_len.map_or(farthest, |most| most.max(1));
        Self { batches, contexts, shown, counted, load, longest }
    }
}

/// Of these batches those that some setting runs plainly at some context; all if none does.
fn runnable(candidates: &[Vec<Candidate<'_>>], contexts: &[u64], batches: Vec<u64>) -> Vec<u64> {
    let shortest = contexts.iter().copied().min().unwrap_or(0);
    let capacities: Vec<_> = candidates.iter().filter_map(|own| Some(own.first()?.here(shortest).alone)).collect();
    let run = |batch: &u64| capacities.iter().any(|alone| runs(alone, *batch));
    let some: Vec<u64> = batches.iter().copied().filter(run).collect();
    if some.is_empty() { batches } else { some }
}
