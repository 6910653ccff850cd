//! A simulated study beside theory: lines of estimates, as text, Markdown, CSV and JSON.

use serde_json::{Value, json};

use crate::acceptance::accepted::Accepted;
use crate::acceptance::chain::expected_tokens;
use crate::acceptance::simulate::{Estimate, RoundTrials, RuleTrials, noise};
use crate::acceptance::study::Study;
use crate::domain::law::Pair;
use crate::domain::simulate::Simulate;
use crate::report::number::shortest;
use crate::report::table::{Style, composed, right, table};
use crate::report::{csv, json};
use crate::sweep::row::Cell;
use crate::units::Probability;

/// The columns of `simulate`'s CSV.
pub const COLUMNS: [&str; 9] =
    ["estimate", "alpha", "k", "at", "theory", "simulated", "interval_low", "interval_high", "trials"];
/// More tokens than this are in the files only.
const MOST_TOKENS: usize = 24;

/// What a line estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// How often a token comes out; theory: p.
    TokenShare,
    /// How often a draft is accepted; theory: `sum min(p, q)`.
    Acceptance,
    /// Distance of what came out from p; theory: what noise alone gives.
    TotalVariation,
    /// Mean tokens of a round; theory: `E_k(alpha)`.
    TokensPerPass,
    /// How often a round accepts so many drafts; theory: `P(A = j)`.
    AcceptedShare,
}

impl Quantity {
    /// Its word in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TokenShare => "token_share",
            Self::Acceptance => "acceptance",
            Self::TotalVariation => "total_variation",
            Self::TokensPerPass => "tokens_per_pass",
            Self::AcceptedShare => "accepted_share",
        }
    }
}

/// One estimate beside theory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// What is estimated.
    pub quantity: Quantity,
    /// Per-test acceptance and draft length, of rounds.
    pub round: Option<(Probability, u64)>,
    /// Token or accepted drafts, of shares.
    pub at: Option<u64>,
    /// What the formula gives.
    pub theory: f64,
    /// What the trials gave.
    pub simulated: Option<f64>,
    /// The 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Trials or rounds.
    pub trials: u64,
}

impl Line {
    fn of(quantity: Quantity, theory: f64, estimate: Option<Estimate>, trials: u64) -> Self {
        let simulated = estimate.map(|estimate| estimate.value);
        let interval = estimate.map(|estimate| (estimate.low, estimate.high));
        Self { quantity, round: None, at: None, theory, simulated, interval, trials }
    }

    /// Whether theory lies outside the interval, by more than rounding.
    #[must_use]
    pub fn misses(&self) -> bool {
        let slack = 1e-12 * self.theory.abs();
        self.interval.is_some_and(|(low, high)| self.theory < low - slack || self.theory > high + slack)
    }

    fn cells(&self) -> [Cell<'static>; COLUMNS.len()] {
        let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
        let count = |value: Option<u64>| value.map_or(Cell::Empty, Cell::Integer);
        [
            Cell::Text(self.quantity.as_str()),
            number(self.round.map(|(alpha, _)| alpha.get())),
            count(self.round.map(|(_, k)| k)),
            count(self.at),
            Cell::Number(self.theory),
            number(self.simulated),
            number(self.interval.map(|(low, _)| low)),
            number(self.interval.map(|(_, high)| high)),
            Cell::Integer(self.trials),
        ]
    }
}

/// Every estimate of a study.
#[must_use]
pub fn lines(simulate: &Simulate, study: &Study) -> Vec<Line> {
    let rule = simulate.laws.iter().zip(&study.rule).flat_map(|(laws, trials)| rule_lines(laws, trials));
    let rounds = simulate.alpha.into_iter().flat_map(|alpha| {
        simulate.k.iter().zip(&study.rounds).flat_map(move |(&k, trials)| round_lines(alpha, k, trials))
    });
    rule.chain(rounds).collect()
}

fn rule_lines(laws: &Pair, seen: &RuleTrials) -> Vec<Line> {
    let shares = seen.emitted.iter().zip(laws.p().chances()).enumerate().map(|(token, (&count, &p))| Line {
        at: Some(token as u64),
        ..Line::of(Quantity::TokenShare, p, Estimate::share(count, seen.trials), seen.trials)
    });
    let distance = Line {
        simulated: seen.total_variation(laws.p()),
        ..Line::of(Quantity::TotalVariation, noise(laws.p(), seen.trials), None, seen.trials)
    };
    let acceptance = Line::of(Quantity::Acceptance, laws.acceptance(), seen.acceptance(), seen.trials);
    shares.chain([acceptance, distance]).collect()
}

fn round_lines(alpha: Probability, k: u64, seen: &RoundTrials) -> Vec<Line> {
    let (round, rounds) = (Some((alpha, k)), seen.rounds());
    let tokens = Line::of(Quantity::TokensPerPass, expected_tokens(alpha, k), seen.tokens_per_pass(k), rounds);
    let law = Accepted::iid(alpha, k);
    let shares = seen.by_accepted.iter().zip(law.pmf()).enumerate().map(|(accepted, (&count, &theory))| Line {
        round,
        at: Some(accepted as u64),
        ..Line::of(Quantity::AcceptedShare, theory, Estimate::share(count, rounds), rounds)
    });
    std::iter::once(Line { round, ..tokens }).chain(shares).collect()
}

/// How far to trust a simulation.
#[must_use]
pub fn trust(simulate: &Simulate) -> Vec<String> {
    let mut lines = vec![
        "intervals: 95 %, Wilson for shares, normal for means (Wilson where nearly all rounds are alike)".to_owned(),
    ];
    lines.extend(simulate.alpha.map(|_| {
        "rounds: every test passes with the same chance (iid). Engines measure acceptance that falls with position: \
         this checks the formulas and predicts no workload"
            .to_owned()
    }));
    lines
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(lines: &[Line]) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(lines.iter().map(Line::cells))?);
    Ok(bytes)
}

/// `{"manifest": {…}, "rows": [{…}, …]}`.
#[must_use]
pub fn json(lines: &[Line], manifest: &Value) -> Vec<u8> {
    let rows: Vec<Value> = lines.iter().map(|line| json::object(&COLUMNS, line.cells())).collect();
    format!("{:#}\n", json!({ "manifest": manifest, "rows": rows })).into_bytes()
}

/// What people read: the rule, tokens per pass, and how many intervals miss theory.
#[must_use]
pub fn text(simulate: &Simulate, lines: &[Line], style: Style) -> String {
    let mut parts = Vec::new();
    parts.extend(simulate.laws.as_ref().map(|laws| rule_text(laws, lines, style)));
    parts.extend(simulate.alpha.map(|alpha| rounds_text(alpha, simulate.rounds, lines, style)));
    let judged = || lines.iter().filter(|line| line.interval.is_some() && shown(line));
    let missed = judged().filter(|line| line.misses()).count();
    parts.push(format!(
        "{missed} of these {} intervals miss theory (marked *); about 1 in 20 does by chance",
        judged().count()
    ));
    parts.join("\n\n")
}

/// The shares of accepted drafts are for charts and files: they say no more than their mean.
fn shown(line: &Line) -> bool {
    line.quantity != Quantity::AcceptedShare
}

fn rule_text(laws: &Pair, lines: &[Line], style: Style) -> String {
    let of = |quantity| lines.iter().filter(move |line| line.quantity == quantity);
    let header = ["token", "target p", "drafter q", "came out", "95% interval"];
    let mut table = table(&header.map(str::to_owned), style);
    for (line, q) in of(Quantity::TokenShare).zip(laws.q().chances()).take(MOST_TOKENS) {
        let token = line.at.unwrap_or_default().to_string();
        let cells = [token, brief(line.theory), brief(*q), four(line.simulated), interval(line)];
        table.add_row(cells.map(right));
    }
    let all = laws.p().chances().len();
    let trials = lines.first().map_or(0, |line| line.trials);
    let more = (all > MOST_TOKENS).then(|| format!("the first {MOST_TOKENS} of {all} tokens; the files hold all"));
    let acceptance = of(Quantity::Acceptance).map(|line| {
        let theory = four(Some(line.theory));
        format!("acceptance: sum min(p, q) = {theory}, simulated {} ({})", four(line.simulated), interval(line))
    });
    let distance = of(Quantity::TotalVariation).map(|line| {
        format!(
            "total variation of what came out from p: {}. Noise alone gives about {}, and stays below {} in 95 % of runs \
             or more; q itself is {} away",
            four(line.simulated),
            four(Some(line.theory)),
            four(Some((line.theory + reach(line.trials)).min(1.0))),
            four(Some(laws.total_variation()))
        )
    });
    let notes = more.into_iter().chain(acceptance).chain(distance).collect();
    composed(&format!("The accept/reject rule: {trials} drafts from q, tested against p"), &table, notes, style)
}

/// How far above its mean a total variation comes in 5 % of runs, at most: McDiarmid's inequality, one
/// draw moving it by 1/n.
fn reach(trials: u64) -> f64 {
    (20_f64.ln() / (2.0 * trials as f64)).sqrt()
}

fn rounds_text(alpha: Probability, rounds: u64, lines: &[Line], style: Style) -> String {
    let header = ["k", "formula", "simulated", "95% interval"];
    let mut table = table(&header.map(str::to_owned), style);
    for line in lines.iter().filter(|line| line.quantity == Quantity::TokensPerPass) {
        let k = line.round.map_or(0, |(_, k)| k).to_string();
        table.add_row([k, four(Some(line.theory)), four(line.simulated), interval(line)].map(right));
    }
    let alpha = shortest(alpha.get());
    let title = format!("Tokens per pass: {rounds} rounds of k drafts, each accepted with alpha {alpha}");
    composed(&title, &table, Vec::new(), style)
}

fn four(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.4}"))
}

/// A chance as it was written, or in four places if that is long.
fn brief(chance: f64) -> String {
    let written = shortest(chance);
    if written.len() > 6 { four(Some(chance)) } else { written }
}

fn interval(line: &Line) -> String {
    let mark = if line.misses() { " *" } else { "" };
    line.interval.map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}{mark}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line whose interval lies above theory, and one around it.
    #[test]
    fn a_miss_is_marked_and_counted() {
        let estimate = |low, high| Some(Estimate { value: 0.5, low, high });
        let missing = Line::of(Quantity::Acceptance, 0.39, estimate(0.4, 0.6), 10);
        let around = Line::of(Quantity::Acceptance, 0.41, estimate(0.4, 0.6), 10);
        assert_eq!((interval(&missing), interval(&around)), ("0.4000 to 0.6000 *".into(), "0.4000 to 0.6000".into()));
        let simulate = Simulate { rounds: 10, alpha: None, k: Vec::new(), laws: None };
        let text = text(&simulate, &[missing, around], Style::Plain);
        assert!(text.starts_with("1 of these 2 intervals miss theory"), "{text}");
    }

    /// sqrt(ln 20 / 400000).
    #[test]
    fn noise_of_200000_draws_has_a_bound() {
        assert!((reach(200_000) - 0.002_736_7).abs() < 1e-6);
    }
}
