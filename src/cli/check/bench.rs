//! Two benchmarks, without speculation and with it: a profile of the deployment, and why the gain is what it is.

use std::path::Path;

use serde_json::{Value, json};

use crate::catalog::load::Loaded;
use crate::cli::args::check::CheckArgs;
use crate::cli::check::read::Read;
use crate::cli::error::Error;
use crate::cli::files::read::read_text;
use crate::diagnostic::{Diagnostic, visible};
use crate::domain::engine::Engine;
use crate::domain::measured::{Beside, Measured};
use crate::evidence::deployment::Prices;
use crate::evidence::fitted::{Asked, fitted};
use crate::evidence::gap::{Around, Cause, Gap, causes};
use crate::evidence::next::Planned;
use crate::import::points::{Asked as PointsAsked, beside, points, preemptions};
use crate::plan::setting::Setting;
use crate::report::launch_study::groups;
use crate::words::{CaptureUnit, Server};

/// Requests whose prompts or outputs differ by more are others.
const UNLIKE: f64 = 1.25;

/// What two benchmarks tell.
pub(super) struct Benched {
    /// The gap between both and their prices.
    pub(super) gap: Gap,
    /// What may be behind it.
    pub(super) causes: Vec<Cause>,
    /// The profile that both were fitted to.
    pub(super) engine: Option<Engine>,
    /// What the reader should know of it.
    pub(super) told: String,
}

/// A run with what stands beside its time.
struct Run {
    point: Measured,
    beside: Beside,
    /// Runs in its file.
    runs: usize,
}

impl Benched {
    /// Reads both, if they are given.
    pub(super) fn of(args: &CheckArgs, read: &Read, loaded: &Loaded) -> Result<Option<Self>, Error> {
        let [off, on] = args.bench.as_slice() else { return Ok(None) };
        let k = read.launch.settings.k;
        let groups = groups(&read.launch) as f64;
        let of_group = |run: Run| {
            // Clients are those of the whole server, batches those of one group.
            let point = Measured { batch: (run.point.batch / groups).max(1.0), ..run.point };
            Run {
                point,
                runs: run.runs,
                beside: Beside { clients: run.beside.clients.map(|clients| clients / groups), ..run.beside },
            }
        };
        let (off, on) = (of_group(run(off, k, Some(read))?), of_group(run(on, k, Some(read))?));
        if off.point.k > 0 || on.point.k == 0 {
            let what = "--bench takes the run without speculation first and the one with it second";
            let which = if off.point.k > 0 { "the first one speculates" } else { "the second one does not speculate" };
            return Err(Error::Usage(format!("{what}: {which}")));
        }
        let Some(setting) = Setting::all(&loaded.scenario).next() else {
            return Err(Error::Internal("a launch command without a setting".to_owned()));
        };
        let prices = Prices::new(&setting).map_err(|error| Error::CannotRun(error.to_string()))?;
        let gap = Gap::of(&prices, &off.point, &on.point).map_err(|error| unusable(&error.to_string()))?;
        let requests = |run: &Run| run.point.requests.map(|of| (of.prompt, of.output));
        let has_other_requests = requests(&off).zip(requests(&on)).is_some_and(|((prompt, output), (other, own))| {
            [prompt / other, output / own].iter().any(|ratio| !(1.0 / UNLIKE..=UNLIKE).contains(ratio))
        });
        let around = Around { has_other_requests, ..around(args, read)? };
        let causes = causes(&gap, &off.beside, &on.beside, &around);
        let planned = Planned { batches: vec![1], contexts: vec![1], lengths: vec![1] };
        let several = if off.runs > 1 || on.runs > 1 { "; of files with several runs the last is taken" } else { "" };
        let asked = Asked { id: "measured-here", planned, side: None };
        let fitted = fitted(&setting, vec![off.point, on.point], &asked);
        let (engine, told) = match fitted {
            Ok(fitted) => (
                Some(fitted.engine),
                "the two benchmarks calibrate the profile for this answer: two points, so that far batches stay unsure"
                    .to_owned()
                    + several,
            ),
            Err(error) => (None, format!("the two benchmarks do not calibrate the profile: {error}{several}")),
        };
        Ok(Some(Self { gap, causes, engine, told }))
    }
}

fn unusable(reason: &str) -> Error {
    Error::Input(vec![Diagnostic::error("no-points", visible(&format!("--bench: {reason}")))])
}

/// The one run of a file; of several the last, as a benchmark appends them.
fn run(path: &Path, k: Option<u64>, of: Option<&Read>) -> Result<Run, Error> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let is_target = |named: &str| of.is_none_or(|read| read.may_be_target(named));
    let only = of.map_or_else(Vec::new, |read| vec![("engine", read.launch.server.as_str().to_owned())]);
    let asked = PointsAsked { name: &name, k, only, is_target: &is_target };
    let read = points(&text, &asked).map_err(|error| unusable(&format!("{name}: {error}")))?;
    let runs = read.points.len() + read.refused.len();
    let Some(point) = read.points.into_iter().next_back() else {
        let why = read.refused.first().map_or_else(|| "it holds no run".to_owned(), |(_, why)| why.clone());
        return Err(unusable(&format!("{name}: {why}")));
    };
    let beside = beside(&text).into_iter().next_back().unwrap_or_default();
    Ok(Run { point, beside, runs })
}

fn around(args: &CheckArgs, read: &Read) -> Result<Around, Error> {
    let of = &read.launch;
    let mut preempted = None;
    for path in args.metrics.iter().filter(|path| path.is_file()) {
        preempted = preemptions(&read_text(path)?).or(preempted);
    }
    let largest_graph = of.further.captures.as_ref().and_then(|captures| {
        let largest = captures.largest?;
        let width = of.settings.tree_nodes.or_else(|| Some(of.settings.k? + 1)).unwrap_or(1);
        Some(if captures.unit == CaptureUnit::Sequences { largest * width } else { largest })
    });
    Ok(Around {
        largest_graph,
        is_eager: of.further.is_eager,
        own_limit: read.means.own_limit,
        limit: limit_of(read),
        has_other_requests: false,
        preemptions: preempted,
    })
}

/// Running requests of a group that the command allows.
fn limit_of(read: &Read) -> Option<u64> {
    let all = read.launch.settings.max_num_seqs?;
    Some(if read.launch.server == Server::Sglang { (all / groups(&read.launch)).max(1) } else { all })
}

/// Tokens in the KV cache of a run, in the mean.
pub(super) fn context(path: &Path, k: Option<u64>) -> Result<u64, Error> {
    Ok(run(path, k, None)?.point.context.round().max(1.0) as u64)
}

/// The acceptance that a benchmark prints, as a scenario states it.
pub(super) fn acceptance(path: &Path, k: Option<u64>, shown: &str) -> Option<Value> {
    let text = read_text(path).ok()?;
    if text.contains("spec_decode_num_drafts") {
        return Some(json!({ "metrics": { "file": shown, "k": k } }));
    }
    let run = run(path, k, None).ok()?;
    Some(json!({ "mean_length": { "tokens": run.point.tokens_per_pass?, "k": run.point.k } }))
}
