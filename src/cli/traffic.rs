//! `specplan traffic`: requests over time, with speculation and without.

mod runs;
mod written;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::traffic::TrafficArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, no_grid, open};
use crate::cli::stop_on_signal;
use crate::cli::traffic::runs::{fill, search, simulate};
use crate::cli::traffic::written::Output;
use crate::diagnostic::Diagnostic;
use crate::domain::price::HourlyPrice;
use crate::domain::traffic::{Arrivals, Policy, Slo, Traffic};
use crate::report::manifest::manifest;
use crate::report::traffic::Shown;
use crate::report::traffic::capacity::ShownCapacity;
use crate::report::trust;
use crate::sweep::grid::{Block, Grid};
use crate::sweep::row::Labels;
use crate::traffic::study::{Case, Full, Held, Study, Subject};
use crate::units::Bytes;

pub(super) fn traffic(args: &TrafficArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    if args.requests && !forms.any {
        return Err(Error::Usage("--requests writes a file, and --write none none: leave one of them out".to_owned()));
    }
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
    let mut results = forms.open(&args.output.out, &loaded.scenario.name, "traffic", args.common.quiet)?;
    let (slo, seed) = (loaded.scenario.slo, loaded.scenario.seed);
    let study = Study { subjects: &subjects, traffic, slo, seed, each: args.requests };
    let labels: Vec<Labels<'_>> = grid.blocks.iter().map(|block| block.labels).collect();
    let cases = simulate(args, &study, &labels, results.as_mut(), &stop)?;
    if cases.iter().all(|case| case.measures.refused == case.measures.requests()) {
        return Err(Error::CannotRun(
            "every request is longer than the KV cache, or than max_model_len: take shorter prompts or outputs, more devices, or fewer bits"
                .to_owned(),
        ));
    }
    let held = match &slo {
        Some(slo) if is_open(traffic) => search(args, &study, slo, &stop)?,
        _ => Vec::new(),
    };
    let full = fill(args, &study, &stop)?;
    let found = Found { cases: &cases, full: &full, held: &held };
    written(args, &loaded, &grid, (results, &forms), (traffic, &found))
}

/// What runs came to.
struct Found<'a> {
    cases: &'a [Case],
    full: &'a [Full],
    held: &'a [Held],
}

fn written(
    args: &TrafficArgs,
    loaded: &Loaded,
    grid: &Grid<'_>,
    (results, forms): (Option<Results>, &Forms),
    (traffic, found): (&Traffic, &Found<'_>),
) -> Result<(), Error> {
    let trust = trusted(loaded);
    let mut manifest = manifest("traffic", &loaded.scenario, &inputs(loaded), &json!({}));
    manifest["assumptions"] = assumptions();
    manifest["trust"] = trust.clone().into();
    let Found { cases, held, .. } = *found;
    let shown: Vec<Shown<'_>> = cases.iter().map(|case| shown(grid, traffic, found, case)).collect();
    let asked = loaded.scenario.slo.as_ref().map(|slo| (traffic, slo));
    let held: Vec<ShownCapacity<'_>> =
        held.iter().filter_map(|one| Some(capacity_of(grid, asked?, args.price, (one, held)))).collect();
    let output = Output { args, loaded, shown: &shown, held: &held, manifest: &manifest, trust: &trust };
    let published = match results {
        Some(results) => Some(output.files(results, forms)?),
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

fn shown<'a>(grid: &'a Grid<'_>, traffic: &'a Traffic, all: &Found<'a>, case: &'a Case) -> Shown<'a> {
    let labels = grid.blocks[case.subject].labels;
    let is_off = |subject: usize, policy: usize| {
        is_alike(&grid.blocks[subject].labels, &labels) && traffic.policies[policy] == Policy::Off
    };
    let off = all
        .cases
        .iter()
        .find(|other| is_off(other.subject, other.policy) && other.load.to_bits() == case.load.to_bits());
    let full = all.full.iter().find(|full| full.subject == case.subject && full.policy == case.policy);
    let full_off = all.full.iter().find(|full| is_off(full.subject, full.policy));
    Shown { labels, traffic, case, off, full, full_off }
}

fn capacity_of<'a>(
    grid: &'a Grid<'_>,
    (traffic, slo): (&'a Traffic, &'a Slo),
    own: Option<f64>,
    (held, all): (&'a Held, &'a [Held]),
) -> ShownCapacity<'a> {
    let block = &grid.blocks[held.subject];
    let stated = || {
        let price = block.device.price.as_ref()?;
        Some(HourlyPrice { usd: price.usd_per_hour, dated: Some(price.date.clone()) })
    };
    let price = own.map(|usd| HourlyPrice { usd, dated: None }).or_else(stated);
    let is_off = |other: &&Held| {
        let alike = is_alike(&grid.blocks[other.subject].labels, &block.labels);
        alike && traffic.policies[other.policy] == Policy::Off
    };
    let devices_of_off = block.setup.devices();
    // The drafter's own devices are paid for too.
    let devices = devices_of_off + block.setup.own_devices();
    let (labels, off) = (block.labels, all.iter().find(is_off));
    ShownCapacity { labels, devices, devices_of_off, price, traffic, slo, held, off }
}

fn lengths(block: &Block<'_>) -> Vec<u64> {
    block.k.iter().filter(|k| *k > 0).collect()
}

/// What is put under load, if its weights fit and any of the policies has something to do.
fn subjects<'g>(grid: &'g Grid<'_>, lengths: &'g [Vec<u64>], traffic: &Traffic) -> Result<Vec<Subject<'g>>, Error> {
    for block in &grid.blocks {
        let drafts = block.drafter.is_some() && traffic.policies.iter().any(|policy| *policy != Policy::Off);
        let own = block.setup.own_cache(0, 0).filter(|_| drafts);
        if block.setup.cache(drafts).0 <= Bytes::ZERO || own.is_some_and(|(budget, _)| budget <= Bytes::ZERO) {
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

fn assumptions() -> Value {
    json!([
        "a request that comes waits until its whole prompt has room in the KV cache, first come first served; nothing is admitted before it",
        "each step runs a round of every sequence that decodes and reads prompts, in chunks, up to max_num_batched_tokens new tokens (8192 \
         where the scenario does not say), and up to max_num_seqs sequences (256)",
        "all tokens of a step come out at its end; a prompt that is read gives the first one",
        "a sequence that outgrows the cache puts the one admitted last back, which later reads prompt and output once more",
        "a drafter that is loaded reads every prompt, with its first draft pass",
        "a step is priced at the contexts of its sequences: at their mean, and on each side of a window or a selection apart; draft passes, and \
         what policies look at, at the mean alone",
        "acceptance is that at the mean context of the traffic, the last of several; each request has its own random numbers, the same \
         under every policy and load",
        "replicas share requests evenly at random: one of them is simulated",
    ])
}

/// What a served load says beyond what prices do.
fn trusted(loaded: &Loaded) -> Vec<String> {
    let mut lines = trust::lines(&loaded.scenario);
    lines.push(
        "plain steps of served chat are read 25 to 50 % short at concurrency 32 and more: ratios hold, times, rates and replicas do not \
         until one is measured at that load"
            .to_owned(),
    );
    lines
}
