//! The engine a scenario is priced for.

use crate::domain::calibration::Calibration;
use crate::units::Seconds;
use crate::words::{DrafterKind, Status};

/// An engine profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// The catalog id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it adds to the roofline.
    pub profile: Profile,
    /// What its user should know.
    pub note: Option<String>,
    /// Profiles of the same engine that say otherwise.
    pub disputed_by: Vec<Dispute>,
}

/// A profile of the same engine with another answer, of which nothing in a scenario tells whether it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispute {
    /// Its id.
    pub engine: String,
    /// The drafters it is about; none named: all.
    pub drafters: Vec<DrafterKind>,
}

impl Dispute {
    /// Whether it is about such drafters.
    #[must_use]
    pub fn concerns(&self, kind: DrafterKind) -> bool {
        self.drafters.is_empty() || self.drafters.contains(&kind)
    }
}

/// What an engine adds to the roofline.
#[derive(Clone, Debug, PartialEq)]
pub enum Profile {
    /// Nothing: full datasheet peaks, no overheads.
    Ideal,
    /// Efficiencies and overheads of the additive form.
    Additive(Box<Additive>),
}

/// The constants of the additive form for one engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Additive {
    /// How the engine's own constants were found.
    pub status: Status,
    /// The engine versions it was seen on.
    pub versions: Option<String>,
    /// Time for each step and each verification beside the pass.
    pub step: Constant<Seconds>,
    /// Time for each draft pass beside the pass.
    pub draft: Constant<Seconds>,
    /// Time for each speculative round.
    pub round: Constant<Seconds>,
    /// Time for each sequence of a speculative round.
    pub sequence: Constant<Seconds>,
    /// Routing kernels of one layer of experts in one pass.
    pub moe_layer: Constant<Seconds>,
    /// How independent the routing of tokens of one sequence is; 1: as that of different sequences.
    pub routing_independence: Constant<Efficiency>,
    /// Tokens of one sequence pick experts like so many independent ones as their number to this power; in place of
    /// `routing_independence` where it is stated.
    pub routing_power: Option<Constant<Efficiency>>,
    /// Start of one all-reduce.
    pub all_reduce: Constant<Seconds>,
    /// Share of a link's bandwidth that all-reduces get.
    pub link: Constant<Efficiency>,
    /// Of what n-gram and suffix drafters propose, the share that is accepted, where a scenario does not
    /// say which share of the sequences proposes.
    pub accepted_per_proposed: Constant<Efficiency>,
    /// Time for each speculative round and each device of the replica beyond the first.
    pub device: Option<Constant<Seconds>>,
    /// Time for each draft pass of a tree, on top of `draft`.
    pub tree: Option<Constant<Seconds>>,
    /// Time for each token that a step or round emits of a sequence, whatever the batch: what serving adds to every token.
    pub token: Option<Constant<Seconds>>,
    /// How long plain passes take over their price.
    pub plain_pace: Option<Constant<Pace>>,
    /// How long passes of rounds take over their price.
    pub round_pace: Option<Constant<Pace>>,
    /// The least time of one layer, where launches set it.
    pub layer_floor: Option<Constant<Seconds>>,
    /// The least time of one layer in a step that no graph was captured for.
    pub uncaptured_layer: Option<Constant<Seconds>>,
    /// What quantised weights cost more than their bytes say.
    pub quantised: Option<Quantised>,
    /// Efficiencies by the family of the hardware.
    pub families: Vec<(String, Efficiencies)>,
    /// How far its predictions were off where they could be checked.
    pub errors: Vec<ExpectedError>,
    /// The measurements of one deployment that it was fitted to, if it was.
    pub calibration: Option<Calibration>,
}

/// A constant, the range it may lie in, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant<T> {
    /// What is used.
    pub value: T,
    /// The least and the largest that the evidence allows, where known.
    pub range: Option<(T, T)>,
    /// Where it is from.
    pub origin: String,
}

/// Factors on the efficiencies of models with quantised weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    /// On the compute efficiency.
    pub compute: Constant<Efficiency>,
    /// On the bandwidth efficiency.
    pub bandwidth: Constant<Efficiency>,
}

/// What a family of hardware reaches of its datasheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Efficiencies {
    /// Share of the bandwidth when weights are read.
    pub bandwidth: Constant<Efficiency>,
    /// Share of the bandwidth when the KV cache is read; absent: that of weights.
    pub kv_bandwidth: Option<Constant<Efficiency>>,
    /// Share of the dense peak.
    pub compute: Constant<Efficiency>,
    /// Fixed time of one matrix product.
    pub product: Constant<Seconds>,
    /// Fixed time of one layer's attention.
    pub attention: Constant<Seconds>,
    /// Whether published speedups on such hardware test them.
    pub tested: bool,
}

/// How far speedups were off on measurements that the fit had not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedError {
    /// Which targets: `dense`, `moe` or `all`.
    pub class: String,
    /// Median of |predicted / measured - 1|.
    pub median: f64,
    /// Nine in ten are within.
    pub p90: f64,
    /// Measurements behind it.
    pub rows: u64,
    /// Least and largest batch, and the longest context, of the measurements that are known.
    pub known: Option<Known>,
}

/// What measurements cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Least and largest batch.
    pub batch: (u64, u64),
    /// Longest context.
    pub context: u64,
}

impl Known {
    /// Whether a point lies inside.
    #[must_use]
    pub const fn covers(&self, batch: u64, context: u64) -> bool {
        self.batch.0 <= batch && batch <= self.batch.1 && context <= self.context
    }
}

/// A share in (0, 1]: no engine beats the datasheet.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Efficiency(f64);

/// A number that cannot be an efficiency.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("an efficiency lies above 0 and at most at 1, not at {0}")]
pub struct NotAnEfficiency(pub f64);

impl Efficiency {
    /// All of it.
    pub const FULL: Self = Self(1.0);

    /// A share.
    ///
    /// # Errors
    ///
    /// [`NotAnEfficiency`] for what is not in (0, 1].
    pub fn new(share: f64) -> Result<Self, NotAnEfficiency> {
        if share > 0.0 && share <= 1.0 { Ok(Self(share)) } else { Err(NotAnEfficiency(share)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// How long passes take over their price: a number above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Pace(f64);

/// A number that cannot be a pace.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a pace lies above 0 and is at most 100, not {0}")]
pub struct NotAPace(pub f64);

impl Pace {
    /// Exactly as long as priced.
    pub const AS_PRICED: Self = Self(1.0);
    /// What takes longer is another deployment.
    pub const LARGEST: f64 = 100.0;

    /// A pace.
    ///
    /// # Errors
    ///
    /// [`NotAPace`] for what is not in (0, 100].
    pub fn new(pace: f64) -> Result<Self, NotAPace> {
        if pace > 0.0 && pace <= Self::LARGEST { Ok(Self(pace)) } else { Err(NotAPace(pace)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Additive {
    /// The efficiencies of a family of hardware.
    #[must_use]
    pub fn efficiencies(&self, family: &str) -> Option<&Efficiencies> {
        self.families.iter().find(|(name, _)| name == family).map(|(_, efficiencies)| efficiencies)
    }

    /// The error to expect for a class of targets, else for all of them.
    #[must_use]
    pub fn error(&self, class: &str) -> Option<&ExpectedError> {
        let find = |class: &str| self.errors.iter().find(|error| error.class == class);
        find(class).or_else(|| find("all"))
    }
}

impl Engine {
    /// The profile whose measurements stand behind it: its own id, of a calibrated one that it began with.
    #[must_use]
    pub fn origin(&self) -> &str {
        let calibration = self.additive().and_then(|additive| additive.calibration.as_ref());
        calibration.map_or(&self.id, |of| &of.base)
    }

    /// Its constants, unless it is ideal.
    #[must_use]
    pub fn additive(&self) -> Option<&Additive> {
        match &self.profile {
            Profile::Ideal => None,
            Profile::Additive(additive) => Some(additive),
        }
    }
}
