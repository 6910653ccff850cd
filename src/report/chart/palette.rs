//! Colours that colour-blind readers tell apart.

use plotters::style::{BLACK, RGBColor, WHITE};

/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
/// Second-rank text.
pub(super) const FAINT: RGBColor = RGBColor(95, 95, 95);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);
/// The paper.
pub(super) const PAPER: RGBColor = WHITE;

/// Lines: Okabe and Ito's colours ("Color Universal Design", 2008), without the yellow that paper
/// swallows, black last.
const LINES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    BLACK,
];

/// The colour of a line by its position.
pub(super) fn line(position: usize) -> RGBColor {
    LINES[position % LINES.len()]
}

/// A diverging scale around 1x: orange below, blue above, white at 1; `reach` is the factor, above 1,
/// at which the scale is full on either side. Steps are equal in the logarithm: 2x and 0.5x are as far
/// from 1x.
pub(super) fn diverging(speedup: f64, reach: f64) -> RGBColor {
    const LOSS: [f64; 3] = [201.0, 88.0, 0.0];
    const GAIN: [f64; 3] = [0.0, 90.0, 156.0];
    let strength = (speedup.ln() / reach.ln()).clamp(-1.0, 1.0);
    let end = if strength < 0.0 { LOSS } else { GAIN };
    let mix = |channel: usize| (255.0 + (end[channel] - 255.0) * strength.abs()).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// Black or white, whichever reads better on a colour (Rec. 601 luma).
pub(super) fn on(RGBColor(r, g, b): RGBColor) -> RGBColor {
    let luma = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if luma > 140.0 { INK } else { PAPER }
}
