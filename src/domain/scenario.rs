//! A study: what is priced, and over which values.

use crate::domain::axis::{Axis, Described};
use crate::domain::deployment::{Limits, MemoryPolicy, Spread};
use crate::domain::device::Device;
use crate::domain::drafter::Drafter;
use crate::domain::engine::{Engine, Profile};
use crate::domain::measured::Measured;
use crate::domain::model::{Model, Shape};
use crate::domain::simulate::Simulate;
use crate::domain::traffic::{Slo, Traffic};
use crate::domain::uncertainty::Uncertainty;
use crate::domain::verify_cost::VerifyCost;
use crate::domain::workload::Workload;
use crate::words::{Roofline, Term};

/// A whole study.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The file's name without its ending: the head of every output file's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Devices, an axis.
    pub hardware: Vec<Device>,
    /// Targets, an axis.
    pub targets: Vec<Model>,
    /// Engines, an axis.
    pub engines: Vec<Engine>,
    /// As the scenario says; absent: the default of engine and target.
    pub roofline: Option<Roofline>,
    /// Devices that one replica is spread over, an axis.
    pub tensor_parallel: Vec<u64>,
    /// Drafters, an axis; none: plain decoding only.
    pub drafters: Vec<Drafter>,
    /// Kinds of requests; none where the study tells none apart.
    pub workloads: Vec<Workload>,
    /// The numbers swept.
    pub axes: SweepAxes,
    /// Terms left out of the additive form.
    pub without: Vec<Term>,
    /// How a replica is spread beyond tensor parallelism.
    pub spread: Spread,
    /// What the engine is told not to exceed.
    pub limits: Limits,
    /// How memory is handed out.
    pub memory: MemoryPolicy,
    /// Verification passes that were measured, in place of prices.
    pub verify_cost: Option<VerifyCost>,
    /// Points that were measured of it.
    pub measured: Vec<Measured>,
    /// Requests over time.
    pub traffic: Option<Traffic>,
    /// What is asked of answers.
    pub slo: Option<Slo>,
    /// What `simulate` runs.
    pub simulate: Option<Simulate>,
    /// How sure answers are worked out to be.
    pub uncertainty: Uncertainty,
    /// Of everything random.
    pub seed: u64,
}

/// The numeric axes of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxes {
    batch: Axis<u64>,
    k: Axis<u64>,
    context: Axis<u64>,
}

/// A batch of no sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a batch has at least one sequence")]
pub struct EmptyBatch;

impl SweepAxes {
    /// The axes of a sweep.
    ///
    /// # Errors
    ///
    /// [`EmptyBatch`] if the batch axis starts at 0 or lists it.
    pub fn new(batch: Axis<u64>, k: Axis<u64>, context: Axis<u64>) -> Result<Self, EmptyBatch> {
        let has_none = match batch.described() {
            Described::List(values) => values.contains(&0),
            Described::Range { from, .. } | Described::Powers { from, .. } => from == 0,
        };
        if has_none { Err(EmptyBatch) } else { Ok(Self { batch, k, context }) }
    }

    /// Sequences decoded together, at least 1.
    #[must_use]
    pub const fn batch(&self) -> &Axis<u64> {
        &self.batch
    }

    /// Draft tokens for each round.
    #[must_use]
    pub const fn k(&self) -> &Axis<u64> {
        &self.k
    }

    /// Tokens already in the KV cache of each sequence.
    #[must_use]
    pub const fn context(&self) -> &Axis<u64> {
        &self.context
    }
}

impl Scenario {
    /// The roofline in force for an engine and a target: the one the scenario states, else
    /// `additive` for every engine but an ideal one,
    /// `aggregate` for a target known by its totals and `per_op` for one known by its layers.
    #[must_use]
    pub fn roofline_of(&self, engine: &Engine, target: &Model) -> Roofline {
        self.roofline.unwrap_or(match (&engine.profile, &target.shape) {
            (Profile::Additive(_), _) => Roofline::Additive,
            (Profile::Ideal, Shape::Aggregate(_)) => Roofline::Aggregate,
            (Profile::Ideal, Shape::Layers(_)) => Roofline::PerOp,
        })
    }
}
