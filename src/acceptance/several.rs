//! Several drafts for one position, tested in turn: recursive rejection, its upper bound, and the likeliest drafts taken
//! without chance.
//!
//! After a rejection the target's law is what is left of it, `norm(max(0, p - q))`, and the next draft is tested against
//! that. So n drafts do not accept `1 - (1 - beta)^n`: later ones face what earlier ones missed.
//!
//! Sources: Miao et al. 2023 (SpecInfer, arXiv 2305.09781), with replacement; Jeon et al. 2024 (RSD, arXiv 2402.14160)
//! and Chen et al. 2024 (Sequoia, arXiv 2402.12374), without; Sun et al. 2023 (SpecTr, arXiv 2310.15141) and Hu et
//! al. 2025 (arXiv 2502.18779), the bound.

use crate::domain::law::{Law, Pair};

/// What comes of several drafts for one position.
#[derive(Clone, Debug, PartialEq)]
pub struct Several {
    /// The chance that the first, second, … draft is the accepted one.
    pub per_rank: Vec<f64>,
    /// The law of the emitted token: the target's, whatever q is.
    pub output: Vec<f64>,
}

impl Several {
    /// The chance that any of them is accepted.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.per_rank.iter().sum()
    }
}

/// What a drafter does whose tokens are all drawn, but not all drafts made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// It drafts no more.
    Stop,
    /// It draws evenly from the tokens it never gives.
    Uniform,
}

/// More ways than can be enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{drafts} drafts from {tokens} tokens fall in too many ways: at most {MOST_WAYS} are followed")]
pub struct TooManyWays {
    /// Drafts for the position.
    pub drafts: usize,
    /// Tokens of the vocabulary.
    pub tokens: usize,
}

/// Ordered ways to draw that are followed, at most.
const MOST_WAYS: usize = 1 << 22;

/// Drafts drawn independently from q, which may repeat.
///
/// # Formula
///
/// ```text
/// p_1 = p    beta_j = sum min(p_j, q)    p_(j+1) = norm(max(0, p_j - q))    acceptance = 1 - product of (1 - beta_j)
/// ```
///
/// # Examples
///
/// A greedy target under q(y) = 0.3: `1 - 0.7^3`.
///
/// ```
/// use specplan::{acceptance::several::with_replacement, domain::law::{Law, Pair}};
/// let pair = Pair::new(Law::new(vec![0.0, 1.0])?, Law::new(vec![0.7, 0.3])?)?;
/// assert!((with_replacement(&pair, 3).acceptance() - 0.657).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn with_replacement(pair: &Pair, drafts: usize) -> Several {
    let mut here = pair.clone();
    let mut output = vec![0.0; pair.p().chances().len()];
    let (mut reach, mut per_rank) = (1.0, Vec::with_capacity(drafts));
    for _ in 0..drafts {
        output.iter_mut().zip(here.overlap()).for_each(|(out, overlap)| *out += reach * overlap);
        per_rank.push(reach * here.acceptance());
        let Some(left) = here.residual() else {
            per_rank.resize(drafts, 0.0);
            return Several { per_rank, output };
        };
        reach *= here.total_variation();
        here = here.with_target(left);
    }
    output.iter_mut().zip(here.p().chances()).for_each(|(out, p)| *out += reach * p);
    Several { per_rank, output }
}

/// Drafts drawn from q without putting any back: each from q without the tokens before it, tested against that law.
/// Every order of draws is followed.
///
/// # Errors
///
/// [`TooManyWays`] beyond four million orders.
///
/// # Examples
///
/// As many drafts as tokens accept one of them for certain:
///
/// ```
/// use specplan::acceptance::several::{Exhausted, without_replacement};
/// use specplan::domain::law::{Law, Pair};
/// let pair = Pair::new(Law::new(vec![0.7, 0.2, 0.1])?, Law::new(vec![0.1, 0.2, 0.7])?)?;
/// let three = without_replacement(&pair, 3, Exhausted::Stop)?;
/// assert!((three.acceptance() - 1.0).abs() < 1e-12 && (three.per_rank[1] - 0.2).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn without_replacement(pair: &Pair, drafts: usize, exhausted: Exhausted) -> Result<Several, TooManyWays> {
    let tokens = pair.p().chances().len();
    check(tokens, drafts)?;
    let mut walk = Walk { exhausted, drafts, seen: Several { per_rank: vec![0.0; drafts], output: vec![0.0; tokens] } };
    walk.from(pair.p().chances(), pair.q().chances(), &mut vec![false; tokens], 0, 1.0);
    Ok(walk.seen)
}

fn check(tokens: usize, drafts: usize) -> Result<(), TooManyWays> {
    // Once every token is drawn there is no more order to follow.
    let orders = (0..drafts.min(tokens)).try_fold(1_usize, |orders, drawn| orders.checked_mul(tokens - drawn));
    if orders.is_some_and(|orders| orders <= MOST_WAYS) { Ok(()) } else { Err(TooManyWays { drafts, tokens }) }
}

/// Orders of draws, followed one by one.
struct Walk {
    exhausted: Exhausted,
    drafts: usize,
    seen: Several,
}

impl Walk {
    /// From what is left of p, with some tokens of q drawn.
    fn from(&mut self, p: &[f64], q: &[f64], drawn: &mut Vec<bool>, rank: usize, reach: f64) {
        let law = if rank < self.drafts { self.remaining(q, drawn) } else { None };
        let Some(law) = law else {
            self.seen.output.iter_mut().zip(p).for_each(|(out, p)| *out += reach * p);
            return;
        };
        let overlap: Vec<f64> = p.iter().zip(&law).map(|(p, q)| p.min(*q)).collect();
        let accepted: f64 = overlap.iter().sum();
        self.seen.per_rank[rank] += reach * accepted;
        self.seen.output.iter_mut().zip(&overlap).for_each(|(out, overlap)| *out += reach * overlap);
        let left: Vec<f64> = p.iter().zip(&overlap).map(|(p, overlap)| p - overlap).collect();
        let Ok(left) = Law::normalised(&left) else { return };
        for token in 0..law.len() {
            let rejected = law[token] - overlap[token];
            if rejected > 0.0 {
                drawn[token] = true;
                self.from(left.chances(), q, drawn, rank + 1, reach * rejected);
                drawn[token] = false;
            }
        }
    }

    /// q without the drawn tokens; none if nothing is left to draft.
    fn remaining(&self, q: &[f64], drawn: &[bool]) -> Option<Vec<f64>> {
        let kept: Vec<f64> = q.iter().zip(drawn).map(|(q, drawn)| if *drawn { 0.0 } else { *q }).collect();
        let even = || drawn.iter().map(|drawn| f64::from(u8::from(!drawn))).collect::<Vec<f64>>();
        let law = Law::normalised(&kept).or_else(|error| match self.exhausted {
            Exhausted::Stop => Err(error),
            Exhausted::Uniform => Law::normalised(&even()),
        });
        law.ok().map(|law| law.chances().to_vec())
    }
}

/// How candidates are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Independently; tokens may repeat.
    WithReplacement,
    /// No token twice.
    WithoutReplacement,
}

/// The most that any lossless rule can accept of n candidates.
///
/// # Formula
///
/// ```text
/// 1 + min over sets H of [P(H) - Q(H)]        Q(H) = chance that all candidates lie in H;  with replacement q(H)^n
/// ```
///
/// The dual of an optimal transport (arXiv 2310.15141). Only sets of the tokens with the smallest p/q have to be tried
/// (arXiv 2502.18779).
///
/// # Errors
///
/// [`TooManyWays`] without replacement, beyond four million orders of draws.
///
/// # Examples
///
/// One candidate accepts `sum min(p, q)` at best:
///
/// ```
/// use specplan::acceptance::several::{Sampling, upper_bound};
/// use specplan::domain::law::{Law, Pair};
/// let pair = Pair::new(Law::new(vec![0.2, 0.5, 0.3])?, Law::new(vec![0.3, 0.5, 0.2])?)?;
/// assert!((upper_bound(&pair, 1, Sampling::WithReplacement)? - 0.9).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn upper_bound(pair: &Pair, drafts: usize, sampling: Sampling) -> Result<f64, TooManyWays> {
    let (p, q) = (pair.p().chances(), pair.q().chances());
    // Tokens that are never drafted add to P and not to Q.
    let mut order: Vec<usize> = (0..p.len()).filter(|&token| q[token] > 0.0).collect();
    order.sort_by(|&a, &b| (p[a] * q[b]).total_cmp(&(p[b] * q[a])).then(a.cmp(&b)));
    if sampling == Sampling::WithoutReplacement {
        check(p.len(), drafts)?;
    }
    let mut within = vec![false; p.len()];
    let (mut covered, mut drafted, mut least) = (0.0, 0.0, 0.0_f64);
    for token in order {
        within[token] = true;
        covered += p[token];
        drafted += q[token];
        let all_within = match sampling {
            Sampling::WithReplacement => (drafts as f64 * f64::ln(drafted)).exp(),
            Sampling::WithoutReplacement => all_within(q, &within, &mut vec![false; q.len()], drafts),
        };
        least = least.min(covered - all_within);
    }
    Ok(1.0 + least)
}

/// The chance that all draws without replacement lie in a set; fewer where q has no more tokens.
fn all_within(q: &[f64], within: &[bool], drawn: &mut Vec<bool>, left: usize) -> f64 {
    let rest: f64 = q.iter().zip(drawn.iter()).filter(|(_, drawn)| !**drawn).map(|(q, _)| q).sum();
    if left == 0 || rest <= 0.0 {
        return 1.0;
    }
    let mut sum = 0.0;
    for token in 0..q.len() {
        if within[token] && !drawn[token] && q[token] > 0.0 {
            drawn[token] = true;
            sum += q[token] / rest * all_within(q, within, drawn, left - 1);
            drawn[token] = false;
        }
    }
    sum
}

/// The drafter's n likeliest tokens, drafted without chance: they are accepted as often as the target emits one of them.
///
/// Returns the candidates, likeliest first and equal ones by index, and their acceptance `p(candidates)`.
///
/// # Examples
///
/// ```
/// use specplan::{acceptance::several::likeliest, domain::law::{Law, Pair}};
/// let pair = Pair::new(Law::new(vec![0.5, 0.25, 0.25])?, Law::new(vec![0.2, 0.5, 0.3])?)?;
/// assert_eq!(likeliest(&pair, 2), (vec![1, 2], 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn likeliest(pair: &Pair, drafts: usize) -> (Vec<usize>, f64) {
    let q = pair.q().chances();
    let mut ranked: Vec<usize> = (0..q.len()).collect();
    ranked.sort_by(|&a, &b| q[b].total_cmp(&q[a]).then(a.cmp(&b)));
    ranked.truncate(drafts);
    let accepted = ranked.iter().map(|&token| pair.p().chances()[token]).sum();
    (ranked, accepted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Generator;

    fn random_law(tokens: usize, generator: &mut Generator) -> Law {
        let weight = |_| if generator.uniform() < 0.2 { 0.0 } else { generator.uniform() };
        let weights: Vec<f64> = (0..tokens).map(weight).collect();
        Law::normalised(&weights).unwrap_or_else(|_| Law::certain(0, tokens))
    }

    /// Every set of tokens, where the program tries those of the smallest p/q only.
    #[test]
    fn the_bound_is_the_minimum_over_every_set() {
        let mut generator = Generator::from_seed(5);
        for case in 0..300 {
            let tokens = 2 + case % 5;
            let pair = Pair::new(random_law(tokens, &mut generator), random_law(tokens, &mut generator)).unwrap();
            for drafts in 1..4 {
                for sampling in [Sampling::WithReplacement, Sampling::WithoutReplacement] {
                    let value = |set: usize| {
                        let within: Vec<bool> = (0..tokens).map(|token| set >> token & 1 == 1).collect();
                        let mass = |law: &Law| -> f64 {
                            law.chances().iter().zip(&within).filter(|(_, within)| **within).map(|(c, _)| c).sum()
                        };
                        let all = match sampling {
                            Sampling::WithReplacement => mass(pair.q()).powi(drafts as i32),
                            Sampling::WithoutReplacement => {
                                all_within(pair.q().chances(), &within, &mut vec![false; tokens], drafts)
                            }
                        };
                        mass(pair.p()) - all
                    };
                    let every = 1.0 + (0..1 << tokens).map(value).fold(0.0, f64::min);
                    let here = upper_bound(&pair, drafts, sampling).unwrap();
                    assert!(
                        (here - every).abs() < 1e-12,
                        "case {case}, {drafts} drafts, {sampling:?}: {here}, {every}"
                    );
                }
            }
        }
    }

    /// `beta <= recursive rejection <= bound`, and the output is the target's law.
    #[test]
    fn more_drafts_accept_more_up_to_the_bound_and_lose_nothing() {
        let mut generator = Generator::from_seed(7);
        for _ in 0..200 {
            let pair = Pair::new(random_law(5, &mut generator), random_law(5, &mut generator)).unwrap();
            for drafts in 1..4 {
                let with = with_replacement(&pair, drafts);
                let without = without_replacement(&pair, drafts, Exhausted::Stop).unwrap();
                for (several, sampling) in
                    [(&with, Sampling::WithReplacement), (&without, Sampling::WithoutReplacement)]
                {
                    let bound = upper_bound(&pair, drafts, sampling).unwrap();
                    let accepted = several.acceptance();
                    assert!(accepted >= pair.acceptance() - 1e-12 && accepted <= bound + 1e-12, "{accepted}, {bound}");
                    let off = several.output.iter().zip(pair.p().chances()).map(|(out, p)| (out - p).abs());
                    assert!(off.fold(0.0, f64::max) < 1e-12, "{several:?}, {pair:?}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_enumerated_is_refused() {
        let law = Law::normalised(&[1.0; 300]).unwrap();
        let pair = Pair::new(law.clone(), law).unwrap();
        let refused = TooManyWays { drafts: 3, tokens: 300 };
        assert_eq!(without_replacement(&pair, 3, Exhausted::Stop), Err(refused));
        assert_eq!(upper_bound(&pair, 3, Sampling::WithoutReplacement), Err(refused));
    }
}
