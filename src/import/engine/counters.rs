//! Counters and gauges in Prometheus' text form: of vLLM (V0 and V1), SGLang, TensorRT-LLM and llama.cpp.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::observed::{Group, Window};
use crate::import::engine::lines::ReadLines;
use crate::import::engine::log::vllm::v0;
use crate::words::{Printout, Trap};

/// Beginnings of names that count, as exporters write them: some turn colons into underscores.
const FAMILIES: [&str; 4] = ["vllm", "sglang", "trtllm", "llamacpp"];
/// More positions than any engine drafts.
const MOST_POSITIONS: usize = 4096;

/// Figures of one engine or rank.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    by_name: BTreeMap<String, f64>,
    by_position: BTreeMap<usize, f64>,
}

/// Whose they are: family, model and rank.
type Key = (&'static str, Option<String>, Option<String>);

/// The counters of one scrape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scrape(BTreeMap<Key, Figures>);

/// Counters as they are read.
#[derive(Debug)]
pub(super) struct Counters {
    k: Option<u64>,
    /// Draft length as TensorRT-LLM tells its configuration.
    told: Option<u64>,
    scrape: Scrape,
    repeated: BTreeSet<Key>,
}

/// Whether lines of a text are counters, or comments of such.
pub(super) fn has_counter(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let is_counter = |line: &str| {
        line.starts_with("# TYPE ")
            || line.starts_with("# HELP ")
            || FAMILIES.iter().any(|family| sample(line, family).is_some())
    };
    text.lines().take(2000).any(is_counter)
}

/// A name without its family, labels and value.
struct Sample<'l> {
    name: String,
    labels: Vec<(&'l str, String)>,
    value: f64,
}

/// A line's sample, if it is of a family: `vllm:name{a="b"} 1.0 [time]`.
fn sample<'l>(line: &'l str, family: &str) -> Option<Sample<'l>> {
    let rest = line.strip_prefix(family)?.strip_prefix([':', '_'])?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))?;
    let (name, rest) = rest.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    // An exemplar or a moment may follow the value.
    let value = rest.split_whitespace().next()?.parse().ok()?;
    let name = name.strip_suffix("_total").unwrap_or(name).to_owned();
    Some(Sample { name, labels, value })
}

/// Labels up to the closing brace, and what follows it.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut all = Vec::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((all, after));
        }
        let (name, quoted) = rest.split_once('=')?;
        let (value, after) = quoted_text(quoted.trim_start().strip_prefix('"')?)?;
        all.push((name.trim(), value));
        rest = after;
    }
}

/// A text up to its closing quote, in which a backslash keeps what follows.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

impl Counters {
    pub(super) fn new(k: Option<u64>) -> Self {
        Self { k, told: None, scrape: Scrape::default(), repeated: BTreeSet::new() }
    }

    pub(super) fn into_scrape(self) -> Scrape {
        self.scrape
    }

    fn line(&mut self, line: &str) {
        let found = FAMILIES.iter().find_map(|&family| Some((family, sample(line, family)?)));
        let Some((family, Sample { name, labels, value })) = found else { return };
        // The moment a counter was made is no count; that of one tells of a restart.
        let counted = name == "spec_decode_num_drafts_created";
        if !counted && (name.ends_with("_created") || !WANTED.iter().any(|wanted| *wanted == name)) {
            return;
        }
        let label = |names: &[&str]| {
            labels
                .iter()
                .find(|(name, value)| names.contains(name) && !value.is_empty())
                .map(|(_, value)| value.clone())
        };
        if label(&["tp_rank"]).is_some_and(|rank| rank != "0") {
            return;
        }
        let rank = rank(&labels);
        let key = (family, label(&["model_name", "model"]), rank);
        if let Some(k) = label(&["spec_num_tokens"]).and_then(|k| k.parse::<u64>().ok()).filter(|k| *k > 0) {
            self.told = Some(k);
            return;
        }
        let figures = self.scrape.0.entry(key.clone()).or_default();
        let before = match label(&["position"]).map(|position| position.parse::<usize>()) {
            Some(Ok(position)) if position < MOST_POSITIONS => figures.by_position.insert(position, value),
            Some(_) => return,
            None => {
                // Series that differ in labels of no meaning here, such as reasons to finish, are added up.
                let extra = labels.iter().any(|(name, _)| *name == "finished_reason");
                let sum = if extra { figures.by_name.get(&name).copied().unwrap_or(0.0) } else { 0.0 };
                let before = figures.by_name.insert(name, sum + value);
                before.filter(|_| !extra)
            }
        };
        if before.is_some_and(|before| before.to_bits() != value.to_bits()) {
            self.repeated.insert(key);
        }
    }

    /// The windows of a scrape, less an earlier one.
    pub(super) fn end(self, since: Option<&Scrape>, take: &mut dyn FnMut(Window)) {
        let gone = since.is_some_and(|since| since.0.keys().any(|key| !self.scrape.0.contains_key(key)));
        for (key, figures) in &self.scrape.0 {
            let earlier = since.and_then(|since| since.0.get(key));
            let (mut figures, restarted) = match earlier {
                Some(earlier) => figures.since(earlier),
                None => (figures.clone(), false),
            };
            if since.is_some() {
                // What a gauge shows is no difference.
                figures.by_name.remove("spec_decode_acceptance_length");
            }
            let (family, model, rank) = key;
            let group = Group { model: model.clone(), rank: rank.clone(), file: None, span: None };
            for mut window in windows(family, &figures, self.told.filter(|_| *family == "trtllm").or(self.k)) {
                window.group = group.clone();
                if restarted {
                    window.traps.push(Trap::Restarted);
                }
                match (since, earlier) {
                    (None, _) if window.accepted.is_some() => window.traps.push(Trap::Cumulative),
                    (Some(_), None) => window.traps.push(Trap::NothingEarlier),
                    _ => {}
                }
                window.traps.extend(gone.then_some(Trap::Gone));
                if self.repeated.contains(key) {
                    window.traps.push(Trap::Repeated);
                }
                take(window);
            }
        }
    }
}

/// Labels that tell no engines apart.
const ALIKE: [&str; 14] = [
    "model_name",
    "model",
    "position",
    "finished_reason",
    "tp_rank",
    "pp_rank",
    "moe_ep_rank",
    "engine_type",
    "spec_num_tokens",
    "spec_enabled",
    "spec_method",
    "spec_draft_model",
    "le",
    "quantile",
];

/// Which engine a series is of: its rank, and whatever else its labels say, such as the instance that was scraped.
fn rank(labels: &[(&str, String)]) -> Option<String> {
    let own = |(name, value): &(&str, String)| match *name {
        "engine" | "dp_rank" | "engine_index" | "rank" => value.clone(),
        other => format!("{other}={value}"),
    };
    let told = |(name, value): &&(&str, String)| !ALIKE.contains(name) && !value.is_empty();
    let mut all: Vec<String> = labels.iter().filter(told).map(own).collect();
    all.sort();
    (!all.is_empty()).then(|| all.join(" "))
}

impl ReadLines for Counters {
    fn read(&mut self, text: &str, _: &mut dyn FnMut(Window)) {
        text.lines().for_each(|line| self.line(line.trim()));
    }
}

/// Names that are kept, without family and `_total`.
const WANTED: [&str; 17] = [
    "spec_decode_num_drafts",
    "spec_decode_num_draft_tokens",
    "spec_decode_num_accepted_tokens",
    "spec_decode_num_accepted_tokens_per_pos",
    "spec_decode_num_emitted_tokens",
    "spec_decode_draft_acceptance_rate",
    "spec_decode_efficiency",
    "generation_tokens",
    "time_to_first_token_seconds_count",
    "spec_accept_length",
    "spec_num_steps",
    "spec_num_draft_tokens",
    "spec_verify_calls",
    "spec_decode_acceptance_length",
    "spec_decode_drafted_tokens",
    "spec_decode_accepted_tokens",
    "speculative_config_info",
];

/// Gauges: they hold no sum, and nothing is subtracted from them.
const GAUGES: [&str; 7] = [
    "spec_decode_num_drafts_created",
    "spec_decode_draft_acceptance_rate",
    "spec_decode_efficiency",
    "spec_accept_length",
    "spec_num_steps",
    "spec_num_draft_tokens",
    "spec_decode_acceptance_length",
];

impl Figures {
    fn get(&self, name: &str) -> Option<f64> {
        self.by_name.get(name).copied()
    }

    /// These less earlier ones, and whether a counter fell: then the server has restarted, and what it counted since is all there
    /// is.
    fn since(&self, earlier: &Self) -> (Self, bool) {
        let is_sum = |name: &str| !GAUGES.contains(&name);
        let names = self.by_name.iter().filter(|(name, _)| is_sum(name));
        let made = |of: &Self| of.get("spec_decode_num_drafts_created");
        let again = made(self).zip(made(earlier)).is_some_and(|(now, before)| now > before + 1.0);
        let fell = again
            || names.clone().any(|(name, value)| earlier.get(name).is_some_and(|before| before > *value))
            || self
                .by_position
                .iter()
                .any(|(at, value)| earlier.by_position.get(at).is_some_and(|before| before > value));
        if fell {
            return (self.clone(), true);
        }
        let mut left = self.clone();
        for (name, value) in left.by_name.iter_mut().filter(|(name, _)| is_sum(name)) {
            *value -= earlier.get(name).unwrap_or(0.0);
        }
        for (at, value) in &mut left.by_position {
            *value -= earlier.by_position.get(at).copied().unwrap_or(0.0);
        }
        (left, false)
    }
}

/// What figures of one engine say.
fn windows(family: &str, figures: &Figures, k: Option<u64>) -> Vec<Window> {
    match family {
        "vllm" if figures.get("spec_decode_num_drafts").is_some() => vec![counted(Printout::VllmCounters, figures, k)],
        "vllm" if figures.get("spec_decode_num_emitted_tokens").is_some() => vec![emitted(figures, k)],
        "llamacpp" if figures.get("spec_decode_num_drafts").is_some() => {
            vec![counted(Printout::LlamaCounters, figures, k)]
        }
        "trtllm" => trtllm(figures, k).into_iter().collect(),
        "sglang" => sglang(figures, k).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Rounds, drafts, accepted drafts and positions, as vLLM's V1 engine and llama.cpp count them.
fn counted(format: Printout, figures: &Figures, k: Option<u64>) -> Window {
    let of = |name: &str| figures.get(name);
    let (rounds, drafted) = (of("spec_decode_num_drafts"), of("spec_decode_num_draft_tokens"));
    let accepted = of("spec_decode_num_accepted_tokens");
    let mut passed = vec![0.0; figures.by_position.keys().last().map_or(0, |last| last + 1)];
    figures.by_position.iter().for_each(|(&at, &value)| passed[at] = value);
    // Later versions have a series for every position of the configured k, also where fewer are drafted now.
    let drafts = passed.len() as u64;
    let mut window = Window { rounds, drafted, accepted, ..Window::of(format) };
    if rounds.is_some_and(|rounds| rounds > 0.0) {
        window.k = (drafts > 0).then_some(drafts).or(k);
    }
    let sum: f64 = passed.iter().sum();
    if !passed.is_empty() && accepted.is_some_and(|accepted| (sum - accepted).abs() > 0.5 + 1e-6 * accepted) {
        window.traps.push(Trap::Contradiction);
        passed.clear();
    }
    window.passed = passed;
    // Each decode step brings one token besides accepted drafts; the first of a request comes with its prompt.
    let firsts = of("time_to_first_token_seconds_count");
    if let (Some(tokens), Some(firsts), Some(accepted)) = (of("generation_tokens"), firsts, accepted) {
        let tokens = tokens - firsts;
        window.steps = (tokens > accepted).then_some((tokens, tokens - accepted));
    }
    window
}

/// Sums of vLLM's V0 engine: k follows from its efficiency, emitted tokens over the most there could be.
fn emitted(figures: &Figures, k: Option<u64>) -> Window {
    let of = |name: &str| figures.get(name).unwrap_or(f64::NAN);
    let (drafted, emitted) = (of("spec_decode_num_draft_tokens"), of("spec_decode_num_emitted_tokens"));
    // efficiency = emitted / (rounds (k + 1)) and rounds = drafted / k
    let share = of("spec_decode_efficiency") * drafted / emitted;
    let found = (share / (1.0 - share)).round();
    let k = (share.is_finite() && (1.0..=256.0).contains(&found)).then_some(found as u64).or(k);
    let accepted = figures.get("spec_decode_draft_acceptance_rate").map(|rate| rate * drafted);
    let accepted = accepted.or_else(|| figures.get("spec_decode_num_accepted_tokens"));
    Window { independent: accepted, ..v0(Printout::VllmV0Counters, k, drafted, emitted) }
}

/// Drafts and accepted drafts, without rounds; a gauge holds the length.
fn trtllm(figures: &Figures, k: Option<u64>) -> Option<Window> {
    let of = |name: &str| figures.get(name);
    let drafted = of("spec_decode_num_draft_tokens").or_else(|| of("spec_decode_drafted_tokens"))?;
    let accepted = of("spec_decode_num_accepted_tokens").or_else(|| of("spec_decode_accepted_tokens"))?;
    let rounds = k.map(|k| drafted / k as f64);
    let length = of("spec_decode_acceptance_length").filter(|_| rounds.is_none()).filter(|length| *length >= 1.0);
    let traps = if length.is_some() { vec![Trap::Gauge] } else { Vec::new() };
    let length = length.map(|length| (length, 1.0));
    let window = Window::of(Printout::TrtllmCounters);
    Some(Window { k, rounds, drafted: Some(drafted), accepted: Some(accepted), length, traps, ..window })
}

fn sglang(figures: &Figures, k: Option<u64>) -> Option<Window> {
    let of = |name: &str| figures.get(name);
    let length = of("spec_accept_length")?;
    let steps = of("spec_num_steps").filter(|steps| *steps >= 1.0).map(|steps| steps as u64);
    let width = of("spec_num_draft_tokens").filter(|nodes| *nodes >= 2.0);
    let mut window = Window { k: steps.or(k), traps: vec![Trap::Gauge], ..Window::of(Printout::SglangGauges) };
    // A chain verifies its drafts and the root; more are a tree.
    if let (Some(steps), Some(width)) = (steps, width)
        && width > steps as f64 + 1.0
    {
        window.traps.push(Trap::Tree);
    }
    if length >= 1.0 {
        window.length = Some((length, of("spec_verify_calls").filter(|calls| *calls > 0.0).unwrap_or(1.0)));
    } else {
        window.drafted = Some(0.0);
    }
    Some(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_with_their_labels() {
        let line = r#"vllm:spec_decode_num_drafts_total{engine="0",model_name="a\"b,c} d"} 600.0 1756300000"#;
        let found = sample(line, "vllm").unwrap();
        assert_eq!((found.name.as_str(), found.value), ("spec_decode_num_drafts", 600.0));
        assert_eq!(found.labels, [("engine", "0".to_owned()), ("model_name", "a\"b,c} d".to_owned())]);
        assert!(sample("vllm:x{a=\"b\" 1", "vllm").is_none());
    }
}
