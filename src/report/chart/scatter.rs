//! Points of several kinds, and lines that guide the eye.

use plotters::prelude::{Circle, DrawingBackend, PathElement, RGBColor};
use plotters::style::Color;

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::bodies::Scatter;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend};
use crate::report::chart::palette::{self, FAINT, INK};
use crate::report::chart::plot::{Words, axes};
use crate::report::chart::spec::Heading;

/// How much of what lies below a point shows through it.
const OPACITY: f64 = 0.6;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    plot: &Scatter,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries: Vec<(String, RGBColor)> =
        plot.kinds.iter().map(|kind| (kind.name.clone(), palette::line(kind.color))).collect();
    legend(&strips.side, pen, &plot.legend, &entries)?;
    let (x, y) = (TickedAxis::of(plot.x_scale, plot.x), TickedAxis::of(plot.y_scale, plot.y));
    let chart = axes(&strips.body, pen, Words { title: "", x: &plot.x_label, y: &plot.y_label }, x, y)?;
    let area = chart.plotting_area();
    for guide in &plot.guides {
        let style = match guide.color {
            Some(color) => pen.stroke(palette::line(color), 2.0),
            None if guide.strong => pen.stroke(INK, 2.0),
            None => pen.stroke(FAINT, 1.0),
        };
        area.draw(&PathElement::new(vec![guide.from, guide.to], style)).map_err(ChartError::of)?;
    }
    for kind in &plot.kinds {
        for point in &kind.points {
            let mark = Circle::new(*point, pen.px(5.5), palette::line(kind.color).mix(OPACITY).filled());
            area.draw(&mark).map_err(ChartError::of)?;
        }
    }
    Ok(())
}
