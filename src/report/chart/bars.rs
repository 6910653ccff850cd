//! Charts of bars, several beside each other at every x.

use plotters::element::Rectangle;
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::Color;

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::bodies::{BarPlot, Bars};
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend, tiles};
use crate::report::chart::palette;
use crate::report::chart::plot::{Words, axes};
use crate::report::chart::spec::Heading;

/// The part of a slot that bars fill.
const FILLED: f64 = 0.8;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    bars: &Bars,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries: Vec<(String, RGBColor)> =
        bars.names.iter().enumerate().map(|(at, name)| (name.clone(), palette::line(at))).collect();
    legend(&strips.side, pen, &bars.legend, &entries)?;
    // One scale for all, so that plots can be compared.
    let highest = bars.plots.iter().flat_map(|plot| &plot.groups).flatten().copied().fold(0.0, f64::max);
    for (plot, area) in bars.plots.iter().zip(tiles(&strips.body, bars.plots.len())) {
        draw_plot(&area, pen, bars, plot, highest * 1.1)?;
    }
    Ok(())
}

fn draw_plot<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: Pen,
    bars: &Bars,
    plot: &BarPlot,
    highest: f64,
) -> Result<(), ChartError> {
    let (x, y) = (TickedAxis::slots(plot.groups.len()), TickedAxis::up_to(highest));
    let words = Words { title: &plot.title, x: &bars.x_label, y: &bars.y_label };
    let chart = axes(area, pen, words, x, y)?;
    for (slot, group) in plot.groups.iter().enumerate() {
        let width = FILLED / group.len() as f64;
        for (at, height) in group.iter().enumerate() {
            let left = slot as f64 - FILLED / 2.0 + at as f64 * width;
            let corners = [(left, 0.0), (left + width * 0.94, *height)];
            let bar = Rectangle::new(corners, palette::line(at).filled());
            chart.plotting_area().draw(&bar).map_err(ChartError::of)?;
        }
    }
    Ok(())
}
