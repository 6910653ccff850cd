//! Arguments of `plan`.

use clap::builder::RangedU64ValueParser;

use super::{CommonArgs, OutputArgs};
use crate::words::ScheduleForm;

/// The largest batch that can be asked for.
const LARGEST: u64 = 1_000_000_000;

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  specplan plan --scenario llama-8b-drafters           which of four drafters, with which k, up to which batch, how sure
  specplan plan --scenario mine.toml --load p50=12,p95=30
                                                       for the sequences that your replica decodes at once
  specplan plan --scenario mine.toml --drafter eagle3 --emit vllm
                                                       the k-by-batch table as vLLM's --speculative-config takes it
  specplan plan --scenario mine.toml --rate 50000 --price 2.50
                                                       GPUs and dollars for 50000 tokens a second

Drafters without an acceptance take what is published of their kind (eagle, mtp, block, ngram), with a wide interval.")]
pub struct PlanArgs {
    /// Flags that every command has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// Sequences that a replica decodes at once: usually, and in its busiest twentieth.
    #[arg(long, value_name = "p50=N,p95=N", value_parser = load)]
    pub load: Option<Load>,
    /// Only this drafter, by its name in the scenario.
    #[arg(long, value_name = "NAME")]
    pub drafter: Option<String>,
    /// Only this context [default: those of the scenario].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=LARGEST), allow_negative_numbers = true)]
    pub context: Option<u64>,
    /// The longest draft that is tried; 0: none [default: the longest of the scenario's k].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(0..=1_000_000), allow_negative_numbers = true)]
    pub k_max: Option<u64>,
    /// Draws of what is uncertain [default: the scenario's, 2000].
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(100..=100_000), allow_negative_numbers = true)]
    pub samples: Option<u64>,
    /// Tokens per second that are wanted in all.
    #[arg(long, value_name = "TOKENS/S", value_parser = above_zero, allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Dollars for one GPU and hour [default: the catalog's, said to be dated].
    #[arg(long, value_name = "USD", value_parser = above_zero, allow_negative_numbers = true)]
    pub price: Option<f64>,
    /// Tokens of an output, for the time it takes.
    #[arg(long, value_name = "N", default_value = "512", value_parser = RangedU64ValueParser::<u64>::new().range(1..=20_000), allow_negative_numbers = true)]
    pub output_tokens: u64,
    /// Print draft lengths by batch in the form that an engine takes, and nothing else.
    #[arg(long, value_name = "FORM", conflicts_with = "format")]
    pub emit: Option<ScheduleForm>,
    /// Refuse larger plans, in points of batch, context, k and acceptance.
    #[arg(long, value_name = "N", default_value = "100000000", allow_negative_numbers = true)]
    pub max_points: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Sequences that are decoded at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Half of the time at most.
    pub p50: Option<u64>,
    /// 95 % of the time at most.
    pub p95: Option<u64>,
}

impl Load {
    /// The figures that are given, with their names.
    #[must_use]
    pub fn named(self) -> Vec<(&'static str, u64)> {
        [("p50", self.p50), ("p95", self.p95)].into_iter().filter_map(|(name, of)| Some((name, of?))).collect()
    }
}

/// `p50=12,p95=30`, or one of the two; bare numbers are p50, then p95.
pub(super) fn load(text: &str) -> Result<Load, String> {
    let mut load = Load::default();
    for part in text.split(',').map(str::trim) {
        let bare = if load.p50.is_none() { "p50" } else { "p95" };
        let (name, number) = part.split_once('=').unwrap_or((bare, part));
        let batch: u64 = number
            .trim()
            .parse()
            .ok()
            .filter(|batch| (1..=LARGEST).contains(batch))
            .ok_or_else(|| format!("`{number}` is no number of sequences, from 1 to {LARGEST}"))?;
        let slot = match name.trim() {
            "p50" => &mut load.p50,
            "p95" => &mut load.p95,
            other => return Err(format!("`{other}` is not known: p50 and p95 are, as in p50=12,p95=30")),
        };
        if slot.replace(batch).is_some() {
            return Err(format!("`{}` is given twice", name.trim()));
        }
    }
    match load {
        Load { p50: Some(usual), p95: Some(rare) } if rare < usual => {
            Err(format!("p95 = {rare} lies below p50 = {usual}"))
        }
        load => Ok(load),
    }
}

pub(super) fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e12 => Ok(number),
        _ => Err("a number above 0 is due, at most 1e12".to_owned()),
    }
}
