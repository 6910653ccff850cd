//! Models fitted to recorded requests and judged by requests they have not seen.

use crate::acceptance::fit::likelihood::{of_beta_rounds, of_beta_sequence, of_positions, of_spans};
use crate::acceptance::fit::simplex::{likeliest_beta, likeliest_spans};
use crate::acceptance::fit::{Fitted, FittedModel};
use crate::acceptance::process::Process;
use crate::domain::acceptance::Curve;
use crate::domain::beta::Beta;
use crate::domain::spans::Spans;
use crate::domain::trace::{RoundSeen, Rounds, Trace};
use crate::units::Probability;
use crate::words::{AcceptanceKind, Scope};

/// Requests are held out in so many parts, one after the other.
const FOLDS: usize = 5;
/// Rounds beyond these add time and no certainty.
const MOST_ROUNDS: usize = 8192;
/// Nor do tests beyond these, of long rounds.
const MOST_TESTS: usize = 1 << 16;
/// Fewer rounds tell nothing of what ties them together.
const FEWEST_ROUNDS: usize = 50;
/// A request that is cut so that something can be held out has pieces of at least so many rounds.
const PIECE: usize = 10;

/// Models in the order of how well they tell rounds they have not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The best first.
    pub models: Vec<Fitted>,
    /// Rounds that they were judged by.
    pub rounds: u64,
}

/// Every model, fitted and judged, the best first. None of counts, which say nothing of what ties rounds together, nor of
/// fewer than fifty rounds.
///
/// # Formula
///
/// ```text
/// held out = sum over parts of ln P(part | model fitted to the others) / rounds
/// ```
///
/// Whole requests are held out, a fifth of them at a time; a recording of fewer requests than five is cut into pieces in
/// time. Chances by position are taken with half a pass and half a failure more than were seen, so that nothing is
/// impossible. Easy and hard spans and Beta laws by the simplex method (Nelder and Mead 1965).
#[must_use]
pub fn choose(trace: &Trace) -> Option<Chosen> {
    let Rounds::ByRequest(requests) = trace.rounds() else { return None };
    let requests = judged(requests);
    let rounds: usize = requests.iter().map(Vec::len).sum();
    if rounds < FEWEST_ROUNDS {
        return None;
    }
    let mut all: Vec<Fitted> = FittedModel::ALL.iter().filter_map(|&model| fitted(model, &requests, rounds)).collect();
    all.sort_by(|a, b| b.held_out.total_cmp(&a.held_out));
    Some(Chosen { models: all, rounds: rounds as u64 })
}

/// Rounds that drafted, by request, no more than are worth it; cut where there are too few requests.
fn judged(requests: &[Vec<RoundSeen>]) -> Vec<Vec<RoundSeen>> {
    let (mut left, mut tests) = (MOST_ROUNDS, MOST_TESTS);
    let mut worth = |round: &RoundSeen| {
        let of_round = round.accepted as usize + 1;
        let room = left > 0 && tests >= of_round;
        if room {
            (left, tests) = (left - 1, tests - of_round);
        }
        room
    };
    let mut kept: Vec<Vec<RoundSeen>> = Vec::new();
    for request in requests {
        let rounds: Vec<RoundSeen> =
            request.iter().filter(|round| round.drafted > 0).copied().take_while(&mut worth).collect();
        if !rounds.is_empty() {
            kept.push(rounds);
        }
    }
    if kept.len() >= FOLDS {
        return kept;
    }
    let rounds: usize = kept.iter().map(Vec::len).sum();
    let piece = (rounds / FOLDS).max(PIECE);
    kept.iter().flat_map(|request| request.chunks(piece).map(<[RoundSeen]>::to_vec)).collect()
}

fn fitted(model: FittedModel, requests: &[Vec<RoundSeen>], rounds: usize) -> Option<Fitted> {
    let mut held_out = 0.0;
    for fold in 0..FOLDS {
        let is_held = |at: &usize| at % FOLDS == fold;
        let seen: Vec<&[RoundSeen]> =
            requests.iter().enumerate().filter(|(at, _)| !is_held(at)).map(|(_, of)| of.as_slice()).collect();
        let of_fold = Model::fit(model, &seen)?;
        let held = requests.iter().enumerate().filter(|(at, _)| is_held(at));
        held_out += held.map(|(_, request)| of_fold.likelihood(request)).sum::<f64>();
    }
    let everything: Vec<&[RoundSeen]> = requests.iter().map(Vec::as_slice).collect();
    let process = Model::fit(model, &everything)?.process();
    Some(Fitted { model, process, held_out: held_out / rounds as f64 })
}

/// A model with its figures.
enum Model {
    Iid(Probability),
    Positions(Vec<Probability>),
    Beta(Beta, Scope),
    Spans(Spans),
}

impl Model {
    fn fit(model: FittedModel, requests: &[&[RoundSeen]]) -> Option<Self> {
        let seen = Trace::by_request(requests.iter().map(|request| request.to_vec()).collect()).ok()?;
        let tests = seen.tests();
        let (tested, passed) = tests.iter().fold((0, 0), |(n, s), (tested, passed)| (n + tested, s + passed));
        let alpha = smoothed(tested, passed);
        let beta_by = |likelihood: fn(&[RoundSeen], &Beta) -> f64| {
            likeliest_beta(alpha, &|beta| requests.iter().map(|request| likelihood(request, beta)).sum())
        };
        Some(match model {
            FittedModel::Iid => Self::Iid(alpha),
            FittedModel::PerPosition => {
                Self::Positions(tests.iter().map(|&(tested, passed)| smoothed(tested, passed)).collect())
            }
            FittedModel::BetaByRound => Self::Beta(beta_by(of_beta_rounds)?, Scope::Round),
            FittedModel::BetaBySequence => Self::Beta(beta_by(of_beta_sequence)?, Scope::Sequence),
            FittedModel::Markov => Self::Spans(likeliest_spans(alpha, &|spans| {
                requests.iter().map(|request| of_spans(request, spans)).sum()
            })?),
        })
    }

    fn likelihood(&self, request: &[RoundSeen]) -> f64 {
        match self {
            Self::Iid(alpha) => of_positions(request, |_| alpha.get()),
            // Beyond the last position seen, as the last one: drafts there were never tested.
            Self::Positions(chances) => {
                let last = chances.last().map_or(0.5, |chance| chance.get());
                of_positions(request, |at| chances.get(at).map_or(last, |chance| chance.get()))
            }
            Self::Beta(beta, Scope::Round) => of_beta_rounds(request, beta),
            Self::Beta(beta, Scope::Sequence) => of_beta_sequence(request, beta),
            Self::Spans(spans) => of_spans(request, spans),
        }
    }

    fn process(self) -> Process {
        match self {
            Self::Iid(alpha) => Process::Iid { alpha },
            Self::Positions(chances) => {
                let mut left = 1.0;
                let survival = chances.iter().map(|chance| {
                    left *= chance.get();
                    left
                });
                Process::Positions { kind: AcceptanceKind::PerPosition, curve: Curve::falling(survival.collect()) }
            }
            Self::Beta(beta, scope) => Process::Beta { beta, scope },
            Self::Spans(spans) => Process::Spans(spans),
        }
    }
}

/// With half a pass and half a failure more.
fn smoothed(tested: u64, passed: u64) -> Probability {
    Probability::nearest((passed as f64 + 0.5) / (tested as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acceptance::runs::Runs;
    use crate::rng::Generator;

    /// Requests that a process makes.
    fn recorded(process: &Process, requests: usize, rounds: usize) -> Trace {
        let (runs, mut generator) = (Runs::new(process, 4), Generator::from_seed(5));
        let request = |_| {
            let mut state = runs.begin(&mut generator);
            (0..rounds)
                .map(|_| RoundSeen { drafted: 4, accepted: runs.round(&mut state, &mut generator) as u32 })
                .collect()
        };
        Trace::by_request((0..requests).map(request).collect()).unwrap()
    }

    /// Each model is found again in what it made, with its figures.
    #[test]
    fn the_model_that_made_the_rounds_is_chosen() {
        let p = |value| Probability::new(value).unwrap();
        let positions = Curve::cumulative(&[0.9, 0.5, 0.4, 0.38].map(p)).unwrap();
        let cases = [
            (FittedModel::PerPosition, Process::Positions { kind: AcceptanceKind::PerPosition, curve: positions }),
            (FittedModel::BetaBySequence, Process::Beta { beta: Beta::new(2.0, 1.0).unwrap(), scope: Scope::Sequence }),
            (FittedModel::Markov, Process::Spans(Spans::two(p(0.95), p(0.2), p(0.05), p(0.1)).unwrap())),
        ];
        for (made_by, process) in cases {
            let trace = recorded(&process, 60, 60);
            let chosen = choose(&trace).unwrap().models;
            assert_eq!(chosen[0].model, made_by, "{chosen:#?}");
            let got = chosen[0].process.tokens_per_pass(4);
            // Requests of equally many rounds, where sequences that keep their alpha are taken to emit equally many tokens.
            let kept = made_by == FittedModel::BetaBySequence;
            let expected =
                if kept { process.tokens_per_pass(4) } else { Process::Trace(trace.into()).tokens_per_pass(4) };
            assert!((got / expected - 1.0).abs() < 0.04, "{made_by:?}: {got} and {expected}");
        }
    }

    /// Of rounds of one alpha no model tells more than one alpha does, by more than chance.
    #[test]
    fn one_alpha_is_enough_for_rounds_of_one_alpha() {
        let process = Process::Iid { alpha: Probability::new(0.7).unwrap() };
        let chosen = choose(&recorded(&process, 60, 60)).unwrap().models;
        let iid = chosen.iter().find(|fitted| fitted.model == FittedModel::Iid).unwrap();
        assert!(chosen[0].held_out - iid.held_out < 1e-3, "{chosen:#?}");
        assert!((iid.process.alpha().unwrap() - 0.7).abs() < 0.02);
    }

    /// Rounds of thousands of drafts are judged by few of them, and in no time.
    #[test]
    fn long_rounds_are_few() {
        let round = |at: u32| RoundSeen { drafted: 4096, accepted: at * 37 % 4097 };
        let requests = (0..600).map(|request| (0..5).map(|at| round(request * 5 + at)).collect()).collect();
        let chosen = choose(&Trace::by_request(requests).unwrap());
        assert!(chosen.is_none_or(|chosen| chosen.rounds < 100));
    }
}
