//! What decides on drafts.

use crate::catalog::node::{Node, Value};
use crate::catalog::reader::{Fields, Keys, Problems, one_or_many};
use crate::catalog::values::{integer, number, word};
use crate::diagnostic::Diagnostic;
use crate::domain::traffic::{Gate, Policy};
use crate::words::Fullness;

const LARGEST_K: u64 = 1000;

/// A policy or several, none of them twice.
pub(super) fn policies(node: &Node, problems: &mut Problems) -> Option<Vec<Policy>> {
    let all = one_or_many(node, problems, policy)?;
    let twice = (1..all.len()).find(|&at| all[..at].contains(&all[at]));
    let Some(at) = twice else { return Some(all) };
    let found = Diagnostic::error("bad-axis", format!("`{}` has `{}` twice", node.path, all[at])).at(&node.place);
    problems.report(found.hint("leave one of them out"))
}

/// `"off"`, `"k=3"`, `"schedule"`, `"greedy"`, or `{ gate = "batch", k = 3, on = 8, off = 16 }`.
fn policy(node: &Node, problems: &mut Problems) -> Option<Policy> {
    const ALLOWED: &str = r#""off", "k=3", "schedule", "greedy", or { gate = "batch", k = 3, on = 8, off = 16 }"#;
    let word = match &node.value {
        Value::Text(word) => word,
        Value::Table(_) => return gate(node, problems),
        _ => return problems.wrong_type(node, &format!("a policy: {ALLOWED}")),
    };
    let digits = word
        .strip_prefix("k=")
        .map(str::trim)
        .filter(|k| !k.is_empty() && k.bytes().all(|digit| digit.is_ascii_digit()));
    // A number that fits no counter is out of range too.
    let drafts = digits.map(|k| k.parse::<u64>().unwrap_or(u64::MAX));
    match (word.as_str(), drafts) {
        ("off", _) => Some(Policy::Off),
        ("schedule", _) => Some(Policy::Schedule),
        ("greedy", _) => Some(Policy::Greedy),
        (_, Some(k)) if (1..=LARGEST_K).contains(&k) => Some(Policy::Fixed { k }),
        (_, Some(_)) => {
            let k = digits.unwrap_or_default();
            let found = Diagnostic::error("out-of-range", format!("`{}` cannot draft {k} tokens", node.path));
            let hint = format!("k from 1 to {LARGEST_K}; \"off\" drafts nothing");
            problems.report(found.at(&node.place).hint(hint))
        }
        _ => {
            let found = Diagnostic::error("unknown-word", format!("`{}` knows no policy `{word}`", node.path));
            problems.report(found.at(&node.place).hint(format!("allowed: {ALLOWED}")))
        }
    }
}

fn gate(node: &Node, problems: &mut Problems) -> Option<Policy> {
    let mut fields = Fields::open(node, &Keys::all(&["gate", "k", "on", "off"]), problems)?;
    let by = fields.required("gate", word);
    let k = fields.required("k", |node, problems| integer(node, problems, 1, LARGEST_K));
    let on = fields.required("on", |node, problems| number(node, problems, 0.0));
    let off = fields.required("off", |node, problems| number(node, problems, 0.0));
    let gate = Gate { by: by?, k: k?, on: on?, off: off? };
    if gate.off < gate.on || gate.off == 0.0 {
        let message = format!("`{}` ends at {} what begins at {}", node.path, gate.off, gate.on);
        let hint = "drafting begins at or below `on` and ends at or above `off`, which is the larger";
        return problems.report(Diagnostic::error("conflict", message).at(&node.place).hint(hint));
    }
    if gate.by == Fullness::Kv && gate.off > 1.0 {
        let message = format!("`{}` ends at {} of the cache", node.path, gate.off);
        let found = Diagnostic::error("out-of-range", message).at(&node.place);
        return problems.report(found.hint("of the gate \"kv\", on and off are shares of the KV cache: at most 1"));
    }
    Some(Policy::Gate(gate))
}
