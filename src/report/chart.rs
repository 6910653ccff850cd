//! Charts for capacity reviews: speedup against batch, speedup against k, and a batch x k heat map; for
//! simulations bars, for an explained point its roofline and its round.
//!
//! [`spec`] and [`study`] turn results into descriptions of charts, plain values; the rest draws them, as PNG or
//! SVG, with an embedded font, so that no system library takes part.

pub mod bodies;
pub mod calibration;
pub mod draft_tree;
pub mod over_time;
pub mod plan;
pub mod point;
pub mod spec;
pub mod study;
pub mod validation;

mod axis;
mod bars;
mod canvas;
mod frame;
mod heat;
mod lines;
mod palette;
mod plot;
mod roofline;
mod scatter;
mod stack;
mod tornado;
pub mod traffic;
mod tree;

pub use canvas::ChartError;

use crate::report::sample::Sample;

/// How a chart is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Bitmap, 1600 x 1000.
    Png,
    /// Vector.
    Svg,
}

/// A chart ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The end of its file's name: part and form.
    pub ending: String,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Draws every chart of a sample.
///
/// # Errors
///
/// [`ChartError`] if the drawing library refuses; no input is known to make it.
pub fn charts(sample: &Sample<'_, '_>, title: &str, form: Form) -> Result<Vec<Drawn>, ChartError> {
    spec::charts(sample, title).iter().map(|chart| drawn(chart, form)).collect()
}

/// Draws one chart.
///
/// # Errors
///
/// [`ChartError`] if the drawing library refuses; no input is known to make it.
pub fn drawn(chart: &spec::Chart, form: Form) -> Result<Drawn, ChartError> {
    let (bytes, ending) = match form {
        Form::Png => (canvas::png(|root, scale| draw(root, scale, chart))?, "png"),
        Form::Svg => (canvas::svg(|root, scale| draw(root, scale, chart))?, "svg"),
    };
    Ok(Drawn { ending: format!("{}.{ending}", chart.part), bytes })
}

/// What to tell about panels without charts, if there are any.
#[must_use]
pub fn coverage(sample: &Sample<'_, '_>) -> Option<String> {
    let all = sample.panels.len() as u64 + sample.omitted_panels;
    match spec::charted(sample).len() as u64 {
        0 => Some("no charts: they show what a drafter gains, where it fits".to_owned()),
        charted if charted < all => Some(format!(
            "charts show {charted} of {all} combinations of hardware, target, devices, engine, drafter and context"
        )),
        _ => None,
    }
}

fn draw<DB: plotters::prelude::DrawingBackend>(
    root: &canvas::Area<DB>,
    scale: f64,
    chart: &spec::Chart,
) -> Result<(), ChartError> {
    match &chart.body {
        spec::Body::Lines(body) => lines::draw(root, scale, &chart.heading, body),
        spec::Body::Heat(body) => heat::draw(root, scale, &chart.heading, body),
        spec::Body::Roofline(body) => roofline::draw(root, scale, &chart.heading, body),
        spec::Body::Stacks(body) => stack::draw(root, scale, &chart.heading, body),
        spec::Body::Scatter(body) => scatter::draw(root, scale, &chart.heading, body),
        spec::Body::Tree(body) => tree::draw(root, scale, &chart.heading, body),
        spec::Body::Tornado(body) => tornado::draw(root, scale, &chart.heading, body),
        spec::Body::Bars(body) => bars::draw(root, scale, &chart.heading, body),
    }
}
