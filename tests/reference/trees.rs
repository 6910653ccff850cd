//! Trees of drafts.

use serde_json::{Value, json};
use specplan::acceptance::best_tree::BestTrees;
use specplan::acceptance::tree::accepted;
use specplan::domain::drafter::{CostRatio, DraftSource};
use specplan::domain::ranks::Ranks;
use specplan::domain::tree::Tree;
use specplan::plan::tree::{Bounds, Candidates};

use crate::speedup::Models;
use crate::tokens::{number, probabilities, refused, whole};
use crate::{Answer, Unanswered};

/// Answers the functions of this topic.
pub(crate) fn evaluate(function: &str, inputs: &Value) -> Option<Answer> {
    Some(match function {
        "tree_expected" => tree(inputs).and_then(|tree| Ok(yields(&tree, &ranks(&inputs["probs"])?))),
        "medusa_tree" => paths(inputs).and_then(|tree| Ok(yields(&tree, &ranks(&inputs["head_accuracy"])?))),
        "kary_tree" => size(inputs, "branch").and_then(|branch| {
            let depth = u32::try_from(whole(inputs, "depth")?).map_err(refused)?;
            Ok(yields(&Tree::full(branch, depth).map_err(refused)?, &ranks(&inputs["probs"])?))
        }),
        "independent_chains" => size(inputs, "chains").and_then(|chains| {
            let tree = Tree::chains(chains, size(inputs, "length")?).map_err(refused)?;
            Ok(yields(&tree, &ranks(&inputs["probs"])?))
        }),
        "sequoia_optimal" => best(inputs),
        "tree_optimal_size" => best_size(inputs),
        _ => return None,
    })
}

fn size(inputs: &Value, key: &str) -> Result<usize, Unanswered> {
    usize::try_from(whole(inputs, key)?).map_err(refused)
}

/// One list of chances, or one for each level.
fn ranks(value: &Value) -> Result<Ranks, Unanswered> {
    let levels = value.as_array().ok_or_else(|| Unanswered::Broken("no chances".into()))?;
    if levels.iter().all(Value::is_array) {
        let levels: Result<Vec<_>, _> = levels.iter().map(probabilities).collect();
        Ranks::by_level(&levels?).map_err(refused)
    } else {
        Ranks::on_all_levels(&probabilities(value)?).map_err(refused)
    }
}

fn integers(value: &Value) -> impl Iterator<Item = i64> + '_ {
    value.as_array().into_iter().flatten().filter_map(Value::as_i64)
}

fn tree(inputs: &Value) -> Result<Tree, Unanswered> {
    let below = |key: &str| integers(&inputs[key]).skip(1).map(usize::try_from).collect::<Result<Vec<_>, _>>();
    Tree::with_ranks(&below("parents").map_err(refused)?, &below("ranks").map_err(refused)?).map_err(refused)
}

fn paths(inputs: &Value) -> Result<Tree, Unanswered> {
    let path = |path: &Value| integers(path).map(usize::try_from).collect::<Result<Vec<_>, _>>();
    let paths: Result<Vec<_>, _> = inputs["paths"].as_array().into_iter().flatten().map(path).collect();
    Tree::of_paths(&paths.map_err(refused)?).map_err(refused)
}

fn yields(tree: &Tree, ranks: &Ranks) -> Value {
    let law = accepted(tree, ranks);
    json!({
        "tokens": law.mean_tokens(),
        "accepted": law.mean_accepted(),
        "survival": law.survival(),
        "nodes": tree.nodes(),
        "depth": tree.depth(),
    })
}

fn best(inputs: &Value) -> Answer {
    let (ranks, nodes) = (ranks(&inputs["probs"])?, size(inputs, "nodes")?);
    let branch = inputs.get("max_branch").map_or(Ok(ranks.most()), |_| size(inputs, "max_branch"))?;
    let best = BestTrees::new(&ranks, nodes, size(inputs, "max_depth")?, branch);
    // The tree itself has to yield what the search promises.
    let (tokens, drawn) = (best.tokens(nodes), accepted(&best.tree(nodes), &ranks).mean_tokens());
    assert!((tokens / drawn - 1.0).abs() < 1e-12, "{tokens} and {drawn}");
    Ok(json!({ "tokens": tokens }))
}

fn best_size(inputs: &Value) -> Answer {
    let ranks = ranks(&inputs["probs"])?;
    let bounds = Bounds {
        nodes: size(inputs, "max_nodes")?,
        depth: size(inputs, "max_depth")?,
        branch: size(inputs, "max_branch")?,
    };
    let ratio = CostRatio::new(number(inputs, "draft_level_ratio")?).map_err(refused)?;
    let models = Models::with(inputs, inputs, DraftSource::Constant { cost_ratio: ratio })?;
    let (batch, context) = (whole(inputs, "batch")?, whole(inputs, "ctx")?);
    let best = Candidates::new(&ranks, bounds).best(&models.setup()?, batch, context);
    Ok(json!({
        "speedup": best.speedup,
        "nodes": best.tree.nodes(),
        "depth": best.tree.depth(),
        "tokens": best.tokens,
    }))
}
