//! Rows of a sweep as CSV, beside what the csv crate makes of the same cells.

use csv::{Terminator, WriterBuilder};
use serde_json::{Map, Value};
use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Loaded, Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::report::rows::RowForm;
use specplan::sweep::grid::Grid;
use specplan::sweep::row::{COLUMNS, Cell, Labels, Row};
use specplan::sweep::run::Pricer;

use crate::fields::fields;

/// The oracle: every cell formatted by itself, every row written by the csv crate.
fn plainly(rows: &[Row<'_>]) -> Vec<u8> {
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    rows.iter().for_each(|row| writer.write_record(fields(row)).unwrap());
    writer.into_inner().unwrap()
}

/// The oracle of JSON: every row an object of serde_json.
fn objects(rows: &[Row<'_>]) -> Vec<String> {
    let value = |cell: Cell<'_>| match cell {
        Cell::Text(text) => Value::from(text),
        Cell::Notes(notes) => notes.text().into(),
        Cell::Numbered(word, count) => format!("{word}-{count}").into(),
        Cell::Integer(count) => count.into(),
        Cell::Number(figure) => figure.into(),
        Cell::Flag(flag) => flag.into(),
        Cell::Empty => Value::Null,
    };
    let object = |row: &Row<'_>| -> Map<String, Value> {
        COLUMNS.iter().zip(row.cells()).map(|(name, cell)| ((*name).to_owned(), value(cell))).collect()
    };
    rows.iter().map(|row| Value::Object(object(row)).to_string()).collect()
}

fn study(scenario: &str, changes: &[&str]) -> Loaded {
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    load(&SearchPath::default(), &Request { scenario, changes: &changes, seed: None, published: true }).unwrap()
}

fn compared(loaded: &Loaded, change: impl Fn(usize, Row<'static>) -> Row<'static>) {
    let grid = Grid::new(&loaded.scenario, 1 << 30).unwrap();
    let mut count = 0;
    for tile in grid.tiles() {
        let own: Vec<Row<'_>> = Pricer::new(&grid).rows(&tile);
        let changed: Vec<Row<'static>> = own
            .iter()
            .enumerate()
            .map(|(at, row)| change(at, Row { labels: NAMED, acceptance: row.acceptance, ..*row }))
            .collect();
        count += own.len();
        for rows in [&own, &changed] {
            let text = |form: RowForm| String::from_utf8(form.rows(rows)).unwrap();
            assert_eq!(text(RowForm::Csv), String::from_utf8(plainly(rows)).unwrap());
            let objects = objects(rows);
            assert_eq!(text(RowForm::JsonLines).lines().collect::<Vec<_>>(), objects);
            assert_eq!(text(RowForm::Json), objects.iter().map(|object| format!(",\n{object}")).collect::<String>());
        }
    }
    assert!(count > 0);
}

/// Names that need quotes.
const NAMED: Labels<'static> = Labels {
    hardware: "a,b",
    target: "say \"it\"",
    drafter: Some("two\nlines"),
    engine: "plain",
    roofline: specplan::words::Roofline::PerOp,
    tensor_parallel: 1,
};

/// Chains and drafts that are looked up, curves and alphas, contexts on which acceptance hangs, and plain decoding.
#[test]
fn copied_fragments_are_what_the_csv_crate_writes() {
    let same = |_: usize, row: Row<'static>| row;
    for scenario in ["founding-study", "llama-8b-drafters"] {
        compared(&study(scenario, &[]), same);
    }
    compared(
        &study(
            "founding-study",
            &[
                "drafters.llama-1b.acceptance.iid.alpha=[0.5,0.6,0.7,1.0]",
                "sweep.k=[0,1,2,3,9]",
                "sweep.batch=[1,2,3,1000]",
            ],
        ),
        same,
    );
    compared(&study("founding-study", &["drafters={}"]), same);
    // One k, and rows of which some are left out, as --only-fitting leaves them.
    compared(&study("founding-study", &["sweep.k=[4]"]), same);
}

/// Cells that are equal and written differently, and rows in no order at all.
#[test]
fn rows_that_do_not_repeat_are_formatted_too() {
    let loaded = study("founding-study", &["sweep.batch=[1,7,64]"]);
    compared(&loaded, |at, row| Row {
        verify_width: [0.0, -0.0, 1e-300, 5e300][at % 4],
        tokens_per_pass: 1.0 + at as f64 / 7.0,
        k: (at as u64 * 7919) % 13,
        batch: u64::MAX - at as u64,
        ..row
    });
}
