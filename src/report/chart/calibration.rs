//! What the chart of a calibration shows: how far off each point is, as priced and with the profile.

use crate::evidence::fitted::{Fitted, Used};
use crate::evidence::sample::Seen;
use crate::report::calibration::headline;
use crate::report::chart::bodies::{Guide, Kind, Scale, Scatter};
use crate::report::chart::spec::{Body, Chart, Heading};

/// Errors beyond this are drawn at the edge: a few would flatten all others.
const EDGE: f64 = 100.0;
/// Guides around the exact line.
const BAND: f64 = 5.0;

/// The chart.
#[must_use]
pub fn chart(found: &Fitted, title: &str, trust: &[String]) -> Chart {
    let heading = Heading {
        title: format!("Calibration: {title}"),
        subtitle: headline(found),
        caption: format!(
            "Plain steps and rounds as priced, and (new) with the profile; light lines: {BAND} % off.{}",
            split(found)
        ),
        trust: trust.to_vec(),
    };
    Chart { part: "points".to_owned(), heading, body: Body::Scatter(by_batch(&found.used)) }
}

fn split(found: &Fitted) -> String {
    found.regime.as_ref().map_or_else(String::new, |regime| {
        format!(
            " Fitted {} the change of course {}.",
            found.side,
            regime.along.between(regime.last_below.round(), regime.first_above.round())
        )
    })
}

fn by_batch(used: &[Used]) -> Scatter {
    let off = |error: f64| (error * 100.0).clamp(-EDGE, EDGE);
    let is_plain = |used: &Used| matches!(used.sample.seen, Seen::Step(_));
    // With the profile only what it was fitted to is drawn.
    let kind = |name: &str, color: usize, plain: bool, error: fn(&Used) -> Option<f64>| Kind {
        name: name.to_owned(),
        color,
        points: used
            .iter()
            .filter(|used| is_plain(used) == plain)
            .filter_map(|used| Some((used.point.batch, off(error(used)?))))
            .collect(),
    };
    let kinds = [
        kind("plain", 2, true, |used| Some(used.residual.before)),
        kind("rounds", 3, false, |used| Some(used.residual.before)),
        kind("plain, new", 0, true, |used| used.is_fitted.then_some(used.residual.after)),
        kind("rounds, new", 1, false, |used| used.is_fitted.then_some(used.residual.after)),
    ];
    let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| !kind.points.is_empty()).collect();
    let batches = || used.iter().map(|used| used.point.batch);
    let x = (batches().fold(f64::INFINITY, f64::min) / 1.3, batches().fold(0.0, f64::max) * 1.3);
    let most = kinds.iter().flat_map(|kind| &kind.points).map(|(_, error)| error.abs()).fold(2.0 * BAND, f64::max);
    let (reach, level) =
        (most * 1.08, |y: f64, strong: bool| Guide { from: (x.0, y), to: (x.1, y), strong, color: None });
    Scatter {
        x_label: "batch".to_owned(),
        y_label: "% longer or shorter than measured".to_owned(),
        x,
        y: (-reach, reach),
        x_scale: Scale::Powers,
        y_scale: Scale::Even,
        legend: "points".to_owned(),
        kinds,
        guides: vec![level(BAND, false), level(-BAND, false), level(0.0, true)],
    }
}
