//! Charts of lines.

use plotters::element::DashedPathElement;
use plotters::prelude::{Circle, DrawingBackend, PathElement, RGBColor, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, legend, tiles};
use crate::report::chart::palette::{self, FAINT, INK, PAPER};
use crate::report::chart::plot::{Plot, Words, axes};
use crate::report::chart::spec::{Heading, Line, LinePlot, Lines, Spot};

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
    let highest = lines
        .plots
        .iter()
        .flat_map(|plot| &plot.lines)
        .flat_map(|line| &line.spots)
        .map(|spot| spot.y)
        .fold(1.0, f64::max);
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
    let (x, y) = (TickedAxis::through(&lines.xs), TickedAxis::up_to(highest));
    let axis = x.clone();
    let ends = plotters::coord::ranged1d::Ranged::range(&x);
    let words = Words { title: &plot.title, x: &lines.x_label, y: "speedup (x)" };
    let chart = axes(area, pen, words, x, y)?;
    let one = vec![(ends.start, 1.0), (ends.end, 1.0)];
    chart.plotting_area().draw(&PathElement::new(one, pen.stroke(INK, 2.0))).map_err(ChartError::of)?;
    for (name, x) in &lines.marks {
        let at = *x as f64;
        let mark = vec![(at, 0.0), (at, highest)];
        chart.plotting_area().draw(&PathElement::new(mark, pen.stroke(FAINT, 1.5))).map_err(ChartError::of)?;
        // At the far end a name would run into what is beside the plot.
        let side = if 1.5 * at > ends.end { HPos::Right } else { HPos::Left };
        let style = pen.text(17.0, FAINT, side, VPos::Top);
        let name = Text::new(format!(" {name} = {x} "), (at, highest), style);
        chart.plotting_area().draw(&name).map_err(ChartError::of)?;
    }
    for (at, line) in plot.lines.iter().enumerate() {
        draw_line(&chart, pen, line, &axis, palette::line(at))?;
    }
    Ok(())
}

/// A line as it is drawn, in stretches that fit and stretches that do not, cut at the largest x that fits.
/// Where that is not known, a segment with one end of each kind is cut in its middle.
fn stretches(line: &Line, axis: &TickedAxis) -> Vec<(bool, Vec<(f64, f64)>)> {
    let mut stretches: Vec<(bool, Vec<(f64, f64)>)> = Vec::new();
    for (at, spot) in line.spots.iter().enumerate() {
        let here = (spot.x as f64, spot.y);
        match stretches.last_mut() {
            Some((fits, path)) if *fits == spot.fits => path.push(here),
            Some((_, path)) => {
                let cut = cut(&line.spots[at - 1], spot, line.fits_up_to, axis);
                path.push(cut);
                stretches.push((spot.fits, vec![cut, here]));
            }
            None => stretches.push((spot.fits, vec![here])),
        }
    }
    stretches
}

/// Where between two points a line stops to fit, on the straight stroke that joins them.
fn cut(a: &Spot, b: &Spot, fits_up_to: Option<u64>, axis: &TickedAxis) -> (f64, f64) {
    let (from, to) = (axis.position(a.x as f64), axis.position(b.x as f64));
    let known = fits_up_to.map(|x| x as f64).filter(|x| (a.x as f64..b.x as f64).contains(x));
    let share = known.map_or(0.5, |x| (axis.position(x) - from) / (to - from));
    (axis.value(from + share * (to - from)), a.y + share * (b.y - a.y))
}

/// A line is dashed where it does not fit.
fn draw_line<DB: DrawingBackend>(
    chart: &Plot<'_, DB>,
    pen: Pen,
    line: &Line,
    axis: &TickedAxis,
    color: RGBColor,
) -> Result<(), ChartError> {
    let area = chart.plotting_area();
    let style = pen.stroke(color, 3.5);
    for (fits, path) in stretches(line, axis) {
        if fits {
            area.draw(&PathElement::new(path, style)).map_err(ChartError::of)?;
        } else {
            let (dash, gap) = (pen.px(12.0), pen.px(9.0));
            area.draw(&DashedPathElement::new(path, dash, gap, style)).map_err(ChartError::of)?;
        }
    }
    // Marks on a long line would hide it.
    if line.spots.len() <= 20 {
        for spot in &line.spots {
            let at = (spot.x as f64, spot.y);
            if spot.carried {
                area.draw(&Circle::new(at, pen.px(7.0), PAPER.filled())).map_err(ChartError::of)?;
                area.draw(&Circle::new(at, pen.px(7.0), pen.stroke(color, 2.5))).map_err(ChartError::of)?;
            } else {
                area.draw(&Circle::new(at, pen.px(7.0), color.filled())).map_err(ChartError::of)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(fits: &[bool], fits_up_to: Option<u64>) -> Line {
        let spot = |(at, &fits): (usize, &bool)| Spot { x: at as u64 * 10, y: at as f64, fits, carried: false };
        Line { spots: fits.iter().enumerate().map(spot).collect(), fits_up_to }
    }

    fn cuts(line: &Line) -> Vec<(bool, f64, f64)> {
        let axis = TickedAxis::through(&[0, 40]);
        let ends = |(fits, path): (bool, Vec<(f64, f64)>)| (fits, path[0].0.round(), path[path.len() - 1].0.round());
        stretches(line, &axis).into_iter().map(ends).collect()
    }

    #[test]
    fn a_line_is_cut_at_the_largest_x_that_fits() {
        assert_eq!(cuts(&line(&[true, true, false], Some(17))), [(true, 0.0, 17.0), (false, 17.0, 20.0)]);
        assert_eq!(cuts(&line(&[true, false], None)), [(true, 0.0, 5.0), (false, 5.0, 10.0)]);
        assert_eq!(cuts(&line(&[true, true], Some(10))), [(true, 0.0, 10.0)]);
        assert_eq!(cuts(&line(&[false], Some(0))), [(false, 0.0, 0.0)]);
        assert_eq!(cuts(&line(&[], None)), []);
    }
}
