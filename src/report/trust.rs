//! How far to trust the numbers: the lines that go with every output.

use crate::domain::drafter::Drafter;
use crate::domain::engine::Profile;
use crate::domain::scenario::Scenario;

/// One line for each thing a reader must know: the engine profile and the error to expect, and where
/// each drafter's acceptance comes from.
#[must_use]
pub fn lines(scenario: &Scenario) -> Vec<String> {
    let mut lines: Vec<String> = scenario.engines.iter().map(|engine| profile(&engine.id, engine.profile)).collect();
    lines.extend(scenario.drafters.iter().map(acceptance));
    if scenario.drafters.is_empty() {
        lines.push("no drafter: only plain decoding is priced".to_owned());
    }
    lines
}

/// The figures: published speedups over the founding formula with the measured tokens per pass put
/// in, 333 rows of papers, engine documentation and issue threads; `README.md` has them by batch.
fn profile(id: &str, profile: Profile) -> String {
    match profile {
        Profile::Ideal => format!(
            "engine {id}: an ideal roofline flatters. Of 333 published speedups the median is 0.85 of what it says \
             (0.60 to 1.00 for the middle 80 %), 0.73 at batch 17 to 64. Prefer a fitted engine profile (vllm, sglang) \
             where your version has one; this one has only ideal"
        ),
    }
}

fn acceptance(drafter: &Drafter) -> String {
    let kind = drafter.acceptance.model.kind();
    let source = drafter.acceptance.provenance.line();
    let source = source.unwrap_or_else(|| "the scenario does not say where it was measured".to_owned());
    format!("drafter {}: acceptance {kind}, {source}", drafter.label)
}
