//! Why a measured gain is what it is: tokens per pass, what a round costs in plain steps, and the rest that no pass explains.

use crate::domain::measured::{Beside, Measured};
use crate::evidence::deployment::{Prices, Unusable};
use crate::evidence::sample::Sample;

/// A plain run and a speculative one, each beside its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Tokens per pass of the speculative run.
    pub tokens: f64,
    /// Draft tokens of a round.
    pub k: u64,
    /// Tokens of each sequence that a round verifies.
    pub width: f64,
    /// The plain run.
    pub off: Half,
    /// The speculative run.
    pub on: Half,
}

/// One of the two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half {
    /// Sequences decoded together.
    pub batch: f64,
    /// Seconds of a step or round as measured.
    pub measured: f64,
    /// The same as priced.
    pub priced: f64,
    /// Of the priced, seconds of prefill.
    pub prefill: f64,
}

impl Gap {
    /// Holds two runs against their prices.
    ///
    /// # Errors
    ///
    /// [`Unusable`] of either.
    pub fn of(prices: &Prices<'_>, off: &Measured, on: &Measured) -> Result<Self, Unusable> {
        let half = |point: &Measured, sample: &Sample| Half {
            batch: point.batch,
            measured: sample.measured(),
            priced: sample.priced(),
            prefill: sample.prefill,
        };
        let (plain, round) = (prices.sample(off)?, prices.sample(on)?);
        Ok(Self { tokens: round.tokens, k: on.k, width: round.width, off: half(off, &plain), on: half(on, &round) })
    }

    /// Time per token, plain over speculative.
    ///
    /// # Formula
    ///
    /// ```text
    /// gain = tokens t_plain / t_round
    /// ```
    ///
    /// # Examples
    ///
    /// Rounds of 20 ms yield 2.5 tokens, plain steps last 10 ms: 1.25. By price a round lasts 15 ms: 1.67, and a third of it is not explained.
    ///
    /// ```
    /// use specplan::evidence::gap::{Gap, Half};
    /// let of = |measured, priced| Half { batch: 8.0, measured, priced, prefill: 0.0 };
    /// let gap = Gap { tokens: 2.5, k: 3, width: 4.0, off: of(0.010, 0.010), on: of(0.020, 0.015) };
    /// assert_eq!(gap.measured(), 1.25);
    /// assert_eq!((gap.cost(), gap.priced_cost()), (2.0, 1.5));
    /// assert!((gap.unexplained() - 4.0 / 3.0).abs() < 1e-12 && (gap.excess() - 0.005).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn measured(&self) -> f64 {
        self.tokens / self.cost()
    }

    /// The same as priced, with the tokens per pass that were measured.
    #[must_use]
    pub fn priced(&self) -> f64 {
        self.tokens / self.priced_cost()
    }

    /// A round in plain steps, as measured.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.on.measured / self.off.measured
    }

    /// A round in plain steps, as priced.
    #[must_use]
    pub fn priced_cost(&self) -> f64 {
        self.on.priced / self.off.priced
    }

    /// How many times as long a round lasts as its price in plain steps says.
    #[must_use]
    pub fn unexplained(&self) -> f64 {
        self.cost() / self.priced_cost()
    }

    /// Seconds of a round beyond its price in measured plain steps.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.on.measured - self.priced_cost() * self.off.measured
    }
}

/// What may be behind a gain, or behind what looks like one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Nothing is accepted: heads, formats or templates that do not go together.
    Defect,
    /// Prompts of random tokens.
    RandomPrompts,
    /// The gap between chunks is no time per token: the gain by it, and by tokens.
    Gaps {
        /// By the gaps between chunks.
        by_gaps: f64,
        /// By the time per token.
        by_tokens: f64,
    },
    /// Rounds that are larger than any captured graph.
    BeyondCapture {
        /// Tokens of a round.
        tokens: f64,
        /// The largest graph.
        largest: u64,
    },
    /// No graphs are captured at all.
    Eager,
    /// Sequences wait because of a limit that speculation brought.
    Capped {
        /// The limit.
        limit: u64,
        /// Clients.
        clients: f64,
    },
    /// Sequences wait because of a limit that the command sets, with speculation and without.
    Limited {
        /// The limit.
        limit: u64,
        /// Clients.
        clients: f64,
    },
    /// The two runs differ in what they asked: clients, or the tokens of their requests.
    Unlike,
    /// Some requests failed.
    Failed(f64),
    /// Both are far faster than priced: other hardware, formats or load.
    Faster(f64),
    /// Fewer sequences decode at once than in the plain run, for as many clients.
    Fewer {
        /// With speculation.
        on: f64,
        /// Without.
        off: f64,
    },
    /// Sequences were thrown out and begun again.
    Preempted(f64),
    /// A large share of each step is prefill of others, which speculation does not shorten.
    Prefill(f64),
    /// Time of each round that no pass takes: host work between drafts, launches outside graphs.
    Host(f64),
    /// The plain run is slower than its price: gains flatter.
    SlowPlain(f64),
}

impl Cause {
    /// Whether it is no cause of a gap, but a figure that is easily taken for another.
    #[must_use]
    pub const fn is_caution(&self) -> bool {
        matches!(self, Self::Gaps { .. } | Self::RandomPrompts | Self::Unlike | Self::Failed(_))
    }
}

/// What is known of a server beside its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Around {
    /// The largest captured graph, in tokens of a round.
    pub largest_graph: Option<u64>,
    /// Whether no graphs are captured.
    pub is_eager: bool,
    /// Running requests that an engine sets by itself where speculation is on.
    pub own_limit: Option<u64>,
    /// Running requests that the command allows.
    pub limit: Option<u64>,
    /// Whether the runs differ in the tokens of their requests.
    pub has_other_requests: bool,
    /// Sequences that were begun again.
    pub preemptions: Option<f64>,
}

/// Tokens per pass that are none: nothing is accepted.
const NOTHING: f64 = 1.03;
/// Gains that differ by less are told the same.
const ALIKE: f64 = 1.15;
/// A round that lasts so many times its price calls for a reason.
const LONGER: f64 = 1.15;
/// A share of prefill that counts.
const MUCH: f64 = 0.15;
/// Milliseconds of a round that no pass takes are the host's.
const OF_HOST: f64 = 0.0007;
/// A run with so much fewer sequences than the other waits for something.
const FEWER: f64 = 0.8;

/// What may be behind a gap, what is certain first.
#[must_use]
pub fn causes(gap: &Gap, off: &Beside, on: &Beside, around: &Around) -> Vec<Cause> {
    let mut found = Vec::new();
    if gap.tokens < NOTHING {
        found.push(Cause::Defect);
    }
    if on.is_random {
        found.push(Cause::RandomPrompts);
    }
    if let (Some(plain), Some(round)) = (off.itl, on.itl) {
        let (by_gaps, by_tokens) = (plain / round, gap.measured());
        if !(1.0 / ALIKE..=ALIKE).contains(&(by_gaps / by_tokens)) {
            found.push(Cause::Gaps { by_gaps, by_tokens });
        }
    }
    let tokens = gap.on.batch * gap.width;
    if around.is_eager {
        found.push(Cause::Eager);
    } else if let Some(largest) = around.largest_graph.filter(|largest| tokens > *largest as f64) {
        found.push(Cause::BeyondCapture { tokens, largest });
    }
    let waiting = |limit: Option<u64>| Some((limit?, on.clients?)).filter(|(limit, clients)| *clients > *limit as f64);
    found.extend(waiting(around.own_limit).map(|(limit, clients)| Cause::Capped { limit, clients }));
    found.extend(waiting(around.limit).map(|(limit, clients)| Cause::Limited { limit, clients }));
    let same_clients = off.clients.zip(on.clients).is_some_and(|(off, on)| (off - on).abs() < 0.5);
    if same_clients && gap.on.batch < FEWER * gap.off.batch {
        found.push(Cause::Fewer { on: gap.on.batch, off: gap.off.batch });
    }
    let differ = off.clients.zip(on.clients).is_some_and(|(off, on)| (off - on).abs() > 0.5);
    if differ || around.has_other_requests {
        found.push(Cause::Unlike);
    }
    let failed = [off.failed, on.failed].into_iter().flatten().fold(0.0, f64::max);
    if failed > 0.0 {
        found.push(Cause::Failed(failed));
    }
    found.extend(around.preemptions.filter(|count| *count > 0.0).map(Cause::Preempted));
    let share = gap.on.prefill / gap.on.priced;
    if share > MUCH {
        found.push(Cause::Prefill(share));
    }
    if gap.unexplained() > LONGER && gap.excess() > OF_HOST {
        found.push(Cause::Host(gap.excess()));
    }
    let plain = gap.off.measured / gap.off.priced;
    if plain < 1.0 / (1.0 + 2.0 * (LONGER - 1.0)) {
        found.push(Cause::Faster(1.0 / plain));
    }
    if plain > 1.0 + 2.0 * (LONGER - 1.0) {
        found.push(Cause::SlowPlain(plain));
    }
    found
}
