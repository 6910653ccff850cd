//! Whole sequences under the accept/reject rule, for laws that depend on the token before: exactness by
//! enumeration of speculative decoding itself.
//!
//! Source: Leviathan et al. 2023 (arXiv 2211.17192), appendix A.1, applied position by position.

use crate::domain::law::Pair;

/// Target and drafter as Markov chains over tokens: one pair of laws for each last token.
#[derive(Clone, Debug, PartialEq)]
pub struct Chains(Vec<Pair>);

/// Why pairs, a start or a length make no study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    /// A row is not over as many tokens as there are rows.
    #[error("after token {after} the laws are over {found} tokens; there are {tokens}")]
    Row {
        /// The last token, counted from 0.
        after: usize,
        /// Tokens of its laws.
        found: usize,
        /// Rows.
        tokens: usize,
    },
    /// The start is no token.
    #[error("the start is token {start} of {tokens}, counted from 0")]
    Start {
        /// What was given.
        start: usize,
        /// How many there are.
        tokens: usize,
    },
    /// More ways than can be enumerated.
    #[error("{tokens} tokens make too many sequences of length {length}: at most {MOST_WAYS} ways are followed")]
    TooMany {
        /// Tokens.
        tokens: usize,
        /// Length.
        length: u32,
    },
}

/// Ways that are followed, at most: each token is accepted or replaced.
const MOST_WAYS: usize = 1 << 24;

impl Chains {
    /// The laws after each token, in the order of the tokens.
    ///
    /// # Errors
    ///
    /// [`SequenceError::Row`] unless all are over as many tokens as there are rows.
    pub fn new(after: Vec<Pair>) -> Result<Self, SequenceError> {
        let tokens = after.len();
        let wide = |pair: &Pair| pair.p().chances().len();
        match after.iter().position(|pair| wide(pair) != tokens) {
            Some(at) => Err(SequenceError::Row { after: at, found: wide(&after[at]), tokens }),
            None => Ok(Self(after)),
        }
    }

    /// The chance that a draft is accepted, after each token.
    #[must_use]
    pub fn row_acceptance(&self) -> Vec<f64> {
        self.0.iter().map(Pair::acceptance).collect()
    }

    /// The chance that the first i drafts of a round are accepted, i = 1..k.
    ///
    /// # Formula
    ///
    /// ```text
    /// S_i = sum over y of m_i(y)     m_i(y) = sum over x of m_(i-1)(x) min(P(y|x), Q(y|x)),  m_0 = start
    /// ```
    ///
    /// Acceptance drifts with position although nothing but the last token matters: iid is no law of
    /// nature.
    ///
    /// # Errors
    ///
    /// [`SequenceError::Start`].
    pub fn survival(&self, start: usize, k: usize) -> Result<Vec<f64>, SequenceError> {
        self.check(start)?;
        let mut mass = vec![0.0; self.0.len()];
        mass[start] = 1.0;
        let step = |()| {
            let mut next = vec![0.0; mass.len()];
            for (reach, pair) in mass.iter().zip(&self.0) {
                next.iter_mut().zip(pair.overlap()).for_each(|(to, overlap)| *to += reach * overlap);
            }
            mass = next;
            mass.iter().sum()
        };
        Ok(std::iter::repeat_n((), k).map(step).collect())
    }

    /// The law of the next `length` tokens when rounds of k drafts produce them, in lexicographic order.
    ///
    /// Every way is enumerated: a draft is accepted and the round goes on, or is replaced from the
    /// residual and a new round begins; after k accepted drafts a token comes from the target. The result
    /// is the target's own law, the product of P along each sequence.
    ///
    /// # Errors
    ///
    /// [`SequenceError::Start`], [`SequenceError::TooMany`].
    pub fn sequences(&self, start: usize, k: usize, length: u32) -> Result<Vec<f64>, SequenceError> {
        self.check(start)?;
        let tokens = self.0.len();
        let few = tokens.saturating_mul(2).checked_pow(length).is_some_and(|ways| ways <= MOST_WAYS);
        if !few {
            return Err(SequenceError::TooMany { tokens, length });
        }
        let mut law = vec![0.0; tokens.pow(length)];
        let ways: Vec<Ways> = self.0.iter().map(Ways::of).collect();
        extend(&ways, k, Path { last: start, drafted: 0, left: length, index: 0, chance: 1.0 }, &mut law);
        Ok(law)
    }

    /// Tokens per pass over many rounds, the first of them after `start`, for each of some k.
    ///
    /// # Formula
    ///
    /// ```text
    /// F_k = sum over s of pi_k(s) E_k(s)
    /// E_k(s) = 1 + sum over x of min(P(x|s), Q(x|s)) E_(k-1)(x),                                  E_0 = 1
    /// R_k(s, y) = max(0, P(y|s) - Q(y|s)) + sum over x of min(P(x|s), Q(x|s)) R_(k-1)(x, y),      R_0 = P
    /// ```
    ///
    /// R is the law of a round's last token, after which the next begins; pi is the share of rounds that begin after each:
    /// the mean over all rounds, so that it exists where tokens alternate and where some are never seen again too.
    /// O(tokens^3 x k).
    ///
    /// # Errors
    ///
    /// [`SequenceError::Start`].
    ///
    /// # Examples
    ///
    /// After token 0 the laws agree by 0.6, after token 1 wholly: 1.6 and 2 tokens. A round after 0 ends on 1 in
    /// 0.5 x 0.1 + 0.1 x 0.5 = 0.1 of all cases, one after 1 in 0.5 x 0.1 + 0.5 x 0.5 = 0.3, so that 1 in 8 begins after 1.
    ///
    /// ```
    /// use specplan::{acceptance::sequence::Chains, domain::law::{Law, Pair}};
    /// let pair = |p: [f64; 2], q: [f64; 2]| Pair::new(Law::new(p.to_vec()).unwrap(), Law::new(q.to_vec()).unwrap()).unwrap();
    /// let chains = Chains::new(vec![pair([0.9, 0.1], [0.5, 0.5]), pair([0.5, 0.5], [0.5, 0.5])])?;
    /// assert!((chains.long_run_tokens(0, &[1])?[0] - (7.0 * 1.6 + 2.0) / 8.0).abs() < 1e-12);
    /// # Ok::<(), specplan::acceptance::sequence::SequenceError>(())
    /// ```
    pub fn long_run_tokens(&self, start: usize, k: &[usize]) -> Result<Vec<f64>, SequenceError> {
        self.check(start)?;
        let ways: Vec<Ways> = self.0.iter().map(Ways::of).collect();
        let mut tokens = vec![1.0; ways.len()];
        let mut ends: Vec<Vec<f64>> = ways.iter().map(|of| of.bonus.clone()).collect();
        let mut found = vec![0.0; k.len()];
        for drafts in 0..=k.iter().copied().max().unwrap_or(0) {
            if drafts > 0 {
                tokens = ways.iter().map(|of| 1.0 + product(&of.accepted, &tokens)).collect();
                let plus =
                    |of: &Ways| of.replaced.iter().zip(after_each(&of.accepted, &ends)).map(|(a, b)| a + b).collect();
                ends = ways.iter().map(plus).collect();
            }
            if k.contains(&drafts) {
                let mean = product(&settled(&ends, start), &tokens);
                found.iter_mut().zip(k).filter(|(_, of)| **of == drafts).for_each(|(found, _)| *found = mean);
            }
        }
        Ok(found)
    }

    fn check(&self, start: usize) -> Result<(), SequenceError> {
        let tokens = self.0.len();
        if start < tokens { Ok(()) } else { Err(SequenceError::Start { start, tokens }) }
    }
}

/// The chance of each way to each next token.
struct Ways {
    accepted: Vec<f64>,
    replaced: Vec<f64>,
    bonus: Vec<f64>,
}

impl Ways {
    fn of(pair: &Pair) -> Self {
        let rejected = pair.total_variation();
        let residual = pair.residual();
        let replaced = residual.map(|law| law.chances().iter().map(|chance| rejected * chance).collect());
        Self {
            accepted: pair.overlap().collect(),
            replaced: replaced.unwrap_or_else(|| vec![0.0; pair.p().chances().len()]),
            bonus: pair.p().chances().to_vec(),
        }
    }
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Steps doubled this often are more than any sequence has.
const DOUBLINGS: u32 = 64;

/// The share of steps that a chain which starts somewhere spends after each token.
///
/// Half of all steps are made to stay, which changes no share and ends all alternation; then steps are doubled until
/// nothing moves.
fn settled(ends: &[Vec<f64>], start: usize) -> Vec<f64> {
    let stay = |(at, row): (usize, &Vec<f64>)| {
        let half = |to: usize, chance: f64| f64::midpoint(chance, f64::from(u8::from(to == at)));
        normal(row.iter().enumerate().map(|(to, &chance)| half(to, chance)).collect())
    };
    let mut steps: Vec<Vec<f64>> = ends.iter().enumerate().map(stay).collect();
    for _ in 0..DOUBLINGS {
        let doubled: Vec<Vec<f64>> = steps.iter().map(|row| normal(after_each(row, &steps))).collect();
        let moved = doubled.iter().flatten().zip(steps.iter().flatten()).map(|(new, old)| (new - old).abs());
        let moved = moved.fold(0.0, f64::max);
        steps = doubled;
        if moved < 1e-15 {
            break;
        }
    }
    steps.swap_remove(start)
}

fn after_each(row: &[f64], steps: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; row.len()];
    for (chance, next) in row.iter().zip(steps) {
        sum.iter_mut().zip(next).for_each(|(to, step)| *to += chance * step);
    }
    sum
}

fn normal(row: Vec<f64>) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    row.into_iter().map(|chance| chance / sum).collect()
}

/// A sequence so far.
#[derive(Clone, Copy)]
struct Path {
    last: usize,
    /// Drafts accepted in this round.
    drafted: usize,
    left: u32,
    index: usize,
    chance: f64,
}

fn extend(ways: &[Ways], k: usize, path: Path, law: &mut [f64]) {
    if path.left == 0 {
        law[path.index] += path.chance;
        return;
    }
    let mut go = |chances: &[f64], drafted: usize| {
        for (token, chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
            let index = path.index * ways.len() + token;
            let next = Path { last: token, drafted, left: path.left - 1, index, chance: path.chance * chance };
            extend(ways, k, next, law);
        }
    };
    let after = &ways[path.last];
    if path.drafted < k {
        go(&after.accepted, path.drafted + 1);
        go(&after.replaced, 0);
    } else {
        go(&after.bonus, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::law::Law;

    fn pair(p: Vec<f64>, q: Vec<f64>) -> Pair {
        Pair::new(Law::new(p).unwrap(), Law::new(q).unwrap()).unwrap()
    }

    /// Against rounds drawn draft by draft, 200,000 of each: a second method that knows no law of last tokens.
    #[test]
    fn long_runs_are_what_drawn_rounds_come_to() {
        let mut generator = crate::rng::Generator::from_seed(5);
        let tokens = 4;
        let law = |generator: &mut crate::rng::Generator| {
            let weights: Vec<f64> = (0..tokens).map(|_| generator.uniform().powi(3)).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / sum).collect::<Vec<f64>>()
        };
        for k in [1, 3] {
            let pairs: Vec<Pair> = (0..tokens).map(|_| pair(law(&mut generator), law(&mut generator))).collect();
            let chains = Chains::new(pairs.clone()).unwrap();
            let pick = |chances: &[f64], generator: &mut crate::rng::Generator| {
                let mut left = generator.uniform();
                chances
                    .iter()
                    .position(|chance| {
                        left -= chance;
                        left < 0.0
                    })
                    .unwrap_or(tokens - 1)
            };
            let (mut last, mut emitted, rounds) = (0, 0_u64, 200_000);
            for _ in 0..rounds {
                let mut drafted = 0;
                loop {
                    let (p, q) = (pairs[last].p().chances(), pairs[last].q().chances());
                    emitted += 1;
                    if drafted == k {
                        last = pick(p, &mut generator);
                        break;
                    }
                    let draft = pick(q, &mut generator);
                    if generator.uniform() * q[draft] < p[draft] {
                        last = draft;
                        drafted += 1;
                        continue;
                    }
                    last = pick(pairs[last].residual().unwrap().chances(), &mut generator);
                    break;
                }
            }
            let (drawn, exact) = (emitted as f64 / f64::from(rounds), chains.long_run_tokens(2, &[k]).unwrap()[0]);
            // Five standard errors of rounds between 1 and k + 1 tokens, were they independent.
            assert!((drawn - exact).abs() < 5.0 * (k as f64 / 2.0) / f64::from(rounds).sqrt(), "{drawn} and {exact}");
        }
    }

    /// Tokens that alternate, and tokens that are never left: shares of all rounds, by hand.
    #[test]
    fn long_runs_exist_where_tokens_alternate_or_stay() {
        let turn = || vec![pair(vec![0.0, 1.0], vec![0.5, 0.5]), pair(vec![1.0, 0.0], vec![1.0, 0.0])];
        // After 0 half the drafts pass; k = 1. From 0: rejected, one token, ends on 1; accepted, two, ends on 0.
        // From 1: always two tokens, ends on 1, for ever.
        assert!((Chains::new(turn()).unwrap().long_run_tokens(0, &[1]).unwrap()[0] - 2.0).abs() < 1e-12);
        // Without drafts tokens alternate, one a round.
        assert_eq!(Chains::new(turn()).unwrap().long_run_tokens(0, &[0]), Ok(vec![1.0]));
        // Each token stays for ever: what comes is what the start brings.
        let stay = vec![pair(vec![1.0, 0.0], vec![0.25, 0.75]), pair(vec![0.0, 1.0], vec![0.5, 0.5])];
        let chains = Chains::new(stay).unwrap();
        assert_eq!(chains.long_run_tokens(0, &[1]), Ok(vec![1.25]));
        assert_eq!(chains.long_run_tokens(1, &[1]), Ok(vec![1.5]));
    }

    #[test]
    fn what_is_too_long_to_enumerate_is_refused() {
        let even = || Law::new(vec![0.5, 0.5]).unwrap();
        let pair = || Pair::new(even(), even()).unwrap();
        let chains = Chains::new(vec![pair(), pair()]).unwrap();
        assert_eq!(chains.sequences(0, 1, 12).map(|law| law.len()), Ok(4096));
        assert_eq!(chains.sequences(0, 1, 13), Err(SequenceError::TooMany { tokens: 2, length: 13 }));
        assert_eq!(chains.survival(2, 1), Err(SequenceError::Start { start: 2, tokens: 2 }));
        assert_eq!(Chains::new(vec![pair()]), Err(SequenceError::Row { after: 0, found: 2, tokens: 1 }));
    }
}
