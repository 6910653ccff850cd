//! Tokens per pass over time.

use crate::import::engine::stamp::written;
use crate::report::acceptance::Section;
use crate::report::acceptance::warnings::name;
use crate::report::chart::bodies::{Guide, Kind, Scatter};
use crate::report::chart::spec::{Body, Chart, Heading};

/// More lines than this cannot be told apart.
const MOST: usize = 6;

/// Points over minutes.
type Points = Vec<(f64, f64)>;

/// A chart of the sections of spans, if there are at least two spans.
#[must_use]
pub fn chart(sections: &[Section<'_>], title: &str, trust: &[String]) -> Option<Chart> {
    let mut kinds: Vec<(Vec<String>, Points)> = Vec::new();
    let spans = || sections.iter().filter_map(|section| section.group.span);
    let (first, last) = (spans().min()?, spans().max()?);
    if first == last {
        return None;
    }
    let mut guides = Vec::new();
    for section in sections {
        let (Some(span), Some(tokens)) = (section.group.span, section.found.tokens_per_pass) else { continue };
        let (words, x) = (words(section), (span - first) as f64 / 60.0);
        if section.found.basis.is_some() {
            guides.push(Guide { from: (x, tokens.low), to: (x, tokens.high), strong: false });
        }
        match kinds.iter_mut().find(|(known, _)| *known == words) {
            Some((_, points)) => points.push((x, tokens.value)),
            None => kinds.push((words, vec![(x, tokens.value)])),
        }
    }
    let all = kinds.len();
    kinds.truncate(MOST);
    let (shared, kinds) = named(kinds);
    let highest = guides.iter().map(|guide| guide.to.1).fold(1.0, f64::max);
    let highest = kinds.iter().flat_map(|(_, points)| points).map(|(_, tokens)| *tokens).fold(highest, f64::max);
    let joined = |points: &Points| -> Vec<Guide> {
        points.windows(2).map(|pair| Guide { from: pair[0], to: pair[1], strong: false }).collect()
    };
    let began =
        sections.iter().filter_map(|section| section.pool.span).map(|span| span.0).min_by_key(|at| at.seconds)?;
    let heading = Heading {
        title: format!("Tokens per pass over time: {title}"),
        subtitle: format!("{shared}: accepted drafts and the bonus token of each round, from {}", written(began)),
        caption: format!(
            "Upright strokes: 95 % intervals, if rounds are independent or windows spread enough.{}",
            if all > MOST { format!("  {MOST} of {all} lines; the CSV has all.") } else { String::new() }
        ),
        trust: trust.to_vec(),
    };
    let end = (last - first) as f64 / 60.0;
    guides.extend(kinds.iter().flat_map(|(_, points)| joined(points)));
    let kind = |(color, (name, points)): (usize, (String, Points))| Kind { name, color, points };
    let body = Scatter {
        x_label: "minutes".to_owned(),
        y_label: "tokens per pass".to_owned(),
        x: (0.0, end),
        log_x: false,
        y: (1.0, 1.0 + (highest - 1.0) * 1.1 + 0.05),
        log_y: false,
        legend: "printed by".to_owned(),
        kinds: kinds.into_iter().enumerate().map(kind).collect(),
        guides,
    };
    Some(Chart { part: "over-time".to_owned(), heading, body: Body::Scatter(body) })
}

/// What tells a section apart, spans aside.
fn words(section: &Section<'_>) -> Vec<String> {
    let group = section.group;
    let rank = group.rank.as_ref().map(|rank| format!("rank {rank}"));
    let k = section.found.k.map(|k| format!("k = {k}"));
    [Some(name(section.printout).to_owned()), group.model.clone(), rank, k].into_iter().flatten().collect()
}

/// Lines named by what not all of them share, and what they do.
fn named(kinds: Vec<(Vec<String>, Points)>) -> (String, Vec<(String, Points)>) {
    let in_all = |word: &String| kinds.iter().all(|(words, _)| words.contains(word));
    let shared: Vec<String> =
        kinds.first().map_or_else(Vec::new, |(words, _)| words.iter().filter(|word| in_all(word)).cloned().collect());
    let own = |words: Vec<String>| {
        let own: Vec<String> = words.into_iter().filter(|word| !shared.contains(word)).collect();
        if own.is_empty() { "all".to_owned() } else { own.join(", ") }
    };
    let kinds = kinds.into_iter().map(|(words, points)| (own(words), points)).collect();
    (shared.join(", "), kinds)
}
