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
