//! Every estimate of a simulated study beside its formula.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::batch::{extremes, finish, makespan, running, static_time};
use crate::acceptance::estimate::Estimate;
use crate::acceptance::process::Known;
use crate::acceptance::ragged;
use crate::acceptance::simulate::{RuleTrials, noise};
use crate::acceptance::study::{Seen, Study, Subject};
use crate::domain::law::Pair;
use crate::domain::simulate::{Laws, Simulate};
use crate::report::simulation::exact;
use crate::sweep::row::Cell;
use crate::words::{AcceptanceKind, Estimated};

/// The columns of `simulate`'s CSV.
pub const COLUMNS: [&str; 16] = [
    "estimate",
    "alpha",
    "k",
    "at",
    "theory",
    "simulated",
    "interval_low",
    "interval_high",
    "trials",
    "drafter",
    "acceptance",
    "batch",
    "tokens",
    "temperature",
    "if_independent",
    "notes",
];

/// Sequences of a batch that reach a rate: half of them, 95 % and 99 %.
pub const SHARES: [(Estimated, f64); 3] =
    [(Estimated::TokensPerSP50, 0.50), (Estimated::TokensPerSP95, 0.95), (Estimated::TokensPerSP99, 0.99)];

/// An acceptance that was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Its drafter; none: the alpha of `[simulate]`.
    pub drafter: Option<String>,
    /// What was simulated.
    pub subject: Subject,
    /// Seconds of a round of 1, 2, … sequences, by k, up to the largest batch; empty where nothing has a price.
    pub seconds: Vec<Vec<f64>>,
}

impl Simulated {
    /// What its lines are headed by.
    #[must_use]
    pub fn label(&self) -> Label {
        let process = &self.subject.process;
        Label { drafter: self.drafter.clone(), acceptance: Some(process.kind()), alpha: process.alpha() }
    }
}

/// Whose estimate a line is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// The drafter.
    pub drafter: Option<String>,
    /// The kind of its acceptance.
    pub acceptance: Option<AcceptanceKind>,
    /// Its alpha, where it has a single one.
    pub alpha: Option<f64>,
}

/// One estimate beside theory.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What is estimated.
    pub quantity: Estimated,
    /// Whose it is.
    pub label: Label,
    /// Draft length.
    pub k: Option<u64>,
    /// Token or accepted drafts, of shares.
    pub at: Option<u64>,
    /// Sequences decoded together.
    pub batch: Option<u64>,
    /// Tokens of each sequence.
    pub tokens: Option<u64>,
    /// Of laws: their temperature.
    pub temperature: Option<f64>,
    /// What the formula gives; none where there is none.
    pub theory: Option<f64>,
    /// What it would give if rounds were independent and alike, where they are not.
    pub if_independent: Option<f64>,
    /// What the trials gave.
    pub simulated: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Trials, rounds or sequences; none where nothing was drawn.
    pub trials: Option<u64>,
    /// Whether the acceptance was measured at this k.
    pub known: Known,
}

impl Line {
    /// A line of a formula alone.
    pub(super) fn new(quantity: Estimated, theory: Option<f64>) -> Self {
        Self {
            quantity,
            label: Label::default(),
            k: None,
            at: None,
            batch: None,
            tokens: None,
            temperature: None,
            theory,
            if_independent: None,
            simulated: None,
            interval: None,
            trials: None,
            known: Known::Stated,
        }
    }

    fn drawn(self, estimate: Option<Estimate>, trials: u64) -> Self {
        let interval = estimate.map(|estimate| (estimate.low, estimate.high));
        Self { simulated: estimate.map(|estimate| estimate.value), interval, trials: Some(trials), ..self }
    }

    /// Whether theory lies outside the interval, by more than rounding.
    #[must_use]
    pub fn misses(&self) -> bool {
        let outside = |(low, high): (f64, f64), theory: f64| {
            let slack = 1e-12 * theory.abs();
            theory < low - slack || theory > high + slack
        };
        self.interval.zip(self.theory).is_some_and(|(interval, theory)| outside(interval, theory))
    }

    /// The cells, in the order of [`COLUMNS`].
    #[must_use]
    pub fn cells(&self) -> [Cell<'_>; COLUMNS.len()] {
        let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
        let count = |value: Option<u64>| value.map_or(Cell::Empty, Cell::Integer);
        let text = |value: Option<&'static str>| value.map_or(Cell::Empty, Cell::Text);
        [
            Cell::Text(self.quantity.as_str()),
            number(self.label.alpha),
            count(self.k),
            count(self.at),
            number(self.theory),
            number(self.simulated),
            number(self.interval.map(|(low, _)| low)),
            number(self.interval.map(|(_, high)| high)),
            count(self.trials),
            self.label.drafter.as_deref().map_or(Cell::Empty, Cell::Text),
            text(self.label.acceptance.map(AcceptanceKind::as_str)),
            count(self.batch),
            count(self.tokens),
            number(self.temperature),
            number(self.if_independent),
            text(self.known.note()),
        ]
    }
}

/// Every estimate of a study.
#[must_use]
pub fn lines(simulate: &Simulate, simulated: &[Simulated], study: &Study) -> Vec<Line> {
    let pair = simulate.laws.as_ref().and_then(Laws::same);
    let rule = pair.into_iter().zip(&study.rule).flat_map(|(laws, trials)| rule_lines(laws, trials));
    let of_subject = |(of, seen): (&Simulated, &Vec<Seen>)| -> Vec<Line> {
        seen.iter().enumerate().flat_map(|(at, seen)| subject_lines(simulate, of, seen, of.seconds.get(at))).collect()
    };
    let subjects = simulated.iter().zip(&study.subjects).flat_map(of_subject);
    rule.chain(exact::lines(simulate)).chain(subjects).collect()
}

fn rule_lines(laws: &Pair, seen: &RuleTrials) -> Vec<Line> {
    let shares = seen.emitted.iter().zip(laws.p().chances()).enumerate().map(|(token, (&count, &p))| Line {
        at: Some(token as u64),
        ..Line::new(Estimated::TokenShare, Some(p)).drawn(Estimate::share(count, seen.trials), seen.trials)
    });
    let distance = Line::new(Estimated::TotalVariation, Some(noise(laws.p(), seen.trials))).drawn(None, seen.trials);
    let distance = Line { simulated: seen.total_variation(laws.p()), ..distance };
    let acceptance = Line::new(Estimated::Acceptance, Some(laws.acceptance())).drawn(seen.acceptance(), seen.trials);
    shares.chain([acceptance, distance]).collect()
}

/// Tokens per pass, accepted drafts, and what becomes of whole sequences.
fn subject_lines(simulate: &Simulate, of: &Simulated, seen: &Seen, seconds: Option<&Vec<f64>>) -> Vec<Line> {
    let (process, k) = (&of.subject.process, seen.k);
    let law = process.law(k);
    let rounds = seen.rounds.rounds();
    let label = of.label();
    let known = process.known(k);
    let line = |quantity, theory| Line { label: label.clone(), k: Some(k), known, ..Line::new(quantity, theory) };
    let tokens = if seen.independent || seen.runs.is_empty() {
        seen.rounds.tokens_per_pass(k)
    } else {
        ragged::tokens_per_pass(&seen.runs)
    };
    let first = line(Estimated::TokensPerPass, Some(process.tokens_per_pass(k))).drawn(tokens, rounds);
    let shares = law.pmf().iter().enumerate().take(seen.rounds.by_accepted.len().max(1)).map(|(accepted, &theory)| {
        let count = seen.rounds.by_accepted.get(accepted).copied().unwrap_or(0);
        let drawn = line(Estimated::AcceptedShare, Some(theory)).drawn(Estimate::share(count, rounds), rounds);
        // Rounds of one sequence hang together: Wilson's interval would be too narrow.
        Line { at: Some(accepted as u64), interval: drawn.interval.filter(|_| seen.independent), ..drawn }
    });
    let mut lines: Vec<Line> = std::iter::once(first).chain(shares).collect();
    if !seen.runs.is_empty() && !simulate.batch.is_empty() {
        lines.extend(sequence_lines(simulate, seen, &law, seconds, &line));
    }
    lines
}

fn sequence_lines(
    simulate: &Simulate,
    seen: &Seen,
    law: &Accepted,
    seconds: Option<&Vec<f64>>,
    line: &dyn Fn(Estimated, Option<f64>) -> Line,
) -> Vec<Line> {
    let (runs, tokens, count) = (&seen.runs, simulate.tokens, seen.runs.len() as u64);
    let still = running(law, tokens);
    let one = |quantity, batch: Option<u64>, formula: f64, estimate: Option<Estimate>| {
        let (theory, if_independent) = if seen.independent { (Some(formula), None) } else { (None, Some(formula)) };
        let trials = count / batch.unwrap_or(1);
        Line { batch, tokens: Some(tokens), if_independent, ..line(quantity, theory).drawn(estimate, trials) }
    };
    let mut lines =
        vec![one(Estimated::RoundsToFinish, None, finish(law, tokens).rounds, ragged::rounds(runs, tokens, seen.k))];
    for &batch in &simulate.batch {
        let (ends, size) = (extremes(law, batch), batch as usize);
        let both = ragged::extremes(runs, size, seen.k);
        lines.push(one(Estimated::SlowestTokens, Some(batch), ends.min, both.map(|(min, _)| min)));
        lines.push(one(Estimated::FastestTokens, Some(batch), ends.max, both.map(|(_, max)| max)));
        let last = ragged::rounds_of_last(runs, size, tokens, seen.k);
        lines.push(one(Estimated::RoundsOfLast, Some(batch), makespan(&still, batch), last));
        let Some(seconds) = seconds.filter(|seconds| seconds.len() >= size).map(|seconds| &seconds[..size]) else {
            continue;
        };
        let waiting = ragged::static_seconds(runs, seconds);
        lines.push(one(Estimated::StaticSeconds, Some(batch), static_time(&still, seconds), waiting));
        let each = seconds[size - 1];
        for (quantity, share) in SHARES {
            let formula = tokens as f64 / (rounds_of_share(&still, share) * each);
            let rate = ragged::rate_reached_by(runs, tokens, each, share);
            lines.push(one(quantity, Some(batch), formula, rate));
        }
    }
    lines
}

/// Rounds within which a share of sequences is done, by the chance that a sequence still runs in each round.
fn rounds_of_share(still: &[f64], share: f64) -> f64 {
    // Done by round r: not running in round r + 1.
    let done = |round: usize| 1.0 - still.get(round).copied().unwrap_or(0.0);
    (1..=still.len()).find(|&round| done(round) >= share).unwrap_or(still.len()) as f64
}
