//! Invariant 6: simulations agree with closed forms within their own intervals, as often as they say.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use specplan::acceptance::ragged::tokens_per_pass;
use specplan::acceptance::study::{Seen, Subject, study};
use specplan::catalog::load::{Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::simulate::Simulate;
use specplan::plan::yields::process_of;

const SEEDS: u64 = 100;

/// How often, of 100 seeds, the interval of each draft length misses the closed form.
fn misses(scenario: &str) -> Vec<usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/coverage/{scenario}.toml"));
    let request = Request { scenario: path.to_str().unwrap(), changes: &[], seed: None, published: false };
    let loaded = load(&SearchPath::default(), &request).expect("a sound scenario");
    let drafter = &loaded.scenario.drafters[0];
    let process = process_of(drafter, 0, 1000);
    let k = drafter.only_length().map_or_else(|| vec![1, 4], |depth| vec![depth]);
    // Long sequences: their ends weigh little.
    let simulate = Simulate { rounds: 20_000, batch: vec![1], tokens: 512, k: k.clone(), ..Simulate::default() };
    let subject = [Subject { name: scenario.to_owned(), process: process.clone(), k }];
    let mut misses = vec![0; subject[0].k.len()];
    for seed in 0..SEEDS {
        let (_, study) = study(&simulate, &subject, seed, 2, &AtomicBool::new(false), |_| {}).unwrap();
        let covers = |seen: &Seen| {
            let of_rounds = seen.rounds.tokens_per_pass(seen.k).unwrap();
            let estimate = if seen.independent { of_rounds } else { tokens_per_pass(&seen.runs).unwrap() };
            estimate.covers(process.tokens_per_pass(seen.k))
        };
        misses.iter_mut().zip(&study.subjects[0]).for_each(|(misses, seen)| *misses += usize::from(!covers(seen)));
    }
    misses
}

/// Five misses are due of 100; more than 14 have a chance of 0.02 % (binomial, 5 %). Over all together 5 % are due too, and
/// bounds at four standard deviations.
#[test]
fn invariant_6_intervals_cover_the_closed_form_for_every_kind_of_acceptance() {
    let kinds = [
        "iid",
        "per-position",
        "counts",
        "mean-length",
        "beta-by-round",
        "beta-by-sequence",
        "easy-and-hard",
        "recorded",
        "recorded-of-any-length",
        "workloads",
        "tree",
    ];
    let found: Vec<(&str, Vec<usize>)> = kinds.iter().map(|kind| (*kind, misses(kind))).collect();
    for (kind, misses) in &found {
        assert!(misses.iter().all(|misses| *misses <= 14), "{kind}: {misses:?} of {SEEDS}");
    }
    let all: Vec<usize> = found.iter().flat_map(|(_, misses)| misses.iter().copied()).collect();
    let (missed, n) = (all.iter().sum::<usize>() as f64, (all.len() as u64 * SEEDS) as f64);
    let spread = (n * 0.05 * 0.95).sqrt();
    assert!((missed - 0.05 * n).abs() < 4.0 * spread, "{missed} of {n}: {found:?}");
}
