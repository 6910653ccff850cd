//! Batch x k heat maps.

use plotters::prelude::{DrawingBackend, PathElement, Rectangle};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, frame, tiles, write};
use crate::report::chart::palette::{FAINT, GRID, INK, diverging, on};
use crate::report::chart::spec::{Heading, Heat, HeatPlot};
use crate::report::number::{compact, times};
use crate::report::pick::spread;
use crate::report::sample::Point;

/// Draws the whole chart.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<DB>,
    scale: f64,
    heading: &Heading,
    heat: &Heat,
) -> Result<(), ChartError> {
    let pen = Pen::new(scale);
    let strips = frame(root, pen, heading)?;
    let reach = reach(heat);
    scale_bar(&strips.side, pen, reach)?;
    for (plot, area) in heat.plots.iter().zip(tiles(&strips.body, heat.plots.len())) {
        let cells = CellGrid::of(&area, pen, heat)?;
        draw_cells(&area, pen, &cells, plot, reach)?;
        draw_contour(&area, pen, &cells, plot)?;
        draw_labels(&area, pen, &cells, heat, plot)?;
    }
    Ok(())
}

/// Beyond this factor colours are full: one extreme cell must not bleach all others.
const MOST_REACH: f64 = 4.0;

/// The factor at which the colours are full: the largest gain or loss, at least 1.25, at most 4.
fn reach(heat: &Heat) -> f64 {
    let points = heat.plots.iter().flat_map(|plot| plot.cells.iter().flatten().flatten());
    points.map(|point| point.speedup.max(1.0 / point.speedup)).fold(1.25, f64::max).min(MOST_REACH)
}

/// Where the cells of a panel lie, in pixels.
struct CellGrid {
    left: i32,
    top: i32,
    width: i32,
    height: i32,
    columns: usize,
    rows: usize,
}

impl CellGrid {
    fn of<DB: DrawingBackend>(area: &Area<DB>, pen: Pen, heat: &Heat) -> Result<Self, ChartError> {
        let (width, height) = area.dim_in_pixel();
        let (width, height) =
            (i32::try_from(width).map_err(ChartError::of)?, i32::try_from(height).map_err(ChartError::of)?);
        let (left, top) = (pen.px(112.0), pen.px(36.0));
        Ok(Self {
            left,
            top,
            width: width - left - pen.px(18.0),
            height: height - top - pen.px(78.0),
            columns: heat.k.len(),
            rows: heat.batch.len(),
        })
    }

    /// The left edge of a column; the right edge of the last is that of one more.
    fn x(&self, column: usize) -> i32 {
        self.left + (self.width as usize * column / self.columns) as i32
    }

    /// The lower edge of a row; rows count upwards.
    fn y(&self, row: usize) -> i32 {
        self.top + self.height - (self.height as usize * row / self.rows) as i32
    }

    fn cell(&self, row: usize, column: usize) -> [(i32, i32); 2] {
        [(self.x(column), self.y(row + 1)), (self.x(column + 1), self.y(row))]
    }
}

fn draw_cells<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: Pen,
    place: &CellGrid,
    plot: &HeatPlot,
    reach: f64,
) -> Result<(), ChartError> {
    let room_for_text =
        place.width / place.columns as i32 > pen.px(58.0) && place.height / place.rows as i32 > pen.px(24.0);
    for (row, cells) in plot.cells.iter().enumerate() {
        for (column, point) in cells.iter().enumerate() {
            let corners = place.cell(row, column);
            let Some(point) = point else {
                area.draw(&Rectangle::new(corners, GRID.filled())).map_err(ChartError::of)?;
                continue;
            };
            let color = diverging(point.speedup, reach);
            area.draw(&Rectangle::new(corners, color.filled())).map_err(ChartError::of)?;
            if !point.fits {
                hatch(area, pen, corners)?;
            }
            if room_for_text {
                let middle = ((corners[0].0 + corners[1].0) / 2, (corners[0].1 + corners[1].1) / 2);
                let text = format!("{}{}", times(point.speedup), if point.carried { "~" } else { "" });
                if !point.fits {
                    let half = (pen.px(34.0), pen.px(14.0));
                    let plate = [(middle.0 - half.0, middle.1 - half.1), (middle.0 + half.0, middle.1 + half.1)];
                    area.draw(&Rectangle::new(plate, color.filled())).map_err(ChartError::of)?;
                }
                write(area, &text, middle, &pen.text(20.0, on(color), HPos::Center, VPos::Center))?;
            }
        }
    }
    Ok(())
}

/// Slanted lines over a cell, where x + y is a multiple of the step: those of neighbours meet.
fn hatch<DB: DrawingBackend>(area: &Area<DB>, pen: Pen, [from, to]: [(i32, i32); 2]) -> Result<(), ChartError> {
    let step = pen.px(14.0).max(1);
    let first = (from.0 + from.1).div_euclid(step) * step + step;
    for sum in (first..to.0 + to.1).step_by(step.unsigned_abs() as usize) {
        let upper = (sum - from.1).min(to.0);
        let lower = (sum - to.1).max(from.0);
        let line = vec![(upper, sum - upper), (lower, sum - lower)];
        area.draw(&PathElement::new(line, pen.stroke(FAINT, 1.0))).map_err(ChartError::of)?;
    }
    Ok(())
}

/// A thick line between cells on either side of 1x.
fn draw_contour<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: Pen,
    place: &CellGrid,
    plot: &HeatPlot,
) -> Result<(), ChartError> {
    let gains = |row: usize, column: usize| -> Option<bool> {
        let point: &Option<Point> = plot.cells.get(row)?.get(column)?;
        point.map(|point| point.speedup >= 1.0)
    };
    let differs = |a: Option<bool>, b: Option<bool>| matches!((a, b), (Some(a), Some(b)) if a != b);
    let edge = |ends: Vec<(i32, i32)>| area.draw(&PathElement::new(ends, pen.stroke(INK, 5.0))).map_err(ChartError::of);
    for row in 0..place.rows {
        for column in 0..place.columns {
            let (x, y) = (place.x(column + 1), place.y(row + 1));
            if differs(gains(row, column), gains(row, column + 1)) {
                edge(vec![(x, place.y(row)), (x, y)])?;
            }
            if differs(gains(row, column), gains(row + 1, column)) {
                edge(vec![(place.x(column), y), (x, y)])?;
            }
        }
    }
    Ok(())
}

fn draw_labels<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: Pen,
    place: &CellGrid,
    heat: &Heat,
    plot: &HeatPlot,
) -> Result<(), ChartError> {
    let frame = [(place.left, place.top), (place.left + place.width, place.top + place.height)];
    area.draw(&Rectangle::new(frame, pen.stroke(FAINT, 1.0))).map_err(ChartError::of)?;
    let middle = place.left + place.width / 2;
    write(area, &plot.title, (middle, pen.px(18.0)), &pen.bold(21.0, INK, HPos::Center, VPos::Center))?;
    let tick = pen.text(19.0, INK, HPos::Center, VPos::Center);
    let below = place.top + place.height;
    let longest = heat.k.iter().map(|&k| compact(k).len()).max().unwrap_or(1);
    for column in every(place.columns, place.width / pen.px(14.0 * longest as f64 + 14.0)) {
        let x = (place.x(column) + place.x(column + 1)) / 2;
        write(area, &compact(heat.k[column]), (x, below + pen.px(18.0)), &tick)?;
    }
    let label = pen.text(20.0, INK, HPos::Center, VPos::Center);
    write(area, "k (draft tokens for each round)", (middle, below + pen.px(50.0)), &label)?;
    let right = pen.text(19.0, INK, HPos::Right, VPos::Center);
    for row in every(place.rows, place.height / pen.px(26.0)) {
        let y = (place.y(row) + place.y(row + 1)) / 2;
        write(area, &compact(heat.batch[row]), (place.left - pen.px(10.0), y), &right)?;
    }
    write(area, "batch", (pen.px(24.0), place.top + place.height / 2), &pen.upright(20.0, INK))
}

/// Indices with room for their labels, both ends among them.
fn every(count: usize, room: i32) -> impl Iterator<Item = usize> {
    let room = usize::try_from(room).unwrap_or(2).max(2);
    spread(count, room as u64).into_iter()
}

/// The scale of colours.
fn scale_bar<DB: DrawingBackend>(side: &Area<DB>, pen: Pen, reach: f64) -> Result<(), ChartError> {
    const STEPS: i32 = 100;
    let (left, top, width, height) = (pen.px(24.0), pen.px(84.0), pen.px(30.0), pen.px(420.0));
    write(side, "speedup", (left, pen.px(58.0)), &pen.bold(20.0, INK, HPos::Left, VPos::Center))?;
    let value = |share: f64| reach.powf(1.0 - 2.0 * share);
    for step in 0..STEPS {
        let corners = [(left, top + height * step / STEPS), (left + width, top + height * (step + 1) / STEPS)];
        let color = diverging(value(f64::from(step) / f64::from(STEPS - 1)), reach);
        side.draw(&Rectangle::new(corners, color.filled())).map_err(ChartError::of)?;
    }
    let border = [(left, top), (left + width, top + height)];
    side.draw(&Rectangle::new(border, pen.stroke(FAINT, 1.0))).map_err(ChartError::of)?;
    for (at, share) in [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().enumerate() {
        let y = top + (f64::from(height) * share) as i32;
        let style = pen.text(19.0, INK, HPos::Left, VPos::Center);
        let beyond = match at {
            0 if reach >= MOST_REACH => "≥ ",
            4 if reach >= MOST_REACH => "≤ ",
            _ => "",
        };
        let text = format!("{beyond}{}", times(value(share)));
        write(side, &text, (left + width + pen.px(10.0), y), &style)?;
    }
    Ok(())
}
