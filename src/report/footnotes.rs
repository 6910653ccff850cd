//! What stands under a table: what its marks mean, and what its reader should know.

use crate::plan::capacity::{Capacity, capacity};
use crate::report::sample::Panel;
use crate::report::table::Style;
use crate::units::Bytes;
use crate::words::Limiter;

/// What a mark means.
pub(super) const CARRIED: &str = "~: tokens per pass carried over from another k or context than was measured";

/// Which marks a table uses, and so which footnotes it needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) best: bool,
    pub(super) unfit: bool,
    pub(super) carried: bool,
}

/// Every footnote of one table.
pub(super) fn notes(panel: &Panel<'_, '_>, style: Style, marks: Marks) -> Vec<String> {
    let mut notes = Vec::new();
    if panel.lacks_points() {
        let usable = panel.plan.block.setup.usable();
        notes.push(match (panel.plan.selection.conditions.is_empty(), panel.is_blank()) {
            (true, true) => format!("nothing here fits: {usable} are usable"),
            (true, false) => format!("what does not fit is left out: {usable} are usable"),
            (false, true) => format!("every point is left out, as it {}", panel.unwanted()),
            (false, false) => format!("left out: what {}", panel.unwanted()),
        });
    }
    if marks.best {
        let mark = if style == Style::Plain { "*" } else { "bold" };
        notes.push(format!("{mark}: best k of the row, where it gains"));
    }
    if marks.unfit {
        let capacity = panel.plan.block.device.memory.capacity;
        let of = capacity.map_or_else(String::new, |capacity| format!(" of {capacity}"));
        let need = least_unfit(panel).map_or_else(String::new, |Need { batch, with, without }| {
            let alone = if with > without { format!(", {without} of it without the drafter") } else { String::new() };
            format!("; batch {batch} needs {with}{alone}")
        });
        notes.push(format!("!: does not fit in the usable {}{of}{need}", panel.plan.block.setup.usable()));
    }
    if marks.carried {
        notes.push(CARRIED.to_owned());
    }
    if let Some(depth) = panel.plan.block.setup.depth() {
        notes.push(format!("k is {depth}, as the drafter's shape says: sweep.k plays no part"));
    }
    let engine = panel.plan.block.engine;
    if panel.plan.block.drafter.is_some() && engine.additive().is_some() && panel.plan.k.values.contains(&0) {
        notes.push("k=0 keeps the drafter loaded: what that costs is not known, and counted as nothing".to_owned());
    }
    notes.extend(running(panel));
    notes.extend(beyond(panel));
    if panel.plan.block.drafter.is_some_and(|drafter| drafter.overlap) {
        notes.push("an upper bound: drafts made ahead are lost where one before them is rejected".to_owned());
    }
    let ranks = panel.plan.block.setup.ranks();
    if ranks > 1 {
        notes.push(format!(
            "batch: the sequences of each of {ranks} ranks, which share the experts; tokens/s are those of all"
        ));
    }
    let apart = panel.plan.block.drafter.is_some_and(|drafter| drafter.overlap);
    if let Some(cost) = panel.cost_ratio.filter(|_| !apart) {
        notes.push(format!("one draft pass costs {:.2} of a plain step at batch {}", cost.ratio, cost.batch));
    }
    notes
}

/// How many sequences run together, with the drafter and without.
fn running(panel: &Panel<'_, '_>) -> Option<String> {
    let k = panel.plan.k.values.iter().copied().max()?;
    let (with, without) = capacity(&panel.plan.block.setup, panel.plan.context, k);
    let shown = |of: Capacity| Some(format!("{} sequences ({} KV tokens)", of.running?, of.kv_tokens?));
    let limit = match with.limiter {
        Some(Limiter::Memory) | None => String::new(),
        Some(limiter) => format!(", set by {limiter}: the KV tokens are those that memory holds"),
    };
    let alone = shown(without)
        .filter(|_| without != with)
        .map_or_else(String::new, |text| format!("; {text} without the drafter"));
    Some(format!("at most {} run together at k={k}{limit}{alone}", shown(with)?))
}

/// A limit of the engine, and the first point beyond it.
pub(super) struct Passed {
    /// Its name.
    pub(super) limit: &'static str,
    batch: u64,
    k: u64,
}

/// Every limit that a panel goes beyond.
pub(super) fn passed(panel: &Panel<'_, '_>) -> Vec<Passed> {
    let (block, context) = (panel.plan.block, panel.plan.context);
    let mut first: Vec<Passed> = Vec::new();
    let mut batches = panel.plan.batch.values.clone();
    batches.sort_unstable();
    for batch in batches {
        for &k in &panel.plan.k.values {
            for (_, limit) in block.beyond(batch, context, k).limits() {
                if !first.iter().any(|known| known.limit == limit) {
                    first.push(Passed { limit, batch, k });
                }
            }
        }
    }
    first
}

fn beyond(panel: &Panel<'_, '_>) -> Option<String> {
    let (block, first) = (panel.plan.block, passed(panel));
    let named = |Passed { limit, batch, k }: &Passed| format!("{limit} from batch {batch} (k={k}) on");
    let all: Vec<String> = first.iter().map(named).collect();
    let known = block.engine.additive().is_some_and(|additive| additive.uncaptured_layer.is_some());
    let launches = if known || block.setup.limits().capture_sizes.is_empty() {
        ""
    } else {
        "; launches beyond captured graphs are priced as nothing"
    };
    (!all.is_empty()).then(|| format!("beyond the engine's limits: {}{launches}", all.join("; ")))
}

/// What a batch needs that does not fit.
struct Need {
    batch: u64,
    with: Bytes,
    without: Bytes,
}

/// The smallest batch that does not fit at some k, and what it needs there.
fn least_unfit(panel: &Panel<'_, '_>) -> Option<Need> {
    let positions = (0..panel.plan.batch.count()).flat_map(|batch| (0..panel.plan.k.count()).map(move |k| (batch, k)));
    let unfit = positions.filter(|&(batch, k)| panel.point(batch, 0, k).is_some_and(|point| !point.fits));
    let named = unfit.map(|(batch, k)| (panel.plan.batch.values[batch], panel.plan.k.values[k]));
    let (batch, k) = named.min()?;
    let setup = &panel.plan.block.setup;
    let without = setup.base_memory(batch, panel.plan.context).total();
    Some(Need { batch, with: setup.memory(batch, panel.plan.context, k).total(), without })
}
