//! Mixtures at other numbers of devices than those that their rows are taken to have run on.

use crate::domain::measurement::Measurement;
use crate::evidence::predict::Prediction;
use crate::evidence::study::standing::standing;
use crate::evidence::study::subject::Subject;
use crate::report::study::{names, table};
use crate::report::validation::{percent, signed};

/// Numbers of devices that are tried.
const DEVICES: [u64; 4] = [1, 2, 4, 8];

/// Errors of each mixture on vLLM and SGLang with the constants of the engine profiles, by number of devices.
pub(super) fn section(subjects: &[Subject]) -> String {
    let head =
        ["target", "rows", "taken to be", "devices", "median", "90 %", "mean", "plain step: mean", "round: mean"];
    let mixtures: Vec<Subject> =
        subjects.iter().filter(|of| of.class().as_str() == "moe" && !of.measured.is_excluded()).cloned().collect();
    let mut rows = Vec::new();
    for target in names(&mixtures, |of| of.measured.target.clone()) {
        let of: Vec<&Subject> = mixtures.iter().filter(|of| of.measured.target == target).collect();
        let taken = of.first().map_or(1, |of| of.measured.devices);
        for devices in DEVICES {
            rows.extend(row(&of, devices).map(|cells| {
                let lead = [target.clone(), of.len().to_string(), taken.to_string(), devices.to_string()];
                lead.into_iter().chain(cells).collect::<Vec<String>>()
            }));
        }
    }
    table("Mixtures on other numbers of devices, shipped constants", &head, &rows)
}

fn row(subjects: &[&Subject], devices: u64) -> Option<[String; 5]> {
    let moved = |of: &&Subject| Subject { measured: Measurement { devices, ..of.measured.clone() }, ..(**of).clone() };
    let moved: Vec<Subject> = subjects.iter().map(moved).collect();
    let predictions: Vec<Prediction> = moved.iter().map(|of| of.shipped().ok()).collect::<Option<_>>()?;
    let found = standing(&moved, &predictions, |_| true)?.errors;
    let pairs = || moved.iter().zip(&predictions);
    let steps = pairs().filter_map(|(of, found)| Some(found.base_step.get() / of.measured.base_step?.get()));
    let rounds = pairs().filter_map(|(of, found)| Some(found.round.get() / of.measured.round?.get()));
    Some([percent(found.median), percent(found.p90), signed(found.mean_signed), off(steps), off(rounds)])
}

/// The mean of ratios, as a signed error.
fn off(ratios: impl Iterator<Item = f64>) -> String {
    let all: Vec<f64> = ratios.collect();
    if all.is_empty() { "-".to_owned() } else { signed(all.iter().sum::<f64>() / all.len() as f64 - 1.0) }
}
