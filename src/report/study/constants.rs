//! Fitted constants by what the fit did not see.

use crate::domain::engine::Additive;
use crate::evidence::study::constants::{Scale, prior};
use crate::evidence::study::findings::Study;
use crate::evidence::study::folds::Fold;
use crate::evidence::study::subject::Subject;
use crate::evidence::study::variant::{OF_ENGINES, SHARED};
use crate::report::study::{names, table};
use crate::words::Fitted;

/// Constants without each source, beside those fitted to all rows, those that are shipped, and the prior.
pub(super) fn section(subjects: &[Subject], study: &Study) -> String {
    let sources = names(subjects, |of| of.source().to_owned());
    let fold = |source: &String| study.unseen.folds.iter().find(|fold| fold.left.as_ref() == Some(source));
    let folds: Vec<&Fold> = sources.iter().filter_map(fold).collect();
    let head: Vec<String> = ["constant", "prior", "shipped", "all rows"].map(str::to_owned).into_iter().collect();
    let head: Vec<String> = head.into_iter().chain(sources.iter().map(|name| format!("- {name}"))).collect();
    let of_engine = |engine: &String| OF_ENGINES.map(|of| (of, Some(engine.clone())));
    let all = study.measured.engines.iter().flat_map(of_engine).chain(SHARED.map(|of| (of, None)));
    let row = |(of, engine): (Fitted, Option<String>)| {
        let id = engine.as_deref().unwrap_or("");
        let name = if id.is_empty() { of.to_string() } else { format!("{id} {of}") };
        let fitted = |fold: &Fold| {
            let value = fold.value(&study.design, of, id).map_or_else(|| "-".to_owned(), |value| number(of, value));
            let is_pooled = engine.is_some() && !has_rows(subjects, id, fold.left.as_deref());
            if is_pooled { format!("{value} ~") } else { value }
        };
        let centre = prior(of).centre.map_or_else(|| "-".to_owned(), |value| number(of, value));
        let lead = [name, centre, shipped(subjects, of, id), fitted(&study.whole)];
        lead.into_iter().chain(folds.iter().map(|fold| fitted(fold))).collect()
    };
    let rows: Vec<Vec<String>> = all.map(row).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table("Constants by what the fit did not see", &head, &rows)
        + "\nTimes in microseconds. `- name`: without that source. `~`: no row of that engine left, so what all engines share.\n"
}

fn has_rows(subjects: &[Subject], engine: &str, left: Option<&str>) -> bool {
    let kept = |of: &&Subject| !of.measured.is_excluded() && Some(of.source()) != left;
    subjects.iter().filter(kept).any(|of| of.engine.id == engine)
}

/// A constant in microseconds, or as a share.
pub(super) fn number(of: Fitted, value: f64) -> String {
    match prior(of).scale {
        Scale::Time if value < 1e-4 => format!("{:.1}", value * 1e6),
        Scale::Time => format!("{:.0}", value * 1e6),
        Scale::Share => format!("{value:.2}"),
    }
}

/// What the profiles say, of the first engine that has such a constant.
fn shipped(subjects: &[Subject], of: Fitted, engine: &str) -> String {
    let profiles = subjects.iter().filter(|subject| engine.is_empty() || subject.engine.id == engine);
    let value = profiles.filter_map(|subject| stated(subject.engine.additive()?, of)).next();
    value.map_or_else(|| "-".to_owned(), |value| number(of, value))
}

fn stated(additive: &Additive, of: Fitted) -> Option<f64> {
    Some(match of {
        Fitted::Step => additive.step.value.get(),
        Fitted::Draft => additive.draft.value.get(),
        Fitted::Round => additive.round.value.get(),
        Fitted::MoeLayer => additive.moe_layer.value.get(),
        Fitted::RoutingPower => additive.routing_power.as_ref()?.value.get(),
        Fitted::FurtherDevice => additive.device.as_ref()?.value.get(),
        Fitted::RoutingIndependence => additive.routing_independence.value.get(),
        Fitted::AllReduce => additive.all_reduce.value.get(),
        Fitted::AcceptedPerProposed => additive.accepted_per_proposed.value.get(),
        Fitted::LayerFloor => additive.layer_floor.as_ref()?.value.get(),
        Fitted::QuantisedCompute => additive.quantised.as_ref()?.compute.value.get(),
        Fitted::QuantisedBandwidth => additive.quantised.as_ref()?.bandwidth.value.get(),
        _ => return None,
    })
}
