//! Break-even and the best draft length.

use serde_json::{Value, json};
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::process::Process;
use specplan::plan::breakeven::{alpha_to_pay, best_at_constant_cost, tokens_to_pay};
use specplan::plan::choose::best_k;
use specplan::plan::windows::{balance_context, no_loss_context, windows};
use specplan::units::{BytesPerSecond, FlopsPerSecond};

use crate::Answer;
use crate::speedup::Models;
use crate::tokens::{number, probability, whole};

/// A batch beyond any weight: what is left is what grows with it.
const ENDLESS: f64 = 1e16;

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "optimal_k_const" => constant(inputs),
        "optimal_k" => optimal(inputs),
        "breakeven_alpha" => alpha(inputs),
        "breakeven_alpha_const" => alpha_at_constant_cost(inputs),
        "breakeven_batches" => batches(inputs),
        "breakeven_ctx" => contexts(inputs),
        "no_loss_ctx" => no_loss(inputs),
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

fn batches(inputs: &Value) -> Answer {
    let models = Models::of(inputs)?;
    let setup = models.setup()?;
    let (context, k, most) = (number(inputs, "ctx")?, whole(inputs, "k")?, whole(inputs, "batch_max")?);
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let speedup = |batch: f64| tokens / tokens_to_pay(&setup, batch, context, k);
    let found = windows(speedup, 1, most);
    Ok(json!({
        "crossings": found.crossings,
        "first_losing_batch": found.first_losing,
        "limit_speedup": speedup(ENDLESS),
    }))
}

fn contexts(inputs: &Value) -> Answer {
    let models = Models::of(inputs)?;
    let setup = models.setup()?;
    let (batch, k, most) = (number(inputs, "batch")?, whole(inputs, "k")?, whole(inputs, "ctx_max")?);
    let tokens = expected_tokens(probability(&inputs["alpha"])?, k);
    let found = windows(|context| tokens / tokens_to_pay(&setup, batch, context, k), 0, most);
    Ok(json!({
        "crossings": found.crossings,
        "gain_at_zero_ctx": found.pays_first,
        "gain_at_ctx_max": found.pays_last,
    }))
}

fn no_loss(inputs: &Value) -> Answer {
    let (target, hw) = (&inputs["target"], &inputs["hw"]);
    let rates = (FlopsPerSecond::new(number(hw, "peak")?), BytesPerSecond::new(number(hw, "bw")?));
    let (params, kv) = (number(target, "matmul_params")?, number(target, "kv_bytes_per_token")?);
    let balance = balance_context(params, kv, rates.0, rates.1);
    let context = no_loss_context(probability(&inputs["alpha"])?, whole(inputs, "k")?, balance);
    Ok(json!({ "ctx": context, "balance_ctx": balance }))
}
