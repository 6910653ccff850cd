//! `specplan check`: from a launch command to a verdict.

mod bench;
mod read;
mod resolve;
mod show;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::drafter::NO_ACCEPTANCE;
use crate::catalog::load::{Loaded, Request, load_text};
use crate::cli::args::check::CheckArgs;
use crate::cli::args::plan::{Load, PlanArgs};
use crate::cli::args::{CommonArgs, OutputArgs};
use crate::cli::check::bench::Benched;
use crate::cli::check::read::{Read, resolved};
use crate::cli::error::Error;
use crate::cli::files::read::read_text;
use crate::cli::forms::Forms;
use crate::cli::plan::decided;
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, Place, Source, render, visible};
use crate::domain::scenario::Scenario;
use crate::import::launch::{Drafting, Launch, NoLaunch, launch};
use crate::import::points::served;
use crate::report::launch_study::{label, study};
use crate::report::toml;
use crate::words::Format;

pub(super) fn check(args: &CheckArgs) -> Result<(), Error> {
    let (name, text) = command(args)?;
    let extra = args.extra.as_deref().map(read_text).transpose()?;
    let read = launch(&text, extra.as_deref()).map_err(|error| no_launch(&error, &name, &text))?;
    let mut read = resolved(args, read)?;
    read.means.acceptance = acceptance(args, &read.launch);
    if let (None, [_, on]) = (args.context, args.bench.as_slice()) {
        read.means.context = Some(bench::context(on, read.launch.settings.k)?);
    }
    read.means.is_counted = read.is_counted(args);
    let root = study(&read.launch, &read.means);
    of_this_model(args, &read)?;
    if args.print_scenario {
        if !args.set.is_empty() {
            return Err(Error::Usage(
                "--set changes what is priced, and --print-scenario prints the command alone: give --set to plan"
                    .to_owned(),
            ));
        }
        return print_scenario(args, &read, root);
    }
    let (is_unresolved, drafts) = (!read.missing.is_empty(), read.launch.settings.drafting != Drafting::Nothing);
    // They often say what is missing.
    if is_unresolved || !(drafts || args.quiet) {
        read.launch.notes.iter().for_each(|note| terminal::note(&visible(note)));
    }
    if is_unresolved {
        return Err(unresolved(&read));
    }
    if !drafts {
        return Err(nothing_drafts(&name, &text));
    }
    read.own_limit();
    let changes = plan_args(args, &read).common.changes();
    let request = Request { scenario: "launch", changes: &changes, seed: args.seed, published: true };
    let of = |read: &Read| load_text(&read.search, &toml::text(&study(&read.launch, &read.means)), &request);
    let loaded = match of(&read) {
        Err(found) if found.iter().all(|one| one.code == NO_ACCEPTANCE) => {
            read.unmeasured = true;
            read.means.acceptance = Some(stand_in(&read.launch));
            of(&read)
        }
        loaded => loaded,
    };
    if let (Some(k), true) = (read.launch.settings.k, read.is_counted(args)) {
        read.assumed.push(format!("drafts longer than k = {k} were not measured, and are left out"));
    }
    verdict(args, &read, &loaded.map_err(Error::Input)?)
}

/// Refuses metrics of a server of another model.
fn of_this_model(args: &CheckArgs, read: &Read) -> Result<(), Error> {
    // What comes through a pipe can be read once only.
    for path in args.metrics.iter().filter(|path| path.is_file()) {
        let text = read_text(path)?;
        if let Some(other) = served(&text).filter(|named| !read.may_be_target(named)) {
            let target = read.means.target.as_deref().unwrap_or_default();
            let message = format!("{} is of a server of {other}, and the command serves {target}", path.display());
            let hint = "give the metrics of this server, or the launch command of that one";
            return Err(Error::Input(vec![Diagnostic::error("other-model", visible(&message)).hint(hint)]));
        }
    }
    Ok(())
}

/// What stands for an acceptance of which nobody knows anything: nothing that depends on it is shown.
fn stand_in(launch: &Launch) -> Value {
    let of = &launch.settings;
    let k = of.k.unwrap_or(3).max(1);
    if of.tree_topk.is_some_and(|topk| topk > 1) {
        return json!({ "mean_length": { "tokens": 1.0 + k as f64 / 2.0, "k": k } });
    }
    json!({ "iid": { "alpha": 0.5 } })
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

/// Acceptance as a scenario states it: by the flags, else by what the server or the benchmark printed.
fn acceptance(args: &CheckArgs, launch: &Launch) -> Option<Value> {
    if let Some(alpha) = args.alpha {
        return Some(json!({ "iid": { "alpha": alpha } }));
    }
    if let Some(tokens) = args.tokens_per_pass {
        return Some(json!({ "mean_length": { "tokens": tokens, "k": launch.settings.k.unwrap_or(3) } }));
    }
    let path = |path: &Path| {
        // A scenario looks for files beside itself, wherever it is put.
        let path = if args.print_scenario {
            std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
        } else {
            path.to_owned()
        };
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
    let mut head = String::from(
        "# Written by `specplan check`: the launch command as a scenario. Save it, then:\n# specplan plan --scenario ./FILE.toml",
    );
    let load = args.load.map_or_else(Vec::new, Load::named);
    let load: Vec<String> = load.iter().map(|(name, batch)| format!("{name}={batch}")).collect();
    head += &if load.is_empty() { " --load p50=N,p95=N\n".to_owned() } else { format!(" --load {}\n", load.join(",")) };
    if !args.bench.is_empty() {
        head += "# The benchmarks calibrate the answer of `check` alone: specplan calibrate makes a profile of them.\n";
    }
    if let Some(limit) = read.limit_of_server() {
        head += &format!(
            "# {} runs no more than {limit} at once unless told otherwise; to price with that: max_num_seqs = {limit} under [limits]\n",
            read.launch.server
        );
    }
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

fn verdict(args: &CheckArgs, read: &Read, loaded: &Loaded) -> Result<(), Error> {
    let forms = Forms::of(&args.output.write)?;
    let plan = plan_args(args, read);
    if !loaded.warnings.is_empty() && !args.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(args.color)));
    }
    let benched = Benched::of(args, read, loaded)?;
    let engine = benched.as_ref().and_then(|of| of.engine.clone());
    let mut scenario = loaded.scenario.clone();
    scenario.engines = engine.map_or(scenario.engines, |engine| vec![engine]);
    let open = |scenario: &Scenario| match read.unmeasured {
        true => Ok(None),
        false => forms.open(&args.output.out, &scenario.name, "check", args.quiet),
    };
    decided(&plan, loaded, &scenario, open, |decided, results| {
        show::show(args, read, &forms, benched.as_ref(), decided, results)
    })
}

/// What `plan` is asked for.
fn plan_args(args: &CheckArgs, read: &Read) -> PlanArgs {
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
        k_max: None,
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
