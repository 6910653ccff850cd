//! `[simulate]` into a [`Simulate`] and a seed.

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::{LARGEST_INTEGER, integer, integer_axis, probability};
use crate::diagnostic::Diagnostic;
use crate::domain::law::{Law, Pair};
use crate::domain::simulate::Simulate;
use crate::units::Probability;

const KEYS: Keys = Keys::all(&["rounds", "alpha", "k", "p", "q", "seed"]);
/// What is simulated when the scenario does not say.
const DEFAULT_ROUNDS: u64 = 200_000;
const DEFAULT_K: [u64; 4] = [1, 2, 4, 8];
/// Longer rounds would fill tables with counts that never come up.
const LARGEST_K: u64 = 10_000;
/// Draft lengths of one study.
const MOST_K: u64 = 64;
const HINT: &str = "p and q give each token of one vocabulary its chance; each sums to 1, within 1e-9";
/// A year of simulation.
const MOST_ROUNDS: u64 = 1_000_000_000_000_000;

/// Reads the section; the seed is apart, since every command has one.
pub(super) fn simulate(node: &Node, problems: &mut Problems) -> Option<(Simulate, Option<u64>)> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let rounds = fields.optional("rounds", |node, problems| integer(node, problems, 1, MOST_ROUNDS));
    let alpha = fields.optional("alpha", probability);
    let k = fields.optional("k", draft_lengths);
    let p = fields.optional("p", law);
    let q = fields.optional("q", law);
    let seed = fields.optional("seed", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    let laws = match (p?, q?) {
        (Some(p), Some(q)) => Some(laws(node, problems, p, q)?),
        (None, None) => None,
        _ => {
            let found = Diagnostic::error("missing-key", format!("`{}` has only one of `p` and `q`", node.path));
            return problems
                .report(found.at(&node.place).hint("the rule needs the target's law p and the drafter's q"));
        }
    };
    let simulate = Simulate {
        rounds: rounds?.unwrap_or(DEFAULT_ROUNDS),
        alpha: alpha?,
        k: k?.unwrap_or_else(|| DEFAULT_K.to_vec()),
        laws,
    };
    Some((simulate, seed?))
}

fn draft_lengths(node: &Node, problems: &mut Problems) -> Option<Vec<u64>> {
    let axis = integer_axis(node, problems, 0, LARGEST_K)?;
    if axis.len() > MOST_K {
        let found = Diagnostic::error("out-of-range", format!("`{}` has {} draft lengths", node.path, axis.len()));
        return problems.report(found.at(&node.place).hint(format!("simulate {MOST_K} of them at most")));
    }
    Some(axis.iter().collect())
}

fn law(node: &Node, problems: &mut Problems) -> Option<Law> {
    let chances = one_or_many(node, problems, |node, problems| probability(node, problems).map(Probability::get))?;
    match Law::new(chances) {
        Ok(law) => Some(law),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint(HINT))
        }
    }
}

fn laws(node: &Node, problems: &mut Problems, p: Law, q: Law) -> Option<Pair> {
    match Pair::new(p, q) {
        Ok(pair) => Some(pair),
        Err(error) => {
            let typed = |key| node.get(key).filter(|law| law.place.source.command_line);
            let place = typed("p").or_else(|| node.get("q")).unwrap_or(node).place.clone();
            problems.report(Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&place).hint(HINT))
        }
    }
}
