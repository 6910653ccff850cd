//! Arguments of `check`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;

use super::plan::{Load, load};
use super::{LARGEST_SEED, OutputArgs};
use crate::catalog::edit::Assignment;
use crate::words::ColorChoice;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan check --gpu H100 --load p50=12,p95=30 --metrics vllm.prom --launch \"vllm serve meta-llama/Llama-3.1-8B-Instruct \\
    --speculative-config '{\\\"method\\\": \\\"eagle3\\\", \\\"model\\\": \\\"yuhuili/EAGLE3-LLaMA3.1-Instruct-8B\\\", \\\"num_speculative_tokens\\\": 3}'\"
                                                       will it pay here?
  specplan check --gpu 'NVIDIA H200 x8' --launch @serve.sh --bench off.json on.json
                                                       and why the measured gain is what it is
  specplan check --launch @serve.sh --extra options.yaml --print-scenario > mine.toml
                                                       the command as a scenario, to go on from

Commands of vLLM (vllm serve, its API server, docker run vllm/vllm-openai), SGLang, trtllm-serve and llama-server are read, as
they are pasted: with variables, line breaks and comments. Nothing is run, and no file that a command names has to exist.")]
pub struct CheckArgs {
    /// The launch command, or @FILE with it; @- is standard input.
    #[arg(long, value_name = "COMMAND|@FILE", allow_hyphen_values = true)]
    pub launch: String,
    /// The accelerators, in free words: H100, NVIDIA H200 x8, 4x RTX 4090.
    #[arg(long, value_name = "NAME")]
    pub gpu: Option<String>,
    /// The file of options that the command names: YAML or JSON.
    #[arg(long, value_name = "FILE")]
    pub extra: Option<PathBuf>,
    /// What the server prints of its drafts, as specplan acceptance reads it: metrics, a log, or two scrapes, the earlier first.
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    pub metrics: Vec<PathBuf>,
    /// Results of two benchmarks, without speculation and with it.
    #[arg(long, value_names = ["OFF.json", "ON.json"], num_args = 2)]
    pub bench: Vec<PathBuf>,
    /// The target's config.json, where the catalog does not know it.
    #[arg(long, value_name = "CONFIG.json")]
    pub config: Option<PathBuf>,
    /// The drafter's config.json.
    #[arg(long, value_name = "CONFIG.json")]
    pub draft_config: Option<PathBuf>,
    /// Sequences that a replica decodes at once: usually, and in its busiest twentieth.
    #[arg(long, value_name = "p50=N,p95=N", value_parser = load)]
    pub load: Option<Load>,
    /// Tokens in each sequence's KV cache [default: 2048, or half of a shorter longest length].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000_000))]
    pub context: Option<u64>,
    /// Tokens per pass at the command's draft length, bonus included: the acceptance length that engines print.
    #[arg(long, value_name = "N", value_parser = tokens, conflicts_with_all = ["metrics", "alpha"])]
    pub tokens_per_pass: Option<f64>,
    /// Chance that a draft is accepted given all before it were.
    #[arg(long, value_name = "A", value_parser = share, conflicts_with = "metrics")]
    pub alpha: Option<f64>,
    /// Print what the command sets as a scenario in TOML, which plan and sweep read, or in JSON for programs; nothing is priced.
    #[arg(long)]
    pub print_scenario: bool,
    /// Another engine profile than that of the server.
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Change a key of the scenario; the value is TOML, else a string. Repeatable.
    #[arg(long, value_name = "PATH=VALUE", value_parser = Assignment::parse)]
    pub set: Vec<Assignment>,
    /// A catalog of your own, searched first.
    #[arg(long, value_name = "DIR")]
    pub catalog: Option<PathBuf>,
    /// Worker threads; the results do not depend on it [default: one for each core].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub threads: Option<usize>,
    /// Seed of everything random.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=LARGEST_SEED))]
    pub seed: Option<u64>,
    /// No progress, notes or warnings on standard error.
    #[arg(long)]
    pub quiet: bool,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn tokens(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|tokens: &f64| (1.0..=1025.0).contains(tokens))
        .ok_or_else(|| "tokens per pass are 1 or more, the bonus token included".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|alpha: &f64| (0.0..=1.0).contains(alpha))
        .ok_or_else(|| "alpha lies between 0 and 1".to_owned())
}
