//! The accept/reject rule over explicit laws.

use serde_json::{Value, json};
use specplan::acceptance::exact::{Replacement, Sampling, law, output};
use specplan::acceptance::sequence::Chains;
use specplan::acceptance::several::{self, Exhausted, Several, likeliest, upper_bound};
use specplan::domain::law::{Law, Pair};
use specplan::units::Probability;

use crate::tokens::{number, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "transform" => from_logits(inputs, "logits").map(|law| json!({ "probs": law.chances() })),
        "accept_single" => pair(inputs).map(|pair| single(&pair)),
        "accept_logits" => from_logits(inputs, "target_logits").and_then(|p| {
            let pair = Pair::new(p, from_logits(inputs, "draft_logits")?).map_err(refused)?;
            Ok(single(&pair))
        }),
        "acceptance_by_rule" => pair(inputs).map(|pair| {
            json!({
                "rejection_sampling": pair.acceptance(),
                "sample_and_match": pair.match_chance(),
                "greedy_draft": pair.greedy_draft(),
                "greedy_both": pair.greedy_both(),
            })
        }),
        "output_distribution" => output_distribution(inputs),
        "multidraft_with_replacement" => {
            pair(inputs).and_then(|pair| Ok(several_json(&several::with_replacement(&pair, size(inputs, "n")?))))
        }
        "multidraft_without_replacement" => without_replacement(inputs),
        "multidraft_optimal" => optimal(inputs),
        "topn_acceptance" => pair(inputs).and_then(|pair| {
            let (candidates, acceptance) = likeliest(&pair, size(inputs, "n")?);
            Ok(json!({ "candidates": candidates, "acceptance": acceptance }))
        }),
        "markov_lm" => chains(inputs).and_then(|chains| survival(&chains, inputs)),
        "exactness_sequence" => chains(inputs).and_then(|chains| sequences(&chains, inputs)),
        _ => return None,
    })
}

fn numbers(inputs: &Value, key: &str) -> Result<Vec<f64>, Unanswered> {
    let list = inputs[key].as_array().ok_or_else(|| Unanswered::Broken(format!("no list `{key}`")))?;
    list.iter().map(|value| value.as_f64().ok_or_else(|| Unanswered::Broken(format!("`{key}`: {value}")))).collect()
}

fn stated(inputs: &Value, key: &str) -> Result<Law, Unanswered> {
    Law::new(numbers(inputs, key)?).map_err(refused)
}

fn pair(inputs: &Value) -> Result<Pair, Unanswered> {
    Pair::new(stated(inputs, "p")?, stated(inputs, "q")?).map_err(refused)
}

fn from_logits(inputs: &Value, key: &str) -> Result<Law, Unanswered> {
    let top_k = usize::try_from(whole(inputs, "top_k")?).map_err(refused)?;
    let top_p = Probability::new(number(inputs, "top_p")?).map_err(refused)?;
    let sampling = Sampling::new(number(inputs, "temperature")?, top_k, top_p).map_err(refused)?;
    law(&numbers(inputs, key)?, sampling).map_err(refused)
}

fn single(pair: &Pair) -> Value {
    json!({
        "acceptance": pair.acceptance(),
        "tv": pair.total_variation(),
        "residual": pair.residual().map(|law| law.chances().to_vec()),
        "p": pair.p().chances(),
        "q": pair.q().chances(),
    })
}

fn output_distribution(inputs: &Value) -> Answer {
    let tested = Pair::new(stated(inputs, "p")?, stated(inputs, "q_test")?).map_err(refused)?;
    let replacement = match inputs["resample"].as_str() {
        Some("residual") => Replacement::Residual,
        Some("target") => Replacement::Target,
        _ => return Err(Unanswered::Broken("no `resample`".into())),
    };
    let out = output(&tested, &stated(inputs, "q_draft")?, replacement).map_err(refused)?;
    Ok(json!({ "output": out.law, "acceptance": out.acceptance, "tv_from_target": out.total_variation }))
}

fn several_json(several: &Several) -> Value {
    json!({ "acceptance": several.acceptance(), "per_rank": several.per_rank, "output": several.output })
}

fn without_replacement(inputs: &Value) -> Answer {
    let exhausted = match inputs["exhausted"].as_str() {
        None | Some("stop") => Exhausted::Stop,
        Some("uniform") => Exhausted::Uniform,
        Some(other) => return Err(Unanswered::Broken(format!("`exhausted` is `{other}`"))),
    };
    let several = several::without_replacement(&pair(inputs)?, size(inputs, "n")?, exhausted).map_err(refused)?;
    Ok(several_json(&several))
}

fn optimal(inputs: &Value) -> Answer {
    let sampling = match inputs["sampling"].as_str() {
        None | Some("with") => several::Sampling::WithReplacement,
        Some("without") => several::Sampling::WithoutReplacement,
        Some(other) => return Err(Unanswered::Broken(format!("`sampling` is `{other}`"))),
    };
    let bound = upper_bound(&pair(inputs)?, size(inputs, "n")?, sampling).map_err(refused)?;
    Ok(json!({ "acceptance": bound }))
}

fn chains(inputs: &Value) -> Result<Chains, Unanswered> {
    let rows = |key: &str| -> Result<Vec<Law>, Unanswered> {
        let rows = inputs[key].as_array().ok_or_else(|| Unanswered::Broken(format!("no matrix `{key}`")))?;
        rows.iter().map(|row| stated(&json!({ "row": row }), "row")).collect()
    };
    let pairs: Result<Vec<Pair>, _> = rows("P")?.into_iter().zip(rows("Q")?).map(|(p, q)| Pair::new(p, q)).collect();
    Chains::new(pairs.map_err(refused)?).map_err(refused)
}

fn size(inputs: &Value, key: &str) -> Result<usize, Unanswered> {
    usize::try_from(whole(inputs, key)?).map_err(refused)
}

fn survival(chains: &Chains, inputs: &Value) -> Answer {
    let survival = chains.survival(size(inputs, "start")?, size(inputs, "k")?).map_err(refused)?;
    Ok(json!({
        "survival": survival,
        "mean_tokens": 1.0 + survival.iter().sum::<f64>(),
        "row_acceptance": chains.row_acceptance(),
    }))
}

fn sequences(chains: &Chains, inputs: &Value) -> Answer {
    let length = u32::try_from(whole(inputs, "length")?).map_err(refused)?;
    let law = chains.sequences(size(inputs, "start")?, size(inputs, "k")?, length).map_err(refused)?;
    Ok(json!({ "law": law }))
}
