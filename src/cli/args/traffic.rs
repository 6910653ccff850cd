//! Arguments of `traffic`.

use super::plan::above_zero;
use super::{CommonArgs, OutputArgs};

/// Arguments of `traffic`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan traffic --scenario llama-8b-drafters --set traffic.rate=[2,8,16]
  specplan traffic --scenario mine.toml --set traffic.clients=[1,16,64] --set 'traffic.policies=[\"off\",\"k=3\"]'
  specplan traffic --scenario mine.toml --set 'slo.tpot=\"20 ms\"' --set 'slo.ttft=\"500 ms\"' --format csv

[traffic] says when requests come and how long they are, [slo] what is asked of their answers.")]
pub struct TrafficArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Dollars for one GPU and hour [default: the catalog's, said to be dated].
    #[arg(long, value_name = "USD", value_parser = above_zero, allow_negative_numbers = true)]
    pub price: Option<f64>,
    /// Write each request of every run too, to a CSV of its own: when it came, waited and was answered, what was drafted for it.
    #[arg(long)]
    pub requests: bool,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}
