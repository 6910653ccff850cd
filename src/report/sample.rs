//! A sample of a sweep, small whatever the sweep's size, from which tables and charts are made.
//!
//! Which points it holds is settled by the axes before anything is priced: up to [`PANELS`] panels
//! (a panel is one block at one context), and evenly spaced values of long axes, their ends included. The best k of a line is exact: every k was compared.

mod picked;

use crate::plan::yields::{AcceptanceLabel, Known};
use crate::report::number::shortest;
use crate::report::pick::{by_factor, evenly};
use crate::report::sample::picked::Picked;
use crate::sweep::best::choice;
use crate::sweep::condition::Selection;
use crate::sweep::grid::{Block, Grid, Tile};
use crate::sweep::row::Row;
use crate::units::Seconds;
use crate::words::AcceptanceKind;

/// The most panels that are kept.
pub const PANELS: u64 = 16;
const BATCHES: u64 = 64;
/// Longer axes keep 13, of which every second and every fourth are evenly spaced too.
const WHOLE_ACCEPTANCES: u64 = 16;
const ACCEPTANCES: u64 = 13;
const KS: u64 = 32;
/// Draft lengths of a line that are priced together.
const PIECE: usize = 512;

/// Which points of a grid a sample keeps.
#[derive(Debug)]
pub struct SamplePlan<'g> {
    panels: Vec<PanelPlan<'g>>,
    omitted_panels: u64,
    lines: u64,
}

/// Which points of one block at one context a sample keeps.
#[derive(Debug)]
pub struct PanelPlan<'g> {
    /// The block.
    pub block: &'g Block<'g>,
    block_index: usize,
    /// The context.
    pub context: u64,
    context_index: u64,
    /// Batches kept, in axis order.
    pub batch: Picked,
    /// How many batches the axis has, kept or not.
    pub batch_length: u64,
    /// Acceptances kept; their values are their indices.
    pub acceptance: Picked,
    /// Draft lengths kept.
    pub k: Picked,
    /// Which points are wanted.
    pub selection: &'g Selection,
}

/// A sample of a grid, filled piece by piece.
#[derive(Debug)]
pub struct Sample<'p, 'g> {
    /// The panels kept, in grid order.
    pub panels: Vec<Panel<'p, 'g>>,
    /// How many more the grid has.
    pub omitted_panels: u64,
    /// All combinations of panel and acceptance that the grid has.
    pub lines: u64,
}

/// The points kept of one block at one context.
#[derive(Debug)]
pub struct Panel<'p, 'g> {
    /// Which they are.
    pub plan: &'p PanelPlan<'g>,
    /// Name and per-test acceptance of each acceptance kept, once seen.
    acceptances: Vec<Option<Named>>,
    /// By (batch, acceptance, k).
    cells: Vec<Option<Point>>,
    /// By (batch, acceptance): the best of every k of the axis.
    best: Vec<Option<Point>>,
    /// Draft pass over plain step at the smallest batch, once seen.
    pub cost_ratio: Option<CostRatio>,
}

/// An acceptance and its alpha, where it has a single one.
type Named = (AcceptanceLabel, Option<f64>);

/// A priced point as tables and charts show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Draft tokens for each round.
    pub k: u64,
    /// Speedup.
    pub speedup: f64,
    /// Tokens per second of the whole batch.
    pub tokens_per_s: f64,
    /// The round, or the plain step at k = 0.
    pub round: Seconds,
    /// Whether it fits in memory.
    pub fits: bool,
    /// Whether its tokens per pass were carried over from other draft lengths.
    pub carried: bool,
}

/// What one draft pass costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRatio {
    /// At this batch.
    pub batch: u64,
    /// Draft pass over plain step.
    pub ratio: f64,
}

/// What a tile adds to the sample.
#[derive(Debug, Default)]
pub struct Gathered {
    cells: Vec<(usize, usize, Point)>,
    best: Vec<(usize, usize, Point)>,
    acceptances: Vec<(usize, usize, Option<Named>)>,
    ratio: Vec<(usize, CostRatio)>,
}

impl<'g> SamplePlan<'g> {
    /// Settles which points are kept, of those that are wanted.
    #[must_use]
    pub fn new(grid: &'g Grid<'g>, selection: &'g Selection) -> Self {
        let (all_blocks, contexts) = (grid.blocks.len() as u64, grid.context.len());
        let all = all_blocks.saturating_mul(contexts);
        // Every block kept has the same contexts, so that panels can be compared.
        let blocks = evenly(all_blocks, PANELS);
        let kept_contexts = evenly(contexts, PANELS / (blocks.len() as u64).max(1));
        let panel = |&block: &u64| {
            let of_context = move |&context: &u64| PanelPlan::new(grid, selection, block as usize, context);
            kept_contexts.iter().map(of_context).collect::<Vec<_>>()
        };
        let panels: Vec<PanelPlan<'g>> = blocks.iter().flat_map(panel).collect();
        let acceptances: u64 = grid.blocks.iter().map(Block::acceptances).sum();
        let omitted_panels = all - panels.len() as u64;
        Self { panels, omitted_panels, lines: acceptances.saturating_mul(contexts) }
    }

    /// Keeps nothing.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { panels: Vec::new(), omitted_panels: 0, lines: 0 }
    }

    /// The same where a tile's rows are not at hand: only lines of which something is kept are priced.
    #[must_use]
    pub fn gather_lines<'r>(&self, tile: &Tile, price: impl Fn(&Tile) -> Vec<Row<'r>>) -> Gathered {
        let mut gathered = Gathered::default();
        for (at, panel) in self.panels.iter().enumerate() {
            if panel.block_index == tile.block && tile.context.contains(&panel.context_index) {
                for line in panel.lines(tile) {
                    panel.gather(at, &line, &price(&line), &mut gathered);
                }
            }
        }
        gathered
    }

    /// What a tile holds of the sample. Runs where the tile was priced.
    #[must_use]
    pub fn gather(&self, tile: &Tile, rows: &[Row<'_>]) -> Gathered {
        let mut gathered = Gathered::default();
        for (at, panel) in self.panels.iter().enumerate() {
            if panel.block_index == tile.block && tile.context.contains(&panel.context_index) {
                panel.gather(at, tile, rows, &mut gathered);
            }
        }
        gathered
    }
}

impl<'p, 'g> Sample<'p, 'g> {
    /// A sample without values.
    #[must_use]
    pub fn empty(plan: &'p SamplePlan<'g>) -> Self {
        let panels = plan.panels.iter().map(Panel::empty).collect();
        Self { panels, omitted_panels: plan.omitted_panels, lines: plan.lines }
    }

    /// Takes in what was gathered; tiles may come in any order.
    pub fn absorb(&mut self, gathered: &Gathered) {
        for &(panel, index, point) in &gathered.cells {
            self.panels[panel].cells[index] = Some(point);
        }
        for &(panel, index, point) in &gathered.best {
            let best = &mut self.panels[panel].best[index];
            *best = better(*best, Some(point));
        }
        for &(panel, index, acceptance) in &gathered.acceptances {
            self.panels[panel].acceptances[index] = acceptance;
        }
        for &(panel, ratio) in &gathered.ratio {
            let known = &mut self.panels[panel].cost_ratio;
            if known.is_none_or(|known| ratio.batch < known.batch) {
                *known = Some(ratio);
            }
        }
    }
}

/// The better of two points.
fn better(a: Option<Point>, b: Option<Point>) -> Option<Point> {
    let key = |point: &Point| (point.fits, point.speedup, point.k);
    match (a, b) {
        (Some(a), Some(b)) => Some(if choice(key(&a), key(&b)).is_lt() { b } else { a }),
        (one, None) | (None, one) => one,
    }
}

impl<'p, 'g> Panel<'p, 'g> {
    fn empty(plan: &'p PanelPlan<'g>) -> Self {
        let lines = plan.batch.count() * plan.acceptance.count();
        Self {
            plan,
            acceptances: vec![None; plan.acceptance.count()],
            cells: vec![None; lines * plan.k.count()],
            best: vec![None; lines],
            cost_ratio: None,
        }
    }

    /// The point at positions of the kept batches, acceptances and draft lengths.
    #[must_use]
    pub fn point(&self, batch: usize, acceptance: usize, k: usize) -> Option<Point> {
        self.cells[self.plan.line(batch, acceptance) * self.plan.k.count() + k]
    }

    /// Every point kept.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.cells.iter().copied().flatten()
    }

    /// What points that were left out do not do.
    #[must_use]
    pub fn unwanted(&self) -> String {
        let Selection { only_fitting, conditions } = self.plan.selection;
        let unfit = || format!("does not fit in the usable {}", self.plan.block.setup.usable());
        if conditions.is_empty() {
            return unfit();
        }
        let conditions: Vec<String> = conditions.iter().map(ToString::to_string).collect();
        let or = if *only_fitting { format!(", or {}", unfit()) } else { String::new() };
        format!("does not meet {}{or}", conditions.join(" and "))
    }

    /// Whether some point was left out.
    #[must_use]
    pub fn lacks_points(&self) -> bool {
        self.cells.iter().any(Option::is_none)
    }

    /// Whether all were.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.cells.iter().all(Option::is_none)
    }

    /// What tells the acceptances apart: `alpha`, `curve`, or nothing where there is one that has no alpha.
    #[must_use]
    pub fn acceptance_axis(&self) -> Option<&'static str> {
        let (label, _) = self.acceptances.iter().flatten().next()?;
        match (label.kind, label.curve) {
            (AcceptanceKind::Iid, _) => Some("alpha"),
            (_, Some(_)) => Some("curve"),
            _ => None,
        }
    }

    /// The name of an acceptance on that axis; else its model.
    #[must_use]
    pub fn acceptance(&self, at: usize) -> String {
        match self.acceptances[at] {
            None => String::new(),
            Some((AcceptanceLabel { kind: AcceptanceKind::Iid, .. }, alpha)) => {
                alpha.map_or_else(String::new, shortest)
            }
            Some((AcceptanceLabel { curve: Some(curve), .. }, _)) => curve.to_string(),
            Some((label, _)) => label.kind.to_string(),
        }
    }

    /// The best of every k at positions of the kept batches and acceptances.
    #[must_use]
    pub fn best(&self, batch: usize, acceptance: usize) -> Option<Point> {
        self.best[self.plan.line(batch, acceptance)]
    }
}

impl<'g> PanelPlan<'g> {
    fn new(grid: &'g Grid<'g>, selection: &'g Selection, block_index: usize, context_index: u64) -> Self {
        let block = &grid.blocks[block_index];
        let (batches, acceptances, ks) = (grid.batch.len(), block.acceptances(), block.k.len());
        let kept_acceptances = if acceptances <= WHOLE_ACCEPTANCES { WHOLE_ACCEPTANCES } else { ACCEPTANCES };
        Self {
            block,
            block_index,
            context: grid.context.get(context_index),
            context_index,
            batch: Picked::of(batches, by_factor(batches, BATCHES), |index| grid.batch.get(index)),
            batch_length: batches,
            acceptance: Picked::of(acceptances, evenly(acceptances, kept_acceptances), |index| index),
            k: Picked::of(ks, by_factor(ks, KS), |index| block.k.get(index)),
            selection,
        }
    }

    /// What one draft pass costs; none where drafts are looked up.
    fn ratio(&self, row: &Row<'_>) -> Option<CostRatio> {
        let passes = self.block.setup.layout(row.k, 1.0).map_or(0.0, |layout| layout.draft_passes);
        (passes > 0.0).then(|| CostRatio { batch: row.batch, ratio: row.draft.get() / passes / row.base_step.get() })
    }

    /// Parts of a tile, each a piece of one line of which something is kept.
    fn lines(&self, tile: &Tile) -> Vec<Tile> {
        let one = |index: u64| index..index + 1;
        let batches: Vec<u64> = self.batch.within(&tile.batch).map(|(_, index)| index).collect();
        let acceptances: Vec<u64> = self.acceptance.within(&tile.acceptance).map(|(_, index)| index).collect();
        let starts = tile.k.clone().step_by(PIECE);
        let pieces: Vec<_> = starts.map(|from| from..(from + PIECE as u64).min(tile.k.end)).collect();
        let mut lines = Vec::new();
        for &batch in &batches {
            for &acceptance in &acceptances {
                lines.extend(pieces.iter().map(|k| Tile {
                    block: tile.block,
                    context: one(self.context_index),
                    batch: one(batch),
                    acceptance: one(acceptance),
                    k: k.clone(),
                }));
            }
        }
        lines
    }

    fn line(&self, batch: usize, acceptance: usize) -> usize {
        batch * self.acceptance.count() + acceptance
    }

    fn gather(&self, at: usize, tile: &Tile, rows: &[Row<'_>], into: &mut Gathered) {
        let lengths = [&tile.batch, &tile.acceptance, &tile.k].map(|range| (range.end - range.start) as usize);
        let first = (self.context_index - tile.context.start) as usize * lengths.iter().product::<usize>();
        let kept = |picked: &Picked, range: &std::ops::Range<u64>| -> Vec<(usize, usize)> {
            picked.within(range).map(|(position, index)| (position, (index - range.start) as usize)).collect()
        };
        let (batches, acceptances, ks) =
            (kept(&self.batch, &tile.batch), kept(&self.acceptance, &tile.acceptance), kept(&self.k, &tile.k));
        for &(batch, batch_row) in &batches {
            for &(acceptance, acceptance_row) in &acceptances {
                let start = first + (batch_row * lengths[1] + acceptance_row) * lengths[2];
                let line = &rows[start..start + lengths[2]];
                let index = self.line(batch, acceptance);
                let shown = |row: &Row<'_>| self.selection.keeps(row).then(|| point(row));
                for &(k, k_row) in &ks {
                    into.cells.extend(shown(&line[k_row]).map(|point| (at, index * self.k.count() + k, point)));
                }
                into.best.extend(line.iter().map(shown).fold(None, better).map(|point| (at, index, point)));
                let name = line.first().map(|row| (at, acceptance, row.acceptance.map(|label| (label, row.alpha))));
                into.acceptances.extend(name);
                let drafting = line.iter().find(|row| row.k > 0).and_then(|row| self.ratio(row));
                into.ratio.extend(drafting.map(|ratio| (at, ratio)));
            }
        }
    }
}

fn point(row: &Row<'_>) -> Point {
    Point {
        k: row.k,
        speedup: row.speedup(),
        tokens_per_s: row.tokens_per_s(),
        round: row.round(),
        fits: row.memory.fits,
        carried: row.notes.known != Known::Stated,
    }
}
