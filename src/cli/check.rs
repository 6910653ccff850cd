//! `specplan check`: from a launch command to a verdict.

mod bench;
mod resolve;
mod show;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::load::{Request, load_text};
use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::args::check::CheckArgs;
use crate::cli::args::plan::PlanArgs;
use crate::cli::args::{CommonArgs, OutputArgs};
use crate::cli::check::bench::Benched;
use crate::cli::check::resolve::Found;
use crate::cli::error::Error;
use crate::cli::files::read_text;
use crate::cli::forms::Forms;
use crate::cli::opening::catalog_folder;
use crate::cli::plan::decided;
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, Place, Source, render, visible};
use crate::domain::device::Device;
use crate::domain::formats::Format as WeightFormat;
use crate::domain::model::Model;
use crate::import::launch::{Drafting, Launch, NoLaunch, launch};
use crate::report::launch_study::{Means, formats, label, study};
use crate::report::toml;
use crate::words::{DrafterKind, Dtype, Format, Server, Word};

/// What a command comes to: names looked up, and what was assumed.
struct Read {
    launch: Launch,
    search: SearchPath,
    means: Means,
    target: Option<Model>,
    /// Accelerators that there are.
    count: Option<u64>,
    assumed: Vec<String>,
    /// What has to be given before anything can be priced.
    missing: Vec<(String, String)>,
}

pub(super) fn check(args: &CheckArgs) -> Result<(), Error> {
    let (name, text) = command(args)?;
    let extra = args.extra.as_deref().map(read_text).transpose()?;
    let read = launch(&text, extra.as_deref()).map_err(|error| no_launch(&error, &name, &text))?;
    let mut read = resolved(args, read)?;
    read.means.acceptance = acceptance(args, &read.launch);
    let root = study(&read.launch, &read.means);
    if args.print_scenario {
        return print_scenario(args, &read, root);
    }
    if !read.missing.is_empty() {
        return Err(unresolved(&read));
    }
    if read.launch.settings.drafting == Drafting::Nothing {
        return Err(nothing_drafts(&name, &text));
    }
    verdict(args, &read, &toml::text(&root))
}

/// The command, with where it stands.
fn command(args: &CheckArgs) -> Result<(String, String), Error> {
    match args.launch.strip_prefix('@') {
        Some(path) => Ok((path.to_owned(), read_text(Path::new(path))?)),
        None => Ok(("--launch".to_owned(), args.launch.clone())),
    }
}

fn at(name: &str, text: &str, span: std::ops::Range<usize>) -> Place {
    let source = Source { name: name.to_owned(), text: text.to_owned(), command_line: false };
    Place { source: Arc::new(source), span }
}

fn no_launch(error: &NoLaunch, name: &str, text: &str) -> Error {
    let end = text.find('\n').unwrap_or(text.len());
    let (span, hint) = match error {
        NoLaunch::Unclosed { line, column, .. } => {
            let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let within: usize = text[before.min(text.len())..].chars().take(column - 1).map(char::len_utf8).sum();
            let from = (before + within).min(text.len());
            let to = text[from..].char_indices().nth(1).map_or(text.len(), |(at, _)| from + at);
            (from..to, "close it, or paste the command again: some pages cut quotes")
        }
        NoLaunch::NoServer => (
            0..end,
            "it has to start vllm serve, vllm.entrypoints.openai.api_server, sglang.launch_server, trtllm-serve or llama-server",
        ),
        NoLaunch::Python => (0..end, "such as: vllm serve MODEL --speculative-config '{\"method\": …}'"),
    };
    Error::Input(vec![Diagnostic::error("not-a-launch", error.to_string()).at(&at(name, text, span)).hint(hint)])
}

/// A command without speculation has no verdict of its own.
fn nothing_drafts(name: &str, text: &str) -> Error {
    let end = text.find('\n').unwrap_or(text.len());
    let found =
        Diagnostic::error("no-speculation", "the command has no speculation: there is nothing to check".to_owned());
    let hint = "add the drafter that you think of, such as --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 3}'; \
                --print-scenario gives a scenario, to which [drafters.…] can be added for specplan plan";
    Error::Input(vec![found.at(&at(name, text, 0..end)).hint(hint)])
}

/// Looks up every name of a command.
fn resolved(args: &CheckArgs, launch: Launch) -> Result<Read, Error> {
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    let mut read = Read {
        launch,
        search,
        means: Means::default(),
        target: None,
        count: None,
        assumed: Vec::new(),
        missing: Vec::new(),
    };
    read.means.engine = Some(args.engine.clone().unwrap_or_else(|| profile(read.launch.server).to_owned()));
    read.means.context = args.context;
    let device = hardware(args, &mut read);
    target(args, &mut read)?;
    drafter(args, &mut read)?;
    memory(&mut read, device.as_ref());
    devices(&mut read);
    Ok(read)
}

/// The profile of a server.
const fn profile(server: Server) -> &'static str {
    match server {
        Server::Vllm => "vllm",
        Server::Sglang => "sglang",
        Server::TensorRtLlm => "trtllm",
        Server::LlamaCpp => "llama-cpp",
    }
}

fn hardware(args: &CheckArgs, read: &mut Read) -> Option<Device> {
    let Some(text) = &args.gpu else {
        read.missing.push((
            "no accelerator is named".to_owned(),
            "give --gpu, such as --gpu H100 or --gpu 'NVIDIA H200 x8'".to_owned(),
        ));
        return None;
    };
    let (Found { written, entry, note }, count) = resolve::hardware(&read.search, text);
    read.count = count;
    read.assumed.extend(note);
    read.means.hardware = Some(entry.as_ref().map_or(written.clone(), |device| device.id.clone()));
    match &entry {
        Some(device) => read.means.has_fp4 = resolve::has_fp4(device),
        None => {
            let hint = "specplan catalog list hardware names all; describe others in a file, and give its path: --gpu ./mine.toml";
            read.missing.push((format!("the catalog has no accelerator called \"{written}\""), hint.to_owned()));
            read.means.unresolved.push(written);
        }
    }
    entry
}

fn target(args: &CheckArgs, read: &mut Read) -> Result<(), Error> {
    let named = read.launch.settings.target.clone();
    if let Some(path) = &args.config {
        let id = id_of(named.as_deref().unwrap_or("target"), "target");
        let (model, file) = resolve::of_config(path, &id, None)?;
        let search = std::mem::take(&mut read.search);
        read.search = search.with(crate::words::Kind::Models, &id, file);
        read.assumed.push(format!("the target's shape is that of {}", path.display()));
        read.means.target = Some(id);
        read.means.weights = Some(model.formats.weights().to_string());
        read.target = Some(model);
        return Ok(());
    }
    let Some(written) = named else {
        let what = "the command names no target".to_owned();
        read.missing.push((what, "write the model that is served into it, or give its --config".to_owned()));
        return Ok(());
    };
    let is_open = read.launch.open.iter().any(|open| written.contains(open.as_str()));
    let found = if is_open {
        Found { written: written.clone(), entry: None, note: None }
    } else {
        resolve::model(&read.search, &written, resolve::is_target)
    };
    read.assumed.extend(found.note);
    read.means.target = Some(found.entry.as_ref().map_or(found.written, |model| model.id.clone()));
    match &found.entry {
        Some(model) => read.means.weights = Some(model.formats.weights().to_string()),
        None => {
            let what = if is_open {
                format!("the target is {written}, which nothing in the command sets")
            } else {
                format!("the catalog has no model called \"{written}\"")
            };
            let hint = "give its --config config.json, as it lies beside the checkpoint; specplan catalog list models names what is known";
            read.missing.push((what, hint.to_owned()));
            read.means.unresolved.push(written);
        }
    }
    read.target = found.entry;
    Ok(())
}

/// An id from a checkpoint's name.
fn id_of(written: &str, otherwise: &str) -> String {
    let base = written.trim_end_matches('/').rsplit('/').next().unwrap_or(written).to_lowercase();
    if is_id(&base) && !base.ends_with(".toml") { base } else { otherwise.to_owned() }
}

fn drafter(args: &CheckArgs, read: &mut Read) -> Result<(), Error> {
    let (drafting, named) = (read.launch.settings.drafting, read.launch.settings.drafter.clone());
    let kind = match drafting {
        Drafting::Of(kind, _) => kind,
        Drafting::Nothing => return Ok(()),
        Drafting::Unsaid | Drafting::Other(_) => {
            let what = match drafting {
                Drafting::Other(word) => format!("drafts of {word} have no price here"),
                _ => "what drafts is not said, or not known here".to_owned(),
            };
            read.missing
                .push((what, "name the method and the drafter; --print-scenario shows what was read".to_owned()));
            read.means.unresolved.extend(named);
            return Ok(());
        }
    };
    if let Some(path) = &args.draft_config {
        let id = id_of(named.as_deref().unwrap_or("drafter"), "drafter");
        let target = read.target.clone().filter(|_| kind != DrafterKind::Model);
        let (_, file) = resolve::of_config(path, &id, target.as_ref())?;
        let search = std::mem::take(&mut read.search);
        read.search = search.with(crate::words::Kind::Models, &id, file);
        read.means.drafter = Some(id);
        return Ok(());
    }
    let Some(written) = named else { return Ok(()) };
    let own = read.target.clone();
    let fits = |model: &Model| match (kind, model.head_kind()) {
        (DrafterKind::Model, None) => true,
        (_, Some(_)) => own.as_ref().is_some_and(|target| model.fits.contains(&target.id)),
        _ => false,
    };
    let found = resolve::model(&read.search, &written, fits);
    read.assumed.extend(found.note);
    read.means.drafter = found.entry.map(|model| model.id);
    if read.means.drafter.is_none() {
        read.means.unresolved.push(written.clone());
        if kind == DrafterKind::Model {
            let hint = "give its --draft-config config.json".to_owned();
            read.missing.push((format!("the catalog has no draft model called \"{written}\""), hint));
        } else {
            read.assumed.push(format!("{written} is not in the catalog: its shape is derived from the target's"));
        }
    }
    Ok(())
}

/// Of a share of what weights leave free follows the share of all.
fn memory(read: &mut Read, device: Option<&Device>) {
    let (Some(fraction), Some(target)) = (read.launch.further.free_memory_fraction, &read.target) else { return };
    let Some(capacity) = device.and_then(|device| device.capacity().ok()) else { return };
    let devices = read.launch.settings.tensor_parallel.unwrap_or(1) as f64;
    let quantised = read.launch.settings.target_quantization.as_deref().map(|of| formats(of, false).0);
    let word = quantised.as_ref().and_then(Value::as_str).filter(|word| read.means.weights.as_deref() != Some(word));
    let dtype = Dtype::ALL.iter().find(|dtype| Some(dtype.as_str()) == word);
    let bytes =
        dtype.map_or_else(|| target.weight_bytes_held(), |dtype| target.weight_bytes_in(WeightFormat::usual(*dtype)));
    let weights = bytes.get() / devices / capacity.get();
    let share: f64 = weights + fraction * f64::max(1.0 - weights, 0.0);
    read.means.utilization = Some((share * 1000.0).round() / 1000.0).filter(|share| (0.01..=1.0).contains(share));
    read.assumed
        .push(format!("{fraction} of the memory that weights leave free comes to {:.0} % of all", 100.0 * share));
}

/// Whether there are as many accelerators as the command takes.
fn devices(read: &mut Read) {
    let of = &read.launch.settings;
    let apart = read.launch.server == Server::Vllm;
    let groups = if apart { of.data_parallel.unwrap_or(1) } else { 1 };
    let needed = of.tensor_parallel.unwrap_or(1) * of.pipeline_parallel.unwrap_or(1) * groups;
    if let Some(count) = read.count.filter(|count| *count != needed) {
        let what = if count < needed { "more than there are" } else { "the others stand idle, or serve replicas" };
        read.assumed.push(format!("the command takes {needed} accelerators of {count}: {what}"));
    }
    if of.tensor_parallel.is_none()
        && read.count.is_some_and(|count| count > 1)
        && read.launch.server == Server::LlamaCpp
    {
        read.assumed.push(
            "llama.cpp spreads layers over all accelerators: priced as one that holds them all in turn".to_owned(),
        );
    }
}

/// Acceptance as a scenario states it: by the flags, else by what the server or the benchmark printed.
fn acceptance(args: &CheckArgs, launch: &Launch) -> Option<Value> {
    if let Some(alpha) = args.alpha {
        return Some(json!({ "iid": { "alpha": alpha } }));
    }
    if let Some(tokens) = args.tokens_per_pass {
        return Some(json!({ "mean_length": { "tokens": tokens, "k": launch.settings.k.unwrap_or(3) } }));
    }
    let path = |path: &Path| {
        let shown = path.display().to_string();
        if path.is_absolute() || shown.contains('/') { shown } else { format!("./{shown}") }
    };
    let k = launch.settings.k;
    match (args.metrics.as_slice(), args.bench.as_slice()) {
        ([only], _) => Some(json!({ "metrics": { "file": path(only), "k": k } })),
        ([since, last], _) => Some(json!({ "metrics": { "file": path(last), "since": path(since), "k": k } })),
        (_, [_, on]) => bench::acceptance(on, k, &path(on)),
        _ => None,
    }
}

/// Prints the scenario, priced or not.
fn print_scenario(args: &CheckArgs, read: &Read, root: serde_json::Map<String, Value>) -> Result<(), Error> {
    if args.output.format == Format::Json {
        let mut document = root;
        let launch = document.shift_remove("launch").unwrap_or_default();
        let lists = ["unresolved", "unknown_flags", "notes"].map(|key| (key.to_owned(), launch[key].clone()));
        document.insert("launch".to_owned(), launch);
        document.extend(lists);
        document.insert("assumed".to_owned(), read.assumed.clone().into());
        return terminal::print(format!("{:#}\n", Value::Object(document)).as_bytes());
    }
    let mut head = String::from("# Written by `specplan check`: the launch command as a scenario.\n");
    for (what, hint) in &read.missing {
        head += &format!("# {}: {}\n", visible(what), visible(hint));
    }
    for line in &read.assumed {
        head += &format!("# {}\n", visible(line));
    }
    terminal::print((head + &toml::text(&root)).as_bytes())
}

/// Everything that has to be given, at once.
fn unresolved(read: &Read) -> Error {
    let of = |(what, hint): &(String, String)| Diagnostic::error("unresolved", visible(what)).hint(visible(hint));
    Error::Input(read.missing.iter().map(of).collect())
}

fn verdict(args: &CheckArgs, read: &Read, text: &str) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let plan = plan_args(args, read);
    let changes = plan.common.changes();
    let request = Request { scenario: "launch", changes: &changes, seed: args.seed, published: true };
    let loaded = load_text(&read.search, text, &request).map_err(Error::Input)?;
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(args.color)));
    }
    let benched = Benched::of(args, read, &loaded)?;
    let engine = benched.as_ref().and_then(|of| of.engine.clone());
    let mut scenario = loaded.scenario.clone();
    scenario.engines = engine.map_or(scenario.engines, |engine| vec![engine]);
    let open = |scenario: &crate::domain::scenario::Scenario| {
        forms.open(&args.output.out, &scenario.name, "check", args.quiet)
    };
    decided(&plan, &loaded, &scenario, open, |decided, results| {
        show::show(args, read, &forms, benched.as_ref(), decided, results)
    })
}

/// What `plan` is asked for.
fn plan_args(args: &CheckArgs, read: &Read) -> PlanArgs {
    let k = read.launch.settings.k.unwrap_or(0);
    let is_tree = read.launch.settings.tree_topk.is_some_and(|topk| topk > 1);
    PlanArgs {
        common: CommonArgs {
            scenario: "launch".to_owned(),
            set: args.set.clone(),
            engine: None,
            catalog: args.catalog.clone(),
            threads: args.threads,
            seed: args.seed,
            quiet: args.quiet,
            color: args.color,
        },
        load: args.load,
        drafter: match read.launch.settings.drafting {
            Drafting::Of(kind, version) => Some(label(kind, version)),
            _ => None,
        },
        context: args.context,
        k_max: Some(if is_tree { k } else { k.max(7) }).filter(|_| read.launch.settings.k.is_some()),
        samples: None,
        rate: None,
        price: None,
        output_tokens: 512,
        emit: None,
        max_points: 100_000_000,
        output: OutputArgs {
            out: args.output.out.clone(),
            write: args.output.write.clone(),
            format: args.output.format,
        },
    }
}
