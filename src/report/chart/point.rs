//! What the charts of an explained point show: its passes under the roofline, and a round beside plain
//! decoding.

use crate::cost::pass::Timing;
use crate::plan::point::PassApart;
use crate::report::chart::bodies::{PassSpots, RoofSpot, RooflinePlot, Stack, Stacks};
use crate::report::chart::spec::{Body, Chart, Heading};
use crate::report::explanation::Explained;
use crate::units::{Bytes, Flops, Seconds};

/// Roofline and, with a drafter, round.
#[must_use]
pub fn charts(explained: &Explained, title: &str, trust: &[String]) -> Vec<Chart> {
    let point = &explained.point;
    let mut charts = vec![roofline(explained, title, trust)];
    charts.extend(explained.first_draft_ratio.map(|_| round(explained, title, trust)));
    if point.memory.total() > point.usable {
        for chart in &mut charts {
            chart.heading.caption += &format!("  Does not fit in the usable {}.", point.usable);
        }
    }
    charts
}

fn roofline(explained: &Explained, title: &str, trust: &[String]) -> Chart {
    let point = &explained.point;
    let verify = explained.first_draft_ratio.map(|_| &point.verify);
    let named = [("plain step", Some(&point.plain)), ("verification", verify), ("draft pass", point.draft.as_ref())];
    let passes = named.into_iter().filter_map(|(name, pass)| Some(spots(name, pass?)));
    let rates = point.rates;
    let body = Body::Roofline(RooflinePlot {
        peak: rates.peak.get() / 1e12,
        bandwidth: rates.bandwidth.get() / 1e12,
        passes: passes.collect(),
    });
    let heading = Heading {
        title: format!("Roofline: {title}"),
        subtitle: explained.heading.clone(),
        caption: format!(
            "Line: {} and {}. Left of its bend bytes decide, right of it arithmetic. Filled: a whole pass{}; rings: its operators.",
            rates.bandwidth,
            rates.peak,
            if matches!(point.plain.cost.timing, Timing::Added(_)) { " as the engine runs it" } else { "" }
        ),
        trust: trust.to_vec(),
    };
    Chart { part: "roofline".to_owned(), heading, body }
}

/// A pass and those of its operators that compute.
fn spots(name: &str, pass: &PassApart) -> PassSpots {
    let spot = |flops: Flops, bytes: Bytes, time: Seconds| RoofSpot {
        intensity: flops.get() / bytes.get(),
        rate: flops.get() / time.get() / 1e12,
    };
    let computing = pass.parts.iter().filter(|part| part.name.is_some() && part.work.flops > Flops::ZERO);
    let operators = computing.map(|part| spot(part.work.flops, part.work.bytes(), part.roofed.seconds()));
    PassSpots {
        name: name.to_owned(),
        whole: spot(pass.cost.work.flops, pass.cost.work.bytes(), pass.cost.seconds()),
        operators: operators.collect(),
    }
}

fn round(explained: &Explained, title: &str, trust: &[String]) -> Chart {
    let (plain, round) = (explained.point.plain.cost.seconds(), &explained.point.round);
    let tokens = explained.tokens_per_pass;
    let same = plain * tokens;
    let milliseconds = |time: Seconds| time.get() * 1e3;
    let bars = vec![
        Stack { label: format!("{tokens:.2} plain steps: {same}"), parts: vec![milliseconds(same)] },
        Stack {
            label: format!("one round: {}", round.seconds(tokens)),
            parts: vec![
                0.0,
                milliseconds(round.draft),
                milliseconds(round.verify.seconds()),
                milliseconds(round.overhead(tokens)),
            ],
        },
    ];
    let names = ["plain steps", "drafts", "verification", "overhead"].map(str::to_owned).to_vec();
    let heading = Heading {
        title: format!("A round against plain decoding: {title}"),
        subtitle: explained.heading.clone(),
        caption: format!(
            "Both bars emit {tokens:.2} tokens for each sequence: the ratio of their heights is the speedup, {:.2}x.",
            explained.factors().speedup
        ),
        trust: trust.to_vec(),
    };
    let body = Body::Stacks(Stacks { y_label: "milliseconds".to_owned(), names, bars });
    Chart { part: "round".to_owned(), heading, body }
}
