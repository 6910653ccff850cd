//! The validation study as Markdown: what stands between the markers of `docs/validation.md`.

mod constants;
mod coverage;
mod devices;
mod goals;
mod others;
mod scores;
mod variants;

pub use scores::by_class;

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::{Others, Study, Tried};
use crate::evidence::study::subject::Subject;

/// Where the generated part begins in a document.
pub const BEGIN: &str = "<!-- study -->";
/// Where it ends.
pub const END: &str = "<!-- end -->";

/// What was studied.
#[derive(Clone, Copy, Debug)]
pub struct Studied<'a> {
    /// What was measured.
    pub subjects: &'a [Subject],
    /// The shipped form.
    pub study: &'a Study,
    /// Every row predicted without its target, the source's other targets kept.
    pub by_target: &'a [Prediction],
    /// Other forms.
    pub tried: &'a [Tried],
    /// Other priors and weights.
    pub checks: &'a [Tried],
    /// Public reports, which are no part of it.
    pub reports: &'a Others,
}

/// The whole generated part, without its markers.
#[must_use]
pub fn document(of: &Studied<'_>) -> String {
    let Studied { subjects, study, by_target, tried, checks, reports } = *of;
    let parts = [
        goals::section(subjects, study),
        by_class(subjects, study),
        scores::by_source(subjects, study),
        scores::by_batch(subjects, study),
        scores::by_topology(subjects, study),
        scores::by_target(subjects, by_target),
        devices::section(subjects),
        constants::section(subjects, study),
        coverage::section(subjects, study),
        variants::forms(subjects, study, tried),
        variants::priors(subjects, study, checks),
        others::section(reports),
    ];
    parts.join("\n")
}

/// The text between the markers of a document; none where they are missing.
///
/// # Examples
///
/// ```
/// use specplan::report::study::generated;
/// assert_eq!(generated("before\n<!-- study -->\ntables\n<!-- end -->\nafter"), Some("tables\n"));
/// assert_eq!(generated("<!-- end --> <!-- study -->"), None);
/// ```
#[must_use]
pub fn generated(document: &str) -> Option<&str> {
    let (_, rest) = document.split_once(&format!("{BEGIN}\n"))?;
    Some(rest.split_once(&format!("{END}\n"))?.0)
}

/// A document with another generated part; none where the markers are missing.
///
/// # Examples
///
/// ```
/// use specplan::report::study::with_generated;
/// let document = "before\n<!-- study -->\nold\n<!-- end -->\nafter";
/// let renewed = "before\n<!-- study -->\nnew\n<!-- end -->\nafter";
/// assert_eq!(with_generated(document, "new\n").as_deref(), Some(renewed));
/// ```
#[must_use]
pub fn with_generated(document: &str, part: &str) -> Option<String> {
    let old = generated(document)?;
    let (before, rest) = document.split_once(&format!("{BEGIN}\n"))?;
    let after = rest.get(old.len()..)?;
    Some(format!("{before}{BEGIN}\n{part}{after}"))
}

/// A table in Markdown: the first column to the left, numbers to the right.
fn table(title: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rule = std::iter::once("---").chain(head.iter().skip(1).map(|_| "--:"));
    let mut text = format!("### {title}\n\n");
    text.push_str(&line(head.iter().map(|&cell| cell.to_owned()).collect()));
    text.push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
    text.extend(rows.iter().cloned().map(line));
    text
}

/// `part of all`, or a dash where there is none.
fn of(part: usize, all: usize) -> String {
    if all == 0 { "-".to_owned() } else { format!("{part} of {all}") }
}

/// Every class, as words.
fn classes() -> Vec<String> {
    use crate::words::{Class, Word};
    Class::ALL.iter().map(|class| class.to_string()).collect()
}

/// All values of a property of rows that are not scored apart, in the order of the alphabet.
fn names(subjects: &[Subject], name: impl Fn(&Subject) -> String) -> Vec<String> {
    let mut all: Vec<String> = subjects.iter().filter(|of| !of.measured.is_excluded()).map(name).collect();
    all.sort();
    all.dedup();
    all
}
