//! Arguments of `calibrate`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;

use super::plan::{Load, load};
use super::{CommonArgs, OutputArgs};
use crate::words::Side;

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan calibrate --scenario mine.toml --measurements points.csv --profile mine-vllm.toml
  specplan calibrate --scenario mine.toml --measurements off.json on.json --profile mine-vllm.toml
                                                       results of vllm bench serve, or of SGLang's bench_serving
  specplan plan --scenario mine.toml --engine ./mine-vllm.toml
                                                       then: the decision with the profile

Files: CSV with columns by name, in any order: batch (sequences that decode at once; or concurrency, clients of a closed loop, whose steps hold
prefill too), k (0: plain decoding), context (or prompt_tokens and output_tokens),
one of step_ms, tpot_ms, tokens_per_s, speedup (also step_s, tpot_s, round_ms, round_s, base_step_ms, base_step_s), for k > 0
tokens_per_pass (the acceptance length that engines print), and drafter where the scenario has several. Optional: verify_width,
draft_passes, draft_width, topology for trees; hardware, target, engine, tensor_parallel to leave other deployments' lines out. Or JSON of a
benchmark, one run or several. Points of [[measured]] in the scenario come on top.

One to three points do: one of them at the largest planned batch, plain and speculating.")]
pub struct CalibrateArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Files with measured points.
    #[arg(long, value_name = "FILE", num_args = 1.., action = clap::ArgAction::Append)]
    pub measurements: Vec<PathBuf>,
    /// The profile that is written; one that a calibration wrote is written anew.
    #[arg(long, value_name = "OUT.toml")]
    pub profile: PathBuf,
    /// Draft length of benchmark runs that do not say it.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1024), allow_negative_numbers = true)]
    pub k: Option<u64>,
    /// Sequences that a replica is meant to decode at once, for what to measure next [default: the scenario's batches].
    #[arg(long, value_name = "p50=N,p95=N", value_parser = load)]
    pub load: Option<Load>,
    /// The side of a change of course that is fitted, where there is one [default: where most of the planned batches lie].
    #[arg(long, value_name = "SIDE")]
    pub side: Option<Side>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
