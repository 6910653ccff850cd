//! Acceptance as it was measured or stated.

use crate::catalog::node::{Entry, Node};
use crate::catalog::reader::{Fields, Keys, Problems, is_nested, lists, one_or_many};
use crate::catalog::scenario::LARGEST_K;
use crate::catalog::values::{LARGEST_INTEGER, integer, number, probability, probability_axis};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::{AcceptanceModel, Counts, Curve, Length, NotACurve};
use crate::domain::axis::Axis;
use crate::units::Probability;

pub(super) fn iid(node: &Node, problems: &mut Problems) -> Option<Axis<Probability>> {
    Fields::open(node, &Keys::all(&["alpha"]), problems)?.required("alpha", probability_axis)
}

/// One curve, or a list of curves; cumulative or conditional.
pub(super) fn curves(node: &Node, problems: &mut Problems) -> Option<Vec<Curve>> {
    let mut fields = Fields::open(node, &Keys::all(&["cumulative", "conditional"]), problems)?;
    let cumulative = fields.optional("cumulative", |node, problems| several(node, problems, Curve::cumulative));
    let conditional = fields.optional("conditional", |node, problems| several(node, problems, Curve::conditional));
    match (cumulative?, conditional?) {
        (Some(curves), None) | (None, Some(curves)) => Some(curves),
        (Some(_), Some(_)) => {
            let found = Diagnostic::error("conflict", format!("`{}` has both forms", node.path)).at(&node.place);
            problems.report(found.hint("keep `cumulative` or `conditional`"))
        }
        (None, None) => {
            let found = Diagnostic::error("missing-key", format!("`{}` has no shares", node.path)).at(&node.place);
            problems.report(found.hint(
                "cumulative = [0.8, 0.6]: of all rounds, those that accept at least i drafts (vLLM prints these); \
                 conditional = [0.8, 0.75]: of those that accept i - 1 drafts, those that accept the i-th",
            ))
        }
    }
}

fn several(
    node: &Node,
    problems: &mut Problems,
    make: fn(&[Probability]) -> Result<Curve, NotACurve>,
) -> Option<Vec<Curve>> {
    let one = |node: &Node, problems: &mut Problems| {
        let shares = one_or_many(node, problems, probability)?;
        match make(&shares) {
            Ok(curve) => Some(curve),
            Err(error) => {
                let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
                problems.report(found.hint("chances given that all before were accepted are `conditional`"))
            }
        }
    };
    if is_nested(node) {
        lists(node, problems, "a curve, such as [0.7, 0.5]", one)
    } else {
        one(node, problems).map(|curve| vec![curve])
    }
}

/// The draft length that a figure was measured at.
fn measured_k(node: &Node, problems: &mut Problems) -> Option<u64> {
    integer(node, problems, 1, LARGEST_K)
}

pub(super) fn mean_length(node: &Node, problems: &mut Problems) -> Option<Length> {
    let mut fields = Fields::open(node, &Keys::all(&["tokens", "k"]), problems)?;
    let tokens = fields.required("tokens", |node, problems| number(node, problems, 1.0));
    let k = fields.required("k", measured_k);
    length(k?, tokens?, node, problems)
}

fn length(k: u64, tokens: f64, node: &Node, problems: &mut Problems) -> Option<Length> {
    match Length::new(k, tokens) {
        Ok(length) => Some(length),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems
                .report(found.hint("vLLM's mean acceptance length and SGLang's accept length count the bonus token"))
        }
    }
}

pub(super) fn rate(node: &Node, problems: &mut Problems) -> Option<AcceptanceModel> {
    let mut fields = Fields::open(node, &Keys::all(&["value", "k"]), problems)?;
    let value = fields.required("value", probability);
    let k = fields.required("k", measured_k);
    Some(AcceptanceModel::Rate { k: k?, value: value? })
}

/// `{ "1" = 1.66, "3" = 2.25 }`
pub(super) fn by_k(node: &Node, problems: &mut Problems) -> Option<Vec<Length>> {
    const EXAMPLE: &str = "such as { \"1\" = 1.66, \"3\" = 2.25 }: tokens per pass by k";
    let Some(entries) = node.entries() else {
        return problems.wrong_type(node, &format!("a table {EXAMPLE}"));
    };
    if entries.is_empty() {
        let found = Diagnostic::error("empty-axis", format!("`{}` is empty", node.path)).at(&node.place);
        return problems.report(found.hint(EXAMPLE));
    }
    let one = |entry: &Entry| {
        let tokens = number(&entry.node, problems, 1.0);
        let Some(k) = entry.key.parse::<u64>().ok().filter(|k| (1..=LARGEST_K).contains(k)) else {
            let found = Diagnostic::error("out-of-range", format!("`{}` is no draft length", entry.node.path));
            return problems.report(found.at(&entry.key_place).hint("write k as a quoted whole number, such as \"3\""));
        };
        length(k, tokens?, &entry.node, problems)
    };
    let read: Vec<Option<Length>> = entries.iter().map(one).collect();
    let mut lengths: Vec<Length> = read.into_iter().collect::<Option<_>>()?;
    lengths.sort_by_key(Length::k);
    match lengths.windows(2).find(|pair| pair[0].k() == pair[1].k()) {
        Some(pair) => {
            let message = format!("`{}` gives k = {} twice", node.path, pair[0].k());
            problems.report(Diagnostic::error("bad-axis", message).at(&node.place).hint("give each k once"))
        }
        None => {
            implausible(&lengths, node, problems);
            Some(lengths)
        }
    }
}

/// Rises beyond this are more than noise.
const NOISE: f64 = 1.05;

/// Warns of tokens per pass that no acceptance of one text has: they fall, or a later draft adds more than an earlier one.
fn implausible(lengths: &[Length], node: &Node, problems: &mut Problems) {
    let points: Vec<(u64, f64)> =
        std::iter::once((0, 1.0)).chain(lengths.iter().map(|at| (at.k(), at.tokens()))).collect();
    let steps =
        points.windows(2).map(|pair| (pair[0], pair[1], (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) as f64));
    let mut before: Option<f64> = None;
    for ((low, tokens), (high, more), adds) in steps {
        let why = match before {
            _ if adds < 0.0 => format!("tokens per pass fall from {tokens} at k = {low} to {more} at k = {high}"),
            Some(before) if adds > NOISE * before => {
                format!(
                    "from k = {low} to {high} each draft adds {adds:.2} tokens, and the ones before it added {before:.2}"
                )
            }
            _ => {
                before = Some(adds);
                continue;
            }
        };
        let found = Diagnostic::error("implausible", format!("`{}`: {why}", node.path)).as_warning().at(&node.place);
        let hint =
            "of the same text a later draft is accepted no more often than an earlier one: were all measured alike?";
        return problems.report::<()>(found.hint(hint)).unwrap_or_default();
    }
}

/// Warns of rounds too few to say much.
pub(super) fn few_rounds(rounds: u64, node: &Node, problems: &mut Problems) {
    if rounds < FEW_ROUNDS {
        let message = format!("`{}` rests on {rounds} rounds", node.path);
        let found = Diagnostic::error("few-rounds", message).as_warning().at(&node.place);
        problems
            .report::<()>(found.hint("an alpha from 100 rounds is known to about 0.1; outputs show no interval of it"));
    }
}

/// Below, an alpha is known to a tenth at best.
const FEW_ROUNDS: u64 = 100;

/// `{ accepted_per_position = [4100, 2700], rounds = 6000 }`
pub(super) fn counts(node: &Node, problems: &mut Problems) -> Option<Counts> {
    let mut fields = Fields::open(node, &Keys::all(&["accepted_per_position", "rounds"]), problems)?;
    let count = |node: &Node, problems: &mut Problems| integer(node, problems, 0, LARGEST_INTEGER);
    let accepted = fields.required("accepted_per_position", |node, problems| one_or_many(node, problems, count));
    let rounds = fields.required("rounds", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    match Counts::new(accepted?, rounds?) {
        Ok(counts) => {
            few_rounds(counts.rounds(), node, problems);
            Some(counts)
        }
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint(
                "vLLM counts them as spec_decode_num_accepted_tokens_per_pos, and rounds as spec_decode_num_drafts",
            ))
        }
    }
}
