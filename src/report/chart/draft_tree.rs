//! What the charts of a search for trees show.

use crate::acceptance::tree::scores;
use crate::report::chart::bodies::TreePlot;
use crate::report::chart::spec::{Body, Chart, Heading, Line, LinePlot, Lines, Spot};
use crate::report::tree::forms::sglang;
use crate::report::tree::{Row, Searched, text};

/// The tree itself, and what it gains beside the best chain.
#[must_use]
pub fn charts(searched: &Searched<'_>, title: &str, trust: &[String]) -> Vec<Chart> {
    let tree = searched.tree();
    let drawing = (tree.nodes() > 1).then(|| drawing(searched, title, trust));
    drawing.into_iter().chain([over_batch(searched, title, trust)]).collect()
}

fn drawing(searched: &Searched<'_>, title: &str, trust: &[String]) -> Chart {
    let (row, tree) = (&searched.rows[searched.drawn], searched.tree());
    type Node = (usize, usize, usize);
    let of = |pick: fn(Node) -> usize| -> Vec<usize> { tree.iter().map(pick).collect() };
    let (parents, ranks, levels) = (of(|(parent, _, _)| parent), of(|(_, rank, _)| rank), of(|(_, _, level)| level));
    let heading = Heading {
        title: format!("The best draft tree at batch {}: {title}", row.batch),
        subtitle: text::heading(searched),
        caption: format!(
            "{} nodes with the last token, {:.2} tokens per pass, {:.2}x{}.  Darker: accepted more often.{}",
            tree.nodes(),
            row.tree.tokens,
            row.tree.speedup,
            if row.tree.fits { "" } else { ", does not fit in memory" },
            if searched.has_sglang() && searched.block.engine.id.starts_with("sglang") {
                format!("  {}", sglang(tree))
            } else {
                String::new()
            }
        ),
        trust: trust.to_vec(),
    };
    let plot = TreePlot { parents, ranks, levels, scores: scores(tree, searched.ranks) };
    Chart { part: "drawing".to_owned(), heading, body: Body::Tree(plot) }
}

fn over_batch(searched: &Searched<'_>, title: &str, trust: &[String]) -> Chart {
    let line = |of: fn(&Row) -> (f64, bool)| {
        let spot = |row: &Row| {
            let (y, fits) = of(row);
            Spot { x: row.batch, y, fits, carried: false }
        };
        let mut spots: Vec<Spot> = searched.rows.iter().map(spot).collect();
        spots.sort_by_key(|spot| spot.x);
        Line { spots, fits_up_to: None }
    };
    let mut lines =
        vec![line(|row| (row.tree.speedup, row.tree.fits)), line(|row| (row.chain.speedup, row.chain.fits))];
    if searched.own.is_some() {
        lines.push(line(|row| row.own.map_or((1.0, true), |own| (own.speedup, own.fits))));
    }
    let own = searched.own.map(|_| "own tree");
    let names = ["best tree", "best chain"].into_iter().chain(own).map(str::to_owned).collect();
    let unfit = searched.rows.iter().any(|row| !row.tree.fits || !row.chain.fits);
    let heading = Heading {
        title: format!("The best tree and the best chain against batch: {title}"),
        subtitle: text::heading(searched),
        caption: format!(
            "At every batch the best of each, up to {} nodes and {} levels; 1x: do not speculate.{}",
            searched.bounds.nodes,
            searched.bounds.depth,
            if unfit { "  Dashed: does not fit in memory." } else { "" }
        ),
        trust: trust.to_vec(),
    };
    let body = Lines {
        marks: Vec::new(),
        x_label: "batch (sequences decoded together)".to_owned(),
        xs: searched.rows.iter().map(|row| row.batch).collect(),
        legend: "drafting".to_owned(),
        names,
        plots: vec![LinePlot { title: String::new(), lines }],
    };
    Chart { part: "speedup-by-batch".to_owned(), heading, body: Body::Lines(body) }
}
