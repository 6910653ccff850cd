//! `specplan sweep`: price the grid, stream the rows, then table, charts and manifest.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::SweepArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, no_grid, open};
use crate::cli::publish::{Published, publish};
use crate::cli::streams::{Route, Streams};
use crate::cli::{progress, stop_on_signal, terminal};
use crate::domain::axis::Axis;
use crate::parallel::{Failure, Outcome};
use crate::report::manifest::manifest;
use crate::report::sample::{Gathered, Sample, SamplePlan};
use crate::report::{chart, fragments, json, table, trust};
use crate::sweep::condition::Selection;
use crate::sweep::grid::{Block, Grid, GridError, Tile};
use crate::sweep::row::Row;
use crate::sweep::run::run;
use crate::units::Bytes;
use crate::words::Format;

/// Larger sweeps are refused unless the user says how large they may be.
const MOST_POINTS: u64 = 1_000_000_000;

pub(super) fn sweep(args: &SweepArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open(&args.common)?;
    let grid = grid(args, &loaded)?;
    let selection = Selection { only_fitting: args.only_fitting, conditions: args.conditions.clone() };
    let conditions: Vec<String> = selection.conditions.iter().map(ToString::to_string).collect();
    let options = json!({ "only_fitting": selection.only_fitting, "where": conditions });
    let manifest = manifest("sweep", &loaded.scenario, &inputs(&loaded), &options);

    let stop = stop_on_signal()?;
    let mut results = forms.open(&args.output.out, &loaded.scenario.name, "sweep", args.common.quiet)?;
    let route = |file: bool, format: Format| Route { file, stdout: args.output.format == format };
    let (csv, json) = (route(forms.csv, Format::Csv), route(forms.json, Format::Json));
    let mut streams = Streams::start(csv, json, results.as_ref(), &manifest)?;
    let plan = SamplePlan::new(&grid, &selection);
    let (sample, kept) = price(args, &grid, (&plan, &selection), &mut streams, &stop)?;
    streams.finish(results.as_mut())?;
    if kept == 0 {
        return Err(nothing_left(&grid, &selection));
    }
    let published = match results {
        Some(results) => Some(write_rest(results, &forms, &sample, &loaded, manifest)?),
        None => None,
    };
    let shown = show(args, &sample, &loaded, published.as_ref());
    // The files are there even if standard output could not take the table.
    if !args.common.quiet {
        tell(args, &sample, published.as_ref());
    }
    shown
}

/// The grid, unless it is larger than may be priced.
fn grid<'s>(args: &SweepArgs, loaded: &'s Loaded) -> Result<Grid<'s>, Error> {
    Grid::new(&loaded.scenario, args.max_points.unwrap_or(MOST_POINTS)).map_err(|error| {
        match (error, args.max_points) {
            (error @ GridError::TooManyPoints { .. }, Some(_)) => {
                Error::Usage(format!("{error}: raise --max-points, or take fewer values on an axis"))
            }
            (error, _) => no_grid(&error, loaded),
        }
    })
}

/// What a tile becomes on a worker thread.
struct Piece {
    rows: u64,
    kept: u64,
    csv: Vec<u8>,
    json: Vec<u8>,
    gathered: Gathered,
}

/// Turns the rows of tiles into what is written and kept of them.
struct Maker<'a, 'g> {
    plan: &'a SamplePlan<'g>,
    selection: &'a Selection,
    csv: bool,
    json: bool,
}

impl Maker<'_, '_> {
    fn piece(&self, tile: &Tile, rows: &[Row<'_>]) -> Piece {
        let gathered = self.plan.gather(tile, rows);
        let wanted: Vec<Row<'_>>;
        let kept = if self.selection.keeps_all() {
            rows
        } else {
            wanted = rows.iter().filter(|row| self.selection.keeps(row)).copied().collect();
            &wanted
        };
        Piece {
            rows: rows.len() as u64,
            kept: kept.len() as u64,
            csv: if self.csv { fragments::rows(kept) } else { Vec::new() },
            json: if self.json { json::rows(kept) } else { Vec::new() },
            gathered,
        }
    }
}

/// Prices every tile; rows go to the streams, a sample stays.
fn price<'p, 'g>(
    args: &SweepArgs,
    grid: &'g Grid<'g>,
    (plan, selection): (&'p SamplePlan<'g>, &'p Selection),
    streams: &mut Streams,
    stop: &AtomicBool,
) -> Result<(Sample<'p, 'g>, u64), Error> {
    let (csv, json) = (streams.csv.wanted(), streams.json.wanted());
    let maker = Maker { plan, selection, csv, json };
    let mut sample = Sample::empty(plan);
    let bar = progress::bar(grid.points(), args.common.quiet);
    let mut kept = 0;
    let take = |piece: Piece| {
        streams.csv.write(&piece.csv)?;
        streams.json.write_joined(&piece.json)?;
        sample.absorb(piece.gathered);
        kept += piece.kept;
        bar.inc(piece.rows);
        Ok(())
    };
    let outcome = run(grid, args.common.threads(), stop, |tile, rows| maker.piece(tile, rows), take);
    bar.finish_and_clear();
    match outcome {
        Ok(Outcome::Finished) => Ok((sample, kept)),
        Ok(Outcome::Stopped) => Err(Error::Interrupted),
        Err(Failure::Taken(error)) => Err(error),
        Err(error @ Failure::Threads { .. }) => Err(Error::Internal(error.to_string())),
    }
}

/// What to say when no point is left.
fn nothing_left(grid: &Grid<'_>, selection: &Selection) -> Error {
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

/// Draws the charts and gives every file its name.
fn write_rest(
    mut results: Results,
    forms: &Forms,
    sample: &Sample<'_, '_>,
    loaded: &Loaded,
    manifest: Value,
) -> Result<Published, Error> {
    for form in &forms.charts {
        let charts = chart::charts(sample, &loaded.scenario.title, *form);
        for drawn in charts.map_err(|error| Error::Internal(error.to_string()))? {
            results.add(&drawn.ending, &drawn.bytes)?;
        }
    }
    publish(results, manifest)
}

/// Tables and what to think of them, on standard output.
fn show(
    args: &SweepArgs,
    sample: &Sample<'_, '_>,
    loaded: &Loaded,
    published: Option<&Published>,
) -> Result<(), Error> {
    let title = &loaded.scenario.title;
    let trust = trust::lines(&loaded.scenario);
    let written = published.map(|published| published.written.as_slice()).unwrap_or_default();
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let every_row = names.iter().find(|name| name.ends_with(".csv") || name.ends_with("sweep.json"));
    let rows_in = every_row.map_or("in the files of --write csv or json", String::as_str);
    match args.output.format {
        Format::Text => {
            let style =
                if terminal::color_stdout(args.common.color) { table::Style::Ansi } else { table::Style::Plain };
            let tables = table::render(sample, rows_in, style);
            terminal::print(table::page(title, &tables, &trust, style).as_bytes())
        }
        Format::Md => {
            let tables = table::render(sample, rows_in, table::Style::Markdown);
            terminal::print(table::page(title, &tables, &trust, table::Style::Markdown).as_bytes())
        }
        Format::Csv | Format::Json => {
            if !args.common.quiet {
                trust.iter().for_each(|line| terminal::note(line));
            }
            Ok(())
        }
    }
}

/// What was written and what stands beside it, on standard error.
fn tell(args: &SweepArgs, sample: &Sample<'_, '_>, published: Option<&Published>) {
    let Some(published) = published else { return };
    published.tell();
    if let Some(line) = chart::coverage(sample).filter(|_| args.draws_charts()) {
        terminal::note(&line);
    }
}
