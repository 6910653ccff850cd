//! One point of a sweep, and the schema of the table it goes to.

use crate::plan::limits::Beyond;
use crate::plan::yields::{AcceptanceLabel, Known};
use crate::units::{Bytes, Seconds};
use crate::words::{Bound, Roofline};

/// One priced point. Parts are stored; totals and ratios derive from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'s> {
    /// What it was priced for.
    pub labels: Labels<'s>,
    /// Sequences; of each rank, where attention is apart.
    pub batch: u64,
    /// Ranks that attend apart, each to such a batch.
    pub ranks: u64,
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// Draft tokens for each round.
    pub k: u64,
    /// Tokens verified for each sequence.
    pub verify_width: f64,
    /// The acceptance model; none without a drafter.
    pub acceptance: Option<AcceptanceLabel>,
    /// Per-test acceptance, where the model has a single one.
    pub alpha: Option<f64>,
    /// Expected tokens per target pass, bonus included.
    pub tokens_per_pass: f64,
    /// The plain step.
    pub base_step: Seconds,
    /// The draft phase.
    pub draft: Seconds,
    /// The verification pass.
    pub verify: Seconds,
    /// What is paid only for speculating, whatever is emitted.
    pub fixed: Seconds,
    /// What each token costs that a round emits of a sequence.
    pub token: Seconds,
    /// What plain step, draft pass and verification pass are bound by.
    pub bounds: Bounds,
    /// Memory with and without the drafter.
    pub memory: MemoryUse,
    /// What its reader should know.
    pub notes: Notes,
}

/// What the reader of a point should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    /// How the tokens per pass are known.
    pub known: Known,
    /// No published measurement of such hardware, drafter, batch or context stands behind the price.
    pub unvalidated: bool,
    /// Limits that the point goes beyond.
    pub beyond: Beyond,
}

impl Notes {
    /// Every word that holds.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let unvalidated = self.unvalidated.then_some("unvalidated");
        let own = self.known.note().into_iter().chain(unvalidated);
        own.chain(self.beyond.limits().map(|(word, _)| word))
    }

    /// The words, separated by blanks; none where there is nothing to note.
    #[must_use]
    pub fn text(self) -> Option<String> {
        let words: Vec<&str> = self.words().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The names a point was priced for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Labels<'s> {
    /// Hardware id.
    pub hardware: &'s str,
    /// Target id.
    pub target: &'s str,
    /// Drafter label; none: plain decoding.
    pub drafter: Option<&'s str>,
    /// Engine id.
    pub engine: &'s str,
    /// How passes were priced.
    pub roofline: Roofline,
    /// Devices of a replica.
    pub tensor_parallel: u64,
}

/// What passes are bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The plain step.
    pub base: Bound,
    /// A draft pass; none where nothing is drafted or no pass is modelled.
    pub draft: Option<Bound>,
    /// The verification pass.
    pub verify: Bound,
}

/// Bytes on each device, and whether they fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryUse {
    /// Without the drafter.
    pub base: Bytes,
    /// With it.
    pub speculative: Bytes,
    /// Whether `base` fits.
    pub base_fits: bool,
    /// Whether `speculative` fits.
    pub fits: bool,
}

impl Row<'_> {
    /// `fixed + tokens_per_pass * token`.
    #[must_use]
    pub fn overhead(&self) -> Seconds {
        self.fixed + self.token * self.tokens_per_pass
    }

    /// `draft + verify + overhead`.
    #[must_use]
    pub fn round(&self) -> Seconds {
        self.draft + self.verify + self.overhead()
    }

    /// `tokens_per_pass * base_step / round`.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        crate::plan::speedup::speedup(self.tokens_per_pass, self.base_step, self.round())
    }

    /// Tokens per second of the whole batch of all ranks, decoding plainly: `ranks * batch / base_step`.
    #[must_use]
    pub fn base_tokens_per_s(&self) -> f64 {
        (self.ranks * self.batch) as f64 / self.base_step.get()
    }

    /// Tokens per second of the whole batch of all ranks, speculating:
    /// `ranks * batch * tokens_per_pass / round`.
    #[must_use]
    pub fn tokens_per_s(&self) -> f64 {
        (self.ranks * self.batch) as f64 * self.tokens_per_pass / self.round().get()
    }
}

/// The content of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'s> {
    /// An id or a word.
    Text(&'s str),
    /// A word and a number, joined by `-`.
    Numbered(&'static str, u64),
    /// Words separated by blanks; empty where there is none.
    Notes(Notes),
    /// A count.
    Integer(u64),
    /// A figure.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Does not apply.
    Empty,
}

/// The columns of the sweep table, in order.
pub const COLUMNS: [&str; 29] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "roofline",
    "tensor_parallel",
    "batch",
    "context",
    "k",
    "verify_width",
    "acceptance",
    "alpha",
    "tokens_per_pass",
    "base_step_s",
    "draft_s",
    "verify_s",
    "overhead_s",
    "round_s",
    "speedup",
    "base_tokens_per_s",
    "tokens_per_s",
    "base_bound",
    "draft_bound",
    "verify_bound",
    "base_memory_bytes",
    "memory_bytes",
    "base_fits",
    "fits",
    "notes",
];

/// What the cells of a column hold, where they are not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ids, words and sets of words.
    Words,
    /// Counts.
    Integers,
    /// Figures.
    Numbers,
    /// Yes or no.
    Flags,
}

/// What a column holds, of rows or of a summary.
#[must_use]
pub fn kind(column: &str) -> Kind {
    match column {
        "hardware" | "target" | "drafter" | "engine" | "roofline" | "acceptance" => Kind::Words,
        "base_bound" | "draft_bound" | "verify_bound" | "notes" => Kind::Words,
        "base_fits" | "fits" => Kind::Flags,
        "tensor_parallel" | "batch" | "context" | "k" => Kind::Integers,
        "batches" | "batches_that_pay" | "pays_from_batch" | "pays_to_batch" | "best_batch" | "best_k" => {
            Kind::Integers
        }
        _ => Kind::Numbers,
    }
}

impl<'s> Row<'s> {
    /// The acceptance model, and which of several curves.
    #[must_use]
    pub fn acceptance_cell(&self) -> Cell<'s> {
        self.acceptance.map_or(Cell::Empty, |label| match label.curve {
            Some(curve) => Cell::Numbered(label.kind.as_str(), curve),
            None => Cell::Text(label.kind.as_str()),
        })
    }

    /// The cells, in the order of [`COLUMNS`].
    #[must_use]
    pub fn cells(&self) -> [Cell<'s>; COLUMNS.len()] {
        let text = |word: Option<&'static str>| word.map_or(Cell::Empty, Cell::Text);
        [
            Cell::Text(self.labels.hardware),
            Cell::Text(self.labels.target),
            self.labels.drafter.map_or(Cell::Empty, Cell::Text),
            Cell::Text(self.labels.engine),
            Cell::Text(self.labels.roofline.as_str()),
            Cell::Integer(self.labels.tensor_parallel),
            Cell::Integer(self.batch),
            Cell::Integer(self.context),
            Cell::Integer(self.k),
            Cell::Number(self.verify_width),
            self.acceptance_cell(),
            self.alpha.map_or(Cell::Empty, Cell::Number),
            Cell::Number(self.tokens_per_pass),
            Cell::Number(self.base_step.get()),
            Cell::Number(self.draft.get()),
            Cell::Number(self.verify.get()),
            Cell::Number(self.overhead().get()),
            Cell::Number(self.round().get()),
            Cell::Number(self.speedup()),
            Cell::Number(self.base_tokens_per_s()),
            Cell::Number(self.tokens_per_s()),
            Cell::Text(self.bounds.base.as_str()),
            text(self.bounds.draft.map(Bound::as_str)),
            Cell::Text(self.bounds.verify.as_str()),
            Cell::Number(self.memory.base.get()),
            Cell::Number(self.memory.speculative.get()),
            Cell::Flag(self.memory.base_fits),
            Cell::Flag(self.memory.fits),
            Cell::Notes(self.notes),
        ]
    }
}
