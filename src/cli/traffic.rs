//! `specplan traffic`: requests over time, with speculation and without.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::traffic::TrafficArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, no_grid, open};
use crate::cli::publish::{Published, publish};
use crate::cli::{progress, stop_on_signal, terminal};
use crate::diagnostic::Diagnostic;
use crate::domain::price::HourlyPrice;
use crate::domain::traffic::{Arrivals, Policy, Slo, Traffic};
use crate::parallel::{Failure, Outcome};
use crate::report::chart;
use crate::report::manifest::manifest;
use crate::report::table::{self, Style};
use crate::report::traffic::capacity::{self, ShownCapacity};
use crate::report::traffic::{self, Shown};
use crate::report::trust;
use crate::sweep::grid::{Block, Grid};
use crate::sweep::row::Labels;
use crate::traffic::run::NoRun;
use crate::traffic::study::{Case, Held, Subject, capacities, study};
use crate::units::Bytes;
use crate::words::Format;

pub(super) fn traffic(args: &TrafficArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open(&args.common)?;
    let Some(traffic) = &loaded.scenario.traffic else {
        let found = Diagnostic::error("missing-key", "the scenario does not say when requests come".to_owned());
        let hint =
            "add [traffic] with a rate, or --set traffic.rate=4.0: requests per second; a closed loop has clients";
        return Err(Error::Input(vec![found.at(loaded.place(&["title"])).hint(hint)]));
    };
    let grid = Grid::new(&loaded.scenario, u64::MAX).map_err(|error| no_grid(&error, &loaded))?;
    let lengths: Vec<Vec<u64>> = grid.blocks.iter().map(lengths).collect();
    let subjects = subjects(&grid, &lengths, traffic)?;
    let stop = stop_on_signal()?;
    let results = forms.open(&args.output.out, &loaded.scenario.name, "traffic", args.common.quiet)?;
    let (slo, seed) = (loaded.scenario.slo, loaded.scenario.seed);
    let cases = run(args, &subjects, (traffic, slo), seed, &stop)?;
    if cases.iter().all(|case| case.measures.refused == case.measures.requests()) {
        return Err(Error::CannotRun(
            "every request is longer than the KV cache, or than max_model_len: take shorter prompts or outputs, more devices, or fewer bits"
                .to_owned(),
        ));
    }
    let held = match &slo {
        Some(slo) if is_open(traffic) => search(args, &subjects, (traffic, slo), seed, &stop)?,
        _ => Vec::new(),
    };
    let trust = trusted(&loaded);
    let mut manifest = manifest("traffic", &loaded.scenario, &inputs(&loaded), &json!({}));
    manifest["assumptions"] = assumptions();
    manifest["trust"] = trust.clone().into();
    let shown: Vec<Shown<'_>> = cases.iter().map(|case| shown(&grid, traffic, &cases, case)).collect();
    let held: Vec<ShownCapacity<'_>> = held
        .iter()
        .filter_map(|held| Some(capacity_of(&grid, (traffic, loaded.scenario.slo.as_ref()?), args.price, held)))
        .collect();
    let output = Output { args, loaded: &loaded, shown: &shown, held: &held, manifest: &manifest, trust: &trust };
    let published = match results {
        Some(results) => Some(output.files(results, &forms)?),
        None => None,
    };
    let told = output.show();
    if let Some(published) = published.filter(|_| !args.common.quiet) {
        published.tell();
    }
    told
}

const fn is_open(traffic: &Traffic) -> bool {
    !matches!(traffic.arrivals, Arrivals::Closed { .. })
}

/// Whether two deployments are the same but for their drafters.
fn is_alike(one: &Labels<'_>, other: &Labels<'_>) -> bool {
    Labels { drafter: None, ..*one } == Labels { drafter: None, ..*other }
}

fn shown<'a>(grid: &'a Grid<'_>, traffic: &'a Traffic, all: &'a [Case], case: &'a Case) -> Shown<'a> {
    let labels = grid.blocks[case.subject].labels;
    let is_off = |other: &&Case| {
        let alike = is_alike(&grid.blocks[other.subject].labels, &labels);
        alike && other.load.to_bits() == case.load.to_bits() && traffic.policies[other.policy] == Policy::Off
    };
    Shown { labels, traffic, case, off: all.iter().find(is_off) }
}

fn capacity_of<'a>(
    grid: &'a Grid<'_>,
    (traffic, slo): (&'a Traffic, &'a Slo),
    own: Option<f64>,
    held: &'a Held,
) -> ShownCapacity<'a> {
    let block = &grid.blocks[held.subject];
    // The drafter's own devices are paid for too.
    let devices = block.setup.devices() + block.setup.own_devices();
    let stated = || {
        let price = block.device.price.as_ref()?;
        Some(HourlyPrice { usd: price.usd_per_hour, dated: Some(price.date.clone()) })
    };
    let price = own.map(|usd| HourlyPrice { usd, dated: None }).or_else(stated);
    ShownCapacity { labels: block.labels, devices, price, traffic, slo, held }
}

fn lengths(block: &Block<'_>) -> Vec<u64> {
    block.k.iter().filter(|k| *k > 0).collect()
}

/// What is put under load, if its weights fit and any of the policies has something to do.
fn subjects<'g>(grid: &'g Grid<'_>, lengths: &'g [Vec<u64>], traffic: &Traffic) -> Result<Vec<Subject<'g>>, Error> {
    for block in &grid.blocks {
        let drafts = block.drafter.is_some() && traffic.policies.iter().any(|policy| *policy != Policy::Off);
        if block.setup.cache(drafts).0 <= Bytes::ZERO {
            let labels = &block.labels;
            let message = format!(
                "the weights of {} leave no memory for requests on {} x {}: take more devices, fewer bits or no drafter",
                labels.target, labels.tensor_parallel, labels.hardware
            );
            return Err(Error::CannotRun(message));
        }
    }
    if grid.blocks.iter().all(|block| block.drafter.is_none()) && !traffic.policies.contains(&Policy::Off) {
        return Err(Error::CannotRun(
            "every policy drafts, and there is no drafter: add one, or the policy \"off\"".to_owned(),
        ));
    }
    let subject = |(at, (block, lengths)): (usize, (&'g Block<'_>, &'g Vec<u64>))| Subject {
        setup: &block.setup,
        drafter: block.drafter,
        lengths,
        plain: !grid.blocks[..at].iter().any(|before| is_alike(&before.labels, &block.labels)),
    };
    Ok(grid.blocks.iter().zip(lengths).enumerate().map(subject).collect())
}

fn run(
    args: &TrafficArgs,
    subjects: &[Subject<'_>],
    of: (&Traffic, Option<Slo>),
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<Case>, Error> {
    let runs = subjects.len() * of.0.loads.len() * of.0.policies.len();
    let bar = progress::bar(runs as u64, args.common.quiet);
    let mut cases = Vec::new();
    let take = |case: Result<Case, NoRun>| {
        cases.push(case?);
        bar.inc(1);
        Ok(())
    };
    let ended = study(subjects, of, seed, (args.common.threads(), stop), take);
    bar.finish_and_clear();
    finished(ended).map(|()| cases)
}

fn search(
    args: &TrafficArgs,
    subjects: &[Subject<'_>],
    of: (&Traffic, &Slo),
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<Held>, Error> {
    let bar = progress::bar((subjects.len() * of.0.policies.len()) as u64, args.common.quiet);
    let mut found = Vec::new();
    let take = |held: Result<Held, NoRun>| {
        found.push(held?);
        bar.inc(1);
        Ok(())
    };
    let ended = capacities(subjects, of, seed, (args.common.threads(), stop), take);
    bar.finish_and_clear();
    finished(ended).map(|()| found)
}

fn finished(ended: Result<Outcome, Failure<NoRun>>) -> Result<(), Error> {
    match ended {
        Ok(Outcome::Finished) => Ok(()),
        Ok(Outcome::Stopped) | Err(Failure::Taken(NoRun::Stopped)) => Err(Error::Interrupted),
        Err(error) => Err(Error::Internal(error.to_string())),
    }
}

fn assumptions() -> Value {
    json!([
        "a request that comes waits until its whole prompt has room in the KV cache, first come first served; nothing is admitted before it",
        "each step runs a round of every sequence that decodes and reads prompts, in chunks, up to max_num_batched_tokens new tokens (8192 \
         where the scenario does not say), and up to max_num_seqs sequences (256)",
        "all tokens of a step come out at its end; a prompt that is read gives the first one",
        "a sequence that outgrows the cache puts the one admitted last back, which later reads prompt and output once more",
        "a drafter that is loaded reads every prompt, with its first draft pass",
        "a step is priced at the mean context of its sequences; layers with a window see that mean too",
        "acceptance is that at the mean context of the traffic, the last of several; each request has its own random numbers, the same \
         under every policy and load",
        "replicas share requests evenly at random: one of them is simulated",
    ])
}

/// What a served load says beyond what prices do.
fn trusted(loaded: &Loaded) -> Vec<String> {
    let mut lines = trust::lines(&loaded.scenario);
    lines.push(
        "plain steps of served chat are read 25 to 50 % short at concurrency 32 and more: ratios between policies hold, times, rates and \
         replicas do not until a plain step at that load has been measured"
            .to_owned(),
    );
    lines
}

struct Output<'a> {
    args: &'a TrafficArgs,
    loaded: &'a Loaded,
    shown: &'a [Shown<'a>],
    held: &'a [ShownCapacity<'a>],
    manifest: &'a Value,
    trust: &'a [String],
}

impl Output<'_> {
    fn is_asked(&self) -> bool {
        self.loaded.scenario.slo.is_some()
    }

    fn csv(&self) -> Result<Vec<u8>, Error> {
        traffic::csv(self.shown, self.is_asked()).map_err(|error| Error::Internal(error.to_string()))
    }

    fn json(&self) -> Vec<u8> {
        let mut document = traffic::json(self.shown, self.is_asked(), self.manifest);
        if !self.held.is_empty() {
            document["capacity"] = capacity::rows(self.held).into();
        }
        let mut text = format!("{document:#}");
        text.push('\n');
        text.into_bytes()
    }

    fn files(&self, mut results: Results, forms: &Forms) -> Result<Published, Error> {
        if forms.csv {
            results.add("csv", &self.csv()?)?;
            if !self.held.is_empty() {
                let csv = capacity::csv(self.held).map_err(|error| Error::Internal(error.to_string()))?;
                results.add("capacity.csv", &csv)?;
            }
        }
        if forms.json {
            results.add("json", &self.json())?;
        }
        let scenario = &self.loaded.scenario;
        forms.draw(
            &mut results,
            &chart::traffic::charts(self.shown, scenario.slo.as_ref(), &scenario.title, self.trust),
        )?;
        publish(results, self.manifest.clone())
    }

    fn show(&self) -> Result<(), Error> {
        let title = &self.loaded.scenario.title;
        let body = |style| {
            let loads = traffic::text(self.shown, self.is_asked(), style);
            if self.held.is_empty() { loads } else { format!("{loads}\n{}", capacity::text(self.held, style)) }
        };
        let page = |style| table::page(title, &body(style), self.trust, style);
        match self.args.output.format {
            Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
            Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
            Format::Csv => terminal::print(&self.csv()?)?,
            Format::Json => terminal::print(&self.json())?,
        }
        if !self.args.common.quiet {
            self.trust.iter().for_each(|line| terminal::note(line));
        }
        Ok(())
    }
}
