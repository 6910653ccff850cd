//! A user's own measurement of a deployment that a scenario describes.

use crate::domain::drafter::Layout;
use crate::domain::measurement::ClosedLoop;
use crate::units::Seconds;

/// One measured time, throughput or speedup.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Where it stands, for people: a file and a line.
    pub label: String,
    /// What drafted, by its name in the scenario; none: the only drafter there is.
    pub drafter: Option<String>,
    /// Draft tokens of a round; 0: plain decoding.
    pub k: u64,
    /// The passes of a round, where they are stated; else those of the drafter at k.
    pub layout: Option<Layout>,
    /// Sequences decoded together: of a closed loop in the mean, at most its clients.
    pub batch: f64,
    /// Cached tokens of each sequence.
    pub context: f64,
    /// Prompt and output of a closed loop, whose times hold a share of prefill.
    pub requests: Option<ClosedLoop>,
    /// Tokens per pass, bonus included.
    pub tokens_per_pass: Option<f64>,
    /// What was measured.
    pub timed: Timed,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timed {
    /// One step of the engine: of plain decoding, or a whole round.
    Step(Seconds),
    /// Seconds of an output token of one sequence.
    PerToken(Seconds),
    /// Output tokens per second of the whole replica.
    Throughput(f64),
    /// Speculative over plain, at equal batch.
    Speedup(f64),
}

impl Timed {
    /// What it is, for people.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::PerToken(_) => "time per token",
            Self::Throughput(_) => "tokens per second",
            Self::Speedup(_) => "speedup",
        }
    }

    /// The number, in seconds, tokens per second, or by itself.
    #[must_use]
    pub const fn number(&self) -> f64 {
        match self {
            Self::Step(seconds) | Self::PerToken(seconds) => seconds.get(),
            Self::Throughput(rate) => *rate,
            Self::Speedup(speedup) => *speedup,
        }
    }
}

/// What stands beside a run's time per token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// Mean gap between chunks, in seconds: several tokens each where rounds yield several.
    pub itl: Option<f64>,
    /// Median time to the first token, in seconds.
    pub ttft: Option<f64>,
    /// Clients.
    pub clients: Option<f64>,
    /// Requests that it completed.
    pub completed: Option<f64>,
    /// Requests that failed.
    pub failed: Option<f64>,
    /// Whether its prompts are random tokens.
    pub is_random: bool,
}
