//! What a sweep writes, and what becomes of a tile on a worker thread.

use std::sync::atomic::AtomicBool;

use crate::parallel::{Failure, Outcome, ordered};
use crate::report::rows::RowForm;
use crate::report::sample::{Gathered, SamplePlan};
use crate::sweep::condition::Selection;
use crate::sweep::grid::{Grid, Tile};
use crate::sweep::row::{self, Row};
use crate::sweep::run::Pricer;
use crate::sweep::shard::Shard;
use crate::sweep::summary::{self, Summary};

/// Of what rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Every point.
    Points,
    /// The best k of each batch, context and acceptance.
    BestK,
    /// All batches of a context and acceptance in one.
    Summary,
}

impl Detail {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::BestK => "best-k",
            Self::Summary => "summary",
        }
    }

    pub(super) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Points | Self::BestK => &row::COLUMNS,
            Self::Summary => &summary::COLUMNS,
        }
    }
}

/// What is to be done: the rows of a grid, or of one share of it.
pub(super) struct Work<'a, 'g> {
    pub(super) grid: &'g Grid<'g>,
    pub(super) pricer: Pricer<'g>,
    pub(super) selection: &'a Selection,
    pub(super) detail: Detail,
    pub(super) shard: Option<Shard>,
    /// Forms of which the rows are made.
    pub(super) forms: Vec<RowForm>,
    /// Whether rows themselves are needed, beside their forms.
    pub(super) keep_rows: bool,
    /// Of what tables and charts are made.
    pub(super) plan: &'a SamplePlan<'g>,
}

/// What a tile becomes on a worker thread.
pub(super) struct Piece<'g> {
    pub(super) points: u64,
    pub(super) rows: u64,
    /// The rows in every form.
    pub(super) bytes: Vec<Vec<u8>>,
    pub(super) kept: Vec<Row<'g>>,
    pub(super) summary: Summary<'g>,
    /// Whether the next tile begins a new context.
    pub(super) ends_context: bool,
    pub(super) gathered: Gathered,
}

impl<'g> Work<'_, 'g> {
    /// The tiles, in the order of rows. Shares of a summary are whole contexts.
    pub(super) fn tiles(&self) -> Box<dyn Iterator<Item = Tile> + Send + '_> {
        let (grid, points) = (self.grid, self.grid.points());
        match (self.detail, self.shard) {
            (Detail::Points, None) => Box::new(grid.tiles()),
            (Detail::Points, Some(shard)) => Box::new(shard.of(points, grid.tiles())),
            (Detail::BestK | Detail::Summary, None) => Box::new(grid.whole_lines()),
            (Detail::BestK, Some(shard)) => Box::new(shard.of(points, grid.whole_lines())),
            (Detail::Summary, Some(shard)) => {
                Box::new(shard.of(points, grid.whole_contexts()).flat_map(|context| context.in_lines()))
            }
        }
    }

    /// How many points they have.
    pub(super) fn points(&self) -> u64 {
        match self.shard {
            None => self.grid.points(),
            Some(_) => self.tiles().map(|tile| tile.rows()).sum(),
        }
    }

    /// The same, but for a tile of a share, without a look at every tile.
    pub(super) fn points_about(&self) -> u64 {
        self.shard.map_or(self.grid.points(), |shard| shard.points(self.grid.points()))
    }

    /// Prices the tiles after the first `skipped`.
    pub(super) fn run<E: Send>(
        &self,
        skipped: u64,
        threads: usize,
        stop: &AtomicBool,
        take: impl FnMut(Piece<'g>) -> Result<(), E> + Send,
    ) -> Result<Outcome, Failure<E>> {
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        ordered(self.tiles().skip(skipped), threads, stop, |tile| self.piece(&tile), take)
    }

    /// What tables and charts take of a tile that was priced before.
    pub(super) fn gathered_again(&self, tile: &Tile) -> Gathered {
        self.plan.gather_lines(tile, |line| self.pricer.rows(line))
    }

    fn piece(&self, tile: &Tile) -> Piece<'g> {
        match self.detail {
            Detail::Points => {
                let rows = self.pricer.rows(tile);
                let gathered = self.plan.gather(tile, &rows);
                self.of_rows(tile, self.wanted(rows), Summary::default(), gathered)
            }
            Detail::BestK => self.of_rows(tile, self.rows(tile), Summary::default(), self.gathered_again(tile)),
            Detail::Summary => {
                let mut summary = Summary::default();
                self.pricer.each_best(tile, self.selection, |best| summary.take(best));
                self.of_rows(tile, Vec::new(), summary, self.gathered_again(tile))
            }
        }
    }

    /// The rows of a tile that are written; a summary writes lines.
    pub(super) fn rows(&self, tile: &Tile) -> Vec<Row<'g>> {
        match self.detail {
            Detail::Points => self.wanted(self.pricer.rows(tile)),
            Detail::BestK => self.pricer.best(tile, self.selection),
            Detail::Summary => Vec::new(),
        }
    }

    fn wanted(&self, mut rows: Vec<Row<'g>>) -> Vec<Row<'g>> {
        if !self.selection.keeps_all() {
            rows.retain(|row| self.selection.keeps(row));
        }
        rows
    }

    fn of_rows(&self, tile: &Tile, rows: Vec<Row<'g>>, summary: Summary<'g>, gathered: Gathered) -> Piece<'g> {
        let block = &self.grid.blocks[tile.block];
        Piece {
            points: tile.rows(),
            rows: rows.len() as u64,
            bytes: self.forms.iter().map(|form| form.rows(&rows)).collect(),
            kept: if self.keep_rows { rows } else { Vec::new() },
            summary,
            ends_context: tile.batch.end == self.grid.batch.len() && tile.acceptance.end == block.acceptances(),
            gathered,
        }
    }
}
