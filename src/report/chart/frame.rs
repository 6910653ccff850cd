//! Title, subtitle, caption and legend: everything around the panels.

use plotters::prelude::{
    Circle, DrawingBackend, FontStyle, FontTransform, IntoFont, PathElement, RGBColor, ShapeStyle, Text, TextStyle,
};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::chart::canvas::{Area, ChartError, FONT};
use crate::report::chart::palette::{FAINT, INK};
use crate::report::chart::spec::Heading;

/// Sizes in pixels of a 1600 x 1000 chart, times a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    scale: f64,
}

impl Pen {
    pub(super) const fn new(scale: f64) -> Self {
        Self { scale }
    }

    /// A length in pixels of the canvas.
    pub(super) fn px(self, length: f64) -> i32 {
        (length * self.scale).round() as i32
    }

    /// A stroke.
    pub(super) fn stroke(self, color: RGBColor, width: f64) -> ShapeStyle {
        color.stroke_width(self.px(width).max(1).unsigned_abs())
    }

    /// A text style anchored at a corner or side.
    pub(super) fn text(self, size: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
        (FONT, self.px(size)).into_font().color(&color).pos(Pos::new(h, v))
    }

    /// The same in bold.
    pub(super) fn bold(self, size: f64, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
        (FONT, self.px(size), FontStyle::Bold).into_font().color(&color).pos(Pos::new(h, v))
    }

    /// A text that reads upwards.
    pub(super) fn upright(self, size: f64, color: RGBColor) -> TextStyle<'static> {
        let font = (FONT, self.px(size)).into_font().transform(FontTransform::Rotate270);
        font.color(&color).pos(Pos::new(HPos::Center, VPos::Center))
    }
}

const MARGIN: f64 = 36.0;
const HEAD: f64 = 112.0;
const FOOT: f64 = 108.0;
/// Width of the strip on the right that holds legend or scale.
const SIDE: f64 = 190.0;

/// The strips of a canvas.
pub(super) struct Strips<DB: DrawingBackend> {
    pub(super) body: Area<DB>,
    pub(super) side: Area<DB>,
}

/// Draws head and foot; returns where panels and legend go.
pub(super) fn frame<DB: DrawingBackend>(
    root: &Area<DB>,
    pen: Pen,
    heading: &Heading,
) -> Result<Strips<DB>, ChartError> {
    let (width, height) = root.dim_in_pixel();
    let (width, height) =
        (i32::try_from(width).map_err(ChartError::of)?, i32::try_from(height).map_err(ChartError::of)?);
    let left = pen.px(MARGIN);
    let room = width - 2 * left;
    let title = pen.bold(30.0, INK, HPos::Left, VPos::Top);
    let subtitle = pen.text(21.0, FAINT, HPos::Left, VPos::Top);
    let caption = pen.text(19.0, FAINT, HPos::Left, VPos::Center);
    write(root, &fitted(root, &heading.title, &title, room)?, (left, pen.px(26.0)), &title)?;
    write(root, &fitted(root, &heading.subtitle, &subtitle, room)?, (left, pen.px(70.0)), &subtitle)?;
    write(root, &fitted(root, &heading.caption, &caption, room)?, (left, height - pen.px(82.0)), &caption)?;
    let small = pen.text(16.0, FAINT, HPos::Left, VPos::Center);
    for (line, up) in heading.trust.iter().zip([50.0, 24.0]) {
        write(root, &fitted(root, line, &small, room)?, (left, height - pen.px(up)), &small)?;
    }
    let (_, below) = root.split_vertically(pen.px(HEAD));
    let (middle, _) = below.split_vertically(height - pen.px(HEAD + FOOT));
    let (body, side) = middle.split_horizontally(width - pen.px(SIDE));
    Ok(Strips { body, side })
}

/// Writes a text.
pub(super) fn write<DB: DrawingBackend>(
    area: &Area<DB>,
    text: &str,
    at: (i32, i32),
    style: &TextStyle<'static>,
) -> Result<(), ChartError> {
    area.draw(&Text::new(text.to_owned(), at, style.clone())).map_err(ChartError::of)
}

/// A text cut to a width, with an ellipsis where something is missing.
pub(super) fn fitted<DB: DrawingBackend>(
    area: &Area<DB>,
    text: &str,
    style: &TextStyle<'static>,
    room: i32,
) -> Result<String, ChartError> {
    let width =
        |text: &str| area.estimate_text_size(text, style).map(|(width, _)| i64::from(width)).map_err(ChartError::of);
    if width(text)? <= i64::from(room) {
        return Ok(text.to_owned());
    }
    let characters: Vec<char> = text.chars().take(400).collect();
    for length in (1..characters.len()).rev() {
        let cut: String = characters[..length].iter().chain(&['…']).collect();
        if width(&cut)? <= i64::from(room) {
            return Ok(cut);
        }
    }
    Ok("…".to_owned())
}

/// Draws a legend of lines with round marks.
pub(super) fn legend<DB: DrawingBackend>(
    side: &Area<DB>,
    pen: Pen,
    title: &str,
    entries: &[(String, RGBColor)],
) -> Result<(), ChartError> {
    let left = pen.px(14.0);
    let mut y = pen.px(58.0);
    write(side, title, (left, y), &pen.bold(20.0, INK, HPos::Left, VPos::Center))?;
    for (name, color) in entries {
        y += pen.px(36.0);
        let middle = left + pen.px(20.0);
        let line = vec![(left, y), (left + pen.px(40.0), y)];
        side.draw(&PathElement::new(line, pen.stroke(*color, 3.5))).map_err(ChartError::of)?;
        side.draw(&Circle::new((middle, y), pen.px(6.0), color.filled())).map_err(ChartError::of)?;
        let (x, room) = (left + pen.px(50.0), pen.px(SIDE - 14.0 - 50.0 - 6.0));
        let style = pen.text(20.0, INK, HPos::Left, VPos::Center);
        let whole = fitted(side, name, &style, room)?;
        match name.split_once(' ').filter(|_| whole != *name) {
            None => write(side, &whole, (x, y), &style)?,
            // A long name has two lines.
            Some(parts) => {
                let style = pen.text(15.0, INK, HPos::Left, VPos::Center);
                for (part, up) in [(parts.0, 9.0), (parts.1, -9.0)] {
                    write(side, &fitted(side, part, &style, room)?, (x, y - pen.px(up)), &style)?;
                }
            }
        }
    }
    Ok(())
}

/// Where panels go: one, two side by side, or two by two.
pub(super) fn tiles<DB: DrawingBackend>(body: &Area<DB>, panels: usize) -> Vec<Area<DB>> {
    match panels {
        1 => vec![body.clone()],
        2 => body.split_evenly((1, 2)),
        _ => body.split_evenly((2, 2)),
    }
}
