//! The best tree over batch, beside the best chain, and the forms that engines take.

use serde_json::{Value, json};

use crate::acceptance::tree::scores;
use crate::domain::ranks::Ranks;
use crate::domain::tree::Tree;
use crate::plan::tree::{Bounds, TreeChoice};
use crate::report::table::{Style, composed, right, table};
use crate::report::{csv, json};
use crate::sweep::row::Cell;

/// The columns of `tree`'s CSV.
pub const COLUMNS: [&str; 15] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "context",
    "batch",
    "nodes",
    "depth",
    "topk",
    "tokens_per_pass",
    "speedup",
    "fits",
    "chain_k",
    "chain_tokens_per_pass",
    "chain_speedup",
];

/// Nodes beyond this are in the files only.
const MOST_LINES: usize = 64;

/// What was searched, and for what.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched<'a> {
    /// Hardware, target, drafter and engine, as in the sweep's CSV.
    pub names: [&'a str; 4],
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// How far.
    pub bounds: Bounds,
    /// How often each rank is accepted.
    pub ranks: &'a Ranks,
    /// What was found, by batch.
    pub rows: Vec<Row>,
    /// Which of them is drawn.
    pub drawn: usize,
}

/// The best at one batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Sequences decoded together.
    pub batch: u64,
    /// The best tree.
    pub tree: TreeChoice,
    /// The best chain.
    pub chain: TreeChoice,
}

impl Searched<'_> {
    /// The tree that is drawn.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.rows[self.drawn].tree.tree
    }

    fn cells(&self, row: &Row) -> [Cell<'_>; COLUMNS.len()] {
        let [hardware, target, drafter, engine] = self.names.map(Cell::Text);
        let whole = |number: usize| Cell::Integer(number as u64);
        [
            hardware,
            target,
            drafter,
            engine,
            Cell::Integer(self.context),
            Cell::Integer(row.batch),
            whole(row.tree.tree.nodes()),
            whole(row.tree.tree.depth()),
            whole(topk(&row.tree.tree)),
            Cell::Number(row.tree.tokens),
            Cell::Number(row.tree.speedup),
            Cell::Flag(row.tree.fits),
            whole(row.chain.tree.depth()),
            Cell::Number(row.chain.tokens),
            Cell::Number(row.chain.speedup),
        ]
    }
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(searched: &Searched<'_>) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(searched.rows.iter().map(|row| searched.cells(row)))?);
    Ok(bytes)
}

/// `{"manifest": {…}, "rows": […], "tree": {…}}`.
#[must_use]
pub fn json(searched: &Searched<'_>, manifest: &Value) -> Vec<u8> {
    let rows: Vec<Value> = searched.rows.iter().map(|row| json::object(&COLUMNS, searched.cells(row))).collect();
    let tree = searched.tree();
    let drawn = json!({
        "batch": searched.rows[searched.drawn].batch,
        "paths": tree.paths(),
        "scores": scores(tree, searched.ranks)[1..],
        "medusa_choices": tree.paths(),
        "sglang": sglang(tree),
    });
    format!("{:#}\n", json!({ "manifest": manifest, "rows": rows, "tree": drawn })).into_bytes()
}

/// The tree as Medusa's code takes it: the path to each node by ranks from 0.
#[must_use]
pub fn medusa(tree: &Tree) -> String {
    let path = |path: &Vec<usize>| {
        let ranks: Vec<String> = path.iter().map(usize::to_string).collect();
        format!("[{}]", ranks.join(", "))
    };
    format!("[{}]", tree.paths().iter().map(path).collect::<Vec<_>>().join(", "))
}

/// The flags with which SGLang drafts a tree of this size. It picks the nodes itself in every round, by what its drafter
/// is sure of; `topk` is wide enough for every tree of this shape.
#[must_use]
pub fn sglang(tree: &Tree) -> String {
    format!(
        "--speculative-num-steps {} --speculative-eagle-topk {} --speculative-num-draft-tokens {}",
        tree.depth(),
        topk(tree),
        tree.nodes()
    )
}

/// Candidates of a draft pass that are wide enough for a tree: its widest branching, and the most nodes that have children on
/// one level.
fn topk(tree: &Tree) -> usize {
    tree.expanded().into_iter().max().unwrap_or(0).max(tree.widest_branching())
}

/// What people read: a row for each batch, the tree drawn, and the forms.
#[must_use]
pub fn text(searched: &Searched<'_>, style: Style) -> String {
    let header =
        ["batch", "nodes", "levels", "topk", "tokens", "speedup", "chain k", "tokens", "speedup", "tree gains"];
    let mut rows = table(&header.map(str::to_owned), style);
    for row in &searched.rows {
        let mark = if row.tree.fits { "" } else { "!" };
        let (tree, chain) = (&row.tree, &row.chain);
        let cells = [
            row.batch.to_string(),
            tree.tree.nodes().to_string(),
            tree.tree.depth().to_string(),
            topk(&tree.tree).to_string(),
            format!("{:.2}", tree.tokens),
            format!("{:.2}x{mark}", tree.speedup),
            chain.tree.depth().to_string(),
            format!("{:.2}", chain.tokens),
            format!("{:.2}x", chain.speedup),
            format!("{:+.1} %", 100.0 * (tree.speedup / chain.speedup - 1.0)),
        ];
        rows.add_row(cells.map(right));
    }
    let mut notes = vec!["nodes with the root, the last emitted token; 1 node: do not speculate".to_owned()];
    if searched.rows.iter().any(|row| !row.tree.fits) {
        notes.push("!: does not fit in memory".to_owned());
    }
    let bounds = searched.bounds;
    let [hardware, target, drafter, engine] = searched.names;
    let title = format!(
        "{hardware}, target {target}, drafter {drafter}, context {}, engine {engine}: trees of up to {} nodes, {} levels, {} \
         children",
        searched.context, bounds.nodes, bounds.depth, bounds.branch
    );
    let over_batch = composed(&title, &rows, notes, style);
    [over_batch, drawn(searched, style)].join("\n\n")
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
    format!(
        "The tree at batch {}: rank of each candidate, and how often it is accepted\n{picture}\n\nMedusa's choices: {}\nSGLang: {}",
        row.batch,
        medusa(tree),
        sglang(tree)
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_what_engines_take() {
        let tree = Tree::new(&[0, 0, 1, 1, 2]).unwrap();
        assert_eq!(medusa(&tree), "[[0], [1], [0, 0], [0, 1], [1, 0]]");
        assert_eq!(
            sglang(&tree),
            "--speculative-num-steps 2 --speculative-eagle-topk 2 --speculative-num-draft-tokens 6"
        );
    }
}
