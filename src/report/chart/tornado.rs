//! Bars to both sides of a line: what each input alone does to a figure.

use plotters::element::{PathElement, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::bodies::TornadoPlot;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend};
use crate::report::chart::palette::{self, FAINT, INK};
use crate::report::chart::plot::{Words, axes};
use crate::report::chart::spec::Heading;
use crate::report::number::times;

/// Half the height of a bar, in slots.
const HALF: f64 = 0.32;
/// Colours of the ends.
const LOW: usize = 1;
const HIGH: usize = 0;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    plot: &TornadoPlot,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries = [("at 5 %", LOW), ("at 95 %", HIGH)];
    legend(&strips.side, pen, "draws", &entries.map(|(name, color)| (name.to_owned(), palette::line(color))))?;
    let ends = || plot.bars.iter().flat_map(|bar| [bar.low, bar.high]).chain([plot.centre, 1.0]);
    let (least, most) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    let span = (most - least).max(0.1);
    // Names stand left of the bars, figures at both their ends.
    let (from, to) = (least - 0.42 * span, most + 0.12 * span);
    let count = plot.bars.len();
    let (x, y) = (TickedAxis::between(from, to), TickedAxis::slots(count).without_ticks());
    let chart = axes(&strips.body, pen, Words { title: "", x: &plot.x_label, y: "" }, x, y)?;
    let area = chart.plotting_area();
    let upright = |at: f64| vec![(at, -0.55), (at, count as f64 - 0.45)];
    area.draw(&PathElement::new(upright(1.0), pen.stroke(INK, 2.5))).map_err(ChartError::of)?;
    for (place, bar) in plot.bars.iter().enumerate() {
        // The widest on top.
        let slot = (count - 1 - place) as f64;
        for (end, color) in [(bar.low, LOW), (bar.high, HIGH)] {
            let corners = [(plot.centre, slot - HALF), (end, slot + HALF)];
            area.draw(&Rectangle::new(corners, palette::line(color).filled())).map_err(ChartError::of)?;
        }
        let (left, right) = (bar.low.min(bar.high), bar.low.max(bar.high));
        let figure =
            |at: f64, x: f64, side: HPos| Text::new(times(at), (x, slot), pen.text(18.0, INK, side, VPos::Center));
        let gap = 0.008 * (to - from);
        area.draw(&figure(left, left.min(plot.centre) - gap, HPos::Right)).map_err(ChartError::of)?;
        area.draw(&figure(right, right.max(plot.centre) + gap, HPos::Left)).map_err(ChartError::of)?;
        let name = Text::new(bar.name.clone(), (from + gap, slot), pen.bold(19.0, INK, HPos::Left, VPos::Center));
        area.draw(&name).map_err(ChartError::of)?;
    }
    area.draw(&PathElement::new(upright(plot.centre), pen.stroke(FAINT, 2.0))).map_err(ChartError::of)
}
