//! What benchmark tools print at their end.

use crate::domain::observed::Window;
use crate::import::engine::scan::number;
use crate::words::{Printout, Trap};

/// Figures of a block, one on each line.
#[derive(Debug)]
pub(super) struct Printed {
    k: Option<u64>,
    block: Block,
}

#[derive(Debug, Default)]
struct Block {
    length: Option<f64>,
    rounds: Option<f64>,
    drafted: Option<f64>,
    accepted: Option<f64>,
    rates: Vec<f64>,
}

impl Printed {
    pub(super) fn new(k: Option<u64>) -> Self {
        Self { k, block: Block::default() }
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        let line = line.trim();
        let of = |label: &str| line.strip_prefix(label).and_then(|_| number(line, label));
        if line.contains("Speculative Decoding") {
            self.end(take);
        } else if let Some(length) = of("Acceptance length:") {
            self.block.length = Some(length);
        } else if let Some(rounds) = of("Drafts:") {
            self.block.rounds = Some(rounds);
        } else if let Some(drafted) = of("Draft tokens:") {
            self.block.drafted = Some(drafted);
        } else if let Some(accepted) = of("Accepted tokens:") {
            self.block.accepted = Some(accepted);
        } else if let Some(rate) = position(line) {
            self.block.rates.push(rate / 100.0);
        } else if let Some(length) = of("Accept length:") {
            take(Window { k: self.k, length: Some((length, 1.0)), ..Window::of(Printout::SglangBench) });
        } else if line.contains("[AL]") && line.to_ascii_lowercase().contains("average") {
            let mean = line.rsplit([':', ' ', '=']).next().and_then(|word| word.parse::<f64>().ok());
            let traps = vec![Trap::Reconstructed, Trap::Unweighed];
            let window = Window { k: self.k, traps, ..Window::of(Printout::TrtllmBench) };
            mean.into_iter().for_each(|length| take(Window { length: Some((length, 1.0)), ..window.clone() }));
        } else {
            return false;
        }
        true
    }

    pub(super) fn end(&mut self, take: &mut dyn FnMut(Window)) {
        let block = std::mem::take(&mut self.block);
        let counted = block.rounds.is_some() && block.accepted.is_some();
        if !counted && block.length.is_none() {
            return;
        }
        let rounds = block.rounds.unwrap_or(0.0);
        take(Window {
            k: (!block.rates.is_empty()).then_some(block.rates.len() as u64).or(self.k),
            rounds: block.rounds,
            drafted: block.drafted,
            accepted: block.accepted,
            passed: block.rates.iter().map(|rate| (rate * rounds).round()).collect(),
            length: block.length.filter(|_| !counted).map(|length| (length, 1.0)),
            traps: vec![Trap::OtherTraffic],
            ..Window::of(Printout::VllmBench)
        });
    }
}

/// `Position 0: 70.00`
fn position(line: &str) -> Option<f64> {
    let rest = line.strip_prefix("Position ")?;
    let (at, rate) = rest.split_once(':')?;
    at.trim().parse::<u64>().ok()?;
    rate.trim().parse().ok()
}
