//! Break-even and the best draft length.

use serde_json::{Value, json};
use specplan::acceptance::process::Process;
use specplan::plan::breakeven::{alpha_to_pay, best_at_constant_cost, tokens_to_pay};
use specplan::plan::choose::best_k;

use crate::Answer;
use crate::speedup::Models;
use crate::tokens::{number, probability, whole};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "optimal_k_const" => constant(inputs),
        "optimal_k" => optimal(inputs),
        "breakeven_alpha" => alpha(inputs),
        "breakeven_alpha_const" => alpha_at_constant_cost(inputs),
        _ => return None,
    })
}

fn constant(inputs: &Value) -> Answer {
    let best = best_at_constant_cost(probability(&inputs["alpha"])?, number(inputs, "c")?, whole(inputs, "k_max")?);
    Ok(json!({ "k": best.k, "speedup": best.speedup, "k_continuous": best.continuous }))
}

fn optimal(inputs: &Value) -> Answer {
    let models = Models::of(inputs)?;
    let setup = models.setup()?;
    let (batch, context, most) = (number(inputs, "batch")?, number(inputs, "ctx")?, whole(inputs, "k_max")?);
    let best = best_k(&setup, &Process::Iid { alpha: probability(&inputs["alpha"])? }, batch, context, most);
    Ok(json!({ "k": best.k, "speedup": best.speedup }))
}

fn alpha(inputs: &Value) -> Answer {
    let models = Models::of(inputs)?;
    let setup = models.setup()?;
    let (batch, context, k) = (number(inputs, "batch")?, number(inputs, "ctx")?, whole(inputs, "k")?);
    let tokens = tokens_to_pay(&setup, batch, context, k);
    Ok(json!({ "alpha": alpha_to_pay(tokens, k).map(|alpha| alpha.get()), "cost_ratio": tokens }))
}

fn alpha_at_constant_cost(inputs: &Value) -> Answer {
    let k = whole(inputs, "k")?;
    let tokens = 1.0 + k as f64 * number(inputs, "c")?;
    Ok(json!({ "alpha": alpha_to_pay(tokens, k).map(|alpha| alpha.get()) }))
}
