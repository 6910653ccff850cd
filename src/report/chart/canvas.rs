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
/// Pixels looked at together when the bitmap is averaged; even.
const RUN: usize = 64;
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
    let mut large = paper((width * height) as usize);
    {
        let root = BitMapBackend::with_buffer(&mut large, (width, height)).into_drawing_area();
        draw(&root, f64::from(OVERSAMPLING))?;
        root.present().map_err(ChartError::of)?;
    }
    encode(&halved(&large, width as usize))
}

/// So many pixels of bare paper.
fn paper(pixels: usize) -> Vec<u8> {
    [PAPER.0, PAPER.1, PAPER.2].repeat(pixels)
}

/// The mean of each square of four pixels. Most of a chart is bare, and is passed over a run of pixels at a time.
fn halved(large: &[u8], width: usize) -> Vec<u8> {
    let bare = paper(RUN);
    let mut small = paper(large.len() / (3 * 4));
    let (stride, run) = (width * 3, RUN * 3);
    for (rows, means) in large.chunks_exact(stride * 2).zip(small.chunks_exact_mut(stride / 2)) {
        let (upper, lower) = rows.split_at(stride);
        let runs = upper.chunks(run).zip(lower.chunks(run));
        for ((upper, lower), means) in runs.zip(means.chunks_mut(run / 2)) {
            if upper != bare || lower != bare {
                average(upper, lower, means);
            }
        }
    }
    small
}

fn average(upper: &[u8], lower: &[u8], means: &mut [u8]) {
    for ((a, b), mean) in upper.chunks_exact(6).zip(lower.chunks_exact(6)).zip(means.chunks_exact_mut(3)) {
        for channel in 0..3 {
            let four = [a[channel], a[channel + 3], b[channel], b[channel + 3]];
            let sum: u16 = four.into_iter().map(u16::from).sum();
            mean[channel] = ((sum + 2) / 4) as u8;
        }
    }
}

fn encode(pixels: &[u8]) -> Result<Vec<u8>, ChartError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_deflate_compression(png::DeflateCompression::Level(1));
    encoder.set_filter(png::Filter::Up);
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
