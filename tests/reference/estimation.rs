//! Alpha from counters.

use serde_json::{Value, json};
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::counted::{Confidence, Tests, carried_error, equal_tailed, rounds_for_precision};
use specplan::acceptance::invert::alpha_of_mean_length;
use specplan::domain::acceptance::Counts;

use crate::tokens::{number, probability, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "mle_alpha" => mle(inputs),
        "mle_alpha_mixed" => mixed(inputs),
        "beta_posterior" => posterior(inputs),
        "vllm_counters" => counters(inputs),
        "rounds_for_precision" => precision(inputs),
        "tokens_se" => error(inputs),
        _ => return None,
    })
}

fn confidence(inputs: &Value) -> Result<Confidence, Unanswered> {
    Confidence::new(number(inputs, "confidence")?).map_err(refused)
}

fn broken(what: &str) -> Unanswered {
    Unanswered::Broken(what.to_owned())
}

fn list(value: &Value, what: &str) -> Result<Vec<u64>, Unanswered> {
    let all = value.as_array().ok_or_else(|| broken(what))?;
    all.iter().map(|one| one.as_u64().ok_or_else(|| broken(what))).collect()
}

fn of_tests(tests: Tests, confidence: Confidence) -> Result<Value, Unanswered> {
    let none = || Unanswered::Refused("nothing was tested".to_owned());
    let pair = |(low, high): (f64, f64)| json!([low, high]);
    Ok(json!({
        "alpha": tests.alpha().ok_or_else(none)?.get(),
        "accepted": tests.accepted,
        "rejected": tests.rejected,
        "tests": tests.all(),
        "std_error": tests.std_error().ok_or_else(none)?,
        "wald": pair(tests.wald(confidence).ok_or_else(none)?),
        "wilson": pair(tests.wilson(confidence).ok_or_else(none)?),
    }))
}

/// Counts by accepted drafts, of rounds of one length.
fn mle(inputs: &Value) -> Answer {
    let counts = list(&inputs["counts"], "counts")?;
    let k = counts.len() as u64 - 1;
    let rounds: u64 = counts.iter().sum();
    let tests = Tests::of_rounds(counts.iter().enumerate().map(|(accepted, &count)| (k, accepted as u64, count)));
    let mut found = of_tests(tests, confidence(inputs)?)?;
    let length = 1.0 + tests.accepted as f64 / rounds as f64;
    found["accept_ratio"] = json!(tests.accepted as f64 / (rounds * k) as f64);
    found["mean_length"] = json!(length);
    found["alpha_from_mean_length"] = json!(alpha_of_mean_length(length, k).map_err(refused)?.get());
    Ok(found)
}

fn mixed(inputs: &Value) -> Answer {
    let rounds = inputs["rounds"].as_array().ok_or_else(|| broken("rounds"))?;
    let one = |round: &Value| -> Result<(u64, u64, u64), Unanswered> {
        Ok((whole(round, "drafted")?, whole(round, "accepted")?, whole(round, "count")?))
    };
    let rounds: Vec<(u64, u64, u64)> = rounds.iter().map(one).collect::<Result<_, _>>()?;
    let tests = Tests::of_rounds(rounds.iter().copied());
    let mut found = of_tests(tests, confidence(inputs)?)?;
    let sum = |of: &dyn Fn(&(u64, u64, u64)) -> u64| rounds.iter().map(of).sum::<u64>() as f64;
    let (all, drafting) = (sum(&|round| round.2), sum(&|round| if round.0 > 0 { round.2 } else { 0 }));
    let accepted = tests.accepted as f64;
    found["accept_ratio"] = json!(accepted / sum(&|round| round.0 * round.2));
    found["mean_length_drafting_rounds"] = json!(1.0 + accepted / drafting);
    found["mean_tokens_all_passes"] = json!(1.0 + accepted / all);
    Ok(found)
}

fn posterior(inputs: &Value) -> Answer {
    let tests = Tests { accepted: whole(inputs, "accepted")?, rejected: whole(inputs, "rejected")? };
    let law = tests.posterior((number(inputs, "prior_a")?, number(inputs, "prior_b")?)).map_err(refused)?;
    let (a, b) = (law.a(), law.b());
    let (low, high) = equal_tailed(&law, confidence(inputs)?);
    let sd = (a * b / ((a + b).powi(2) * (a + b + 1.0))).sqrt();
    Ok(json!({ "a": a, "b": b, "mean": law.mean(), "sd": sd, "interval": [low, high] }))
}

fn counters(inputs: &Value) -> Answer {
    let (rounds, drafted) = (whole(inputs, "num_drafts")?, whole(inputs, "num_draft_tokens")?);
    let accepted = whole(inputs, "num_accepted_tokens")?;
    let counts = Counts::new(list(&inputs["accepted_per_pos"], "accepted_per_pos")?, rounds).map_err(refused)?;
    let passed = |(tested, passed): &(u64, u64)| (*tested > 0).then(|| *passed as f64 / *tested as f64);
    Ok(json!({
        "mean_acceptance_length": 1.0 + accepted as f64 / rounds as f64,
        "draft_acceptance_rate": accepted as f64 / drafted as f64,
        "cumulative": counts.curve().survival(),
        "conditional": counts.tests().iter().map(passed).collect::<Vec<_>>(),
    }))
}

fn precision(inputs: &Value) -> Answer {
    let (alpha, k) = (probability(&inputs["alpha"])?, whole(inputs, "k")?);
    let rounds = rounds_for_precision(alpha, k, number(inputs, "half_width")?, confidence(inputs)?);
    Ok(json!({ "rounds": rounds.ceil() as u64, "rounds_real": rounds }))
}

fn error(inputs: &Value) -> Answer {
    let (alpha, k) = (probability(&inputs["alpha"])?, whole(inputs, "k_pred")?);
    let (of_alpha, of_tokens) = carried_error(alpha, whole(inputs, "k_obs")?, whole(inputs, "rounds")?, k);
    Ok(json!({ "alpha_se": of_alpha, "tokens_se": of_tokens, "tokens": expected_tokens(alpha, k) }))
}
