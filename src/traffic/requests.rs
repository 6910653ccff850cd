//! Requests in the order in which they come, each with random numbers of its own.
//!
//! What request n asks, and how its rounds go, does not depend on the load or on what decides on drafts: policies are compared on
//! the same requests (common random numbers).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::served::{Seen, Served};
use crate::domain::traffic::{Arrivals, Kind, Length, Traffic};
use crate::rng::{GammaLaw, Generator, cell_seed};

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number, from 0.
    pub number: u64,
    /// When it comes, in seconds.
    pub at: f64,
    /// Its kind.
    pub kind: usize,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of the prompt that are in the cache already.
    pub hit: u32,
    /// Tokens of its output.
    pub output: u32,
    /// Its random numbers.
    pub generator: Generator,
}

/// Where requests come from.
#[derive(Clone, Debug)]
pub struct Source<'t> {
    traffic: &'t Traffic,
    seed: u64,
    number: u64,
    comes: Comes<'t>,
}

#[derive(Clone, Debug)]
enum Comes<'t> {
    Open {
        next: f64,
        mean: f64,
        gap: Gap,
        generator: Generator,
    },
    Closed {
        think: f64,
        awake: BinaryHeap<Reverse<Moment>>,
    },
    /// Every `stride`-th of those that were seen, at `stretch` seconds for each of theirs.
    Seen {
        served: &'t Served,
        stride: usize,
        stretch: f64,
    },
}

#[derive(Clone, Copy, Debug)]
enum Gap {
    Even,
    Exponential,
    Gamma(GammaLaw),
}

/// A time with an order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment(f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<'t> Source<'t> {
    /// The requests of a load: a rate per second, or a number of clients.
    #[must_use]
    pub fn new(traffic: &'t Traffic, load: f64, seed: u64) -> Self {
        let mut generator = Generator::from_seed(cell_seed(seed, &["traffic", "arrivals"]));
        let open = |gap: Gap, generator: &mut Generator| {
            let mean = 1.0 / load;
            Comes::Open { next: gap.draw(generator) * mean, mean, gap, generator: generator.clone() }
        };
        let comes = match &traffic.arrivals {
            Arrivals::Poisson => open(Gap::Exponential, &mut generator),
            Arrivals::Constant => open(Gap::Even, &mut generator),
            // A shape that was checked has a law.
            Arrivals::Gamma { burstiness } => {
                open(GammaLaw::of_mean_one(*burstiness).map_or(Gap::Exponential, Gap::Gamma), &mut generator)
            }
            Arrivals::Seen(served) => {
                let stride = traffic.replicas.max(1) as usize;
                // Of requests that all came at once there is no rate to change.
                let stretch = served.rate().map_or(1.0, |own| own / (load * stride as f64));
                Comes::Seen { served, stride, stretch }
            }
            Arrivals::Closed { think } => {
                let think = think.get();
                let first = |_| Reverse(Moment(think * generator.exponential()));
                Comes::Closed { think, awake: (0..load as u64).map(first).collect() }
            }
        };
        Self { traffic, seed: cell_seed(seed, &["traffic", "requests"]), number: 0, comes }
    }

    /// How many have come.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// When the next one comes; none while every client waits for an answer.
    #[must_use]
    pub fn next_at(&self) -> Option<f64> {
        match &self.comes {
            Comes::Open { next, .. } => Some(*next),
            Comes::Closed { awake, .. } => awake.peek().map(|Reverse(moment)| moment.0),
            Comes::Seen { .. } => Some(self.seen()?.at * self.stretch()),
        }
    }

    /// The next one of those that were seen.
    fn seen(&self) -> Option<&'t Seen> {
        match &self.comes {
            Comes::Seen { served, stride, .. } => served.requests.get(self.number as usize * stride),
            _ => None,
        }
    }

    const fn stretch(&self) -> f64 {
        match &self.comes {
            Comes::Seen { stretch, .. } => *stretch,
            _ => 1.0,
        }
    }

    /// The next one.
    pub fn take(&mut self) -> Option<Request> {
        let at = self.next_at()?;
        match &mut self.comes {
            Comes::Open { next, mean, gap, generator } => *next += gap.draw(generator) * *mean,
            Comes::Closed { awake, .. } => drop(awake.pop()),
            Comes::Seen { .. } => {}
        }
        let seen = self.seen().copied();
        let number = self.number;
        self.number += 1;
        let mut generator = Generator::of_item(self.seed, number);
        let kind = kind(&self.traffic.kinds, &mut generator);
        if let Some(Seen { prompt, hit, output, .. }) = seen {
            return Some(Request { number, at, kind, prompt, hit, output, generator });
        }
        let of = &self.traffic.kinds[kind];
        let (prompt, output) = (drawn(&of.prompt, &mut generator), drawn(&of.output, &mut generator));
        let hit = (f64::from(prompt) * of.prefix_hit.get()) as u32;
        Some(Request { number, at, kind, prompt, hit, output, generator })
    }

    /// A client has its answer.
    pub fn answered(&mut self, at: f64, generator: &mut Generator) {
        if let Comes::Closed { think, awake } = &mut self.comes {
            let pause = if *think > 0.0 { *think * generator.exponential() } else { 0.0 };
            awake.push(Reverse(Moment(at + pause)));
        }
    }
}

impl Gap {
    /// A gap, in means.
    fn draw(self, generator: &mut Generator) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::Exponential => generator.exponential(),
            Self::Gamma(law) => generator.gamma(&law),
        }
    }
}

fn kind(kinds: &[Kind], generator: &mut Generator) -> usize {
    if kinds.len() == 1 {
        return 0;
    }
    let mut number = generator.uniform();
    for (at, kind) in kinds.iter().enumerate() {
        if number < kind.share.get() {
            return at;
        }
        number -= kind.share.get();
    }
    kinds.len() - 1
}

/// A length by its law.
///
/// # Formula
///
/// ```text
/// log-normal: exp(mu + sigma z),  sigma^2 = ln(1 + (sd / mean)^2),  mu = ln(mean) - sigma^2 / 2
/// ```
fn drawn(length: &Length, generator: &mut Generator) -> u32 {
    match length {
        Length::Fixed(tokens) => *tokens,
        Length::LogNormal { mean, sd } => {
            let variance = (sd / mean).powi(2).ln_1p();
            let tokens = (mean.ln() - variance / 2.0 + variance.sqrt() * generator.normal()).exp();
            (tokens.round() as u32).clamp(1, Length::LONGEST)
        }
        Length::Seen(seen) => seen[((generator.uniform() * seen.len() as f64) as usize).min(seen.len() - 1)],
    }
}
