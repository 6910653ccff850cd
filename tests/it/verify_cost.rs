//! Verification passes that a user measured stand in place of prices, inside what was measured.

use crate::program::{folder, run, run_well};

const SCENARIO: &str = include_str!("../fixtures/calibrate/scenario.toml");
pub(crate) const TABLE: &str = r#"
[verify_cost]
batch = [1, 16]
width = [1, 2, 4]
context = 400
seconds = [["9 ms", "10 ms", "13 ms"], ["10 ms", "12 ms", "17 ms"]]
source = "my own"
"#;

/// Batch, context and k; and there a plain step and a verification, in milliseconds.
type Row = ((u64, u64, u64), (f64, f64));

fn swept(scenario: &str) -> Vec<Row> {
    let folder = folder();
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let args = ["sweep", "--scenario", "./s.toml", "--format", "csv", "--write", "none", "--quiet"];
    let axes = ["--set", "sweep.batch=[1,4,16,32]", "--set", "sweep.k=[1,2,3,5]"];
    let printed = run_well(folder.path(), &[&args[..], &axes].concat()).stdout;
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cell = |name: &str| &record[header.iter().position(|of| of == name).unwrap()];
        let whole = |name: &str| cell(name).parse::<u64>().unwrap();
        let time = |name: &str| cell(name).parse::<f64>().unwrap() * 1e3;
        ((whole("batch"), whole("context"), whole("k")), (time("base_step_s"), time("verify_s")))
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// By hand: at batch 4, a fifth of the way from 1 to 16, width 3 takes 11.5 and 14.5 ms at the ends, 12.1 between.
#[test]
fn what_was_measured_stands_in_place_of_the_price_inside_its_range_only() {
    let (with, without) = (swept(&format!("{SCENARIO}{TABLE}")), swept(SCENARIO));
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let priced = |batch: u64, k: u64| without.iter().find(|(at, _)| *at == (batch, 400, k)).unwrap().1.1;
    for ((at, (plain, verify)), (_, (priced_plain, priced_verify))) in with.iter().zip(&without) {
        let due = match *at {
            (1, 400, 1) => (9.0, 10.0),
            (1, 400, 2) => (9.0, 11.5),
            (1, 400, 3) => (9.0, 13.0),
            (16, 400, 3) => (10.0, 17.0),
            (4, 400, 2) => (9.2, 12.1),
            // Wider than measured: in proportion to the widest.
            (1, 400, 5) => (9.0, 13.0 * *priced_verify / priced(1, 3)),
            (32, ..) => (*priced_plain, *priced_verify),
            _ => continue,
        };
        assert!(near(*plain, due.0) && near(*verify, due.1), "{at:?}: {plain}, {verify}, {due:?}");
    }
    // At another context in proportion to the price.
    let of = |rows: &[Row], context: u64| rows.iter().find(|(at, _)| *at == (16, context, 3)).unwrap().1;
    let (long, short) = (of(&without, 4000), of(&without, 400));
    let measured = of(&with, 4000);
    assert!(near(measured.0, 10.0 * long.0 / short.0) && near(measured.1, 17.0 * long.1 / short.1));
}

/// Ideal rooflines take it too, every output says so, and what is no table is refused with its place.
#[test]
fn tables_are_told_and_checked() {
    let folder = folder();
    let ran = |table: &str, more: &[&str]| {
        std::fs::write(folder.path().join("s.toml"), format!("{SCENARIO}{table}")).unwrap();
        let args = ["sweep", "--scenario", "./s.toml", "--write", "none"];
        run(folder.path(), &[&args[..], more].concat())
    };
    let told = "at batch 1 to 16 and width 1 to 4 as measured at context 400 (my own); wider ones";
    for engine in ["vllm", "ideal"] {
        let ran = ran(TABLE, &["--engine", engine]);
        assert!(ran.code == 0 && ran.stdout.contains(told), "{}{}", ran.stdout, ran.stderr);
    }
    for (from, to, due) in [
        ("width = [1, 2, 4]", "width = [2, 3, 4]", "width begins at 1"),
        ("batch = [1, 16]", "batch = [16, 1]", "batches stand in rising order"),
        ("\"17 ms\"]]", "\"17 ms\", \"18 ms\"]]", "2 batches and 3 widths have 2 rows of 3 times"),
        ("\"17 ms\"]]", "-1]]", "must be at least"),
        ("\"17 ms\"]]", "17]]", "no verification takes 17 s"),
        ("\"17 ms\"]]", "\"11 ms\"]]", "wider verifications take less"),
        ("context = 400", "contexts = 400", "did you mean `context`?"),
    ] {
        let ran = ran(&TABLE.replace(from, to), &[]);
        assert!(ran.code == 3 && ran.stderr.contains(due), "{to}: {}", ran.stderr);
        assert!(ran.stderr.contains("s.toml:"), "{to}: {}", ran.stderr);
    }
    let several = ran(TABLE, &["--set", "tensor_parallel=[1,2]"]);
    assert!(several.code != 0 && several.stderr.contains("the scenario has several"), "{}", several.stderr);
}
