//! Runs of `vllm bench serve --save-result` and of SGLang's bench_serving: JSON objects, one or one on each line.

use jiter::JsonValue;

use crate::domain::drafter::Layout;
use crate::domain::measured::{Measured, Timed};
use crate::domain::measurement::ClosedLoop;
use crate::import::cells::LARGEST;
use crate::import::points::{Asked, NoPoints, Points};
use crate::import::value::{get, of_number, text};
use crate::units::Seconds;

/// Gaps between chunks that are longer than the time of a token by so much hold several tokens.
const LONGER: f64 = 1.4;
/// Means of different requests make no more sequences of the clients there are.
const CROWDED: f64 = 1.2;
/// An acceptance length goes with its counts within rounding.
const COUNTED: f64 = 0.02;

/// Every run of a text.
pub(super) fn runs(text: &str, asked: &Asked<'_>) -> Result<Points, NoPoints> {
    let mut found = Points::default();
    let mut take = |value: &JsonValue<'_>| {
        let label = format!("{} run {}", asked.name, found.points.len() + found.refused.len() + 1);
        match run(value, label.clone(), asked) {
            None => {}
            Some(Ok(point)) => found.points.push(point),
            Some(Err(reason)) => found.refused.push((label, reason)),
        }
    };
    match JsonValue::parse(text.as_bytes(), true) {
        Ok(JsonValue::Array(values)) => values.iter().for_each(take),
        Ok(value) => take(&value),
        // One on each line.
        Err(whole) => {
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let value = JsonValue::parse(line.as_bytes(), true);
                take(&value.map_err(|_| NoPoints::NotJson(whole.description(text.as_bytes())))?);
            }
        }
    }
    if found.points.is_empty() && found.refused.is_empty() { Err(NoPoints::NoRun) } else { Ok(found) }
}

/// A run, or why it tells nothing; none of what is no run.
///
/// # Formula
///
/// ```text
/// batch    mean_tpot (output tokens - requests) / duration      sequences that decode at once, in the mean (Little 1961)
/// context  (input tokens + output tokens / 2) / requests
/// ```
fn run(value: &JsonValue<'_>, label: String, asked: &Asked<'_>) -> Option<Result<Measured, String>> {
    let number = |key: &str| of_number(get(value, key)?);
    let is_run = ["total_output_tokens", "duration", "mean_tpot_ms"].iter().all(|key| get(value, key).is_some());
    if !is_run {
        return None;
    }
    let needed = |key: &str| match number(key) {
        Some(number) if (0.0..=LARGEST).contains(&number) => Ok(number),
        Some(number) => Err(format!("{key} {number:e} is not between 0 and {LARGEST:e}")),
        None => Err(format!("{key} is missing, or no number")),
    };
    let all = ["total_output_tokens", "duration", "mean_tpot_ms", "completed", "total_input_tokens"].map(needed);
    let [Ok(output), Ok(duration), Ok(each), Ok(requests), Ok(input)] = all else {
        return all.into_iter().find_map(Result::err).map(Err);
    };
    let each = each / 1e3;
    if let Some(reason) = elsewhere(value, asked) {
        return Some(Err(reason));
    }
    if !(each > 0.0 && requests >= 1.0 && duration > 0.0 && output > requests) {
        return Some(Err("it completed nothing, or each request has one token: no time per token".to_owned()));
    }
    let tokens = number("spec_decode_acceptance_length").or_else(|| number("accept_length"));
    if tokens.is_some_and(|tokens| tokens < 1.0) {
        return Some(Err("its acceptance length is below 1: no round emits less".to_owned()));
    }
    if tokens.is_none() && number("mean_itl_ms").is_some_and(|gap| gap / 1e3 > LONGER * each) {
        let reason = "chunks hold several tokens: a speculative run that does not say its acceptance length";
        return Some(Err(reason.to_owned()));
    }
    if let Some(reason) = tokens.and_then(|tokens| contradicted(value, tokens)) {
        return Some(Err(reason));
    }
    let stated = drafts(value);
    let k = match (tokens, stated.map(|(k, _)| k).or(asked.k)) {
        (None, _) => 0,
        (Some(_), Some(k)) => k,
        (Some(_), None) => return Some(Err("a speculative run that does not say its k: give it with --k".to_owned())),
    };
    let batch = (each * (output - requests) / duration).max(1.0);
    let clients = number("max_concurrency").filter(|clients| *clients >= 1.0).unwrap_or(requests).min(requests);
    if batch > CROWDED * clients {
        return Some(Err(format!(
            "by its time per token {batch:.0} sequences decode at once, and it had {clients} clients: one of its figures is wrong"
        )));
    }
    let requests_of = ClosedLoop { prompt: input / requests, output: output / requests };
    Some(Ok(Measured {
        label,
        drafter: None,
        k,
        layout: stated.and_then(|(_, layout)| layout).filter(|_| k > 0),
        batch,
        context: requests_of.prompt + requests_of.output / 2.0,
        requests: Some(requests_of),
        tokens_per_pass: tokens.filter(|_| k > 0),
        timed: Timed::PerToken(Seconds::new(each)),
    }))
}

/// How an acceptance length goes against the counts beside it.
fn contradicted(value: &JsonValue<'_>, tokens: f64) -> Option<String> {
    let number = |key: &str| of_number(get(value, key)?);
    let rounds = number("spec_decode_num_drafts").filter(|rounds| *rounds > 0.0);
    let by_counts = number("spec_decode_accepted_tokens").zip(rounds).map(|(accepted, rounds)| 1.0 + accepted / rounds);
    let by_positions = match get(value, "spec_decode_per_position_acceptance_rates") {
        Some(JsonValue::Array(rates)) => rates.iter().map(of_number).sum::<Option<f64>>().map(|sum| 1.0 + sum),
        _ => None,
    };
    let other = by_counts.into_iter().chain(by_positions).find(|other| (tokens / other - 1.0).abs() > COUNTED)?;
    Some(format!("its acceptance length is {tokens}, and {other:.2} by the counts beside it"))
}

/// Why a run is one of another engine or model.
fn elsewhere(value: &JsonValue<'_>, asked: &Asked<'_>) -> Option<String> {
    if let (Some(backend), Some(engine)) = (text(value, "backend"), asked.only("engine")) {
        let is_other = |name: &str, other: &str| backend.contains(name) && engine.starts_with(other);
        if is_other("sglang", "vllm") || is_other("vllm", "sglang") {
            return Some(format!("backend {backend}, and the scenario has {engine}"));
        }
    }
    let model = text(value, "model_id").or_else(|| text(value, "model"))?;
    (!(asked.is_target)(&model)).then(|| format!("model {model}, which is another than the scenario's target"))
}

/// The draft length that a run states, with the passes of a tree.
fn drafts(value: &JsonValue<'_>) -> Option<(u64, Option<Layout>)> {
    if let Some(JsonValue::Array(rates)) = get(value, "spec_decode_per_position_acceptance_rates") {
        return (!rates.is_empty()).then_some((rates.len() as u64, None));
    }
    let number = |key: &str| of_number(get(value, key)?);
    if let (Some(drafted), Some(rounds)) = (number("spec_decode_draft_tokens"), number("spec_decode_num_drafts")) {
        let k = drafted / rounds;
        return (k >= 1.0 && k.fract() < 1e-9).then_some((k as u64, None));
    }
    let server = get(value, "server_info")?;
    let of_server = |key: &str| of_number(get(server, key)?).filter(|number| *number >= 1.0);
    let steps = of_server("speculative_num_steps")?;
    let topk = of_server("speculative_eagle_topk").unwrap_or(1.0);
    let tree = of_server("speculative_num_draft_tokens").filter(|_| topk > 1.0);
    let layout =
        tree.map(|nodes| Layout { verify_width: nodes, draft_passes: steps, draft_width: topk, is_tree: true });
    Some((steps as u64, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, k: Option<u64>) -> Points {
        runs(text, &Asked { name: "on.json", k, ..Asked::default() }).unwrap()
    }

    /// 100 requests of 128 + 26.5 tokens in 10 s at 12 ms a token: (2650 - 100) / 10 x 0.012 = 3.06 of them decode at once.
    #[test]
    fn a_run_of_vllm_says_its_batch_context_and_drafts() {
        let run = r#"{"completed": 100, "duration": 10.0, "total_input_tokens": 12800, "total_output_tokens": 2650,
            "mean_tpot_ms": 12.0, "mean_itl_ms": 30.6, "max_concurrency": 8, "spec_decode_acceptance_length": 2.55,
            "spec_decode_per_position_acceptance_rates": [0.7, 0.5, 0.35]}"#;
        let point = read(run, None).points.remove(0);
        assert!((point.batch - 3.06).abs() < 1e-12 && (point.context - 141.25).abs() < 1e-12, "{point:?}");
        assert_eq!((point.k, point.tokens_per_pass), (3, Some(2.55)));
        assert_eq!(point.timed, Timed::PerToken(Seconds::new(0.012)));
        assert_eq!(point.requests, Some(ClosedLoop { prompt: 128.0, output: 26.5 }));
        // Without its acceptance its chunks give it away.
        let silent = run.replace("spec_decode_acceptance_length", "other");
        assert!(read(&silent, None).refused[0].1.contains("acceptance length"));
    }

    /// 1 + 155 / 100 is 2.55.
    #[test]
    fn a_run_that_contradicts_itself_is_refused() {
        let run = |counts: &str| {
            format!(
                r#"{{"completed": 100, "duration": 10.0, "total_input_tokens": 12800, "total_output_tokens": 2650,
                "mean_tpot_ms": 12.0, "spec_decode_acceptance_length": 2.55, {counts}}}"#
            )
        };
        let of = |counts: &str| read(&run(counts), Some(3));
        let counts =
            |accepted: u32| format!("\"spec_decode_num_drafts\": 100, \"spec_decode_accepted_tokens\": {accepted}");
        assert_eq!(of(&counts(155)).points.len(), 1);
        let due = "its acceptance length is 2.55, and 1.55 by the counts beside it";
        assert_eq!(of(&counts(55)).refused[0].1, due);
        let rates = r#""spec_decode_per_position_acceptance_rates": [0.3, 0.2, 0.05]"#;
        assert_eq!(of(rates).refused[0].1, due);
        // Of 5 s a token (2650 - 100) / 10 x 5 = 1275 decode at once.
        let slow =
            run(&counts(155)).replace("\"mean_tpot_ms\": 12.0", "\"mean_tpot_ms\": 5000.0, \"max_concurrency\": 16");
        let due =
            "by its time per token 1275 sequences decode at once, and it had 16 clients: one of its figures is wrong";
        assert_eq!(read(&slow, Some(3)).refused[0].1, due);
        let huge = read(&run("\"a\": 1").replace("12800", "1e308"), Some(3));
        assert_eq!(huge.refused[0].1, "total_input_tokens 1e308 is not between 0 and 1e12");
    }

    #[test]
    fn runs_of_sglang_come_one_on_each_line() {
        let plain = r#"{"completed": 10, "duration": 5.0, "total_input_tokens": 1000, "total_output_tokens": 510, "mean_tpot_ms": 9.0, "mean_itl_ms": 9.0, "accept_length": null}"#;
        let drafting = plain.replace("null", "2.4");
        let found = read(&format!("{plain}\n{drafting}\n"), Some(4));
        assert_eq!(found.points.iter().map(|of| of.k).collect::<Vec<_>>(), [0, 4]);
        assert!(read(&drafting, None).refused[0].1.contains("--k"));
        let server = drafting.replace("\"completed\"", "\"server_info\": {\"speculative_num_steps\": 3, \"speculative_eagle_topk\": 4, \"speculative_num_draft_tokens\": 16}, \"completed\"");
        let point = read(&server, None).points.remove(0);
        let tree = Layout { verify_width: 16.0, draft_passes: 3.0, draft_width: 4.0, is_tree: true };
        assert_eq!((point.k, point.layout), (3, Some(tree)));
    }
}
