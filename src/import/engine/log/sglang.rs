//! SGLang's log lines.

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
    /// Verified tokens that all rates so far can stand for, by the definition up to 0.5.10 and by the later one.
    widths: [Vec<usize>; 2],
    rated: bool,
}

impl Sglang {
    pub(super) fn new(k: Option<u64>) -> Self {
        let all: Vec<usize> = (2..=WIDEST).collect();
        Self { k, widths: [all.clone(), all], rated: false }
    }

    pub(super) fn line(&mut self, line: &str, take: &mut dyn FnMut(Window)) -> bool {
        let Some(length) = number(line, "accept len:") else { return false };
        if !line.contains("Decode batch") {
            return false;
        }
        // Ranks of one tensor-parallel group print the same.
        if line.contains(" TP") && !line.contains(" TP0") {
            return true;
        }
        let weight = number(line, "#running-req:").filter(|running| *running > 0.0).unwrap_or(1.0);
        let mut window =
            Window { at: find(line), traps: vec![Trap::WeighedByRequests], ..Window::of(Printout::SglangLog) };
        window.group.rank = rank(line);
        if length.is_finite() && length >= 1.0 {
            if let Some(rate) = number(line, "accept rate:").filter(|rate| rate.is_finite()) {
                self.rated |= rate > 0.0;
                self.narrow(length, rate);
                if self.widths[1].is_empty() && !self.widths[0].is_empty() {
                    window.traps.push(Trap::RateWithBonus);
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

    /// Drops the widths that a printed length and rate rule out.
    fn narrow(&mut self, length: f64, rate: f64) {
        const HALF: f64 = 0.005_01;
        let near = |mean: f64, width: f64| (mean - HALF) / width <= rate + HALF && (mean + HALF) / width >= rate - HALF;
        let [old, new] = &mut self.widths;
        old.retain(|&width| near(length, width as f64));
        new.retain(|&width| near(length - 1.0, width as f64 - 1.0));
    }

    /// The draft length, where rates leave one only.
    pub(super) fn k(&self) -> Option<u64> {
        let all: Vec<usize> = self.widths.iter().flatten().copied().collect();
        match all.as_slice() {
            [] => None,
            [first, rest @ ..] if self.rated && rest.iter().all(|width| width == first) => Some(*first as u64 - 1),
            _ => None,
        }
    }
}

/// The data-parallel rank in a line's brackets.
fn rank(line: &str) -> Option<String> {
    let at = line.find(" DP")? + 3;
    let digits: String = line[at..].chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
