//! What decides how many tokens a step drafts.

use crate::cost::shape::PassShape;
use crate::domain::traffic::{Gate, Policy};
use crate::traffic::service::{Pace, Service};
use crate::words::Fullness;

/// What a decision looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Sequences that decode.
    pub decoding: usize,
    /// Their tokens in the cache.
    pub tokens: u64,
    /// Requests that wait.
    pub waiting: usize,
    /// Share of the KV cache in use.
    pub cache: f64,
    /// Tokens of prompts that are due.
    pub due: u32,
    /// Mean tokens that the prompts that are read next have in the cache.
    pub read: f64,
}

/// A policy at work.
#[derive(Clone, Debug)]
pub struct Chooser {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Always(usize),
    /// By batch, from 1 on; the last holds beyond.
    Schedule(Vec<usize>),
    Gate {
        gate: Gate,
        at: usize,
        open: bool,
    },
    Greedy,
}

impl Chooser {
    /// A policy of a service whose sequences have about `context` tokens in the cache.
    #[must_use]
    pub fn new<P: Pace>(policy: &Policy, service: &Service<P>, context: f64) -> Self {
        let last = service.rounds.len() - 1;
        let at = |k: u64| service.rounds.iter().position(|round| round.k == k).unwrap_or(last);
        let kind = match policy {
            Policy::Off => Kind::Always(0),
            Policy::Fixed { k } => Kind::Always(at(*k)),
            Policy::Schedule => {
                let best = |batch: usize| fastest(service, batch, (batch as f64 * context) as u64);
                Kind::Schedule((1..=service.sequences).map(best).collect())
            }
            Policy::Gate(gate) => Kind::Gate { gate: gate.clone(), at: at(gate.k), open: true },
            Policy::Greedy => Kind::Greedy,
        };
        Self { kind }
    }

    /// Which of a service's rounds the next step runs.
    pub fn choose<P: Pace>(&mut self, service: &Service<P>, view: View) -> usize {
        match &mut self.kind {
            Kind::Always(at) => *at,
            Kind::Schedule(by_batch) => {
                by_batch.get(view.decoding.wrapping_sub(1)).or(by_batch.last()).copied().unwrap_or(0)
            }
            Kind::Gate { gate, at, open } => {
                let measure = match gate.by {
                    Fullness::Batch => view.decoding as f64,
                    Fullness::Queue => view.waiting as f64,
                    Fullness::Kv => view.cache,
                };
                *open = if *open { measure < gate.off } else { measure <= gate.on };
                if *open { *at } else { 0 }
            }
            Kind::Greedy => greedy(service, view),
        }
    }
}

/// The round with the most tokens per second, prompts apart; the first of equals.
fn fastest<P: Pace>(service: &Service<P>, sequences: usize, tokens: u64) -> usize {
    let rate = |at: usize| {
        let round = &service.rounds[at];
        let step = service.pace.step(service.decoding(sequences, tokens, round));
        round.tokens / step.seconds(round.tokens).get()
    };
    largest((0..service.rounds.len()).map(rate))
}

fn largest(values: impl Iterator<Item = f64>) -> usize {
    let better = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    values.enumerate().fold((0, f64::NEG_INFINITY), better).0
}

/// The round whose step does the most work that is due in the time that it takes.
///
/// # Formula
///
/// ```text
/// k* = argmax ( B E[T_k] c_d + n_k c_p ) / t(k, n_k)        n_k = min(prompt tokens due, budget - B width_k)
/// c_d = min over k of t(k, 0) / (B E[T_k])                  c_p = ( t(0, n_0) - t(0, 0) ) / n_0
/// ```
///
/// Each token of an output is worth the time that it takes at best, each of a prompt the time that it takes beside a plain step: a step
/// is as good as what it gets done of these. Where prompts only add to a step this is the fastest round; where wider verifications
/// crowd prompts out, or share the device's arithmetic with them, it is not.
fn greedy<P: Pace>(service: &Service<P>, view: View) -> usize {
    if view.decoding == 0 {
        return 0;
    }
    let (count, rounds) = (view.decoding as f64, &service.rounds);
    let of = |at: usize| service.decoding(view.decoding, view.tokens, &rounds[at]);
    let alone: Vec<f64> =
        (0..rounds.len()).map(|at| service.pace.step(of(at)).seconds(rounds[at].tokens).get()).collect();
    if view.due == 0 {
        return largest(alone.iter().zip(rounds).map(|(seconds, round)| round.tokens / seconds));
    }
    let left = |at: usize| view.due.min(service.budget.saturating_sub(view.decoding as u32 * rounds[at].width));
    let reading = |at: usize| match left(at) {
        0 => 0.0,
        tokens => service.pace.reading(of(at), &[PassShape::prefill(1.0, f64::from(tokens), view.read)]).get(),
    };
    let of_output = alone.iter().zip(rounds).map(|(seconds, round)| seconds / (count * round.tokens));
    let of_output = of_output.fold(f64::INFINITY, f64::min);
    let of_prompt = reading(0) / f64::from(left(0).max(1));
    let worth = |at: usize| count * rounds[at].tokens * of_output + f64::from(left(at)) * of_prompt;
    largest((0..rounds.len()).map(|at| worth(at) / (alone[at] + reading(at))))
}
