//! An axis with ticks where a reader wants them.

use crate::report::chart::bodies::Scale;
use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::report::number::{compact, shortest};

/// A linear or logarithmic axis with ticks of our own choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TickedAxis {
    from: f64,
    to: f64,
    log: bool,
    ticks: Vec<f64>,
}

/// The most ticks with room for short labels.
const MOST_TICKS: usize = 10;
/// The characters that fit below an axis, two blanks between labels.
const ROOM: usize = 52;
/// An axis whose ends differ by more than this factor is logarithmic.
const LOG_FROM: f64 = 16.0;

impl TickedAxis {
    /// An axis through given values, ticks at them where there is room, else at rounder ones.
    pub(super) fn through(values: &[u64]) -> Self {
        let least = values.iter().copied().min().unwrap_or(0) as f64;
        let most = values.iter().copied().max().unwrap_or(0) as f64;
        let log = least > 0.0 && most / least > LOG_FROM;
        let label = compact(most as u64).len() + 2;
        let room = (ROOM / label).min(MOST_TICKS);
        let ticks: Vec<f64> = if log {
            powers(least, most, room)
        } else if values.len() <= room {
            values.iter().map(|&value| value as f64).collect()
        } else {
            round_ticks(least, most).into_iter().filter(|tick| tick.fract() == 0.0).collect()
        };
        let (from, to) = if log { (least / 1.15, most * 1.15) } else { padded(least, most) };
        Self { from, to, log, ticks }
    }

    /// An axis from 0 to `most`.
    pub(super) fn up_to(most: f64) -> Self {
        let ticks = round_ticks(0.0, most);
        Self { from: 0.0, to: most, log: false, ticks }
    }

    /// A logarithmic axis between two numbers above zero, ticks at powers of two, or at round numbers where
    /// these are too few to read by.
    pub(super) fn log(from: f64, to: f64) -> Self {
        let powers = powers(from, to, MOST_TICKS);
        let ticks = if powers.len() < 4 { round_ticks(from, to) } else { powers };
        Self { from, to, log: true, ticks }
    }

    /// An axis between two numbers, above zero where it runs by factors.
    pub(super) fn of(scale: Scale, (from, to): (f64, f64)) -> Self {
        match scale {
            Scale::Even => Self::between(from, to),
            Scale::Powers => Self::log(from, to),
            Scale::Decades => Self { from, to, log: true, ticks: decades(from, to) },
        }
    }

    /// An axis between two numbers.
    pub(super) fn between(from: f64, to: f64) -> Self {
        Self { from, to, log: false, ticks: round_ticks(from, to) }
    }

    /// The same axis without ticks.
    pub(super) fn without_ticks(self) -> Self {
        Self { ticks: Vec::new(), ..self }
    }

    /// Slots for bars at 0, 1, 2, …, with room beside the first and the last.
    pub(super) fn slots(count: usize) -> Self {
        let last = count.saturating_sub(1) as f64;
        let ticks = if count <= MOST_TICKS {
            (0..count).map(|slot| slot as f64).collect()
        } else {
            round_ticks(0.0, last).into_iter().filter(|tick| tick.fract() == 0.0).collect()
        };
        Self { from: -0.6, to: last + 0.6, log: false, ticks }
    }

    /// Where a value lies, 0 to 1 along the axis.
    pub(super) fn position(&self, value: f64) -> f64 {
        if self.log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }
}

impl TickedAxis {
    /// The value at a position.
    pub(super) fn value(&self, position: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(position)
        } else {
            self.from + position * (self.to - self.from)
        }
    }
}

fn padded(least: f64, most: f64) -> (f64, f64) {
    let span = if most > least { most - least } else { least.abs().max(1.0) };
    (least - span * 0.04, most + span * 0.04)
}

/// Powers of two from `least` to `most`, every one or every second, third, … of them.
fn powers(least: f64, most: f64, room: usize) -> Vec<f64> {
    let (first, last) = (least.log2().ceil() as i32, most.log2().floor() as i32);
    let stride = ((last - first).max(0) as usize / room) + 1;
    (first..=last).step_by(stride).map(|power| f64::from(power).exp2()).collect()
}

/// 1, 2 and 5 times powers of ten, or powers of ten alone where these are many; round numbers where they are too few to read by.
fn decades(from: f64, to: f64) -> Vec<f64> {
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        all.filter(|tick| (from..=to).contains(tick)).collect()
    };
    let all = within(&[1.0, 2.0, 5.0]);
    match all.len() {
        ..3 => round_ticks(from, to),
        3..=MOST_TICKS => all,
        _ => within(&[1.0]),
    }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten.
fn round_ticks(from: f64, to: f64) -> Vec<f64> {
    let rough = (to - from) / (MOST_TICKS as f64 - 2.0);
    if rough.is_nan() || rough <= 0.0 {
        return vec![from];
    }
    let unit = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * unit).find(|step| *step >= rough).unwrap_or(rough);
    let first = (from / step).ceil() as i64;
    let last = (to / step + 1e-9).floor() as i64;
    (first..=last).map(|multiple| ((multiple as f64 * step) * 1e9).round() / 1e9).collect()
}

impl Ranged for TickedAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.position(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for TickedAxis {
    fn format_ext(&self, value: &f64) -> String {
        match *value {
            whole if whole.fract() == 0.0 && whole >= 0.0 => compact(whole as u64),
            small if small.abs() < 0.01 => format!("{small:.1e}"),
            other => shortest(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_where_a_reader_looks_for_them() {
        assert_eq!(TickedAxis::through(&[1, 2, 4, 6, 8]).ticks, [1.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(TickedAxis::through(&[1, 16, 64, 256]).ticks, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0]);
        assert_eq!(TickedAxis::of(Scale::Decades, (60.0, 9000.0)).ticks, [100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]);
        assert_eq!(TickedAxis::of(Scale::Decades, (30.0, 2e4)).ticks.len(), 9);
        assert_eq!(TickedAxis::of(Scale::Decades, (0.5, 2e6)).ticks, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(TickedAxis::of(Scale::Decades, (31.0, 45.0)).ticks, [32.0, 34.0, 36.0, 38.0, 40.0, 42.0, 44.0]);
        assert_eq!(TickedAxis::up_to(2.2).ticks, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(TickedAxis::through(&[5]).ticks, [5.0]);
        assert_eq!(TickedAxis::slots(3).ticks, [0.0, 1.0, 2.0]);
        assert_eq!(TickedAxis::slots(25).ticks, [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert!(TickedAxis::through(&(1..=1000).collect::<Vec<u64>>()).ticks.len() <= MOST_TICKS);
    }

    #[test]
    fn labels_are_short() {
        let axis = TickedAxis::log(1e-5, 1e9);
        let labels: Vec<String> = axis.ticks.iter().map(|tick| axis.format_ext(tick)).collect();
        assert!(labels.iter().all(|label| label.len() <= 8), "{labels:?}");
        assert_eq!(axis.format_ext(&0.25), "0.25");
    }

    #[test]
    fn values_map_onto_the_whole_axis() {
        for values in [vec![3], vec![1, 1_000_000], vec![0, 4], vec![7, 8]] {
            let axis = TickedAxis::through(&values);
            for value in &values {
                let pixel = axis.map(&(*value as f64), (0, 1000));
                assert!((0..=1000).contains(&pixel), "{values:?}: {pixel}");
            }
        }
    }
}
