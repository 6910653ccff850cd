//! What is asked of answers.

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems};
use crate::catalog::values::{probability, quantity};
use crate::diagnostic::Diagnostic;
use crate::domain::traffic::Slo;
use crate::units::{Probability, Seconds};

/// Reads `[slo]`.
pub(in crate::catalog) fn slo(node: &Node, problems: &mut Problems) -> Option<Slo> {
    let mut fields = Fields::open(node, &Keys::all(&["ttft", "tpot", "e2e", "percentile"]), problems)?;
    let time = |fields: &mut Fields<'_, '_>, key: &str| {
        fields.optional(key, |node, problems| {
            let time = quantity::<Seconds>(node, problems, 0.0)?;
            if time > Seconds::ZERO {
                return Some(time);
            }
            let found = Diagnostic::error("out-of-range", format!("`{}` is 0", node.path)).at(&node.place);
            problems.report(found.hint("a time such as \"200 ms\""))
        })
    };
    let (ttft, tpot, e2e) = (time(&mut fields, "ttft"), time(&mut fields, "tpot"), time(&mut fields, "e2e"));
    let percentile = fields.optional("percentile", |node, problems| {
        if let Value::Integer(percent @ 2..=100) = node.value {
            let message = format!("`{}` is a fraction, not {percent}", node.path);
            let found = Diagnostic::error("out-of-range", message).at(&node.place);
            return problems
                .report(found.hint(format!("write {} for the {percent}th percentile", percent as f64 / 100.0)));
        }
        let share = probability(node, problems)?;
        if share > Probability::ZERO {
            return Some(share);
        }
        let found = Diagnostic::error("out-of-range", format!("`{}` asks of no request", node.path));
        problems.report(found.at(&node.place).hint("a fraction above 0: 0.95 for the 95th percentile"))
    });
    let slo =
        Slo { ttft: ttft?, tpot: tpot?, e2e: e2e?, percentile: percentile?.unwrap_or(Probability::nearest(0.95)) };
    if slo.ttft.is_none() && slo.tpot.is_none() && slo.e2e.is_none() {
        let found = Diagnostic::error("missing-key", format!("`{}` asks nothing", node.path)).at(&node.place);
        return problems.report(found.hint("state at least one of ttft, tpot and e2e, such as tpot = \"30 ms\""));
    }
    Some(slo)
}
