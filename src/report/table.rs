//! Tables for people: a block for each panel, rows batch x alpha, columns k; or, for more than four
//! panels, the best k of each line.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::report::number::{shortest, times};
use crate::report::sample::{Panel, Point, Sample, evenly};

/// More panels than this are summed up.
pub const MOST_BLOCKS: usize = 4;
/// A longer block is summed up: it would scroll past.
const MOST_ROWS: usize = 64;
const MOST_COLUMNS: usize = 16;
/// Rows and columns of the summary.
const SUMMARY_ROWS: usize = 40;
const SUMMARY_COLUMNS: u64 = 8;

/// How a table is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Aligned columns, marks for emphasis.
    Plain,
    /// Aligned columns, bold and dimmed for emphasis.
    Ansi,
    /// Markdown.
    Markdown,
}

/// The tables of a sample; `rows_in` names where every row is to be found.
#[must_use]
pub fn render(sample: &Sample<'_>, rows_in: &str, style: Style) -> String {
    let complete = sample.omitted_panels == 0
        && sample.panels.len() <= MOST_BLOCKS
        && sample.panels.iter().all(|panel| is_whole(panel));
    if complete {
        let blocks: Vec<String> = sample.panels.iter().map(|panel| block(panel, style)).collect();
        blocks.join("\n\n")
    } else {
        summary(sample, rows_in, style)
    }
}

fn is_whole(panel: &Panel<'_>) -> bool {
    panel.batch.complete
        && panel.acceptance.complete
        && panel.k.complete
        && panel.batch.len() * panel.acceptance.len() <= MOST_ROWS
        && panel.k.len() <= MOST_COLUMNS
}

/// What a panel was priced for, in one line.
#[must_use]
pub fn heading(panel: &Panel<'_>) -> String {
    let labels = &panel.block.labels;
    let drafter = labels.drafter.map_or_else(|| "no drafter".to_owned(), |label| format!("drafter {label}"));
    let devices = if labels.tensor_parallel > 1 { format!("{} x ", labels.tensor_parallel) } else { String::new() };
    format!(
        "{devices}{}, target {}, {drafter}, context {}, engine {} ({} roofline)",
        labels.hardware, labels.target, panel.context, labels.engine, labels.roofline
    )
}

fn block(panel: &Panel<'_>, style: Style) -> String {
    let mut marks = Marks::default();
    let table = if panel.block.drafter.is_some() {
        speedups(panel, style, &mut marks)
    } else {
        plain_steps(panel, style, &mut marks)
    };
    let title = if style == Style::Markdown { format!("### {}\n", heading(panel)) } else { heading(panel) };
    let mut lines = vec![title, text(&table)];
    let notes = notes(panel, style, marks);
    if style == Style::Markdown && !notes.is_empty() {
        lines.push(String::new());
    }
    let bullet = if style == Style::Markdown { "- " } else { "  " };
    lines.extend(notes.into_iter().map(|note| format!("{bullet}{note}")));
    lines.join("\n")
}

/// Which marks a table uses, and so which footnotes it needs.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    best: bool,
    unfit: bool,
}

fn speedups(panel: &Panel<'_>, style: Style, marks: &mut Marks) -> Table {
    let with_alpha = panel.alpha.iter().any(Option::is_some);
    let mut header = vec!["batch".to_owned()];
    header.extend(with_alpha.then(|| "alpha".to_owned()));
    let room = if style == Style::Markdown { "" } else { " " };
    header.extend(panel.k.values.iter().map(|k| format!("k={k}{room}")));
    let mut table = table(&header, style);
    for batch in 0..panel.batch.len() {
        for acceptance in 0..panel.acceptance.len() {
            let mut row = vec![right(panel.batch.values[batch].to_string())];
            if with_alpha {
                row.push(right(panel.alpha[acceptance].map_or_else(String::new, shortest)));
            }
            let best = panel.best(batch, acceptance).filter(|_| panel.k.len() > 1);
            for k in 0..panel.k.len() {
                row.push(panel.point(batch, acceptance, k).map_or_else(
                    || right(String::new()),
                    |point| speedup_cell(&point, best.is_some_and(|best| best.k == point.k), style, marks),
                ));
            }
            table.add_row(row);
        }
    }
    table
}

fn speedup_cell(point: &Point, best: bool, style: Style, marks: &mut Marks) -> Cell {
    marks.best |= best;
    marks.unfit |= !point.fits;
    let mark = match (point.fits, style) {
        (false, _) => "!",
        (true, Style::Markdown) => "",
        // Keeps the digits of a column under each other.
        (true, _) => " ",
    };
    let shown = format!("{}{mark}", times(point.speedup));
    match style {
        Style::Plain => right(if best { format!("*{shown}") } else { shown }),
        Style::Markdown => right(if best { format!("**{shown}**") } else { shown }),
        Style::Ansi if best => right(shown).add_attribute(Attribute::Bold),
        Style::Ansi if point.speedup < 1.0 => right(shown).add_attribute(Attribute::Dim),
        Style::Ansi => right(shown),
    }
}

/// Without a drafter every speedup is 1: the step itself is what can be told.
fn plain_steps(panel: &Panel<'_>, style: Style, marks: &mut Marks) -> Table {
    let mut table = table(&["batch", "plain step", "tokens/s"].map(str::to_owned), style);
    for batch in 0..panel.batch.len() {
        let Some(point) = panel.point(batch, 0, 0) else { continue };
        marks.unfit |= !point.fits;
        let mark = if point.fits { "" } else { "!" };
        table.add_row(vec![
            right(panel.batch.values[batch].to_string()),
            right(point.round.to_string()),
            right(format!("{:.0}{mark}", point.tokens_per_s)),
        ]);
    }
    table
}

fn notes(panel: &Panel<'_>, style: Style, marks: Marks) -> Vec<String> {
    let mut notes = Vec::new();
    if marks.best {
        let mark = if style == Style::Plain { "*" } else { "bold" };
        notes.push(format!("{mark}: best k of the row"));
    }
    if marks.unfit {
        let capacity = panel.block.device.memory.capacity;
        notes.push(format!("!: does not fit in the usable {} of {capacity}", panel.block.setup.usable()));
    }
    if let Some(cost) = panel.cost_ratio {
        notes.push(format!("one draft pass costs {:.2} of a plain step at batch {}", cost.ratio, cost.batch));
    }
    notes
}

fn summary(sample: &Sample<'_>, rows_in: &str, style: Style) -> String {
    let Some(first) = sample.panels.first() else { return String::new() };
    let columns: Vec<usize> =
        evenly(first.batch.len() as u64, SUMMARY_COLUMNS).into_iter().map(|at| at as usize).collect();
    let mut header: Vec<String> = ["hardware", "target", "drafter", "context", "alpha"].map(str::to_owned).to_vec();
    header.extend(columns.iter().map(|&at| format!("batch {}", first.batch.values[at])));
    let mut table = table(&header, style);
    let lines: Vec<(&Panel<'_>, usize)> = sample
        .panels
        .iter()
        .flat_map(|panel| (0..panel.acceptance.len()).map(move |acceptance| (panel, acceptance)))
        .collect();
    let mut unfit = false;
    for (panel, acceptance) in lines.iter().take(SUMMARY_ROWS) {
        let labels = &panel.block.labels;
        let alpha = panel.alpha[*acceptance].map_or_else(String::new, shortest);
        let mut row = vec![labels.hardware.into(), labels.target.into(), labels.drafter.unwrap_or("-").into()];
        row.extend([right(panel.context.to_string()), right(alpha)]);
        for &batch in &columns {
            let best = panel.best(batch, *acceptance);
            unfit |= best.is_some_and(|best| !best.fits);
            row.push(right(best.map_or_else(String::new, |best| {
                format!("k={} {}{}", best.k, times(best.speedup), if best.fits { "" } else { "!" })
            })));
        }
        table.add_row(row);
    }
    let mut out = vec!["Best k and its speedup (too many rows for full tables)".to_owned(), text(&table)];
    if unfit {
        out.push("  !: does not fit in memory at any k".to_owned());
    }
    let partial = sample.omitted_panels > 0
        || lines.len() > SUMMARY_ROWS
        || sample.panels.iter().any(|panel| !panel.acceptance.complete);
    let more = if partial || columns.len() < first.batch.len() { "this is a part of it; " } else { "" };
    out.push(format!("  {more}every row: {rows_in}"));
    out.join("\n")
}

fn table(header: &[String], style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(if style == Style::Markdown { ASCII_MARKDOWN } else { NOTHING });
    if style == Style::Ansi {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header.iter().map(|name| right(name.clone())));
    table
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
