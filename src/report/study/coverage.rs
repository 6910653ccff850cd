//! How often intervals of nine in ten hold what was measured.

use crate::evidence::predict::Prediction;
use crate::evidence::study::findings::Study;
use crate::evidence::study::interval::Interval;
use crate::evidence::study::subject::Subject;
use crate::report::number::shortest;
use crate::report::study::{classes, names, table};
use crate::report::validation::percent;

/// Coverage by class and by source.
pub(super) fn section(subjects: &[Subject], study: &Study) -> String {
    let head = ["rows of", "rows", "stated by `plan`: held", "width", "from other sources: held", "width"];
    let sources = names(subjects, |of| of.source().to_owned());
    let row = |name: String| {
        let within = |of: &Subject| {
            let named = name == "all" || of.class().as_str() == name || of.source() == name;
            named && !of.measured.is_excluded()
        };
        let count = subjects.iter().filter(|of| within(of)).count();
        let stated = study.stated.iter().copied().map(Some).collect::<Vec<_>>();
        let cells = |predictions: &[Prediction], intervals: &[Option<Interval>]| {
            let all = subjects.iter().zip(predictions).zip(intervals).filter(|((of, _), _)| within(of));
            held(all.filter_map(|((of, prediction), interval)| {
                Some((of.measured.speedup, prediction.speedup, (*interval)?))
            }))
        };
        let lead = [name.clone(), count.to_string()];
        let unseen = cells(&study.unseen.predictions, &study.from_others);
        lead.into_iter().chain(cells(&study.shipped, &stated)).chain(unseen).collect()
    };
    let all = classes().into_iter().chain(["all".to_owned()]).chain(sources);
    let rows: Vec<Vec<String>> = all.map(row).collect();
    table("Intervals of nine in ten", &head, &rows) + "\nWidth: upper end over lower end, the mean of the rows.\n"
}

fn held(all: impl Iterator<Item = (f64, f64, Interval)>) -> [String; 2] {
    let (mut rows, mut inside, mut width) = (0_usize, 0_usize, 0.0);
    for (measured, predicted, interval) in all {
        rows += 1;
        inside += usize::from(interval.holds(measured, predicted));
        width += interval.width();
    }
    if rows == 0 {
        return ["-".to_owned(), "-".to_owned()];
    }
    let width = (width / rows as f64 * 100.0).round() / 100.0;
    [percent(inside as f64 / rows as f64), shortest(width)]
}
