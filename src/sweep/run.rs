//! Prices the tiles of a grid, on several threads, and hands the rows over in order.

use std::sync::atomic::AtomicBool;

use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::round::{Round, plain_step, round};
use crate::plan::setup::{Footprint, PassCost};
use crate::plan::yields::{Known, Yield, yields};
use crate::sweep::grid::{Block, Grid, Tile};
use crate::sweep::row::{Bounds, MemoryUse, Notes, Row};

/// Prices every tile. `make` turns the rows of a tile into what the caller needs, on the worker
/// threads; `take` gets that in row order.
///
/// # Errors
///
/// What `take` refused, or that no threads started.
pub fn run<R: Send, E: Send>(
    grid: &Grid<'_>,
    threads: usize,
    stop: &AtomicBool,
    make: impl Fn(&Tile, &[Row<'_>]) -> R + Sync,
    take: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<Outcome, Failure<E>> {
    ordered(grid.tiles(), threads, stop, |tile: Tile| make(&tile, &rows(grid, &tile)), take)
}

/// The rows of a tile.
///
/// Step times are worked out once for each (context, batch, k) and tokens once for each
/// (acceptance, k), and for each context where acceptance depends on it; a row joins the two. Without a drafter a pass yields one token.
#[must_use]
pub fn rows<'g>(grid: &'g Grid<'_>, tile: &Tile) -> Vec<Row<'g>> {
    let block = &grid.blocks[tile.block];
    let yields = |context| tile.acceptance.clone().map(|index| yield_of(block, tile, index, context)).collect();
    let varies = block.drafter.is_some_and(|drafter| drafter.acceptance.depends_on_context());
    let mut yields_here: Vec<Option<Yield>> = Vec::new();
    let mut rows = Vec::with_capacity(tile.rows() as usize);
    for context in tile.context.clone().map(|index| grid.context.get(index)) {
        if varies || yields_here.is_empty() {
            yields_here = yields(context);
        }
        for batch in tile.batch.clone().map(|index| grid.batch.get(index)) {
            let at = Place { block, batch, context };
            // Where drafts are looked up, what is verified depends on what is accepted.
            let shared = if block.setup.looks_up() { None } else { Some(at.costs(tile, None)) };
            for yielded in &yields_here {
                let own = || at.costs(tile, yielded.as_ref());
                match (&shared, yielded) {
                    (Some(costs), None) => rows.extend_from_slice(costs),
                    (Some(costs), Some(yielded)) => rows.extend(joined(costs, yielded)),
                    (None, None) => rows.extend(own()),
                    (None, Some(yielded)) => rows.extend(joined(&own(), yielded)),
                }
            }
        }
    }
    rows
}

/// What the rounds of a tile yield under one acceptance at a context; none without a drafter.
fn yield_of(block: &Block<'_>, tile: &Tile, index: u64, context: u64) -> Option<Yield> {
    Some(yields(block.drafter?, index, context, tile.k.clone().map(|k| block.k.get(k))))
}

/// One batch and context of a block.
struct Place<'g, 's> {
    block: &'g Block<'s>,
    batch: u64,
    context: u64,
}

impl<'g> Place<'g, '_> {
    /// The rows of every k as far as acceptance plays no part but in the width of what is verified.
    fn costs(&self, tile: &Tile, yielded: Option<&Yield>) -> Vec<Row<'g>> {
        let plain = plain_step(&self.block.setup, self.batch as f64, self.context as f64);
        let base = self.block.setup.base_memory(self.batch, self.context);
        let tokens = |at: usize| yielded.map_or(1.0, |yielded| yielded.tokens_per_pass[at]);
        let lengths = tile.k.clone().map(|index| self.block.k.get(index));
        lengths.enumerate().map(|(at, k)| self.cost(k, tokens(at), &plain, &base)).collect()
    }

    fn cost(&self, k: u64, tokens: f64, plain: &PassCost, base: &Footprint) -> Row<'g> {
        let (block, batch, context) = (self.block, self.batch, self.context);
        let share = block.setup.proposing_share(tokens, k);
        let Round { draft, draft_bound, verify_width, verify, fixed, token } =
            round(&block.setup, plain, batch as f64, context as f64, k, share);
        let speculative = block.setup.memory(batch, context, k);
        Row {
            labels: block.labels,
            batch,
            ranks: block.setup.ranks(),
            context,
            k,
            verify_width,
            acceptance: None,
            alpha: None,
            tokens_per_pass: 1.0,
            base_step: plain.seconds(),
            draft,
            verify: verify.seconds(),
            fixed,
            token,
            bounds: Bounds { base: plain.bound(), draft: draft_bound, verify: verify.bound() },
            memory: MemoryUse {
                base: base.total(),
                speculative: speculative.total(),
                base_fits: block.setup.fits(base),
                fits: block.setup.fits(&speculative),
            },
            notes: Notes {
                known: Known::Stated,
                unvalidated: k > 0 && block.is_unvalidated(batch, context, k),
                beyond: block.beyond(batch, context, k),
            },
        }
    }
}

fn joined<'g>(costs: &[Row<'g>], yielded: &Yield) -> impl Iterator<Item = Row<'g>> {
    let yields = yielded.tokens_per_pass.iter().zip(&yielded.known);
    costs.iter().zip(yields).map(|(cost, (&tokens_per_pass, &known))| Row {
        acceptance: Some(yielded.acceptance),
        alpha: yielded.alpha,
        tokens_per_pass,
        notes: Notes { known, ..cost.notes },
        ..*cost
    })
}
