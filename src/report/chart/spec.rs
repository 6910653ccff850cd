//! What charts show, as plain values.

use crate::report::chart::bodies::{Bars, RooflinePlot, Scatter, Stacks, TornadoPlot, TreePlot};
use crate::report::pick::{spread, spread_by_factor};
use crate::report::sample::{Panel, Point, Sample};
use crate::report::table::{MOST_PANELS, heading};
use crate::report::trust;

/// The most plots side by side.
const MOST_PLOTS: u64 = 4;
/// The most lines a reader tells apart.
const MOST_LINES: u64 = 7;

/// One chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The part of the file's name.
    pub part: String,
    /// What stands above and below it.
    pub heading: Heading,
    /// What it shows.
    pub body: Body,
}

/// What stands above and below a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// What is shown.
    pub title: String,
    /// Hardware, target, drafter, context, engine.
    pub subtitle: String,
    /// How to read it.
    pub caption: String,
    /// How far to trust it, in lines.
    pub trust: Vec<String>,
}

/// What a chart shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Speedup over a number.
    Lines(Lines),
    /// Speedup over batch and k.
    Heat(Heat),
    /// Shares side by side.
    Bars(Bars),
    /// Passes under the limits of a device.
    Roofline(RooflinePlot),
    /// Times made of parts.
    Stacks(Stacks),
    /// Points of several kinds.
    Scatter(Scatter),
    /// A tree of drafts.
    Tree(TreePlot),
    /// What inputs do to a figure.
    Tornado(TornadoPlot),
}

/// Plots of lines that share axes and legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// What x is.
    pub x_label: String,
    /// Every x of every line.
    pub xs: Vec<u64>,
    /// Title of the legend.
    pub legend: String,
    /// Names of the lines, in the order of their colours.
    pub names: Vec<String>,
    /// The plots.
    pub plots: Vec<LinePlot>,
    /// Values of x that are marked, with their names.
    pub marks: Vec<(String, u64)>,
}

/// One set of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LinePlot {
    /// What is held fixed, empty if there is nothing else.
    pub title: String,
    /// One for each name.
    pub lines: Vec<Line>,
}

/// Points from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The points.
    pub spots: Vec<Spot>,
    /// The largest x that fits, where it is known; it may lie between two points.
    pub fits_up_to: Option<u64>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Batch or k.
    pub x: u64,
    /// Speedup.
    pub y: f64,
    /// Whether it fits in memory.
    pub fits: bool,
    /// Whether its tokens per pass were carried over from other draft lengths.
    pub carried: bool,
}

/// Heat maps that share axes and scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Draft lengths, left to right.
    pub k: Vec<u64>,
    /// Batches, bottom to top.
    pub batch: Vec<u64>,
    /// The plots.
    pub plots: Vec<HeatPlot>,
}

/// One heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatPlot {
    /// What is held fixed.
    pub title: String,
    /// By batch, then k.
    pub cells: Vec<Vec<Option<Point>>>,
}

/// The charts of a sample: three for each of the panels that [`charted`] picks.
#[must_use]
pub fn charts(sample: &Sample<'_, '_>, title: &str) -> Vec<Chart> {
    let panels = charted(sample);
    let parts = parts(sample, &panels);
    let three = |(panel, part): (&&Panel<'_, '_>, &String)| {
        [against_batch(panel, title, part), against_k(panel, title, part), heat_map(panel, title, part)]
    };
    let mut charts: Vec<Chart> = panels.iter().zip(&parts).flat_map(three).collect();
    let all = sample.panels.len() as u64 + sample.omitted_panels;
    for chart in &mut charts {
        let hint = shown_of(panels.len(), all, "combinations charted");
        chart.heading.caption.extend(hint.map(|hint| format!("  {hint}")));
    }
    charts
}

/// The panels that get charts: those with a drafter and points, if they are four or fewer. Of more, up
/// to four that differ from the first in one thing only, so that their charts can be compared: drafters,
/// else contexts, else targets, else hardware, else engines.
#[must_use]
pub fn charted<'s, 'p, 'g>(sample: &'s Sample<'p, 'g>) -> Vec<&'s Panel<'p, 'g>> {
    let drafting = |panel: &&Panel<'_, '_>| panel.plan.block.drafter.is_some() && !panel.is_blank();
    let all: Vec<&Panel<'_, '_>> = sample.panels.iter().filter(drafting).collect();
    let Some(first) = all.first().map(|panel| labels(panel)).filter(|_| all.len() > MOST_PANELS) else { return all };
    let differing_in = |at: usize| {
        let only_there = |panel: &&&Panel<'_, '_>| {
            let labels = labels(panel);
            (0..labels.len()).all(|other| other == at || labels[other] == first[other])
        };
        let family: Vec<&Panel<'_, '_>> = all.iter().filter(only_there).copied().collect();
        (family.len() > 1).then_some(family)
    };
    let family = [DRAFTER, CONTEXT, TARGET, HARDWARE, ENGINE, DEVICES].into_iter().find_map(differing_in);
    let family = family.unwrap_or_else(|| vec![all[0]]);
    spread(family.len(), MOST_PANELS as u64).into_iter().map(|at| family[at]).collect()
}

const HARDWARE: usize = 0;
const TARGET: usize = 1;
const ENGINE: usize = 2;
const DRAFTER: usize = 3;
const CONTEXT: usize = 4;
const DEVICES: usize = 5;

/// What tells a panel from others, in the order of the constants above.
fn labels(panel: &Panel<'_, '_>) -> [String; 6] {
    let labels = &panel.plan.block.labels;
    let drafter = labels.drafter.unwrap_or_default().to_owned();
    let context = format!("context-{}", panel.plan.context);
    let devices = format!("x{}", labels.tensor_parallel);
    [labels.hardware.to_owned(), labels.target.to_owned(), labels.engine.to_owned(), drafter, context, devices]
}

/// A name for each charted panel, made of what differs in the whole sample and joined by what no id can
/// hold.
fn parts(sample: &Sample<'_, '_>, panels: &[&Panel<'_, '_>]) -> Vec<String> {
    let drafting = sample.panels.iter().filter(|panel| panel.plan.block.drafter.is_some());
    let all: Vec<[String; 6]> = drafting.map(labels).collect();
    let differs = |at: usize| all.iter().any(|one| one[at] != all[0][at]);
    let part = |panel: &&Panel<'_, '_>| -> String {
        let one = labels(panel);
        (0..one.len()).filter(|&at| differs(at)).map(|at| format!("+{}", one[at])).collect()
    };
    panels.iter().map(part).collect()
}

fn chart(panel: &Panel<'_, '_>, title: &str, what: &str, part: String, body: Body, mut hints: Vec<String>) -> Chart {
    let block = panel.plan.block;
    if panel.lacks_points() {
        let mark = if matches!(body, Body::Heat(_)) { "Grey" } else { "Missing" };
        hints.insert(0, format!("{mark}: left out, {}.", panel.unwanted()));
    }
    if body.holds_unfit() {
        let mark = if matches!(body, Body::Heat(_)) { "Hatched" } else { "Dashed" };
        hints.insert(0, format!("{mark}: does not fit in the usable {}.", block.setup.usable()));
    }
    if panel.points().any(|point| point.carried) {
        let mark = if matches!(body, Body::Heat(_)) { "~" } else { "Hollow" };
        hints.insert(0, format!("{mark}: tokens per pass carried over from another k or context."));
    }
    let source = block.drafter.map(|drafter| trust::drafter(drafter, &block.backing));
    let heading = Heading {
        title: format!("{what}: {title}"),
        subtitle: heading(panel),
        caption: hints.join("  "),
        trust: std::iter::once(trust::profile(&block.backing)).chain(source).collect(),
    };
    Chart { part, heading, body }
}

impl Body {
    fn holds_unfit(&self) -> bool {
        match self {
            Self::Lines(body) => {
                body.plots.iter().flat_map(|plot| &plot.lines).flat_map(|line| &line.spots).any(|spot| !spot.fits)
            }
            Self::Heat(body) => {
                body.plots.iter().flat_map(|plot| plot.cells.iter().flatten().flatten()).any(|point| !point.fits)
            }
            Self::Bars(_)
            | Self::Scatter(_)
            | Self::Roofline(_)
            | Self::Stacks(_)
            | Self::Tree(_)
            | Self::Tornado(_) => false,
        }
    }
}

fn shown_of(shown: usize, of: u64, what: &str) -> Option<String> {
    ((shown as u64) < of).then(|| format!("{shown} of {of} {what}."))
}

fn acceptance_title(panel: &Panel<'_, '_>, acceptance: usize) -> String {
    let name = panel.acceptance(acceptance);
    panel.acceptance_axis().map_or_else(|| format!("acceptance {name}"), |axis| format!("{axis} = {name}"))
}

fn against_batch(panel: &Panel<'_, '_>, title: &str, part: &str) -> Chart {
    let ks = line_positions(panel);
    let acceptances = spread(panel.plan.acceptance.count(), MOST_PLOTS);
    let line = |acceptance: usize, k: usize| {
        let spot = |batch: usize| spot(panel.plan.batch.values[batch], panel.point(batch, acceptance, k));
        let fits_up_to = panel.plan.block.setup.max_batch(panel.plan.context, panel.plan.k.values[k]);
        Line { spots: sorted((0..panel.plan.batch.count()).filter_map(spot).collect()), fits_up_to }
    };
    let body = Lines {
        x_label: "batch (sequences decoded together)".to_owned(),
        xs: panel.plan.batch.values.clone(),
        marks: Vec::new(),
        legend: "k".to_owned(),
        names: ks.iter().map(|&k| panel.plan.k.values[k].to_string()).collect(),
        plots: acceptances
            .iter()
            .map(|&acceptance| LinePlot {
                title: acceptance_title(panel, acceptance),
                lines: ks.iter().map(|&k| line(acceptance, k)).collect(),
            })
            .collect(),
    };
    let hints = [
        shown_of(acceptances.len(), panel.plan.block.acceptances(), "acceptances shown"),
        shown_of(ks.len(), panel.plan.block.k.len(), "draft lengths shown"),
        shown_of(panel.plan.batch.count(), panel.plan.batch_length, "batches drawn"),
    ];
    let hints = hints.into_iter().flatten().collect();
    chart(panel, title, "Speedup against batch", format!("speedup-by-batch{part}"), Body::Lines(body), hints)
}

/// The draft lengths that get a line: all if they are few. Of more, those that win most often, the ends
/// and some between; not k = 0, which is the 1x line.
fn line_positions(panel: &Panel<'_, '_>) -> Vec<usize> {
    let values = &panel.plan.k.values;
    let most = MOST_LINES as usize;
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let mut wins = vec![0_usize; values.len()];
    for batch in 0..panel.plan.batch.count() {
        for acceptance in 0..panel.plan.acceptance.count() {
            let best = panel.best(batch, acceptance).and_then(|best| values.iter().position(|k| *k == best.k));
            best.into_iter().for_each(|at| wins[at] += 1);
        }
    }
    let drafting: Vec<usize> = (0..values.len()).filter(|&at| values[at] > 0).collect();
    let mut winners: Vec<usize> = drafting.iter().copied().filter(|&at| wins[at] > 0).collect();
    winners.sort_by_key(|&at| std::cmp::Reverse(wins[at]));
    winners.truncate(most / 2 + 1);
    let between = spread_by_factor(drafting.len(), MOST_LINES).into_iter().map(|at| drafting[at]);
    let ends = [drafting[0], drafting[drafting.len() - 1]];
    let mut chosen: Vec<usize> = Vec::new();
    for at in ends.into_iter().chain(winners).chain(between) {
        if chosen.len() < most && !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    chosen.sort_by_key(|&at| values[at]);
    chosen
}

fn against_k(panel: &Panel<'_, '_>, title: &str, part: &str) -> Chart {
    let by_size = sorted_positions(&panel.plan.batch.values);
    let batches: Vec<usize> = spread(by_size.len(), MOST_PLOTS).into_iter().map(|at| by_size[at]).collect();
    let acceptances = spread(panel.plan.acceptance.count(), MOST_LINES);
    let line = |batch: usize, acceptance: usize| {
        let spot = |k: usize| spot(panel.plan.k.values[k], panel.point(batch, acceptance, k));
        Line { spots: sorted((0..panel.plan.k.count()).filter_map(spot).collect()), fits_up_to: None }
    };
    let body = Lines {
        x_label: "k (draft tokens for each round)".to_owned(),
        xs: panel.plan.k.values.clone(),
        marks: Vec::new(),
        legend: panel.acceptance_axis().unwrap_or("acceptance").to_owned(),
        names: acceptances.iter().map(|&acceptance| panel.acceptance(acceptance)).collect(),
        plots: batches
            .iter()
            .map(|&batch| LinePlot {
                title: format!("batch {}", panel.plan.batch.values[batch]),
                lines: acceptances.iter().map(|&acceptance| line(batch, acceptance)).collect(),
            })
            .collect(),
    };
    let hints = [
        shown_of(batches.len(), panel.plan.batch_length, "batches shown"),
        shown_of(acceptances.len(), panel.plan.block.acceptances(), "acceptances shown"),
        shown_of(panel.plan.k.count(), panel.plan.block.k.len(), "draft lengths drawn"),
    ];
    let hints = hints.into_iter().flatten().collect();
    chart(panel, title, "Speedup against k", format!("speedup-by-k{part}"), Body::Lines(body), hints)
}

fn heat_map(panel: &Panel<'_, '_>, title: &str, part: &str) -> Chart {
    let acceptances = spread(panel.plan.acceptance.count(), MOST_PLOTS);
    let (batches, ks) = (sorted_positions(&panel.plan.batch.values), sorted_positions(&panel.plan.k.values));
    let cells = |acceptance: usize| {
        let row = |&batch: &usize| ks.iter().map(|&k| panel.point(batch, acceptance, k)).collect();
        batches.iter().map(row).collect()
    };
    let body = Heat {
        k: ks.iter().map(|&at| panel.plan.k.values[at]).collect(),
        batch: batches.iter().map(|&at| panel.plan.batch.values[at]).collect(),
        plots: acceptances
            .iter()
            .map(|&acceptance| HeatPlot { title: acceptance_title(panel, acceptance), cells: cells(acceptance) })
            .collect(),
    };
    let hints = [
        crosses_one(panel).then(|| "Thick line: 1x.".to_owned()),
        shown_of(acceptances.len(), panel.plan.block.acceptances(), "acceptances shown"),
        shown_of(batches.len(), panel.plan.batch_length, "batches shown"),
        shown_of(ks.len(), panel.plan.block.k.len(), "draft lengths shown"),
    ];
    let hints = hints.into_iter().flatten().collect();
    chart(panel, title, "Speedup by batch and k", format!("heat-map{part}"), Body::Heat(body), hints)
}

/// Whether some points gain and others lose, so that there is a border.
fn crosses_one(panel: &Panel<'_, '_>) -> bool {
    let gains = |point: Point| point.speedup >= 1.0;
    panel.points().any(gains) && panel.points().any(|point| !gains(point))
}

fn sorted_positions(values: &[u64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..values.len()).collect();
    positions.sort_by_key(|&at| values[at]);
    positions
}

fn spot(x: u64, point: Option<Point>) -> Option<Spot> {
    point.map(|point| Spot { x, y: point.speedup, fits: point.fits, carried: point.carried })
}

fn sorted(mut spots: Vec<Spot>) -> Vec<Spot> {
    spots.sort_by_key(|spot| spot.x);
    spots
}
