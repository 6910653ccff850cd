//! Traces as CSV.

use csv::{ErrorKind, Position, ReaderBuilder, StringRecord, Trim};
use speedate::MicrosecondsPrecisionOverflowBehavior::Truncate;
use speedate::{DateTime, DateTimeConfig, TimeConfig};

use super::{NotServed, Raw, tokens};

/// How a column tells the time.
#[derive(Clone, Copy)]
enum Clock {
    Stamp,
    Seconds,
    Nanoseconds,
}

/// Columns of one family of traces: prompt, output, and the time with its unit.
const FORMS: [(&str, &str, &str, Clock); 4] = [
    ("ContextTokens", "GeneratedTokens", "TIMESTAMP", Clock::Stamp),
    ("Request tokens", "Response tokens", "Timestamp", Clock::Seconds),
    ("num_prefill_tokens", "num_decode_tokens", "arrived_at", Clock::Seconds),
    ("input_toks", "output_toks", "arrival_time_ns", Clock::Nanoseconds),
];
const BURST_GPT: &str = "Response tokens";

pub(super) fn read(text: &str, notes: &mut Vec<String>) -> Result<Vec<Raw>, NotServed> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| broken(text, &error))?.clone();
    let column = |name: &str| header.iter().position(|cell| cell == name);
    let form = FORMS.iter().find_map(|(prompt, output, time, clock)| {
        Some((column(prompt)?, column(output)?, column(time), *clock, *output == BURST_GPT))
    });
    let Some((prompt, output, time, clock, drops_failed)) = form else { return Err(NotServed::UnknownForm) };
    let (mut raw, mut failed, mut record) = (Vec::new(), 0_u64, StringRecord::new());
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(broken(text, &error)),
        }
        let line = record.position().map_or(0, |position| line_of(text, position));
        let count = |at: usize| {
            let cell = record.get(at).unwrap_or_default();
            let number = cell.parse().map_err(|_| format!("{} \"{cell}\" is no number", &header[at]))?;
            tokens(number, &header[at])
        };
        let read = || -> Result<Raw, String> {
            let at = time.map(|at| seconds(record.get(at).unwrap_or_default(), clock)).transpose()?;
            Ok(Raw { at, prompt: count(prompt)?, hit: 0, output: count(output)? })
        };
        let request = read().map_err(|reason| wrong(line, reason))?;
        if drops_failed && request.output == 0 {
            failed += 1;
        } else {
            raw.push(request);
        }
    }
    if failed > 0 {
        notes.push(format!("{failed} requests without a token of output failed, and are left out"));
    }
    Ok(raw)
}

/// The line of a position, from 1. After lines that end in CR LF the reader stands before the LF.
fn line_of(text: &str, position: &Position) -> usize {
    let is_before_end = text.as_bytes().get(position.byte() as usize) == Some(&b'\n');
    position.line() as usize + usize::from(is_before_end)
}

fn broken(text: &str, error: &csv::Error) -> NotServed {
    let line = error.position().map_or(1, |position| line_of(text, position));
    let reason = match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    wrong(line, reason)
}

fn wrong(line: usize, reason: String) -> NotServed {
    NotServed::Line { line, reason }
}

fn seconds(cell: &str, clock: Clock) -> Result<f64, String> {
    let number = || {
        let number: f64 = cell.parse().map_err(|_| format!("time \"{cell}\" is no number"))?;
        if number.is_finite() { Ok(number) } else { Err(format!("time \"{cell}\" is no time")) }
    };
    match clock {
        Clock::Seconds => number(),
        Clock::Nanoseconds => number().map(|nanoseconds| nanoseconds * 1e-9),
        Clock::Stamp => {
            // Stamps without a zone are all of one.
            // Azure writes steps of 100 ns; finer ones than a microsecond are cut.
            let time = TimeConfig { microseconds_precision_overflow_behavior: Truncate, ..TimeConfig::default() };
            let config = DateTimeConfig { time_config: time, ..DateTimeConfig::default() };
            let stamp = DateTime::parse_bytes_with_config(cell.as_bytes(), &config)
                .map_err(|_| format!("time \"{cell}\" is no date and time, such as 2023-11-16 18:15:46.680"))?;
            Ok(stamp.timestamp_tz() as f64 + f64::from(stamp.time.microsecond) * 1e-6)
        }
    }
}
