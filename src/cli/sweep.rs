//! `specplan sweep`: price the grid, stream the rows, then table, charts and manifest.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::catalog::load::{Loaded, Request, load};
use crate::catalog::lookup::Places;
use crate::cli::args::{CommonArgs, SweepArgs};
use crate::cli::error::Error;
use crate::cli::files::{Growing, Results};
use crate::cli::publish::publish;
use crate::cli::{progress, terminal};
use crate::diagnostic::{Diagnostic, render};
use crate::parallel::{Failure, Outcome};
use crate::report::manifest::{Input, manifest};
use crate::report::sample::{Gathered, Sample};
use crate::report::{self, chart, json, table, trust};
use crate::sweep::grid::{Grid, Tile};
use crate::sweep::row::Row;
use crate::sweep::run::run;
use crate::words::{FileForm, Format};

pub(super) fn sweep(args: &SweepArgs, stop: &AtomicBool) -> Result<(), Error> {
    let forms = Forms::of(&args.write)?;
    let loaded = open(&args.common)?;
    let scenario = &loaded.scenario;
    let grid = Grid::new(scenario)
        .map_err(|error| Error::Input(vec![Diagnostic::error("missing-figure", error.to_string())]))?;
    let points = grid.points(args.max_points).map_err(|error| {
        let hint = "take fewer values on an axis, or raise --max-points";
        let found = Diagnostic::error("too-many-points", error.to_string()).hint(hint);
        Error::Input(vec![loaded.longest_axis.iter().fold(found, Diagnostic::at)])
    })?;
    let options = json!({ "only_fitting": args.only_fitting });
    let manifest = manifest("sweep", scenario, &inputs(&loaded), &options);

    let mut results = match forms.any {
        true => Some(Results::open(&args.out, &scenario.name, "sweep")?),
        false => None,
    };
    let mut streams = Streams::start(args, &forms, results.as_ref(), &manifest)?;
    let sample = price(args, &grid, points, &mut streams, stop)?;
    streams.finish(results.as_mut())?;

    let mut published = Vec::new();
    if let Some(mut results) = results {
        for form in &forms.charts {
            for drawn in
                chart::charts(&sample, &scenario.title, *form).map_err(|error| Error::Internal(error.to_string()))?
            {
                results.add(&drawn.ending, &drawn.bytes)?;
            }
        }
        published = publish(results, manifest)?;
    }
    let names: Vec<String> = published.iter().map(|path| path.display().to_string()).collect();
    show(args, &sample, &loaded, &names)
}

/// Reads the scenario and tells its warnings.
fn open(common: &CommonArgs) -> Result<Loaded, Error> {
    if let Some(catalog) = common.catalog.as_ref().filter(|catalog| !catalog.is_dir()) {
        return Err(Error::Usage(format!("--catalog {}: there is no such folder", catalog.display())));
    }
    let places = Places { catalog: common.catalog.clone() };
    let changes = common.changes();
    let request = Request { scenario: &common.scenario, changes: &changes, seed: common.seed };
    let loaded = load(&places, &request).map_err(Error::Input)?;
    if !loaded.warnings.is_empty() && !common.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(common.color)));
    }
    Ok(loaded)
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

/// Prices every tile; rows go to the streams, a sample stays.
fn price<'g>(
    args: &SweepArgs,
    grid: &'g Grid<'g>,
    points: u64,
    streams: &mut Streams,
    stop: &AtomicBool,
) -> Result<Sample<'g>, Error> {
    let mut sample = Sample::plan(grid, args.only_fitting);
    let plan = Sample::plan(grid, args.only_fitting);
    let (wants_csv, wants_json) = (streams.csv.wanted(), streams.json.wanted());
    let make = |tile: &Tile, rows: &[Row<'_>]| -> Result<Piece, Error> {
        let gathered = plan.gather(tile, rows);
        let fitting: Vec<Row<'_>>;
        let kept = if args.only_fitting {
            fitting = rows.iter().filter(|row| row.memory.fits).copied().collect();
            &fitting
        } else {
            rows
        };
        let csv = if wants_csv {
            report::csv::rows(kept).map_err(|error| Error::Internal(error.to_string()))?
        } else {
            Vec::new()
        };
        let json = if wants_json { json::rows(kept) } else { Vec::new() };
        Ok(Piece { rows: rows.len() as u64, kept: kept.len() as u64, csv, json, gathered })
    };
    let bar = progress::bar(points, args.common.quiet);
    let mut kept = 0;
    let outcome = run(grid, args.common.threads(), stop, make, |piece: Result<Piece, Error>| {
        let piece = piece?;
        streams.csv.write(&piece.csv)?;
        streams.json.write_joined(&piece.json)?;
        sample.absorb(piece.gathered);
        kept += piece.kept;
        bar.inc(piece.rows);
        Ok(())
    });
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

/// Where rows go while they are priced.
struct Streams {
    csv: Stream,
    json: Stream,
}

/// One form of rows, to a file, to standard output, to both or nowhere.
struct Stream {
    file: Option<Growing>,
    stdout: bool,
    empty: bool,
}

impl Streams {
    fn start(args: &SweepArgs, forms: &Forms, results: Option<&Results>, manifest: &Value) -> Result<Self, Error> {
        let open = |wanted: bool, ending: &str, stdout: bool| -> Result<Stream, Error> {
            let file = results.filter(|_| wanted).map(|results| results.start(ending)).transpose()?;
            Ok(Stream { file, stdout, empty: true })
        };
        let mut csv = open(forms.csv, "csv", args.format == Format::Csv)?;
        let mut json = open(forms.json, "json", args.format == Format::Json)?;
        csv.write(&report::csv::header().map_err(|error| Error::Internal(error.to_string()))?)?;
        json.write(&json::head(manifest))?;
        Ok(Self { csv, json })
    }

    fn finish(mut self, results: Option<&mut Results>) -> Result<(), Error> {
        self.json.write(&json::tail())?;
        if let Some(results) = results {
            for file in [self.csv.file, self.json.file].into_iter().flatten() {
                results.finish(file)?;
            }
        }
        Ok(())
    }
}

impl Stream {
    fn wanted(&self) -> bool {
        self.file.is_some() || self.stdout
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some(file) = &mut self.file {
            file.write(bytes)?;
        }
        if self.stdout { terminal::print(bytes) } else { Ok(()) }
    }

    /// Writes a piece that stands in a list, with a comma between it and the one before.
    fn write_joined(&mut self, piece: &[u8]) -> Result<(), Error> {
        if piece.is_empty() {
            return Ok(());
        }
        if !self.empty {
            self.write(b",")?;
        }
        self.empty = false;
        self.write(piece)
    }
}

/// Tables and what to think of them.
fn show(args: &SweepArgs, sample: &Sample<'_>, loaded: &Loaded, written: &[String]) -> Result<(), Error> {
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
