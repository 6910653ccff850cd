//! What rounds yield at the draft lengths of a grid: each expectation worked out once.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::plan::yields::{Yield, yields};
use crate::sweep::grid::{Block, Grid};

/// Expectations of a block beyond this are worked out for each tile anew: they would fill memory.
const MOST_KEPT: u64 = 1 << 20;

/// The expectations of every block, kept from the first time that one is asked for.
#[derive(Debug)]
pub(super) struct Yields<'g> {
    grid: &'g Grid<'g>,
    kept: Vec<OnceLock<Vec<Yield>>>,
}

/// Expectations of the acceptances of a tile, and where its draft lengths are among theirs.
pub(super) struct Expectations<'y> {
    pub(super) of: Cow<'y, [Yield]>,
    pub(super) lengths: Range<usize>,
}

impl<'g> Yields<'g> {
    pub(super) fn new(grid: &'g Grid<'g>) -> Self {
        Self { grid, kept: grid.blocks.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Those of a range of acceptances and draft lengths; none without a drafter.
    pub(super) fn of(
        &self,
        block: usize,
        context: u64,
        acceptance: &Range<u64>,
        k: &Range<u64>,
    ) -> Option<Expectations<'_>> {
        let own = &self.grid.blocks[block];
        let depends = own.drafter?.acceptance.depends_on_context();
        if depends || own.acceptances().saturating_mul(own.k.len()) > MOST_KEPT {
            let of = worked_out(own, context, acceptance, k);
            return Some(Expectations { of: of.into(), lengths: 0..(k.end - k.start) as usize });
        }
        let all = self.kept[block].get_or_init(|| worked_out(own, context, &(0..own.acceptances()), &(0..own.k.len())));
        let of = &all[acceptance.start as usize..acceptance.end as usize];
        Some(Expectations { of: of.into(), lengths: k.start as usize..k.end as usize })
    }
}

fn worked_out(block: &Block<'_>, context: u64, acceptance: &Range<u64>, k: &Range<u64>) -> Vec<Yield> {
    let lengths = || k.clone().map(|index| block.k.get(index));
    let of = |index| block.drafter.map(|drafter| yields(drafter, index, context, lengths()));
    acceptance.clone().filter_map(of).collect()
}
