//! How far to trust the numbers: the lines that go with every output.

use crate::domain::drafter::Drafter;
use crate::domain::engine::{Engine, Profile};
use crate::domain::scenario::Scenario;

/// One line for each engine profile, with the error to expect and the profile to prefer, and one for
/// each drafter's acceptance, with its source.
#[must_use]
pub fn lines(scenario: &Scenario) -> Vec<String> {
    let mut lines: Vec<String> = scenario.engines.iter().map(profile).collect();
    lines.extend(scenario.drafters.iter().map(acceptance));
    if scenario.drafters.is_empty() {
        lines.push("no drafter: only plain decoding is priced".to_owned());
    }
    lines
}

/// How far to trust an engine profile.
///
/// The figures: published speedups over the founding formula with the measured tokens per pass put in,
/// 333 rows of papers, engine documentation and issue threads; `README.md` has them by batch.
#[must_use]
pub fn profile(engine: &Engine) -> String {
    match engine.profile {
        Profile::Ideal => format!(
            "engine {}: an ideal roofline flatters. Published speedups are 0.85 of the aggregate one in the median, 0.73 \
             at batch 17 to 64 (333 rows); prefer a fitted profile such as vllm, once your version has one",
            engine.id
        ),
    }
}

/// Where a drafter's acceptance comes from.
#[must_use]
pub fn acceptance(drafter: &Drafter) -> String {
    let kind = drafter.acceptance.model.kind();
    let source = drafter.acceptance.provenance.line();
    let source = source.unwrap_or_else(|| "source not stated".to_owned());
    format!("drafter {}: acceptance {kind}, {source}", drafter.label)
}
