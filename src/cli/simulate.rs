//! `specplan simulate`: acceptance, whole sequences and the accept/reject rule by Monte Carlo, beside theory.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::acceptance::study::{Study, Subject, draws, study};
use crate::catalog::load::Loaded;
use crate::cli::args::SimulateArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::opening::{inputs, open};
use crate::cli::publish::publish;
use crate::cli::subjects::{Priced, subjects};
use crate::cli::{progress, stop_on_signal, terminal};
use crate::domain::simulate::Simulate;
use crate::parallel::{Failure, Outcome};
use crate::report::chart;
use crate::report::manifest::manifest;
use crate::report::simulation;
use crate::report::simulation::fit::{Borne, borne};
use crate::report::simulation::lines::{Line, Simulated, lines};
use crate::report::table::{self, Style};
use crate::words::Format;

pub(super) fn simulate(args: &SimulateArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let loaded = open(&args.common)?;
    let Priced { simulate, simulated, priced, left_out } = subjects(&loaded)?;
    let stop = stop_on_signal()?;
    let results = forms.open(&args.output.out, &loaded.scenario.name, "simulate", args.common.quiet)?;
    let study = run(args, &simulate, &simulated, loaded.scenario.seed, &stop)?;
    let lines = lines(&simulate, &simulated, &study);
    let fits = fits(&loaded, &simulate);
    let trust = [simulation::trust(&simulated), left_out].concat();
    let manifest = described(&loaded, &trust);
    let output = Output {
        args,
        loaded: &loaded,
        simulate: &simulate,
        simulated: &simulated,
        priced: &priced,
        fits: &fits,
        study: &study,
        lines: &lines,
        manifest: &manifest,
        trust: &trust,
    };
    let published = match results {
        Some(results) => Some(output.files(results, &forms, &stop)?),
        None => None,
    };
    let shown = output.show();
    if let Some(published) = published.filter(|_| !args.common.quiet) {
        published.tell();
    }
    shown
}

/// What counters and recordings of drafters bear out, where their acceptance is what is simulated.
fn fits(loaded: &Loaded, simulate: &Simulate) -> Vec<Borne> {
    let drafters = loaded.scenario.drafters.iter().filter(|_| simulate.alpha.is_none());
    drafters.filter_map(|drafter| borne(&drafter.label, &drafter.acceptance)).collect()
}

fn run(
    args: &SimulateArgs,
    simulate: &Simulate,
    simulated: &[Simulated],
    seed: u64,
    stop: &AtomicBool,
) -> Result<Study, Error> {
    let subjects: Vec<Subject> = simulated.iter().map(|one| one.subject.clone()).collect();
    let all = u64::try_from(draws(simulate, &subjects)).unwrap_or(u64::MAX);
    let bar = progress::bar(all, args.common.quiet);
    let ended = study(simulate, &subjects, seed, args.common.threads(), stop, |made| bar.inc(made));
    bar.finish_and_clear();
    match ended {
        Ok((Outcome::Finished, study)) => Ok(study),
        Ok((Outcome::Stopped, _)) => Err(Error::Interrupted),
        Err(error @ Failure::<Infallible>::Threads { .. }) => Err(Error::Internal(error.to_string())),
        Err(Failure::Taken(never)) => match never {},
    }
}

/// The manifest, with what a simulation assumes in place of what prices assume.
fn described(loaded: &Loaded, trust: &[String]) -> Value {
    let mut manifest = manifest("simulate", &loaded.scenario, &inputs(loaded), &json!({}));
    manifest["assumptions"] = json!([
        "a draft x from q is accepted with chance min(1, p(x) / q(x)), else replaced from norm(max(0, p - q))",
        "a round accepts drafts until the first rejection; one more token follows",
        "sequences of a batch are independent of each other, equally long, and at one context; recorded requests are replayed \
         in proportion to their tokens from a round at random",
    ]);
    manifest["trust"] = trust.into();
    manifest
}

/// What a finished study becomes.
struct Output<'a> {
    args: &'a SimulateArgs,
    loaded: &'a Loaded,
    simulate: &'a Simulate,
    simulated: &'a [Simulated],
    priced: &'a str,
    fits: &'a [Borne],
    study: &'a Study,
    lines: &'a [Line],
    manifest: &'a Value,
    trust: &'a [String],
}

impl Output<'_> {
    fn csv(&self) -> Result<Vec<u8>, Error> {
        simulation::csv(self.lines).map_err(|error| Error::Internal(error.to_string()))
    }

    fn json(&self) -> Vec<u8> {
        simulation::json(self.lines, self.fits, self.manifest)
    }

    fn files(
        &self,
        mut results: Results,
        forms: &Forms,
        stop: &AtomicBool,
    ) -> Result<crate::cli::publish::Published, Error> {
        if forms.csv {
            results.add("csv", &self.csv()?)?;
        }
        if forms.json {
            results.add("json", &self.json())?;
        }
        let charts = chart::study::charts(self.simulate, self.simulated, self.study, &self.loaded.scenario.title);
        for form in &forms.charts {
            for chart in &charts {
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let drawn = chart::drawn(chart, *form).map_err(|error| Error::Internal(error.to_string()))?;
                results.add(&drawn.ending, &drawn.bytes)?;
            }
        }
        publish(results, self.manifest.clone())
    }

    fn show(&self) -> Result<(), Error> {
        let title = &self.loaded.scenario.title;
        let trust = self.trust;
        let page = |style| {
            table::page(
                title,
                &simulation::text(self.simulate, self.lines, self.fits, self.priced, style),
                trust,
                style,
            )
        };
        match self.args.output.format {
            Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
            Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
            Format::Csv => terminal::print(&self.csv()?)?,
            Format::Json => terminal::print(&self.json())?,
        }
        if !self.args.common.quiet {
            trust.iter().for_each(|line| terminal::note(line));
        }
        Ok(())
    }
}
