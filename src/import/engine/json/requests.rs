//! What engines say of one request.

use jiter::JsonValue;

use crate::domain::observed::{Alike, Window};
use crate::domain::trace::Trace;
use crate::import::engine::json::{even, get, histogram, list, number, passed};
use crate::words::{Printout, Trap};

/// `speculative_decoding` of vLLM's metrics of a request.
pub(super) fn vllm(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let steps = list(value, &["per_step_accepted"]).zip(list(value, &["per_step_drafted"]));
    let steps = steps.filter(|(accepted, drafted)| accepted.len() == drafted.len());
    let asked = number(value, &["num_spec_tokens"]).filter(|k| *k >= 1.0).map(|k| k as u64);
    let window = Window { k: asked.or(k), ..Window::of(Printout::VllmRequest) };
    if let Some((accepted, drafted)) = steps {
        return Some(vec![one_by_one(&accepted, &drafted, window)]);
    }
    let (rounds, accepted) = (number(value, &["num_spec_steps"])?, number(value, &["num_accepted_draft_tokens"])?);
    let drafted = number(value, &["num_draft_tokens"]);
    let counts = get(value, "acceptance_histogram").and_then(histogram);
    let all: Option<f64> = counts.as_ref().map(|counts| counts.iter().sum());
    let mut window = Window { rounds: Some(rounds), drafted, accepted: Some(accepted), ..window };
    match counts {
        Some(counts) if all == Some(rounds) => {
            window.alike = even(drafted, Some(rounds)).map(|k| alike(&counts, k)).unwrap_or_default();
            window.passed = passed(&counts);
        }
        Some(_) => window.traps.push(Trap::Contradiction),
        None => {}
    }
    Some(vec![window])
}

/// Steps one by one: those without a draft are steps and no rounds.
fn one_by_one(accepted: &[f64], drafted: &[f64], window: Window) -> Window {
    let round =
        |(&accepted, &drafted): (&f64, &f64)| Alike { accepted: accepted as u32, drafted: drafted as u32, rounds: 1 };
    let rounds: Vec<Alike> = accepted.iter().zip(drafted).map(round).filter(|round| round.drafted > 0).collect();
    // Longer ones are refused when the window is checked.
    let longest = rounds.iter().map(|round| round.drafted).max().unwrap_or(0).min(Trace::LONGEST) as usize;
    let mut counts = vec![0.0; longest + 1];
    rounds.iter().for_each(|round| counts[(round.accepted.min(round.drafted) as usize).min(longest)] += 1.0);
    let (out, steps) = (accepted.iter().sum::<f64>(), accepted.len() as f64);
    Window {
        rounds: Some(rounds.len() as f64),
        drafted: Some(drafted.iter().sum()),
        accepted: Some(out),
        passed: passed(&counts),
        alike: rounds,
        steps: (steps > 0.0).then_some((out + steps, steps)),
        ..window
    }
}

/// Rounds of one length by accepted drafts.
fn alike(histogram: &[f64], k: u64) -> Vec<Alike> {
    let round = |(accepted, &rounds): (usize, &f64)| Alike {
        accepted: accepted as u32,
        drafted: k as u32,
        rounds: rounds as u64,
    };
    histogram
        .iter()
        .enumerate()
        .map(round)
        .filter(|round| round.rounds > 0 && round.accepted <= round.drafted)
        .collect()
}

/// `meta_info` of SGLang, and `spec_tokens_details` of its OpenAI endpoint.
pub(super) fn sglang(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let rounds = number(value, &["spec_verify_ct"])?;
    let later = number(value, &["spec_num_correct_drafts"]);
    let accepted = later.or_else(|| number(value, &["spec_accept_token_num"]));
    // Up to 0.5.10 the drafted tokens hold the root of each round.
    let drafted = match number(value, &["spec_num_proposed_drafts"]) {
        Some(drafted) => Some(drafted),
        None => number(value, &["spec_draft_token_num"]).map(|verified| verified - rounds),
    };
    let keys = ["spec_correct_drafts_histogram", "spec_accept_histogram"];
    let counts = keys.iter().find_map(|key| get(value, key)).and_then(histogram);
    let depth = counts.as_ref().map(|counts| counts.len() as u64 - 1).filter(|depth| *depth > 0);
    let whole = number(value, &["completion_tokens"]);
    let mut window = Window {
        k: depth.or(k),
        rounds: Some(rounds),
        drafted,
        accepted: accepted.or_else(|| whole.map(|tokens| (tokens - rounds).max(0.0))),
        passed: counts.as_deref().map(passed).unwrap_or_default(),
        ..Window::of(Printout::SglangRequest)
    };
    if accepted.is_none() {
        window.traps.push(Trap::EndsOfOutputs);
    }
    if later.is_none() && number(value, &["spec_accept_rate"]).is_some() {
        window.traps.push(Trap::RateWithBonus);
    }
    match (drafted, depth) {
        (Some(drafted), Some(depth)) if drafted > depth as f64 * rounds + 0.5 => window.traps.push(Trap::Tree),
        (Some(drafted), Some(depth)) if (drafted - depth as f64 * rounds).abs() < 0.5 => {
            window.alike = counts.map(|counts| alike(&counts, depth)).unwrap_or_default();
        }
        _ => {}
    }
    Some(vec![window])
}

/// A record of aiperf.
pub(super) fn aiperf(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let inner = get(value, "spec_decode_acceptance")?;
    let keys = ["histogram", "acceptance_histogram", "spec_decode_acceptance_histogram"];
    let counts = keys.iter().find_map(|key| get(inner, key)).and_then(histogram);
    let metric = |key: &str| get(value, "metrics").and_then(|all| get(all, key)).and_then(|of| number(of, &["value"]));
    let sum: Option<f64> = counts.as_ref().map(|counts| counts.iter().sum());
    let rounds = sum.or_else(|| metric("spec_decode_steps"))?;
    let weighed = |counts: &Vec<f64>| counts.iter().enumerate().map(|(at, rounds)| at as f64 * rounds).sum();
    let accepted = counts.as_ref().map(weighed).or_else(|| metric("spec_decode_accepted_draft_tokens"));
    let drafted =
        number(inner, &["num_draft_tokens", "draft_tokens", "drafted"]).or_else(|| metric("spec_decode_draft_tokens"));
    let longest = number(inner, &["num_spec_tokens", "num_speculative_tokens"]).map(|k| k as u64);
    let k = longest.or(k);
    let alike =
        counts.as_ref().zip(even(drafted, Some(rounds))).map(|(counts, k)| alike(counts, k)).unwrap_or_default();
    let passed = counts.as_deref().map(passed).unwrap_or_default();
    let window = Window::of(Printout::AiperfRecords);
    Some(vec![Window { k, rounds: Some(rounds), drafted, accepted, passed, alike, ..window }])
}

/// `timings` of llama.cpp's server. Rounds are not counted: each decode step brings one token besides accepted drafts, and the
/// first token comes with the prompt.
pub(super) fn llama(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let predicted = number(value, &["predicted_n"])?;
    let (drafted, accepted) = (number(value, &["draft_n"])?, number(value, &["draft_n_accepted"])?);
    let steps = (predicted - 1.0 - accepted).max(0.0);
    Some(vec![Window {
        k,
        rounds: (steps > 0.0).then_some(steps),
        drafted: Some(drafted),
        accepted: Some(accepted),
        steps: (steps > 0.0).then_some((predicted - 1.0, steps)),
        traps: vec![Trap::RoundsInferred],
        ..Window::of(Printout::LlamaTimings)
    }])
}

/// `itl_tokens`: tokens of every decode step of a request.
pub(super) fn steps(value: &JsonValue<'_>, k: Option<u64>) -> Option<Vec<Window>> {
    let tokens = list(value, &["itl_tokens"])?;
    if tokens.iter().any(|tokens| !(1.0..=f64::from(Trace::LONGEST) + 1.0).contains(tokens)) {
        return None;
    }
    let most = tokens.iter().copied().fold(1.0, f64::max) as usize;
    let mut counts = vec![0.0; most];
    tokens.iter().for_each(|&tokens| counts[tokens as usize - 1] += 1.0);
    let (rounds, sum): (f64, f64) = (tokens.len() as f64, tokens.iter().sum());
    let fits = |k: &u64| *k as usize + 1 >= most;
    Some(vec![Window {
        k,
        rounds: Some(rounds),
        drafted: k.map(|k| k as f64 * rounds),
        accepted: Some(sum - rounds),
        passed: passed(&counts),
        alike: k.filter(fits).map(|k| alike(&counts, k)).unwrap_or_default(),
        steps: Some((sum, rounds)),
        ..Window::of(Printout::Steps)
    }])
}
