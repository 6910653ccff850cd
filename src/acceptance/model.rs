//! Acceptance models of a scenario into processes: one value of their axis at a time, at one context.

use crate::acceptance::best_tree::BestTrees;
use crate::acceptance::invert::{alpha_of_mean_length, alpha_of_rate};
use crate::acceptance::process::{Part, Process};
use crate::acceptance::tree::accepted;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, AtContext, Curve, Length, OfWorkload};
use crate::domain::ranks::Ranks;
use crate::domain::shape::TreeShape;
use crate::units::Probability;
use crate::words::AcceptanceKind;

/// How many processes an acceptance stands for: the length of its axis.
#[must_use]
pub fn processes(acceptance: &Acceptance) -> u64 {
    match &acceptance.model {
        AcceptanceModel::Iid { alpha } => alpha.len(),
        AcceptanceModel::PerPosition(curves) => curves.len() as u64,
        _ => 1,
    }
}

/// The process at `index`, below [`processes`], at a context, of rounds that draft in a shape.
///
/// Between two contexts that were stated it mixes what holds at both; beyond the last it is what holds there.
#[must_use]
pub fn process(acceptance: &Acceptance, index: u64, context: f64, shape: Option<&TreeShape>) -> Process {
    let of = |model: &AcceptanceModel| plain(model, index, context, shape);
    let Some(last) = acceptance.by_context.last() else { return of(&acceptance.model) };
    let above = acceptance.by_context.partition_point(|at| (at.context as f64) < context);
    let (low, at_low) = match above.checked_sub(1).map(|at| &acceptance.by_context[at]) {
        Some(AtContext { context, model }) => (*context as f64, model),
        None => (0.0, &acceptance.model),
    };
    match acceptance.by_context.get(above) {
        None => Process::Beyond(Box::new(of(&last.model))),
        Some(high) if high.context as f64 <= context => of(&high.model),
        Some(_) if context <= low => of(at_low),
        Some(high) => {
            let share = (context - low) / (high.context as f64 - low);
            Process::Between { low: Box::new(of(at_low)), high: Box::new(of(&high.model)), share }
        }
    }
}

/// The process of a model that says nothing of contexts.
fn plain(model: &AcceptanceModel, index: u64, context: f64, shape: Option<&TreeShape>) -> Process {
    match model {
        AcceptanceModel::Iid { alpha } => Process::Iid { alpha: alpha.get(index) },
        AcceptanceModel::PerPosition(curves) => positions(AcceptanceKind::PerPosition, &curves[index as usize]),
        AcceptanceModel::MeanLength(at) => fitted(AcceptanceKind::MeanLength, *at),
        AcceptanceModel::Rate { k, value } => {
            let alpha = alpha_of_rate(*value, *k).unwrap_or(Probability::ZERO);
            match Length::new(*k, 1.0 + *k as f64 * value.get()) {
                Ok(at) => Process::Fitted { kind: AcceptanceKind::Rate, at, alpha },
                Err(_) => Process::Iid { alpha },
            }
        }
        AcceptanceModel::ByK(lengths) => Process::Lengths(lengths.clone()),
        AcceptanceModel::Counts(counts) => positions(AcceptanceKind::Counts, counts.curve()),
        AcceptanceModel::Beta { beta, scope } => Process::Beta { beta: *beta, scope: *scope },
        AcceptanceModel::Markov(spans) => Process::Spans(spans.clone()),
        AcceptanceModel::Trace(trace) => Process::Trace(trace.clone()),
        AcceptanceModel::Ranks(ranks) => match shape {
            None => Process::Ranks(ranks.clone()),
            Some(shape) => positions(AcceptanceKind::Ranks, &on_tree(ranks, shape)),
        },
        AcceptanceModel::Workloads(kinds) => {
            let part =
                |kind: &OfWorkload| Part { tokens: kind.tokens, process: process(&kind.acceptance, 0, context, shape) };
            Process::Workloads(kinds.iter().map(part).collect())
        }
    }
}

fn positions(kind: AcceptanceKind, curve: &Curve) -> Process {
    Process::Positions { kind, curve: curve.clone() }
}

/// Shares of rounds by level of a tree; of one whose nodes the engine picks, those of the best fixed tree of its sizes,
/// which it can only better.
fn on_tree(ranks: &Ranks, shape: &TreeShape) -> Curve {
    let law = match shape {
        TreeShape::Drawn(tree) => accepted(tree, ranks),
        TreeShape::Sized(sizes) => {
            let [nodes, depth, branch] = [sizes.nodes(), sizes.steps(), sizes.topk()].map(|size| size as usize);
            accepted(&BestTrees::new(ranks, nodes, depth, branch).tree(nodes), ranks)
        }
    };
    let mut shares = law.survival().to_vec();
    shares.resize((shape.depth() as usize).max(1), 0.0);
    Curve::falling(shares)
}

/// Independent tests with the alpha of a mean; a mean that was checked has one.
fn fitted(kind: AcceptanceKind, at: Length) -> Process {
    let alpha = alpha_of_mean_length(at.tokens(), at.k()).unwrap_or(Probability::ZERO);
    Process::Fitted { kind, at, alpha }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acceptance::process::Known;
    use crate::domain::tree::Tree;

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    fn of(model: AcceptanceModel, by_context: Vec<AtContext>) -> Acceptance {
        Acceptance { by_context, ..Acceptance::of(model) }
    }

    /// By hand: alpha 0.5 gives 1.75 at k = 2 and 1.875 at k = 3; a rate of 0.375 at k = 2 is the same.
    #[test]
    fn one_mean_or_rate_holds_at_its_k_and_is_carried_elsewhere() {
        let mean = plain(&AcceptanceModel::MeanLength(Length::new(2, 1.75).unwrap()), 0, 0.0, None);
        let rate = plain(&AcceptanceModel::Rate { k: 2, value: Probability::new(0.375).unwrap() }, 0, 0.0, None);
        for process in [mean, rate] {
            assert_eq!(process.tokens_per_pass(2).to_bits(), 1.75_f64.to_bits());
            near(process.tokens_per_pass(3), 1.875);
            near(process.alpha().unwrap(), 0.5);
            assert_eq!([2, 3].map(|k| process.known(k)), [Known::Stated, Known::Extrapolated]);
        }
    }

    /// Tokens per pass of an EAGLE-3 head by context, as vllm-project/speculators pull request 684 reports them.
    #[test]
    fn between_contexts_a_straight_line_beyond_them_the_last() {
        let at = |tokens| AcceptanceModel::MeanLength(Length::new(3, tokens).unwrap());
        let longer = vec![AtContext { context: 4000, model: at(2.04) }, AtContext { context: 8000, model: at(1.687) }];
        let acceptance = of(at(2.295), longer);
        let here = |context: f64| process(&acceptance, 0, context, None);
        near(here(0.0).tokens_per_pass(3), 2.295);
        near(here(4000.0).tokens_per_pass(3), 2.04);
        near(here(1000.0).tokens_per_pass(3), 2.295 - 0.25 * 0.255);
        near(here(6000.0).tokens_per_pass(3), (2.04 + 1.687) / 2.0);
        near(here(20_000.0).tokens_per_pass(3), 1.687);
        use Known::{Extrapolated, Interpolated, Stated};
        let known = [0.0, 1000.0, 4000.0, 8000.0, 8001.0].map(|context| here(context).known(3));
        assert_eq!(known, [Stated, Interpolated, Stated, Stated, Extrapolated]);
        assert_eq!(here(1000.0).known(4), Extrapolated);
    }

    /// By hand: two candidates, the second level below the first: 1 + 0.6 + 0.2 + 0.36.
    #[test]
    fn ranks_say_what_a_tree_and_what_a_chain_yields() {
        let p = |value| Probability::new(value).unwrap();
        let ranks = of(AcceptanceModel::Ranks(Ranks::on_all_levels(&[p(0.6), p(0.2)]).unwrap()), Vec::new());
        let drawn = TreeShape::Drawn(Tree::new(&[0, 0, 1]).unwrap());
        near(process(&ranks, 0, 0.0, Some(&drawn)).tokens_per_pass(2), 2.16);
        near(process(&ranks, 0, 0.0, None).tokens_per_pass(2), 1.96);
    }
}
