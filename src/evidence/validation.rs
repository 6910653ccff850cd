//! Many measurements against their predictions, by what they were measured on.

use std::collections::HashMap;

use crate::domain::measurement::Measurement;
use crate::evidence::predict::Prediction;
use crate::evidence::regret::{Candidate, Regret, regrets};
use crate::evidence::score::{Errors, Pair, Sides, errors, sides};
use crate::words::{Class, Word};

/// One line of the measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Who measured it.
    pub source: String,
    /// What it says, if it could be read.
    pub measured: Option<Measurement>,
    /// Its class, if its target is known.
    pub class: Option<Class>,
    /// What is predicted, or why nothing is.
    pub predicted: Result<Prediction, String>,
}

/// Errors and sides of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Errors.
    pub errors: Errors,
    /// Sides of 1x.
    pub sides: Sides,
}

/// Scores by one property.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The property.
    pub by: &'static str,
    /// Its values, each with a score.
    pub parts: Vec<(String, Score)>,
}

/// How far predicted times are from printed ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Plain steps.
    pub base_step: Option<Errors>,
    /// Rounds.
    pub round: Option<Errors>,
}

/// The whole answer. Rows that are scored apart count in `excluded` and `everything` only.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// All rows but those scored apart.
    pub overall: Option<Score>,
    /// The same by class, engine, batch, topology, drafter and source.
    pub breakdowns: Vec<Breakdown>,
    /// Rules that choose a draft length.
    pub regret: Vec<Regret>,
    /// Printed times.
    pub times: Times,
    /// Rows scored apart.
    pub excluded: Option<Score>,
    /// All rows.
    pub everything: Option<Score>,
}

/// A row that has a prediction.
#[derive(Clone, Copy)]
struct Priced<'a> {
    measured: &'a Measurement,
    class: Option<Class>,
    prediction: Prediction,
}

impl Priced<'_> {
    const fn pair(&self) -> Pair {
        Pair { measured: self.measured.speedup, predicted: self.prediction.speedup }
    }
}

/// Bands of batch: their names and largest batches.
pub const BANDS: [(&str, f64); 4] = [("1", 1.0), ("2 to 16", 16.0), ("17 to 64", 64.0), ("above 64", f64::INFINITY)];

/// Scores every row.
#[must_use]
pub fn validate(rows: &[Row]) -> Validation {
    let priced: Vec<Priced<'_>> = rows.iter().filter_map(priced).collect();
    let (excluded, kept): (Vec<Priced<'_>>, Vec<Priced<'_>>) =
        priced.iter().copied().partition(|row| row.measured.is_excluded());
    Validation {
        overall: score(&kept),
        breakdowns: breakdowns(&kept),
        regret: regrets(&groups(&kept)),
        times: times(&kept),
        excluded: score(&excluded),
        everything: score(&priced),
    }
}

fn priced(row: &Row) -> Option<Priced<'_>> {
    let (measured, prediction) = (row.measured.as_ref()?, *row.predicted.as_ref().ok()?);
    Some(Priced { measured, class: row.class, prediction })
}

fn score(rows: &[Priced<'_>]) -> Option<Score> {
    let pairs: Vec<Pair> = rows.iter().map(Priced::pair).collect();
    Some(Score { errors: errors(&pairs)?, sides: sides(&pairs) })
}

fn breakdowns(rows: &[Priced<'_>]) -> Vec<Breakdown> {
    let classes = Class::ALL.iter().map(|class| class.to_string()).collect();
    let bands = BANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    vec![
        breakdown("class", rows, Some(classes), |row| row.class.map_or_else(String::new, |class| class.to_string())),
        breakdown("engine", rows, None, |row| row.measured.engine.clone()),
        breakdown("batch", rows, Some(bands), |row| band(row.measured.batch).to_owned()),
        breakdown("topology", rows, None, |row| row.measured.topology.clone()),
        breakdown("drafter", rows, None, |row| row.measured.drafter_kind.to_string()),
        breakdown("source", rows, None, |row| row.measured.source.clone()),
    ]
}

/// The name of the band that a batch lies in.
#[must_use]
pub fn band(batch: f64) -> &'static str {
    BANDS.iter().find(|(_, largest)| batch <= *largest).map_or("", |(name, _)| name)
}

/// Scores by a property, its values in a given order, else in that of the alphabet.
fn breakdown(
    by: &'static str,
    rows: &[Priced<'_>],
    order: Option<Vec<String>>,
    value: impl Fn(&Priced<'_>) -> String,
) -> Breakdown {
    let order = order.unwrap_or_else(|| {
        let mut found: Vec<String> = rows.iter().map(&value).collect();
        found.sort();
        found.dedup();
        found
    });
    let part = |name: String| {
        let of: Vec<Priced<'_>> = rows.iter().filter(|row| value(row) == name).copied().collect();
        score(&of).map(|score| (name, score))
    };
    Breakdown { by, parts: order.into_iter().filter_map(part).collect() }
}

/// Rows of the same group, in the order in which groups appear.
fn groups(rows: &[Priced<'_>]) -> Vec<Vec<Candidate>> {
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for row in rows {
        let Some(name) = row.measured.group.as_deref() else { continue };
        let key = (row.measured.source.as_str(), name);
        let candidate = Candidate {
            k: row.measured.k,
            tokens_per_pass: row.measured.tokens_per_pass,
            measured: row.measured.speedup,
            predicted: row.prediction.speedup,
        };
        let at = *known.entry(key).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(candidate);
    }
    groups
}

fn times(rows: &[Priced<'_>]) -> Times {
    let of = |pair: &dyn Fn(&Priced<'_>) -> Option<Pair>| errors(&rows.iter().filter_map(pair).collect::<Vec<_>>());
    Times {
        base_step: of(&|row| {
            let measured = row.measured.base_step?.get();
            Some(Pair { measured, predicted: row.prediction.base_step.get() })
        }),
        round: of(&|row| {
            let measured = row.measured.round?.get();
            Some(Pair { measured, predicted: row.prediction.round.get() })
        }),
    }
}
