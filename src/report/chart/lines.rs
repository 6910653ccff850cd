//! Charts of lines.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::DashedPathElement;
use plotters::prelude::{Circle, DrawingBackend, PathElement, RGBColor};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend, tiles, write};
use crate::report::chart::palette::{self, FAINT, GRID, INK};
use crate::report::chart::spec::{Heading, LinePlot, Lines, Spot};

type Plot<'a, DB> = ChartContext<'a, DB, Cartesian2d<TickedAxis, TickedAxis>>;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    lines: &Lines,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let entries: Vec<(String, RGBColor)> =
        lines.names.iter().enumerate().map(|(at, name)| (name.clone(), palette::line(at))).collect();
    legend(&strips.side, pen, &lines.legend, &entries)?;
    let highest =
        lines.plots.iter().flat_map(|plot| plot.lines.iter().flatten()).map(|spot| spot.y).fold(1.0, f64::max);
    for (plot, area) in lines.plots.iter().zip(tiles(&strips.body, lines.plots.len())) {
        draw_plot(&area, pen, lines, plot, highest * 1.1)?;
    }
    Ok(())
}

fn draw_plot<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: Pen,
    lines: &Lines,
    plot: &LinePlot,
    highest: f64,
) -> Result<(), ChartError> {
    let (width, height) = area.dim_in_pixel();
    let middle = pen.px(45.0) + i32::try_from(width).map_err(ChartError::of)? / 2;
    let centre = i32::try_from(height).map_err(ChartError::of)? / 2 - pen.px(15.0);
    write(area, "speedup (x)", (pen.px(24.0), centre), &pen.upright(20.0, INK))?;
    write(area, &plot.title, (middle, pen.px(18.0)), &pen.bold(21.0, INK, HPos::Center, VPos::Center))?;
    let (x, y) = (TickedAxis::through(&lines.xs), TickedAxis::up_to(highest));
    let ends = plotters::coord::ranged1d::Ranged::range(&x);
    let mut chart = ChartBuilder::on(area)
        .margin_top(pen.px(36.0))
        .margin_right(pen.px(22.0))
        .x_label_area_size(pen.px(66.0))
        .y_label_area_size(pen.px(90.0))
        .build_cartesian_2d(x, y)
        .map_err(ChartError::of)?;
    chart
        .configure_mesh()
        .bold_line_style(pen.stroke(GRID, 1.0))
        .light_line_style(GRID.mix(0.0))
        .axis_style(pen.stroke(FAINT, 1.0))
        .label_style(pen.text(19.0, INK, HPos::Center, VPos::Center))
        .axis_desc_style(pen.text(20.0, INK, HPos::Center, VPos::Center))
        .x_desc(lines.x_label.clone())
        .draw()
        .map_err(ChartError::of)?;
    let one = vec![(ends.start, 1.0), (ends.end, 1.0)];
    chart.plotting_area().draw(&PathElement::new(one, pen.stroke(INK, 2.0))).map_err(ChartError::of)?;
    for (at, line) in plot.lines.iter().enumerate() {
        draw_line(&chart, pen, line, palette::line(at))?;
    }
    Ok(())
}

/// Cuts a line where it starts or stops to fit. A segment with an end that does not fit belongs to the
/// part that does not; neighbouring parts share the spot between them.
fn runs(line: &[Spot]) -> Vec<&[Spot]> {
    let solid = |at: usize| line[at].fits && line[at + 1].fits;
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 1..line.len() {
        if end + 1 == line.len() || solid(end) != solid(end - 1) {
            runs.push(&line[start..=end]);
            start = end;
        }
    }
    runs
}

/// A segment is dashed where either end does not fit.
fn draw_line<DB: DrawingBackend>(
    chart: &Plot<'_, DB>,
    pen: Pen,
    line: &[Spot],
    color: RGBColor,
) -> Result<(), ChartError> {
    let area = chart.plotting_area();
    let style = pen.stroke(color, 3.5);
    for run in runs(line) {
        let fits = run.iter().all(|spot| spot.fits);
        let path: Vec<(f64, f64)> = run.iter().map(|spot| (spot.x as f64, spot.y)).collect();
        if fits {
            area.draw(&PathElement::new(path, style)).map_err(ChartError::of)?;
        } else {
            let (dash, gap) = (pen.px(12.0), pen.px(9.0));
            area.draw(&DashedPathElement::new(path, dash, gap, style)).map_err(ChartError::of)?;
        }
    }
    // Marks on a long line would hide it.
    if line.len() <= 20 {
        for spot in line {
            let at = (spot.x as f64, spot.y);
            area.draw(&Circle::new(at, pen.px(7.0), color.filled())).map_err(ChartError::of)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_stops_to_fit() {
        let line = |fits: &[bool]| -> Vec<Spot> {
            fits.iter().enumerate().map(|(at, &fits)| Spot { x: at as u64, y: 1.0, fits }).collect()
        };
        let cuts = |fits: &[bool]| -> Vec<(u64, u64)> {
            let line = line(fits);
            runs(&line).iter().map(|run| (run[0].x, run[run.len() - 1].x)).collect()
        };
        assert_eq!(cuts(&[true, true, true, false, false]), [(0, 2), (2, 4)]);
        assert_eq!(cuts(&[true, false, true, true]), [(0, 2), (2, 3)]);
        assert_eq!(cuts(&[true, true]), [(0, 1)]);
        assert_eq!(cuts(&[true]), []);
        assert_eq!(cuts(&[]), []);
    }
}
