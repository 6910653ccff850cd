//! What people read of a decision.

use crate::report::plan::own::Launched;
use crate::report::plan::words::Line;
use crate::report::plan::{Planned, Seen};
use crate::report::table::{Style, composed, right, table};

/// Cases told in full; of more the rest are a table.
const MOST_WHOLE: usize = 4;
/// Characters of a line.
const WIDTH: usize = 120;
/// Rows of that table.
const MOST_ROWS: usize = 40;

/// Verdicts first, then the tables of the first cases.
#[must_use]
pub fn text(planned: &Planned<'_, '_>, style: Style) -> String {
    let all: Vec<Seen<'_, '_, '_>> = planned.cases().collect();
    let whole = if all.len() > MOST_WHOLE { 1 } else { all.len() };
    let mut parts: Vec<String> = all[..whole].iter().map(|seen| verdict(seen, style)).collect();
    if whole < all.len() {
        parts.push(summary(&all, style));
    }
    for seen in &all[..whole] {
        let tables = [
            Some(seen.best_by_batch(style)),
            seen.drafters(style),
            seen.break_even(style),
            seen.capacity(style),
            seen.latency(style),
        ];
        if whole > 1 {
            parts.push(title(&seen.heading(), style));
        }
        parts.extend(tables.into_iter().flatten());
    }
    parts.join("\n\n")
}

/// Verdicts and the table of draft lengths, on one screen; before them what the draft length that is run already comes to.
#[must_use]
pub fn short(planned: &Planned<'_, '_>, own: &Launched, style: Style) -> String {
    let all: Vec<Seen<'_, '_, '_>> = planned.cases().take(MOST_WHOLE).collect();
    let mut parts = Vec::new();
    for seen in &all {
        let lines = seen.own(own);
        if let (Some(k), false) = (own.k, lines.is_empty()) {
            parts.push(listed(&format!("As launched, k = {k} (what is recommended stands below)"), &lines, style));
        }
        parts.extend([verdict(seen, style), seen.best_by_batch(style)]);
    }
    parts.join("\n\n")
}

/// What has to be accepted, where nobody knows what is.
#[must_use]
pub fn unmeasured(planned: &Planned<'_, '_>, own: Option<u64>, style: Style) -> String {
    let told = planned.cases().take(MOST_WHOLE).map(|seen| listed(&seen.heading(), &seen.due(own), style));
    told.collect::<Vec<_>>().join("\n\n")
}

fn title(heading: &str, style: Style) -> String {
    match style {
        Style::Markdown => format!("### {heading}"),
        Style::Plain | Style::Ansi => heading.to_owned(),
    }
}

/// A verdict as a short list.
fn verdict(seen: &Seen<'_, '_, '_>, style: Style) -> String {
    listed(&seen.heading(), &seen.lines(), style)
}

/// A heading with lines below it, each with what it is about.
pub(in crate::report) fn listed(heading: &str, lines: &[Line], style: Style) -> String {
    let width = lines.iter().map(|line| line.about.len()).max().unwrap_or(0);
    let told = |line: &Line| match style {
        Style::Markdown if line.about == "answer" => format!("**{}**", line.says),
        Style::Markdown => format!("- {}: {}", line.about, line.says),
        _ if line.about == "answer" => format!("  {}", line.says),
        _ => format!("    {:width$}  {}", line.about, wrapped(&line.says, width + 6)),
    };
    let mut all = vec![title(heading, style)];
    if style == Style::Markdown {
        all.push(String::new());
    }
    for line in lines {
        all.push(told(line));
        if style == Style::Markdown && line.about == "answer" {
            all.push(String::new());
        }
    }
    all.join("\n")
}

/// A text in lines of at most so many characters, the later ones under the first.
fn wrapped(text: &str, indent: usize) -> String {
    let room = WIDTH.saturating_sub(indent).max(40);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// One line for each case.
fn summary(all: &[Seen<'_, '_, '_>], style: Style) -> String {
    let names = ["case", "answer", "drafter", "k", "stands at batch", "pays at batch"].map(str::to_owned);
    let mut rows = table(&names, style);
    for seen in all.iter().take(MOST_ROWS) {
        let windows = seen
            .case
            .verdict
            .candidate
            .map_or_else(Vec::new, |at| seen.decision.lines[seen.case.context][at].windows());
        let cells = [
            seen.heading(),
            seen.case.verdict.answer.as_str().to_owned(),
            seen.drafter().to_owned(),
            seen.k().map_or_else(|| "-".to_owned(), |k| k.to_string()),
            seen.stands(),
            super::words::ranges(&windows),
        ];
        rows.add_row(cells.map(right));
    }
    let mut notes = vec!["the tables below are of the first; --format json and the CSV have all".to_owned()];
    if all.len() > MOST_ROWS {
        notes.push(format!("{MOST_ROWS} of {}", all.len()));
    }
    composed("Every case", &rows, notes, style)
}
