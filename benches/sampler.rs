//! How fast draws are, as multiples of the plain way in the same run: `cargo bench --bench sampler`.
//!
//! Subject and yardstick alternate; a ratio is the median over pairs, so that a noisy machine tells in the spread and not
//! in the figure. Each pair is also checked to give what theory says.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints, stops on a broken input, and reads the clock"
)]

mod timing;

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

use timing::{median, timed};

const PAIRS: usize = 15;

fn main() {
    println!("{:4} {:62} {:>12} {:>12} {:>9} {:>7}", "", "", "subject/s", "yardstick/s", "ratio", "goal");
    p9();
    p10();
    p11();
    trees();
}

fn alpha(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

/// Draws per second of both, and the median ratio.
struct Pairs {
    subject: f64,
    yardstick: f64,
    ratio: f64,
}

/// Alternates two kinds of work, each with its number of draws.
fn pairs(subject: (f64, &mut dyn FnMut()), yardstick: (f64, &mut dyn FnMut())) -> Pairs {
    let (mut fast, mut slow, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (a, ()) = timed(&mut *subject.1);
        let (b, ()) = timed(&mut *yardstick.1);
        fast.push(subject.0 / a);
        slow.push(yardstick.0 / b);
        ratios.push(subject.0 / a / (yardstick.0 / b));
    }
    Pairs { subject: median(fast), yardstick: median(slow), ratio: median(ratios) }
}

fn print(id: &str, what: &str, pairs: &Pairs, goal: f64) {
    let verdict = if pairs.ratio >= goal { "met" } else { "MISSED" };
    println!(
        "{id:4} {what:62} {:>12.3e} {:>12.3e} {:>8.2}x {goal:>6}x {verdict}",
        pairs.subject, pairs.yardstick, pairs.ratio
    );
}

fn assert_mean(seen: &RoundTrials, a: f64, k: u64) {
    let (got, due) = (seen.tokens_per_pass(k).expect("rounds").value, expected_tokens(alpha(a), k));
    assert!((got - due).abs() < 0.02, "alpha {a}, k {k}: {got} and {due}");
}

/// Rounds of alpha 0.7 and k = 8 with their histogram, against a test for each draft, and against bare random numbers.
fn p9() {
    const ROUNDS: u64 = 4_000_000;
    let table = RoundTable::new(&Accepted::iid(alpha(0.7), 8));
    let (mut fast, mut slow) = (Generator::from_seed(5), Generator::from_seed(6));
    let seen = pairs(
        (ROUNDS as f64, &mut || assert_mean(&table.rounds(ROUNDS, &mut fast), 0.7, 8)),
        (ROUNDS as f64 / 8.0, &mut || assert_mean(&rounds(alpha(0.7), 8, ROUNDS / 8, &mut slow), 0.7, 8)),
    );
    print("P9", "rounds, alpha 0.7, k 8, over a Bernoulli loop", &seen, 4.0);
    let mut raw = Generator::from_seed(7);
    let bare = pairs(
        (ROUNDS as f64, &mut || assert_mean(&table.rounds(ROUNDS, &mut fast), 0.7, 8)),
        (ROUNDS as f64, &mut || {
            black_box((0..ROUNDS).fold(0_u64, |sum, _| sum.wrapping_add(raw.next_u64())));
        }),
    );
    print("P9", "the same over bare random numbers", &bare, 0.25);
}

/// 64 alphas x 16 k: one run of the longest serves every k, against a run for each cell.
fn p10() {
    const ROUNDS: u64 = 20_000;
    let alphas: Vec<f64> = (0..64).map(|at| 0.3 + 0.01 * f64::from(at)).collect();
    let cells = 64.0 * 16.0 * ROUNDS as f64;
    let (mut fast, mut slow) = (Generator::from_seed(5), Generator::from_seed(6));
    let seen = pairs(
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
    print("P10", "cells x rounds of 64 alphas x 16 k, over a run for each cell", &seen, 10.0);
}

/// The accept/reject rule over 128000 tokens, against scanning the law for every draw; and what the tables take to build.
fn p11() {
    const TOKENS: usize = 128_000;
    let mut generator = Generator::from_seed(5);
    let mut law = || {
        let weights: Vec<f64> = (0..TOKENS).map(|_| generator.uniform().powi(8)).collect();
        Law::normalised(&weights).expect("a law")
    };
    let pair = Pair::new(law(), law()).expect("one vocabulary");
    const TRIALS: u64 = 2_000_000;
    let (mut fast, mut slow) = (Generator::from_seed(6), Generator::from_seed(7));
    let seen = pairs(
        (TRIALS as f64, &mut || {
            let share = rule(&pair, TRIALS, &mut fast).acceptance().expect("trials").value;
            assert!((share - pair.acceptance()).abs() < 0.005, "{share}");
        }),
        (400.0, &mut || {
            black_box(scanned(&pair, 400, &mut slow));
        }),
    );
    print("P11", "trials of the rule over 128000 tokens, tables built, over a scan", &seen, 500.0);
    let (seconds, _) = timed(|| (Urn::new(pair.q()), Urn::new(&pair.residual().expect("two laws"))));
    println!("     building both tables: {:.1} ns a token (goal 50)", seconds * 1e9 / TOKENS as f64);
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
fn trees() {
    let ranks = Ranks::on_all_levels(&[0.65, 0.15, 0.08, 0.04].map(alpha)).expect("ranks");
    let seconds = median((0..PAIRS).map(|_| timed(|| BestTrees::new(&ranks, 64, 10, 4).tree(64)).0).collect());
    println!("     the best tree of 64 nodes, 10 levels: {:.2} ms (goal 50)", seconds * 1e3);
}
