//! A few points of a published deployment, and how well its other points are predicted with them.

use std::collections::BTreeMap;

use serde_json::Value;
use specplan::evidence::calibrate::{Prior, Sample, fit};
use specplan::evidence::score::{Pair, errors};
use specplan::import::measurements::measurements;
use specplan::rng::Generator;

use crate::program::{folder, run_well};

const DRAWS: u64 = 20;

/// A point with its priced and its measured speedup.
#[derive(Clone, Copy)]
struct Point {
    sample: Sample,
    priced: f64,
    measured: f64,
}

/// Every point that is not scored apart, by class and deployment.
fn deployments() -> BTreeMap<(String, String), Vec<Point>> {
    let folder = folder();
    let printed = run_well(folder.path(), &["validate", "--format", "json", "--write", "none", "--quiet"]).stdout;
    let scored: Value = serde_json::from_str(&printed).unwrap();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/measurements/published.csv")).unwrap();
    let mut found: BTreeMap<(String, String), Vec<Point>> = BTreeMap::new();
    for (row, line) in scored["rows"].as_array().unwrap().iter().zip(measurements(&text).unwrap()) {
        let Ok(of) = line.read else { continue };
        if row["scored_apart"] == true || row["predicted"].is_null() {
            continue;
        }
        let number = |name: &str| row[name].as_f64().unwrap();
        let (priced, measured, round) = (number("predicted"), number("measured"), number("predicted_round_s"));
        let sample = Sample {
            base_step: number("predicted_base_step_s"),
            round,
            measured: round * priced / measured,
            passes: of.layout.draft_passes,
            batch: of.batch,
            is_tree: of.topology == "tree",
            tokens: of.tokens_per_pass,
        };
        let kind = (of.drafter_kind, &of.drafter, of.weight_bytes);
        let name = format!("{} {} {}x{} {} {kind:?}", of.source, of.engine, of.devices, of.hardware, of.target);
        let class = row["class"].as_str().unwrap().to_owned();
        found.entry((class, name)).or_default().push(Point { sample, priced, measured });
    }
    found
}

/// So many points drawn without putting back, and the others.
fn drawn(all: &[Point], count: usize, random: &mut Generator) -> (Vec<Sample>, Vec<Point>) {
    let mut left = all.to_vec();
    let take = |_| left.swap_remove((random.uniform() * left.len() as f64) as usize).sample;
    let known = (0..count).map(take).collect();
    (known, left)
}

/// The other points of a deployment, predicted with so many of its points, over all deployments of eight points and more.
fn scored(count: usize) -> BTreeMap<String, (f64, f64)> {
    let mut pairs: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for (at, ((class, _), points)) in deployments().iter().filter(|(_, points)| points.len() >= 8).enumerate() {
        let mut random = Generator::from_seed(at as u64);
        for _ in 0..DRAWS {
            let (known, others) = drawn(points, count, &mut random);
            let found = fit(&known, Prior::default()).unwrap();
            let pair = |of: &Point| Pair { measured: of.measured, predicted: found.speedup(of.priced, &of.sample) };
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
