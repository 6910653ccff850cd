//! What the charts of a validation show: predicted against measured, and errors by batch.

use crate::evidence::validation::{Row, Validation};
use crate::report::chart::bodies::{Guide, Kind, Scale, Scatter};
use crate::report::chart::spec::{Body, Chart, Heading};
use crate::report::validation::{headline, percent};
use crate::words::Class;

/// Errors beyond this are drawn at the edge: a few would flatten all others.
const EDGE: f64 = 100.0;
/// Guides around the exact line.
const BAND: f64 = 0.1;

/// A row that is drawn.
struct Spot {
    kind: usize,
    batch: f64,
    measured: f64,
    predicted: f64,
}

const KINDS: [&str; 4] = ["dense", "moe", "other", "scored apart"];

/// Both charts; none where nothing has a prediction.
#[must_use]
pub fn charts(rows: &[Row], found: &Validation, title: &str, trust: &[String]) -> Vec<Chart> {
    let spots: Vec<Spot> = rows.iter().filter_map(spot).collect();
    if spots.is_empty() {
        return Vec::new();
    }
    let heading = |what: &str, caption: String| Heading {
        title: format!("{what}: {title}"),
        subtitle: headline(found),
        caption,
        trust: trust.to_vec(),
    };
    vec![
        Chart {
            part: "predicted-against-measured".to_owned(),
            heading: heading(
                "Predicted against measured speedup",
                format!(
                    "On the dark line a prediction is exact; between the light ones it is within 10 %.{}",
                    apart(&spots)
                ),
            ),
            body: Body::Scatter(against_measured(&spots)),
        },
        Chart {
            part: "error-by-batch".to_owned(),
            heading: heading(
                "Error of the predicted speedup by batch",
                format!("Above the dark line predictions are too kind.{}", beyond(&spots)),
            ),
            body: Body::Scatter(by_batch(&spots)),
        },
    ]
}

fn spot(row: &Row) -> Option<Spot> {
    let (measured, prediction) = (row.measured.as_ref()?, row.predicted.as_ref().ok()?);
    let kind = match row.class {
        _ if measured.is_excluded() => 3,
        Some(Class::Dense) => 0,
        Some(Class::Moe) => 1,
        Some(Class::Other) | None => 2,
    };
    Some(Spot { kind, batch: measured.batch, measured: measured.speedup, predicted: prediction.speedup })
}

/// Kinds that have points.
fn kinds(spots: &[Spot], point: impl Fn(&Spot) -> (f64, f64)) -> Vec<Kind> {
    let of = |kind: usize| spots.iter().filter(|spot| spot.kind == kind).map(&point).collect();
    let all = KINDS.iter().enumerate().map(|(at, name)| Kind { name: (*name).to_owned(), color: at, points: of(at) });
    all.filter(|kind| !kind.points.is_empty()).collect()
}

fn against_measured(spots: &[Spot]) -> Scatter {
    let both = || spots.iter().flat_map(|spot| [spot.measured, spot.predicted]);
    let (least, most) = (both().fold(1.0, f64::min) / 1.1, both().fold(1.0, f64::max) * 1.1);
    let slanted = |factor: f64, strong: bool| {
        let (from, to) = (least.max(least / factor), most.min(most / factor));
        Guide { from: (from, from * factor), to: (to, to * factor), strong, color: None }
    };
    Scatter {
        x_label: "measured speedup".to_owned(),
        y_label: "predicted speedup".to_owned(),
        x: (least, most),
        y: (least, most),
        x_scale: Scale::Powers,
        y_scale: Scale::Powers,
        legend: "targets".to_owned(),
        kinds: kinds(spots, |spot| (spot.measured, spot.predicted)),
        guides: vec![slanted(1.0 + BAND, false), slanted(1.0 - BAND, false), slanted(1.0, true)],
    }
}

fn error(spot: &Spot) -> f64 {
    (spot.predicted / spot.measured - 1.0) * 100.0
}

fn by_batch(spots: &[Spot]) -> Scatter {
    let batches = || spots.iter().map(|spot| spot.batch);
    let x = (batches().fold(f64::INFINITY, f64::min) / 1.3, batches().fold(0.0, f64::max) * 1.3);
    let reach = spots.iter().map(|spot| error(spot).abs()).fold(20.0, f64::max).min(EDGE) * 1.08;
    let level = |y: f64, strong: bool| Guide { from: (x.0, y), to: (x.1, y), strong, color: None };
    Scatter {
        x_label: "batch".to_owned(),
        y_label: "predicted over measured, in percent above or below".to_owned(),
        x,
        y: (-reach, reach),
        x_scale: Scale::Powers,
        y_scale: Scale::Even,
        legend: "targets".to_owned(),
        kinds: kinds(spots, |spot| (spot.batch, error(spot).clamp(-EDGE, EDGE))),
        guides: vec![level(BAND * 100.0, false), level(-BAND * 100.0, false), level(0.0, true)],
    }
}

/// What the points are that the figures above leave out.
fn apart(spots: &[Spot]) -> &'static str {
    if spots.iter().any(|spot| spot.kind == 3) {
        "  Scored apart: an engine's fault, a problem report, or a source that contradicts itself."
    } else {
        ""
    }
}

fn beyond(spots: &[Spot]) -> String {
    match spots.iter().filter(|spot| error(spot).abs() > EDGE).count() {
        0 => String::new(),
        count => format!("  {count} beyond {} are drawn at the edge.", percent(EDGE / 100.0)),
    }
}
