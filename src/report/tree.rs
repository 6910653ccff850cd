//! The best tree over batch, beside the best chain, and the forms that engines take.

pub mod forms;
pub mod text;

use serde_json::{Value, json};

use crate::acceptance::process::Known;
use crate::acceptance::tree::scores;
use crate::domain::ranks::Ranks;
use crate::domain::shape::TreeShape;
use crate::domain::tree::Tree;
use crate::plan::limits::beyond_with;
use crate::plan::tree::{Bounds, Gain, TreeChoice};
use crate::report::tree::forms::{sglang, topk};
use crate::report::{csv, json};
use crate::sweep::grid::Block;
use crate::sweep::row::{Cell, Notes};
use crate::words::DrafterKind;

/// The columns of `tree`'s CSV.
pub const COLUMNS: [&str; 26] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "roofline",
    "tensor_parallel",
    "context",
    "batch",
    "nodes",
    "depth",
    "topk",
    "tokens_per_pass",
    "speedup",
    "fits",
    "notes",
    "chain_k",
    "chain_tokens_per_pass",
    "chain_speedup",
    "chain_fits",
    "chain_notes",
    "own_nodes",
    "own_depth",
    "own_tokens_per_pass",
    "own_speedup",
    "own_fits",
    "own_notes",
];

/// What was searched, and for what.
#[derive(Debug)]
pub struct Searched<'a> {
    /// Hardware, target, engine and drafter, and what prices them.
    pub block: &'a Block<'a>,
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// How far.
    pub bounds: Bounds,
    /// Whether neither ranks nor drafter go deeper.
    pub is_deepest: bool,
    /// How that is known at this context.
    pub known: Known,
    /// How often each rank is accepted.
    pub ranks: &'a Ranks,
    /// The tree that the scenario has its drafter draft.
    pub own: Option<&'a TreeShape>,
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
    /// What the scenario's own tree gains, if it has one.
    pub own: Option<Gain>,
}

impl Searched<'_> {
    /// The tree that is drawn.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.rows[self.drawn].tree.tree
    }

    /// What the reader of a row should know of its tree or chain.
    #[must_use]
    pub fn notes(&self, batch: u64, choice: &TreeChoice) -> Notes {
        self.notes_of(batch, choice.tree.nodes() as u64, choice.tree.depth() as u64)
    }

    fn notes_of(&self, batch: u64, nodes: u64, depth: u64) -> Notes {
        let nodes = nodes as f64;
        Notes {
            known: if depth > 0 { self.known } else { Known::Stated },
            unvalidated: depth > 0 && self.block.is_unvalidated(batch, self.context, depth),
            beyond: beyond_with(&self.block.setup, batch, self.context, depth, nodes),
        }
    }

    /// Whether SGLang drafts trees with such a drafter.
    #[must_use]
    pub fn has_sglang(&self) -> bool {
        let kind = self.block.drafter.map(|drafter| drafter.source.kind());
        matches!(kind, Some(DrafterKind::Eagle | DrafterKind::Mtp | DrafterKind::Model))
    }

    fn cells(&self, row: &Row) -> [Cell<'_>; COLUMNS.len()] {
        let whole = |number: usize| Cell::Integer(number as u64);
        let own = |of: fn(Gain) -> Cell<'static>| row.own.map_or(Cell::Empty, of);
        let labels = &self.block.labels;
        [
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            labels.drafter.map_or(Cell::Empty, Cell::Text),
            Cell::Text(labels.engine),
            Cell::Text(labels.roofline.as_str()),
            Cell::Integer(labels.tensor_parallel),
            Cell::Integer(self.context),
            Cell::Integer(row.batch),
            whole(row.tree.tree.nodes()),
            whole(row.tree.tree.depth()),
            whole(topk(&row.tree.tree)),
            Cell::Number(row.tree.tokens),
            Cell::Number(row.tree.speedup),
            Cell::Flag(row.tree.fits),
            Cell::Notes(self.notes(row.batch, &row.tree)),
            whole(row.chain.tree.depth()),
            Cell::Number(row.chain.tokens),
            Cell::Number(row.chain.speedup),
            Cell::Flag(row.chain.fits),
            Cell::Notes(self.notes(row.batch, &row.chain)),
            self.own.map_or(Cell::Empty, |own| Cell::Integer(own.nodes())),
            self.own.map_or(Cell::Empty, |own| Cell::Integer(own.depth())),
            own(|own| Cell::Number(own.tokens)),
            own(|own| Cell::Number(own.speedup)),
            own(|own| Cell::Flag(own.fits)),
            self.own.map_or(Cell::Empty, |own| Cell::Notes(self.notes_of(row.batch, own.nodes(), own.depth()))),
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
        "sglang": searched.has_sglang().then(|| sglang(tree)),
    });
    format!("{:#}\n", json!({ "manifest": manifest, "rows": rows, "tree": drawn })).into_bytes()
}
