//! Arguments of `explain`.

use clap::builder::RangedU64ValueParser;

use super::{CommonArgs, OutputArgs};
use crate::units::Probability;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan explain                                     the founding study at its first batch
  specplan explain --batch 64 --k 4                    another point
  specplan explain --set hardware=h100-sxm5-80gb --set target=llama-3.1-8b \\
      --set drafters.llama-1b.model.id=llama-3.2-1b --set roofline=per_op --batch 64 --k 4")]
pub struct ExplainArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Sequences decoded together [default: the scenario's first].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000_000), allow_negative_numbers = true)]
    pub batch: Option<u64>,
    /// Tokens in each sequence's KV cache [default: the scenario's first].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=1_000_000_000), allow_negative_numbers = true)]
    pub context: Option<u64>,
    /// Draft length [default: the best up to the scenario's largest].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=1_000_000), allow_negative_numbers = true)]
    pub k: Option<u64>,
    /// Per-test acceptance [default: the last of the drafter's].
    #[arg(long, value_name = "ALPHA", value_parser = probability, allow_negative_numbers = true)]
    pub alpha: Option<Probability>,
    /// Which drafter, by its name in the scenario [default: the first].
    #[arg(long, value_name = "NAME")]
    pub drafter: Option<String>,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

fn probability(text: &str) -> Result<Probability, String> {
    let number: f64 = text.parse().map_err(|_| "a fraction from 0 to 1 is due".to_owned())?;
    Probability::new(number).map_err(|error| error.to_string())
}
