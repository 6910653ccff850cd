//! Arguments of `convert`.

use clap::builder::RangedU64ValueParser;

use crate::units::Probability;
use crate::words::{ColorChoice, Format};

/// Arguments of `convert`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("given").required(true).multiple(false),
    after_help = "\
Examples:
  specplan convert --mean-length 2.55 --k 3            vLLM's mean acceptance length, SGLang's accept len
  specplan convert --rate 0.5167 --k 3                 accepted over drafted
  specplan convert --per-position 0.7,0.5,0.35         of all rounds, as vLLM prints them
  specplan convert --sglang-rate 0.64 --draft-tokens 4 --sglang-version 0.5.9"
)]
pub struct ConvertArgs {
    /// Tokens per pass, the bonus included.
    #[arg(long, value_name = "TOKENS", group = "given", allow_negative_numbers = true)]
    pub mean_length: Option<f64>,
    /// Accepted drafts of a round, the bonus left out: vLLM 0.8.5.
    #[arg(long, value_name = "DRAFTS", group = "given", allow_negative_numbers = true)]
    pub without_bonus: Option<f64>,
    /// Accepted over drafted, 0 to 1.
    #[arg(long, value_name = "SHARE", group = "given", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Of all rounds, those that accept at least the first, second, … draft.
    #[arg(long, value_name = "SHARES", group = "given", value_delimiter = ',', value_parser = chance, allow_negative_numbers = true)]
    pub per_position: Vec<Probability>,
    /// Of drafts tested at each position, those that pass.
    #[arg(long, value_name = "SHARES", group = "given", value_delimiter = ',', value_parser = chance, allow_negative_numbers = true)]
    pub conditional: Vec<Probability>,
    /// The chance of every test.
    #[arg(long, value_name = "ALPHA", group = "given", value_parser = chance, allow_negative_numbers = true)]
    pub alpha: Option<Probability>,
    /// SGLang's accept rate; goes with --draft-tokens and --sglang-version.
    #[arg(
        long,
        value_name = "SHARE",
        group = "given",
        requires = "draft_tokens",
        requires = "sglang_version",
        allow_negative_numbers = true
    )]
    pub sglang_rate: Option<f64>,
    /// vLLM's V0 system efficiency, 0 to 1.
    #[arg(long, value_name = "SHARE", group = "given", allow_negative_numbers = true)]
    pub v0_efficiency: Option<f64>,
    /// Drafts of each round. Of a tree its levels, SGLang's steps: without it --draft-tokens stands for a chain.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=10_000), allow_negative_numbers = true)]
    pub k: Option<u64>,
    /// SGLang's number of draft tokens: verified tokens, the root included.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000), requires = "sglang_rate", allow_negative_numbers = true)]
    pub draft_tokens: Option<u64>,
    /// SGLang's version, such as 0.5.9: the rate counts the bonus token up to 0.5.10.
    #[arg(long, value_name = "VERSION", value_parser = version, requires = "sglang_rate")]
    pub sglang_version: Option<(u64, u64, u64)>,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

fn chance(text: &str) -> Result<Probability, String> {
    let number: f64 = text.trim().parse().map_err(|_| "a fraction from 0 to 1 is due".to_owned())?;
    if number > 1.0 && number <= 100.0 {
        return Err(format!("a fraction from 0 to 1 is due: {} for {number} %", number / 100.0));
    }
    Probability::new(number).map_err(|error| error.to_string())
}

/// `0.5.9`, also `v0.5.9` or `0.5.9.post1`.
fn version(text: &str) -> Result<(u64, u64, u64), String> {
    let wrong = || "a version such as 0.5.9 is due".to_owned();
    let mut parts = text.trim_start_matches('v').split(['.', '-', '+']).map(str::parse::<u64>);
    let mut next = || parts.next().and_then(Result::ok);
    Ok((next().ok_or_else(wrong)?, next().ok_or_else(wrong)?, next().ok_or_else(wrong)?))
}
