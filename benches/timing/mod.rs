//! What benchmarks share.
#![allow(dead_code, reason = "each benchmark uses a part")]

use std::hint::black_box;
use std::time::Instant;

/// Seconds of a piece of work.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let made = black_box(work());
    (start.elapsed().as_secs_f64(), made)
}

/// The value in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Units of work per second of both, and the median ratio.
pub(crate) struct Pairs {
    pub(crate) subject: f64,
    pub(crate) yardstick: f64,
    pub(crate) ratio: f64,
}

impl Pairs {
    /// Alternates two kinds of work, each with its number of units.
    pub(crate) fn of(count: usize, subject: (f64, &mut dyn FnMut()), yardstick: (f64, &mut dyn FnMut())) -> Self {
        let mut pairs = Vec::new();
        for _ in 0..count {
            let (a, ()) = timed(&mut *subject.1);
            let (b, ()) = timed(&mut *yardstick.1);
            pairs.push((a, b));
        }
        Self::from(&pairs, subject.0, yardstick.0)
    }

    /// Of pairs of seconds.
    pub(crate) fn from(pairs: &[(f64, f64)], subject: f64, yardstick: f64) -> Self {
        let all = |rate: &dyn Fn(&(f64, f64)) -> f64| median(pairs.iter().map(rate).collect());
        Self {
            subject: all(&|(a, _)| subject / a),
            yardstick: all(&|(_, b)| yardstick / b),
            ratio: all(&|(a, b)| subject / a / (yardstick / b)),
        }
    }
}

impl Pairs {
    /// Of pairs of seconds of so many units: the ratio is that of the times.
    pub(crate) fn times(pairs: &[(f64, f64)], units: f64) -> Self {
        let ratio = median(pairs.iter().map(|(a, b)| a / b).collect());
        Self { ratio, ..Self::from(pairs, units, units) }
    }
}

/// What a ratio has to be.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// A line of the table.
pub(crate) enum Line {
    Ratio { what: &'static str, pairs: Pairs, goal: Goal },
    Figure { what: &'static str, value: f64, unit: &'static str, goal: Goal },
    Note(String),
}

impl Goal {
    fn verdict(self, value: f64) -> &'static str {
        let is_met = match self {
            Self::AtLeast(goal) => value >= goal,
            Self::AtMost(goal) => value <= goal,
        };
        if is_met { "met" } else { "MISSED" }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(goal) => format!(">={goal}"),
            Self::AtMost(goal) => format!("<={goal}"),
        }
    }
}

impl Line {
    pub(crate) fn print(&self, id: &str) {
        match self {
            Self::Ratio { what, pairs, goal } => println!(
                "{id:4} {what:66} {:>11.3e} {:>11.3e} {:>7.2}x {:>7}  {}",
                pairs.subject,
                pairs.yardstick,
                pairs.ratio,
                goal.text(),
                goal.verdict(pairs.ratio)
            ),
            Self::Figure { what, value, unit, goal } => {
                println!("{id:4} {what:90} {value:>8.2} {:>7}  {} ({unit})", goal.text(), goal.verdict(*value));
            }
            Self::Note(text) => println!("{id:4} {text}"),
        }
    }
}
