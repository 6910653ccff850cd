//! The roofline chart: passes and their operators under the device's two limits.

use plotters::prelude::{Circle, DrawingBackend, PathElement, RGBColor};
use plotters::style::Color;

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::bodies::RooflinePlot;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend};
use crate::report::chart::palette::{self, INK};
use crate::report::chart::plot::{Words, axes};
use crate::report::chart::spec::Heading;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    plot: &RooflinePlot,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries: Vec<(String, RGBColor)> =
        plot.passes.iter().enumerate().map(|(at, pass)| (pass.name.clone(), palette::line(at))).collect();
    legend(&strips.side, pen, "passes", &entries)?;
    let ridge = plot.peak / plot.bandwidth;
    let all = || plot.passes.iter().flat_map(|pass| std::iter::once(&pass.whole).chain(&pass.operators));
    let least = all().map(|spot| spot.intensity).fold(ridge, f64::min) / 1.5;
    let most = all().map(|spot| spot.intensity).fold(ridge, f64::max) * 3.0;
    let lowest = all().map(|spot| spot.rate).fold(plot.peak, f64::min).min(least * plot.bandwidth) / 1.2;
    let (x, y) = (TickedAxis::log(least, most), TickedAxis::log(lowest, plot.peak * 1.6));
    let words = Words { title: "", x: "arithmetic intensity (FLOP per byte)", y: "attained (TFLOP/s)" };
    let chart = axes(&strips.body, pen, words, x, y)?;
    let area = chart.plotting_area();
    let roof = vec![(least, least * plot.bandwidth), (ridge, plot.peak), (most, plot.peak)];
    area.draw(&PathElement::new(roof, pen.stroke(INK, 2.5))).map_err(ChartError::of)?;
    for (at, pass) in plot.passes.iter().enumerate() {
        let color = palette::line(at);
        // Rings of different passes at one place stay visible around each other.
        let radius = pen.px(5.0 + 4.0 * at as f64);
        for spot in &pass.operators {
            let mark = Circle::new((spot.intensity, spot.rate), radius, pen.stroke(color, 2.0));
            area.draw(&mark).map_err(ChartError::of)?;
        }
        // Later passes are smaller, so that none hides another.
        let size = pen.px((14.0 - 4.0 * at as f64).max(5.0));
        let mark = Circle::new((pass.whole.intensity, pass.whole.rate), size, color.filled());
        area.draw(&mark).map_err(ChartError::of)?;
    }
    Ok(())
}
