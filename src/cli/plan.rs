//! `specplan plan`: the decision.

mod emit;
mod numbers;

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::catalog::load::{Entry, Loaded, entry};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::plan::PlanArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{catalog_folder, inputs, no_grid, open_with};
use crate::cli::plan::emit::emit;
use crate::cli::plan::numbers::{MOST_COUNTED, Numbers};
use crate::cli::publish::{Published, publish};
use crate::cli::{progress, stop_on_signal, terminal};
use crate::diagnostic::{Diagnostic, nearest};
use crate::domain::engine::{Dispute, Engine};
use crate::domain::price::HourlyPrice;
use crate::domain::scenario::Scenario;
use crate::plan::candidate::Candidate;
use crate::plan::decision::{Asked, decide, members};
use crate::plan::draws::NoDraws;
use crate::plan::setting::Setting;
use crate::plan::spans::DENSE;
use crate::plan::yields::acceptances;
use crate::report::chart::plan as charts;
use crate::report::manifest::manifest;
use crate::report::plan::{Planned, columns, document, text};
use crate::report::table::{self, Style};
use crate::report::trust;
use crate::sweep::grid::GridError;
use crate::words::{Format, Kind};

/// Longer drafts are a mistake.
const LONGEST_DRAFT: u64 = 1024;
/// Rows of the CSV beyond this are a mistake.
const MOST_ROWS: u64 = 1_000_000;
/// Draws times points beyond this take a gigabyte.
const MOST_DRAWN: f64 = 2e7;

/// A decision with what goes with every output of it.
pub(super) struct Decided<'d, 'c, 's> {
    pub(super) planned: &'d Planned<'c, 's>,
    pub(super) scenario: &'d Scenario,
    pub(super) manifest: Value,
    pub(super) trust: Vec<String>,
}

pub(super) fn plan(args: &PlanArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open_with(&args.common, true)?;
    let scenario = narrowed(args, &loaded)?;
    let open = |scenario: &Scenario| match args.emit {
        Some(_) => Ok(None),
        None => forms.open(&args.output.out, &scenario.name, "plan", args.common.quiet),
    };
    decided(args, &loaded, &scenario, open, |decided, results| {
        let Decided { planned, scenario, manifest, trust } = decided;
        let published = match results {
            Some(results) => Some(files(results, &forms, planned, scenario, manifest.clone())?),
            None => None,
        };
        let shown = show(args, planned, scenario, &manifest, &trust);
        if let Some(published) = published.filter(|_| !args.common.quiet) {
            published.tell();
        }
        shown
    })
}

/// Decides on a scenario, and hands on what was decided; `open` is asked for result files before any work is done.
pub(super) fn decided(
    args: &PlanArgs,
    loaded: &Loaded,
    scenario: &Scenario,
    open: impl FnOnce(&Scenario) -> Result<Option<Results>, Error>,
    then: impl FnOnce(Decided<'_, '_, '_>, Option<Results>) -> Result<(), Error>,
) -> Result<(), Error> {
    let k_max = args.k_max.unwrap_or_else(|| scenario.axes.k().iter().max().unwrap_or(0));
    check_size(args, loaded, scenario, k_max)?;
    let disputes = disputes(args, loaded, scenario)?;
    let stop = stop_on_signal()?;
    let results = open(scenario)?;
    let candidates = candidates(scenario, loaded, k_max)?;
    let numbers = Numbers::of(args, scenario, &candidates);
    let mut decisions = Vec::new();
    let draws = args.samples.unwrap_or(scenario.uncertainty.samples);
    let bar = progress::bar(priced(&candidates, &numbers, draws), args.common.quiet);
    let told = |steps: u64| bar.inc(steps);
    for (setting, own) in Setting::all(scenario).zip(&candidates) {
        let asked = Asked { told: &told, ..asked(args, scenario, &numbers, &disputes, &stop) };
        decisions.push(decide(setting, own, &asked).map_err(|error| undecided(&error))?);
    }
    bar.finish_and_clear();
    let planned = Planned {
        decisions,
        contexts: numbers.contexts.clone(),
        shown: numbers.shown.clone(),
        load: numbers.load.clone(),
        price: price(args, scenario),
        rate: args.rate,
        output_tokens: args.output_tokens,
        k_max,
    };
    runs_at_all(&planned)?;
    let manifest = described(args, loaded, scenario, &numbers, k_max);
    then(Decided { planned: &planned, scenario, manifest, trust: trust(scenario) }, results)
}

/// The study with the drafter and the context that are asked for.
fn narrowed(args: &PlanArgs, loaded: &Loaded) -> Result<Scenario, Error> {
    let mut scenario = loaded.scenario.clone();
    if scenario.drafters.is_empty() {
        let found = Diagnostic::error("missing-key", "there is no drafter to decide on".to_owned()).at(&loaded.root);
        let hint = "give the scenario one, such as [drafters.eagle3] with eagle = { version = 3 }; where it says no acceptance, what is \
                    published of its kind is taken";
        return Err(Error::Input(vec![found.hint(hint)]));
    }
    if let Some(label) = &args.drafter {
        scenario.drafters.retain(|drafter| drafter.label == *label);
        if scenario.drafters.is_empty() {
            let labels = || loaded.scenario.drafters.iter().map(|drafter| drafter.label.as_str());
            let hint = match nearest(label, labels()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("it has {}", labels().collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::Usage(format!("--drafter \"{label}\": the scenario has no such drafter; {hint}")));
        }
    }
    Ok(scenario)
}

/// Points that are priced, about: along all batches, and of every draw.
fn priced(candidates: &[Vec<Candidate<'_>>], numbers: &Numbers, draws: u64) -> u64 {
    let last = numbers.batches.iter().copied().max().unwrap_or(1);
    let contexts = numbers.contexts.len() as u64;
    let of = |own: &Vec<Candidate<'_>>| {
        let along: u64 = own.iter().map(|of| last * (of.lengths.len() as u64 + 1)).sum();
        let longest = own.iter().map(|of| of.lengths.len() as u64 + 1).max().unwrap_or(1);
        contexts * (along + members(own).len() as u64 * numbers.counted.len() as u64 * draws * longest)
    };
    candidates.iter().map(of).sum()
}

/// Every candidate of every setting.
fn candidates<'s>(scenario: &'s Scenario, loaded: &Loaded, k_max: u64) -> Result<Vec<Vec<Candidate<'s>>>, Error> {
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for setting in Setting::all(scenario) {
        match Candidate::all(setting, k_max) {
            Ok(candidates) => all.push(candidates),
            Err(errors) => {
                for error in errors {
                    if !refused.contains(&error) {
                        refused.push(error);
                    }
                }
            }
        }
    }
    if refused.is_empty() { Ok(all) } else { Err(no_grid(&GridError::Setups(refused), loaded)) }
}

/// Refuses what would take too long or too much memory, before anything is made for it.
fn check_size(args: &PlanArgs, loaded: &Loaded, scenario: &Scenario, k_max: u64) -> Result<(), Error> {
    let draws = args.samples.unwrap_or(scenario.uncertainty.samples);
    if k_max > LONGEST_DRAFT {
        let message = format!("drafts of {k_max} tokens are longer than {LONGEST_DRAFT}");
        if args.k_max.is_some() {
            return Err(Error::Usage(format!("--k-max: {message}; no engine drafts that many")));
        }
        let found = Diagnostic::error("out-of-range", message).at(loaded.place(&["sweep.k"]));
        return Err(Error::Input(vec![found.hint("no engine drafts that many: --k-max or sweep.k take fewer")]));
    }
    let settings = Setting::all(scenario).count() as f64;
    let axes = &scenario.axes;
    let contexts = args.context.map_or(axes.context().len(), |_| 1) as f64;
    let lines: f64 = scenario.drafters.iter().map(|drafter| acceptances(drafter) as f64).sum();
    let lengths = scenario.drafters.iter().map(|drafter| drafter.longest.unwrap_or(k_max).min(k_max)).max();
    let cases = settings * contexts * lines;
    let rows = cases * axes.batch().len() as f64;
    // Every batch up to the largest that runs is looked at, and contexts for each case.
    let looked =
        axes.batch().iter().max().unwrap_or(1).min(DENSE) as f64 + axes.batch().len() as f64 + DENSE as f64 / 4.0;
    let points = cases * looked * (lengths.unwrap_or(0) + 1) as f64;
    let drawn = settings * contexts * lines * MOST_COUNTED as f64 * draws as f64;
    if drawn > MOST_DRAWN {
        let message = format!("{draws} draws at {:.0} points are more than {MOST_DRAWN:.0e}", drawn / draws as f64);
        let found = Diagnostic::error("too-many-points", message).at(&loaded.longest_axis);
        return Err(Error::Input(vec![found.hint("take fewer draws, contexts or acceptances")]));
    }
    if points > args.max_points as f64 || rows > MOST_ROWS as f64 {
        let message = format!(
            "this plan has {points:.1e} points in {rows:.1e} rows, more than the {} points of --max-points or {MOST_ROWS} rows",
            args.max_points
        );
        let found = Diagnostic::error("too-many-points", message).at(&loaded.longest_axis);
        let hint = "take fewer values on an axis or a smaller --k-max, or raise --max-points";
        return Err(Error::Input(vec![found.hint(hint)]));
    }
    Ok(())
}

/// The profiles that contradict an engine of the study.
fn disputes(args: &PlanArgs, loaded: &Loaded, scenario: &Scenario) -> Result<Vec<(Dispute, Engine)>, Error> {
    let search = SearchPath::new(catalog_folder(args.common.catalog.as_deref())?);
    let mut all = Vec::new();
    let every = scenario.engines.iter().flat_map(|engine| engine.disputed_by.iter().map(move |of| (engine, of)));
    for (engine, dispute) in every {
        if engine.id == dispute.engine {
            let message = format!("the engine `{}` says that it contradicts itself", engine.id);
            let found = Diagnostic::error("out-of-range", message).at(loaded.place(&["engine"]));
            return Err(Error::Input(vec![found.hint("name another profile under disputed_by in its file")]));
        }
        let found = entry(&search, Kind::Engines, &dispute.engine).map_err(|found| {
            let message = format!("an engine of this study is disputed by `{}`, which cannot be had", dispute.engine);
            let named = Diagnostic::error("unknown-id", message).at(loaded.place(&["engine"]));
            let hint = "name an engine of the catalog under disputed_by in its file, or leave that out";
            Error::Input([vec![named.hint(hint)], found].concat())
        })?;
        if let (Entry::Engine(engine), _) = found {
            all.push((dispute.clone(), *engine));
        }
    }
    Ok(all)
}

fn asked<'a>(
    args: &PlanArgs,
    scenario: &Scenario,
    numbers: &'a Numbers,
    disputes: &'a [(Dispute, Engine)],
    stop: &'a AtomicBool,
) -> Asked<'a> {
    Asked {
        batches: &numbers.batches,
        counted: &numbers.counted,
        of_load: !numbers.load.is_empty(),
        contexts: &numbers.contexts,
        longest: numbers.longest,
        disputes,
        draws: args.samples.unwrap_or(scenario.uncertainty.samples),
        uncounted: scenario.uncertainty.acceptance,
        seed: scenario.seed,
        threads: args.common.threads(),
        told: &|_| {},
        stop,
    }
}

fn undecided(error: &NoDraws) -> Error {
    match error {
        NoDraws::Stopped => Error::Interrupted,
        error => Error::Internal(error.to_string()),
    }
}

/// What a device costs: as the user says, else as the catalog does, where one device is asked about.
fn price(args: &PlanArgs, scenario: &Scenario) -> Option<HourlyPrice> {
    let own = args.price.map(|usd| HourlyPrice { usd, dated: None });
    let listed = || match scenario.hardware.as_slice() {
        [device] => {
            let price = device.price.as_ref()?;
            Some(HourlyPrice { usd: price.usd_per_hour, dated: Some(price.date.clone()) })
        }
        _ => None,
    };
    own.or_else(listed)
}

/// Refuses a study whose target runs nowhere.
fn runs_at_all(planned: &Planned<'_, '_>) -> Result<(), Error> {
    let mut alone =
        planned.decisions.iter().flat_map(|decision| decision.lines.iter().flatten()).map(|along| &along.here);
    if alone.clone().any(|here| here.alone.running != Some(0)) {
        return Ok(());
    }
    let figures = alone.next().map_or_else(String::new, |here| {
        let setup = &here.candidate.setup;
        let need = setup.base_memory(1, here.context).total();
        let limiter = here.alone.limiter.map_or_else(String::new, |of| format!(", limited by {of}"));
        format!(": one sequence at context {} needs {need} of {} on each device{limiter}", here.context, setup.usable())
    });
    Err(Error::CannotRun(format!(
        "the target does not run, not even without a drafter{figures}; take more or larger devices, quantised weights or a shorter \
         context"
    )))
}

fn described(args: &PlanArgs, loaded: &Loaded, scenario: &Scenario, numbers: &Numbers, k_max: u64) -> Value {
    let options = json!({
        "load": numbers.load.iter().map(|(name, batch)| format!("{name}={batch}")).collect::<Vec<_>>(),
        "drafter": args.drafter,
        "contexts": numbers.contexts,
        "counted_batches": numbers.counted,
        "k_max": k_max,
        "samples": args.samples.unwrap_or(scenario.uncertainty.samples),
        "rate_tokens_per_s": args.rate,
        "price_usd_per_hour": args.price,
        "output_tokens": args.output_tokens,
        "contexts_looked_to": numbers.longest,
    });
    let mut manifest = manifest("plan", scenario, &inputs(loaded), &options);
    manifest["trust"] = trust(scenario).into();
    manifest
}

/// How far to trust it, the interval explained.
fn trust(scenario: &Scenario) -> Vec<String> {
    let mut lines = trust::lines(scenario);
    lines.push(
        "intervals hold nine in ten draws: constants within the ranges of their profile, accepted drafts as counted or as stated, and what \
         published speedups differ from prices beside"
            .to_owned(),
    );
    lines
}

pub(super) fn files(
    mut results: Results,
    forms: &Forms,
    planned: &Planned<'_, '_>,
    scenario: &Scenario,
    manifest: Value,
) -> Result<Published, Error> {
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    if forms.csv {
        results.add("csv", &columns::csv(planned).map_err(|error| internal(&error))?)?;
        results.add("break-even.csv", &columns::break_even_csv(planned).map_err(|error| internal(&error))?)?;
    }
    if forms.json {
        results.add("json", &document::document(planned, &manifest))?;
    }
    forms.draw(&mut results, &charts::charts(planned, &scenario.title))?;
    publish(results, manifest)
}

fn show(
    args: &PlanArgs,
    planned: &Planned<'_, '_>,
    scenario: &Scenario,
    manifest: &Value,
    trust: &[String],
) -> Result<(), Error> {
    let page = |style| table::page(&scenario.title, &text::text(planned, style), trust, style);
    let style = if terminal::color_stdout(args.common.color) { Style::Ansi } else { Style::Plain };
    match (args.emit, args.output.format) {
        (Some(form), _) => emit(args, planned, form)?,
        (None, Format::Text) => return terminal::print(page(style).as_bytes()),
        (None, Format::Md) => return terminal::print(page(Style::Markdown).as_bytes()),
        (None, Format::Csv) => {
            terminal::print(&columns::csv(planned).map_err(|error| Error::Internal(error.to_string()))?)?;
        }
        (None, Format::Json) => terminal::print(&document::document(planned, manifest))?,
    }
    if !args.common.quiet {
        trust.iter().for_each(|line| terminal::note(line));
    }
    Ok(())
}
