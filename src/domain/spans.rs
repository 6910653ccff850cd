//! Text that is easy to draft in some spans and hard in others.

use crate::units::Probability;

/// Positions with a hidden state that follows a Markov chain; a draft at a position in state s passes with
/// chance `alpha_s`.
///
/// # Examples
///
/// ```
/// use specplan::{domain::spans::Spans, units::Probability};
/// let p = |value| Probability::new(value).unwrap();
/// let spans = Spans::two(p(0.95), p(0.4), p(0.1), p(0.2))?;
/// assert_eq!(spans.transitions()[0], [0.9, 0.1]);
/// assert!(Spans::two(p(0.95), p(0.4), p(0.0), p(0.0)).is_err());
/// # Ok::<(), specplan::domain::spans::NotSpans>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spans {
    alphas: Vec<f64>,
    transitions: Vec<Vec<f64>>,
    recurrent: Vec<usize>,
}

/// What makes no such chain.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NotSpans {
    /// No state.
    #[error("at least one state is due")]
    Empty,
    /// A row has another length than there are states.
    #[error("state {state} has {found} chances to move, and there are {states} states")]
    Row {
        /// Counted from 0.
        state: usize,
        /// Its chances.
        found: usize,
        /// States.
        states: usize,
    },
    /// A row is no law.
    #[error("the chances to move from state {state} sum to {sum}, not to 1")]
    Sum {
        /// Counted from 0.
        state: usize,
        /// What they sum to.
        sum: f64,
    },
    /// More than one set of states is never left, so that the start decides for ever.
    #[error("the states fall into parts that are never left: where the text starts would decide for ever")]
    Parts,
}

impl Spans {
    const SLACK: f64 = 1e-9;

    /// A chain over states with their acceptances and the chances to move from each to each.
    ///
    /// # Errors
    ///
    /// [`NotSpans`] if rows are no laws over the states, or several sets of states are never left.
    pub fn new(alphas: &[Probability], transitions: Vec<Vec<f64>>) -> Result<Self, NotSpans> {
        let states = alphas.len();
        if states == 0 {
            return Err(NotSpans::Empty);
        }
        if transitions.len() != states {
            return Err(NotSpans::Row { state: transitions.len().min(states), found: 0, states });
        }
        for (state, row) in transitions.iter().enumerate() {
            if row.len() != states {
                return Err(NotSpans::Row { state, found: row.len(), states });
            }
            let sum: f64 = row.iter().sum();
            if row.iter().any(|chance| chance.is_nan() || *chance < 0.0) || (sum - 1.0).abs() > Self::SLACK {
                return Err(NotSpans::Sum { state, sum });
            }
        }
        let recurrent = recurrent(&transitions).ok_or(NotSpans::Parts)?;
        Ok(Self { alphas: alphas.iter().map(|alpha| alpha.get()).collect(), transitions, recurrent })
    }

    /// Easy and hard spans, by the chance to leave each at a position.
    ///
    /// # Errors
    ///
    /// [`NotSpans::Parts`] if neither is ever left.
    pub fn two(
        easy: Probability,
        hard: Probability,
        easy_to_hard: Probability,
        hard_to_easy: Probability,
    ) -> Result<Self, NotSpans> {
        let (out, back) = (easy_to_hard.get(), hard_to_easy.get());
        Self::new(&[easy, hard], vec![vec![1.0 - out, out], vec![back, 1.0 - back]])
    }

    /// The acceptance in each state.
    #[must_use]
    pub fn alphas(&self) -> &[f64] {
        &self.alphas
    }

    /// The chances to move from each state to each.
    #[must_use]
    pub fn transitions(&self) -> &[Vec<f64>] {
        &self.transitions
    }

    /// The states that are visited again and again.
    #[must_use]
    pub fn recurrent(&self) -> &[usize] {
        &self.recurrent
    }
}

/// The only set of states that is never left; none if there are several.
#[must_use]
pub fn recurrent(transitions: &[Vec<f64>]) -> Option<Vec<usize>> {
    let reach = reachable(transitions);
    let states = 0..transitions.len();
    let is_closed = |&from: &usize| (0..transitions.len()).all(|to| !reach[from][to] || reach[to][from]);
    let closed: Vec<usize> = states.filter(is_closed).collect();
    let first = *closed.first()?;
    closed.iter().all(|&state| reach[first][state]).then_some(closed)
}

/// Which states lead to which, at once or in steps.
fn reachable(transitions: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let states = transitions.len();
    let mut reach: Vec<Vec<bool>> =
        transitions.iter().map(|row| row.iter().map(|chance| *chance > 0.0).collect()).collect();
    (0..states).for_each(|at| reach[at][at] = true);
    for over in 0..states {
        for from in 0..states {
            if reach[from][over] {
                let onward = reach[over].clone();
                reach[from].iter_mut().zip(onward).for_each(|(to, onward)| *to |= onward);
            }
        }
    }
    reach
}
