//! What counted rounds say of acceptance, in every definition that is in use, and how sure it is.

use crate::acceptance::chain::expected_tokens;
use crate::acceptance::counted::{Confidence, Tests, equal_tailed, tests_per_round};
use crate::acceptance::estimate::{Estimate, student_at, wilson_at};
use crate::acceptance::fit::{OneAlpha, one_alpha};
use crate::acceptance::invert::alpha_of_mean_length;
use crate::domain::acceptance::Counts;
use crate::domain::observed::{Pairs, Pool};
use crate::units::Probability;
use crate::words::Trap;

/// Windows from which on their spread tells how sure a mean is, whatever ties rounds of one window together.
const ENOUGH_WINDOWS: u64 = 10;

/// How sure a mean is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The spread of windows, requests or runs.
    Windows,
    /// Independent rounds with the counts that were seen.
    Rounds,
    /// Independent tests that are all alike.
    Alike,
}

/// Why alpha is not the one of maximum likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaBy {
    /// Tests were counted.
    Tests,
    /// Only the mean is known: the alpha that gives it at this k.
    Mean,
}

/// Alpha and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alpha {
    /// The estimate.
    pub value: f64,
    /// How it was found.
    pub by: AlphaBy,
    /// Wilson's interval of counted tests; elsewhere the alphas of the mean's interval.
    pub wilson: Option<(f64, f64)>,
    /// The equal-tailed interval of its Beta law after the tests, all alphas being alike before.
    pub posterior: Option<(f64, f64)>,
    /// Tests that passed and failed, where they were counted.
    pub tests: Option<Tests>,
}

/// Everything that a pool says.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Draft length: as stated, or as all drafts have it.
    pub k: Option<u64>,
    /// Rounds that drafted.
    pub rounds: Option<f64>,
    /// Drafts.
    pub drafted: Option<f64>,
    /// Accepted drafts.
    pub accepted: Option<f64>,
    /// Tokens per pass, bonus included.
    pub tokens_per_pass: Option<Estimate>,
    /// On what its interval rests; none: it has none.
    pub basis: Option<Basis>,
    /// Accepted over drafted.
    pub rate: Option<f64>,
    /// Accepted over drafted as vLLM's V0 engine counts it: drafts behind a rejected one may count.
    pub position_independent: Option<f64>,
    /// Emitted over verified tokens: `(accepted + rounds) / (drafted + rounds)`.
    pub per_verified: Option<f64>,
    /// Shares of rounds that accept at least the first, second, … draft.
    pub cumulative: Vec<f64>,
    /// Of drafts tested at each position, those that pass; none where nothing came that far, or drafts differ in length.
    pub conditional: Vec<Option<f64>>,
    /// Alpha.
    pub alpha: Option<Alpha>,
    /// Whether one alpha for all positions is tenable.
    pub one_alpha: Option<OneAlpha>,
    /// Tokens per decode step, steps without a draft included.
    pub all_steps: Option<f64>,
    /// Whether drafts have one length.
    pub even: Option<bool>,
    /// Counts for a scenario.
    pub counts: Option<Counts>,
}

/// What a pool of windows says, k being what it was stated to be.
///
/// # Formula
///
/// ```text
/// tokens per pass = 1 + accepted / rounds
/// alpha           = accepted / (accepted + rounds that rejected a draft)
/// ```
///
/// Rounds that rejected are known where rounds are known one by one, or where drafts have one length and positions are counted:
/// then they are those that did not accept the last. Elsewhere alpha is the one that gives the mean at k, which is the same in
/// the limit only if all positions pass alike.
///
/// # Examples
///
/// A thousand rounds of three drafts that accept 700, 500 and 350 times; 1550 tests pass and 650 fail:
///
/// ```
/// use specplan::{acceptance::{counted::Confidence, observed::findings}, domain::observed::{Pool, Window}, words::Printout};
/// let mut pool = Pool::default();
/// let window = Window::of(Printout::VllmCounters);
/// pool.add(&Window {
///     rounds: Some(1000.0), drafted: Some(3000.0), accepted: Some(1550.0), passed: vec![700.0, 500.0, 350.0], ..window
/// });
/// let found = findings(&pool, Some(3), Confidence::USUAL);
/// assert_eq!(found.tokens_per_pass.map(|tokens| tokens.value), Some(2.55));
/// assert!((found.alpha.unwrap().value - 1550.0 / 2200.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn findings(pool: &Pool, stated: Option<u64>, confidence: Confidence) -> Findings {
    let known = |pairs: &Pairs, of: fn(&Pairs) -> f64| (pairs.windows > 0).then(|| of(pairs));
    let rounds = known(&pool.accepted_of_rounds, |pairs| pairs.second);
    let more = pool.accepted_of_drafted.windows > pool.accepted_of_rounds.windows;
    let accepted = known(if more { &pool.accepted_of_drafted } else { &pool.accepted_of_rounds }, |pairs| pairs.first);
    let drafted = known(&pool.accepted_of_drafted, |pairs| pairs.second);
    let (even, k) = pool.length(stated);
    let cumulative: Vec<f64> = match pool.position_rounds {
        rounds if rounds > 0.0 => pool.passed.iter().map(|passed| passed / rounds).collect(),
        _ => Vec::new(),
    };
    let tests = tests(pool, even);
    let (tokens_per_pass, basis) = tokens(pool, k, confidence);
    let by_position = by_position(pool, even);
    Findings {
        k,
        rounds,
        drafted,
        accepted,
        tokens_per_pass,
        basis,
        rate: known(&pool.accepted_of_drafted, |pairs| pairs.first / pairs.second),
        position_independent: known(&pool.independent, |pairs| pairs.first / pairs.second),
        per_verified: known(&pool.emitted_of_verified, |pairs| pairs.first / pairs.second),
        conditional: by_position
            .iter()
            .map(|&(tested, passed)| (tested > 0).then(|| passed as f64 / tested as f64))
            .collect(),
        cumulative,
        alpha: alpha(tests, tokens_per_pass, k, confidence),
        one_alpha: one_alpha(&by_position),
        all_steps: known(&pool.steps, |pairs| pairs.first / pairs.second),
        even,
        counts: pool.counts(stated),
    }
}

/// Tests made, where they are known.
fn tests(pool: &Pool, even: Option<bool>) -> Option<Tests> {
    let seen: u64 = pool.alike.values().sum();
    if seen > 0 && (seen as f64 - pool.accepted_of_rounds.second).abs() < 0.5 {
        let rounds = pool.alike.iter().map(|(&(drafted, accepted), &count)| (drafted.into(), accepted.into(), count));
        return Some(Tests::of_rounds(rounds));
    }
    let last = pool.passed.last().filter(|_| pool.position_rounds > 0.0 && even == Some(true))?;
    let rounds = pool.accepted_of_rounds.second;
    // Accepted drafts are counted where positions may be rounded; of windows without positions they say nothing of tests.
    let is_all = (pool.position_rounds - rounds).abs() < 1e-6 * rounds;
    let accepted = if is_all { pool.accepted_of_rounds.first } else { pool.passed.iter().sum() };
    let rejected = pool.position_rounds - last;
    (rejected >= 0.0).then(|| Tests { accepted: accepted.round() as u64, rejected: rejected.round() as u64 })
}

/// Drafts tested and passed at each position, where drafts have one length or rounds are known one by one.
fn by_position(pool: &Pool, even: Option<bool>) -> Vec<(u64, u64)> {
    let one_by_one = !pool.alike.is_empty();
    if one_by_one {
        let longest = pool.alike.keys().map(|(drafted, _)| *drafted as usize).max().unwrap_or(0);
        let mut positions = vec![(0, 0); longest];
        for (&(drafted, accepted), &count) in &pool.alike {
            let reached = drafted.min(accepted + 1) as usize;
            positions[..reached].iter_mut().for_each(|(tested, _)| *tested += count);
            positions[..accepted as usize].iter_mut().for_each(|(_, passed)| *passed += count);
        }
        return positions;
    }
    if even == Some(false) || pool.position_rounds <= 0.0 || pool.traps.contains(&Trap::Tree) {
        return Vec::new();
    }
    let before = std::iter::once(pool.position_rounds).chain(pool.passed.iter().copied());
    pool.passed.iter().zip(before).map(|(&passed, before)| (before.round() as u64, passed.round() as u64)).collect()
}

/// The mean, and how sure it is.
fn tokens(pool: &Pool, k: Option<u64>, confidence: Confidence) -> (Option<Estimate>, Option<Basis>) {
    let pairs = if pool.accepted_of_rounds.windows > 0 { &pool.accepted_of_rounds } else { &pool.lengths };
    if pairs.windows == 0 || pairs.second <= 0.0 {
        return (None, None);
    }
    let of_rounds = pool.accepted_of_rounds.windows > 0;
    let Some(mean) = pool.tokens_per_pass() else { return (None, None) };
    let most = k.map_or(f64::INFINITY, |k| k as f64 + 1.0);
    let with = |reach: f64| Estimate { value: mean, low: (mean - reach).max(1.0), high: (mean + reach).min(most) };
    // A mean that drafts of this length cannot bring has no interval.
    if mean > most + 1e-9 || mean < 1.0 {
        return (Some(Estimate { value: mean, low: mean, high: mean }), None);
    }
    if pairs.windows >= ENOUGH_WINDOWS {
        return (Some(with(spread(pairs, confidence))), Some(Basis::Windows));
    }
    if let (true, Some(law)) = (of_rounds, variance(pool)) {
        let reach = confidence.deviations() * (law / pairs.second).sqrt();
        return (Some(with(reach)), Some(Basis::Rounds));
    }
    if let (true, Some(k)) = (of_rounds, k) {
        // Tests that are alike: Wilson's interval of their alpha, carried over to the mean.
        let carried = alpha_of_mean_length(mean, k).ok().map(|alpha| {
            let n = pairs.second * tests_per_round(alpha, k);
            let (low, high) = wilson_at(alpha.get(), n, confidence.deviations());
            let of = |alpha: f64| expected_tokens(Probability::nearest(alpha), k);
            Estimate { value: mean, low: of(low), high: of(high) }
        });
        return (Some(carried.unwrap_or_else(|| with(0.0))), carried.map(|_| Basis::Alike));
    }
    (Some(with(0.0)), None)
}

/// How far a ratio of sums may be off, by the spread of its windows (Cochran 1977, section 6.4).
fn spread(pairs: &Pairs, confidence: Confidence) -> f64 {
    let n = pairs.windows as f64;
    let ratio = pairs.first / pairs.second;
    let [first, second, both] = pairs.squares;
    let squares = (first - 2.0 * ratio * both + ratio * ratio * second).max(0.0);
    let deviations = student_at(n, f64::midpoint(1.0, confidence.get())).unwrap_or(f64::INFINITY);
    deviations * (squares * n / (n - 1.0)).sqrt() / pairs.second
}

/// The variance of accepted drafts of a round, by positions: `sum (2 i - 1) S_i - (sum S_i)^2`.
fn variance(pool: &Pool) -> Option<f64> {
    if pool.position_rounds <= 0.0 {
        return None;
    }
    let shares = pool.passed.iter().map(|passed| passed / pool.position_rounds);
    let (mean, square) = shares
        .enumerate()
        .fold((0.0, 0.0), |(mean, square), (at, share)| (mean + share, square + (2.0 * at as f64 + 1.0) * share));
    Some((square - mean * mean).max(0.0))
}

fn alpha(tests: Option<Tests>, tokens: Option<Estimate>, k: Option<u64>, confidence: Confidence) -> Option<Alpha> {
    if let Some(tests) = tests {
        let posterior = tests.posterior((1.0, 1.0)).ok().map(|law| equal_tailed(&law, confidence));
        let (value, wilson) = (tests.alpha()?.get(), tests.wilson(confidence));
        return Some(Alpha { value, by: AlphaBy::Tests, wilson, posterior, tests: Some(tests) });
    }
    let (tokens, k) = (tokens?, k?);
    let value = alpha_of_mean_length(tokens.value, k).ok()?;
    let of = |tokens: f64| alpha_of_mean_length(tokens, k).ok().map(Probability::get);
    let wilson = of(tokens.low).zip(of(tokens.high)).filter(|(low, high)| high > low);
    Some(Alpha { value: value.get(), by: AlphaBy::Mean, wilson, posterior: None, tests: None })
}
