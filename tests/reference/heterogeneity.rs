//! Acceptance that differs between rounds, sequences and positions.

use serde_json::{Value, json};
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::invert::alpha_of_mean_length;
use specplan::acceptance::population::{Kind, by_rounds, by_tokens};
use specplan::acceptance::{beta, spans};
use specplan::domain::beta::Beta;
use specplan::domain::spans::Spans;
use specplan::units::Probability;

use crate::tokens::{number, probabilities, probability, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "beta_mixture_tokens" => beta_mixture_tokens(inputs),
        "beta_population_token_weighted" => law_of(inputs).and_then(|law| {
            let k = whole(inputs, "k")?;
            let tokens = beta::tokens_of_sequences(&law, k);
            // The law over rounds has to agree with the expectation over sequences.
            let pooled = beta::of_sequences(&law, k).mean_tokens();
            assert!((pooled / tokens - 1.0).abs() < 1e-12, "{pooled} and {tokens}");
            Ok(json!({ "token_weighted": tokens }))
        }),
        "mixture_population" => mixture_population(inputs),
        "markov_two_state" => two_state(inputs).and_then(|spans| long_run(&spans, inputs)),
        "markov_chain" => chain(inputs).and_then(|spans| long_run(&spans, inputs)),
        "extrapolate_beta" => extrapolate_beta(inputs),
        _ => return None,
    })
}

fn law_of(inputs: &Value) -> Result<Beta, Unanswered> {
    Beta::new(number(inputs, "a")?, number(inputs, "b")?).map_err(refused)
}

fn iid_tokens(mean: f64, k: u64) -> Result<f64, Unanswered> {
    Ok(expected_tokens(Probability::new(mean).map_err(refused)?, k))
}

fn beta_mixture_tokens(inputs: &Value) -> Answer {
    let (of, k) = (law_of(inputs)?, whole(inputs, "k")?);
    let law = beta::of_rounds(&of, k);
    let iid = iid_tokens(of.mean(), k)?;
    Ok(json!({
        "tokens": law.mean_tokens(),
        "survival": law.survival(),
        "mean_alpha": of.mean(),
        "iid_tokens_same_mean": iid,
        "ratio_to_iid": law.mean_tokens() / iid,
        "tested_acceptance": law.tested_acceptance(),
    }))
}

fn mixture_population(inputs: &Value) -> Answer {
    let k = whole(inputs, "k")?;
    let alphas = probabilities(&inputs["alphas"])?;
    let weights: Vec<f64> = inputs["weights"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let kinds: Vec<Kind> =
        weights.iter().zip(&alphas).map(|(&weight, &alpha)| Kind { weight, law: Accepted::iid(alpha, k) }).collect();
    let all: f64 = weights.iter().sum();
    let mean = weights.iter().zip(&alphas).map(|(weight, alpha)| weight / all * alpha.get()).sum();
    let rounds = by_rounds(&kinds);
    Ok(json!({
        "round_weighted": rounds.mean_tokens(),
        "token_weighted": by_tokens(&kinds).mean_tokens(),
        "iid_tokens_same_mean": iid_tokens(mean, k)?,
        "tested_acceptance": rounds.tested_acceptance(),
    }))
}

fn two_state(inputs: &Value) -> Result<Spans, Unanswered> {
    let p = |key: &str| probability(&inputs[key]);
    Spans::two(p("alpha_easy")?, p("alpha_hard")?, p("p_easy_to_hard")?, p("p_hard_to_easy")?).map_err(refused)
}

fn chain(inputs: &Value) -> Result<Spans, Unanswered> {
    let rows = inputs["P"].as_array().ok_or_else(|| Unanswered::Broken("no matrix `P`".into()))?;
    let row = |row: &Value| row.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    Spans::new(&probabilities(&inputs["alphas"])?, rows.iter().map(row).collect()).map_err(refused)
}

fn long_run(of: &Spans, inputs: &Value) -> Answer {
    let k = whole(inputs, "k")?;
    let run = spans::long_run(of, k).map_err(refused)?;
    let mean: f64 = run.positions.iter().zip(of.alphas()).map(|(share, alpha)| share * alpha).sum();
    Ok(json!({
        "tokens_per_round": run.law.mean_tokens(),
        "stationary_position": run.positions,
        "round_start": run.starts,
        "survival": run.law.survival(),
        "mean_alpha": mean,
        "iid_tokens_same_mean": iid_tokens(mean, k)?,
        "tested_acceptance": run.law.tested_acceptance(),
        "accept_ratio": run.law.acceptance_rate(),
    }))
}

fn extrapolate_beta(inputs: &Value) -> Answer {
    let (of, seen, wanted) = (law_of(inputs)?, whole(inputs, "k_obs")?, whole(inputs, "k_pred")?);
    let alpha = alpha_of_mean_length(beta::of_rounds(&of, seen).mean_tokens(), seen).map_err(refused)?;
    let (predicted, truth) = (expected_tokens(alpha, wanted), beta::of_rounds(&of, wanted).mean_tokens());
    Ok(json!({
        "alpha_from_ratio": alpha.get(),
        "predicted_tokens": predicted,
        "true_tokens": truth,
        "relative_error": predicted / truth - 1.0,
    }))
}
