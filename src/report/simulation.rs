//! A simulated study beside theory: lines of estimates, as text, Markdown, CSV and JSON.

pub mod exact;
pub mod fit;
pub mod lines;
mod text;

use serde_json::{Value, json};

use crate::report::simulation::fit::Borne;
use crate::report::simulation::lines::{COLUMNS, Line, Simulated};
use crate::report::{csv, json};
use crate::words::Scope;

pub use text::text;

/// How far to trust a simulation.
#[must_use]
pub fn trust(simulated: &[Simulated]) -> Vec<String> {
    let mut lines = vec![
        "intervals: 95 %, Wilson for shares, normal for means of rounds (Wilson where nearly all rounds are alike), Student \
         over sequences and batches, order statistics for quantiles"
            .to_owned(),
    ];
    if simulated.iter().any(|one| one.drafter.is_none()) {
        lines.push(
            "rounds: every test passes with the same chance (iid). Engines measure acceptance that falls with position: \
             this checks the formulas and predicts no workload"
                .to_owned(),
        );
    }
    let kept = |one: &Simulated| one.subject.process.varies_by() == Some(Scope::Sequence);
    if simulated.iter().any(kept) {
        lines.push(
            "sequences of equal length are compared: those of a low acceptance take more rounds, and weigh more in every \
             mean over rounds"
                .to_owned(),
        );
    }
    if simulated.iter().any(|one| one.subject.process.is_recorded()) {
        lines.push(
            "recordings: a sequence replays one request, over and over, from a round at random; requests are drawn in \
             proportion to their tokens"
                .to_owned(),
        );
    }
    lines
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(lines: &[Line]) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(lines.iter().map(Line::cells))?);
    Ok(bytes)
}

/// `{"manifest": {…}, "rows": [{…}, …], "fits": […]}`.
#[must_use]
pub fn json(lines: &[Line], fits: &[Borne], manifest: &Value) -> Vec<u8> {
    let rows: Vec<Value> = lines.iter().map(|line| json::object(&COLUMNS, line.cells())).collect();
    format!(
        "{:#}\n",
        json!({ "manifest": manifest, "rows": rows, "fits": fits.iter().map(fit::json).collect::<Vec<_>>() })
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::simulate::Simulate;
    use crate::report::table::Style;
    use crate::words::Estimated;

    /// A line whose interval lies above theory, and one around it.
    #[test]
    fn a_miss_is_marked_and_counted() {
        let line = |theory| Line {
            simulated: Some(0.5),
            interval: Some((0.4, 0.6)),
            trials: Some(10),
            ..Line::new(Estimated::Acceptance, Some(theory))
        };
        let (missing, around) = (line(0.39), line(0.41));
        let shown = [text::interval(&missing), text::interval(&around)];
        assert_eq!(shown, ["0.4000 to 0.6000 *", "0.4000 to 0.6000"]);
        let text = text(&Simulate::default(), &[missing, around], &[], "", Style::Plain);
        assert!(text.starts_with("1 of these 2 intervals miss theory"), "{text}");
    }

    /// sqrt(ln 20 / 400000).
    #[test]
    fn noise_of_200000_draws_has_a_bound() {
        assert!((text::reach(200_000) - 0.002_736_7).abs() < 1e-6);
    }
}
