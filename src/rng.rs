//! The one random generator, and seeds that belong to content.
//!
//! Xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021) by
//! name, since a generator that may change between versions would change published results.

use rand_core::{Rng, SeedableRng};
use rand_distr::Distribution;
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// A seeded Xoshiro256++ generator.
#[derive(Clone, Debug)]
pub struct Generator(Xoshiro256PlusPlus);

impl Generator {
    /// Seeds all 256 bits of state from one number through SplitMix64, as its authors advise.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number that follows a Beta law.
    pub fn beta(&mut self, law: &BetaLaw) -> f64 {
        law.0.sample(&mut self.0)
    }

    /// A number that follows the standard normal law, by the ziggurat of Marsaglia and Tsang (2000).
    pub fn normal(&mut self) -> f64 {
        rand_distr::StandardNormal.sample(&mut self.0)
    }

    /// One of many generators of a seed that have nothing to do with each other, such as one for each request: SplitMix64's finaliser
    /// (Steele, Lea and Flood 2014) tells their seeds apart.
    #[must_use]
    pub fn of_item(seed: u64, item: u64) -> Self {
        let mut bits = seed ^ item.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self::from_seed(bits ^ bits >> 31)
    }

    /// A number that follows the exponential law of mean 1, by the ziggurat of Marsaglia and Tsang (2000).
    pub fn exponential(&mut self) -> f64 {
        rand_distr::Exp1.sample(&mut self.0)
    }

    /// A number that follows a gamma law.
    pub fn gamma(&mut self, law: &GammaLaw) -> f64 {
        law.0.sample(&mut self.0)
    }

    /// A uniform number in [0, 1): the upper 53 bits over 2^53.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * STEP
    }
}

/// A Beta law ready to draw from, by Cheng's algorithms (1978).
#[derive(Clone, Copy, Debug)]
pub struct BetaLaw(rand_distr::Beta<f64>);

impl BetaLaw {
    /// A law by its parameters; none unless both are above 0.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Option<Self> {
        rand_distr::Beta::new(a, b).ok().map(Self)
    }
}

/// A gamma law of mean 1 ready to draw from, by Marsaglia and Tsang's algorithm (2000).
#[derive(Clone, Copy, Debug)]
pub struct GammaLaw(rand_distr::Gamma<f64>);

impl GammaLaw {
    /// A law by its shape; none unless that is above 0.
    #[must_use]
    pub fn of_mean_one(shape: f64) -> Option<Self> {
        rand_distr::Gamma::new(shape, 1.0 / shape).ok().map(Self)
    }
}

/// The seed of one cell: the first 8 bytes of SHA-256 over the study's seed and the parts that name
/// the cell, each with its length in front.
///
/// A cell keeps its random numbers when the grid around it grows or is cut in parts, since its index
/// plays no role.
///
/// # Examples
///
/// ```
/// use specplan::rng::cell_seed;
/// let a = cell_seed(5, &["iid", "0.7", "8"]);
/// assert_eq!(a, cell_seed(5, &["iid", "0.7", "8"]));
/// assert_ne!(a, cell_seed(5, &["iid", "0.78", ""]));
/// ```
#[must_use]
pub fn cell_seed(seed: u64, parts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    digest.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from a Python transcription of the authors' C code (SplitMix64 seeding, seed 5).
    #[test]
    fn the_stream_is_the_published_one() {
        let mut generator = Generator::from_seed(5);
        let drawn = [(); 4].map(|()| generator.next_u64());
        assert_eq!(drawn, [5386871174976764958, 11279066388131595750, 1807103123784135743, 1081185847627615646]);
        let mut generator = Generator::from_seed(5);
        assert_eq!(generator.uniform().to_bits(), 0.29202287154046747_f64.to_bits());
        assert_eq!(generator.uniform().to_bits(), 0.6114394140810253_f64.to_bits());
    }

    /// Value from Python's `hashlib` over the same bytes.
    #[test]
    fn a_cell_seed_is_the_head_of_a_digest() {
        assert_eq!(cell_seed(5, &["iid", "0.7", "8"]), 4945183674035089872);
    }
}
