//! What a sweep comes to: up to which batch speculation pays at each context and acceptance, and what it gains at most.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::sweep::best::{Best, choice};
use crate::sweep::row::{Cell, Row};

/// The columns of a summary, in order.
pub const COLUMNS: [&str; 17] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "roofline",
    "tensor_parallel",
    "context",
    "acceptance",
    "alpha",
    "batches",
    "batches_that_pay",
    "pays_from_batch",
    "pays_to_batch",
    "best_batch",
    "best_k",
    "best_speedup",
    "least_speedup",
];

/// All batches of one acceptance at one context, each at its best draft length.
///
/// A batch pays at its best draft length if that is not 0, it fits in memory and speedup is above 1. Batches that pay are those swept, of
/// which some between [`Self::pays_from`] and [`Self::pays_to`] may not: compare how many pay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'g> {
    /// The best of all.
    pub best: Row<'g>,
    /// Batches of which some draft length is wanted.
    pub batches: u64,
    /// Those that pay.
    pub that_pay: u64,
    /// The smallest that pays.
    pub pays_from: Option<u64>,
    /// The largest that pays.
    pub pays_to: Option<u64>,
    /// The smallest of the best speedups of batches.
    pub least_speedup: f64,
}

/// Lines of one block, while their batches come in.
#[derive(Debug, Default)]
pub struct Summary<'g> {
    /// By context and acceptance.
    lines: BTreeMap<(u64, u64), Line<'g>>,
}

impl<'g> Summary<'g> {
    /// Takes the best of one batch.
    pub fn take(&mut self, best: &Best<'_, 'g>) {
        let key = (best.context, best.acceptance);
        self.lines.entry(key).or_insert_with(|| Line::before(best.row())).add(best);
    }

    /// Takes batches that come after its own.
    pub fn merge(&mut self, later: Self) {
        for (key, line) in later.lines {
            match self.lines.entry(key) {
                Entry::Vacant(free) => drop(free.insert(line)),
                Entry::Occupied(mut known) => known.get_mut().merge(&line),
            }
        }
    }

    /// The lines, when every batch of their contexts has come in, in the order of rows.
    pub fn finish(&mut self) -> Vec<Line<'g>> {
        std::mem::take(&mut self.lines).into_values().collect()
    }
}

impl<'g> Line<'g> {
    /// Before any batch has come in, of which this will be the first.
    const fn before(best: Row<'g>) -> Self {
        Self { best, batches: 0, that_pay: 0, pays_from: None, pays_to: None, least_speedup: f64::INFINITY }
    }

    fn add(&mut self, best: &Best<'_, 'g>) {
        self.batches += 1;
        if best.k() > 0 && best.fits() && best.speedup > 1.0 {
            let batch = best.batch();
            self.that_pay += 1;
            self.pays_from = Some(self.pays_from.map_or(batch, |from| from.min(batch)));
            self.pays_to = self.pays_to.max(Some(batch));
        }
        self.least_speedup = self.least_speedup.min(best.speedup);
        if self.is_below((best.fits(), best.speedup, best.k()), best.batch()) {
            self.best = best.row();
        }
    }

    /// Whether a point is the better choice; of equals the smaller batch is.
    fn is_below(&self, point: (bool, f64, u64), batch: u64) -> bool {
        let own = (self.best.memory.fits, self.best.speedup(), self.best.k);
        choice(own, point).then(batch.cmp(&self.best.batch)).is_lt()
    }

    fn merge(&mut self, later: &Self) {
        self.batches += later.batches;
        self.that_pay += later.that_pay;
        self.pays_from = [self.pays_from, later.pays_from].into_iter().flatten().min();
        self.pays_to = self.pays_to.max(later.pays_to);
        self.least_speedup = self.least_speedup.min(later.least_speedup);
        let best = &later.best;
        if self.is_below((best.memory.fits, best.speedup(), best.k), best.batch) {
            self.best = *best;
        }
    }

    /// The cells, in the order of [`COLUMNS`].
    #[must_use]
    pub fn cells(&self) -> [Cell<'g>; COLUMNS.len()] {
        let of_row = self.best.cells();
        let named = |name: &str| {
            let at = crate::sweep::row::COLUMNS.iter().position(|column| *column == name);
            at.map_or(Cell::Empty, |at| of_row[at])
        };
        let batch = |batch: Option<u64>| batch.map_or(Cell::Empty, Cell::Integer);
        COLUMNS.map(|column| match column {
            "batches" => Cell::Integer(self.batches),
            "batches_that_pay" => Cell::Integer(self.that_pay),
            "pays_from_batch" => batch(self.pays_from),
            "pays_to_batch" => batch(self.pays_to),
            "best_batch" => Cell::Integer(self.best.batch),
            "best_k" => Cell::Integer(self.best.k),
            "best_speedup" => Cell::Number(self.best.speedup()),
            "least_speedup" => Cell::Number(self.least_speedup),
            of_row => named(of_row),
        })
    }
}
