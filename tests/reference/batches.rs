//! Batches whose sequences differ, and their ends.

use serde_json::{Value, json};
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::batch::{extremes, finish, makespan, running, static_time};
use specplan::plan::round::{plain_step, round};

use crate::speedup::Models;
use crate::tokens::{number, probabilities, probability, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "batch_extremes" => law(inputs).and_then(|law| {
            let of = extremes(&law, whole(inputs, "batch")?);
            Ok(json!({ "mean": of.mean, "expected_max": of.max, "expected_min": of.min }))
        }),
        "rounds_to_finish" => law(inputs).and_then(|law| rounds_to_finish(&law, whole(inputs, "tokens")?)),
        "batch_makespan" => law(inputs).and_then(|law| {
            let tokens = whole(inputs, "tokens")?;
            let max = makespan(&running(&law, tokens), whole(inputs, "batch")?);
            Ok(json!({ "expected_max_rounds": max, "expected_rounds": finish(&law, tokens).rounds }))
        }),
        "static_batch_time" => static_batch_time(inputs),
        _ => return None,
    })
}

fn law(inputs: &Value) -> Result<Accepted, Unanswered> {
    match inputs.get("conditional") {
        Some(conditional) => Ok(Accepted::from_conditional(probabilities(conditional)?)),
        None => Ok(Accepted::iid(probability(&inputs["alpha"])?, whole(inputs, "k")?)),
    }
}

fn rounds_to_finish(law: &Accepted, tokens: u64) -> Answer {
    let of = finish(law, tokens);
    Ok(json!({
        "expected_rounds": of.rounds,
        "variance_rounds": of.variance,
        "naive_rounds": of.naive,
        "asymptotic_rounds": of.asymptotic,
        "effective_tokens_per_round": of.effective_tokens(tokens),
        "expected_overshoot": of.overshoot,
    }))
}

fn static_batch_time(inputs: &Value) -> Answer {
    let (models, law) = (Models::of(inputs)?, law(inputs)?);
    let (setup, context, k) = (models.setup()?, number(inputs, "ctx")?, whole(inputs, "k")?);
    let (tokens, batch) = (whole(inputs, "tokens")?, whole(inputs, "batch")?);
    let seconds = |b: u64| {
        let plain = plain_step(&setup, b as f64, context);
        round(&setup, &plain, b as f64, context, k, 1.0).seconds(1.0).get()
    };
    let seconds: Vec<f64> = (1..=batch).map(seconds).collect();
    let expected = static_time(&running(&law, tokens), &seconds);
    Ok(json!({ "expected_seconds": expected, "tokens_per_second": (batch * tokens) as f64 / expected }))
}
