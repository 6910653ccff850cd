//! What people read of a search for trees: a row for each batch, the tree drawn, and the forms.

use comfy_table::Cell;

use crate::acceptance::tree::scores;
use crate::domain::tree::Tree;
use crate::plan::tree::TreeChoice;
use crate::report::number::{counted, times};
use crate::report::table::{Style, composed, devices, right, table};
use crate::report::tree::forms::{medusa, sglang, topk};
use crate::report::tree::{Row, Searched};

/// Nodes beyond this are in the files only.
const MOST_LINES: usize = 64;

/// The table over batch, then the tree of one of them.
#[must_use]
pub fn text(searched: &Searched<'_>, style: Style) -> String {
    let title = format!(
        "{}: trees of up to {}, {}, {}",
        heading(searched),
        counted(searched.bounds.nodes as u64, "node"),
        counted(searched.bounds.depth as u64, "level"),
        counted(searched.bounds.branch as u64, "rank")
    );
    let over_batch = composed(&title, &over_batch(searched, style), notes(searched), style);
    [over_batch, drawn(searched, style)].join("\n\n")
}

/// What was searched for.
#[must_use]
pub fn heading(searched: &Searched<'_>) -> String {
    let labels = &searched.block.labels;
    let devices = devices(&searched.block.setup);
    format!(
        "{devices}{}, target {}, drafter {}, context {}, engine {}",
        labels.hardware,
        labels.target,
        labels.drafter.unwrap_or_default(),
        searched.context,
        labels.engine
    )
}

fn over_batch(searched: &Searched<'_>, style: Style) -> comfy_table::Table {
    let mut header = vec![
        "batch",
        "nodes",
        "depth",
        "topk",
        "tokens",
        "speedup",
        "chain k",
        "its tokens",
        "its speedup",
        "tree gains",
    ];
    header.extend(searched.own.map(|_| "own tree"));
    let mut rows = table(&header.into_iter().map(str::to_owned).collect::<Vec<_>>(), style);
    for row in &searched.rows {
        let (tree, chain) = (&row.tree, &row.chain);
        let marked = |speedup: f64, fits: bool| format!("{}{}", times(speedup), if fits { "" } else { "!" });
        let mut cells = vec![
            row.batch.to_string(),
            tree.tree.nodes().to_string(),
            tree.tree.depth().to_string(),
            topk(&tree.tree).to_string(),
            format!("{:.2}", tree.tokens),
            marked(tree.speedup, tree.fits),
            chain.tree.depth().to_string(),
            format!("{:.2}", chain.tokens),
            marked(chain.speedup, chain.fits),
            format!("{:+.1} %", 100.0 * (tree.speedup / chain.speedup - 1.0)),
        ];
        cells.extend(row.own.map(|own| marked(own.speedup, own.fits)));
        rows.add_row(cells.into_iter().map(right).collect::<Vec<Cell>>());
    }
    rows
}

fn notes(searched: &Searched<'_>) -> Vec<String> {
    let mut notes = vec!["nodes with the root, the last emitted token; 1 node: do not speculate".to_owned()];
    let unfit = |row: &Row| !row.tree.fits || !row.chain.fits || row.own.is_some_and(|own| !own.fits);
    if searched.rows.iter().any(unfit) {
        notes.push("!: does not fit in memory".to_owned());
    }
    if let (Some(shape), Some(own)) = (searched.own, searched.rows.iter().find_map(|row| row.own)) {
        let nodes = counted(shape.nodes(), "node");
        notes.push(format!("own tree: the drafter's shape.tree of {nodes}, {:.2} tokens per pass", own.tokens));
    }
    notes.extend(bound(searched));
    notes.extend(beyond(searched));
    notes
}

/// Where the search was stopped by what it was allowed.
fn bound(searched: &Searched<'_>) -> Option<String> {
    let bounds = searched.bounds;
    let at = |reached: &dyn Fn(&TreeChoice) -> bool| {
        let batches = searched.rows.iter().filter(|row| reached(&row.tree)).map(|row| row.batch.to_string());
        Some(batches.collect::<Vec<_>>().join(", ")).filter(|batches| !batches.is_empty())
    };
    let nodes = at(&|choice| choice.tree.nodes() == bounds.nodes).map(|at| format!("--nodes (batch {at})"));
    let levels = at(&|choice| !searched.is_deepest && choice.tree.depth() == bounds.depth);
    let levels = levels.map(|at| format!("--depth (batch {at})"));
    let both: Vec<String> = nodes.into_iter().chain(levels).collect();
    (!both.is_empty()).then(|| format!("as large as {} let it be: more may gain more", both.join(" and ")))
}

/// Limits of the engine that the best trees go beyond, and from which batch on.
fn beyond(searched: &Searched<'_>) -> Option<String> {
    let mut first: Vec<(&str, u64)> = Vec::new();
    for row in &searched.rows {
        for (_, limit) in searched.notes(row.batch, &row.tree).beyond.limits() {
            if !first.iter().any(|(known, _)| *known == limit) {
                first.push((limit, row.batch));
            }
        }
    }
    let all: Vec<String> = first.iter().map(|(limit, batch)| format!("{limit} from batch {batch} on")).collect();
    (!all.is_empty()).then(|| format!("beyond the engine's limits: {}", all.join("; ")))
}

fn drawn(searched: &Searched<'_>, style: Style) -> String {
    let (row, tree) = (&searched.rows[searched.drawn], searched.tree());
    if tree.nodes() == 1 {
        return format!("At batch {} no tree pays: decode plainly.", row.batch);
    }
    let scores = scores(tree, searched.ranks);
    let mut lines = vec!["last token".to_owned()];
    branches(tree, &scores, 0, "", &mut lines);
    let more = lines.len().saturating_sub(MOST_LINES + 1);
    lines.truncate(MOST_LINES + 1);
    lines.extend((more > 0).then(|| format!("… and {more} more nodes; the files hold all")));
    let picture = match style {
        Style::Markdown => format!("```text\n{}\n```", lines.join("\n")),
        _ => lines.join("\n"),
    };
    let fits = if row.tree.fits { "" } else { ", which does not fit in memory" };
    let mut parts = vec![
        format!(
            "The tree at batch {}{fits}: rank of each candidate, and how often it is accepted\n{picture}",
            row.batch
        ),
        format!("List of choices: {}", medusa(tree)),
    ];
    parts.extend(searched.has_sglang().then(|| format!("SGLang: {}", sglang(tree))));
    let [picture, forms @ ..] = parts.as_slice() else { return String::new() };
    format!("{picture}\n\n{}", forms.join("\n"))
}

/// The nodes below one, depth first, with lines that join them.
fn branches(tree: &Tree, scores: &[f64], node: usize, before: &str, lines: &mut Vec<String>) {
    let mut children: Vec<(usize, usize)> = tree
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, (parent, _, _))| *parent == node)
        .map(|(child, (_, rank, _))| (rank, child))
        .collect();
    children.sort_unstable();
    let last = children.len();
    for (at, (rank, child)) in children.into_iter().enumerate() {
        let (corner, bar) = if at + 1 == last { ("└─", "  ") } else { ("├─", "│ ") };
        lines.push(format!("{before}{corner} {rank}  {:.3}", scores[child]));
        branches(tree, scores, child, &format!("{before}{bar} "), lines);
    }
}
