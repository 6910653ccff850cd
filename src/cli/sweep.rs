//! `specplan sweep`: price the grid, stream the rows, then table, charts and manifest.

mod columns;
mod price;
mod refused;
mod room;
mod streams;
mod work;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::SweepArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::files::ongoing::Ongoing;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, open};
use crate::cli::publish::{Published, publish};
use crate::cli::sweep::price::{Done, price};
use crate::cli::sweep::refused::{grid, nothing_left};
use crate::cli::sweep::work::{Detail, Work};
use crate::cli::{stop_on_signal, terminal};
use crate::diagnostic::visible;
use crate::report::manifest::{Digest, manifest};
use crate::report::rows::RowForm;
use crate::report::sample::{Sample, SamplePlan};
use crate::report::{chart, summary, table, trust};
use crate::sweep::condition::Selection;
use crate::sweep::run::Pricer;
use crate::words::{FileForm, Format};

/// Shorter sweeps are done before they could be stopped with any loss.
const WORTH_KEEPING: u64 = 2_000_000;

pub(super) fn sweep(args: &SweepArgs) -> Result<(), Error> {
    let forms = Forms::of_rows(&args.output.write)?;
    check_flags(args, &forms)?;
    let loaded = open(&args.common)?;
    let grid = grid(args, &loaded)?;
    let selection = Selection { only_fitting: args.only_fitting, conditions: args.conditions.clone() };
    let manifest = described(args, &loaded, &selection);

    let stop = stop_on_signal()?;
    let command = args.named();
    let mut results = forms.open(&args.output.out, &loaded.scenario.name, &command, args.common.quiet)?;
    let plan = match args.shard {
        None => SamplePlan::new(&grid, &selection),
        // Tables and charts of a share would look like those of the whole.
        Some(_) => SamplePlan::nothing(),
    };
    let work = Work {
        grid: &grid,
        pricer: Pricer::new(&grid),
        selection: &selection,
        detail: args.detail(),
        shard: args.shard,
        forms: args.row_forms(&forms),
        keep_rows: forms.parquet,
        plan: &plan,
    };
    let ongoing = match &results {
        Some(results) => ongoing(args, &forms, &work, results, &manifest)?,
        None => None,
    };
    if let Some(results) = results.as_ref().filter(|_| !args.common.quiet) {
        tell_left(results, ongoing.as_ref());
    }
    let done = price(args, &forms, &work, (&mut results, ongoing.as_ref()), &manifest, &stop)?;
    if done.rows == 0 && args.shard.is_none() {
        ongoing.map(Ongoing::remove).transpose()?;
        return Err(nothing_left(&grid, &selection));
    }
    let published = match results {
        Some(results) => Some(write_rest(results, &forms, &done.sample, &loaded, (manifest, args))?),
        None => None,
    };
    if let Some(Err(error)) = ongoing.map(Ongoing::remove) {
        // The results are all there.
        terminal::note(&visible(&format!("{error}: remove it by hand")));
    }
    let shown = show(args, &done, &loaded, published.as_ref());
    // The files are there even if standard output could not take the table.
    if !args.common.quiet {
        tell(args, &done.sample, published.as_ref());
    }
    shown
}

/// Refuses flags that do not go together.
fn check_flags(args: &SweepArgs, forms: &Forms) -> Result<(), Error> {
    if !args.resume {
        return Ok(());
    }
    let refused = |why: &str| Err(Error::Usage(format!("--resume {why}")));
    match args.output.format {
        Format::Csv | Format::Json => {
            refused("goes on with files, and standard output would lack the rows before: leave --format out")
        }
        _ if !forms.any => refused("goes on with files: leave --write none out"),
        _ if forms.parquet => refused("cannot go on with a Parquet file: write csv or jsonl, and convert that"),
        _ => Ok(()),
    }
}

fn described(args: &SweepArgs, loaded: &Loaded, selection: &Selection) -> Value {
    let conditions: Vec<String> = selection.conditions.iter().map(ToString::to_string).collect();
    let options = json!({
        "only_fitting": selection.only_fitting,
        "where": conditions,
        "rows": args.detail().word(),
        "shard": args.shard.map(|shard| shard.to_string()),
    });
    manifest("sweep", &loaded.scenario, &inputs(loaded), &options)
}

/// Where files grow that a later run can go on with; none of sweeps so short, or so small, that they begin anew.
fn ongoing(
    args: &SweepArgs,
    forms: &Forms,
    work: &Work<'_, '_>,
    results: &Results,
    manifest: &Value,
) -> Result<Option<Ongoing>, Error> {
    let is_short = work.grid.points() < WORTH_KEEPING && !args.resume;
    if is_short || forms.parquet || work.detail == Detail::Summary || forms.rows().is_empty() {
        return Ok(None);
    }
    let mut digest = Digest::default();
    digest.update(manifest.to_string().as_bytes());
    forms.rows().iter().for_each(|form| digest.update(form.ending().as_bytes()));
    let busy = || {
        let out = args.output.out.display();
        Error::CannotRun(format!("another run of this sweep is going on in {out}: wait for it to end"))
    };
    Ongoing::open(results, &digest.hex())?.ok_or_else(busy).map(Some)
}

impl SweepArgs {
    /// What its files are named after: rows of one kind do not take the place of others.
    fn named(&self) -> String {
        let share = self.shard.map_or_else(String::new, |shard| format!(".{}", shard.label()));
        let detail = match self.detail() {
            Detail::Points => String::new(),
            detail => format!(".{}", detail.word()),
        };
        format!("sweep{share}{detail}")
    }

    fn detail(&self) -> Detail {
        match (self.best_k, self.summary) {
            (true, _) => Detail::BestK,
            (_, true) => Detail::Summary,
            _ => Detail::Points,
        }
    }

    /// Forms of rows that somebody reads, files first.
    fn row_forms(&self, forms: &Forms) -> Vec<RowForm> {
        let mut wanted = forms.rows();
        wanted.extend(self.stdout_form().filter(|form| !forms.rows().contains(form)));
        wanted
    }

    /// The form in which rows go to standard output, if they do.
    fn stdout_form(&self) -> Option<RowForm> {
        match self.output.format {
            Format::Csv => Some(RowForm::Csv),
            Format::Json => Some(RowForm::Json),
            Format::Text | Format::Md => None,
        }
    }

    /// Whether charts are asked for, and can be drawn: not of a share.
    fn draws_charts(&self) -> bool {
        let asked = self.output.write.iter().any(|form| matches!(form, FileForm::Png | FileForm::Svg));
        asked && self.shard.is_none()
    }
}

/// Tells of other sweeps that were stopped in the same folder.
fn tell_left(results: &Results, ongoing: Option<&Ongoing>) {
    for path in results.leftovers().into_iter().filter(|path| path.is_dir()) {
        if ongoing.is_none_or(|ongoing| !ongoing.is_in(&path)) {
            let note =
                "left by another sweep, unless it is going on: its own command with --resume goes on; or remove it";
            terminal::note(&visible(&format!("{}: {note}", path.display())));
        }
    }
}

/// Draws the charts and gives every file its name.
fn write_rest(
    mut results: Results,
    forms: &Forms,
    sample: &Sample<'_, '_>,
    loaded: &Loaded,
    (manifest, args): (Value, &SweepArgs),
) -> Result<Published, Error> {
    for form in forms.charts.iter().filter(|_| args.draws_charts()) {
        let charts = chart::charts(sample, &loaded.scenario.title, *form);
        for drawn in charts.map_err(|error| Error::Internal(error.to_string()))? {
            results.add(&drawn.ending, &drawn.bytes)?;
        }
    }
    publish(results, manifest)
}

/// Tables and what to think of them, on standard output.
fn show(args: &SweepArgs, done: &Done<'_, '_>, loaded: &Loaded, published: Option<&Published>) -> Result<(), Error> {
    let title = &loaded.scenario.title;
    let trust = trust::lines(&loaded.scenario);
    let style = match args.output.format {
        Format::Md => table::Style::Markdown,
        Format::Text if terminal::color_stdout(args.common.color) => table::Style::Ansi,
        Format::Text => table::Style::Plain,
        Format::Csv | Format::Json => {
            if !args.common.quiet {
                trust.iter().for_each(|line| terminal::note(line));
            }
            return Ok(());
        }
    };
    let written = published.map(|published| published.written.as_slice()).unwrap_or_default();
    let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let of_rows = |name: &&String| {
        !name.ends_with("manifest.json")
            && [".csv", ".jsonl", ".parquet", ".json"].iter().any(|end| name.ends_with(end))
    };
    let rows_in = names.iter().find(of_rows).map_or("in the files of --write csv or json", String::as_str);
    let body = match (args.shard, args.detail()) {
        (Some(shard), detail) => {
            format!("share {shard}: {} points, {} rows of {}", done.points, done.rows, detail.word())
        }
        (None, Detail::Summary) => summary::render(&done.lines, (done.rows, rows_in), &left_out(args), style),
        (None, _) => table::render(&done.sample, rows_in, style),
    };
    terminal::print(table::page(title, &body, &trust, style).as_bytes())
}

/// What points that a summary leaves out do not do.
fn left_out(args: &SweepArgs) -> Vec<String> {
    let fits = args.only_fitting.then(|| "fits in memory".to_owned());
    fits.into_iter().chain(args.conditions.iter().map(ToString::to_string)).collect()
}

/// What was written and what stands beside it, on standard error.
fn tell(args: &SweepArgs, sample: &Sample<'_, '_>, published: Option<&Published>) {
    let Some(published) = published else { return };
    published.tell();
    if let Some(line) = chart::coverage(sample).filter(|_| args.draws_charts()) {
        terminal::note(&line);
    }
    if args.shard.is_some() {
        terminal::note("tables and charts are of whole sweeps: specplan sweep --summary draws them without the rows");
    }
}
