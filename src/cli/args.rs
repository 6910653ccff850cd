//! The command line.

pub mod acceptance;
pub mod calibrate;
pub mod check;
pub mod convert;
pub mod explain;
pub mod plan;
pub mod traffic;
pub mod tree;
pub mod validate;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Parser, Subcommand};

use crate::catalog::edit::Assignment;
use crate::cli::args::acceptance::AcceptanceArgs;
use crate::cli::args::calibrate::CalibrateArgs;
use crate::cli::args::check::CheckArgs;
use crate::cli::args::convert::ConvertArgs;
use crate::cli::args::explain::ExplainArgs;
use crate::cli::args::plan::PlanArgs;
use crate::cli::args::traffic::TrafficArgs;
use crate::cli::args::tree::TreeArgs;
use crate::cli::args::validate::ValidateArgs;
use crate::diagnostic::nearest;
use crate::sweep::condition::{Condition, ConditionError};
use crate::sweep::row::COLUMNS;
use crate::sweep::shard::Shard;
use crate::words::{ColorChoice, FileForm, Format, Kind, Role};

/// Will speculative decoding pay on your hardware, with which drafter, draft length and up to which load?
#[derive(Debug, Parser)]
#[command(name = "specplan", version, after_help = AFTER_HELP)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 could not finish, 2 wrong command line, 3 an input file is wrong,
4 what was asked cannot run (such as: nothing fits), 5 a check asked for failed.";

/// Seeds beyond this do not survive readers of JSON, nor does a scenario take them: 2^53.
const LARGEST_SEED: u64 = 1 << 53;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Price a grid of batch, k, acceptance and context: speedup table, CSV, charts.
    Sweep(SweepArgs),
    /// The decision: enable, don't, or measure first; which drafter and k, up to which batch, how sure, in the forms engines take.
    Plan(PlanArgs),
    /// The same from a launch command, without a scenario; with two benchmarks, why the measured gain is what it is.
    Check(Box<CheckArgs>),
    /// The accept/reject rule and tokens per pass by Monte Carlo, beside theory, with intervals.
    Simulate(SimulateArgs),
    /// What is built in and what your own folders add, with figures, sources and what follows from them.
    Catalog(CatalogArgs),
    /// One point taken apart: operators, bytes, FLOPs, bounds, what makes the speedup, memory.
    Explain(ExplainArgs),
    /// Requests over time: waiting, latency, throughput and what they ask, with speculation and without.
    Traffic(TrafficArgs),
    /// The best draft tree for the hardware, drawn, compared with the best chain, in the forms engines take.
    Tree(TreeArgs),
    /// What engines and benchmarks print of drafts, in every definition of acceptance, with intervals.
    Acceptance(AcceptanceArgs),
    /// One figure of acceptance in every definition that is in use.
    Convert(ConvertArgs),
    /// Predicted against measured speedups: how far to trust this program, on published measurements or yours.
    Validate(ValidateArgs),
    /// An engine profile fitted to your own measurements: from one point to thousands, and what to measure next.
    Calibrate(CalibrateArgs),
    /// A model's file from the configuration that its checkpoint comes with.
    Import(ImportArgs),
    /// Write a commented scenario to start from.
    Init(InitArgs),
}

impl Command {
    /// When to colour.
    #[must_use]
    pub const fn color(&self) -> ColorChoice {
        match self {
            Self::Sweep(args) => args.common.color,
            Self::Plan(args) => args.common.color,
            Self::Simulate(args) => args.common.color,
            Self::Catalog(args) => args.color,
            Self::Explain(args) => args.common.color,
            Self::Traffic(args) => args.common.color,
            Self::Tree(args) => args.common.color,
            Self::Acceptance(args) => args.color,
            Self::Convert(args) => args.color,
            Self::Validate(args) => args.color,
            Self::Calibrate(args) => args.common.color,
            Self::Check(args) => args.color,
            Self::Import(ImportArgs { action: ImportAction::Hf(args) }) => args.color,
            Self::Init(args) => args.color,
        }
    }
}

/// Arguments of `catalog`.
#[derive(Debug, clap::Args)]
pub struct CatalogArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: CatalogAction,
    /// A catalog of your own, with folders hardware, models, engines and scenarios; searched first.
    #[arg(long, value_name = "DIR", global = true)]
    pub catalog: Option<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub format: Format,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: ColorChoice,
}

/// What `catalog` does.
#[derive(Debug, Subcommand)]
pub enum CatalogAction {
    /// Everything that can be named, or everything of one kind: hardware by vendor, models by family.
    List(ListArgs),
    /// One entry with its figures, sources and derived figures.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Its id, the path of a file such as ./my-gpu.toml, or a name that only one entry fits.
        id: String,
    },
}

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// From what.
    #[command(subcommand)]
    pub action: ImportAction,
}

/// What is imported.
#[derive(Debug, Subcommand)]
pub enum ImportAction {
    /// A Hugging Face config.json, of a model or of a drafting head.
    Hf(ImportHfArgs),
}

/// Arguments of `import hf`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --out the model's file goes to standard output and the report to standard error.

Examples:
  specplan import hf config.json --name my-model --out models
                                                       then: specplan sweep --set target=my-model
  specplan import hf config.json --format json         counts and report for programs
  curl -s https://…/config.json | specplan import hf - --name my-model")]
pub struct ImportHfArgs {
    /// The config.json; - is standard input.
    #[arg(value_name = "CONFIG.json")]
    pub config: PathBuf,
    /// ModelOpt's hf_quant_config.json beside it, which says how weights are quantised.
    #[arg(long, value_name = "FILE")]
    pub sidecar: Option<PathBuf>,
    /// The id of the model [default: from the name of the file or of its folder].
    #[arg(long, value_name = "ID")]
    pub name: Option<String>,
    /// Folder for the file ID.toml; made if it is not there, and nothing in it is written over.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The model that a head drafts for: an id of the catalog, or a path.
    #[arg(long, value_name = "ID")]
    pub target: Option<String>,
    /// What the model is for [default: as its configuration looks].
    #[arg(long, value_name = "ROLE")]
    pub role: Option<Role>,
    /// A key that changes neither shape nor cost, though it is not known. Repeatable.
    #[arg(long, value_name = "KEY")]
    pub ignore: Vec<String>,
    /// A catalog of your own, in which --target is looked up first.
    #[arg(long, value_name = "DIR")]
    pub catalog: Option<PathBuf>,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = text_or_json())]
    pub format: Format,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

fn text_or_json() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new([Format::Text.as_str(), Format::Json.as_str()])
        .map(|word| if word == Format::Json.as_str() { Format::Json } else { Format::Text })
}

const SHOW_EXAMPLES: &str = "\
Examples:
  specplan catalog show h100-sxm5-80gb
  specplan catalog show meta-llama/Llama-3.1-8B-Instruct
  specplan catalog show 'deepseek r1' --format json
Case, punctuation, the organisation before a slash and words such as instruct or nvidia do not count. A name that
several entries fit, such as H100, lists them.";

/// Arguments of `catalog list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan catalog list hardware --vendor amd
  specplan catalog list models --fits 80GB
  specplan catalog list --role head --fits h100-sxm5-80gb
  specplan catalog list models --format csv > models.csv")]
pub struct ListArgs {
    /// One kind only; CSV needs one.
    pub kind: Option<Kind>,
    /// Hardware of this vendor, in whatever case.
    #[arg(long, value_name = "NAME")]
    pub vendor: Option<String>,
    /// Models of this role.
    #[arg(long, value_name = "ROLE")]
    pub role: Option<Role>,
    /// Models whose weights, as released, take at most so many bytes, or the memory of one such device; KV cache and
    /// activations are not counted.
    #[arg(long, value_name = "BYTES|HARDWARE")]
    pub fits: Option<String>,
}

/// Arguments of `sweep`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan sweep                                       the built-in founding study
  specplan sweep --scenario mine.toml --out results    your own
  specplan sweep --set 'sweep.batch=[1,8,32]' --set drafters.llama-1b.acceptance.iid.alpha=0.75
  specplan sweep --where 'speedup>=1.2' --where 'batch<=64' --format csv --write none --quiet
  specplan sweep --best-k --write jsonl                the best k of each batch, context and acceptance
  specplan sweep --shard 3/8 --out shares --resume     one of eight shares, going on where it was stopped")]
pub struct SweepArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Leave out points that do not fit in memory.
    #[arg(long)]
    pub only_fitting: bool,
    /// Leave out points whose cells do not meet this: 'speedup>=1.2', 'batch<=64', 'fits=true', 'notes!=unvalidated',
    /// 'alpha=' for empty cells; all of several.
    #[arg(long = "where", value_name = "CONDITION", value_parser = condition)]
    pub conditions: Vec<Condition>,
    /// Write only the best k of each batch, context and acceptance.
    #[arg(long, conflicts_with = "summary")]
    pub best_k: bool,
    /// Write only a line for each context and acceptance: up to which batch it pays, and what it gains at most.
    #[arg(long)]
    pub summary: bool,
    /// Price one of N equal shares, from 1/N to N/N; joined in that order, their rows are those of the whole.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Go on with a sweep of the same command that was stopped or killed; from the beginning if there is none.
    #[arg(long)]
    pub resume: bool,
    /// Refuse larger sweeps [default: 1000000000].
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_points: Option<u64>,
}

/// Reads a condition; says which column was meant.
fn condition(text: &str) -> Result<Condition, String> {
    text.parse().map_err(|error| match &error {
        ConditionError::NoColumn(name) => nearest(name, COLUMNS).map_or_else(
            || error.to_string(),
            |meant| format!("the table has no column `{name}`: did you mean `{meant}`?"),
        ),
        _ => error.to_string(),
    })
}

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub struct InitArgs {
    /// The file to write; one that is there is left alone.
    #[arg(default_value = "scenario.toml")]
    pub file: PathBuf,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan simulate                                    the built-in founding study
  specplan simulate --set simulate.alpha=0.85 --set 'simulate.k=[2,3,5]'
  specplan simulate --set simulate.rounds=5000000 --seed 11")]
pub struct SimulateArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where the results of a command go.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Folder for result files; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "output")]
    pub out: PathBuf,
    /// Files to write, separated by commas.
    #[arg(long, value_name = "FORMS", value_delimiter = ',', default_value = "csv,png")]
    pub write: Vec<FileForm>,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// Flags that every command has.
#[derive(Debug, clap::Args)]
pub struct CommonArgs {
    /// A scenario file, or the name of one in the catalog.
    #[arg(long, value_name = "FILE|NAME", default_value = "founding-study")]
    pub scenario: String,
    /// Change a key of the scenario; the value is TOML, else a string. Repeatable.
    #[arg(long, value_name = "PATH=VALUE", value_parser = Assignment::parse)]
    pub set: Vec<Assignment>,
    /// Short for --set engine=NAME.
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// A catalog of your own, with folders hardware, models, engines and scenarios; searched first.
    #[arg(long, value_name = "DIR")]
    pub catalog: Option<PathBuf>,
    /// Worker threads; the results do not depend on it [default: one for each core].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256), allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// Seed of everything random, in place of the scenario's.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=LARGEST_SEED), allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// No progress, notes or warnings on standard error.
    #[arg(long)]
    pub quiet: bool,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

impl CommonArgs {
    /// Changes to the scenario in their order; `--engine` comes last.
    #[must_use]
    pub fn changes(&self) -> Vec<Assignment> {
        let engine = self.engine.iter().map(|name| Assignment::engine(name));
        self.set.iter().cloned().chain(engine).collect()
    }

    /// Worker threads: as asked for, else one for each core.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}
