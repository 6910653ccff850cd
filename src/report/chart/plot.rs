//! One plot: its title, axes and grid.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::DrawingBackend;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use crate::report::chart::axis::TickedAxis;
use crate::report::chart::canvas::{Area, ChartError};
use crate::report::chart::frame::{Pen, write};
use crate::report::chart::palette::{FAINT, GRID, INK};

/// A plot that marks are drawn on.
pub(super) type Plot<'a, DB> = ChartContext<'a, DB, Cartesian2d<TickedAxis, TickedAxis>>;

/// What stands at its sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    /// Above it.
    pub(super) title: &'a str,
    /// Below it.
    pub(super) x: &'a str,
    /// Left of it.
    pub(super) y: &'a str,
}

/// Draws title, axes and grid.
pub(super) fn axes<'a, DB: DrawingBackend + 'a>(
    area: &Area<DB>,
    pen: Pen,
    words: Words<'_>,
    x: TickedAxis,
    y: TickedAxis,
) -> Result<Plot<'a, DB>, ChartError> {
    let (width, height) = area.dim_in_pixel();
    let middle = pen.px(45.0) + i32::try_from(width).map_err(ChartError::of)? / 2;
    let centre = i32::try_from(height).map_err(ChartError::of)? / 2 - pen.px(15.0);
    write(area, words.y, (pen.px(24.0), centre), &pen.upright(20.0, INK))?;
    write(area, words.title, (middle, pen.px(18.0)), &pen.bold(21.0, INK, HPos::Center, VPos::Center))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(pen.px(36.0))
        .margin_right(pen.px(22.0))
        .margin_bottom(pen.px(16.0))
        .x_label_area_size(pen.px(58.0))
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
        .x_desc(words.x)
        .draw()
        .map_err(ChartError::of)?;
    Ok(chart)
}
