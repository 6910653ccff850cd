//! Everything that the study finds.

use crate::evidence::predict::{Prediction, Unpriced};
use crate::evidence::study::constants::concerns;
use crate::evidence::study::fit::Design;
use crate::evidence::study::folds::{Fold, Left, Unseen, measured, predicted, unseen, whole};
use crate::evidence::study::interval::{Interval, from_others, stated};
use crate::evidence::study::standing::{Comparison, Standing, compare, standing};
use crate::evidence::study::subject::Subject;
use crate::evidence::study::variant::{Measured, Variant, shipped};
use crate::words::{Fitted, Word};

/// The shipped form, held against every source by fits that have not seen it.
#[derive(Clone, Debug)]
pub struct Study {
    /// Engines and families that are measured.
    pub measured: Measured,
    /// What is fitted.
    pub design: Design,
    /// With the constants of the engine profiles.
    pub shipped: Vec<Prediction>,
    /// Without the source of each row.
    pub unseen: Unseen,
    /// The fit to every row.
    pub whole: Fold,
    /// What that says of the rows that it has seen.
    pub seen: Vec<Prediction>,
    /// What the program states as nine in ten.
    pub stated: Vec<Interval>,
    /// What the other sources give.
    pub from_others: Vec<Option<Interval>>,
}

/// Studies the shipped form.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn study(subjects: &[Subject]) -> Result<Study, Unpriced> {
    let measured = measured(subjects);
    let design = shipped(&measured);
    let unseen = unseen(subjects, &design, Left::Source)?;
    let (whole, seen) = whole(subjects, &design)?;
    Ok(Study {
        shipped: subjects.iter().map(Subject::shipped).collect::<Result<_, _>>()?,
        stated: subjects.iter().map(stated).collect::<Result<_, _>>()?,
        from_others: from_others(subjects, &unseen.predictions),
        measured,
        design,
        unseen,
        whole,
        seen,
    })
}

/// A form that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The form.
    pub variant: Variant,
    /// The fit to every row.
    pub whole: Fold,
    /// Every row without its source.
    pub predictions: Vec<Prediction>,
    /// Beside the shipped form.
    pub comparison: Comparison,
}

impl Tried {
    /// Constants that the shipped form does not fit, as all rows have them, in seconds or as shares.
    #[must_use]
    pub fn added(&self, shipped: &Design) -> Vec<(Fitted, f64)> {
        let design = &self.variant.design;
        let is_new = |of: &Fitted| !shipped.parameters.iter().any(|one| one.of == *of);
        let value = |of: Fitted| Some((of, self.whole.value(design, of, "")?));
        Fitted::ALL.iter().copied().filter(is_new).filter_map(value).collect()
    }
}

/// Tries other forms, or other priors.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn variants(subjects: &[Subject], study: &Study, variants: Vec<Variant>) -> Result<Vec<Tried>, Unpriced> {
    let tried = |variant: Variant| {
        let predictions = unseen(subjects, &variant.design, Left::Source)?.predictions;
        let about = |of: &Subject| variant.about.is_none_or(|term| concerns(term, of));
        let comparison = compare(subjects, &study.unseen.predictions, &predictions, about);
        let (whole, _) = whole(subjects, &variant.design)?;
        Ok(Tried { variant, whole, predictions, comparison })
    };
    variants.into_iter().map(tried).collect()
}

/// Predictions of rows that no fit has seen, by the constants that made them.
#[derive(Clone, Debug)]
pub struct Others {
    /// The rows: of engines that the study has constants for.
    pub subjects: Vec<Subject>,
    /// With the constants of the engine profiles.
    pub shipped: Vec<Prediction>,
    /// With the shipped form fitted to all rows of the study.
    pub fitted: Vec<Prediction>,
    /// With each other form, so fitted, by its name.
    pub tried: Vec<(&'static str, Vec<Prediction>)>,
}

/// Predicts rows that are not part of the study; those of engines that it has not measured are left out.
///
/// # Errors
///
/// [`Unpriced`] of the first subject that has no price.
pub fn others(subjects: &[Subject], study: &Study, tried: &[Tried]) -> Result<Others, Unpriced> {
    let is_known = |of: &&Subject| study.measured.engines.contains(&of.engine.id);
    let subjects: Vec<Subject> = subjects.iter().filter(is_known).cloned().collect();
    let of = |one: &Tried| Ok((one.variant.name, predicted(&subjects, &one.variant.design, &one.whole)?));
    Ok(Others {
        shipped: subjects.iter().map(Subject::shipped).collect::<Result<_, _>>()?,
        fitted: predicted(&subjects, &study.design, &study.whole)?,
        tried: tried.iter().map(of).collect::<Result<_, Unpriced>>()?,
        subjects,
    })
}

/// Some rows with the three predictions that there are of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Which rows.
    pub name: String,
    /// By fits without their source.
    pub unseen: Standing,
    /// By a fit to all rows.
    pub seen: Standing,
    /// By the constants of the engine profiles.
    pub shipped: Standing,
}

/// How the predictions of rows with each of some names stand; names without a row are left out.
#[must_use]
pub fn parts(subjects: &[Subject], study: &Study, names: &[String], is: impl Fn(&Subject, &str) -> bool) -> Vec<Part> {
    let part = |name: &String| {
        let of = |predictions: &[Prediction]| standing(subjects, predictions, |one| is(one, name));
        let (unseen, seen, shipped) = (of(&study.unseen.predictions)?, of(&study.seen)?, of(&study.shipped)?);
        Some(Part { name: name.clone(), unseen, seen, shipped })
    };
    names.iter().filter_map(part).collect()
}
