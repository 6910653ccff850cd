//! Arguments of `tree`.

use clap::builder::RangedU64ValueParser;

use super::{CommonArgs, OutputArgs};
use crate::words::Emit;

/// Arguments of `tree`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan tree --scenario llama-8b-tree               the best tree for each batch, beside the best chain
  specplan tree --scenario llama-8b-tree --batch 4 --emit medusa > choices.txt
  specplan tree --scenario mine.toml --nodes 24 --depth 5

The drafter needs acceptance.ranks: how often its first, second, … candidate for a position is accepted.")]
pub struct TreeArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// The batch whose tree is drawn and emitted [default: the scenario's first].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000_000), allow_negative_numbers = true)]
    pub batch: Option<u64>,
    /// Tokens in each sequence's KV cache [default: the scenario's first].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=1_000_000_000), allow_negative_numbers = true)]
    pub context: Option<u64>,
    /// Which drafter, by its name in the scenario [default: the first with acceptance.ranks].
    #[arg(long, value_name = "NAME")]
    pub drafter: Option<String>,
    /// The most nodes, the last emitted token included.
    #[arg(long, value_name = "N", default_value = "64", value_parser = RangedU64ValueParser::<usize>::new().range(2..=256), allow_negative_numbers = true)]
    pub nodes: usize,
    /// The most levels below it: draft passes.
    #[arg(long, value_name = "N", default_value = "10", value_parser = RangedU64ValueParser::<usize>::new().range(1..=32), allow_negative_numbers = true)]
    pub depth: usize,
    /// Print the tree in the form that an engine takes, and nothing else.
    #[arg(long, value_name = "FORM", conflicts_with = "format")]
    pub emit: Option<Emit>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
