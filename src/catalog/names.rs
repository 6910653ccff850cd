//! What a name that is no id may mean: its words against those of ids, names and aliases. Pure: who reads the
//! files is not known here.
//!
//! Both sides become words. Case, punctuation and the organisation before a slash do not count, nor do words that
//! tell no two entries apart (`instruct`, `nvidia`, ...). `Llama-3.1-8B-Instruct` has the words `llama`, `3.1` and
//! `8b`; `qwen3` has `qwen` and `3`, `mi300x` has `mi` and `300x`: two letters or more stand apart from the number
//! after them. Words that were written together must stand together in the entry too.

use crate::words::Kind;

/// Words without weight: all releases of a model have one shape, and no two makers share a part number.
const IGNORED: [&str; 12] =
    ["instruct", "chat", "it", "hf", "base", "meta", "nvidia", "amd", "geforce", "instinct", "tesla", "gpu"];

/// A longer text is no name.
const LONGEST: usize = 200;

/// An entry of the catalog with everything it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it describes.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// The name in its file; its id where there is none.
    pub name: String,
    /// Other names in its file.
    pub aliases: Vec<String>,
    /// The words of each, those of the id first.
    spellings: Vec<Vec<String>>,
    /// The same, in alphabetical order.
    sets: Vec<Vec<String>>,
}

impl Named {
    /// An entry. Titles of scenarios and names of engines are sentences on other entries: only their ids are what
    /// they are called.
    #[must_use]
    pub fn new(kind: Kind, id: &str, name: Option<&str>, aliases: Vec<String>) -> Self {
        let name = name.unwrap_or(id);
        let by_name = matches!(kind, Kind::Hardware | Kind::Models);
        let texts = std::iter::once(id).chain([name].into_iter().filter(|_| by_name));
        let spellings: Vec<Vec<String>> =
            texts.chain(aliases.iter().map(String::as_str)).map(|text| runs(text).concat()).collect();
        let sets = spellings.iter().cloned().map(set).collect();
        Self { kind, id: id.to_owned(), name: name.to_owned(), aliases, spellings, sets }
    }
}

/// How well an entry fits a name, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is called just so.
    Same,
    /// It has all these words, and more.
    Holds,
    /// The same, where numbers may go on with letters: `mi300` for `mi300x`, `32` for `32b`.
    Begins,
}

/// The entries that a name may mean, the likeliest first: those called just so if there are any, else those that
/// have all its words, else those that have words which begin so. Nothing but an exact id says that one is meant.
///
/// # Examples
///
/// ```
/// use specplan::catalog::names::{Named, meant_by};
/// use specplan::words::Kind;
/// let entries = ["llama-3-8b", "llama-3.1-8b", "qwen3-8b"].map(|id| Named::new(Kind::Models, id, None, vec![]));
/// let ids = |name| meant_by(name, &entries).into_iter().map(|one| one.id.as_str()).collect::<Vec<_>>();
/// assert_eq!(ids("llama 8b"), ["llama-3-8b", "llama-3.1-8b"]);
/// assert_eq!(ids("meta-llama/Llama-3.1-8B-Instruct"), ["llama-3.1-8b"]);
/// assert_eq!(ids("mistral"), [""; 0]);
/// ```
#[must_use]
pub fn meant_by<'n>(name: &str, entries: impl IntoIterator<Item = &'n Named>) -> Vec<&'n Named> {
    let asked = if name.len() > LONGEST { Vec::new() } else { runs(name) };
    if asked.iter().flatten().all(|word| is_small(word)) {
        return Vec::new();
    }
    let Some(first) = asked.first().map(|run| &run[0]) else { return Vec::new() };
    // After the fit: entries that start with the same word, then those with the fewest words.
    let words = set(asked.concat());
    let rank = |fit: Fit, entry: &Named| (fit, entry.spellings[0].first() != Some(first), entry.spellings[0].len());
    let fitting =
        entries.into_iter().filter_map(|entry| fit(&asked, &words, entry).map(|fit| (rank(fit, entry), entry)));
    let mut found: Vec<_> = fitting.collect();
    found.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.id.cmp(&other.id)));
    let best = found.first().map(|((fit, ..), _)| *fit);
    found.into_iter().filter(|((fit, ..), _)| Some(*fit) == best).map(|(_, entry)| entry).collect()
}

fn fit(asked: &[Vec<String>], words: &Vec<String>, entry: &Named) -> Option<Fit> {
    if entry.sets.contains(words) {
        Some(Fit::Same)
    } else if has_all(asked, entry, |word, known| word == known) {
        Some(Fit::Holds)
    } else {
        has_all(asked, entry, begins).then_some(Fit::Begins)
    }
}

/// Whether each run of words stands in one of the spellings; its last word is compared by `matches`.
fn has_all(asked: &[Vec<String>], entry: &Named, matches: fn(&str, &str) -> bool) -> bool {
    let stands_in = |run: &[String], part: &[String]| match (run.split_last(), part.split_last()) {
        (Some((last, before)), Some((end, start))) => before == start && matches(last, end),
        _ => false,
    };
    let has = |run: &Vec<String>| {
        entry.spellings.iter().any(|words| words.windows(run.len().max(1)).any(|part| stands_in(run, part)))
    };
    asked.iter().all(has)
}

/// Whether a word is the same, or a number that goes on with letters.
fn begins(word: &str, known: &str) -> bool {
    if word == known {
        return true;
    }
    let rest = known.strip_prefix(word).filter(|_| word.ends_with(|c: char| c.is_ascii_digit()));
    rest.is_some_and(|rest| rest.chars().all(char::is_alphabetic))
}

/// Whether a word is a number that alone names nothing: `80` is in a dozen names, `4090` in one.
fn is_small(word: &str) -> bool {
    word.len() < 3 && word.chars().all(|c| c.is_ascii_digit())
}

/// Words in alphabetical order, each once.
fn set(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words.dedup();
    words
}

/// The words of a text, those together that were written together; those without weight are left out.
fn runs(text: &str) -> Vec<Vec<String>> {
    let own = text.rsplit('/').next().unwrap_or(text).to_lowercase();
    let mut runs: Vec<Vec<String>> = Vec::new();
    for token in tokens(&own) {
        let unit = matches!(token, "b" | "gb");
        match runs.last_mut().and_then(|run| run.last_mut()) {
            // `80 GB` is `80GB`.
            Some(number) if unit && number.chars().all(|c| c.is_ascii_digit() || c == '.') => number.push_str(token),
            _ if IGNORED.contains(&token) => {}
            _ => runs.push(split(token)),
        }
    }
    runs
}

/// Runs of letters and digits; a dot or an underscore between digits belongs to the number.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let inner = move |at: usize| matches!(bytes[at], b'.' | b'_') && at > 0 && digit(at - 1) && digit(at + 1);
    let mut start = 0;
    let ends = text.char_indices().filter(move |(at, c)| !c.is_alphanumeric() && !inner(*at));
    let ends = ends.map(|(at, c)| (at, at + c.len_utf8())).chain([(text.len(), text.len())]);
    ends.filter_map(move |(end, next)| {
        let token = &text[start..end];
        start = next;
        (!token.is_empty()).then_some(token)
    })
}

/// Splits a token where a digit follows two letters or more; an underscore in a number reads as a dot.
fn split(token: &str) -> Vec<String> {
    let (mut words, mut letters) = (vec![String::new()], 0);
    for c in token.chars() {
        if c.is_ascii_digit() && letters > 1 {
            words.push(String::new());
        }
        letters = if c.is_alphabetic() { letters + 1 } else { 0 };
        if let Some(word) = words.last_mut() {
            word.push(if c == '_' { '.' } else { c });
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_words() {
        for (text, words) in [
            ("NVIDIA H100 SXM5 80 GB", "h100 sxm+5 80gb"),
            ("meta-llama/Llama-3.1-8B-Instruct", "llama 3.1 8b"),
            ("qwen3 8b", "qwen+3 8b"),
            ("AMD Instinct MI300X", "mi+300x"),
            ("Mixtral-8x7B-v0.1", "mixtral 8x7b v0.1"),
            ("Llama-3_3-Nemotron", "llama 3.3 nemotron"),
            ("Qwen3-30B-A3B (text)", "qwen+3 30b a3b text"),
            ("  .. / ", ""),
            ("instruct", ""),
            ("é_1._", "é 1"),
        ] {
            let shown: Vec<String> = runs(text).iter().map(|run| run.join("+")).collect();
            assert_eq!(shown.join(" "), words, "{text}");
        }
    }

    #[test]
    fn better_fits_leave_others_out() {
        let called = |id: &str, name: &str, alias: &str| Named::new(Kind::Models, id, Some(name), vec![alias.into()]);
        let entries = [
            called("mi300x", "AMD Instinct MI300X 192GB", "x"),
            called("eagle3-qwen2.5-7b", "EAGLE-3 head for Qwen2.5-7B", "x"),
            called("qwen3-4b", "Qwen3-4B", "x"),
            called("qwen3-30b-a3b", "Qwen3-30B-A3B", "x"),
            called("deepseek-v3", "DeepSeek-V3", "DeepSeek-R1"),
            called("eagle3-deepseek-v3", "EAGLE-3 head for DeepSeek-V3 / R1", "x"),
        ];
        let ids = |name: &str| meant_by(name, &entries).iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(" ");
        for (name, meant) in [
            ("mi300", "mi300x"),
            ("mi30", ""),
            ("qwen3 30", "qwen3-30b-a3b"),
            ("qwen3", "qwen3-4b qwen3-30b-a3b"),
            ("4b", "qwen3-4b"),
            ("qwen 3b", ""),
            ("deepseek r1", "deepseek-v3"),
            ("deepseek", "deepseek-v3 eagle3-deepseek-v3"),
            ("chat", ""),
            ("3", ""),
        ] {
            assert_eq!(ids(name), meant, "{name}");
        }
        assert_eq!(ids(&"qwen3 ".repeat(40)), "", "no name is as long");
    }

    #[test]
    fn a_scenario_is_called_by_its_id_only() {
        let study = Named::new(Kind::Scenarios, "llama-8b-drafters", Some("Four drafters on one H100"), vec![]);
        assert!(meant_by("H100", [&study]).is_empty() && meant_by("llama 8b", [&study]).len() == 1);
    }
}
