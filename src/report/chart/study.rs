//! What the charts of a simulated study show: the rule's law, and accepted drafts by draft length.

use crate::acceptance::process::Process;
use crate::acceptance::simulate::RuleTrials;
use crate::acceptance::study::{Seen, Study};
use crate::domain::law::Pair;
use crate::domain::simulate::{Laws, Simulate};
use crate::report::chart::bodies::{BarPlot, Bars};
use crate::report::chart::spec::{Body, Chart, Heading};
use crate::report::number::shortest;
use crate::report::pick::spread;
use crate::report::simulation::lines::Simulated;
use crate::report::simulation::trust;

/// Bars beyond this are too thin to read.
const MOST_GROUPS: usize = 25;
/// The most acceptances that get a chart.
const MOST_CHARTS: u64 = 4;
/// The most plots side by side.
const MOST_PLOTS: u64 = 4;

/// One chart for the rule, one for the rounds of each of up to four acceptances; what the study lacks is left out.
#[must_use]
pub fn charts(simulate: &Simulate, simulated: &[Simulated], study: &Study, title: &str) -> Vec<Chart> {
    let laws = simulate.laws.as_ref().and_then(Laws::same);
    let rule = laws.zip(study.rule.as_ref()).map(|(laws, seen)| law_chart(laws, seen, title));
    let shown = spread(simulated.len(), MOST_CHARTS);
    let all = simulated.len();
    let rounds = shown.iter().map(|&at| {
        let part = if all > 1 { format!("rounds+{}", part_of(&simulated[at], at)) } else { "rounds".to_owned() };
        let mut chart = rounds_chart(&simulated[at], &study.subjects[at], part, title);
        if shown.len() < all {
            chart.heading.caption += &format!("  {} of {all} acceptances charted.", shown.len());
        }
        chart
    });
    rule.into_iter().chain(rounds).collect()
}

/// What tells an acceptance from others in a file's name.
fn part_of(one: &Simulated, at: usize) -> String {
    format!("{}-{}", one.drafter.as_deref().unwrap_or("alpha"), at + 1)
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

fn rounds_chart(one: &Simulated, seen: &[Seen], part: String, title: &str) -> Chart {
    let shown = spread(seen.len(), MOST_PLOTS);
    let all = seen.len();
    let mut caption = "Bars at k hold the rounds in which every draft was accepted.".to_owned();
    if shown.len() < all {
        caption += &format!("  {} of {all} draft lengths.", shown.len());
    }
    if seen.iter().any(|seen| seen.k >= MOST_GROUPS as u64) {
        caption += &format!("  The last of {MOST_GROUPS} bars holds higher counts too.");
    }
    let process = &one.subject.process;
    let alpha = process.alpha().map_or_else(String::new, |alpha| format!(" {}", shortest(alpha)));
    let who = match &one.drafter {
        Some(drafter) => format!("drafter {drafter}, acceptance {}{alpha}", process.kind()),
        None => format!("alpha{alpha}"),
    };
    let rounds = seen.iter().map(|seen| seen.rounds.rounds()).max().unwrap_or(0);
    let heading = Heading {
        title: format!("Accepted drafts of a round: {title}"),
        subtitle: format!("about {rounds} rounds of each draft length, {who}"),
        caption,
        trust: trust(std::slice::from_ref(one)).split_off(1),
    };
    let body = Body::Bars(Bars {
        x_label: "accepted drafts".to_owned(),
        y_label: "share of rounds".to_owned(),
        legend: "rounds".to_owned(),
        names: vec!["formula".to_owned(), "simulated".to_owned()],
        plots: shown.into_iter().map(|at| rounds_plot(process, &seen[at])).collect(),
    });
    Chart { part, heading, body }
}

fn rounds_plot(process: &Process, seen: &Seen) -> BarPlot {
    let (law, k) = (process.law(seen.k), seen.k);
    let rounds = seen.rounds.rounds() as f64;
    let share = |at: usize| seen.rounds.by_accepted.get(at).map_or(0.0, |&count| count as f64 / rounds);
    let all = law.pmf().iter().enumerate().map(|(at, &theory)| [theory, share(at)]);
    let groups = all.enumerate().fold(Vec::new(), |mut groups: Vec<Vec<f64>>, (at, heights)| {
        match groups.last_mut().filter(|_| at >= MOST_GROUPS) {
            Some(last) => last.iter_mut().zip(heights).for_each(|(sum, height)| *sum += height),
            None => groups.push(heights.to_vec()),
        }
        groups
    });
    let formula = process.tokens_per_pass(k);
    let tokens = seen
        .rounds
        .tokens_per_pass(k)
        .map_or_else(String::new, |tokens| format!(": {:.3} tokens per pass (formula {formula:.3})", tokens.value));
    BarPlot { title: format!("k = {k}{tokens}"), groups }
}
