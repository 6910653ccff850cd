//! How well models stand for what was counted or recorded, for people and programs.

use serde_json::{Value, json};

use crate::acceptance::fit::choose::{Chosen, choose};
use crate::acceptance::fit::{Fitted, OneAlpha, error_of, one_alpha};
use crate::acceptance::process::Process;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Curve};
use crate::report::table::{Style, composed, right, table};
use crate::units::Probability;

/// A p-value below this is taken to speak against one alpha.
const DOUBTFUL: f64 = 0.01;
/// With fewer expected passes or failures at a position only a p-value far below tells anything (Cochran 1954).
const FEWEST: f64 = 5.0;
const FAR_BELOW: f64 = 1e-6;

/// What counters or a recording of a drafter bear out.
#[derive(Clone, Debug, PartialEq)]
pub struct Borne {
    /// The drafter.
    pub drafter: String,
    /// What was made of its rounds.
    pub of: &'static str,
    /// Rounds that drafted.
    pub drafting: u64,
    /// Rounds that models were judged by.
    pub judged: u64,
    /// Acceptance by position.
    pub curve: Curve,
    /// Whether one alpha is tenable; none where fewer than two positions were tested.
    pub test: Option<OneAlpha>,
    /// Models by how well they tell rounds they have not seen, the best first; none of counts.
    pub models: Vec<Fitted>,
}

/// What a drafter's acceptance bears out, if it was counted or recorded.
#[must_use]
pub fn borne(drafter: &str, acceptance: &Acceptance) -> Option<Borne> {
    let (of, curve, tests, chosen) = match &acceptance.model {
        AcceptanceModel::Counts(counts) => ("counter", counts.curve().clone(), counts.tests(), None),
        AcceptanceModel::Trace(trace) => ("recording", trace.curve().clone(), trace.tests().to_vec(), choose(trace)),
        _ => return None,
    };
    let drafting = tests.first().map_or(0, |(tested, _)| *tested);
    let Chosen { models, rounds: judged } = chosen.unwrap_or(Chosen { models: Vec::new(), rounds: 0 });
    Some(Borne { drafter: drafter.to_owned(), of, drafting, judged, curve, test: one_alpha(&tests), models })
}

/// One paragraph, and a table of models where there are any.
#[must_use]
pub fn text(borne: &Borne, style: Style) -> String {
    let mut lines = vec![tenable(borne)];
    if borne.models.is_empty() {
        lines.insert(0, format!("Drafter {}: what the {} bears out", borne.drafter, borne.of));
        return lines.join("\n");
    }
    let longest = borne.curve.survival().len() as u64;
    let header = ["model", "held out", "against iid", "tokens at k", "figures"];
    let mut rows = table(&header.map(str::to_owned), style);
    let iid = borne.models.iter().find(|one| matches!(one.process, Process::Iid { .. }));
    for one in &borne.models {
        let against = iid.map_or_else(String::new, |iid| format!("{:+.4}", one.held_out - iid.held_out));
        let tokens = format!("{:.3}", one.process.tokens_per_pass(longest));
        let cells =
            [one.model.as_str().to_owned(), format!("{:.4}", one.held_out), against, tokens, figures(&one.process)];
        rows.add_row(cells.map(right));
    }
    lines.push(format!(
        "held out: mean log-likelihood (nats) of rounds in requests that the fit had not seen, the best first; k = {longest}. \
         Tokens of `beta by sequence` are of sequences that emit equally many"
    ));
    lines.extend(
        (borne.judged < borne.drafting)
            .then(|| format!("judged by the first {} of {} rounds that drafted", borne.judged, borne.drafting)),
    );
    composed(&format!("Drafter {}: which model the recording bears out", borne.drafter), &rows, lines, style)
}

fn tenable(borne: &Borne) -> String {
    let Some(test) = &borne.test else {
        return "one position only: any model of it is one alpha".to_owned();
    };
    let survival = borne.curve.survival();
    let (longest, alpha) = (survival.len(), test.alpha);
    let first = Probability::nearest(survival[0]);
    format!(
        "one alpha for all positions {}. alpha {:.4} by likelihood \
         would be {:+.1} % off at k = 1 and {:+.1} % at k = {longest}; {:.4}, as position 1 has it, {:+.1} % at k = {longest}",
        verdict(test),
        alpha.get(),
        100.0 * error_of(alpha, &borne.curve, 1),
        100.0 * error_of(alpha, &borne.curve, longest),
        first.get(),
        100.0 * error_of(first, &borne.curve, longest),
    )
}

/// Whether one alpha is tenable, and the test that says so.
pub(in crate::report) fn verdict(test: &OneAlpha) -> String {
    let verdict = match test.p_value < DOUBTFUL {
        _ if test.fewest < FEWEST && test.p_value > FAR_BELOW => "is not settled by so few rounds",
        true => "is not tenable",
        false => "is tenable",
    };
    let p = if test.p_value > 0.0 { format!("p = {:.2e}", test.p_value) } else { "p below 1e-300".to_owned() };
    format!("{verdict}: G = {:.1} with {} degrees of freedom, {p}", test.statistic, test.degrees)
}

fn figures(process: &Process) -> String {
    match process {
        Process::Iid { alpha } => format!("alpha {:.3}", alpha.get()),
        Process::Positions { curve, .. } => {
            let shares: Vec<String> = curve.survival().iter().take(4).map(|share| format!("{share:.3}")).collect();
            let more = if curve.survival().len() > 4 { " …" } else { "" };
            format!("cumulative {}{more}", shares.join(" "))
        }
        Process::Beta { beta, .. } => format!("mean {:.3}, concentration {:.2}", beta.mean(), beta.concentration()),
        Process::Spans(spans) => {
            let (alphas, moves) = (spans.alphas(), spans.transitions());
            format!("{:.2} and {:.2}, out {:.3}, back {:.3}", alphas[0], alphas[1], moves[0][1], moves[1][0])
        }
        _ => String::new(),
    }
}

/// The same for programs.
#[must_use]
pub fn json(borne: &Borne) -> Value {
    let longest = borne.curve.survival().len();
    let error =
        |test: &OneAlpha| -> Vec<f64> { (1..=longest).map(|k| error_of(test.alpha, &borne.curve, k)).collect() };
    let model = |one: &Fitted| {
        json!({
            "model": one.model.as_str(),
            "held_out_log_likelihood": one.held_out,
            "tokens_per_pass": one.process.tokens_per_pass(longest as u64),
            "figures": figures(&one.process),
        })
    };
    json!({
        "drafter": borne.drafter,
        "one_alpha": borne.test.as_ref().map(|test| json!({
            "alpha": test.alpha.get(),
            "statistic": test.statistic,
            "degrees": test.degrees,
            "p_value": test.p_value,
            "relative_error_by_k": error(test),
        })),
        "models": borne.models.iter().map(model).collect::<Vec<_>>(),
    })
}
