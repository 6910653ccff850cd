//! Points that were measured twice: the same number again, or numbers that contradict each other.

use std::collections::HashMap;

use crate::domain::measured::{Measured, Timed};

/// Two numbers for the same that are farther apart contradict each other.
const APART: f64 = 0.1;
/// Two that are closer are the same.
const ROUNDING: f64 = 1e-12;

/// Two points of the same batch, context, drafter and k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first, by its position.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// How much larger the larger number is; 0: the same number.
    pub apart: f64,
}

/// Pairs of points of the same situation: a number that comes again with the first that is the same, and where numbers differ by more than a tenth
/// from the first of the situation, with that.
#[must_use]
pub fn repeated(points: &[Measured]) -> Vec<Pair> {
    let mut known: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (second, point) in points.iter().enumerate() {
        let earlier = known.entry(key(point)).or_default();
        let apart = |first: usize| {
            let (one, other) = (number(&points[first]), number(point));
            (one / other).max(other / one) - 1.0
        };
        if let Some(&first) = earlier.iter().find(|&&first| apart(first) < ROUNDING) {
            found.push(Pair { first, second, apart: 0.0 });
            continue;
        }
        if let Some(&first) = earlier.first().filter(|&&first| apart(first) > APART) {
            found.push(Pair { first, second, apart: apart(first) });
        }
        earlier.push(second);
    }
    found
}

type Key = (Option<String>, [u64; 4], &'static str);

fn key(point: &Measured) -> Key {
    let drafter = point.drafter.clone().filter(|_| point.k > 0);
    let width = point.layout.map_or(0, |layout| layout.verify_width.to_bits());
    (drafter, [point.k, width, point.batch.to_bits(), point.context.to_bits()], point.timed.what())
}

/// What the price has to come to: with more tokens a pass a longer round gives the same.
fn number(point: &Measured) -> f64 {
    let tokens = point.tokens_per_pass.unwrap_or(1.0);
    match point.timed {
        Timed::Step(seconds) => seconds.get(),
        Timed::PerToken(seconds) => seconds.get() * tokens,
        Timed::Throughput(rate) => tokens / rate,
        Timed::Speedup(speedup) => tokens / speedup,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Seconds;

    fn point(batch: f64, milliseconds: f64) -> Measured {
        Measured {
            label: String::new(),
            drafter: None,
            k: 0,
            layout: None,
            batch,
            context: 400.0,
            requests: None,
            tokens_per_pass: None,
            timed: Timed::Step(Seconds::new(milliseconds / 1e3)),
        }
    }

    #[test]
    fn the_same_again_and_contradictions_are_told_apart() {
        let found = repeated(&[point(1.0, 8.0), point(2.0, 8.0), point(1.0, 8.0), point(1.0, 8.5), point(2.0, 10.0)]);
        assert_eq!(found.len(), 2, "{found:?}");
        let again = repeated(&[point(1.0, 8.0), point(1.0, 30.0), point(1.0, 30.0)]);
        assert_eq!(again.iter().map(|of| (of.first, of.second)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!((found[0].first, found[0].second, found[0].apart.to_bits()), (0, 2, 0));
        assert_eq!((found[1].first, found[1].second), (1, 4));
        assert!((found[1].apart - 0.25).abs() < 1e-12);
    }
}
