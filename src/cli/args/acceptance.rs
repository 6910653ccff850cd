//! Arguments of `acceptance`.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;

use crate::acceptance::counted::Confidence;
use crate::domain::observed::Stamp;
use crate::import::engine::stamp::find;
use crate::words::{Apart, ColorChoice, FileForm, Format, Reading};

/// Arguments of `acceptance`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads counters (Prometheus text) of vLLM, SGLang, TensorRT-LLM and llama.cpp; their logs; metrics of requests;
results of vllm bench serve, SGLang's bench_serving, trtllm-bench, aiperf and guidellm.

Examples:
  curl -s localhost:8000/metrics | specplan acceptance -
  specplan acceptance after.prom --since before.prom
  specplan acceptance server.log --after '06-10 14:00' --before '06-10 15:00'
  specplan acceptance rank*.log --by time --span 10m --out results")]
pub struct AcceptanceArgs {
    /// What engines printed; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The form of the files [default: told by what they hold].
    #[arg(long, value_name = "FORM")]
    pub from: Option<Reading>,
    /// An earlier scrape of the same counters, which is subtracted.
    #[arg(long, value_name = "FILE")]
    pub since: Option<PathBuf>,
    /// Draft length, where the files do not say.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000), allow_negative_numbers = true)]
    pub k: Option<u64>,
    /// Count what was printed from this moment on, such as '06-10 14:00' or 2026-06-10T14:00:00.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub after: Option<Stamp>,
    /// Count what was printed before this moment.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub before: Option<Stamp>,
    /// Keep these apart, separated by commas; models always are.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub by: Vec<Apart>,
    /// Length of a span of --by time, such as 30s, 10m, 1h or 1d [default: 1m].
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_negative_numbers = true)]
    pub span: Option<i64>,
    /// How sure intervals are.
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = confidence, allow_negative_numbers = true)]
    pub confidence: Confidence,
    /// Folder for result files; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "output")]
    pub out: PathBuf,
    /// Files to write, separated by commas [default: csv,png with --by time, else none].
    #[arg(long, value_name = "FORMS", value_delimiter = ',')]
    pub write: Vec<FileForm>,
    /// What goes to standard output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// No notes on standard error.
    #[arg(long)]
    pub quiet: bool,
    /// When to colour.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

fn moment(text: &str) -> Result<Stamp, String> {
    find(text).ok_or_else(|| "a moment such as '06-10 14:00' or '2026-06-10 14:00:00' is due".to_owned())
}

fn confidence(text: &str) -> Result<Confidence, String> {
    let number: f64 = text.parse().map_err(|_| "a fraction such as 0.95 is due".to_owned())?;
    Confidence::new(number).map_err(|error| error.to_string())
}

/// `30s`, `10m`, `1h`, `1d`, or seconds alone.
fn seconds(text: &str) -> Result<i64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        "d" => Some(86_400),
        _ => None,
    };
    let seconds = factor.and_then(|factor| number.parse::<i64>().ok()?.checked_mul(factor));
    seconds.filter(|seconds| *seconds > 0).ok_or_else(|| "a time such as 30s, 10m, 1h or 1d is due".to_owned())
}
