//! Acceptance as it was measured or stated.

use crate::catalog::node::{Entry, Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
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
    let nested =
        matches!(&node.value, Value::List(items) if items.iter().any(|item| matches!(item.value, Value::List(_))));
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
    if nested { one_or_many(node, problems, one) } else { one(node, problems).map(|curve| vec![curve]) }
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
            fallen(&lengths, node, problems);
            Some(lengths)
        }
    }
}

/// Warns of tokens per pass that fall: of the same rounds a longer draft accepts at least as much.
fn fallen(lengths: &[Length], node: &Node, problems: &mut Problems) {
    let falls = |pair: &&[Length]| pair[1].tokens() < pair[0].tokens();
    if let Some([before, after]) = lengths.windows(2).find(falls) {
        let message = format!(
            "`{}`: tokens per pass fall from {} at k = {} to {} at k = {}",
            node.path,
            before.tokens(),
            before.k(),
            after.tokens(),
            after.k()
        );
        let found = Diagnostic::error("falling", message).as_warning().at(&node.place);
        problems.report::<()>(found.hint("a longer draft accepts no less of the same text: were all measured alike?"));
    }
}

/// `{ accepted_per_position = [4100, 2700], rounds = 6000 }`
pub(super) fn counts(node: &Node, problems: &mut Problems) -> Option<Counts> {
    let mut fields = Fields::open(node, &Keys::all(&["accepted_per_position", "rounds"]), problems)?;
    let count = |node: &Node, problems: &mut Problems| integer(node, problems, 0, LARGEST_INTEGER);
    let accepted = fields.required("accepted_per_position", |node, problems| one_or_many(node, problems, count));
    let rounds = fields.required("rounds", |node, problems| integer(node, problems, 1, LARGEST_INTEGER));
    match Counts::new(accepted?, rounds?) {
        Ok(counts) => Some(counts),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint(
                "vLLM counts them as spec_decode_num_accepted_tokens_per_pos, and rounds as spec_decode_num_drafts",
            ))
        }
    }
}
