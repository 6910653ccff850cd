//! Acceptance that was printed by engines, as CSV and JSON.

use serde_json::{Value, json};

use crate::acceptance::observed::{AlphaBy, Basis};
use crate::import::engine::stamp::written;
use crate::report::acceptance::warnings::{beware, traps, unknown};
use crate::report::acceptance::{Section, scenario_line};
use crate::report::csv;
use crate::report::number::shortest;
use crate::sweep::row::Cell;

/// The columns of `acceptance`'s CSV.
pub const COLUMNS: [&str; 33] = [
    "format",
    "model",
    "rank",
    "file",
    "first",
    "last",
    "k",
    "windows",
    "rounds",
    "drafted",
    "accepted",
    "tokens_per_pass",
    "tokens_low",
    "tokens_high",
    "interval_by",
    "without_bonus",
    "accepted_per_drafted",
    "position_independent_rate",
    "emitted_per_verified",
    "alpha",
    "alpha_by",
    "alpha_low",
    "alpha_high",
    "posterior_low",
    "posterior_high",
    "tests_passed",
    "tests_failed",
    "tokens_per_step",
    "cumulative",
    "conditional",
    "one_alpha_p",
    "notes",
    "scenario",
];

/// Texts of a section that cells point to.
struct Texts {
    first: String,
    last: String,
    cumulative: String,
    conditional: String,
    notes: String,
    scenario: String,
}

impl Texts {
    fn of(section: &Section<'_>) -> Self {
        let (found, pool) = (&section.found, section.pool);
        let moment =
            |last: bool| pool.span.map_or_else(String::new, |span| written(if last { span.1 } else { span.0 }));
        let rates = |rates: &mut dyn Iterator<Item = Option<f64>>| {
            rates.map(|rate| rate.map_or_else(|| "-".to_owned(), shortest)).collect::<Vec<_>>().join(" ")
        };
        Self {
            first: moment(false),
            last: moment(true),
            cumulative: rates(&mut found.cumulative.iter().copied().map(Some)),
            conditional: rates(&mut found.conditional.iter().copied()),
            notes: traps(section).iter().map(|trap| trap.as_str()).collect::<Vec<_>>().join(" "),
            scenario: scenario_line(found).unwrap_or_default(),
        }
    }
}

fn cells<'s>(section: &'s Section<'_>, texts: &'s Texts) -> [Cell<'s>; COLUMNS.len()] {
    let (found, pool, group) = (&section.found, section.pool, section.group);
    let number = |value: Option<f64>| value.map_or(Cell::Empty, Cell::Number);
    let count = |value: Option<u64>| value.map_or(Cell::Empty, Cell::Integer);
    let text = |value: &'s str| if value.is_empty() { Cell::Empty } else { Cell::Text(value) };
    let tokens = found.tokens_per_pass;
    let sure = found.basis.and(tokens);
    let alpha = found.alpha.as_ref();
    let wilson = alpha.and_then(|alpha| alpha.wilson);
    let law = alpha.and_then(|alpha| alpha.posterior);
    let tests = alpha.and_then(|alpha| alpha.tests);
    [
        Cell::Text(section.printout.as_str()),
        text(group.model.as_deref().unwrap_or_default()),
        text(group.rank.as_deref().unwrap_or_default()),
        text(group.file.as_deref().unwrap_or_default()),
        text(&texts.first),
        text(&texts.last),
        count(found.k),
        Cell::Integer(pool.windows),
        number(found.rounds),
        number(found.drafted),
        number(found.accepted),
        number(tokens.map(|tokens| tokens.value)),
        number(sure.map(|tokens| tokens.low)),
        number(sure.map(|tokens| tokens.high)),
        text(found.basis.map_or("", of_basis)),
        number(tokens.map(|tokens| tokens.value - 1.0)),
        number(found.rate),
        number(found.position_independent),
        number(found.per_verified),
        number(alpha.map(|alpha| alpha.value)),
        text(alpha.map_or("", |alpha| by(alpha.by))),
        number(wilson.map(|(low, _)| low)),
        number(wilson.map(|(_, high)| high)),
        number(law.map(|(low, _)| low)),
        number(law.map(|(_, high)| high)),
        count(tests.map(|tests| tests.accepted)),
        count(tests.map(|tests| tests.rejected)),
        number(found.all_steps),
        text(&texts.cumulative),
        text(&texts.conditional),
        number(found.one_alpha.as_ref().map(|test| test.p_value)),
        text(&texts.notes),
        text(&texts.scenario),
    ]
}

const fn of_basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Windows => "windows",
        Basis::Rounds => "rounds",
        Basis::Alike => "alike",
    }
}

const fn by(by: AlphaBy) -> &'static str {
    match by {
        AlphaBy::Tests => "tests",
        AlphaBy::Mean => "mean",
    }
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(sections: &[Section<'_>]) -> ::csv::Result<Vec<u8>> {
    let texts: Vec<Texts> = sections.iter().map(Texts::of).collect();
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(sections.iter().zip(&texts).map(|(section, texts)| cells(section, texts)))?);
    Ok(bytes)
}

/// `{"manifest": {…}, "sections": […]}`.
#[must_use]
pub fn json(sections: &[Section<'_>], manifest: &Value) -> Vec<u8> {
    let one = |section: &Section<'_>| {
        let texts = Texts::of(section);
        let mut object = crate::report::json::object(&COLUMNS, cells(section, &texts));
        object["cumulative"] = json!(section.found.cumulative);
        object["conditional"] = json!(section.found.conditional);
        object["notes"] = json!(traps(section).iter().map(|trap| trap.as_str()).collect::<Vec<_>>());
        object["not_known"] = json!(unknown(section));
        object["beware"] = json!(beware(section));
        object
    };
    let sections: Vec<Value> = sections.iter().map(one).collect();
    format!("{:#}\n", json!({ "manifest": manifest, "sections": sections })).into_bytes()
}
