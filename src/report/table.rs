//! Tables for people: one for each panel, rows batch x alpha, columns k; or, for more than four
//! panels, the best k of each line.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::plan::setup::Setup;
use crate::report::footnotes::{CARRIED, Marks, notes, passed};
use crate::report::number::times;
use crate::report::pick::spread;
use crate::report::sample::{Panel, Point, Sample};
use crate::words::Roofline;

/// More panels than this are summed up.
pub const MOST_PANELS: usize = 4;
/// A longer table is summed up: it would scroll past.
const MOST_ROWS: usize = 64;
const MOST_COLUMNS: usize = 16;
/// Rows and columns of the summary.
const SUMMARY_ROWS: u64 = 40;
const SUMMARY_COLUMNS: u64 = 6;

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
pub fn render(sample: &Sample<'_, '_>, rows_in: &str, style: Style) -> String {
    let complete = sample.omitted_panels == 0
        && sample.panels.len() <= MOST_PANELS
        && sample.panels.iter().all(|panel| is_whole(panel));
    if complete {
        let tables: Vec<String> = sample.panels.iter().map(|panel| whole(panel, style)).collect();
        tables.join("\n\n")
    } else {
        summary(sample, rows_in, style)
    }
}

fn is_whole(panel: &Panel<'_, '_>) -> bool {
    panel.plan.batch.complete
        && panel.plan.acceptance.complete
        && panel.plan.k.complete
        && panel.plan.batch.count() * panel.plan.acceptance.count() <= MOST_ROWS
        && panel.plan.k.count() <= MOST_COLUMNS
}

/// What a panel was priced for, in one line.
#[must_use]
pub fn heading(panel: &Panel<'_, '_>) -> String {
    let labels = &panel.plan.block.labels;
    let drafter = labels.drafter.map_or_else(|| "no drafter".to_owned(), |label| format!("drafter {label}"));
    let form = if labels.roofline == Roofline::Additive { "form" } else { "roofline" };
    let devices = devices(&panel.plan.block.setup);
    format!(
        "{devices}{}, target {}, {drafter}, context {}, engine {} ({} {})",
        labels.hardware, labels.target, panel.plan.context, labels.engine, labels.roofline, form
    )
}

/// How many devices there are, and how they share the work, before what they are.
#[must_use]
pub fn devices(setup: &Setup<'_>) -> String {
    let (all, ranks, stages, own) = (setup.devices(), setup.ranks(), setup.stages(), setup.own_devices());
    let shared = [(ranks, "ranks"), (stages, "stages")];
    let shared: Vec<String> =
        shared.into_iter().filter(|(count, _)| *count > 1).map(|(count, what)| format!("{count} {what}")).collect();
    let shared = if shared.is_empty() { String::new() } else { format!("({}) ", shared.join(", ")) };
    match (all, own) {
        (1, 0) => String::new(),
        (all, 0) => format!("{all} x {shared}"),
        (all, own) => format!("{all} + {own} for the drafter x {shared}"),
    }
}

fn whole(panel: &Panel<'_, '_>, style: Style) -> String {
    let mut marks = Marks::default();
    let table = match panel.plan.block.drafter {
        Some(_) => speedups(panel, style, &mut marks),
        None => plain_steps(panel, style, &mut marks),
    };
    composed(&heading(panel), &table, notes(panel, style, marks), style)
}

/// A title, a table and its footnotes.
pub(super) fn composed(title: &str, table: &Table, notes: Vec<String>, style: Style) -> String {
    let rows: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let (title, gap, bullet) = match style {
        Style::Markdown => (format!("### {title}\n"), "\n\n", "- "),
        Style::Plain | Style::Ansi => (title.to_owned(), "\n", "  "),
    };
    let notes: Vec<String> = notes.into_iter().map(|note| format!("{bullet}{note}")).collect();
    let foot = if notes.is_empty() { String::new() } else { format!("{gap}{}", notes.join("\n")) };
    format!("{title}\n{}{foot}", rows.join("\n"))
}

/// A whole answer: title, body, and how far to trust it.
#[must_use]
pub fn page(title: &str, body: &str, trust: &[String], style: Style) -> String {
    match style {
        Style::Plain | Style::Ansi => format!("{title}\n\n{body}\n\n{}\n", trust.join("\n")),
        Style::Markdown => {
            let trust: Vec<String> = trust.iter().map(|line| format!("- {line}")).collect();
            format!("## {title}\n\n{body}\n\n{}\n", trust.join("\n"))
        }
    }
}

fn speedups(panel: &Panel<'_, '_>, style: Style, marks: &mut Marks) -> Table {
    let axis = panel.acceptance_axis();
    let mut header = vec!["batch".to_owned()];
    header.extend(axis.map(str::to_owned));
    let room = if style == Style::Markdown { "" } else { " " };
    header.extend(panel.plan.k.values.iter().map(|k| format!("k={k}{room}")));
    let mut table = table(&header, style);
    for batch in 0..panel.plan.batch.count() {
        for acceptance in 0..panel.plan.acceptance.count() {
            let points: Vec<Option<Point>> =
                (0..panel.plan.k.count()).map(|k| panel.point(batch, acceptance, k)).collect();
            if points.iter().all(Option::is_none) {
                continue;
            }
            let mut row = vec![right(panel.plan.batch.values[batch].to_string())];
            if axis.is_some() {
                row.push(right(panel.acceptance(acceptance)));
            }
            // Where no k gains, none is best: plain decoding is.
            let best = panel.best(batch, acceptance).filter(|best| points.len() > 1 && best.speedup > 1.0);
            row.extend(points.into_iter().map(|point| match point {
                Some(point) => speedup_cell(&point, best.is_some_and(|best| best.k == point.k), style, marks),
                None => right(String::new()),
            }));
            table.add_row(row);
        }
    }
    table
}

fn speedup_cell(point: &Point, best: bool, style: Style, marks: &mut Marks) -> Cell {
    marks.best |= best;
    marks.unfit |= !point.fits;
    marks.carried |= point.carried;
    let mark = match (point.fits, point.carried, style) {
        (false, false, _) => "!",
        (false, true, _) => "!~",
        (true, true, _) => "~",
        (true, false, Style::Markdown) => "",
        // Keeps the digits of a column under each other.
        (true, false, _) => " ",
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
fn plain_steps(panel: &Panel<'_, '_>, style: Style, marks: &mut Marks) -> Table {
    let mut table = table(&["batch", "plain step", "tokens/s"].map(str::to_owned), style);
    for batch in 0..panel.plan.batch.count() {
        let Some(point) = panel.point(batch, 0, 0) else { continue };
        marks.unfit |= !point.fits;
        let mark = if point.fits { "" } else { "!" };
        table.add_row(vec![
            right(panel.plan.batch.values[batch].to_string()),
            right(point.round.to_string()),
            right(format!("{:.0}{mark}", point.tokens_per_s)),
        ]);
    }
    table
}

/// A line of the summary: a panel and the position of one of its acceptances.
type Line<'s, 'p, 'g> = (&'s Panel<'p, 'g>, usize);

fn summary(sample: &Sample<'_, '_>, rows_in: &str, style: Style) -> String {
    let Some(first) = sample.panels.first() else { return String::new() };
    let columns = spread(first.plan.batch.count(), SUMMARY_COLUMNS);
    let lines = summary_lines(sample);
    let (shared, own) = labels(&lines);
    let mut header: Vec<String> = own.iter().map(|(name, _)| (*name).to_owned()).collect();
    header.extend(columns.iter().map(|&at| format!("batch {}", first.plan.batch.values[at])));
    let mut table = table(&header, style);
    let mut marks = Marks::default();
    for (at, (panel, acceptance)) in lines.iter().enumerate() {
        let mut row: Vec<Cell> = own.iter().map(|(_, values)| right(values[at].clone())).collect();
        row.extend(columns.iter().map(|&batch| right(summary_cell(panel, batch, *acceptance, &mut marks))));
        table.add_row(row);
    }
    let plain = lines.iter().all(|(panel, _)| panel.plan.block.drafter.is_none());
    let what = if plain { "Plain step" } else { "Best k and its speedup" };
    let partial =
        (lines.len() as u64) < sample.lines || !first.plan.batch.complete || columns.len() < first.plan.batch.count();
    let mut notes: Vec<String> = Vec::new();
    notes.extend(marks.carried.then(|| CARRIED.to_owned()));
    notes.extend(marks.unfit.then(|| "!: does not fit in memory at any k".to_owned()));
    let mut limits: Vec<&str> = sample.panels.iter().flat_map(passed).map(|passed| passed.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    if !limits.is_empty() {
        notes.push(format!("beyond the engine's limits in some rows, as their notes say: {}", limits.join(", ")));
    }
    notes.push(format!("{}every row: {rows_in}", if partial { "these are samples; " } else { "" }));
    composed(&format!("{what}: {}", shared.join(", ")), &table, notes, style)
}

fn summary_cell(panel: &Panel<'_, '_>, batch: usize, acceptance: usize, marks: &mut Marks) -> String {
    let Some(best) = panel.best(batch, acceptance) else { return String::new() };
    marks.unfit |= !best.fits;
    marks.carried |= best.carried;
    let mark = match (best.fits, best.carried) {
        (true, false) => " ",
        (true, true) => "~",
        (false, false) => "!",
        (false, true) => "!~",
    };
    match panel.plan.block.drafter {
        Some(_) => format!("k={} {}{mark}", best.k, times(best.speedup)),
        None => format!("{}{mark}", best.round),
    }
}

/// Lines evenly spaced over panels and acceptances, at most [`SUMMARY_ROWS`].
fn summary_lines<'s, 'p, 'g>(sample: &'s Sample<'p, 'g>) -> Vec<Line<'s, 'p, 'g>> {
    let acceptances = sample.panels.iter().map(|panel| panel.plan.acceptance.count()).max().unwrap_or(1).min(4);
    let panels = spread(sample.panels.len(), SUMMARY_ROWS / acceptances.max(1) as u64);
    let lines = panels.into_iter().flat_map(|at| {
        let panel = &sample.panels[at];
        spread(panel.plan.acceptance.count(), acceptances as u64).into_iter().map(move |acceptance| (panel, acceptance))
    });
    lines.collect()
}

/// What tells the acceptances of the lines apart.
fn line_axis(lines: &[Line<'_, '_, '_>]) -> &'static str {
    let axis = lines.first().and_then(|line| line.0.acceptance_axis());
    let same = lines.iter().all(|line| line.0.acceptance_axis() == axis);
    axis.filter(|_| same).unwrap_or("acceptance")
}

/// What all lines share, as words for the heading, and the columns in which they differ.
fn labels(lines: &[Line<'_, '_, '_>]) -> (Vec<String>, Vec<(&'static str, Vec<String>)>) {
    let column = |name: &'static str, value: &dyn Fn(&Line<'_, '_, '_>) -> String| {
        (name, lines.iter().map(value).collect::<Vec<String>>())
    };
    let all = [
        column("hardware", &|line| line.0.plan.block.labels.hardware.to_owned()),
        column("target", &|line| line.0.plan.block.labels.target.to_owned()),
        column("drafter", &|line| line.0.plan.block.labels.drafter.unwrap_or("none").to_owned()),
        column("engine", &|line| line.0.plan.block.labels.engine.to_owned()),
        column("context", &|line| line.0.plan.context.to_string()),
        column("devices", &|line| {
            let setup = &line.0.plan.block.setup;
            match setup.own_devices() {
                0 => setup.devices().to_string(),
                own => format!("{} + {own}", setup.devices()),
            }
        }),
        column(line_axis(lines), &|line| line.0.acceptance(line.1)),
    ];
    let (own, shared): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, values)| values.iter().any(|value| *value != values[0]));
    let words = shared.into_iter().filter(|(_, values)| values.first().is_some_and(|value| !value.is_empty()));
    (words.map(|(name, values)| format!("{name} {}", values[0])).collect(), own)
}

pub(super) fn table(header: &[String], style: Style) -> Table {
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

pub(super) fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}
