//! SGLang's log lines.

use std::collections::BTreeSet;

use crate::domain::observed::Window;
use crate::import::engine::scan::number;
use crate::import::engine::stamp::find;
use crate::words::{Printout, Trap};

/// Widest verification that is looked for behind a printed rate.
const WIDEST: usize = 64;

/// What lines of SGLang say together.
#[derive(Debug)]
pub(super) struct Sglang {
    k: Option<u64>,
    /// Steps that the server's arguments in the log say.
    steps: Option<u64>,
    /// Widths of verification of lines that can stand for one only.
    widths: BTreeSet<usize>,
    /// Those that all other lines with a rate can stand for.
    open: Option<BTreeSet<usize>>,
}

impl Sglang {
    pub(super) const fn new(k: Option<u64>) -> Self {
        Self { k, steps: None, widths: BTreeSet::new(), open: None }
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        if let Some(steps) = number(line, "speculative_num_steps=").filter(|steps| *steps >= 1.0) {
            // What the server was started with.
            self.steps = Some(steps as u64);
            return true;
        }
        let Some(length) = number(line, "accept len:") else { return false };
        if !line.contains("Decode batch") {
            return false;
        }
        // Ranks of one tensor-parallel group print the same.
        if rank(line, " TP").is_some_and(|rank| rank != "0") {
            return true;
        }
        let weight = number(line, "#running-req:").filter(|running| *running > 0.0).unwrap_or(1.0);
        let mut window =
            Window { at: find(line), traps: vec![Trap::WeighedByRequests], ..Window::of(Printout::SglangLog) };
        window.group.rank = rank(line, " DP");
        if length.is_finite() && length >= 1.0 {
            if let Some(rate) = number(line, "accept rate:").filter(|rate| rate.is_finite()) {
                let (old, new) = widths(length, rate);
                if new.is_empty() && !old.is_empty() {
                    window.traps.push(Trap::RateWithBonus);
                }
                let all: BTreeSet<usize> = old.into_iter().chain(new).collect();
                if let (None, Some(width), 1) = (self.steps.or(self.k), all.first(), all.len()) {
                    self.widths.insert(*width);
                    window.k = Some(*width as u64 - 1);
                    window.traps.push(Trap::ChainAssumed);
                } else {
                    self.open = Some(match self.open.take() {
                        Some(open) => &open & &all,
                        None => all,
                    });
                }
            }
            window.k = self.steps.or(self.k).or(window.k);
            window.length = Some((length, weight));
        } else if length == 0.0 || length.is_nan() {
            window.drafted = Some(0.0);
        } else {
            window.traps.push(Trap::Contradiction);
        }
        take(window);
        true
    }

    /// The draft length of lines that leave a choice, where those that leave none agree on one of theirs.
    pub(super) fn k(&self) -> Option<u64> {
        let open = self.open.as_ref().unwrap_or(&self.widths);
        let all = if self.widths.is_empty() { open } else { &self.widths };
        let one = all.first().filter(|width| all.len() == 1 && open.contains(width))?;
        Some(*one as u64 - 1)
    }
}

/// The widths of verification that a printed length and rate can stand for: up to 0.5.10, length / width; later,
/// (length - 1) / (width - 1).
fn widths(length: f64, rate: f64) -> (Vec<usize>, Vec<usize>) {
    const HALF: f64 = 0.005_01;
    let near = |mean: f64, of: f64| (mean - HALF) / of <= rate + HALF && (mean + HALF) / of >= rate - HALF;
    let old = (2..=WIDEST).filter(|&width| near(length, width as f64)).collect();
    let new = (2..=WIDEST).filter(|&width| near(length - 1.0, width as f64 - 1.0)).collect();
    (old, new)
}

/// The number after a word in a line's brackets, such as the 1 of `DP1`.
fn rank(line: &str, word: &str) -> Option<String> {
    let at = line.find(word)? + word.len();
    let digits: String = line[at..].chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
