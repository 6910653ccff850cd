//! The description of acceptance that a scenario carries; `crate::acceptance` computes with it.

use std::sync::Arc;

use crate::domain::axis::Axis;
use crate::domain::beta::Beta;
use crate::domain::provenance::{Provenance, Spread};
use crate::domain::ranks::Ranks;
use crate::domain::spans::Spans;
use crate::domain::trace::Trace;
use crate::units::Probability;
use crate::words::{AcceptanceKind, Scope};

/// How drafts are accepted, and where that is known from.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// The model; where `by_context` says more, that of short contexts.
    pub model: AcceptanceModel,
    /// The same drafter at longer contexts, in rising order.
    pub by_context: Vec<AtContext>,
    /// Of drafters that look drafts up: the share of sequences that propose any in a round.
    pub proposing_share: Option<Probability>,
    /// Where the figures come from, as the scenario's author says.
    pub provenance: Provenance,
    /// Read off an engine's output: rounds without a draft are not in it.
    pub read_off: Option<ReadOff>,
    /// How far it may be off, where that is stated.
    pub spread: Option<Spread>,
}

/// What an engine's output says beside the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOff {
    /// Of all decode steps, those that drafted, where the output counts both.
    pub drafting_share: Option<Probability>,
}

/// Acceptance at one context.
#[derive(Clone, Debug, PartialEq)]
pub struct AtContext {
    /// Tokens in the KV cache.
    pub context: u64,
    /// What holds there.
    pub model: AcceptanceModel,
}

/// Sequences of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct OfWorkload {
    /// Its label.
    pub label: String,
    /// Its share of emitted tokens, in whatever scale.
    pub tokens: f64,
    /// How its drafts are accepted.
    pub acceptance: Acceptance,
}

/// The model of acceptance.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptanceModel {
    /// Every draft is accepted with the same chance alpha, given all before it were. The values are
    /// an axis of the sweep.
    Iid {
        /// Per-test acceptance.
        alpha: Axis<Probability>,
    },
    /// A chance for each position. Several curves are an axis of the sweep.
    PerPosition(Vec<Curve>),
    /// Mean tokens per pass, measured at one k.
    MeanLength(Length),
    /// Accepted over drafted, measured at one k.
    Rate {
        /// The draft length it was measured at.
        k: u64,
        /// Accepted drafts over drafts.
        value: Probability,
    },
    /// Mean tokens per pass, measured at several k.
    ByK(Vec<Length>),
    /// Counters of an engine.
    Counts(Counts),
    /// Alpha follows a Beta law.
    Beta {
        /// The law.
        beta: Beta,
        /// With what alpha varies.
        scope: Scope,
    },
    /// Easy and hard spans.
    Markov(Spans),
    /// Recorded rounds.
    Trace(Arc<Trace>),
    /// Chances of ranked candidates, for trees; on a chain those of the first.
    Ranks(Ranks),
    /// A service of several workloads.
    Workloads(Vec<OfWorkload>),
}

/// What an engine counted: drafting rounds, and how many of them accepted each position.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    accepted: Vec<u64>,
    rounds: u64,
    curve: Curve,
}

/// Counters that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCounts {
    /// No round, or no position.
    #[error("at least one round and one position are due")]
    Empty,
    /// A position that was accepted more often than the one before it, or than there were rounds.
    #[error("position {position} was accepted {accepted} times, and at most {most} rounds came that far")]
    Rising {
        /// Counted from 1.
        position: usize,
        /// Rounds that accepted it.
        accepted: u64,
        /// Rounds that accepted the one before it, or all.
        most: u64,
    },
}

impl Counts {
    /// Rounds that accepted the first, second, … draft, of so many rounds that drafted (vLLM: `num_accepted_tokens_per_pos`
    /// and `num_drafts`).
    ///
    /// # Errors
    ///
    /// [`NotCounts`] for no round, or counts that rise.
    pub fn new(accepted: Vec<u64>, rounds: u64) -> Result<Self, NotCounts> {
        if accepted.is_empty() || rounds == 0 {
            return Err(NotCounts::Empty);
        }
        let before = std::iter::once(rounds).chain(accepted.iter().copied());
        let rising = accepted.iter().zip(before).position(|(here, before)| *here > before);
        if let Some(at) = rising {
            let most = if at == 0 { rounds } else { accepted[at - 1] };
            return Err(NotCounts::Rising { position: at + 1, accepted: accepted[at], most });
        }
        let curve = Curve(accepted.iter().map(|&count| count as f64 / rounds as f64).collect());
        Ok(Self { accepted, rounds, curve })
    }

    /// Rounds that accepted each position.
    #[must_use]
    pub fn accepted(&self) -> &[u64] {
        &self.accepted
    }

    /// Rounds that drafted.
    #[must_use]
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Shares of rounds by position.
    #[must_use]
    pub const fn curve(&self) -> &Curve {
        &self.curve
    }

    /// For each position how many drafts were tested there and how many passed.
    #[must_use]
    pub fn tests(&self) -> Vec<(u64, u64)> {
        let before = std::iter::once(self.rounds).chain(self.accepted.iter().copied());
        before.zip(self.accepted.iter().copied()).collect()
    }
}

/// Chances that the first i drafts are all accepted, for i = 1, 2, …
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<f64>);

/// What is no such curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotACurve {
    /// No position.
    #[error("at least one position is due")]
    Empty,
    /// More survive a position than the one before it.
    #[error("position {0} is accepted more often than the one before it: cumulative shares only fall")]
    Rising(usize),
}

impl Curve {
    /// From cumulative shares: of all rounds, those that accept at least i drafts.
    ///
    /// # Errors
    ///
    /// [`NotACurve`] for no position, or shares that rise.
    pub fn cumulative(shares: &[Probability]) -> Result<Self, NotACurve> {
        if shares.is_empty() {
            return Err(NotACurve::Empty);
        }
        match shares.windows(2).position(|pair| pair[1] > pair[0]) {
            Some(at) => Err(NotACurve::Rising(at + 2)),
            None => Ok(Self(shares.iter().map(|share| share.get()).collect())),
        }
    }

    /// From conditional chances: of the rounds that accept i - 1 drafts, those that accept the i-th.
    ///
    /// # Errors
    ///
    /// [`NotACurve`] for no position.
    pub fn conditional(chances: &[Probability]) -> Result<Self, NotACurve> {
        if chances.is_empty() {
            return Err(NotACurve::Empty);
        }
        let survive = |left: &mut f64, chance: &Probability| {
            *left *= chance.get();
            Some(*left)
        };
        Ok(Self(chances.iter().scan(1.0, survive).collect()))
    }

    /// From shares that fall by the way they were computed, but for rounding.
    #[must_use]
    pub fn falling(shares: Vec<f64>) -> Self {
        let mut most = 1.0_f64;
        let fall = |share: f64| {
            debug_assert!(share <= most + 1e-9, "{share} after {most}");
            most = most.min(share);
            most
        };
        Self(shares.into_iter().map(fall).collect())
    }

    /// Cumulative shares, first position first.
    #[must_use]
    pub fn survival(&self) -> &[f64] {
        &self.0
    }
}

/// Mean tokens per pass at one draft length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    k: u64,
    tokens: f64,
}

/// What a round of k drafts cannot yield.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "{tokens} tokens per pass at k = {k}: a round of k drafts yields 1 to k + 1, the bonus token included, and k is at least 1"
)]
pub struct NotALength {
    /// Draft length.
    pub k: u64,
    /// Tokens per pass.
    pub tokens: f64,
}

impl Length {
    /// Mean tokens of a round of k drafts, bonus included.
    ///
    /// # Errors
    ///
    /// [`NotALength`] unless `1 <= tokens <= k + 1` and `k >= 1`.
    pub fn new(k: u64, tokens: f64) -> Result<Self, NotALength> {
        let possible = k >= 1 && (1.0..=k as f64 + 1.0).contains(&tokens);
        if possible { Ok(Self { k, tokens }) } else { Err(NotALength { k, tokens }) }
    }

    /// Draft length.
    #[must_use]
    pub const fn k(&self) -> u64 {
        self.k
    }

    /// Tokens per pass, bonus included.
    #[must_use]
    pub const fn tokens(&self) -> f64 {
        self.tokens
    }
}

/// What an acceptance says of one context. The model beside `by_context` is that of context 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Here<'a> {
    /// This holds.
    Stated(&'a AcceptanceModel),
    /// It lies between two that were stated.
    Between {
        /// At the shorter context.
        low: &'a AcceptanceModel,
        /// At the longer.
        high: &'a AcceptanceModel,
        /// How far towards the longer, 0 to 1.
        share: f64,
    },
    /// It lies beyond the longest that was stated, which is this.
    Beyond(&'a AcceptanceModel),
}

impl Acceptance {
    /// A model that holds at every context, whose source is not stated.
    #[must_use]
    pub fn of(model: AcceptanceModel) -> Self {
        Self {
            model,
            by_context: Vec::new(),
            proposing_share: None,
            provenance: Provenance::default(),
            read_off: None,
            spread: None,
        }
    }

    /// Whether it says more of some contexts than of others.
    #[must_use]
    pub fn depends_on_context(&self) -> bool {
        let parts = match &self.model {
            AcceptanceModel::Workloads(parts) => parts.as_slice(),
            _ => &[],
        };
        !self.by_context.is_empty() || parts.iter().any(|part| part.acceptance.depends_on_context())
    }

    /// What holds at a context.
    #[must_use]
    pub fn at_context(&self, context: f64) -> Here<'_> {
        let Some(last) = self.by_context.last() else { return Here::Stated(&self.model) };
        let above = self.by_context.partition_point(|at| (at.context as f64) < context);
        let (low, at_low) = match above.checked_sub(1).map(|at| &self.by_context[at]) {
            Some(AtContext { context, model }) => (*context as f64, model),
            None => (0.0, &self.model),
        };
        match self.by_context.get(above) {
            None => Here::Beyond(&last.model),
            Some(high) if high.context as f64 <= context => Here::Stated(&high.model),
            Some(_) if context <= low => Here::Stated(at_low),
            Some(high) => {
                let share = (context - low) / (high.context as f64 - low);
                Here::Between { low: at_low, high: &high.model, share }
            }
        }
    }

    /// What an engine's output says beside the model; of several parts no share is known for all.
    #[must_use]
    pub fn read_off(&self) -> Option<ReadOff> {
        let parts = match &self.model {
            AcceptanceModel::Workloads(parts) => parts.as_slice(),
            _ => &[],
        };
        let of_part = || parts.iter().find_map(|part| part.acceptance.read_off);
        self.read_off.or_else(|| of_part().map(|_| ReadOff { drafting_share: None }))
    }

    /// Every model in it that a context or a workload has of its own.
    #[must_use]
    pub fn models(&self) -> Vec<&AcceptanceModel> {
        let own = match &self.model {
            AcceptanceModel::Workloads(parts) => parts.iter().flat_map(|part| part.acceptance.models()).collect(),
            other => vec![other],
        };
        own.into_iter().chain(self.by_context.iter().map(|at| &at.model)).collect()
    }
}

impl AcceptanceModel {
    /// The word of the scenario format.
    #[must_use]
    pub const fn kind(&self) -> AcceptanceKind {
        match self {
            Self::Iid { .. } => AcceptanceKind::Iid,
            Self::PerPosition(_) => AcceptanceKind::PerPosition,
            Self::MeanLength(_) => AcceptanceKind::MeanLength,
            Self::Rate { .. } => AcceptanceKind::Rate,
            Self::ByK(_) => AcceptanceKind::ByK,
            Self::Counts(_) => AcceptanceKind::Counts,
            Self::Beta { .. } => AcceptanceKind::Beta,
            Self::Markov(_) => AcceptanceKind::Markov,
            Self::Trace(_) => AcceptanceKind::Trace,
            Self::Ranks(_) => AcceptanceKind::Ranks,
            Self::Workloads(_) => AcceptanceKind::Workloads,
        }
    }
}
