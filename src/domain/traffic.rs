//! Requests over time: when they come, how long they are, and what is asked of the answers.

use std::sync::Arc;

use crate::domain::served::Served;
use crate::units::{Probability, Seconds};
use crate::words::Fullness;

/// The traffic of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Requests that are measured, those of the warm-up included.
    pub requests: u64,
    /// The first share of them, which is left out of what is measured: the service was empty when they came.
    pub warmup: Probability,
    /// How they come.
    pub arrivals: Arrivals,
    /// Requests per second of the whole service, or clients: one run for each.
    pub loads: Vec<f64>,
    /// What is asked, by kind; at least one.
    pub kinds: Vec<Kind>,
    /// What decides on the draft length.
    pub policies: Vec<Policy>,
    /// Equal replicas that share the requests.
    pub replicas: u64,
}

/// How requests come.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Independently, at a rate.
    Poisson,
    /// With gaps of a gamma law: of shape `burstiness`, so that below 1 they come in bursts and above 1 more evenly.
    Gamma {
        /// The shape; 1 is Poisson.
        burstiness: f64,
    },
    /// At equal intervals.
    Constant,
    /// From clients who wait for the answer, think, and ask again.
    Closed {
        /// Mean time of thought, of an exponential law; 0: none.
        think: Seconds,
    },
    /// As they were seen, prompts and outputs with them; a rate stretches or squeezes their gaps.
    Seen(Arc<Served>),
}

/// A kind of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its name; none where there is one kind only.
    pub label: Option<String>,
    /// Its share of requests.
    pub share: Probability,
    /// Tokens of a prompt.
    pub prompt: Length,
    /// Tokens of an output.
    pub output: Length,
    /// Share of a prompt that is in the cache already.
    pub prefix_hit: Probability,
}

/// How long prompts or outputs are, in tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// All alike.
    Fixed(u32),
    /// By a log-normal law, rounded, at least 1.
    LogNormal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// Drawn from those that were seen.
    Seen(Arc<Vec<u32>>),
}

impl Length {
    /// The longest that is taken for a length.
    pub const LONGEST: u32 = 1 << 24;

    /// The mean.
    ///
    /// # Examples
    ///
    /// ```
    /// use specplan::domain::traffic::Length;
    /// assert_eq!(Length::Seen(vec![1, 2, 6].into()).mean(), 3.0);
    /// ```
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(tokens) => f64::from(*tokens),
            Self::LogNormal { mean, .. } => *mean,
            Self::Seen(seen) => seen.iter().map(|&tokens| f64::from(tokens)).sum::<f64>() / seen.len().max(1) as f64,
        }
    }
}

/// What decides how many tokens a step drafts.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Plain decoding, without a drafter.
    Off,
    /// Always k.
    Fixed {
        /// Draft length.
        k: u64,
    },
    /// The best k of the batch that decodes, as a schedule that is made beforehand: prompts that are read play no part.
    Schedule,
    /// k or nothing, by how full the service is.
    Gate(Gate),
    /// The k that brings the most of what is due, prompts and outputs, in the time that this very step takes.
    Greedy,
}

/// Drafts k where a measure is low, none where it is high, and goes on as it did between.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// What is looked at.
    pub by: Fullness,
    /// Draft length.
    pub k: u64,
    /// At or below, drafting begins.
    pub on: f64,
    /// At or above, it ends; not below `on`.
    pub off: f64,
}

impl std::fmt::Display for Policy {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => to.write_str("off"),
            Self::Fixed { k } => write!(to, "k={k}"),
            Self::Schedule => to.write_str("schedule"),
            Self::Gate(Gate { by, k, on, off }) => write!(to, "k={k} {by} {on}..{off}"),
            Self::Greedy => to.write_str("greedy"),
        }
    }
}

/// What is asked of the answers; what is absent is not asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// Time to the first token at most.
    pub ttft: Option<Seconds>,
    /// Time for each further token of a request at most.
    pub tpot: Option<Seconds>,
    /// Time to the last token at most.
    pub e2e: Option<Seconds>,
    /// Share of requests of which each of these is asked.
    pub percentile: Probability,
}
