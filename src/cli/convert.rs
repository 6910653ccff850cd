//! `specplan convert`: between the definitions of acceptance.

use crate::acceptance::convert::{Given, NoConversion, convert as converted};
use crate::cli::args::convert::ConvertArgs;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::report::converted;
use crate::report::table::Style;
use crate::words::Format;

/// The last version of SGLang whose rate counts the bonus token, and the first that prints one.
const LAST_WITH_BONUS: (u64, u64, u64) = (0, 5, 10);
const FIRST_RATE: (u64, u64, u64) = (0, 5, 4);

pub(super) fn convert(args: &ConvertArgs) -> Result<(), Error> {
    let given = given(args)?;
    let of = converted(&given, args.k).map_err(|error| Error::Usage(told(&error)))?;
    if let Some(k) = args.k.filter(|k| *k != of.k) {
        return Err(Error::Usage(format!("--k {k}: {} positions are given", of.k)));
    }
    match args.format {
        Format::Text => terminal::print(format!("{}\n", converted::text(&of, Style::Plain)).as_bytes()),
        Format::Md => terminal::print(format!("{}\n", converted::text(&of, Style::Markdown)).as_bytes()),
        Format::Csv => terminal::print(&converted::csv(&of).map_err(|error| Error::Internal(error.to_string()))?),
        Format::Json => terminal::print(&converted::json(&of)),
    }
}

fn given(args: &ConvertArgs) -> Result<Given, Error> {
    let one = [
        args.mean_length.map(Given::MeanLength),
        args.without_bonus.map(Given::WithoutBonus),
        args.rate.map(Given::Rate),
        args.alpha.map(Given::Alpha),
        args.v0_efficiency.map(Given::Efficiency),
        (!args.per_position.is_empty()).then(|| Given::Cumulative(args.per_position.clone())),
        (!args.conditional.is_empty()).then(|| Given::Conditional(args.conditional.clone())),
    ];
    if let Some(given) = one.into_iter().flatten().next() {
        return Ok(given);
    }
    match (args.sglang_rate, args.draft_tokens, args.sglang_version) {
        (Some(_), Some(_), Some(version)) if version < FIRST_RATE => Err(Error::Usage(
            "--sglang-version: SGLang prints a rate from 0.5.4 on; --mean-length takes its accept len".to_owned(),
        )),
        (Some(rate), Some(width), Some(version)) => {
            Ok(Given::Sglang { rate, width, with_bonus: version <= LAST_WITH_BONUS })
        }
        _ => Err(Error::Usage("a figure to convert is missing; --help lists them".to_owned())),
    }
}

/// What is missing or wrong, and the flag that mends it.
fn told(error: &NoConversion) -> String {
    match error {
        NoConversion::NoLength => format!("{error}: give --k; a mean or a share alone fits any number of drafts"),
        NoConversion::NotAShare(share) if (1.0..=100.0).contains(share) => {
            format!("{error}; vLLM's logs and benchmarks print percent: {} is meant", share / 100.0)
        }
        _ => error.to_string(),
    }
}
