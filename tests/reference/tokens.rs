//! Tokens per target pass.

use serde_json::{Value, json};
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::chain;
use specplan::acceptance::invert::{acceptance_rate, alpha_of_mean_length, alpha_of_rate};
use specplan::units::Probability;

use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "expected_tokens" => {
            with_alpha(inputs, |alpha| Ok(json!({ "tokens": chain::expected_tokens(alpha, whole(inputs, "k")?) })))
        }
        "expected_tokens_derivative" => with_alpha(inputs, |alpha| {
            Ok(json!({ "derivative": chain::expected_tokens_derivative(alpha, whole(inputs, "k")?) }))
        }),
        "expected_tokens_limit" => with_alpha(inputs, |alpha| {
            chain::expected_tokens_limit(alpha).map(|tokens| json!({ "tokens": tokens })).map_err(refused)
        }),
        "tokens_quantile" => with_alpha(inputs, |alpha| {
            let accepted = chain::accepted_quantile(alpha, whole(inputs, "k")?, probability(&inputs["prob"])?);
            Ok(json!({ "accepted": accepted }))
        }),
        "k_for_fraction" => with_alpha(inputs, |alpha| {
            let k = chain::k_for_fraction(alpha, probability(&inputs["fraction"])?).map_err(refused)?;
            Ok(json!({ "k": k }))
        }),
        "accept_distribution" => with_alpha(inputs, |alpha| Ok(law(&Accepted::iid(alpha, whole(inputs, "k")?)))),
        "invert_mean_length" => number(inputs, "length")
            .and_then(|length| alpha_of_mean_length(length, whole(inputs, "k")?).map_err(refused))
            .map(|alpha| json!({ "alpha": alpha.get() })),
        "invert_accept_ratio" => probability(&inputs["ratio"])
            .and_then(|ratio| alpha_of_rate(ratio, whole(inputs, "k")?).map_err(refused))
            .map(|alpha| json!({ "alpha": alpha.get() })),
        "accept_ratio" => with_alpha(inputs, |alpha| match whole(inputs, "k")? {
            0 => Err(Unanswered::Refused("nothing is drafted".into())),
            k => Ok(json!({ "ratio": acceptance_rate(alpha, k) })),
        }),
        "per_position" => {
            probabilities(&inputs["conditional"]).map(|conditional| law(&Accepted::from_conditional(conditional)))
        }
        "per_position_from_cumulative" => probabilities(&inputs["cumulative"]).and_then(|cumulative| {
            Accepted::from_cumulative(cumulative).map(|accepted| law(&accepted)).map_err(refused)
        }),
        _ => return None,
    })
}

fn law(accepted: &Accepted) -> Value {
    json!({
        "pmf": accepted.pmf(),
        "survival": accepted.survival(),
        "cumulative": accepted.survival(),
        "conditional": accepted.conditional(),
        "mean_accepted": accepted.mean_accepted(),
        "mean_tokens": accepted.mean_tokens(),
        "variance": accepted.variance(),
    })
}

fn with_alpha(inputs: &Value, compute: impl FnOnce(Probability) -> Answer) -> Answer {
    probability(&inputs["alpha"]).and_then(compute)
}

/// Any error of the library as a refusal.
pub(crate) fn refused(error: impl std::fmt::Display) -> Unanswered {
    Unanswered::Refused(error.to_string())
}

/// A number of a case.
pub(crate) fn number(inputs: &Value, key: &str) -> Result<f64, Unanswered> {
    inputs[key].as_f64().ok_or_else(|| Unanswered::Broken(format!("no number `{key}`")))
}

/// A whole number of a case, also where it is written as `4.0`.
pub(crate) fn whole(inputs: &Value, key: &str) -> Result<u64, Unanswered> {
    let number = number(inputs, key)?;
    let whole = (0.0..=9e15).contains(&number) && number.fract() == 0.0;
    if whole { Ok(number as u64) } else { Err(Unanswered::Broken(format!("`{key}` is not a whole number"))) }
}

/// A probability of a case.
pub(crate) fn probability(value: &Value) -> Result<Probability, Unanswered> {
    let number = value.as_f64().ok_or_else(|| Unanswered::Broken("a probability is no number".into()))?;
    Probability::new(number).map_err(refused)
}

/// Probabilities of a case.
pub(crate) fn probabilities(value: &Value) -> Result<Vec<Probability>, Unanswered> {
    let list = value.as_array().ok_or_else(|| Unanswered::Broken("no list of probabilities".into()))?;
    list.iter().map(probability).collect()
}
