//! Prices the tiles of a grid, on several threads, and hands the rows over in order.

use std::sync::atomic::AtomicBool;

use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::round::{Round, plain_step, round};
use crate::plan::yields::{Yield, yields};
use crate::sweep::grid::{Block, Grid, Tile};
use crate::sweep::row::{Bounds, MemoryUse, Row};

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
/// (acceptance, k); a row joins the two. Without a drafter a pass yields one token.
#[must_use]
pub fn rows<'g>(grid: &'g Grid<'_>, tile: &Tile) -> Vec<Row<'g>> {
    let block = &grid.blocks[tile.block];
    let yields: Vec<Option<Yield>> = tile.acceptance.clone().map(|index| yield_of(block, tile, index)).collect();
    let mut rows = Vec::with_capacity(tile.rows() as usize);
    for context in tile.context.clone().map(|index| grid.context.get(index)) {
        for batch in tile.batch.clone().map(|index| grid.batch.get(index)) {
            let costs = costs(block, tile, batch, context);
            for yielded in &yields {
                match yielded {
                    Some(yielded) => rows.extend(joined(&costs, yielded)),
                    None => rows.extend_from_slice(&costs),
                }
            }
        }
    }
    rows
}

/// What the rounds of a tile yield under one acceptance; none without a drafter.
fn yield_of(block: &Block<'_>, tile: &Tile, index: u64) -> Option<Yield> {
    Some(yields(block.drafter?, index, tile.k.clone().map(|k| block.k.get(k))))
}

/// The rows of one batch and context as far as acceptance plays no part.
fn costs<'g>(block: &'g Block<'_>, tile: &Tile, batch: u64, context: u64) -> Vec<Row<'g>> {
    let plain = plain_step(&block.setup, batch as f64, context as f64);
    let base = block.setup.base_memory(batch, context);
    let base_fits = block.setup.fits(&base);
    let at = |k: u64| {
        let Round { draft, draft_bound, verify, overhead } =
            round(&block.setup, &plain, batch as f64, context as f64, k);
        let speculative = block.setup.memory(batch, context, k);
        Row {
            labels: block.labels,
            batch,
            context,
            k,
            verify_width: k as f64 + 1.0,
            acceptance: None,
            alpha: None,
            tokens_per_pass: 1.0,
            base_step: plain.seconds(),
            draft,
            verify: verify.seconds(),
            overhead,
            bounds: Bounds { base: plain.bound(), draft: draft_bound, verify: verify.bound() },
            memory: MemoryUse {
                base: base.total(),
                speculative: speculative.total(),
                base_fits,
                fits: block.setup.fits(&speculative),
            },
        }
    };
    tile.k.clone().map(|index| at(block.k.get(index))).collect()
}

fn joined<'g>(costs: &[Row<'g>], yielded: &Yield) -> impl Iterator<Item = Row<'g>> {
    costs.iter().zip(&yielded.tokens_per_pass).map(|(cost, &tokens_per_pass)| Row {
        acceptance: Some(yielded.acceptance),
        alpha: yielded.alpha,
        tokens_per_pass,
        ..*cost
    })
}
