//! Whether the disk has room for what a sweep would write.

use crate::cli::args::SweepArgs;
use crate::cli::error::Error;
use crate::cli::forms::Forms;
use crate::cli::sweep::work::{Detail, Work};
use crate::sweep::grid::{Grid, Tile};
use crate::units::Bytes;

/// Smaller sweeps fit on any disk.
const WORTH_A_LOOK: u64 = 2_000_000;
/// So many pieces of lines tell how many bytes a point takes; prime, so that strides visit every part of an axis.
const PIECES: u64 = 97;
/// Draft lengths of a piece, at most.
const MOST_LENGTHS: u64 = 512;
/// What other programs need of the disk.
const MOST_OF_FREE: f64 = 0.95;

/// Refuses a sweep whose rows would fill the disk; of some points they are there already.
pub(super) fn check(args: &SweepArgs, forms: &Forms, work: &Work<'_, '_>, done: u64) -> Result<(), Error> {
    let all = work.points_about();
    if all < WORTH_A_LOOK || work.detail == Detail::Summary || forms.rows().is_empty() {
        return Ok(());
    }
    // Where free space cannot be told, the disk will tell.
    let Ok(free) = fs4::available_space(&args.output.out) else { return Ok(()) };
    // A share may have a tile more than its part.
    let left = all.saturating_sub(done);
    let need = bytes_per_point(forms, work) * left as f64;
    if need <= MOST_OF_FREE * free as f64 {
        return Ok(());
    }
    let forms: Vec<&str> = forms.rows().iter().map(|form| form.ending()).collect();
    Err(Error::CannotRun(format!(
        "{left} points would write about {} of {} to {}, where {} are free: take --best-k or --summary, leave rows out with --where, price a \
         share of it with --shard, or name another folder with --out",
        Bytes::new(need),
        forms.join(" and "),
        args.output.out.display(),
        Bytes::new(free as f64),
    )))
}

/// Bytes in all files together, by pieces of lines spread over all axes.
fn bytes_per_point(forms: &Forms, work: &Work<'_, '_>) -> f64 {
    let (mut points, mut bytes) = (0, 0);
    for tile in (0..PIECES).map(|piece| spread(work.grid, piece)) {
        let rows = work.rows(&tile);
        points += tile.rows();
        bytes += forms.rows().iter().map(|form| form.rows(&rows).len() as u64).sum::<u64>();
    }
    bytes as f64 / points.max(1) as f64
}

/// One of [`PIECES`] pieces of a grid, each axis visited evenly, the faster ones in other orders than the slower.
fn spread(grid: &Grid<'_>, piece: u64) -> Tile {
    let at = |length: u64, stride: u64| {
        let place = u128::from(piece * stride % PIECES) * u128::from(length) / u128::from(PIECES);
        place as u64
    };
    let one = |index: u64| index..index + 1;
    let block = at(grid.blocks.len() as u64, 1) as usize;
    let (acceptances, k) = (grid.blocks[block].acceptances(), grid.blocks[block].k.len());
    Tile {
        block,
        context: one(at(grid.context.len(), 5)),
        batch: one(at(grid.batch.len(), 11)),
        acceptance: one(at(acceptances, 23)),
        k: 0..k.min(MOST_LENGTHS),
    }
}
