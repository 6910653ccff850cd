//! Requests that a service has seen, as traces have them: when each came, how long its prompt was and its output.
//!
//! Columns are taken by name: releases of one trace insert some.
//!
//! | trace | time | prompt, output |
//! |---|---|---|
//! | Azure 2023, 2024 | `TIMESTAMP`, a date and time | `ContextTokens`, `GeneratedTokens` |
//! | BurstGPT | `Timestamp`, seconds from some day | `Request tokens`, `Response tokens`; 0 of these is a request that failed |
//! | Vidur | `arrived_at`, seconds; or none | `num_prefill_tokens`, `num_decode_tokens` |
//! | LLMServingSim, CSV or lines | `arrival_time_ns` | `input_toks`, `output_toks` |
//! | Mooncake, lines | `timestamp`, milliseconds | `input_length`, `output_length`, `hash_ids` of 512 tokens |
//! | Qwen (Bailian), lines | `timestamp`, seconds | the same names, `hash_ids` of 16 tokens; told by `chat_id` or `turn` |
//! | inference-simulator-rs, lines | none | `prompt_tokens`, `cached_tokens`, `output_tokens` |
//! | `vllm bench serve --save-detailed` | `start_times`, seconds | `input_lens`, `output_lens` |

mod lines;
mod table;

use crate::domain::served::{Seen, Served};
use crate::domain::traffic::Length;

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotServed {
    /// A line that cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// Lists that do not go together.
    #[error("{0}")]
    Lists(String),
    /// No known columns or keys.
    #[error(
        "it has no columns or keys of a known trace: ContextTokens and GeneratedTokens (Azure), Request tokens and Response \
         tokens (BurstGPT), num_prefill_tokens and num_decode_tokens (Vidur), input_toks and output_toks (LLMServingSim), \
         input_length and output_length (Mooncake, Qwen), input_lens and output_lens (vllm bench)"
    )]
    UnknownForm,
    /// What git keeps in place of the file.
    #[error("it is a pointer of Git LFS, not the file: fetch that with `git lfs pull`, or from the releases page")]
    Pointer,
    /// Conversations without counts.
    #[error(
        "it holds conversations as text, without numbers of tokens: count them with the model's tokenizer, and write columns \
         num_prefill_tokens and num_decode_tokens"
    )]
    Texts,
    /// No request.
    #[error("it holds no request")]
    Empty,
}

/// A request before times are taken from the first.
struct Raw {
    at: Option<f64>,
    prompt: u32,
    hit: u32,
    output: u32,
}

/// Reads a trace.
///
/// # Errors
///
/// [`NotServed`].
///
/// # Examples
///
/// ```
/// use specplan::import::requests::requests;
/// let text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109\r\n";
/// let served = requests("azure.csv", text)?;
/// assert_eq!((served.requests[1].prompt, served.requests[1].output), (396, 109));
/// assert!((served.requests[1].at - 4.314_579).abs() < 1e-6);
/// # Ok::<(), specplan::import::requests::NotServed>(())
/// ```
pub fn requests(name: &str, text: &str) -> Result<Served, NotServed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if start.starts_with("version https://git-lfs") {
        return Err(NotServed::Pointer);
    }
    let mut notes = Vec::new();
    let raw = match start.chars().next() {
        None => return Err(NotServed::Empty),
        Some('[') if start.trim_start_matches('[').trim_start().starts_with(']') => return Err(NotServed::Empty),
        Some('[') => return Err(NotServed::Texts),
        Some('{') => lines::read(text, &mut notes)?,
        Some(_) => table::read(text, &mut notes)?,
    };
    served(name, raw, notes)
}

fn served(name: &str, mut raw: Vec<Raw>, mut notes: Vec<String>) -> Result<Served, NotServed> {
    let is_timed = raw.iter().all(|request| request.at.is_some());
    if raw.is_empty() {
        return Err(NotServed::Empty);
    }
    let at = |request: &Raw| request.at.unwrap_or(0.0);
    let before = raw.windows(2).filter(|pair| at(&pair[1]) < at(&pair[0])).count();
    if is_timed && before > 0 {
        raw.sort_by(|one, other| at(one).total_cmp(&at(other)));
        notes.push(format!(
            "{before} lines were earlier than the one before: requests are taken in the order of their times"
        ));
    }
    let first = at(&raw[0]);
    let seen = |of: &Raw| Seen { at: at(of) - first, prompt: of.prompt, hit: of.hit, output: of.output };
    Ok(Served { name: name.to_owned(), requests: raw.iter().map(seen).collect(), is_timed, notes })
}

/// A number of tokens.
fn tokens(number: f64, what: &str) -> Result<u32, String> {
    if number.fract() == 0.0 && (0.0..=f64::from(Length::LONGEST)).contains(&number) {
        return Ok(number as u32);
    }
    Err(format!("{what} {number} is no number of tokens"))
}
