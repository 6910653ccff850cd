//! A measured speedup with what it was measured on.

use crate::domain::drafter::Layout;
use crate::units::Seconds;
use crate::words::MeasuredDrafter;

/// One published or own measurement. What it names is looked up when it is priced.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Its name.
    pub id: String,
    /// Who measured it; the ending `:excluded` marks what is scored apart.
    pub source: String,
    /// Measurements that differ only in k or tree, if it belongs to any.
    pub group: Option<String>,
    /// `chain`, `tree` or `block`.
    pub topology: String,
    /// Engine id.
    pub engine: String,
    /// Hardware id.
    pub hardware: String,
    /// Devices of the replica.
    pub devices: u64,
    /// Target id.
    pub target: String,
    /// Bytes of a weight of the target, in the mean.
    pub weight_bytes: f64,
    /// What drafts.
    pub drafter_kind: MeasuredDrafter,
    /// Its id, if it is named; else it is derived from the target.
    pub drafter: Option<String>,
    /// Bytes of a weight of the drafter.
    pub drafter_weight_bytes: f64,
    /// Cached tokens that a draft pass over a capped cache reads.
    pub draft_budget: u64,
    /// Draft tokens of a round; of a tree its depth.
    pub k: u64,
    /// The passes of a round.
    pub layout: Layout,
    /// Sequences decoded together.
    pub batch: f64,
    /// Cached tokens of each sequence.
    pub context: f64,
    /// Prompt and output of closed-loop traffic, whose throughput includes prefill.
    pub closed_loop: Option<ClosedLoop>,
    /// Tokens per target pass, bonus included.
    pub tokens_per_pass: f64,
    /// The plain step, if it was printed.
    pub base_step: Option<Seconds>,
    /// The round, if it was printed.
    pub round: Option<Seconds>,
    /// Speculative over plain.
    pub speedup: f64,
}

/// The requests of closed-loop traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoop {
    /// Tokens of a prompt.
    pub prompt: f64,
    /// Tokens of an output.
    pub output: f64,
}

impl Measurement {
    /// Whether it is scored apart: an engine's fault, a problem report, an inconsistent source.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        self.source.ends_with(":excluded")
    }
}
