//! `specplan sweep`: price the grid, stream the rows, then table, charts and manifest.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::catalog::load::{Loaded, Request, load};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::{CommonArgs, SweepArgs};
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::publish::publish;
use crate::cli::streams::{Route, Streams};
use crate::cli::{progress, stop_on_signal, terminal};
use crate::diagnostic::{Diagnostic, render};
use crate::parallel::{Failure, Outcome};
use crate::report::manifest::{Input, manifest};
use crate::report::sample::{Gathered, Sample, SamplePlan};
use crate::report::{self, chart, json, table, trust};
use crate::sweep::grid::{Grid, Tile};
use crate::sweep::row::Row;
use crate::sweep::run::run;
use crate::words::{FileForm, Format};

/// Larger sweeps are refused unless the user says how large they may be.
const MOST_POINTS: u64 = 1_000_000_000;

pub(super) fn sweep(args: &SweepArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.write)?;
    let loaded = open(&args.common)?;
    let grid = Grid::new(&loaded.scenario)
        .map_err(|error| Error::Input(vec![Diagnostic::error("missing-figure", error.to_string())]))?;
    let points = points(args, &loaded, &grid)?;
    let options = json!({ "only_fitting": args.only_fitting });
    let manifest = manifest("sweep", &loaded.scenario, &inputs(&loaded), &options);

    let stop = stop_on_signal()?;
    let mut results = match forms.any {
        true => Some(Results::open(&args.out, &loaded.scenario.name, "sweep")?),
        false => None,
    };
    let route = |file: bool, format: Format| Route { file, stdout: args.format == format };
    let (csv, json) = (route(forms.csv, Format::Csv), route(forms.json, Format::Json));
    let mut streams = Streams::start(csv, json, results.as_ref(), &manifest)?;
    let plan = SamplePlan::new(&grid, args.only_fitting);
    let sample = price(args, &grid, &plan, points, &mut streams, &stop)?;
    streams.finish(results.as_mut())?;
    let written = match results {
        Some(results) => write_rest(results, &forms, &sample, &loaded, manifest)?,
        None => Vec::new(),
    };
    show(args, &sample, &loaded, &written)
}

/// Reads the scenario and tells its warnings.
fn open(common: &CommonArgs) -> Result<Loaded, Error> {
    if let Some(catalog) = common.catalog.as_ref().filter(|catalog| !catalog.is_dir()) {
        return Err(Error::Usage(format!("--catalog {}: there is no such folder", catalog.display())));
    }
    let path = SearchPath { catalog: common.catalog.clone() };
    let changes = common.changes();
    let request = Request { scenario: &common.scenario, changes: &changes, seed: common.seed };
    let loaded = load(&path, &request).map_err(Error::Input)?;
    if !loaded.warnings.is_empty() && !common.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(common.color)));
    }
    Ok(loaded)
}

/// The number of points, unless it is beyond what may be priced.
fn points(args: &SweepArgs, loaded: &Loaded, grid: &Grid<'_>) -> Result<u64, Error> {
    grid.points(args.max_points.unwrap_or(MOST_POINTS)).map_err(|error| match args.max_points {
        Some(_) => Error::Usage(format!("{error}: raise --max-points, or take fewer values on an axis")),
        None => {
            let hint = "take fewer values on an axis, or raise --max-points";
            let found = Diagnostic::error("too-many-points", error.to_string()).hint(hint);
            Error::Input(vec![loaded.longest_axis.iter().fold(found, Diagnostic::at)])
        }
    })
}

fn inputs(loaded: &Loaded) -> Vec<Input<'_>> {
    loaded.inputs.iter().map(|input| Input { kind: input.kind, id: &input.id, text: &input.source.text }).collect()
}

/// Which files to write.
struct Forms {
    any: bool,
    csv: bool,
    json: bool,
    charts: Vec<chart::Form>,
}

impl Forms {
    fn of(write: &[FileForm]) -> Result<Self, Error> {
        let has = |form| write.contains(&form);
        if has(FileForm::None) && write.iter().any(|form| *form != FileForm::None) {
            return Err(Error::Usage("--write none goes with no other form".to_owned()));
        }
        if let Some(form) = [FileForm::Parquet, FileForm::Xlsx, FileForm::Html].into_iter().find(|form| has(*form)) {
            let message = format!("--write {form}: this version does not write that form; use csv, json, png or svg");
            return Err(Error::Usage(message));
        }
        let chart = |file, form| has(file).then_some(form);
        let charts = [chart(FileForm::Png, chart::Form::Png), chart(FileForm::Svg, chart::Form::Svg)];
        Ok(Self {
            any: !has(FileForm::None),
            csv: has(FileForm::Csv),
            json: has(FileForm::Json),
            charts: charts.into_iter().flatten().collect(),
        })
    }
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
    only_fitting: bool,
    csv: bool,
    json: bool,
}

impl Maker<'_, '_> {
    fn piece(&self, tile: &Tile, rows: &[Row<'_>]) -> Result<Piece, Error> {
        let gathered = self.plan.gather(tile, rows);
        let fitting: Vec<Row<'_>>;
        let kept = if self.only_fitting {
            fitting = rows.iter().filter(|row| row.memory.fits).copied().collect();
            &fitting
        } else {
            rows
        };
        let csv = if self.csv { report::csv::rows(kept) } else { Ok(Vec::new()) };
        Ok(Piece {
            rows: rows.len() as u64,
            kept: kept.len() as u64,
            csv: csv.map_err(|error| Error::Internal(error.to_string()))?,
            json: if self.json { json::rows(kept) } else { Vec::new() },
            gathered,
        })
    }
}

/// Prices every tile; rows go to the streams, a sample stays.
fn price<'p, 'g>(
    args: &SweepArgs,
    grid: &'g Grid<'g>,
    plan: &'p SamplePlan<'g>,
    points: u64,
    streams: &mut Streams,
    stop: &AtomicBool,
) -> Result<Sample<'p, 'g>, Error> {
    let (csv, json) = (streams.csv.wanted(), streams.json.wanted());
    let maker = Maker { plan, only_fitting: args.only_fitting, csv, json };
    let mut sample = Sample::empty(plan);
    let bar = progress::bar(points, args.common.quiet);
    let mut kept = 0;
    let take = |piece: Result<Piece, Error>| {
        let piece = piece?;
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
        Ok(Outcome::Finished) if kept == 0 => {
            Err(Error::CannotRun("no point fits in memory: nothing is left to show (--only-fitting)".to_owned()))
        }
        Ok(Outcome::Finished) => Ok(sample),
        Ok(Outcome::Stopped) => Err(Error::Interrupted),
        Err(Failure::Taken(error)) => Err(error),
        Err(error @ Failure::Threads { .. }) => Err(Error::Internal(error.to_string())),
    }
}

/// Draws the charts and gives every file its name; returns the names.
fn write_rest(
    mut results: Results,
    forms: &Forms,
    sample: &Sample<'_, '_>,
    loaded: &Loaded,
    manifest: Value,
) -> Result<Vec<String>, Error> {
    for form in &forms.charts {
        let charts = chart::charts(sample, &loaded.scenario.title, *form);
        for drawn in charts.map_err(|error| Error::Internal(error.to_string()))? {
            results.add(&drawn.ending, &drawn.bytes)?;
        }
    }
    let published = publish(results, manifest)?;
    Ok(published.iter().map(|path| path.display().to_string()).collect())
}

/// Tables and what to think of them.
fn show(args: &SweepArgs, sample: &Sample<'_, '_>, loaded: &Loaded, written: &[String]) -> Result<(), Error> {
    let scenario = &loaded.scenario;
    let trust = trust::lines(scenario);
    let every_row = written.iter().find(|name| name.ends_with(".csv") || name.ends_with("sweep.json"));
    let rows_in = every_row.map_or("--write csv", String::as_str);
    match args.format {
        Format::Text => {
            let style =
                if terminal::color_stdout(args.common.color) { table::Style::Ansi } else { table::Style::Plain };
            let tables = table::render(sample, rows_in, style);
            terminal::print(format!("{}\n\n{tables}\n\n{}\n", scenario.title, trust.join("\n")).as_bytes())?;
        }
        Format::Md => {
            let tables = table::render(sample, rows_in, table::Style::Markdown);
            let trust: Vec<String> = trust.iter().map(|line| format!("- {line}")).collect();
            terminal::print(format!("## {}\n\n{tables}\n\n{}\n", scenario.title, trust.join("\n")).as_bytes())?;
        }
        Format::Csv | Format::Json if !args.common.quiet => trust.iter().for_each(|line| terminal::note(line)),
        Format::Csv | Format::Json => {}
    }
    if !args.common.quiet {
        written.iter().for_each(|name| terminal::note(&format!("wrote {name}")));
    }
    Ok(())
}
