//! Draws: rounds, sweeps of rounds, and the rule over many tokens.

use std::hint::black_box;

use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::best_tree::BestTrees;
use specplan::acceptance::chain::expected_tokens;
use specplan::acceptance::sampler::{RoundTable, Urn};
use specplan::acceptance::simulate::{RoundTrials, rounds, rule};
use specplan::domain::law::{Law, Pair};
use specplan::domain::ranks::Ranks;
use specplan::rng::Generator;
use specplan::units::Probability;

use crate::timing::{Goal, Line, Pairs, median, timed};

const PAIRS: usize = 15;

fn alpha(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

fn assert_mean(seen: &RoundTrials, a: f64, k: u64) {
    let (got, due) = (seen.tokens_per_pass(k).expect("rounds").value, expected_tokens(alpha(a), k));
    assert!((got - due).abs() < 0.02, "alpha {a}, k {k}: {got} and {due}");
}

/// Rounds of alpha 0.7 and k = 8 with their histogram, against a test for each draft, and against bare random numbers.
pub(crate) fn rounds_of_tables() -> Vec<Line> {
    const ROUNDS: u64 = 4_000_000;
    let table = RoundTable::new(&Accepted::iid(alpha(0.7), 8));
    let (mut fast, mut slow) = (Generator::from_seed(5), Generator::from_seed(6));
    let seen = Pairs::of(
        PAIRS,
        (ROUNDS as f64, &mut || assert_mean(&table.rounds(ROUNDS, &mut fast), 0.7, 8)),
        (ROUNDS as f64 / 8.0, &mut || assert_mean(&rounds(alpha(0.7), 8, ROUNDS / 8, &mut slow), 0.7, 8)),
    );
    let mut raw = Generator::from_seed(7);
    let bare = Pairs::of(
        PAIRS,
        (ROUNDS as f64, &mut || assert_mean(&table.rounds(ROUNDS, &mut fast), 0.7, 8)),
        (ROUNDS as f64, &mut || {
            black_box((0..ROUNDS).fold(0_u64, |sum, _| sum.wrapping_add(raw.next_u64())));
        }),
    );
    vec![
        Line::Ratio {
            what: "rounds, alpha 0.7, k 8, with histogram / a Bernoulli loop",
            pairs: seen,
            goal: Goal::AtLeast(4.0),
        },
        Line::Ratio { what: "the same / bare random numbers", pairs: bare, goal: Goal::AtLeast(0.25) },
    ]
}

/// 64 alphas x 16 k: one run of the longest serves every k, against a run for each cell.
pub(crate) fn every_k_at_once() -> Vec<Line> {
    const ROUNDS: u64 = 20_000;
    let alphas: Vec<f64> = (0..64).map(|at| 0.3 + 0.01 * f64::from(at)).collect();
    let cells = 64.0 * 16.0 * ROUNDS as f64;
    let (mut fast, mut slow) = (Generator::from_seed(5), Generator::from_seed(6));
    let seen = Pairs::of(
        PAIRS,
        (cells, &mut || {
            for &a in &alphas {
                let longest = RoundTable::new(&Accepted::iid(alpha(a), 16)).rounds(ROUNDS, &mut fast);
                let all: f64 = (1..=16).map(|k| longest.cut(k).tokens_per_pass(k).expect("rounds").value).sum();
                black_box(all);
            }
        }),
        (cells / 8.0, &mut || {
            for &a in alphas.iter().step_by(8) {
                for k in 1..=16 {
                    black_box(rounds(alpha(a), k, ROUNDS, &mut slow).tokens_per_pass(k));
                }
            }
        }),
    );
    vec![Line::Ratio {
        what: "cells x rounds, 64 alphas x 16 k / a run for each cell",
        pairs: seen,
        goal: Goal::AtLeast(10.0),
    }]
}

/// The accept/reject rule over 128000 tokens, against scanning the law for every draw; and what the tables take to build.
pub(crate) fn rule_of_many_tokens() -> Vec<Line> {
    const TOKENS: usize = 128_000;
    let mut generator = Generator::from_seed(5);
    let mut law = || {
        let weights: Vec<f64> = (0..TOKENS).map(|_| generator.uniform().powi(8)).collect();
        Law::normalised(&weights).expect("a law")
    };
    let pair = Pair::new(law(), law()).expect("one vocabulary");
    const TRIALS: u64 = 2_000_000;
    let (mut fast, mut slow) = (Generator::from_seed(6), Generator::from_seed(7));
    let seen = Pairs::of(
        PAIRS,
        (TRIALS as f64, &mut || {
            let share = rule(&pair, TRIALS, &mut fast).acceptance().expect("trials").value;
            assert!((share - pair.acceptance()).abs() < 0.005, "{share}");
        }),
        (400.0, &mut || {
            black_box(scanned(&pair, 400, &mut slow));
        }),
    );
    let (seconds, _) = timed(|| (Urn::new(pair.q()), Urn::new(&pair.residual().expect("two laws"))));
    vec![
        Line::Ratio {
            what: "the rule over 128000 tokens, tables built / a scan",
            pairs: seen,
            goal: Goal::AtLeast(500.0),
        },
        Line::Figure {
            what: "building both tables",
            value: seconds * 1e9 / TOKENS as f64,
            unit: "ns a token",
            goal: Goal::AtMost(50.0),
        },
        best_tree(),
    ]
}

/// Accepted drafts, each drawn by adding up the law until it passes a random number, and replaced on rejection.
fn scanned(pair: &Pair, trials: u64, generator: &mut Generator) -> u64 {
    let residual = pair.residual().expect("two laws");
    let draw = |law: &Law, generator: &mut Generator| {
        let mut left = generator.uniform();
        law.chances().iter().position(|chance| {
            left -= chance;
            left < 0.0
        })
    };
    let mut accepted = 0;
    for _ in 0..trials {
        let draft = draw(pair.q(), generator).unwrap_or(0);
        let passes = generator.uniform() * pair.q().chances()[draft] < pair.p().chances()[draft];
        accepted += u64::from(passes);
        if !passes {
            black_box(draw(&residual, generator));
        }
    }
    accepted
}

/// The best tree of 64 nodes.
fn best_tree() -> Line {
    let ranks = Ranks::on_all_levels(&[0.65, 0.15, 0.08, 0.04].map(alpha)).expect("ranks");
    let seconds = median((0..PAIRS).map(|_| timed(|| BestTrees::new(&ranks, 64, 10, 4).tree(64)).0).collect());
    Line::Figure {
        what: "the best tree of 64 nodes, 10 levels",
        value: seconds * 1e3,
        unit: "ms",
        goal: Goal::AtMost(50.0),
    }
}
