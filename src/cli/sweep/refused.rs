//! Sweeps that are too large, and sweeps that leave nothing.

use crate::catalog::load::Loaded;
use crate::cli::args::SweepArgs;
use crate::cli::error::Error;
use crate::cli::opening::no_grid;
use crate::domain::axis::Axis;
use crate::sweep::condition::Selection;
use crate::sweep::grid::{Block, Grid, GridError};
use crate::units::Bytes;

/// Larger sweeps are refused unless the user says how large they may be.
const MOST_POINTS: u64 = 1_000_000_000;

/// The grid, unless it is larger than may be priced.
pub(super) fn grid<'s>(args: &SweepArgs, loaded: &'s Loaded) -> Result<Grid<'s>, Error> {
    Grid::new(&loaded.scenario, args.max_points.unwrap_or(MOST_POINTS)).map_err(|error| {
        match (error, args.max_points) {
            (error @ GridError::TooManyPoints { .. }, Some(_)) => {
                Error::Usage(format!("{error}: raise --max-points, or take fewer values on an axis"))
            }
            (error, _) => no_grid(&error, loaded),
        }
    })
}

/// What to say when no point is left.
pub(super) fn nothing_left(grid: &Grid<'_>, selection: &Selection) -> Error {
    if selection.conditions.is_empty() {
        return nothing_fits(grid);
    }
    let conditions: Vec<String> = selection.conditions.iter().map(|condition| format!("`{condition}`")).collect();
    let fit = if selection.only_fitting { ", and fits in memory" } else { "" };
    Error::CannotRun(format!(
        "no point meets {}{fit}: loosen a condition of --where, or widen the axes of [sweep]",
        conditions.join(" and ")
    ))
}

/// What to say when `--only-fitting` leaves nothing: the point that comes closest, and what would help.
fn nothing_fits(grid: &Grid<'_>) -> Error {
    let least = |axis: &Axis<u64>| axis.iter().min().unwrap_or(0);
    let (batch, context) = (least(grid.batch), least(grid.context));
    let need = |block: &Block<'_>| (block.setup.memory(batch, context, least(&block.k)).total(), block.setup.usable());
    let short = |(need, usable): &(Bytes, Bytes)| need.get() - usable.get();
    let closest = grid.blocks.iter().map(need).min_by(|a, b| short(a).total_cmp(&short(b)));
    let figures = closest.map_or_else(String::new, |(need, usable)| format!(": at best {need} are needed of {usable}"));
    Error::CannotRun(format!(
        "no point fits in memory{figures}; take a smaller batch or context, or change [memory] utilization and reserve"
    ))
}
