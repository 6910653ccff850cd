//! One acceptance in every definition.

use serde_json::{Value, json};

use crate::acceptance::convert::Converted;
use crate::report::csv;
use crate::report::number::shortest;
use crate::report::table::{Style, composed, right, table};
use crate::sweep::row::Cell;

/// Positions that people see.
const MOST_POSITIONS: usize = 16;

/// Every definition: its key, its value, and who prints it so.
fn definitions(of: &Converted) -> Vec<(&'static str, &'static str, f64, &'static str)> {
    vec![
        (
            "tokens_per_pass",
            "mean length, bonus included",
            of.tokens,
            "vLLM from 0.9.0, SGLang accept len, TensorRT-LLM, llama.cpp, aiperf",
        ),
        ("without_bonus", "mean length without the bonus", of.tokens - 1.0, "vLLM 0.8.5"),
        (
            "accepted_per_drafted",
            "accepted / drafted",
            of.rate,
            "vLLM (percent in logs), SGLang from 0.5.11, llama.cpp",
        ),
        (
            "emitted_per_verified",
            "emitted / verified",
            of.per_verified,
            "SGLang 0.5.4 to 0.5.10, vLLM V0 efficiency, aiperf accepted per verified",
        ),
        ("alpha", "alpha", of.alpha.get(), "nobody: the per-test acceptance of formulas"),
    ]
}

/// Nine digits are more than any print has.
fn nine(value: f64) -> String {
    shortest((value * 1e9).round() / 1e9)
}

/// The line that a scenario takes.
fn scenario(of: &Converted) -> String {
    if of.by_position {
        let shares: Vec<String> = of.law.survival().iter().map(|share| nine(*share)).collect();
        return format!("acceptance.per_position = {{ cumulative = [{}] }}", shares.join(", "));
    }
    if of.is_alpha {
        return format!("acceptance.iid = {{ alpha = {} }}", shortest(of.alpha.get()));
    }
    format!("acceptance.mean_length = {{ tokens = {}, k = {} }}", nine(of.tokens), of.k)
}

/// What people read.
#[must_use]
pub fn text(of: &Converted, style: Style) -> String {
    let mut rows = table(&["definition", "value", "printed by"].map(str::to_owned), style);
    for (_, name, value, by) in definitions(of) {
        let cell = comfy_table::Cell::new;
        rows.add_row(vec![cell(name), right(format!("{value:.4}")), cell(by)]);
    }
    let shown = |values: &mut dyn Iterator<Item = Option<f64>>| {
        let all: Vec<String> = values
            .take(MOST_POSITIONS)
            .map(|value| value.map_or("-".to_owned(), |value| format!("{value:.4}")))
            .collect();
        all.join(" ")
    };
    let whose = if of.by_position { "" } else { ", if all positions pass alike" };
    let mut notes = vec![
        format!("by position, of all rounds{whose}: {}", shown(&mut of.law.survival().iter().copied().map(Some))),
        format!("by position, of drafts tested there{whose}: {}", shown(&mut of.law.conditional().into_iter())),
    ];
    if of.by_position {
        notes.push("alpha stands for these positions only if they pass alike".to_owned());
    } else {
        notes.push("not known: how positions differ, which decides what another k yields".to_owned());
    }
    notes.push(
        "not known: rounds without a draft, which none of these count; how sure the figure is, which needs counts"
            .to_owned(),
    );
    if of.is_chain_assumed {
        notes.push(format!("taken for a chain of {} drafts: of a tree --k gives the levels (SGLang's steps)", of.k));
    }
    if of.drafts > of.k {
        notes.push(format!("a tree: {} drafts on {} levels; alpha is that of a level", of.drafts, of.k));
    }
    notes.push(format!("for a scenario: {}", scenario(of)));
    composed(&format!("Acceptance at k = {}", of.k), &rows, notes, style)
}

/// One row of every definition.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(of: &Converted) -> ::csv::Result<Vec<u8>> {
    let all = definitions(of);
    let names: Vec<&str> = ["k", "drafts"].into_iter().chain(all.iter().map(|(key, ..)| *key)).collect();
    let cells = [Cell::Integer(of.k), Cell::Integer(of.drafts)];
    let cells: Vec<Cell<'_>> =
        cells.into_iter().chain(all.iter().map(|(_, _, value, _)| Cell::Number(*value))).collect();
    let mut bytes = csv::names(&names)?;
    bytes.extend(csv::records(std::iter::once(cells))?);
    Ok(bytes)
}

/// Every definition, positions and the line for a scenario.
#[must_use]
pub fn json(of: &Converted) -> Vec<u8> {
    let mut document: Value = json!({ "k": of.k, "drafts": of.drafts });
    for (key, _, value, _) in definitions(of) {
        document[key] = json!(value);
    }
    document["by_position"] = json!({
        "given": of.by_position,
        "cumulative": of.law.survival(),
        "conditional": of.law.conditional(),
    });
    document["scenario"] = json!(scenario(of));
    format!("{document:#}\n").into_bytes()
}
