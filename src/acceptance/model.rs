//! Acceptance models of a scenario into processes: one value of their axis at a time, at one context.

use crate::acceptance::beam::beam;
use crate::acceptance::invert::{alpha_of_mean_length, alpha_of_rate};
use crate::acceptance::process::{Part, Process};
use crate::acceptance::tree::accepted;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Curve, Here, Length, OfWorkload};
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

/// The process at `index`, below [`processes`], at a context, of rounds that draft in a shape, over all sequences.
///
/// Where only a stated share of them proposes, a mean, a rate or means by k count all sequences, and the other kinds those that
/// propose: `F = 1 + share (F of those - 1)` both ways.
///
/// Between two contexts that were stated it mixes what holds at both; beyond the last it is what holds there.
#[must_use]
pub fn process(acceptance: &Acceptance, index: u64, context: f64, shape: Option<&TreeShape>) -> Process {
    let of = |model: &AcceptanceModel| shared(model, acceptance.proposing_share, index, context, shape);
    match acceptance.at_context(context) {
        Here::Stated(model) => of(model),
        Here::Beyond(model) => Process::Beyond(Box::new(of(model))),
        Here::Between { low, high, share } => {
            Process::Between { low: Box::new(of(low)), high: Box::new(of(high)), share }
        }
    }
}

/// The process over all sequences of a model that says nothing of contexts.
fn shared(
    model: &AcceptanceModel,
    share: Option<Probability>,
    index: u64,
    context: f64,
    shape: Option<&TreeShape>,
) -> Process {
    let Some(share) = share else { return plain(model, index, context, shape) };
    if let AcceptanceModel::Workloads(kinds) = model {
        let part = |kind: &OfWorkload| {
            let acceptance = Acceptance { proposing_share: Some(share), ..kind.acceptance.clone() };
            Part { tokens: kind.tokens, process: process(&acceptance, 0, context, shape) }
        };
        return Process::Workloads(kinds.iter().map(part).collect());
    }
    let of = plain(&of_proposals(model, share), index, context, shape);
    Process::Proposing { share, of: Box::new(of) }
}

/// The same of the sequences that propose: what was measured over all of them is theirs by `1 + (F - 1) / share`.
fn of_proposals(model: &AcceptanceModel, share: Probability) -> AcceptanceModel {
    // A mean that was checked is one that proposals can bring.
    let theirs = |at: &Length| {
        let most = at.k() as f64 + 1.0;
        Length::new(at.k(), (1.0 + (at.tokens() - 1.0) / share.get()).min(most)).unwrap_or(*at)
    };
    match model {
        AcceptanceModel::MeanLength(at) => AcceptanceModel::MeanLength(theirs(at)),
        AcceptanceModel::Rate { k, value } => {
            AcceptanceModel::Rate { k: *k, value: Probability::nearest(value.get() / share.get()) }
        }
        AcceptanceModel::ByK(lengths) => AcceptanceModel::ByK(lengths.iter().map(theirs).collect()),
        other => other.clone(),
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

/// Shares of rounds by level of a tree; of one whose nodes the engine picks, those of the beam that ranks alone would draft.
fn on_tree(ranks: &Ranks, shape: &TreeShape) -> Curve {
    let law = match shape {
        TreeShape::Drawn(tree) => accepted(tree, ranks),
        TreeShape::Sized(sizes) => accepted(&beam(ranks, sizes), ranks),
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
    use crate::domain::acceptance::AtContext;
    use crate::domain::axis::Axis;
    use crate::domain::tree::Tree;

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    fn of(model: AcceptanceModel, by_context: Vec<AtContext>) -> Acceptance {
        Acceptance { by_context, ..Acceptance::of(model) }
    }

    /// By hand: a fifth of all sequences proposes, and 1.3 tokens come out at k = 3: those that propose yield 2.5, which is alpha
    /// 0.691414, so that 1 + 0.2 x 0.691414 come out at k = 1. An iid of 0.7 describes them: 1 + 0.2 x 0.7.
    #[test]
    fn a_share_of_proposals_holds_at_every_k() {
        let p = |value| Probability::new(value).unwrap();
        let of = |model| {
            let acceptance = Acceptance { proposing_share: Some(p(0.2)), ..Acceptance::of(model) };
            process(&acceptance, 0, 0.0, None)
        };
        let lengths = [(3, 1.3)].map(|(k, tokens)| Length::new(k, tokens).unwrap());
        let kinds = [
            AcceptanceModel::MeanLength(lengths[0]),
            AcceptanceModel::Rate { k: 3, value: p(0.1) },
            AcceptanceModel::ByK(lengths.to_vec()),
        ];
        for process in kinds.map(of) {
            near(process.tokens_per_pass(3), 1.3);
            assert!((process.tokens_per_pass(1) - 1.138_283).abs() < 1e-6, "{}", process.tokens_per_pass(1));
            assert!(process.tokens_per_pass(8) < 1.0 + 0.2 * 8.0);
            assert_eq!([1, 3].map(|k| process.known(k)), [Known::Extrapolated, Known::Stated]);
        }
        near(of(AcceptanceModel::Iid { alpha: Axis::single(p(0.7)) }).tokens_per_pass(1), 1.14);
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
