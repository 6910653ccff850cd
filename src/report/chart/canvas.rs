//! Where charts are drawn: a bitmap at twice the size, halved, or SVG.

use std::sync::Once;

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::prelude::{BitMapBackend, FontStyle, SVGBackend};
use plotters::style::register_font;

use crate::report::chart::palette::PAPER;

/// Size of a chart in pixels.
pub(super) const SIZE: (u32, u32) = (1600, 1000);
/// The bitmap is drawn this much larger and averaged: shallow lines then show no steps.
const OVERSAMPLING: u32 = 2;
/// The name under which the embedded font is known.
pub(super) const FONT: &str = "sans-serif";

/// A part of the canvas.
pub(super) type Area<DB> = DrawingArea<DB, Shift>;

/// The drawing library refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw a chart: {0}")]
pub struct ChartError(String);

impl ChartError {
    pub(super) fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// DejaVu Sans for every text; the drawing library keeps fonts in a table of its own, filled once.
fn register() {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        for (style, bytes) in [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())] {
            // A font that cannot be parsed would show as an error at the first text.
            let _ = register_font(FONT, style, bytes);
        }
    });
}

/// Draws into a PNG. `draw` gets the canvas and the factor by which to scale sizes.
pub(super) fn png(
    draw: impl FnOnce(&Area<BitMapBackend<'_>>, f64) -> Result<(), ChartError>,
) -> Result<Vec<u8>, ChartError> {
    register();
    let (width, height) = (SIZE.0 * OVERSAMPLING, SIZE.1 * OVERSAMPLING);
    let mut large = vec![0; (width * height * 3) as usize];
    {
        let root = BitMapBackend::with_buffer(&mut large, (width, height)).into_drawing_area();
        root.fill(&PAPER).map_err(ChartError::of)?;
        draw(&root, f64::from(OVERSAMPLING))?;
        root.present().map_err(ChartError::of)?;
    }
    encode(&halved(&large, width as usize))
}

/// The mean of each square of four pixels.
fn halved(large: &[u8], width: usize) -> Vec<u8> {
    let mut small = Vec::with_capacity(large.len() / 4);
    let stride = width * 3;
    for rows in large.chunks_exact(stride * 2) {
        let (upper, lower) = rows.split_at(stride);
        for (a, b) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            for channel in 0..3 {
                let four = [a[channel], a[channel + 3], b[channel], b[channel + 3]];
                let sum: u16 = four.into_iter().map(u16::from).sum();
                small.push(((sum + 2) / 4) as u8);
            }
        }
    }
    small
}

fn encode(pixels: &[u8]) -> Result<Vec<u8>, ChartError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let mut writer = encoder.write_header().map_err(ChartError::of)?;
    writer.write_image_data(pixels).map_err(ChartError::of)?;
    writer.finish().map_err(ChartError::of)?;
    Ok(bytes)
}

/// Draws into an SVG.
pub(super) fn svg(
    draw: impl FnOnce(&Area<SVGBackend<'_>>, f64) -> Result<(), ChartError>,
) -> Result<Vec<u8>, ChartError> {
    register();
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&PAPER).map_err(ChartError::of)?;
        draw(&root, 1.0)?;
        root.present().map_err(ChartError::of)?;
    }
    Ok(text.into_bytes())
}
