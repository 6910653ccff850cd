//! Results of benchmarks.

use jiter::JsonValue;

use crate::domain::observed::Window;
use crate::import::engine::json::{histogram, list, number, passed};
use crate::import::value::{get, text};
use crate::words::{Printout, Trap};

/// Gaps between chunks that are so much longer than times per token hold several tokens.
const LONGER: f64 = 1.3;

/// `vllm bench serve`.
pub(super) fn vllm(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let length = number(value, &["spec_decode_acceptance_length"]);
    let rounds = number(value, &["spec_decode_num_drafts"]);
    length.or(rounds)?;
    let drafted = number(value, &["spec_decode_draft_tokens"]);
    let accepted = number(value, &["spec_decode_accepted_tokens"]);
    let rates = list(value, &["spec_decode_per_position_acceptance_rates"]).unwrap_or_default();
    let mut window = Window {
        k: (!rates.is_empty()).then_some(rates.len() as u64).or(k),
        rounds,
        drafted,
        accepted,
        traps: vec![Trap::OtherTraffic],
        ..Window::of(Printout::VllmBench)
    };
    window.group.model = text(value, "model_id");
    window.passed = rates.iter().map(|rate| (rate * rounds.unwrap_or(0.0)).round()).collect();
    if rounds.is_none() || accepted.is_none() {
        window.length = length.map(|length| (length, 1.0));
    }
    // Every request's first token comes with its prompt.
    let tokens =
        number(value, &["total_output_tokens"]).zip(number(value, &["completed"])).map(|(all, firsts)| all - firsts);
    if let (Some(tokens), Some(accepted)) = (tokens, accepted) {
        window.steps = (tokens > accepted).then_some((tokens, tokens - accepted));
    }
    if number(value, &["mean_itl_ms"])
        .zip(number(value, &["mean_tpot_ms"]))
        .is_some_and(|(gap, each)| gap > LONGER * each)
    {
        window.traps.push(Trap::ItlPerChunk);
    }
    window.traps.extend(random(value));
    Some(vec![window])
}

/// Whether prompts were random, as a run says of itself.
fn random(value: &JsonValue<'_>) -> Option<Trap> {
    let named = |key: &&str| text(value, key).is_some_and(|name| name.to_ascii_lowercase().contains("random"));
    ["dataset_name", "dataset", "dataset_path", "label"].iter().any(named).then_some(Trap::RandomPrompts)
}

/// One run of SGLang's bench_serving. Its rounds follow from output tokens over the length.
pub(super) fn sglang(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let length = number(value, &["accept_length"]).filter(|length| *length >= 1.0)?;
    number(value, &["output_throughput", "total_output_tokens", "duration"])?;
    let weight = number(value, &["total_output_tokens"]).map_or(1.0, |tokens| tokens / length);
    let traps = random(value).into_iter().collect();
    Some(vec![Window { k, length: Some((length, weight)), traps, ..Window::of(Printout::SglangBench) }])
}

/// SGLang's server info: a mean for each rank.
pub(super) fn sglang_server(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let Some(JsonValue::Array(ranks)) = get(value, "internal_states") else { return None };
    let window = |(at, rank): (usize, &JsonValue<'_>)| {
        let length = number(rank, &["avg_spec_accept_length"]).filter(|length| *length >= 1.0)?;
        let mut window = Window::of(Printout::SglangServer);
        window.group.rank = Some(at.to_string());
        let steps = number(rank, &["speculative_num_steps"]).or_else(|| number(value, &["speculative_num_steps"]));
        let k = steps.filter(|steps| *steps >= 1.0).map(|steps| steps as u64).or(k);
        Some(Window { k, length: Some((length, 1.0)), traps: vec![Trap::Unweighed], ..window })
    };
    let windows: Vec<Window> = ranks.iter().enumerate().filter_map(window).collect();
    (!windows.is_empty()).then_some(windows)
}

/// aiperf's summary: sums where it has them.
pub(super) fn aiperf(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let of = |key: &str| get(value, key).and_then(|metric| number(metric, &["avg"]));
    let sum = |key: &str| get(value, key).and_then(|metric| number(metric, &["sum"]));
    let length = of("spec_decode_token_weighted_acceptance_length").or_else(|| of("spec_decode_acceptance_length"));
    let counts = get(value, "pooled_spec_decode_acceptance_histogram").and_then(counts);
    let pooled: Option<f64> = counts.as_ref().map(|counts| counts.iter().sum());
    let rounds = of("total_spec_decode_steps").or_else(|| sum("spec_decode_steps")).or(pooled);
    length.or(rounds)?;
    let drafted = of("total_draft_tokens").or_else(|| sum("spec_decode_draft_tokens"));
    let weighed = |counts: &Vec<f64>| counts.iter().enumerate().map(|(at, rounds)| at as f64 * rounds).sum();
    let accepted = of("total_accepted_draft_tokens").or_else(|| sum("spec_decode_accepted_draft_tokens"));
    let accepted = accepted.or_else(|| counts.as_ref().map(weighed));
    let counted = rounds.is_some() && accepted.is_some();
    let mut window = Window {
        k,
        rounds,
        drafted,
        accepted,
        passed: counts.as_deref().map(passed).unwrap_or_default(),
        length: length.filter(|_| !counted).map(|length| (length, 1.0)),
        ..Window::of(Printout::Aiperf)
    };
    if !counted && of("spec_decode_token_weighted_acceptance_length").is_none() {
        window.traps.push(Trap::Unweighed);
    }
    Some(vec![window])
}

/// A histogram, by itself or as a metric's value.
fn counts(value: &JsonValue<'_>) -> Option<Vec<f64>> {
    histogram(value)
        .or_else(|| ["value", "histogram", "counts"].iter().find_map(|key| get(value, key).and_then(histogram)))
}

/// guidellm: tokens for each streamed chunk stand for tokens of a round.
pub(super) fn guidellm(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let metrics = get(value, "metrics")?;
    let of = |key: &str| {
        let of = get(metrics, key)?;
        let of = get(of, "successful").unwrap_or(of);
        let mean = number(of, &["mean"]).zip(number(of, &["count"])).map(|(mean, count)| mean * count);
        number(of, &["total_sum", "sum"]).or(mean).or_else(|| number(of, &["mean"]))
    };
    let (chunks, tokens) = (of("request_streaming_iterations_count")?, of("output_token_count")?);
    let length = (chunks > 0.0).then(|| tokens / chunks).filter(|length| *length >= 1.0)?;
    let traps = vec![Trap::Proxy];
    Some(vec![Window { k, length: Some((length, chunks)), traps, ..Window::of(Printout::Guidellm) }])
}
