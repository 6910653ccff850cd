//! What people read of acceptance that was printed by engines.

use crate::acceptance::observed::{AlphaBy, Basis};
use crate::import::engine::stamp::written;
use crate::report::acceptance::warnings::{beware, name, unknown};
use crate::report::acceptance::{Section, scenario_line};
use crate::report::simulation::fit::verdict;
use crate::report::table::{Style, composed, right, table};

/// Sections beyond this are in the files and in JSON only.
const MOST: usize = 12;

/// A table, what is not known, and what to beware of, of each section.
#[must_use]
pub fn text(sections: &[Section<'_>], style: Style) -> String {
    if sections.iter().any(|section| section.group.span.is_some()) {
        return spans(sections, style);
    }
    let mut parts: Vec<String> = sections.iter().take(MOST).map(|section| one(section, style)).collect();
    if sections.len() > MOST {
        parts.push(format!("the first {MOST} of {} sections; --format csv has all", sections.len()));
    }
    if sections.len() > 1 {
        parts.push("sections are never added up: different forms may tell of the same rounds".to_owned());
    }
    parts.join("\n\n")
}

/// More spans than this are in the files only.
const MOST_SPANS: usize = 48;

/// A line for each span of time.
fn spans(sections: &[Section<'_>], style: Style) -> String {
    let header = ["from", "of", "rounds", "tokens per pass", "95% interval", "accepted / drafted", "alpha"];
    let mut rows = table(&header.map(str::to_owned), style);
    for section in sections.iter().take(MOST_SPANS) {
        let found = &section.found;
        let mut of = whose(section);
        of.extend(found.k.map(|k| format!("k = {k}")));
        let four = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.4}"));
        let tokens = found.tokens_per_pass;
        let sure = found.basis.and(tokens).map_or_else(String::new, |of| format!("{:.4} to {:.4}", of.low, of.high));
        let cells = [
            section.pool.span.map_or_else(String::new, |(first, _)| written(first)),
            of.join(", "),
            found.rounds.map_or_else(String::new, |rounds| format!("{rounds:.0}")),
            four(tokens.map(|tokens| tokens.value)),
            sure,
            four(found.rate),
            four(found.alpha.map(|alpha| alpha.value)),
        ];
        rows.add_row(cells.map(right));
    }
    let mut notes = Vec::new();
    if sections.len() > MOST_SPANS {
        notes.push(format!("the first {MOST_SPANS} of {} spans; --format csv has all", sections.len()));
    }
    let mut warned: Vec<String> = Vec::new();
    for line in sections.iter().flat_map(beware) {
        if !warned.contains(&line) && !line.starts_with("suspect: the same") {
            warned.push(line);
        }
    }
    notes.extend(warned.into_iter().map(|line| format!("beware: {line}")));
    composed("Acceptance over time", &rows, notes, style)
}

/// The form, model, rank and file of a section, without what would move a terminal's cursor.
#[must_use]
pub fn whose(section: &Section<'_>) -> Vec<String> {
    let group = section.group;
    let mut words = vec![name(section.printout).to_owned()];
    words.extend(group.model.as_deref().map(str::to_owned));
    words.extend(group.rank.as_deref().map(|rank| format!("rank {rank}")));
    words.extend(group.file.as_deref().map(str::to_owned));
    words
}

/// Whose rounds a section counts.
#[must_use]
pub fn heading(section: &Section<'_>) -> String {
    let mut words = whose(section);
    if let (Some(_), Some((first, last))) = (section.group.span, section.pool.span) {
        words.push(format!("{} to {}", written(first), written(last)));
    }
    words.extend(section.found.k.map(|k| format!("k = {k}")));
    let (windows, ranks) = (section.pool.windows, section.pool.ranks.len());
    words.extend((windows > 1).then(|| format!("{windows} windows")));
    words.extend((ranks > 1).then(|| format!("{ranks} ranks")));
    words.join(", ")
}

fn one(section: &Section<'_>, style: Style) -> String {
    let found = &section.found;
    if section.pool.windows == 0 && found.tokens_per_pass.is_none() {
        let warned = beware(section).into_iter().map(|line| format!("  beware: {line}"));
        let lines: Vec<String> =
            std::iter::once(format!("{}: nothing was drafted", heading(section))).chain(warned).collect();
        return lines.join("\n");
    }
    let header = ["figure", "value", "95% interval", "also called"];
    let mut rows = table(&header.map(str::to_owned), style);
    let mut row = |figure: &str, value: Option<String>, interval: String, called: &str| {
        if let Some(value) = value {
            rows.add_row(
                vec![figure.to_owned(), value, interval, called.to_owned()]
                    .into_iter()
                    .enumerate()
                    .map(|(at, cell)| if at == 0 || at == 3 { comfy_table::Cell::new(cell) } else { right(cell) }),
            );
        }
    };
    let whole = |value: Option<f64>| value.map(|value| format!("{value:.0}"));
    let four = |value: Option<f64>| value.map(|value| format!("{value:.4}"));
    let none = String::new;
    let interval = |(low, high): (f64, f64)| format!("{low:.4} to {high:.4}");
    row("rounds that drafted", whole(found.rounds), none(), "vLLM: drafts; SGLang: verify_ct");
    row("drafts", whole(found.drafted), none(), "draft tokens");
    row("accepted drafts", whole(found.accepted), none(), "the bonus is not among them");
    let tokens = found.tokens_per_pass;
    let sure = found.basis.and(tokens).map_or_else(none, |tokens| interval((tokens.low, tokens.high)));
    row("tokens per pass", four(tokens.map(|of| of.value)), sure, "mean acceptance length, accept len; bonus included");
    row("  without the bonus", four(tokens.map(|of| of.value - 1.0)), none(), "accepted drafts of a round");
    row("accepted / drafted", four(found.rate), none(), "acceptance rate");
    row("  as V0 counts it", four(found.position_independent), none(), "draft acceptance rate, whatever the position");
    row("emitted / verified", four(found.per_verified), none(), "accepted per verified, system efficiency");
    if let Some(alpha) = &found.alpha {
        let by = match alpha.by {
            AlphaBy::Tests => "per-test acceptance by likelihood (Wilson, independent tests)",
            AlphaBy::Mean => "per-test acceptance that gives the mean",
        };
        row("alpha", Some(format!("{:.4}", alpha.value)), alpha.wilson.map_or_else(none, interval), by);
        if let (Some(law), Some(tests)) = (alpha.posterior, alpha.tests) {
            let tests = format!("{} of {} tests passed", tests.accepted, tests.all());
            row("  Beta posterior", Some(none()), interval(law), &tests);
        }
    }
    row("tokens per step", four(found.all_steps), none(), "all decode steps, those without a draft included");
    let rates = |rates: Vec<Option<f64>>| {
        let shown: Vec<String> =
            rates.iter().map(|rate| rate.map_or("-".to_owned(), |rate| format!("{rate:.3}"))).collect();
        shown.join(" ")
    };
    let mut notes = Vec::new();
    if !found.cumulative.is_empty() {
        let all = rates(found.cumulative.iter().copied().map(Some).collect());
        notes.push(format!("by position, of all rounds (cumulative, unconditional): {all}"));
    }
    if !found.conditional.is_empty() {
        notes.push(format!("by position, of drafts tested there (conditional): {}", rates(found.conditional.clone())));
    }
    notes.extend(
        found.basis.map(|basis| format!("interval of tokens per pass: {}", of_basis(basis, section.pool.windows))),
    );
    if let Some(test) = &found.one_alpha {
        notes.push(format!("one alpha for all positions {}", verdict(test)));
    }
    notes.extend(unknown(section).into_iter().map(|line| format!("not known: {line}")));
    let warned = |line: String| if line.starts_with("suspect") { line } else { format!("beware: {line}") };
    notes.extend(beware(section).into_iter().map(warned));
    notes.extend(scenario_line(found).map(|line| format!("for a scenario: {line}")));
    composed(&heading(section), &rows, notes, style)
}

fn of_basis(basis: Basis, windows: u64) -> String {
    match basis {
        Basis::Windows => format!("by the spread of {windows} windows (Student)"),
        Basis::Rounds => "if rounds are independent; rounds of one request are not, which widens it".to_owned(),
        Basis::Alike => "if rounds are independent and all positions pass alike".to_owned(),
    }
}
