//! `[simulate]` into a [`Simulate`] and a seed.

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, is_nested, lists, one_or_many};
use crate::catalog::values::{LARGEST_INTEGER, integer, integer_axis, number, probability};
use crate::diagnostic::Diagnostic;
use crate::domain::law::{Law, Pair};
use crate::domain::simulate::{Laws, Simulate};
use crate::units::Probability;

const KEYS: Keys =
    Keys::all(&["rounds", "alpha", "k", "batch", "tokens", "p", "q", "start", "temperature", "drafts", "seed"]);
/// Longer rounds would fill tables with counts that never come up.
const LARGEST_K: u64 = 10_000;
/// Draft lengths of one study.
const MOST_K: u64 = 64;
/// Batches of one study, and sequences in one of them.
const MOST_BATCHES: u64 = 16;
const LARGEST_BATCH: u64 = 1024;
/// Longer outputs tell nothing more: the end effect is gone.
const MOST_TOKENS: u64 = 4096;
/// Drafts for one position, whose orders are followed one by one.
const MOST_DRAFTS: u64 = 16;
const MOST_TEMPERATURES: usize = 16;
/// Below, all chances but the largest are 0 to a double; above, all tokens are alike.
const SMALLEST_TEMPERATURE: f64 = 0.001;
const LARGEST_TEMPERATURE: f64 = 1000.0;
/// Tokens cubed times k of small language models: some seconds.
const MOST_STEPS: u64 = 100_000_000;
const HINT: &str = "p and q give each token of one vocabulary its chance; each sums to 1, within 1e-9";
/// Hours of simulation.
const MOST_ROUNDS: u64 = 1_000_000_000_000;

/// Reads the section; the seed is apart, since every command has one.
pub(super) fn simulate(node: &Node, problems: &mut Problems) -> Option<(Simulate, Option<u64>)> {
    let default = Simulate::default();
    let mut fields = Fields::open(node, &KEYS, problems)?;
    let rounds = fields.optional("rounds", |node, problems| integer(node, problems, 1, MOST_ROUNDS));
    let alpha = fields.optional("alpha", probability);
    let k = fields.optional("k", |node, problems| few(node, problems, (0, LARGEST_K), MOST_K, "draft lengths"));
    let batch =
        fields.optional("batch", |node, problems| few(node, problems, (1, LARGEST_BATCH), MOST_BATCHES, "batches"));
    let tokens = fields.optional("tokens", |node, problems| integer(node, problems, 1, MOST_TOKENS));
    let temperature = fields.optional("temperature", temperatures);
    let drafts = fields.optional("drafts", |node, problems| integer(node, problems, 1, MOST_DRAFTS));
    let seed = fields.optional("seed", |node, problems| integer(node, problems, 0, LARGEST_INTEGER));
    let laws = laws(node, problems);
    let laws = laws?;
    if let (None, Some(idle)) = (&laws, node.get("temperature").or_else(|| node.get("drafts"))) {
        let found = Diagnostic::error("conflict", format!("`{}` is of laws, and there are none", idle.path));
        return problems.report(found.at(&idle.place).hint("give p and q, or leave it out"));
    }
    if let Some(found) = too_many_tokens(&laws, k.as_ref()?.as_deref().unwrap_or(&default.k), node) {
        return problems.report(found);
    }
    if let (Some(Laws::After { .. }), Some(idle)) = (&laws, node.get("drafts")) {
        let found = Diagnostic::error("conflict", format!("`{}` is of laws that are always alike", idle.path));
        return problems.report(found.at(&idle.place).hint("give one law p and one law q, or leave it out"));
    }
    let simulate = Simulate {
        rounds: rounds?.unwrap_or(default.rounds),
        alpha: alpha?,
        k: k?.unwrap_or(default.k),
        batch: batch?.unwrap_or_default(),
        tokens: tokens?.unwrap_or(default.tokens),
        laws,
        temperature: temperature?.unwrap_or_default(),
        drafts: drafts?.unwrap_or(1),
    };
    Some((simulate, seed?))
}

/// Language models too large to follow.
fn too_many_tokens(laws: &Option<Laws>, k: &[u64], node: &Node) -> Option<Diagnostic> {
    let Some(Laws::After { pairs, .. }) = laws else { return None };
    let (tokens, longest) = (pairs.len() as u64, k.iter().copied().max()?);
    let steps = tokens.saturating_pow(3).saturating_mul(longest);
    (steps > MOST_STEPS).then(|| {
        let message = format!("`{}` has language models of {tokens} tokens, and k goes up to {longest}", node.path);
        let found = Diagnostic::error("out-of-range", message).at(&node.get("p").unwrap_or(node).place);
        found.hint(format!("tokens^3 x k may be {MOST_STEPS} at most"))
    })
}

/// A short list of whole numbers.
fn few(node: &Node, problems: &mut Problems, of: (u64, u64), most: u64, what: &str) -> Option<Vec<u64>> {
    let axis = integer_axis(node, problems, of.0, of.1)?;
    if axis.len() > most {
        let found = Diagnostic::error("out-of-range", format!("`{}` has {} {what}", node.path, axis.len()));
        return problems.report(found.at(&node.place).hint(format!("simulate {most} of them at most")));
    }
    Some(axis.iter().collect())
}

fn temperatures(node: &Node, problems: &mut Problems) -> Option<Vec<f64>> {
    let one = |node: &Node, problems: &mut Problems| {
        let temperature = number(node, problems, 0.0)?;
        if temperature == 0.0 || (SMALLEST_TEMPERATURE..=LARGEST_TEMPERATURE).contains(&temperature) {
            return Some(temperature);
        }
        let message = format!("`{}` cannot be {temperature:?}", node.path);
        let hint = format!("0 is greedy; else from {SMALLEST_TEMPERATURE} to {LARGEST_TEMPERATURE}");
        problems.report(Diagnostic::error("out-of-range", message).at(&node.place).hint(hint))
    };
    let all = one_or_many(node, problems, one)?;
    if all.len() > MOST_TEMPERATURES {
        let found = Diagnostic::error("out-of-range", format!("`{}` has {} values", node.path, all.len()));
        return problems.report(found.at(&node.place).hint(format!("{MOST_TEMPERATURES} temperatures at most")));
    }
    Some(all)
}

/// `p` and `q`, each a law, or a list of laws by the token before; nothing is `Some(None)`.
fn laws(node: &Node, problems: &mut Problems) -> Option<Option<Laws>> {
    let (p, q) = match (node.get("p"), node.get("q")) {
        (Some(p), Some(q)) => (p, q),
        (None, None) => return Some(None),
        _ => {
            let found = Diagnostic::error("missing-key", format!("`{}` has only one of `p` and `q`", node.path));
            return problems
                .report(found.at(&node.place).hint("the rule needs the target's law p and the drafter's q"));
        }
    };
    let all = |of: &Node, problems: &mut Problems| {
        if is_nested(of) {
            lists(of, problems, "a law, such as [0.5, 0.5]", law)
        } else {
            law(of, problems).map(|law| vec![law])
        }
    };
    let (p_laws, q_laws) = (all(p, problems), all(q, problems));
    let (p_laws, q_laws) = (p_laws?, q_laws?);
    let pairs: Result<Vec<Pair>, _> =
        p_laws.iter().cloned().zip(q_laws.iter().cloned()).map(|(p, q)| Pair::new(p, q)).collect();
    let typed = [p, q].into_iter().find(|law| law.place.source.command_line);
    let place = typed.unwrap_or(q).place.clone();
    let conflict = |problems: &mut Problems, message: String| {
        problems.report(Diagnostic::error("conflict", format!("`{}`: {message}", node.path)).at(&place).hint(HINT))
    };
    let mut pairs = match pairs {
        Ok(pairs) => pairs,
        Err(error) => return conflict(problems, error.to_string()),
    };
    let tokens = pairs.first().map_or(0, |pair| pair.p().chances().len());
    match (is_nested(p), is_nested(q)) {
        (false, false) => start(node, problems, 0).and_then(|_| pairs.pop()).map(|pair| Some(Laws::Same(pair))),
        (true, true) if p_laws.len() == tokens && q_laws.len() == tokens => {
            let start = start(node, problems, tokens)?;
            Some(Some(Laws::After { pairs, start }))
        }
        (true, true) => {
            let message =
                format!("{} and {} laws after {tokens} tokens: one after each is due", p_laws.len(), q_laws.len());
            conflict(problems, message)
        }
        _ => conflict(problems, "one of p and q is a law, the other a list of laws".to_owned()),
    }
}

/// The token that a round starts after; only where laws depend on it.
fn start(node: &Node, problems: &mut Problems, tokens: usize) -> Option<usize> {
    let Some(given) = node.get("start") else { return Some(0) };
    if tokens == 0 {
        let found = Diagnostic::error("conflict", format!("`{}` plays no part: laws are always alike", given.path));
        return problems.report(found.at(&given.place).hint("leave it out, or give a law after each token"));
    }
    integer(given, problems, 0, tokens as u64 - 1).map(|start| start as usize)
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
