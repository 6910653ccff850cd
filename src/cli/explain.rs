//! `specplan explain`: one point taken apart.

use serde_json::{Value, json};

use crate::acceptance::process::{Known, Process};
use crate::catalog::load::Loaded;
use crate::cli::args::explain::ExplainArgs;
use crate::cli::error::Error;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, no_grid, open};
use crate::cli::publish::publish;
use crate::cli::terminal;
use crate::diagnostic::nearest;
use crate::plan::capacity::full;
use crate::plan::choose::best_k;
use crate::plan::point::Point;
use crate::plan::yields::{acceptances, process_of};
use crate::report::chart;
use crate::report::explanation::{self, Explained};
use crate::report::manifest::manifest;
use crate::report::number::brief;
use crate::report::table::{self, Style, devices};
use crate::report::trust;
use crate::sweep::grid::{Block, Grid};
use crate::sweep::row::Notes;
use crate::words::Format;

pub(super) fn explain(args: &ExplainArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open(&args.common)?;
    let grid = Grid::new(&loaded.scenario, u64::MAX).map_err(|error| no_grid(&error, &loaded))?;
    let block = block(args, &grid)?;
    let explained = explained(args, &grid, block)?;
    if args.drafter.is_none() && grid.blocks.len() > 1 && !args.common.quiet {
        let all = grid.blocks.len();
        terminal::note(&format!(
            "the first of {all} combinations; choose with --drafter, --set hardware=, --set target="
        ));
    }
    let manifest = described(&loaded, &explained);
    let results = forms.open(&args.output.out, &loaded.scenario.name, "explain", args.common.quiet)?;
    let csv = explanation::csv(&explained).map_err(|error| Error::Internal(error.to_string()))?;
    let json = explanation::json(&explained, &manifest);
    let published = match results {
        Some(mut results) => {
            if forms.csv {
                results.add("csv", &csv)?;
            }
            if forms.json {
                results.add("json", &json)?;
            }
            let charts = chart::point::charts(&explained, &loaded.scenario.title, &trust(block));
            forms.draw(&mut results, &charts)?;
            Some(publish(results, manifest)?)
        }
        None => None,
    };
    let shown = show(args, &loaded, block, &explained, &csv, &json);
    if let Some(published) = published.filter(|_| !args.common.quiet) {
        published.tell();
    }
    shown
}

/// The first combination, or the first with the drafter asked for.
fn block<'g, 's>(args: &ExplainArgs, grid: &'g Grid<'s>) -> Result<&'g Block<'s>, Error> {
    let Some(wanted) = &args.drafter else {
        return grid.blocks.first().ok_or_else(|| Error::Internal("a study without a combination".to_owned()));
    };
    let labels = || grid.blocks.iter().filter_map(|block| block.labels.drafter);
    grid.blocks.iter().find(|block| block.labels.drafter == Some(wanted)).ok_or_else(|| {
        let mut known: Vec<&str> = labels().collect();
        known.dedup();
        let hint = match nearest(wanted, labels()) {
            Some(meant) => format!("; did you mean \"{meant}\"?"),
            None if known.is_empty() => ", nor any other".to_owned(),
            None => format!("; it has {}", known.join(", ")),
        };
        Error::Usage(format!("--drafter \"{wanted}\": the scenario has no such drafter{hint}"))
    })
}

fn explained(args: &ExplainArgs, grid: &Grid<'_>, block: &Block<'_>) -> Result<Explained, Error> {
    let batch = args.batch.unwrap_or_else(|| grid.batch.get(0));
    let context = args.context.unwrap_or_else(|| grid.context.get(0));
    let process = block.drafter.map(|drafter| process_of(drafter, acceptances(drafter) - 1, context));
    let process = match (process, args.alpha) {
        (Some(_), Some(alpha)) => Some(Process::Iid { alpha }),
        (process, _) => process,
    };
    if block.drafter.is_none() && (args.k.is_some_and(|k| k > 0) || args.alpha.is_some()) {
        return Err(Error::Usage("--k and --alpha need a drafter, and the scenario has none".to_owned()));
    }
    let best = |process: &Process| {
        let most = block.k.iter().max().unwrap_or(0);
        best_k(&block.setup, process, batch as f64, context as f64, most).k
    };
    if let (Some(depth), Some(k)) = (block.setup.depth(), args.k.filter(|k| *k > 0))
        && k != depth
    {
        return Err(Error::Usage(format!(
            "--k {k}: this drafter drafts {depth} deep and no other way; 0 leaves it out"
        )));
    }
    let longest = block.drafter.and_then(|drafter| drafter.longest);
    if let (Some(longest), Some(k)) = (longest, args.k)
        && k > longest
    {
        return Err(Error::Usage(format!("--k {k}: this drafter drafts at most {longest} tokens in its pass")));
    }
    let k = args.k.or_else(|| process.as_ref().map(best)).unwrap_or(0);
    // Of a tree the alpha that a chain would need says nothing.
    let alpha = process.as_ref().and_then(Process::alpha).filter(|_| block.setup.depth().is_none());
    let tokens = |k| process.as_ref().map_or(1.0, |process| process.tokens_per_pass(k));
    let tokens_per_pass = tokens(k);
    let share = |k| block.setup.proposing_share(tokens(k), k);
    let point = Point::new(&block.setup, batch, context, k, share(k));
    let heading = format!("{}, batch {batch}, context {context}, {}", who(block), rounds(block, k, alpha));
    let one = block.setup.depth().unwrap_or(1);
    let first = Point::new(&block.setup, 1, context, one, share(one));
    let full = block.drafter.and_then(|_| full(&block.setup, context, k, tokens_per_pass));
    let first_draft_ratio = block.drafter.map(|_| first.draft_ratio());
    let notes = Notes {
        known: process.as_ref().map_or(Known::Stated, |process| process.known(k)),
        unvalidated: k > 0 && block.is_unvalidated(batch, context, k),
        beyond: block.beyond(batch, context, k),
    };
    let notes = notes.words().collect();
    Ok(Explained { heading, first_draft_ratio, k, alpha, tokens_per_pass, point, notes, full })
}

/// Device, target and engine.
fn who(block: &Block<'_>) -> String {
    let labels = &block.labels;
    let devices = devices(&block.setup);
    format!("{devices}{}, target {}, engine {} ({})", labels.hardware, labels.target, labels.engine, labels.roofline)
}

/// Drafter, k and acceptance.
fn rounds(block: &Block<'_>, k: u64, alpha: Option<f64>) -> String {
    let Some(drafter) = block.drafter else { return "no drafter".to_owned() };
    let model = drafter.source.model().map_or_else(String::new, |model| format!(" ({})", model.id));
    let alpha = alpha.map_or_else(String::new, |alpha| format!(", alpha {}", brief(alpha)));
    format!("drafter {}{model}, k {k}{alpha}", drafter.label)
}

fn described(loaded: &Loaded, explained: &Explained) -> Value {
    let shape = &explained.point.plain.shape;
    let options = json!({
        "point": explained.heading,
        "batch": shape.batch as u64,
        "context": shape.context as u64,
        "k": explained.k,
        "alpha": explained.alpha,
    });
    manifest("explain", &loaded.scenario, &inputs(loaded), &options)
}

fn trust(block: &Block<'_>) -> Vec<String> {
    std::iter::once(trust::profile(&block.backing))
        .chain(block.drafter.map(|drafter| trust::drafter(drafter, &block.backing)))
        .chain(trust::note(block.engine))
        .collect()
}

fn show(
    args: &ExplainArgs,
    loaded: &Loaded,
    block: &Block<'_>,
    explained: &Explained,
    csv: &[u8],
    json: &[u8],
) -> Result<(), Error> {
    let title = &loaded.scenario.title;
    let trust = trust(block);
    let page = |style| table::page(title, &explanation::text(explained, style), &trust, style);
    match args.output.format {
        Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
        Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
        Format::Csv => terminal::print(csv)?,
        Format::Json => terminal::print(json)?,
    }
    if !args.common.quiet {
        trust.iter().for_each(|line| terminal::note(line));
    }
    Ok(())
}
