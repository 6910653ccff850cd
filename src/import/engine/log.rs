//! Log lines of engines, and what their tools print.

mod llamacpp;
mod printed;
mod sglang;
pub(super) mod vllm;

use jiter::JsonValue;

use crate::domain::observed::Window;
use crate::import::engine::json::Walk;
use crate::import::engine::lines::ReadLines;
use crate::import::engine::log::llamacpp::Llama;
use crate::import::engine::log::printed::Printed;
use crate::import::engine::log::sglang::Sglang;
use crate::import::engine::log::vllm::Vllm;
use crate::import::engine::scan::{first_needle, lines, plain};
use crate::words::{Printout, Trap};

/// What lines say, and what later ones need of earlier ones.
#[derive(Debug)]
pub(super) struct Log {
    vllm: Vllm,
    sglang: Sglang,
    llama: Llama,
    printed: Printed,
    k: Option<u64>,
}

/// Keys of what is read behind a prefix.
const JSON: [&str; 4] =
    ["\"speculative_decoding\"", "\"spec_verify_ct\"", "\"draft_n_accepted\"", "\"specDecodingStats\""];

impl Log {
    pub(super) fn new(k: Option<u64>) -> Self {
        Self { vllm: Vllm::new(k), sglang: Sglang::new(k), llama: Llama::new(k), printed: Printed::new(k), k }
    }

    /// Reads a line that holds something.
    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) {
        let line = &*plain(line);
        if self.wrapped(line, take) {
            return;
        }
        // What users and models wrote is no measurement.
        let is_argument = |at: usize| line[at..].starts_with("speculative_num_steps=");
        if first_needle(line).is_some_and(|at| !is_argument(at) && is_quoted(&line[..at])) {
            return;
        }
        let _ = self.vllm.line(line, take)
            || self.sglang.line(line, take)
            || self.llama.line(line, take)
            || self.printed.line(line, take);
    }

    /// JSON behind a prefix: a stream's `data: {…}`, a response that a logger printed.
    fn wrapped(&self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        let Some(at) = line.find('{').filter(|at| JSON.iter().any(|key| line[*at..].contains(key))) else {
            return false;
        };
        let is_plain = !line[..at].contains(['\'', '"']);
        if let (true, Ok(value)) = (is_plain, JsonValue::parse(line[at..].trim_end().as_bytes(), true)) {
            Walk { k: self.k, log: None, take }.value(&value);
        }
        true
    }

    /// What is known once all is read: windows that waited for more, and a draft length for those that lacked theirs.
    pub(super) fn end(&mut self, take: &mut dyn FnMut(Window)) -> Vec<(Printout, u64)> {
        self.llama.end(take);
        self.printed.end(take);
        let known = [
            (Printout::SglangLog, self.sglang.k()),
            (Printout::VllmLog, self.vllm.k()),
            (Printout::LlamaLog, self.llama.most_positions()),
        ];
        known.into_iter().filter_map(|(format, k)| Some((format, k?))).collect()
    }
}

/// Whether what follows stands in quotes that are no logger's own.
fn is_quoted(before: &str) -> bool {
    let Some(at) = before.rfind(['\'', '"']) else { return false };
    // `"message":"INFO …` is a logger's line, `prompt: '…` and `text="…` a user's.
    let key = before[..at].trim_end().strip_suffix(':').map(str::trim_end);
    let logged = |key: &str| {
        ["message", "msg", "log", "line"].iter().any(|name| key.trim_end_matches(['"', '\\']).ends_with(name))
    };
    before[at..].starts_with('\'') || !key.is_some_and(logged)
}

impl ReadLines for Log {
    fn read(&mut self, text: &str, take: &mut dyn FnMut(Window)) {
        for line in lines(text) {
            self.line(line, take);
        }
    }
}

/// Rounds behind printed figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounds {
    pub(super) count: f64,
    /// Whether every draft has the same length, so that the count is exact.
    pub(super) exact: bool,
    /// Whether no count fits what was printed.
    pub(super) contradicts: bool,
}

impl Rounds {
    /// What is to be known of them: without k nothing says whether drafts differ.
    pub(super) const fn trap(self, k: Option<u64>) -> Trap {
        if self.contradicts {
            Trap::Contradiction
        } else if self.exact || k.is_none() {
            Trap::Rounded
        } else {
            Trap::VariedDrafts
        }
    }
}

/// The rounds of a window by what was printed of it: accepted and drafted tokens, a mean length with the bonus rounded to two
/// digits, and rates by position rounded to three.
///
/// Every draft of length k makes `drafted / k` rounds; the rounded figures say whether that can be. If not, drafts differ in
/// length and the rounds follow from `accepted / sum of rates`, or from `accepted / (length - 1)`.
pub(super) fn rounds(
    accepted: f64,
    drafted: f64,
    length: Option<f64>,
    rates: &[f64],
    k: Option<u64>,
) -> Option<Rounds> {
    let even = k.map(|k| drafted / k as f64).filter(|count| count.fract() < 1e-9 && *count >= 1.0);
    if accepted <= 0.0 {
        return even.map(|count| Rounds { count, exact: true, contradicts: false });
    }
    let about = |mean: f64, error: f64| {
        let most = if mean > error { accepted / (mean - error) } else { f64::INFINITY };
        (accepted / (mean + error), most)
    };
    let sum: f64 = rates.iter().sum();
    let by_length = length.filter(|length| *length >= 1.0).map(|length| about(length - 1.0, HALF_CENT));
    let by_rates = (sum > 0.0).then(|| about(sum, HALF_MILLE * rates.len() as f64));
    let (low, high) = match (by_length, by_rates) {
        (Some(a), Some(b)) => (a.0.max(b.0), a.1.min(b.1)),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return even.map(|count| Rounds { count, exact: true, contradicts: false }),
    };
    if let Some(count) = even.filter(|count| (low..=high).contains(count)) {
        return Some(Rounds { count, exact: true, contradicts: false });
    }
    if low > high {
        return Some(Rounds { count: f64::NAN, exact: false, contradicts: true });
    }
    let middle = if sum > 0.0 { accepted / sum } else { accepted / (length? - 1.0) };
    let count = middle.clamp(low, high);
    // No round accepts more than it drafts, nor drafts nothing.
    (count.is_finite() && count > 0.0).then_some(Rounds { count: count.min(drafted), exact: false, contradicts: false })
}

/// Half of the last digit of a printed length, and of a printed rate, and a little.
const HALF_CENT: f64 = 0.005_01;
const HALF_MILLE: f64 = 0.000_501;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_from_rounded_figures() {
        let rates = [0.7, 0.5, 0.35];
        let even = Some(Rounds { count: 1000.0, exact: true, contradicts: false });
        assert_eq!(rounds(1550.0, 3000.0, Some(2.55), &rates, Some(3)), even);
        // Without rates or k the length alone tells, to its digits.
        assert_eq!(rounds(1550.0, 3000.0, Some(2.55), &[], None).map(|of| of.count.round()), Some(1000.0));
        // 2000 drafts in 1000 rounds: their length is not always 3.
        let varied = rounds(1550.0, 2000.0, Some(2.55), &rates, Some(3)).unwrap();
        assert!(!varied.exact && (varied.count - 1000.0).abs() < 1e-9);
        assert_eq!(rounds(0.0, 300.0, Some(1.0), &[0.0; 3], Some(3)).map(|of| of.count), Some(100.0));
        assert_eq!(rounds(0.0, 300.0, Some(1.0), &[], None), None);
    }
}
