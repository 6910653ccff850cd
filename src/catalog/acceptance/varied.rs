//! Acceptance that varies, and that of trees.

use std::sync::Arc;

use crate::catalog::acceptance::measured::few_rounds;
use crate::catalog::load::Loader;
use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, is_nested, lists, one_or_many, text};
use crate::catalog::values::{integer, number, probability, word};
use crate::diagnostic::Diagnostic;
use crate::domain::acceptance::AcceptanceModel;
use crate::domain::beta::Beta;
use crate::domain::ranks::{NotRanks, Ranks};
use crate::domain::spans::Spans;
use crate::domain::trace::Trace;
use crate::import::rounds::{NotRounds, rounds};
use crate::units::Probability;
use crate::words::Scope;

/// `{ mean = 0.7, concentration = 5, scope = "sequence" }`
pub(super) fn beta(node: &Node, problems: &mut Problems) -> Option<AcceptanceModel> {
    let mut fields = Fields::open(node, &Keys::all(&["mean", "concentration", "scope"]), problems)?;
    let mean = fields.required("mean", probability);
    let concentration = fields.required("concentration", |node, problems| number(node, problems, 0.0));
    let scope = fields.required("scope", word::<Scope>);
    let (mean, concentration, scope) = (mean?, concentration?, scope?);
    match Beta::with_mean(mean, concentration) {
        Ok(beta) => Some(AcceptanceModel::Beta { beta, scope }),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint("a = mean x concentration, b = (1 - mean) x concentration; 2 to 50 are usual"))
        }
    }
}

/// `{ easy = 0.9, hard = 0.4, easy_to_hard = 0.1, hard_to_easy = 0.2 }`
pub(super) fn markov(node: &Node, problems: &mut Problems) -> Option<Spans> {
    const ALL: [&str; 4] = ["easy", "hard", "easy_to_hard", "hard_to_easy"];
    let mut fields = Fields::open(node, &Keys::all(&ALL), problems)?;
    let [easy, hard, out, back] = ALL.map(|key| fields.required(key, probability));
    match Spans::two(easy?, hard?, out?, back?) {
        Ok(spans) => Some(spans),
        Err(error) => {
            let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
            problems.report(found.hint(
                "give one of easy_to_hard and hard_to_easy a chance; sequences that stay as they are, are workloads",
            ))
        }
    }
}

/// `{ file = "rounds.csv", k = 4 }`
pub(super) fn trace(node: &Node, problems: &mut Problems, loader: &mut Loader<'_>) -> Option<Arc<Trace>> {
    let mut fields = Fields::open(node, &Keys::all(&["file", "k"]), problems)?;
    let k = fields.optional("k", |node, problems| integer(node, problems, 1, u64::from(Trace::LONGEST)));
    let found = fields.required("file", |node, problems| {
        let name = text(node, problems)?;
        Some((node.place.clone(), loader.recording(&name, node, problems)?))
    });
    let (k, (place, source)) = (k?, found?);
    match rounds(&source.text, k.map(|k| k as u32)) {
        Ok(trace) => {
            let drafting = trace.tests().first().map_or(0, |(tested, _)| *tested);
            few_rounds(drafting, node, problems);
            Some(Arc::new(trace))
        }
        Err(error) => {
            let message = format!("`{}`: {}: {error}", node.path, source.name);
            let found = Diagnostic::error("bad-recording", message).at(&place);
            problems.report(match error {
                NotRounds::NoLength => found.hint("add k beside file; a CSV may have a column drafted instead"),
                NotRounds::TwoLengths => found.hint("leave k out"),
                NotRounds::UnknownForm => found.hint("README.md shows each form"),
                _ => found,
            })
        }
    }
}

/// Candidates of a position, and levels: many times what engines draft.
const MOST_RANKS: usize = 256;

/// `{ probabilities = [0.6, 0.2] }`, or a list for each level.
pub(super) fn ranks(node: &Node, problems: &mut Problems) -> Option<Ranks> {
    let mut fields = Fields::open(node, &Keys::all(&["probabilities"]), problems)?;
    fields.required("probabilities", |node, problems| {
        let level = |node: &Node, problems: &mut Problems| one_or_many(node, problems, probability);
        let made = if is_nested(node) {
            Ranks::by_level(&lists(node, problems, "a list of this level's chances", level)?)
        } else {
            let chances: Vec<Probability> = level(node, problems)?;
            Ranks::on_all_levels(&chances)
        };
        let ranks = made.map_err(|error| wrong(&error, node, problems)).ok()?;
        if ranks.most() > MOST_RANKS || ranks.levels().len() > MOST_RANKS {
            let found =
                Diagnostic::error("out-of-range", format!("`{}` has more than {MOST_RANKS} entries", node.path));
            return problems.report(found.at(&node.place).hint("leave out candidates that are hardly ever accepted"));
        }
        Some(ranks)
    })
}

fn wrong(error: &NotRanks, node: &Node, problems: &mut Problems) {
    let found = Diagnostic::error("out-of-range", format!("`{}`: {error}", node.path)).at(&node.place);
    let hint =
        "of all positions reached, those whose first, second, … candidate is accepted; a list of lists is by level";
    problems.report::<()>(found.hint(hint));
}
