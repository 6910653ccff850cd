//! Prices the tiles of a grid.

use std::ops::Range;

use crate::plan::round::{Round, plain_step, round};
use crate::plan::setup::{Footprint, PassCost};
use crate::plan::yields::{AcceptanceLabel, Known, Yield};
use crate::sweep::grid::{Block, Grid, Tile};
use crate::sweep::row::{Bounds, MemoryUse, Notes, Row};
use crate::sweep::yields::Yields;

/// Prices the tiles of a grid.
#[derive(Debug)]
pub struct Pricer<'g> {
    pub(super) grid: &'g Grid<'g>,
    pub(super) yields: Yields<'g>,
}

impl<'g> Pricer<'g> {
    /// For a grid.
    #[must_use]
    pub fn new(grid: &'g Grid<'g>) -> Self {
        Self { grid, yields: Yields::new(grid) }
    }

    /// The rows of a tile.
    ///
    /// Step times are worked out once for each (context, batch, k) and tokens once for each
    /// (acceptance, k), and for each context where acceptance depends on it; a row joins the two. Without a drafter a pass yields one token.
    #[must_use]
    pub fn rows(&self, tile: &Tile) -> Vec<Row<'g>> {
        let block = &self.grid.blocks[tile.block];
        let mut rows = Vec::with_capacity(tile.rows() as usize);
        for context in tile.context.clone().map(|index| self.grid.context.get(index)) {
            let known = self.yields.of(tile.block, context, &tile.acceptance, &tile.k);
            for batch in tile.batch.clone().map(|index| self.grid.batch.get(index)) {
                let at = Place::new(block, batch, context);
                match &known {
                    None => rows.extend(at.costs(&tile.k, |_| 1.0)),
                    // Where drafts are looked up, what is verified depends on what is accepted.
                    Some(known) if block.setup.looks_up() => {
                        for of in known.of.iter().map(|of| Expected::of(of, &known.lengths)) {
                            rows.extend(joined(&at.costs(&tile.k, |at| of.tokens_per_pass[at]), of));
                        }
                    }
                    Some(known) => {
                        let costs = at.costs(&tile.k, |_| 1.0);
                        for of in known.of.iter().map(|of| Expected::of(of, &known.lengths)) {
                            rows.extend(joined(&costs, of));
                        }
                    }
                }
            }
        }
        rows
    }
}

/// What the rounds of one acceptance yield at some draft lengths.
#[derive(Clone, Copy)]
pub(super) struct Expected<'y> {
    acceptance: AcceptanceLabel,
    alpha: Option<f64>,
    pub(super) tokens_per_pass: &'y [f64],
    known: &'y [Known],
}

impl<'y> Expected<'y> {
    pub(super) fn of(all: &'y Yield, lengths: &Range<usize>) -> Self {
        let Yield { acceptance, alpha, tokens_per_pass, known } = all;
        let here = lengths.clone();
        Self {
            acceptance: *acceptance,
            alpha: *alpha,
            tokens_per_pass: &tokens_per_pass[here.clone()],
            known: &known[here],
        }
    }
}

/// One batch and context of a block.
pub(super) struct Place<'g> {
    block: &'g Block<'g>,
    batch: u64,
    context: u64,
    plain: PassCost,
    base: Footprint,
}

impl<'g> Place<'g> {
    pub(super) fn new(block: &'g Block<'g>, batch: u64, context: u64) -> Self {
        let plain = plain_step(&block.setup, batch as f64, context as f64);
        Self { block, batch, context, plain, base: block.setup.base_memory(batch, context) }
    }

    /// The rows of some k as far as acceptance plays no part but in the width of what is verified; `tokens` are those per pass by position.
    pub(super) fn costs(&self, k: &Range<u64>, tokens: impl Fn(usize) -> f64) -> Vec<Row<'g>> {
        let lengths = k.clone().map(|index| self.block.k.get(index));
        lengths.enumerate().map(|(at, k)| self.cost(k, tokens(at))).collect()
    }

    fn cost(&self, k: u64, tokens: f64) -> Row<'g> {
        let Self { block, batch, context, ref plain, ref base } = *self;
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

/// Rows with what is accepted at their draft lengths.
pub(super) fn joined<'g>(costs: &[Row<'g>], of: Expected<'_>) -> impl Iterator<Item = Row<'g>> {
    costs.iter().enumerate().map(move |(at, cost)| accepting(cost, of, at))
}

/// A row with what is accepted at the draft length of a position.
pub(super) fn accepting<'g>(cost: &Row<'g>, of: Expected<'_>, at: usize) -> Row<'g> {
    Row {
        acceptance: Some(of.acceptance),
        alpha: of.alpha,
        tokens_per_pass: of.tokens_per_pass[at],
        notes: Notes { known: of.known[at], ..cost.notes },
        ..*cost
    }
}
