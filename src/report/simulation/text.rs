//! What people read of a simulated study.

use crate::acceptance::simulate::noise;
use crate::domain::law::Pair;
use crate::domain::simulate::{Laws, Simulate};
use crate::report::footnotes::CARRIED;
use crate::report::number::shortest;
use crate::report::simulation::exact::temperatures;
use crate::report::simulation::fit::{self, Borne};
use crate::report::simulation::lines::{Label, Line, SHARES};
use crate::report::table::{Style, composed, right, table};
use crate::words::Estimated;

/// More tokens than this are in the files only.
const MOST_TOKENS: usize = 24;
/// More lines of whole sequences than this are in the files only.
const MOST_BATCHES: usize = 24;

/// The rule, laws by temperature, tokens per pass, whole sequences, and how many intervals miss theory.
#[must_use]
pub fn text(simulate: &Simulate, lines: &[Line], fits: &[Borne], priced: &str, style: Style) -> String {
    let mut parts = Vec::new();
    parts.extend(simulate.laws.as_ref().and_then(Laws::same).map(|laws| rule(laws, lines, style)));
    if !temperatures(simulate).is_empty() {
        parts.push(by_temperature(lines, style));
    }
    for (label, of) in by_label(lines) {
        parts.push(rounds(label, simulate, &of, style));
        if of.iter().any(|line| line.batch.is_some()) {
            parts.push(sequences(label, simulate, &of, style));
        }
    }
    parts.extend(reading(lines, priced));
    parts.extend(fits.iter().map(|borne| fit::text(borne, style)));
    let judged = || lines.iter().filter(|line| line.interval.is_some() && line.theory.is_some() && shown(line));
    let missed = judged().filter(|line| line.misses()).count();
    let hangs_together = lines.iter().any(|line| line.if_independent.is_some());
    if judged().next().is_some() {
        parts.push(format!(
            "{missed} of these {} intervals miss theory (marked *); about 1 in 20 does by chance{}",
            judged().count(),
            if hangs_together { ", and more where sequences are short and their rounds hang together" } else { "" }
        ));
    }
    parts.join("\n\n")
}

/// The shares of accepted drafts are for charts and files: they say no more than their mean.
fn shown(line: &Line) -> bool {
    line.quantity != Estimated::AcceptedShare
}

/// Lines of each subject, in their order.
fn by_label(lines: &[Line]) -> Vec<(&Label, Vec<&Line>)> {
    let mut all: Vec<(&Label, Vec<&Line>)> = Vec::new();
    for line in lines.iter().filter(|line| line.label.acceptance.is_some()) {
        match all.last_mut() {
            Some((label, of)) if **label == line.label => of.push(line),
            _ => all.push((&line.label, vec![line])),
        }
    }
    all
}

fn rule(laws: &Pair, lines: &[Line], style: Style) -> String {
    let of = |quantity| lines.iter().filter(move |line| line.quantity == quantity);
    let header = ["token", "target p", "drafter q", "came out", "95% interval"];
    let mut table = table(&header.map(str::to_owned), style);
    for (line, q) in of(Estimated::TokenShare).zip(laws.q().chances()).take(MOST_TOKENS) {
        let token = line.at.unwrap_or_default().to_string();
        let p = line.theory.map_or_else(String::new, brief);
        table.add_row([token, p, brief(*q), four(line.simulated), interval(line)].map(right));
    }
    let all = laws.p().chances().len();
    let trials = of(Estimated::TokenShare).next().and_then(|line| line.trials).unwrap_or(0);
    let more = (all > MOST_TOKENS).then(|| format!("the first {MOST_TOKENS} of {all} tokens; the files hold all"));
    let acceptance = of(Estimated::Acceptance).map(|line| {
        let theory = four(line.theory);
        format!("acceptance: sum min(p, q) = {theory}, simulated {} ({})", four(line.simulated), interval(line))
    });
    let distance = of(Estimated::TotalVariation).map(|line| {
        format!(
            "total variation of what came out from p: {}. Noise alone gives about {}, and stays below {} in 95 % of runs \
             or more; q itself is {} away",
            four(line.simulated),
            four(line.theory),
            four(Some((noise(laws.p(), trials) + reach(trials)).min(1.0))),
            four(Some(laws.total_variation()))
        )
    });
    let notes = more.into_iter().chain(acceptance).chain(distance).collect();
    composed(&format!("The accept/reject rule: {trials} drafts from q, tested against p"), &table, notes, style)
}

/// How far above its mean a total variation comes in 5 % of runs, at most: McDiarmid's inequality, one
/// draw moving it by 1/n.
pub(super) fn reach(trials: u64) -> f64 {
    (20_f64.ln() / (2.0 * trials as f64)).sqrt()
}

/// A row for each temperature, a column for each way to draft.
fn by_temperature(lines: &[Line], style: Style) -> String {
    let of: Vec<&Line> = lines.iter().filter(|line| line.temperature.is_some()).collect();
    let mut columns: Vec<(Estimated, Option<u64>, Option<u64>)> = Vec::new();
    let mut rows: Vec<f64> = Vec::new();
    let key = |line: &Line| (line.quantity, line.k, line.at);
    for line in &of {
        if !columns.contains(&key(line)) {
            columns.push(key(line));
        }
        rows.extend(line.temperature.filter(|temperature| !rows.iter().any(|row| row.total_cmp(temperature).is_eq())));
    }
    let name = |(quantity, k, at): &(Estimated, Option<u64>, Option<u64>)| {
        let k = k.map_or_else(String::new, |k| format!(", k={k}"));
        format!("{}{}{k}", column_of(*quantity), at.map_or_else(String::new, |n| format!(" of {n}")))
    };
    let header: Vec<String> = std::iter::once("temperature".to_owned()).chain(columns.iter().map(name)).collect();
    let mut table = table(&header, style);
    for row in rows {
        let here = |line: &&&Line| line.temperature.is_some_and(|temperature| temperature.total_cmp(&row).is_eq());
        let cell = |column: &(Estimated, Option<u64>, Option<u64>)| {
            four(of.iter().filter(here).find(|line| key(line) == *column).and_then(|line| line.theory))
        };
        let cells = std::iter::once(shortest(row)).chain(columns.iter().map(cell));
        table.add_row(cells.map(right));
    }
    let mut notes = vec![
        "drawn: drafts from q at the same temperature; greedy: its likeliest token, accepted as often as the target emits it"
            .to_owned(),
    ];
    let has = |quantity| of.iter().any(|line| line.quantity == quantity);
    if has(Estimated::SeveralWithReplacement) && !has(Estimated::SeveralWithoutReplacement) {
        notes.push("without return: so many tokens and drafts fall in too many orders to follow".to_owned());
    }
    composed("Laws by temperature, exact", &table, notes, style)
}

const fn column_of(quantity: Estimated) -> &'static str {
    match quantity {
        Estimated::AcceptanceDrawn => "drawn",
        Estimated::AcceptanceGreedy => "greedy",
        Estimated::AcceptanceMatching => "equal draws",
        Estimated::SeveralWithReplacement => "with return",
        Estimated::SeveralBound => "at best",
        Estimated::SeveralWithoutReplacement => "without return",
        Estimated::SeveralWithoutBound => "at best, without",
        Estimated::TokensDrawn => "first round, drawn",
        Estimated::TokensDrawnLongRun => "all rounds, drawn",
        Estimated::TokensGreedy => "first round, greedy",
        Estimated::TokensGreedyLongRun => "all rounds, greedy",
        other => other.as_str(),
    }
}

fn who(label: &Label) -> String {
    let kind = label.acceptance.map_or_else(String::new, |kind| kind.to_string());
    let alpha = label.alpha.map_or_else(String::new, |alpha| format!(" {}", brief(alpha)));
    match &label.drafter {
        Some(drafter) => format!("drafter {drafter}, {kind}{alpha}"),
        None => format!("each accepted with alpha{alpha}"),
    }
}

fn rounds(label: &Label, simulate: &Simulate, of: &[&Line], style: Style) -> String {
    let header = ["k", "formula", "simulated", "95% interval"];
    let mut table = table(&header.map(str::to_owned), style);
    for line in of.iter().filter(|line| line.quantity == Estimated::TokensPerPass) {
        let mark = if line.known.note().is_some() { "~" } else { "" };
        let k = format!("{mark}{}", line.k.unwrap_or_default());
        table.add_row([k, four(line.theory), four(line.simulated), interval(line)].map(right));
    }
    let all = of.iter().filter_map(|line| line.trials).max().unwrap_or(0);
    let title = format!("Tokens per pass: {all} rounds of k drafts, {}", who(label));
    let carried = of.iter().any(|line| line.known.note().is_some());
    let mut notes: Vec<String> = carried.then(|| CARRIED.to_owned()).into_iter().collect();
    let short = of.iter().any(|line| line.if_independent.is_some());
    notes.extend(short.then(|| {
        format!(
            "the formula is of long sequences; those of {} tokens differ by how they begin and end",
            simulate.tokens
        )
    }));
    composed(&title, &table, notes, style)
}

/// What becomes of whole sequences, a row for each k and batch.
fn sequences(label: &Label, simulate: &Simulate, of: &[&Line], style: Style) -> String {
    let rates = of.iter().any(is_of_time);
    let mut header = vec!["k", "batch", "slowest", "fastest", "rounds", "last of batch"];
    if rates {
        header.extend(["waiting, tokens/s", "50 % reach", "95 %", "99 %"]);
    }
    let mut table = table(&header.into_iter().map(str::to_owned).collect::<Vec<_>>(), style);
    let value = |quantity, k: Option<u64>, batch: Option<u64>| {
        of.iter().find(|line| line.quantity == quantity && line.k == k && line.batch == batch)
    };
    let keys: Vec<(Option<u64>, Option<u64>)> =
        of.iter().filter(|line| line.quantity == Estimated::SlowestTokens).map(|line| (line.k, line.batch)).collect();
    for &(k, batch) in keys.iter().take(MOST_BATCHES) {
        let cell = |line: Option<&&Line>, digits: usize| {
            let mark = line.is_some_and(|line| line.misses());
            let number = line.and_then(|line| line.simulated).map_or_else(String::new, |x| format!("{x:.digits$}"));
            if mark { format!("{number} *") } else { number }
        };
        let finish = value(Estimated::RoundsToFinish, k, None);
        let of_batch = |quantity| value(quantity, k, batch);
        let mut cells = vec![
            k.unwrap_or_default().to_string(),
            batch.unwrap_or_default().to_string(),
            cell(of_batch(Estimated::SlowestTokens), 2),
            cell(of_batch(Estimated::FastestTokens), 2),
            cell(finish, 1),
            cell(of_batch(Estimated::RoundsOfLast), 1),
        ];
        if rates {
            let waits = of_batch(Estimated::StaticSeconds).and_then(|line| line.simulated);
            let all = (batch.unwrap_or_default() * simulate.tokens) as f64;
            cells.push(waits.map_or_else(String::new, |seconds| format!("{:.0}", all / seconds)));
            cells.extend(SHARES.map(|(quantity, _)| cell(of_batch(quantity), 1)));
        }
        table.add_row(cells.into_iter().map(right));
    }
    let mut notes = Vec::new();
    if keys.len() > MOST_BATCHES {
        notes.push(format!("the first {MOST_BATCHES} of {} rows; the files hold all", keys.len()));
    }
    composed(&format!("Sequences of {} tokens, {}", simulate.tokens, who(label)), &table, notes, style)
}

fn is_of_time(line: &&Line) -> bool {
    line.quantity == Estimated::StaticSeconds
}

/// What the columns of whole sequences mean, once for all of them.
fn reading(lines: &[Line], priced: &str) -> Option<String> {
    let of_sequences = |line: &&Line| line.quantity == Estimated::RoundsToFinish;
    lines.iter().find(of_sequences)?;
    let mut notes = vec![
        "slowest, fastest: tokens of a round in the batch, kept full; rounds: until a sequence is complete; last of batch: until all are"
            .to_owned(),
    ];
    if lines.iter().any(|line| is_of_time(&line)) {
        notes.push(
            "waiting: tokens per second of a batch that nothing joins until its last sequence is done; 50 % reach: tokens per second \
             that so many sequences reach or exceed while the batch stays full"
                .to_owned(),
        );
        notes.push(priced.to_owned());
    }
    if lines.iter().filter(of_sequences).any(|line| line.if_independent.is_some()) {
        notes.push(
            "where rounds of a sequence hang together no formula is given; if_independent in the CSV is what independent rounds \
             would give"
                .to_owned(),
        );
    }
    Some(notes.join("\n"))
}

pub(super) fn four(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.4}"))
}

/// A chance as it was written, or in four places if that is long.
fn brief(chance: f64) -> String {
    let written = shortest(chance);
    if written.len() > 6 { four(Some(chance)) } else { written }
}

pub(super) fn interval(line: &Line) -> String {
    let mark = if line.misses() { " *" } else { "" };
    line.interval.map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}{mark}"))
}
