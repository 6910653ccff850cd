//! Sweeps in process: best k, arrays, rows, steps, text.

use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::AtomicBool;

use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Loaded, Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::parallel::ordered;
use specplan::plan::round::plain_step;
use specplan::report::chart::{self, spec};
use specplan::report::rows::RowForm;
use specplan::report::sample::{Sample, SamplePlan};
use specplan::sweep::condition::Selection;
use specplan::sweep::grid::Grid;
use specplan::sweep::row::Row;
use specplan::sweep::run::Pricer;

use crate::fields::fields;
use crate::timing::{Goal, Line, Pairs, median, timed};

/// A study with other axes.
pub(crate) fn study(scenario: &str, changes: &[&str]) -> Loaded {
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).expect("a change")).collect();
    let request = Request { scenario, changes: &changes, seed: None, published: true };
    load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:?}"))
}

const BATCHES: u64 = 64;
const CONTEXTS: u64 = 64;
const ALPHAS: u64 = 512;
const LENGTHS: u64 = 16;
const POINTS: f64 = (BATCHES * CONTEXTS * ALPHAS * LENGTHS) as f64;

/// 64 batches x 64 contexts x 512 alphas x 16 k: 33.5 million points of the founding study.
fn many_points() -> Loaded {
    study(
        "founding-study",
        &[
            "sweep.batch={from=1,to=64,step=1}",
            "sweep.context={from=256,to=16384,step=256}",
            "drafters.llama-1b.acceptance.iid.alpha={from=0.3,to=0.811,step=0.001}",
            "sweep.k={from=1,to=16,step=1}",
        ],
    )
}

/// The founding study's formula, point by point.
struct Plain {
    alphas: Vec<f64>,
}

impl Plain {
    fn new() -> Self {
        Self { alphas: (0..ALPHAS).map(|at| 0.3 + 0.001 * at as f64).collect() }
    }

    fn step((params, kv): (f64, f64), batch: f64, tokens: f64, context: f64) -> f64 {
        (2.0 * params * batch * tokens / 989e12).max((2.0 * params + kv * context * batch) / 3.35e12)
    }

    fn speedup(batch: f64, context: f64, alpha: f64, k: i32) -> f64 {
        let (target, drafter) = ((7.50e9, 131_072.0), (1.24e9, 32_768.0));
        let base = Self::step(target, batch, 1.0, context);
        let lengths = f64::from(k);
        let round =
            lengths * Self::step(drafter, batch, 1.0, context) + Self::step(target, batch, lengths + 1.0, context);
        (1.0 - alpha.powi(k + 1)) / (1.0 - alpha) * base / round
    }

    /// The sums of the best speedups and of their k.
    fn best(&self) -> (f64, u64) {
        let (mut sum, mut lengths) = (0.0, 0);
        for context in (1..=CONTEXTS).map(|at| 256.0 * at as f64) {
            for batch in (1..=BATCHES).map(|batch| batch as f64) {
                for &alpha in &self.alphas {
                    let (mut top, mut best) = (0.0, 0);
                    for k in 1..=LENGTHS as i32 {
                        let here = Self::speedup(batch, context, alpha, k);
                        if here > top {
                            (top, best) = (here, k as u64);
                        }
                    }
                    sum += top;
                    lengths += best;
                }
            }
        }
        (sum, lengths)
    }
}

/// P1: no row is kept.
pub(crate) fn best_k() -> Vec<Line> {
    let loaded = many_points();
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let pricer = Pricer::new(&grid);
    let selection = Selection::default();
    let best = || {
        let (mut sum, mut lengths) = (0.0, 0);
        for tile in grid.whole_lines() {
            pricer.each_best(&tile, &selection, |best| {
                sum += best.speedup;
                lengths += best.k();
            });
        }
        (sum, lengths)
    };
    let plain = Plain::new();
    let (seen, due) = (best(), plain.best());
    // Ties of the last bit may fall to either.
    assert!((seen.0 / due.0 - 1.0).abs() < 1e-12 && seen.1.abs_diff(due.1) < 100, "{seen:?} and {due:?}");
    let pairs = Pairs::of(
        7,
        (POINTS, &mut || {
            black_box(best());
        }),
        (POINTS, &mut || {
            black_box(plain.best());
        }),
    );
    vec![Line::Ratio {
        what: "points to their best k, 33.5 M, 1 thread / plain powi loop",
        pairs,
        goal: Goal::AtLeast(5.0),
    }]
}

/// P2: the speedups alone.
pub(crate) fn array() -> Vec<Line> {
    let loaded = many_points();
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let pricer = Pricer::new(&grid);
    let mut array = vec![0.0_f64; POINTS as usize];
    let fill = |array: &mut [f64]| {
        let mut rest = array;
        for tile in grid.whole_lines() {
            let (here, after) = rest.split_at_mut(tile.rows() as usize);
            pricer.speedups(&tile, here);
            rest = after;
        }
    };
    fill(&mut array);
    for (at, row) in grid.tiles().flat_map(|tile| pricer.rows(&tile)).enumerate().step_by(9973) {
        assert!(array[at].to_bits() == row.speedup().to_bits(), "{at}: {row:?}");
    }
    let mut pairs = Vec::new();
    let mut divided = Vec::new();
    for _ in 0..9 {
        let (a, ()) = timed(|| fill(&mut array));
        let (b, ()) = timed(|| array.fill(black_box(1.5)));
        let (c, ()) = timed(|| array.iter_mut().for_each(|cell| *cell = 3.0 / (*cell + 1.0)));
        pairs.push((a, b));
        divided.push((a, c));
    }
    let points = POINTS;
    vec![
        Line::Ratio {
            what: "speedups into a buffer, 33.5 M, 1 thread / filling it",
            pairs: Pairs::from(&pairs, points, points),
            goal: Goal::AtLeast(0.7),
        },
        Line::Ratio {
            what: "the same / a division for each of its numbers",
            pairs: Pairs::from(&divided, points, points),
            goal: Goal::AtLeast(0.7),
        },
    ]
}

/// 3.7 M rows of an engine that prices every operator.
fn rows_of_an_engine() -> Loaded {
    study(
        "llama-8b-drafters",
        &[
            "sweep.batch={from=1,to=64,step=1}",
            "sweep.context={from=1024,to=16384,step=1024}",
            "sweep.k={from=1,to=7,step=1}",
            "drafters={llama-1b={model={id=\"llama-3.2-1b\"},acceptance={iid={alpha={from=0.3,to=0.811,step=0.001}}}}}",
        ],
    )
}

/// P3: rows handed on tile by tile, against rows in one vector.
pub(crate) fn rows() -> Vec<Line> {
    let loaded = rows_of_an_engine();
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let pricer = Pricer::new(&grid);
    let stop = AtomicBool::new(false);
    let streamed = |threads: usize| {
        let mut sum = 0.0;
        let made = ordered(
            grid.tiles(),
            threads,
            &stop,
            |tile| pricer.rows(&tile).iter().map(|row| row.tokens_per_pass).sum::<f64>(),
            |of_tile: f64| {
                sum += of_tile;
                Ok::<(), std::convert::Infallible>(())
            },
        );
        made.expect("no row is refused");
        sum
    };
    let collected = || {
        let mut all: Vec<Row<'_>> = Vec::new();
        let made = ordered(
            grid.tiles(),
            2,
            &stop,
            |tile| pricer.rows(&tile),
            |rows| {
                all.extend(rows);
                Ok::<(), std::convert::Infallible>(())
            },
        );
        made.expect("no row is refused");
        all
    };
    let due: f64 = collected().iter().map(|row| row.tokens_per_pass).sum();
    assert!((streamed(2) / due - 1.0).abs() < 1e-9);
    let rows = grid.points() as f64;
    let pairs = Pairs::of(
        5,
        (rows, &mut || {
            black_box(streamed(2));
        }),
        (rows, &mut || drop(black_box(collected()))),
    );
    let alone = median((0..5).map(|_| rows / timed(|| streamed(1)).0).collect());
    vec![
        Line::Ratio {
            what: "rows of 29 columns handed on by tiles, 3.7 M, 2 threads / collected",
            pairs,
            goal: Goal::AtLeast(8.0),
        },
        Line::Figure {
            what: "the same on one thread",
            value: alone / 1e6,
            unit: "M rows/s",
            goal: Goal::AtLeast(50.0),
        },
    ]
}

/// P4: steps of an engine with every operator and what bounds it.
pub(crate) fn steps() -> Vec<Line> {
    let loaded = rows_of_an_engine();
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let setup = &grid.blocks[0].setup;
    let mut sum = 0.0;
    let (seconds, ()) = timed(|| {
        for context in (1..=1000).map(|at| f64::from(16 * at)) {
            for batch in (1..=64).map(f64::from) {
                sum += plain_step(setup, batch, context).seconds().get();
            }
        }
    });
    assert!(sum > 0.0);
    vec![Line::Note(format!("decode steps by operator, 1 thread: {:.2} M/s", 64_000.0 / seconds / 1e6))]
}

/// Seconds of a chart of the founding study with many batches, the second and later.
pub(crate) fn chart_seconds() -> f64 {
    let loaded = study("founding-study", &["sweep.batch={from=1,to=200,step=1}"]);
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let (pricer, selection) = (Pricer::new(&grid), Selection::default());
    let plan = SamplePlan::new(&grid, &selection);
    let mut sample = Sample::empty(&plan);
    grid.tiles().for_each(|tile| sample.absorb(&plan.gather(&tile, &pricer.rows(&tile))));
    let charts = spec::charts(&sample, &loaded.scenario.title);
    let one = charts.iter().find(|chart| chart.part.contains("by-batch")).expect("a chart of batches");
    let drawn = || chart::drawn(one, chart::Form::Png).expect("a chart");
    assert!(drawn().bytes.len() > 10_000);
    median((0..9).map(|_| timed(drawn).0).collect())
}

/// P5: rows to CSV, against the csv crate on rows in a vector.
pub(crate) fn text() -> Vec<Line> {
    let loaded = many_points();
    let grid = Grid::new(&loaded.scenario, 1 << 30).expect("a grid");
    let pricer = Pricer::new(&grid);
    let tiles = || grid.tiles().take(2048);
    let rows: u64 = tiles().map(|tile| tile.rows()).sum();
    let ours = |to: &mut dyn Write| {
        for tile in tiles() {
            to.write_all(&RowForm::Csv.rows(&pricer.rows(&tile))).expect("room");
        }
    };
    let theirs = |to: &mut dyn Write| {
        let all: Vec<Row<'_>> = tiles().flat_map(|tile| pricer.rows(&tile)).collect();
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(to);
        all.iter().for_each(|row| writer.write_record(fields(row)).expect("room"));
        writer.flush().expect("room");
    };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    ours(&mut one);
    theirs(&mut other);
    assert!(one == other, "the same bytes");
    drop((one, other));
    let mut nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null").expect("/dev/null");
    let mut also = nowhere.try_clone().expect("/dev/null");
    let rows = rows as f64;
    let pairs = Pairs::of(5, (rows, &mut || ours(&mut nowhere)), (rows, &mut || theirs(&mut also)));
    vec![Line::Ratio {
        what: "sweep to CSV of 29 columns, 1 thread, /dev/null / csv crate on a Vec",
        pairs,
        goal: Goal::AtLeast(5.0),
    }]
}
