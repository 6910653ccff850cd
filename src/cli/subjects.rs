//! What `simulate` works on: the alpha of its section, or the acceptance of every drafter.

use crate::acceptance::process::Process;
use crate::acceptance::study::Subject;
use crate::catalog::load::Loaded;
use crate::cli::error::Error;
use crate::cli::opening::no_grid;
use crate::diagnostic::Diagnostic;
use crate::domain::drafter::Drafter;
use crate::domain::scenario::Scenario;
use crate::domain::simulate::Simulate;
use crate::plan::ragged::round_seconds;
use crate::plan::yields::{acceptances, process_of};
use crate::report::number::shortest;
use crate::report::simulation::lines::Simulated;
use crate::sweep::grid::{Block, Grid};

/// Processes beyond this make no readable study.
const MOST_SUBJECTS: u64 = 64;
/// Sequences of a study that does not say how many run together.
const DEFAULT_BATCH: u64 = 16;

/// A study with what it simulates and how rounds are priced.
pub(super) struct Priced {
    pub(super) simulate: Simulate,
    pub(super) simulated: Vec<Simulated>,
    /// What prices stand for, for people; empty where nothing is priced.
    pub(super) priced: String,
    /// What of the scenario is not simulated, in words.
    pub(super) left_out: Vec<String>,
}

/// Finds them.
pub(super) fn subjects(loaded: &Loaded) -> Result<Priced, Error> {
    let scenario = &loaded.scenario;
    let mut simulate = scenario.simulate.clone().unwrap_or_default();
    let context = scenario.axes.context().get(0);
    if simulate.alpha.is_none() {
        few(scenario.drafters.iter().map(acceptances).fold(0, u64::saturating_add), loaded)?;
    }
    let mut simulated: Vec<Simulated> = match simulate.alpha {
        Some(alpha) => vec![plain(Process::Iid { alpha }, &simulate)],
        None => scenario.drafters.iter().flat_map(|drafter| of_drafter(drafter, &simulate.k, context)).collect(),
    };
    let left_out = if simulate.alpha.is_some() { Vec::new() } else { left_out(scenario, &simulate.k, context) };
    if simulated.is_empty() && simulate.laws.is_none() {
        let found = Diagnostic::error("missing-key", "there is nothing to simulate".to_owned()).at(&loaded.root);
        let hint =
            "give the scenario a drafter, or [simulate] an alpha for rounds or p and q for the accept/reject rule";
        return Err(Error::Input(vec![found.hint(hint)]));
    }
    // A study of drafters is of whole sequences too, if it does not say otherwise.
    if simulate.alpha.is_none() && simulate.batch.is_empty() && !simulated.is_empty() {
        simulate.batch = vec![DEFAULT_BATCH];
    }
    let priced = price(&simulate, &mut simulated, scenario, loaded, context)?;
    Ok(Priced { simulate, simulated, priced, left_out })
}

/// Refuses more acceptances than can be read, before any is made.
fn few(all: u64, loaded: &Loaded) -> Result<(), Error> {
    if all <= MOST_SUBJECTS {
        return Ok(());
    }
    let message = format!("{all} acceptances are to be simulated, more than {MOST_SUBJECTS}");
    let found = Diagnostic::error("too-many-points", message).at(&loaded.longest_axis);
    Err(Error::Input(vec![found.hint("take fewer values of alpha, or fewer drafters")]))
}

fn plain(process: Process, simulate: &Simulate) -> Simulated {
    let subject = Subject { name: named(&process), process, k: simulate.k.clone() };
    Simulated { drafter: None, subject, seconds: Vec::new() }
}

fn named(process: &Process) -> String {
    format!("{}/{}", process.kind(), process.alpha().map_or_else(String::new, shortest))
}

/// Every acceptance of a drafter, at the draft lengths that it has.
fn of_drafter(drafter: &Drafter, asked: &[u64], context: u64) -> Vec<Simulated> {
    let k = lengths(drafter, asked);
    let one = |index: u64| {
        let process = process_of(drafter, index, context);
        let name = format!("{}/{}/{index}", drafter.label, named(&process));
        let subject = Subject { name, process, k: k.clone() };
        Simulated { drafter: Some(drafter.label.clone()), subject, seconds: Vec::new() }
    };
    (0..acceptances(drafter)).map(one).collect()
}

/// Of the draft lengths asked for those that a drafter has; its longest where all are longer.
fn lengths(drafter: &Drafter, asked: &[u64]) -> Vec<u64> {
    if let Some(depth) = drafter.only_length() {
        return vec![depth];
    }
    let fits = |k: &u64| drafter.longest.is_none_or(|longest| *k <= longest);
    let k: Vec<u64> = asked.iter().copied().filter(fits).collect();
    if k.is_empty() { drafter.longest.into_iter().collect() } else { k }
}

/// Draft lengths that a drafter does not have, and contexts beyond the first.
fn left_out(scenario: &Scenario, asked: &[u64], context: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for drafter in &scenario.drafters {
        let k = lengths(drafter, asked);
        let written = |of: &[u64]| of.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let without: Vec<u64> = asked.iter().copied().filter(|asked| !k.contains(asked)).collect();
        if !without.is_empty() {
            lines.push(format!(
                "drafter {}: k = {}; it has no rounds of {} drafts",
                drafter.label,
                written(&k),
                written(&without)
            ));
        }
    }
    let contexts = scenario.axes.context().len();
    if contexts > 1 && scenario.drafters.iter().any(|drafter| drafter.acceptance.depends_on_context()) {
        lines.push(format!(
            "acceptance by context: that at context {context}, the first of {contexts}; --set sweep.context takes another"
        ));
    }
    lines
}

/// Looks up what rounds take where batches are asked for; what stands beside them for people.
fn price(
    simulate: &Simulate,
    simulated: &mut [Simulated],
    scenario: &Scenario,
    loaded: &Loaded,
    context: u64,
) -> Result<String, Error> {
    let Some(most) = simulate.batch.iter().copied().max().filter(|_| !scenario.drafters.is_empty()) else {
        return Ok(String::new());
    };
    // One deployment is priced: the first of each axis, with every drafter.
    let first = Scenario {
        hardware: scenario.hardware.iter().take(1).cloned().collect(),
        targets: scenario.targets.iter().take(1).cloned().collect(),
        engines: scenario.engines.iter().take(1).cloned().collect(),
        tensor_parallel: scenario.tensor_parallel.iter().take(1).copied().collect(),
        ..scenario.clone()
    };
    let grid = Grid::new(&first, u64::MAX).map_err(|error| no_grid(&error, loaded))?;
    for one in simulated.iter_mut() {
        let of = |block: &&Block<'_>| one.drafter.is_none() || block.labels.drafter == one.drafter.as_deref();
        if let Some(block) = grid.blocks.iter().find(of) {
            let process = &one.subject.process;
            one.seconds =
                one.subject.k.iter().map(|&k| round_seconds(&block.setup, process, context, k, most)).collect();
        }
    }
    let of = |block: &Block<'_>| {
        let labels = &block.labels;
        format!("Priced on {}, target {}, engine {}, context {context}.", labels.hardware, labels.target, labels.engine)
    };
    Ok(grid.blocks.first().map_or_else(String::new, of))
}
