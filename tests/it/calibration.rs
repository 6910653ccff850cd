//! A few points of a published deployment, and how well its other points are predicted with them.

use std::collections::BTreeMap;

use serde_json::Value;
use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::engine::Additive;
use specplan::evidence::calibrate::{Prior, fit, scale};
use specplan::evidence::profile::{expected, prior};
use specplan::evidence::sample::{Sample, Seen};
use specplan::evidence::score::{Pair, errors};
use specplan::import::measurements::measurements;
use specplan::rng::Generator;
use specplan::words::{Class, Kind, Word as _};

use crate::program::{folder, run_well};

const DRAWS: u64 = 20;

/// A point with its priced and its measured speedup.
#[derive(Clone)]
struct Point {
    sample: Sample,
    /// The profile of its engine.
    additive: Additive,
    /// Speedup as priced, over that of step and round alone: what prefill makes of it in closed loops.
    prefill: f64,
    measured: f64,
}

/// Every point that is not scored apart, by class and deployment.
fn deployments() -> BTreeMap<(String, String), Vec<Point>> {
    let scored = validated(&[]);
    // The passes alone: all that the engine adds left out.
    let bare = validated(&["--set", "without=[\"step\",\"draft\",\"round\",\"sequence\"]"]);
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/measurements/published.csv")).unwrap();
    let mut found: BTreeMap<(String, String), Vec<Point>> = BTreeMap::new();
    let rows = scored["rows"].as_array().unwrap().iter().zip(bare["rows"].as_array().unwrap());
    for ((row, bare), line) in rows.zip(measurements(&text).unwrap()) {
        let Ok(of) = line.read else { continue };
        if row["scored_apart"] == true || row["predicted"].is_null() {
            continue;
        }
        let number = |of: &Value, name: &str| of[name].as_f64().unwrap();
        let (priced, measured) = (number(row, "predicted"), number(row, "measured"));
        let (base_step, round) = (number(row, "predicted_base_step_s"), number(row, "predicted_round_s"));
        let prefill = priced / (of.tokens_per_pass * base_step / round);
        let (base_pass, round_passes) = (number(bare, "predicted_base_step_s"), number(bare, "predicted_round_s"));
        let (passes, tokens) = (of.layout.draft_passes, of.tokens_per_pass);
        let in_trees = if of.layout.is_tree { passes } else { 0.0 };
        let sample = Sample {
            base_step,
            of_step: [base_pass, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            round,
            of_round: [round_passes, 1.0, round_passes, 1.0, passes, of.batch, in_trees, tokens],
            batch: of.batch,
            width: of.layout.verify_width,
            tokens,
            prefill: 0.0,
            seen: Seen::Speedup(measured / prefill),
        };
        let additive = additive(&of.engine);
        let kind = (of.drafter_kind, &of.drafter, of.weight_bytes);
        let name = format!("{} {} {}x{} {} {kind:?}", of.source, of.engine, of.devices, of.hardware, of.target);
        let class = row["class"].as_str().unwrap().to_owned();
        found.entry((class, name)).or_default().push(Point { sample, additive, prefill, measured });
    }
    found
}

fn validated(changes: &[&str]) -> Value {
    let folder = folder();
    let args = [&["validate", "--format", "json", "--write", "none", "--quiet"], changes].concat();
    serde_json::from_str(&run_well(folder.path(), &args).stdout).unwrap()
}

fn additive(engine: &str) -> Additive {
    let Ok((Entry::Engine(engine), _)) = entry(&SearchPath::default(), Kind::Engines, engine) else { unreachable!() };
    engine.additive().unwrap().clone()
}

/// What the program believes of a deployment; how fast its passes could be at most is not looked at: half of their price.
fn believed(points: &[Point], known: &[Sample]) -> Prior {
    prior(&points[0].additive, scale(known), (0.5, 0.5))
}

/// So many points drawn without putting back, and the others.
fn drawn(all: &[Point], count: usize, random: &mut Generator) -> (Vec<Sample>, Vec<Point>) {
    let mut left = all.to_vec();
    let take = |_| left.swap_remove((random.uniform() * left.len() as f64) as usize).sample;
    let known = (0..count).map(take).collect();
    (known, left)
}

/// How often a deployment's other points lie within nine-in-ten intervals of a profile fitted to so many of its points, by class.
///
/// As `plan` has them: the constants drawn together, no wider than what profiles of as few points were off, and beside them what those were
/// off beyond that: together as wide as these.
fn covered(count: usize) -> BTreeMap<String, f64> {
    let mut inside: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (at, ((class, _), points)) in deployments().iter().filter(|(_, points)| points.len() >= 8).enumerate() {
        let mut random = Generator::from_seed(at as u64);
        let word = Class::ALL.iter().find(|word| word.as_str() == class).unwrap();
        for _ in 0..DRAWS {
            let (known, others) = drawn(points, count, &mut random);
            let found = fit(&known, believed(points, &known)).unwrap();
            let p90 = expected(&found.residuals, *word).p90;
            for of in &others {
                let off = (of.prefill * found.speedup(&of.sample) / of.measured).ln().abs();
                let counted = inside.entry(class.clone()).or_default();
                counted.0 += f64::from(off <= (1.0 + p90).ln());
                counted.1 += 1.0;
            }
        }
    }
    inside.into_iter().map(|(class, (inside, all))| (class, inside / all)).collect()
}

#[test]
fn intervals_of_a_calibrated_profile_hold_nine_in_ten() {
    for count in [1, 2, 3, 5] {
        let found = covered(count);
        println!("{count} points: {found:?}");
        for (class, due) in [("dense", 0.88..0.95), ("moe", 0.85..0.95), ("other", 0.85..0.95)] {
            assert!(due.contains(&found[class]), "{count} points, {class}: {found:?}");
        }
    }
}

/// The other points of a deployment, predicted with so many of its points, over all deployments of eight points and more.
fn scored(count: usize) -> BTreeMap<String, (f64, f64)> {
    let mut pairs: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for (at, ((class, _), points)) in deployments().iter().filter(|(_, points)| points.len() >= 8).enumerate() {
        let mut random = Generator::from_seed(at as u64);
        for _ in 0..DRAWS {
            let (known, others) = drawn(points, count, &mut random);
            let found = fit(&known, believed(points, &known)).unwrap();
            let pair = |of: &Point| Pair { measured: of.measured, predicted: of.prefill * found.speedup(&of.sample) };
            pairs.entry(class.clone()).or_default().extend(others.iter().map(pair));
        }
    }
    pairs.into_iter().map(|(class, pairs)| (class, errors(&pairs).map(|of| (of.median, of.p90)).unwrap())).collect()
}

/// 3 % dense, 5 % of mixtures and of other engines.
#[test]
fn three_or_five_points_of_a_deployment_predict_its_others() {
    for (count, due) in [(3, [0.03, 0.05, 0.05]), (5, [0.03, 0.05, 0.05])] {
        let found = scored(count);
        println!("{count} points: {found:?}");
        for (class, due) in ["dense", "moe", "other"].into_iter().zip(due) {
            assert!(found[class].0 <= due, "{count} points, {class}: {found:?}");
        }
    }
}
