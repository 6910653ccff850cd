//! SGLang's log lines.

use std::collections::BTreeMap;

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
    /// How many lines can stand for one width of verification only, by width.
    widths: BTreeMap<usize, u64>,
}

impl Sglang {
    pub(super) const fn new(k: Option<u64>) -> Self {
        Self { k, widths: BTreeMap::new() }
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
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
                if let ([width], []) | ([], [width]) = (old.as_slice(), new.as_slice()) {
                    *self.widths.entry(*width).or_default() += 1;
                }
            }
            window.k = self.k;
            window.length = Some((length, weight));
        } else {
            window.drafted = Some(0.0);
        }
        take(window);
        true
    }

    /// The draft length, where lines that leave no choice agree.
    pub(super) fn k(&self) -> Option<u64> {
        let mut all = self.widths.keys();
        all.next().filter(|_| self.widths.len() == 1).map(|width| *width as u64 - 1)
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
