//! `sweep --best-k` and `--summary`, beside the whole table.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::prelude::*;
use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Loaded, Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::sweep::condition::Selection;
use specplan::sweep::grid::{Grid, Tile};
use specplan::sweep::row::Row;
use specplan::sweep::run::Pricer;

use crate::program::{folder, run_well};

fn study(scenario: &str, changes: &[String]) -> Loaded {
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    load(&SearchPath::default(), &Request { scenario, changes: &changes, seed: None, published: true }).unwrap()
}

/// The plain evaluation: every row of one place and acceptance, and of those wanted the best by the rule as it is written down.
fn plainly<'g>(pricer: &Pricer<'g>, line: &Tile, selection: &Selection) -> Option<Row<'g>> {
    let mut best: Option<Row<'g>> = None;
    for row in pricer.rows(line).into_iter().filter(|row| selection.keeps(row)) {
        let is_better = best.is_none_or(|best| match (best.memory.fits, row.memory.fits) {
            (true, false) => false,
            (false, true) => true,
            _ => match row.speedup().total_cmp(&best.speedup()) {
                Ordering::Greater => true,
                Ordering::Equal => row.k < best.k,
                Ordering::Less => false,
            },
        });
        if is_better {
            best = Some(row);
        }
    }
    best
}

fn compared(loaded: &Loaded, selection: &Selection) -> usize {
    let grid = Grid::new(&loaded.scenario, 1 << 30).unwrap();
    let pricer = Pricer::new(&grid);
    let found: Vec<Row<'_>> = grid.whole_lines().flat_map(|tile| pricer.best(&tile, selection)).collect();
    let lines: Vec<Tile> = grid.whole_contexts().flat_map(|tile| tile.lines().collect::<Vec<_>>()).collect();
    let expected: Vec<Row<'_>> = lines.iter().filter_map(|line| plainly(&pricer, line, selection)).collect();
    assert_eq!(found, expected);
    found.len()
}

fn selection(only_fitting: bool, conditions: &[&str]) -> Selection {
    Selection { only_fitting, conditions: conditions.iter().map(|text| text.parse().unwrap()).collect() }
}

/// Chains, heads, n-grams and blocks; memory that runs out; lengths in no order, and more than are looked at together.
#[test]
fn the_best_rows_are_those_of_the_whole_table() {
    let small = ["sweep.k=[5,0,3,1,2,7,4]", "sweep.batch=[1,7,200,160,150]", "sweep.context=[2048,300]"];
    let long = ["sweep.k={from=0,to=1100,step=1}", "sweep.batch=[1,150]"];
    let tied = ["sweep.k=[4,2,0]", "drafters.llama-1b.acceptance.iid.alpha=[0.0,1.0]"];
    for (scenario, changes) in [
        ("founding-study", small.as_slice()),
        ("founding-study", &long),
        ("founding-study", &tied),
        ("llama-8b-drafters", &small),
    ] {
        let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
        let loaded = study(scenario, &changes);
        assert!(compared(&loaded, &selection(false, &[])) > 0);
        compared(&loaded, &selection(true, &[]));
        compared(&loaded, &selection(true, &["k<=3", "speedup>1"]));
    }
}

/// Some numbers below a bound, in any order.
fn some_of(below: u64, most: usize) -> impl Strategy<Value = Vec<u64>> {
    let all = Just((0..below).collect::<Vec<u64>>()).prop_shuffle();
    (all, 1..=most).prop_map(|(all, count)| all[..count].to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_best_rows_of_any_axes_are_those_of_the_whole_table(
        k in some_of(40, 20),
        batch in some_of(400, 4),
        alpha in proptest::collection::vec(0.0_f64..=1.0, 1..4),
        only_fitting: bool,
        engine in prop_oneof![Just("ideal"), Just("vllm")],
    ) {
        let mut changes = vec![
            format!("sweep.k={k:?}"),
            format!("sweep.batch={:?}", batch.iter().map(|batch| batch + 1).collect::<Vec<_>>()),
            format!("drafters.llama-1b.acceptance.iid.alpha={alpha:?}"),
            format!("engine={engine}"),
        ];
        if engine == "vllm" {
            changes.extend(["roofline=additive", "target=llama-3.1-8b", "hardware=h100-sxm5-80gb"].map(str::to_owned));
            changes.push("drafters.llama-1b.model.id=llama-3.2-1b".to_owned());
        }
        compared(&study("founding-study", &changes), &selection(only_fitting, &[]));
    }
}

fn table(flags: &[&str]) -> Vec<BTreeMap<String, String>> {
    let folder = folder();
    let command = ["sweep", "--scenario", "llama-8b-drafters", "--write", "none", "--format", "csv", "--quiet"];
    let axes = ["--set", "sweep.batch=[1,2,64,200,4000]", "--set", "sweep.context=[512,4096]"];
    let ran = run_well(folder.path(), &[&command, axes.as_slice(), flags].concat());
    let mut reader = csv::Reader::from_reader(ran.stdout.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// A summary says of each context and acceptance what its best rows say, counted another way.
#[test]
fn a_summary_is_made_of_the_best_rows() {
    let (best, lines) = (table(&["--best-k"]), table(&["--summary"]));
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().unwrap();
    let mut order: Vec<[&String; 4]> = Vec::new();
    for row in &best {
        let key = ["drafter", "context", "acceptance", "alpha"].map(|name| &row[name]);
        if !order.contains(&key) {
            order.push(key);
        }
    }
    assert_eq!(lines.len(), order.len());
    assert!(lines.iter().any(|line| number(line, "batches") > number(line, "batches_that_pay")));
    for (line, key) in lines.iter().zip(order) {
        let own =
            || best.iter().filter(|row| ["drafter", "context", "acceptance", "alpha"].map(|name| &row[name]) == key);
        let pay = || own().filter(|row| row["k"] != "0" && row["fits"] == "true" && number(row, "speedup") > 1.0);
        assert_eq!(number(line, "batches") as usize, own().count());
        assert_eq!(number(line, "batches_that_pay") as usize, pay().count());
        let batches: Vec<u64> = pay().map(|row| row["batch"].parse().unwrap()).collect();
        let text = |batch: Option<&u64>| batch.map_or_else(String::new, u64::to_string);
        assert_eq!(line["pays_from_batch"], text(batches.iter().min()));
        assert_eq!(line["pays_to_batch"], text(batches.iter().max()));
        let fitting: Vec<_> = own().filter(|row| row["fits"] == "true").collect();
        let top = fitting.iter().max_by(|a, b| number(a, "speedup").total_cmp(&number(b, "speedup"))).unwrap();
        assert_eq!(
            [&line["best_batch"], &line["best_k"], &line["best_speedup"]],
            [&top["batch"], &top["k"], &top["speedup"]]
        );
        let least = own().map(|row| number(row, "speedup")).fold(f64::INFINITY, f64::min);
        assert!((number(line, "least_speedup") - least).abs() < 1e-15);
    }
}
