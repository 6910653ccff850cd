//! How long a decision takes, beside pricing the same points once: `cargo bench --bench decision`.
//!
//! Four drafters, 512 batches, 16 contexts, k up to 16, 2000 draws. Subject and yardstick alternate; the ratio is the median over pairs. The
//! best draft lengths are checked against those of the priced rows.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints, stops on a broken input, and reads the clock"
)]

mod timing;

use std::sync::atomic::AtomicBool;

use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::scenario::Scenario;
use specplan::plan::candidate::Candidate;
use specplan::plan::decision::{Asked, Decision, decide};
use specplan::plan::setting::Setting;
use specplan::sweep::grid::Grid;
use specplan::sweep::run::Pricer;

use timing::{median, timed};

const PAIRS: usize = 7;
/// Seconds that a decision may take on two cores.
const GOAL: f64 = 2.0;

fn study() -> Scenario {
    let changes = [
        "sweep.batch={ from = 1, to = 512, step = 1 }",
        "sweep.context={ from = 512, to = 8192, step = 512 }",
        "sweep.k={ from = 1, to = 16, step = 1 }",
        "drafters.block.block.block=16",
    ];
    let changes: Vec<Assignment> =
        changes.iter().map(|change| Assignment::parse(change).expect("a sound change")).collect();
    let request = Request { scenario: "llama-8b-drafters", changes: &changes, seed: None, published: false };
    load(&SearchPath::default(), &request).expect("a sound scenario").scenario
}

fn asked<'a>(batches: &'a [u64], contexts: &'a [u64], draws: u64, threads: usize, stop: &'a AtomicBool) -> Asked<'a> {
    Asked {
        batches,
        counted: &[1, 2, 8, 32, 64, 128, 256, 512],
        of_load: false,
        contexts,
        longest: 131_072,
        disputes: &[],
        draws,
        uncounted: 0.15,
        seed: 5,
        threads,
        told: &|_| {},
        stop,
    }
}

/// Every best draft length that both know of.
fn checked(decision: &Decision<'_, '_>, grid: &Grid<'_>) -> u64 {
    let mut seen = 0;
    for tile in grid.tiles().step_by(97) {
        let all = Pricer::new(grid).rows(&tile);
        for line in
            all.chunk_by(|a, b| (a.batch, a.context, a.labels.drafter) == (b.batch, b.context, b.labels.drafter))
        {
            let gains = line.iter().filter(|row| row.memory.fits && row.speedup() > 1.0);
            let best = gains.reduce(|best, next| if next.speedup() > best.speedup() { next } else { best });
            let along = decision.lines.iter().flatten().find(|along| {
                along.here.context == line[0].context
                    && Some(along.here.candidate.drafter.label.as_str()) == line[0].labels.drafter
            });
            let along = along.expect("every drafter at every context");
            if line.len() == along.here.lengths.len() {
                assert_eq!(along.k(line[0].batch), best.map_or(0, |row| row.k), "batch {}", line[0].batch);
                seen += 1;
            }
        }
    }
    seen
}

fn main() {
    let scenario = study();
    let stop = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    let setting = Setting::all(&scenario).next().expect("a setting");
    let candidates = Candidate::all(setting, 16).expect("what can be priced");
    let grid = Grid::new(&scenario, u64::MAX).expect("a grid");
    let (batches, contexts): (Vec<u64>, Vec<u64>) = ((1..=512).collect(), scenario.axes.context().iter().collect());
    let decided = |draws: u64| {
        decide(setting, &candidates, &asked(&batches, &contexts, draws, threads, &stop)).expect("a decision")
    };
    let priced = || {
        grid.tiles()
            .map(|tile| Pricer::new(&grid).rows(&tile).iter().map(|row| row.speedup()).sum::<f64>())
            .sum::<f64>()
    };
    let (mut whole, mut without, mut once) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let (seconds, decision) = timed(|| decided(2000));
        assert!(checked(&decision, &grid) > 100);
        whole.push(seconds);
        without.push(timed(|| decided(1)).0);
        once.push(timed(priced).0);
    }
    let ratios = |of: &[f64]| median(of.iter().zip(&once).map(|(a, b)| a / b).collect());
    let (with_draws, scan) = (ratios(&whole), ratios(&without));
    let seconds = median(whole);
    println!("{} points priced once, one thread: {:.3} s", grid.points(), median(once));
    println!("decision without draws, {threads} threads: {:.2} times that", scan);
    println!(
        "decision with 2000 draws, {threads} threads: {:.2} times that, {seconds:.2} s (goal {GOAL} s)",
        with_draws
    );
}
