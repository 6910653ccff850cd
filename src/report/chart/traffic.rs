//! Charts of a service under load.

use crate::domain::traffic::{Arrivals, Slo};
use crate::report::chart::bodies::{Guide, Kind, Scale, Scatter};
use crate::report::chart::spec::{Body, Chart, Heading};
use crate::report::number::brief;
use crate::report::traffic::{Shown, with_off};
use crate::traffic::measures::Measures;

/// The most policies that a reader tells apart.
const MOST_POLICIES: usize = 7;
/// The colour of plain decoding.
const BLACK: usize = 6;

/// A measure drawn over load.
struct Over<'m> {
    part: &'static str,
    what: String,
    y_label: String,
    scale: Scale,
    of: &'m dyn Fn(&Measures) -> Option<f64>,
    limit: Option<f64>,
    unit: &'static str,
    is_time: bool,
}

/// The most deployments that get charts.
const MOST_DEPLOYMENTS: usize = 4;
/// Dashes of the line at what is asked.
const DASHES: u32 = 60;

/// The charts of up to four deployments: waiting, pace and throughput over load, a line for each policy. None of a single load.
#[must_use]
pub fn charts(all: &[Shown<'_>], slo: Option<&Slo>, title: &str, trust: &[String]) -> Vec<Chart> {
    let same = |one: &Shown<'_>, other: &Shown<'_>| one.case.subject == other.case.subject;
    let groups: Vec<&[Shown<'_>]> = all.chunk_by(same).collect();
    let drafters: Vec<Option<&str>> = groups.iter().map(|group| group[0].labels.drafter).collect();
    let are_apart = (1..drafters.len()).all(|at| !drafters[..at].contains(&drafters[at]));
    let name = |at: usize| match drafters[at].filter(|_| are_apart) {
        Some(drafter) => format!("{drafter}."),
        None => format!("{}.", at + 1),
    };
    let prefix = |at: usize| if groups.len() == 1 { String::new() } else { name(at) };
    let shown = groups.iter().take(MOST_DEPLOYMENTS).enumerate();
    shown.flat_map(|(at, group)| of_one(&with_off(group), (&prefix(at), groups.len()), slo, (title, trust))).collect()
}

fn of_one(
    all: &[Shown<'_>],
    (prefix, deployments): (&str, usize),
    slo: Option<&Slo>,
    (title, trust): (&str, &[String]),
) -> Vec<Chart> {
    let Some(first) = all.first().filter(|first| first.traffic.loads.len() > 1) else { return Vec::new() };
    let shown: Vec<&Shown<'_>> = all.iter().collect();
    let share = slo.map_or(0.95, |slo| slo.percentile.get());
    let percentile = format!("p{}", brief(share * 100.0));
    let ms = |limit: Option<crate::units::Seconds>| limit.map(|limit| limit.get() * 1e3);
    let longest = all.iter().filter_map(|shown| Some(shown.case.measures.ttft.at(share)?.value)).fold(0.0, f64::max);
    // Where requests pile up, milliseconds have too many digits.
    let (unit, in_unit) = if longest < 10.0 { ("ms", 1e3) } else { ("s", 1.0) };
    let replicas = first.traffic.replicas as f64;
    let all_of = [
        Over {
            part: "ttft",
            what: "Time to first token".to_owned(),
            y_label: format!("TTFT {percentile} ({unit}, logarithmic)"),
            scale: Scale::Decades,
            of: &|measures| Some(measures.ttft.at(share)?.value * in_unit),
            limit: slo.and_then(|slo| slo.ttft).map(|limit| limit.get() * in_unit),
            unit,
            is_time: true,
        },
        Over {
            part: "tpot",
            what: "Time for each token".to_owned(),
            y_label: format!("TPOT {percentile} (ms)"),
            scale: Scale::Even,
            of: &|measures| Some(measures.tpot.at(share)?.value * 1e3),
            limit: ms(slo.and_then(|slo| slo.tpot)),
            unit: "ms",
            is_time: true,
        },
        Over {
            part: "throughput",
            what: "Output tokens".to_owned(),
            y_label: "output tokens/s".to_owned(),
            scale: Scale::Even,
            of: &|measures| Some(replicas * measures.over_time.per_second(measures.over_time.tokens)?),
            limit: None,
            unit: "",
            is_time: false,
        },
    ];
    let named = |chart: Chart| Chart { part: format!("{prefix}{}", chart.part), ..chart };
    all_of.iter().filter_map(|over| chart(&shown, over, deployments, title, trust)).map(named).collect()
}

fn chart(shown: &[&Shown<'_>], over: &Over<'_>, deployments: usize, title: &str, trust: &[String]) -> Option<Chart> {
    let (traffic, labels) = (shown[0].traffic, &shown[0].labels);
    let kinds: Vec<Kind> = traffic
        .policies
        .iter()
        .enumerate()
        .take(MOST_POLICIES)
        .map(|(policy, of)| {
            let mine = shown.iter().filter(|shown| shown.case.policy == policy);
            let points = mine.filter_map(|shown| Some((shown.case.load, (over.of)(&shown.case.measures)?)));
            // Plain decoding is black on every chart.
            let is_off = *of == crate::domain::traffic::Policy::Off;
            let before = traffic.policies[..policy].contains(&crate::domain::traffic::Policy::Off);
            let color = if is_off { BLACK } else { policy - usize::from(before) };
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            Kind { name: of.to_string(), color, points }
        })
        .filter(|kind| !kind.points.is_empty())
        .collect();
    let ys = || kinds.iter().flat_map(|kind| &kind.points).map(|(_, y)| *y).chain(over.limit);
    let (least, most) = (ys().fold(f64::INFINITY, f64::min), ys().fold(0.0, f64::max));
    if kinds.is_empty() || most <= 0.0 {
        return None;
    }
    let y = match over.scale {
        Scale::Even => (0.0, most * 1.08),
        Scale::Powers | Scale::Decades => (least / 1.3, most * 1.3),
    };
    let x_most = traffic.loads.iter().copied().fold(0.0, f64::max) * 1.05;
    let joints = |kind: &Kind| -> Vec<Guide> {
        let joint = |pair: &[(f64, f64)]| Guide { from: pair[0], to: pair[1], strong: false, color: Some(kind.color) };
        kind.points.windows(2).map(joint).collect()
    };
    let x_label = match traffic.arrivals {
        Arrivals::Closed { .. } => "clients",
        _ => "requests per second",
    };
    let mut caption = match over.limit {
        Some(limit) => format!("The dashed line at {} {} is what is asked.", brief(limit), over.unit),
        None => String::new(),
    };
    caption.push_str(&hidden(&kinds, y, over.scale));
    if over.is_time && shown.iter().any(|shown| shown.case.measures.is_overloaded()) {
        caption.push_str("  Where requests pile up, times say how long the run was.");
    }
    if deployments > MOST_DEPLOYMENTS {
        caption.push_str(&format!("  {MOST_DEPLOYMENTS} of {deployments} deployments have charts."));
    }
    Some(Chart {
        part: over.part.to_owned(),
        heading: Heading {
            title: format!("{}: {title}", over.what),
            subtitle: format!(
                "{} on {} x {}, {}, drafter {}",
                labels.target,
                labels.tensor_parallel,
                labels.hardware,
                labels.engine,
                labels.drafter.unwrap_or("none")
            ),
            caption: caption.trim().to_owned(),
            trust: trust.to_vec(),
        },
        body: Body::Scatter(Scatter {
            x_label: x_label.to_owned(),
            y_label: over.y_label.clone(),
            x: (0.0, x_most),
            x_scale: Scale::Even,
            y,
            y_scale: over.scale,
            legend: "policy".to_owned(),
            guides: kinds
                .iter()
                .flat_map(joints)
                .chain(over.limit.into_iter().flat_map(|limit| dashed(limit, x_most)))
                .collect(),
            kinds,
        }),
    })
}

/// A dashed line across.
fn dashed(y: f64, most: f64) -> Vec<Guide> {
    let step = most / f64::from(DASHES);
    let dash = |at: u32| Guide {
        from: (step * f64::from(at), y),
        to: (step * (f64::from(at) + 0.55), y),
        strong: true,
        color: None,
    };
    (0..DASHES).map(dash).collect()
}

/// The share of an axis in which two lines are one to the eye.
const ONE: f64 = 0.006;

/// Lines that lie beneath later ones all along.
fn hidden(kinds: &[Kind], (from, to): (f64, f64), scale: Scale) -> String {
    let at = |y: f64| match scale {
        Scale::Even => (y - from) / (to - from),
        Scale::Powers | Scale::Decades => (y / from).ln() / (to / from).ln(),
    };
    let covers = |under: &Kind, over: &Kind| {
        let near = |(one, other): (&(f64, f64), &(f64, f64))| {
            one.0.to_bits() == other.0.to_bits() && (at(one.1) - at(other.1)).abs() < ONE
        };
        under.points.len() == over.points.len() && under.points.iter().zip(&over.points).all(near)
    };
    let pairs = (0..kinds.len()).filter_map(|under| {
        let over = (under + 1..kinds.len()).rev().find(|&over| covers(&kinds[under], &kinds[over]))?;
        Some(format!("{} lies beneath {}", kinds[under].name, kinds[over].name))
    });
    let pairs: Vec<String> = pairs.collect();
    if pairs.is_empty() { String::new() } else { format!("  {}.", pairs.join(", ")) }
}
