//! `[simulate]` into a [`Simulate`] and a seed.

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::{LARGEST_INTEGER, integer, probability};
use crate::diagnostic::Diagnostic;
use crate::domain::law::{Law, Pair};
use crate::domain::simulate::Simulate;
use crate::units::Probability;

const KEYS: Keys = Keys::all(&["rounds", "alpha", "k", "p", "q", "seed"]);
/// What is simulated when the scenario does not say.
const DEFAULT_ROUNDS: u64 = 200_000;
const DEFAULT_K: [u64; 4] = [1, 2, 4, 8];
/// A year of simulation.
const MOST_ROUNDS: u64 = 1_000_000_000_000_000;

/// Reads the section; the seed is apart, since every command has one.
pub(super) fn simulate(node: &Node, problems: &mut Problems) -> Option<(Simulate, Option<u64>)> {
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let rounds = fields.optional("rounds", |node, problems| integer(node, problems, 1, MOST_ROUNDS));
    let alpha = fields.optional("alpha", probability);
    let k = fields.optional("k", |node, problems| {
        one_or_many(node, problems, |node, problems| integer(node, problems, 0, super::scenario::LARGEST_K))
    });
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

fn law(node: &Node, problems: &mut Problems) -> Option<Vec<f64>> {
    one_or_many(node, problems, |node, problems| probability(node, problems).map(Probability::get))
}

fn laws(node: &Node, problems: &mut Problems, p: Vec<f64>, q: Vec<f64>) -> Option<Pair> {
    let named = |name, chances| Law::new(chances).map_err(|error| format!("{name}: {error}"));
    let laws = named("p", p).and_then(|p| Pair::new(p, named("q", q)?).map_err(|error| error.to_string()));
    laws.map_err(|error| {
        let typed = |key| node.get(key).filter(|law| law.place.source.command_line);
        let place = typed("p").or_else(|| node.get("q")).unwrap_or(node).place.clone();
        let found = Diagnostic::error("conflict", format!("`{}`: {error}", node.path)).at(&place);
        problems.report::<()>(found.hint("p and q give each token of one vocabulary its chance"));
    })
    .ok()
}
