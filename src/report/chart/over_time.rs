//! Tokens per pass over time.

use crate::domain::observed::Stamp;
use crate::import::engine::stamp::written;
use crate::report::acceptance::Section;
use crate::report::acceptance::text::whose;
use crate::report::chart::bodies::{Guide, Kind, Scale, Scatter};
use crate::report::chart::spec::{Body, Chart, Heading};

/// More lines than this cannot be told apart.
const MOST: usize = 7;

/// Spans of one line.
type Spots = Vec<Spot>;

/// A chart of the sections of spans, if there are at least two spans.
#[must_use]
pub fn chart(sections: &[Section<'_>], title: &str, trust: &[String]) -> Option<Chart> {
    let mut kinds: Vec<(Vec<String>, Spots)> = Vec::new();
    let spans = || sections.iter().filter_map(|section| section.group.span);
    let (first, last) = (spans().min()?, spans().max()?);
    if first == last {
        return None;
    }
    let of_years = || sections.iter().filter_map(|section| section.pool.span).map(|(first, _)| first.has_year);
    if of_years().any(|is| is) && of_years().any(|is| !is) {
        // Moments with and without a year stand on no common axis.
        return None;
    }
    for section in sections {
        let (Some(span), Some(tokens)) = (section.group.span, section.found.tokens_per_pass) else { continue };
        let mut words = whose(section);
        words.extend(section.found.k.map(|k| format!("k = {k}")));
        let spot = Spot {
            at: span - first,
            tokens: tokens.value,
            sure: section.found.basis.map(|_| (tokens.low, tokens.high)),
        };
        match kinds.iter_mut().find(|(known, _)| *known == words) {
            Some((_, spots)) => spots.push(spot),
            None => kinds.push((words, vec![spot])),
        }
    }
    let all = kinds.len();
    let (shared, mut kinds) = named(kinds);
    kinds.truncate(MOST);
    let (unit, seconds) = unit(last - first);
    let guides: Vec<Guide> =
        kinds.iter().enumerate().flat_map(|(color, (_, spots))| guides(color, spots, seconds)).collect();
    let highest = guides
        .iter()
        .map(|guide| guide.to.1)
        .chain(kinds.iter().flat_map(|(_, spots)| spots.iter().map(|spot| spot.tokens)));
    let highest = highest.fold(1.0, f64::max);
    let began =
        sections.iter().filter_map(|section| section.pool.span).map(|span| span.0).min_by_key(|at| at.seconds)?;
    let began = written(Stamp { seconds: first, ..began });
    let many = if all > MOST { format!("  {MOST} of {all} lines; --format csv has all.") } else { String::new() };
    let heading = Heading {
        title: format!("Tokens per pass over time: {title}"),
        subtitle: format!("{shared}: accepted drafts and the bonus token of each round"),
        caption: format!("Upright strokes: 95 % intervals, where spans are few enough to show them.{many}"),
        trust: trust.to_vec(),
    };
    let kind = |(color, (name, spots)): (usize, (String, Vec<Spot>))| {
        let points = spots.iter().map(|spot| (spot.at as f64 / seconds, spot.tokens)).collect();
        Kind { name, color, points }
    };
    let body = Scatter {
        x_label: format!("{unit} from {began}"),
        y_label: "tokens per pass".to_owned(),
        x: (0.0, (last - first) as f64 / seconds),
        x_scale: Scale::Even,
        y: (1.0, 1.0 + (highest - 1.0) * 1.1 + 0.05),
        y_scale: Scale::Even,
        legend: "printed by".to_owned(),
        kinds: kinds.into_iter().enumerate().map(kind).collect(),
        guides,
    };
    Some(Chart { part: "over-time".to_owned(), heading, body: Body::Scatter(body) })
}

/// A span of one line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spot {
    /// Seconds from the first.
    at: i64,
    tokens: f64,
    sure: Option<(f64, f64)>,
}

/// More spans than this are a band of strokes.
const MOST_STROKES: usize = 120;

/// Strokes of intervals, and joints between spans that follow each other: nothing is drawn over a gap.
fn guides(color: usize, spots: &[Spot], seconds: f64) -> Vec<Guide> {
    let x = |spot: &Spot| spot.at as f64 / seconds;
    let guide = |from, to| Guide { from, to, strong: false, color: Some(color) };
    let step = spots.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap_or(0);
    let next = |pair: &&[Spot]| pair[1].at - pair[0].at <= step + step / 2;
    let joined =
        spots.windows(2).filter(next).map(|pair| guide((x(&pair[0]), pair[0].tokens), (x(&pair[1]), pair[1].tokens)));
    let few = spots.len() <= MOST_STROKES;
    let sure = spots
        .iter()
        .filter(|_| few)
        .filter_map(|spot| spot.sure.map(|(low, high)| guide((x(spot), low), (x(spot), high))));
    joined.chain(sure).collect()
}

/// What a time is told in, and its seconds.
const fn unit(all: i64) -> (&'static str, f64) {
    match all {
        ..10_800 => ("minutes", 60.0),
        10_800..259_200 => ("hours", 3600.0),
        _ => ("days", 86_400.0),
    }
}

/// Lines named by what not all of them share, and what they do.
fn named(kinds: Vec<(Vec<String>, Spots)>) -> (String, Vec<(String, Spots)>) {
    let in_all = |word: &String| kinds.iter().all(|(words, _)| words.contains(word));
    let shared: Vec<String> =
        kinds.first().map_or_else(Vec::new, |(words, _)| words.iter().filter(|word| in_all(word)).cloned().collect());
    let own = |words: Vec<String>| {
        let own: Vec<String> = words.into_iter().filter(|word| !shared.contains(word)).collect();
        // One line needs no other name than its form's.
        if own.is_empty() { shared.first().cloned().unwrap_or_default() } else { own.join(", ") }
    };
    let kinds = kinds.into_iter().map(|(words, spots)| (own(words), spots)).collect();
    (shared.join(", "), kinds)
}
