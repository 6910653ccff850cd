//! What the charts of a simulated study show: the rule's law, and accepted drafts by draft length.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::chain::expected_tokens;
use crate::acceptance::simulate::{RoundTrials, RuleTrials};
use crate::acceptance::study::Study;
use crate::domain::law::Pair;
use crate::domain::simulate::Simulate;
use crate::report::chart::bodies::{BarPlot, Bars};
use crate::report::chart::spec::{Body, Chart, Heading};
use crate::report::number::shortest;
use crate::report::pick::spread;
use crate::report::simulation::trust;
use crate::units::Probability;

/// Bars beyond this are too thin to read.
const MOST_GROUPS: usize = 25;
/// The most plots side by side.
const MOST_PLOTS: u64 = 4;

/// One chart for the rule, one for rounds; what the study lacks is left out.
#[must_use]
pub fn charts(simulate: &Simulate, study: &Study, title: &str) -> Vec<Chart> {
    let rule = simulate.laws.as_ref().zip(study.rule.as_ref()).map(|(laws, seen)| law_chart(laws, seen, title));
    let rounds = simulate.alpha.map(|alpha| rounds_chart(alpha, simulate, &study.rounds, title));
    rule.into_iter().chain(rounds).collect()
}

fn law_chart(laws: &Pair, seen: &RuleTrials, title: &str) -> Chart {
    let chances = laws.p().chances().iter().zip(laws.q().chances()).zip(&seen.emitted);
    let group = |((&p, &q), &count): ((&f64, &f64), &u64)| vec![p, q, count as f64 / seen.trials as f64];
    let shown = laws.p().chances().len().min(MOST_GROUPS);
    let distance = seen.total_variation(laws.p()).unwrap_or_default();
    let accepted = seen.accepted as f64 / seen.trials as f64;
    let rest = laws.p().chances().len() - shown;
    let cut = if rest > 0 { format!("  {rest} more tokens are not shown.") } else { String::new() };
    let heading = Heading {
        title: format!("What comes out of the accept/reject rule: {title}"),
        subtitle: format!(
            "{} drafts from q; accepted {accepted:.4}, in theory {:.4}; total variation from p {distance:.4}, while q is {:.4} away",
            seen.trials,
            laws.acceptance(),
            laws.total_variation()
        ),
        caption: format!("An exact rule brings out the target's law, whatever q is: green as high as blue.{cut}"),
        trust: vec!["every share, with its 95 % interval, is in the CSV".to_owned()],
    };
    let body = Body::Bars(Bars {
        x_label: "token".to_owned(),
        y_label: "share".to_owned(),
        legend: "law".to_owned(),
        names: vec!["target p".to_owned(), "drafter q".to_owned(), "came out".to_owned()],
        plots: vec![BarPlot { title: String::new(), groups: chances.take(shown).map(group).collect() }],
    });
    Chart { part: "law".to_owned(), heading, body }
}

fn rounds_chart(alpha: Probability, simulate: &Simulate, seen: &[RoundTrials], title: &str) -> Chart {
    let shown = spread(simulate.k.len(), MOST_PLOTS);
    let all = simulate.k.len();
    let mut caption = "Bars at k hold the rounds in which every draft was accepted.".to_owned();
    if shown.len() < all {
        caption += &format!("  {} of {all} draft lengths.", shown.len());
    }
    if simulate.k.iter().any(|&k| k >= MOST_GROUPS as u64) {
        caption += &format!("  The last of {MOST_GROUPS} bars holds higher counts too.");
    }
    let heading = Heading {
        title: format!("Accepted drafts of a round: {title}"),
        subtitle: format!("{} rounds of each draft length, alpha {}", simulate.rounds, shortest(alpha.get())),
        caption,
        trust: trust(simulate).split_off(1),
    };
    let body = Body::Bars(Bars {
        x_label: "accepted drafts".to_owned(),
        y_label: "share of rounds".to_owned(),
        legend: "rounds".to_owned(),
        names: vec!["formula".to_owned(), "simulated".to_owned()],
        plots: shown.into_iter().map(|at| rounds_plot(alpha, simulate.k[at], &seen[at])).collect(),
    });
    Chart { part: "rounds".to_owned(), heading, body }
}

fn rounds_plot(alpha: Probability, k: u64, seen: &RoundTrials) -> BarPlot {
    let law = Accepted::iid(alpha, k);
    let rounds = seen.rounds() as f64;
    let share = |at: usize| seen.by_accepted.get(at).map_or(0.0, |&count| count as f64 / rounds);
    let all = law.pmf().iter().enumerate().map(|(at, &theory)| [theory, share(at)]);
    let groups = all.enumerate().fold(Vec::new(), |mut groups: Vec<Vec<f64>>, (at, heights)| {
        match groups.last_mut().filter(|_| at >= MOST_GROUPS) {
            Some(last) => last.iter_mut().zip(heights).for_each(|(sum, height)| *sum += height),
            None => groups.push(heights.to_vec()),
        }
        groups
    });
    let formula = expected_tokens(alpha, k);
    let tokens = seen
        .tokens_per_pass(k)
        .map_or_else(String::new, |tokens| format!(": {:.3} tokens per pass (formula {formula:.3})", tokens.value));
    BarPlot { title: format!("k = {k}{tokens}"), groups }
}
