//! `specplan calibrate`: a profile fitted to measurements of one's own.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::args::calibrate::CalibrateArgs;
use crate::cli::error::Error;
use crate::cli::files::read::read_text;
use crate::cli::files::{Results, may_replace, replace};
use crate::cli::forms::Forms;
use crate::cli::opening::{catalog_folder, inputs, no_grid, open_with};
use crate::cli::publish::{Published, publish};
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, Place, Source, visible};
use crate::domain::measured::Measured;
use crate::domain::scenario::Scenario;
use crate::evidence::fitted::{Asked, Fitted, NoCalibration, fitted};
use crate::evidence::next::Planned;
use crate::import::points::{self, NoPoints, Points, points};
use crate::plan::setting::Setting;
use crate::report::calibration::{csv, document, text};
use crate::report::chart::calibration::chart;
use crate::report::manifest::{Input, manifest};
use crate::report::profile_file;
use crate::report::table::{self, Style};
use crate::report::trust;
use crate::sweep::grid::GridError;
use crate::words::{Format, Kind};

/// Batches that are looked at for the next measurement, at most.
const MOST_BATCHES: usize = 24;
/// Points that an error names, at most.
const MOST_TOLD: usize = 8;
/// Contexts and draft lengths, at most.
const MOST_OTHERS: usize = 8;

pub(super) fn calibrate(args: &CalibrateArgs) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let id = profile_id(&args.profile)?;
    let loaded = open_with(&args.common, true)?;
    let scenario = &loaded.scenario;
    let setting = only_setting(scenario)?;
    let Taken { points, refused, unread, texts } = take(args, &setting)?;
    let asked = Asked { id: &id, planned: planned(args, scenario), side: args.side };
    let found = fitted(&setting, points, &asked).map_err(|error| not_fitted(error, &loaded, &refused))?;
    let found = Fitted { refused: [refused, found.refused].concat(), ..found };
    if !args.common.quiet {
        unread.iter().for_each(|line| terminal::note(line));
    }
    let profile = profile_file::text(&found.engine).ok_or_else(|| Error::Internal("an ideal profile".to_owned()))?;
    let results = forms.open(&args.output.out, &scenario.name, "calibrate", args.common.quiet)?;
    let output = Output { args, scenario, found: &found, manifest: described(args, &loaded, &texts) };
    may_replace(&args.profile, profile_file::is_ours)?;
    let published = match results {
        Some(results) => Some(output.files(results, &forms)?),
        None => None,
    };
    replace(&args.profile, profile.as_bytes(), profile_file::is_ours)?;
    if !args.common.quiet {
        terminal::note(&visible(&format!(
            "wrote {}; price with it: --engine {}",
            args.profile.display(),
            as_path(&args.profile)
        )));
    }
    let shown = output.show();
    if let Some(published) = published.filter(|_| !args.common.quiet) {
        published.tell();
    }
    shown
}

/// A path as `--engine` takes it: with a slash, so that it is none of the catalog's names.
fn as_path(path: &Path) -> String {
    let shown = path.display().to_string();
    if shown.contains('/') { shown } else { format!("./{shown}") }
}

/// The id that a profile gets: its file's name.
fn profile_id(path: &Path) -> Result<String, Error> {
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| toml && is_id(stem));
    stem.map(str::to_owned).ok_or_else(|| {
        let shown = visible(&path.display().to_string());
        Error::Usage(format!("--profile {shown}: a profile's name is an id and ends in .toml, such as my-vllm.toml"))
    })
}

/// The one deployment of a scenario.
fn only_setting(scenario: &Scenario) -> Result<Setting<'_>, Error> {
    let axes = [
        ("hardware", scenario.hardware.len()),
        ("target", scenario.targets.len()),
        ("tensor_parallel", scenario.tensor_parallel.len()),
        ("engine", scenario.engines.len()),
    ];
    let several: Vec<String> =
        axes.iter().filter(|(_, count)| *count > 1).map(|(name, count)| format!("{count} values of {name}")).collect();
    match Setting::all(scenario).next() {
        Some(setting) if several.is_empty() => Ok(setting),
        _ => Err(Error::Usage(format!(
            "a profile is of one deployment, and the scenario has {}: take one with --set, such as --set {}=…",
            several.join(" and "),
            axes.iter().find(|(_, count)| *count > 1).map_or("hardware", |(name, _)| name)
        ))),
    }
}

/// Points of all files and of the scenario.
struct Taken {
    points: Vec<Measured>,
    refused: Vec<(String, String)>,
    unread: Vec<String>,
    texts: Vec<(String, String)>,
}

fn take(args: &CalibrateArgs, setting: &Setting<'_>) -> Result<Taken, Error> {
    let mut taken = Taken { points: setting.scenario.measured.clone(), refused: vec![], unread: vec![], texts: vec![] };
    if args.measurements.is_empty() && taken.points.is_empty() {
        return Err(Error::Usage(
            "there is nothing to fit to: give --measurements FILE, or [[measured]] in the scenario".to_owned(),
        ));
    }
    if let Some(again) =
        (1..args.measurements.len()).find(|at| args.measurements[..*at].contains(&args.measurements[*at]))
    {
        let path = args.measurements[again].display();
        return Err(Error::Usage(format!("{path} is given twice: its points would count twice")));
    }
    let only = vec![
        ("hardware", setting.device.id.clone()),
        ("target", setting.target.id.clone()),
        ("engine", setting.engine.origin().to_owned()),
        ("tensor_parallel", setting.tensor_parallel.to_string()),
    ];
    let ranks = setting.setup(None).map_err(|error| Error::CannotRun(error.to_string()))?.ranks();
    let search = SearchPath::new(catalog_folder(args.common.catalog.as_deref())?);
    // A name that the catalog knows as another model is another deployment; one that it does not know may be anything.
    let is_target = |name: &str| {
        let meant = search.meant_by(name, &[Kind::Models]);
        meant.is_empty() || meant.iter().any(|of| of.id == setting.target.id)
    };
    for path in &args.measurements {
        let text = read_text(path)?;
        let name = path.file_name().map_or_else(|| "stdin".to_owned(), |name| visible(&name.to_string_lossy()));
        let asked = points::Asked { name: &name, k: args.k, only: only.clone(), is_target: &is_target };
        let Points { points: read, refused, unread } =
            points(&text, &asked).map_err(|error| no_points(path, &text, &error))?;
        let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
        taken.points.extend(read.into_iter().map(|point| if is_json { of_rank(point, ranks) } else { point }));
        taken.refused.extend(refused);
        if !unread.is_empty() {
            taken.unread.push(visible(&format!("{name}: columns that say nothing here: {}", unread.join(", "))));
        }
        taken.texts.push((name, text));
    }
    Ok(taken)
}

/// A benchmark's clients are those of the whole server; where attention is apart a batch is that of one rank.
fn of_rank(point: Measured, ranks: u64) -> Measured {
    Measured { batch: (point.batch / ranks as f64).max(1.0), ..point }
}

fn no_points(path: &Path, text: &str, error: &NoPoints) -> Error {
    let end = text.find('\n').unwrap_or(text.len());
    let name = path.display().to_string();
    let source = Source { name, text: text[..end].to_owned(), command_line: false };
    let place = Place { source: Arc::new(source), span: 0..end };
    let found = Diagnostic::error("not-measurements", error.to_string()).at(&place);
    let hint = "a CSV with columns batch, k, context, tokens_per_pass and step_ms, tpot_ms, tokens_per_s or speedup; or the JSON that \
                `vllm bench serve --save-result` or SGLang's bench_serving writes. specplan calibrate --help lists all";
    Error::Input(vec![found.hint(hint)])
}

/// Why there is no profile, with what to do.
fn not_fitted(error: NoCalibration, loaded: &Loaded, before: &[(String, String)]) -> Error {
    match error {
        NoCalibration::Setup(error) => no_grid(&GridError::Setups(vec![error]), loaded),
        NoCalibration::NoPoint(refused) => {
            let all = [before.to_vec(), refused].concat();
            let hint = "specplan calibrate --help says what a point needs";
            Error::Input(each("no-points", "not one point can be used", hint, &all))
        }
        NoCalibration::Unlike { ref points, .. } => {
            let hint = "look at the units, and at hardware, number formats, tensor_parallel and engine of the scenario; a batch that does not \
                        decode together, or a rate of one sequence, looks like this too";
            Error::Input(each("other-deployment", &error.to_string(), hint, points))
        }
        NoCalibration::Profile(error) => {
            let found = Diagnostic::error("no-profile", error.to_string()).at(loaded.place(&["engine"]));
            Error::Input(vec![found.hint("begin with a profile that has some: --engine vllm, sglang or generic-graph")])
        }
        NoCalibration::Fit(error) => Error::Internal(error.to_string()),
    }
}

/// What is wrong with all points, and with each of the first of them.
fn each(code: &'static str, message: &str, hint: &str, points: &[(String, String)]) -> Vec<Diagnostic> {
    let of = |(label, reason): &(String, String)| Diagnostic::error(code, visible(&format!("{label}: {reason}")));
    let whole = Diagnostic::error(code, message.to_owned()).hint(hint);
    points.iter().take(MOST_TOLD).map(of).chain([whole]).collect()
}

/// Where the deployment is meant to run: as asked, else over the scenario's axes.
fn planned(args: &CalibrateArgs, scenario: &Scenario) -> Planned {
    let axes = &scenario.axes;
    let batches = match args.load {
        Some(load) => load.named().into_iter().map(|(_, batch)| batch).collect(),
        None => thinned(axes.batch().iter().collect(), MOST_BATCHES),
    };
    let lengths = axes.k().iter().filter(|k| (1..=64).contains(k)).collect();
    Planned {
        batches,
        contexts: thinned(axes.context().iter().collect(), MOST_OTHERS),
        lengths: thinned(lengths, MOST_OTHERS),
    }
}

/// At most so many of a list, its ends among them.
fn thinned(all: Vec<u64>, most: usize) -> Vec<u64> {
    if all.len() <= most {
        return all;
    }
    (0..most).filter_map(|at| all.get(at * (all.len() - 1) / (most - 1)).copied()).collect()
}

fn described(args: &CalibrateArgs, loaded: &Loaded, texts: &[(String, String)]) -> Value {
    let mut all = inputs(loaded);
    all.extend(texts.iter().map(|(name, text)| Input { kind: "measurements", id: name, text }));
    let options = json!({
        "k": args.k,
        "side": args.side.map(|side| side.as_str()),
        "load": args.load.map(|load| load.named().into_iter().collect::<std::collections::BTreeMap<_, _>>()),
    });
    manifest("calibrate", &loaded.scenario, &all, &options)
}

/// What a finished calibration becomes.
struct Output<'a> {
    args: &'a CalibrateArgs,
    scenario: &'a Scenario,
    found: &'a Fitted,
    manifest: Value,
}

impl Output<'_> {
    fn trust(&self) -> Vec<String> {
        let engine = &self.found.engine;
        let settings = Setting::all(self.scenario).take(1);
        let own = settings.map(|setting| trust::profile(&Setting { engine, ..setting }.backing()));
        let elsewhere = "of other hardware, targets, number formats, devices and kinds of drafters the profile knows nothing: calibrate there too";
        own.chain([elsewhere.to_owned()]).collect()
    }

    fn csv(&self) -> Result<Vec<u8>, Error> {
        csv(self.found).map_err(|error| Error::Internal(error.to_string()))
    }

    fn files(&self, mut results: Results, forms: &Forms) -> Result<Published, Error> {
        if forms.csv {
            results.add("csv", &self.csv()?)?;
        }
        if forms.json {
            results.add("json", &document(self.found, &self.manifest))?;
        }
        forms.draw(&mut results, &[chart(self.found, &self.scenario.title, &self.trust())])?;
        publish(results, self.manifest.clone())
    }

    fn show(&self) -> Result<(), Error> {
        let trust = self.trust();
        let title = format!("Calibration: {}", self.scenario.title);
        let page = |style| table::page(&title, &text(self.found, style), &trust, style);
        match self.args.output.format {
            Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
            Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
            Format::Csv => terminal::print(&self.csv()?)?,
            Format::Json => terminal::print(&document(self.found, &self.manifest))?,
        }
        if !self.args.common.quiet {
            trust.iter().for_each(|line| terminal::note(line));
        }
        Ok(())
    }
}
