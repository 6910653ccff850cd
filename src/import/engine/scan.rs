//! Where engines' words stand in a text, and the figures after them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What a line that counts holds.
const NEEDLES: [&str; 27] = [
    "SpecDecoding metrics:",
    "Speculative metrics:",
    "DiffusionDecoding metrics:",
    "Avg generation throughput:",
    "Avg generation tput:",
    "accept len:",
    "draft acceptance",
    "acc per pos",
    "#gen drafts",
    "n_drafted",
    "n_accept ",
    "n_draft ",
    "n_predict ",
    "Acceptance rate (%)",
    "Acceptance length:",
    "Drafts:",
    "Draft tokens:",
    "Accepted tokens:",
    "  Position ",
    "Accept length:",
    "[AL]",
    "Speculative Decoding",
    "speculative_num_steps=",
    "\"speculative_decoding\"",
    "\"spec_verify_ct\"",
    "\"draft_n_accepted\"",
    "\"specDecodingStats\"",
];
/// The needles that alone make a text a log; the others stand in other texts too.
const TELLING: usize = 13;

static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(NEEDLES).ok());

/// Whether a text holds what only engines' logs do.
pub(super) fn has_needle(text: &[u8]) -> bool {
    FINDER.as_ref().is_some_and(|finder| finder.find_iter(text).any(|found| found.pattern().as_usize() < TELLING))
}

/// Where the first needle of a line stands.
pub(super) fn first_needle(line: &str) -> Option<usize> {
    FINDER.as_ref()?.find(line).map(|found| found.start())
}

/// Every line of a text that holds a needle.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    let finder = FINDER.as_ref();
    std::iter::from_fn(move || {
        let found = finder?.find(text.as_bytes().get(from..)?)?;
        let at = from + found.start();
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end);
        from = end;
        Some(text[start..end].trim_end_matches('\r'))
    })
}

/// A line without the codes that colour it.
pub(super) fn plain(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        // A sequence ends with its first letter.
        let end = rest[at..].find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |end| at + end + 1);
        rest = &rest[end..];
    }
    plain.push_str(rest);
    plain.into()
}

/// The number after a label; `nan` is one.
pub(super) fn number(text: &str, label: &str) -> Option<f64> {
    let at = text.find(label)? + label.len();
    leading(&text[at..])
}

/// The number that a text begins with, after blanks.
pub(super) fn leading(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', '\t', '=']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches(['.', '-']);
    // A unit may touch the number.
    let digits = word.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(word.len());
    match word.parse::<f64>() {
        Ok(number) => Some(number),
        Err(_) => word[..digits].parse::<f64>().ok(),
    }
}

/// Numbers after a label, separated by commas.
pub(super) fn numbers(text: &str, label: &str) -> Vec<f64> {
    let Some(at) = text.find(label) else { return Vec::new() };
    let rest = text[at + label.len()..].trim_start_matches([' ', '=', '(', '[']);
    let mut all = Vec::new();
    for word in rest.split(',') {
        let word = word.trim();
        let end =
            word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | '+'))).unwrap_or(word.len());
        match word[..end].parse::<f64>() {
            Ok(number) => all.push(number),
            Err(_) => break,
        }
        if end < word.len() {
            break;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_their_labels() {
        let line = "Accepted: 1550 tokens, rates: 0.700, 0.500, 0.350, Avg Draft acceptance rate: 51.7%";
        assert_eq!(number(line, "Accepted: "), Some(1550.0));
        assert_eq!(number(line, "acceptance rate: "), Some(51.7));
        assert_eq!(numbers(line, "rates: "), [0.7, 0.5, 0.35]);
        assert!(number("rate: nan%", "rate: ").unwrap().is_nan());
        assert_eq!(number("emitted tokens: 2550.", "tokens: "), Some(2550.0));
        assert_eq!(numbers("pos = (0.700, 0.500), dur", "pos = "), [0.7, 0.5]);
    }

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("\u{1b}[1;36m(APIServer)\u{1b}[0m INFO"), "(APIServer) INFO");
        assert_eq!(plain("plain"), "plain");
    }
}
