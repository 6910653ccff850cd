//! A service over time, where formulas are known.

use serde_json::{Value, json};
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::batch::finish;
use specplan::traffic::limits::{alone, bounds, closed, ends, one_by_one, open, saturated};
use specplan::units::Seconds;

use crate::tokens::{number, probability, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "concurrency1_latency" => concurrency1_latency(inputs),
        "saturation_throughput" => saturation_throughput(inputs),
        "mg1" => mg1(inputs),
        "birth_death_open" => birth_death_open(inputs),
        "closed_network" => closed_network(inputs),
        "closed_bounds" => closed_bounds(inputs),
        _ => return None,
    })
}

fn law(inputs: &Value) -> Result<Accepted, Unanswered> {
    Ok(Accepted::iid(probability(&inputs["alpha"])?, whole(inputs, "k")?))
}

fn seconds(inputs: &Value, key: &str) -> Result<Seconds, Unanswered> {
    number(inputs, key).map(Seconds::new)
}

fn numbers(inputs: &Value, key: &str) -> Result<Vec<f64>, Unanswered> {
    let list = inputs[key].as_array().ok_or_else(|| Unanswered::Broken(format!("no list `{key}`")))?;
    list.iter()
        .map(|value| value.as_f64().ok_or_else(|| Unanswered::Broken(format!("`{key}` is no numbers"))))
        .collect()
}

fn concurrency1_latency(inputs: &Value) -> Answer {
    let (round, prefill) = (seconds(inputs, "round_seconds")?, seconds(inputs, "prefill_seconds")?);
    let of = alone(&law(inputs)?, whole(inputs, "tokens")?, round, prefill);
    Ok(json!({
        "expected_rounds": of.rounds,
        "latency_mean": of.mean.get(),
        "latency_sd": of.deviation.get(),
        "tpot": of.per_token.get(),
    }))
}

fn saturation_throughput(inputs: &Value) -> Answer {
    let (batch, tokens) = (whole(inputs, "batch")?, whole(inputs, "tokens")?);
    let of = saturated(&law(inputs)?, batch, tokens, seconds(inputs, "round_seconds")?);
    Ok(json!({ "renewal": of.renewal, "finite": of.finite, "requests_per_second": of.requests }))
}

fn mg1(inputs: &Value) -> Answer {
    let (law, round, prefill) = (law(inputs)?, number(inputs, "round_seconds")?, number(inputs, "prefill_seconds")?);
    let mix = numbers(inputs, "lengths")?.into_iter().zip(numbers(inputs, "probs")?);
    let (mut mean, mut second) = (0.0, 0.0);
    for (length, chance) in mix {
        let of = finish(&law, length as u64);
        let service = prefill + of.rounds * round;
        mean += chance * service;
        second += chance * (service * service + round * round * of.variance);
    }
    let of = one_by_one(number(inputs, "arrival_rate")?, mean, second);
    Ok(json!({
        "utilization": of.utilization,
        "service_mean": mean,
        "stable": of.wait.is_some(),
        "wait_mean": of.wait,
        "sojourn_mean": of.sojourn,
    }))
}

fn rates(inputs: &Value) -> Result<Vec<f64>, Unanswered> {
    Ok(ends(&numbers(inputs, "token_rate_per_seq")?, number(inputs, "mean_tokens")?))
}

fn birth_death_open(inputs: &Value) -> Answer {
    let (rate, ends) = (number(inputs, "arrival_rate")?, rates(inputs)?);
    let utilization = rate / ends.last().copied().unwrap_or(f64::NAN);
    let Some(of) = open(rate, &ends) else {
        return Ok(json!({ "stable": false, "utilization": utilization }));
    };
    Ok(json!({
        "stable": true,
        "utilization": utilization,
        "p_empty": of.empty,
        "mean_in_system": of.in_system,
        "mean_batch": of.batch,
        "mean_response": of.response,
        "p_full_batch": of.full,
    }))
}

fn closed_network(inputs: &Value) -> Answer {
    let of = closed(whole(inputs, "clients")?, number(inputs, "think_seconds")?, &rates(inputs)?);
    Ok(json!({ "throughput": of.throughput, "mean_response": of.response, "mean_in_system": of.in_system }))
}

fn closed_bounds(inputs: &Value) -> Answer {
    let (clients, think) = (whole(inputs, "clients")?, number(inputs, "think_seconds")?);
    let of = bounds(clients, think, number(inputs, "mean_service_alone")?, number(inputs, "max_rate")?);
    Ok(json!({ "throughput_upper": of.throughput, "saturation_clients": of.clients }))
}
