//! Arguments of `validate`.

use std::path::PathBuf;

use super::OutputArgs;
use crate::catalog::edit::Assignment;
use crate::words::ColorChoice;

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan validate                                    the published measurements that are built in
  specplan validate --measurements mine.csv            your own, columns by name
  specplan validate --engine ideal --set roofline=aggregate
                                                       what the founding formula would have said
  specplan validate --set 'without=[\"round\",\"step\"]'  the additive form without some of its terms

Columns every line needs: engine, hardware, target, drafter_kind, k, batch, context (or prompt_tokens),
tokens_per_pass, speedup. Optional: id, source, group, tensor_parallel, weight_bytes, drafter,
drafter_weight_bytes, draft_budget, topology, verify_width, draft_passes, draft_width, closed_loop,
prompt_tokens, output_tokens, base_step_s, round_s. Other columns are ignored.")]
pub struct ValidateArgs {
    /// A CSV of measurements, columns by name [default: the published ones that are built in].
    #[arg(long, value_name = "CSV")]
    pub measurements: Option<PathBuf>,
    /// Change how every line is priced: engine, roofline, without; the value is TOML, else a string. Repeatable.
    #[arg(long, value_name = "PATH=VALUE", value_parser = Assignment::parse)]
    pub set: Vec<Assignment>,
    /// Short for --set engine=NAME: this engine in place of each line's own.
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// A catalog of your own, with folders hardware, models, engines and scenarios; searched first.
    #[arg(long, value_name = "DIR")]
    pub catalog: Option<PathBuf>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
    /// No notes on standard error.
    #[arg(long)]
    pub quiet: bool,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}
