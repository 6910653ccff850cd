//! Predictions of a source by a fit that has seen no row of it.

use crate::evidence::predict::{Prediction, Unpriced};
use crate::evidence::study::constants::{Scope, prior};
use crate::evidence::study::fit::{Design, Row, fit};
use crate::evidence::study::subject::Subject;
use crate::evidence::study::variant::Measured;
use crate::words::Fitted;

/// A fit and what it did not see.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// What was left out; none: nothing.
    pub left: Option<String>,
    /// Rows that it was fitted to.
    pub rows: usize,
    /// How far each parameter lies from its prior, in widths.
    pub at: Vec<f64>,
}

impl Fold {
    /// A constant for an engine; none where nothing of the design moves it. Of efficiencies there is none, since their
    /// middles lie with the hardware.
    #[must_use]
    pub fn value(&self, design: &Design, of: Fitted, engine: &str) -> Option<f64> {
        let mine = |scope: &Scope| match scope {
            Scope::All => true,
            Scope::Engine(id) => id == engine,
            Scope::Family(_) => false,
        };
        let parts = design.parameters.iter().zip(&self.at).filter(|(one, _)| one.of == of && mine(&one.scope));
        let moved = parts.fold(None, |sum, (one, x)| Some(sum.unwrap_or(0.0) + one.adds(*x)))?;
        let prior = prior(of);
        Some(prior.scale.back(prior.scale.of(prior.centre?) + moved))
    }
}

/// What is left out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Rows of one source.
    Source,
    /// Rows of one target of one source: what else the source measured stays.
    Target,
}

impl Left {
    fn of(self, subject: &Subject) -> String {
        match self {
            Self::Source => subject.source().to_owned(),
            Self::Target => format!("{} {}", subject.source(), subject.measured.target),
        }
    }
}

/// Every row predicted without its like.
#[derive(Clone, Debug, PartialEq)]
pub struct Unseen {
    /// By subject, in their order.
    pub predictions: Vec<Prediction>,
    /// By what was left out, in the order of the alphabet.
    pub folds: Vec<Fold>,
}

/// Who is measured among subjects that are not scored apart.
#[must_use]
pub fn measured(subjects: &[Subject]) -> Measured {
    let kept = || subjects.iter().filter(|of| !of.measured.is_excluded());
    Measured {
        engines: distinct(kept().map(|of| of.engine.id.clone())),
        families: distinct(kept().filter_map(|of| of.device.family.clone())),
    }
}

/// Fits once for each source (or target) that is left out, and predicts it.
///
/// Rows that are scored apart are in no fit; those of a source are predicted by the fit without that source. The order
/// of subjects changes nothing: sums run in the order of sources and ids.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn unseen(subjects: &[Subject], design: &Design, left: Left) -> Result<Unseen, Unpriced> {
    let rows: Vec<Row<'_>> = subjects.iter().map(|of| Row::new(of, design)).collect::<Result<_, _>>()?;
    let keys: Vec<String> = subjects.iter().map(|of| left.of(of)).collect();
    let seen = in_order(&rows);
    let mut predictions: Vec<Option<Prediction>> = vec![None; rows.len()];
    let mut folds: Vec<Fold> = Vec::new();
    for key in distinct(keys.iter().cloned()) {
        let others: Vec<&Row<'_>> = seen.iter().filter(|row| left.of(row.subject) != key).copied().collect();
        // Where all rows of a source are scored apart, nothing is left out of the fit.
        let same = folds.iter().find(|fold| fold.rows == seen.len() && others.len() == seen.len());
        let at = match same {
            Some(fold) => fold.at.clone(),
            None => fit(&others, design)?,
        };
        for ((row, own), prediction) in rows.iter().zip(&keys).zip(&mut predictions) {
            if *own == key {
                *prediction = Some(row.predicted(design, &at)?);
            }
        }
        folds.push(Fold { left: Some(key), rows: others.len(), at });
    }
    Ok(Unseen { predictions: predictions.into_iter().flatten().collect(), folds })
}

/// The fit to every row that is not scored apart, with what it says of each subject.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn whole(subjects: &[Subject], design: &Design) -> Result<(Fold, Vec<Prediction>), Unpriced> {
    let rows: Vec<Row<'_>> = subjects.iter().map(|of| Row::new(of, design)).collect::<Result<_, _>>()?;
    let seen = in_order(&rows);
    let fold = Fold { left: None, rows: seen.len(), at: fit(&seen, design)? };
    let predictions = rows.iter().map(|row| row.predicted(design, &fold.at)).collect::<Result<_, _>>()?;
    Ok((fold, predictions))
}

/// What a fit says of subjects.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn predicted(subjects: &[Subject], design: &Design, fold: &Fold) -> Result<Vec<Prediction>, Unpriced> {
    subjects.iter().map(|of| Row::new(of, design)?.predicted(design, &fold.at)).collect()
}

/// What may be fitted to, whatever order it came in.
fn in_order<'r, 'a>(rows: &'r [Row<'a>]) -> Vec<&'r Row<'a>> {
    let mut kept: Vec<&Row<'_>> = rows.iter().filter(|row| !row.subject.measured.is_excluded()).collect();
    kept.sort_by(|a, b| {
        let name = |row: &Row<'a>| (row.subject.source().to_owned(), row.subject.measured.id.clone());
        name(a).cmp(&name(b))
    });
    kept
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = names.collect();
    all.sort();
    all.dedup();
    all
}
