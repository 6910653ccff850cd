//! Bars made of parts, each under its own name.

use plotters::element::{Rectangle, Text};
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::bodies::Stacks;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend};
use crate::report::chart::palette::{self, INK};
use crate::report::chart::plot::{Words, axes};
use crate::report::chart::spec::Heading;

/// Half the width of a bar, in slots.
const HALF: f64 = 0.3;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    stacks: &Stacks,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries: Vec<(String, RGBColor)> =
        stacks.names.iter().enumerate().map(|(at, name)| (name.clone(), palette::line(at))).collect();
    legend(&strips.side, pen, "parts", &entries)?;
    let highest = stacks.bars.iter().map(|bar| bar.parts.iter().sum::<f64>()).fold(0.0, f64::max);
    let (x, y) = (TickedAxis::slots(stacks.bars.len()).without_ticks(), TickedAxis::up_to(highest * 1.15));
    let chart = axes(&strips.body, pen, Words { title: "", x: "", y: &stacks.y_label }, x, y)?;
    for (slot, bar) in stacks.bars.iter().enumerate() {
        let (centre, mut from) = (slot as f64, 0.0);
        for (at, part) in bar.parts.iter().enumerate() {
            let corners = [(centre - HALF, from), (centre + HALF, from + part)];
            from += part;
            let piece = Rectangle::new(corners, palette::line(at).filled());
            chart.plotting_area().draw(&piece).map_err(ChartError::of)?;
        }
        let label = Text::new(
            bar.label.clone(),
            (centre, from + highest * 0.03),
            pen.bold(21.0, INK, HPos::Center, VPos::Bottom),
        );
        chart.plotting_area().draw(&label).map_err(ChartError::of)?;
    }
    Ok(())
}
