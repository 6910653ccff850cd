//! `specplan tree`: the best draft tree for the hardware, beside the best chain.

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::tree::TreeArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, no_grid, open};
use crate::cli::publish::{Published, publish};
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, nearest};
use crate::domain::acceptance::{AcceptanceModel, Here};
use crate::domain::drafter::Drafter;
use crate::domain::ranks::Ranks;
use crate::plan::tree::{Bounds, Candidates, gain};
use crate::plan::yields::process_of;
use crate::report::chart::draft_tree;
use crate::report::manifest::manifest;
use crate::report::pick::by_factor;
use crate::report::table::{self, Style};
use crate::report::tree::{self, Row, Searched, forms, text};
use crate::report::trust;
use crate::sweep::grid::{Block, Grid};
use crate::words::{Emit, Format};

/// Batches of one table.
const MOST_BATCHES: u64 = 16;

pub(super) fn tree(args: &TreeArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open(&args.common)?;
    let grid = Grid::new(&loaded.scenario, u64::MAX).map_err(|error| no_grid(&error, &loaded))?;
    let (block, drafter, ranks) = drafting(args, &loaded, &grid)?;
    let searched = search(args, &grid, block, drafter, ranks);
    let mut trust = trust(block, drafter, &left_out(&grid));
    if matches!(drafter.acceptance.at_context(searched.context as f64), Here::Beyond(_)) {
        trust.push(format!(
            "acceptance at context {}: extrapolated, as at the longest that was stated",
            searched.context
        ));
    }
    let manifest = described(&loaded, &searched);
    let results = if args.emit.is_some() {
        None
    } else {
        forms.open(&args.output.out, &loaded.scenario.name, "tree", args.common.quiet)?
    };
    let published = match results {
        Some(results) => Some(files(results, &forms, &searched, &loaded, manifest.clone(), &trust)?),
        None => None,
    };
    let shown = show(args, &loaded, &searched, &manifest, &trust);
    if let Some(published) = published.filter(|_| !args.common.quiet) {
        published.tell();
    }
    shown
}

/// The drafter whose tree is searched, and how often its candidates are accepted.
fn drafting<'g, 's>(
    args: &TreeArgs,
    loaded: &Loaded,
    grid: &'g Grid<'s>,
) -> Result<(&'g Block<'s>, &'s Drafter, &'s Ranks), Error> {
    let context = context(args, grid);
    let labels = || loaded.scenario.drafters.iter().map(|drafter| drafter.label.as_str());
    if let Some(label) = args.drafter.as_ref().filter(|label| !labels().any(|known| known == label.as_str())) {
        let hint = match nearest(label, labels()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("it has {}", labels().collect::<Vec<_>>().join(", ")),
        };
        return Err(Error::Usage(format!("--drafter \"{label}\": the scenario has no such drafter; {hint}")));
    }
    let asked = |drafter: &Drafter| args.drafter.as_ref().is_none_or(|label| drafter.label == *label);
    let all = || grid.blocks.iter().filter_map(|block| Some((block, block.drafter?))).filter(|(_, one)| asked(one));
    let mut refused = None;
    for (block, drafter) in all() {
        match ranks_of(drafter, context) {
            Ok(ranks) => return Ok((block, drafter, ranks)),
            // One that has ranks and may not use them tells more than one that has none.
            Err(found) if refused.is_none() || drafter.acceptance.models().iter().any(|of| is_ranked(of)) => {
                refused = Some((drafter, found));
            }
            Err(_) => {}
        }
    }
    let (place, found) = match refused {
        Some((drafter, found)) => (loaded.place(&["drafters", &drafter.label]), found),
        None => (loaded.place(&["drafters"]), no_ranks()),
    };
    Err(Error::Input(vec![found.at(place)]))
}

const fn is_ranked(model: &AcceptanceModel) -> bool {
    matches!(model, AcceptanceModel::Ranks(_))
}

fn no_ranks() -> Diagnostic {
    let message = "a tree needs to know how often the second, third, … candidate of a position is accepted";
    let hint = "give a drafter acceptance.ranks = { probabilities = [0.7, 0.11, 0.05] }, or look at \
                --scenario llama-8b-tree";
    Diagnostic::error("missing-key", message.to_owned()).hint(hint)
}

/// How often a drafter's candidates are accepted at a context, or why no tree can be searched for it.
fn ranks_of(drafter: &Drafter, context: u64) -> Result<&Ranks, Diagnostic> {
    let label = &drafter.label;
    let conflict = |message: String| Diagnostic::error("conflict", message);
    if !drafter.source.branches() && drafter.acceptance.models().iter().any(|of| is_ranked(of)) {
        let kind = drafter.source.kind();
        let message = format!("drafter `{label}` drafts no tree: {kind} has no draft passes to branch in");
        return Err(conflict(message).hint("--drafter names another"));
    }
    if matches!(drafter.acceptance.model, AcceptanceModel::Workloads(_)) {
        let message = format!("drafter `{label}` has an acceptance for each workload, and a tree is searched for one");
        return Err(conflict(message).hint("give it the ranks of the whole mix, or of one workload"));
    }
    match drafter.acceptance.at_context(context as f64) {
        Here::Stated(AcceptanceModel::Ranks(ranks)) | Here::Beyond(AcceptanceModel::Ranks(ranks)) => Ok(ranks),
        Here::Between { low: AcceptanceModel::Ranks(_), .. } => {
            let stated = drafter.acceptance.by_context.iter().map(|at| at.context.to_string());
            let message = format!("the ranks of drafter `{label}` are not known at context {context}, but between");
            let all: Vec<String> = std::iter::once("0".to_owned()).chain(stated).collect();
            Err(conflict(message).hint(format!("--context takes one at which they were stated: {}", all.join(", "))))
        }
        _ => Err(no_ranks()),
    }
}

/// The context that the search is for.
fn context(args: &TreeArgs, grid: &Grid<'_>) -> u64 {
    args.context.unwrap_or_else(|| grid.context.get(0))
}

fn search<'a>(
    args: &TreeArgs,
    grid: &Grid<'_>,
    block: &'a Block<'a>,
    drafter: &'a Drafter,
    ranks: &'a Ranks,
) -> Searched<'a> {
    let context = context(args, grid);
    let deepest = drafter.longest.map(|longest| longest as usize);
    let depth = deepest.map_or(args.depth, |deepest| args.depth.min(deepest));
    let bounds = Bounds { nodes: args.nodes, depth, branch: ranks.most() };
    let candidates = Candidates::new(ranks, bounds);
    let picked = by_factor(grid.batch.len(), MOST_BATCHES).into_iter().map(|index| grid.batch.get(index));
    let mut batches: Vec<u64> = picked.collect();
    let drawn = args.batch.unwrap_or_else(|| grid.batch.get(0));
    if !batches.contains(&drawn) {
        batches.push(drawn);
    }
    batches.sort_unstable();
    let own = drafter.tree.as_ref();
    let own_gain = |batch: u64| {
        let shape = own?;
        let tokens = process_of(drafter, 0, context).tokens_per_pass(shape.depth());
        gain(&block.setup, shape, tokens, batch, context)
    };
    let row = |&batch: &u64| Row {
        batch,
        tree: candidates.best(&block.setup, batch, context),
        chain: candidates.best_chain(&block.setup, batch, context),
        own: own_gain(batch),
    };
    Searched {
        block,
        context,
        bounds,
        is_deepest: ranks.deepest().or(deepest).is_some_and(|deepest| depth >= deepest),
        known: process_of(drafter, 0, context).known(1),
        ranks,
        own,
        drawn: batches.iter().position(|batch| *batch == drawn).unwrap_or(0),
        rows: batches.iter().map(row).collect(),
    }
}

/// What the table leaves out of the scenario, in words.
fn left_out(grid: &Grid<'_>) -> Vec<String> {
    let labels = |block: &Block<'_>| {
        let of = &block.labels;
        (of.hardware.to_owned(), of.target.to_owned(), of.engine.to_owned(), of.tensor_parallel)
    };
    let mut settings: Vec<_> = grid.blocks.iter().map(labels).collect();
    settings.dedup();
    let mut lines = Vec::new();
    if settings.len() > 1 {
        lines.push(format!("the first of {} combinations of hardware, target, devices and engine", settings.len()));
    }
    if grid.context.len() > 1 {
        lines.push(format!("one of {} contexts: the first, or that of --context", grid.context.len()));
    }
    if grid.batch.len() > MOST_BATCHES {
        lines.push(format!("some {MOST_BATCHES} of {} batches; --batch adds one", grid.batch.len()));
    }
    lines
}

fn trust(block: &Block<'_>, drafter: &Drafter, left_out: &[String]) -> Vec<String> {
    let mut lines = vec![trust::profile(&block.backing), trust::drafter(drafter, &block.backing)];
    lines.extend(trust::note(block.engine));
    lines.extend(left_out.iter().cloned());
    lines.push(
        "trees: the same nodes in every round. Engines that pick nodes by what the drafter is sure of accept more with as many; \
         published trees lose to chains from batch 16 on"
            .to_owned(),
    );
    lines
}

fn described(loaded: &Loaded, searched: &Searched<'_>) -> Value {
    let options = json!({
        "batch": searched.rows[searched.drawn].batch,
        "context": searched.context,
        "drafter": searched.block.labels.drafter,
        "nodes": searched.bounds.nodes,
        "depth": searched.bounds.depth,
    });
    manifest("tree", &loaded.scenario, &inputs(loaded), &options)
}

fn files(
    mut results: Results,
    forms: &Forms,
    searched: &Searched<'_>,
    loaded: &Loaded,
    manifest: Value,
    trust: &[String],
) -> Result<Published, Error> {
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    if forms.csv {
        results.add("csv", &tree::csv(searched).map_err(|error| internal(&error))?)?;
    }
    if forms.json {
        results.add("json", &tree::json(searched, &manifest))?;
    }
    forms.draw(&mut results, &draft_tree::charts(searched, &loaded.scenario.title, trust))?;
    publish(results, manifest)
}

fn show(
    args: &TreeArgs,
    loaded: &Loaded,
    searched: &Searched<'_>,
    manifest: &Value,
    trust: &[String],
) -> Result<(), Error> {
    let page = |style| table::page(&loaded.scenario.title, &text::text(searched, style), trust, style);
    let found = searched.tree();
    match (args.emit, args.output.format) {
        (Some(_), _) if found.nodes() == 1 => {
            let batch = searched.rows[searched.drawn].batch;
            return Err(Error::CannotRun(format!("at batch {batch} no tree pays: there is none to emit")));
        }
        (Some(Emit::Sglang), _) if !searched.has_sglang() => {
            let kind = searched.block.drafter.map_or("none", |drafter| drafter.source.kind().as_str());
            return Err(Error::Usage(format!(
                "--emit sglang: SGLang drafts trees with eagle, mtp and model drafters, not with {kind}; --emit medusa \
                 writes the list of choices"
            )));
        }
        (Some(Emit::Medusa), _) => terminal::print(format!("{}\n", forms::medusa(found)).as_bytes())?,
        (Some(Emit::Sglang), _) => terminal::print(format!("{}\n", forms::sglang(found)).as_bytes())?,
        (None, Format::Text) => return terminal::print(page(Style::Plain).as_bytes()),
        (None, Format::Md) => return terminal::print(page(Style::Markdown).as_bytes()),
        (None, Format::Csv) => {
            terminal::print(&tree::csv(searched).map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        (None, Format::Json) => terminal::print(&tree::json(searched, manifest))?,
    }
    if !args.common.quiet {
        trust.iter().for_each(|line| terminal::note(line));
    }
    if args.emit.is_some() && !searched.rows[searched.drawn].tree.fits {
        terminal::note(&format!("at batch {} this tree does not fit in memory", searched.rows[searched.drawn].batch));
    }
    Ok(())
}
