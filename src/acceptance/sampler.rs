//! Fast draws: accepted drafts of a round, and tokens from a law, one random number each.

use crate::acceptance::accepted::Accepted;
use crate::acceptance::simulate::RoundTrials;
use crate::domain::law::Law;
use crate::rng::Generator;

/// Accepted drafts of independent rounds, ready to draw from: any law, whatever made it.
///
/// A round is one 64-bit number u: it accepts as many drafts as there are positions with `u < S_i 2^64`. A guide over
/// the upper eight bits says how many of them are certain (Chen and Asau 1974), so that few are compared. One run at the
/// largest k serves every k: a round of k accepts the smaller of k and what a longer one does.
///
/// # Examples
///
/// ```
/// use specplan::acceptance::{accepted::Accepted, sampler::RoundTable};
/// use specplan::{rng::Generator, units::Probability};
/// let table = RoundTable::new(&Accepted::iid(Probability::ONE, 4));
/// assert_eq!(table.draw(&mut Generator::from_seed(5)), 4);
/// ```
#[derive(Clone, Debug)]
pub struct RoundTable {
    /// For each position the largest number that accepts it; positions that are never accepted are left out.
    limits: Vec<u64>,
    /// For each value of the upper bits, the positions that every such number accepts.
    certain: [u16; BUCKETS],
    k: usize,
}

const BITS: u32 = 8;
const BUCKETS: usize = 1 << BITS;

/// The largest number that passes a test of some chance; none if none does.
fn limit(chance: f64) -> Option<u64> {
    const ALL: f64 = 18_446_744_073_709_551_616.0;
    // The cast saturates: a certain test passes every number.
    let passing = (chance * ALL) as u64;
    if chance >= 1.0 { Some(u64::MAX) } else { passing.checked_sub(1) }
}

impl RoundTable {
    /// The longest round: counts fit the guide.
    pub const LONGEST: usize = u16::MAX as usize;

    /// A table of a law of at most [`Self::LONGEST`] drafts; positions beyond are taken for rejected.
    #[must_use]
    pub fn new(law: &Accepted) -> Self {
        let limits: Vec<u64> =
            law.survival().iter().take(Self::LONGEST).map_while(|&survival| limit(survival)).collect();
        let mut certain = [0; BUCKETS];
        for (bucket, certain) in certain.iter_mut().enumerate() {
            let largest = (bucket as u64) << (64 - BITS) | u64::MAX >> BITS;
            *certain = limits.iter().filter(|limit| **limit >= largest).count() as u16;
        }
        Self { limits, certain, k: law.survival().len() }
    }

    /// Drafts that a round accepts.
    #[inline]
    #[must_use]
    pub fn draw(&self, generator: &mut Generator) -> usize {
        let number = generator.next_u64();
        let mut accepted = usize::from(self.certain[(number >> (64 - BITS)) as usize]);
        while accepted < self.limits.len() && number <= self.limits[accepted] {
            accepted += 1;
        }
        accepted
    }

    /// Counts rounds by accepted drafts.
    #[must_use]
    pub fn rounds(&self, rounds: u64, generator: &mut Generator) -> RoundTrials {
        let mut by_accepted = vec![0; self.limits.len() + 1];
        for _ in 0..rounds {
            by_accepted[self.draw(generator)] += 1;
        }
        RoundTrials { by_accepted }
    }

    /// Draft length.
    #[must_use]
    pub const fn k(&self) -> usize {
        self.k
    }
}

/// A law ready to draw from in constant time, however many tokens it has.
///
/// Walker's alias method (1977), built as Vose does (1991): each cell holds a token and its alias, and how much of the
/// cell is the token's. One number picks the cell by its upper part and the side by the rest.
#[derive(Clone, Debug)]
pub struct Urn {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The largest rest that keeps the token.
    limit: u64,
    /// Whether any does.
    keeps: bool,
    alias: u32,
}

impl Urn {
    /// An urn of a law of at most 2^32 tokens.
    #[must_use]
    pub fn new(law: &Law) -> Self {
        let tokens = law.chances().len();
        let mut heights: Vec<f64> = law.chances().iter().map(|chance| chance * tokens as f64).collect();
        let (mut low, mut high): (Vec<u32>, Vec<u32>) =
            (0..tokens as u32).partition(|&token| heights[token as usize] < 1.0);
        let mut cells = vec![Cell { limit: u64::MAX, keeps: true, alias: 0 }; tokens];
        while let (Some(below), Some(&above)) = (low.pop(), high.last()) {
            let height = heights[below as usize];
            let of = limit(height);
            cells[below as usize] = Cell { limit: of.unwrap_or(0), keeps: of.is_some(), alias: above };
            let left = &mut heights[above as usize];
            *left -= 1.0 - height;
            if *left < 1.0 {
                high.pop();
                low.push(above);
            }
        }
        // What is left is full but for rounding; a token without a chance is never left beside one with.
        Self { cells }
    }

    /// A token.
    #[inline]
    #[must_use]
    pub fn draw(&self, generator: &mut Generator) -> usize {
        let wide = u128::from(generator.next_u64()) * self.cells.len() as u128;
        let (at, rest) = ((wide >> 64) as usize, wide as u64);
        let cell = self.cells[at];
        if cell.keeps && rest <= cell.limit { at } else { cell.alias as usize }
    }
}

/// A test that passes with some chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test(Option<u64>);

impl Test {
    pub(super) fn new(chance: f64) -> Self {
        Self(limit(chance))
    }

    #[inline]
    pub(super) fn passes(self, generator: &mut Generator) -> bool {
        let number = generator.next_u64();
        self.0.is_some_and(|limit| number <= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Probability;

    fn p(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    /// Each count against its chance, within five standard deviations.
    fn assert_drawn(counts: &[u64], chances: &[f64]) {
        let all: u64 = counts.iter().sum();
        for (at, chance) in chances.iter().enumerate() {
            let (count, n) = (counts.get(at).copied().unwrap_or(0) as f64, all as f64);
            let spread = (n * chance * (1.0 - chance)).sqrt();
            assert!((count - n * chance).abs() <= 5.0 * spread, "{at}: {count} of {n}, chance {chance}");
        }
    }

    #[test]
    fn rounds_follow_their_law() {
        let curve = [0.9, 0.9, 0.7, 0.001, 0.0].map(p);
        for law in [
            Accepted::iid(p(0.7), 8),
            Accepted::iid(p(0.0), 3),
            Accepted::iid(p(0.999), 2000),
            Accepted::from_cumulative(curve).unwrap(),
        ] {
            let seen = RoundTable::new(&law).rounds(200_000, &mut Generator::from_seed(5));
            assert_drawn(&seen.by_accepted, law.pmf());
        }
    }

    #[test]
    fn tokens_follow_their_law() {
        let laws = [vec![0.4, 0.25, 0.15, 0.1, 0.06, 0.04], vec![1.0], vec![0.0, 0.5, 0.0, 0.5], vec![1e-3; 1000]];
        for chances in laws {
            let law = Law::normalised(&chances).unwrap();
            let (urn, mut generator) = (Urn::new(&law), Generator::from_seed(5));
            let mut counts = vec![0; chances.len()];
            (0..200_000).for_each(|_| counts[urn.draw(&mut generator)] += 1);
            assert_drawn(&counts, law.chances());
        }
    }

    /// Exact: what each cell gives to its token and to its alias adds up to the law.
    #[test]
    fn cells_add_up_to_the_law() {
        let mut generator = Generator::from_seed(7);
        for tokens in 1..40 {
            let weights: Vec<f64> =
                (0..tokens).map(|at| if at % 3 == 1 { 0.0 } else { generator.uniform().powi(6) }).collect();
            let law = Law::normalised(&weights).unwrap();
            let urn = Urn::new(&law);
            let mut chances = vec![0.0; tokens];
            for (token, cell) in urn.cells.iter().enumerate() {
                let kept = if cell.keeps { (cell.limit as f64 + 1.0) / 2_f64.powi(64) } else { 0.0 };
                chances[token] += kept / tokens as f64;
                chances[cell.alias as usize] += (1.0 - kept) / tokens as f64;
            }
            for (got, expected) in chances.iter().zip(law.chances()) {
                assert!((got - expected).abs() < 1e-12, "{tokens} tokens: {got} and {expected}");
                assert!(*expected > 0.0 || *got == 0.0, "a token without a chance is drawn");
            }
        }
    }
}
