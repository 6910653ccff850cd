//! Every figure of the built-in hardware files against a table of the same figures that is kept apart from them, so
//! that a slip in either shows.

use std::collections::BTreeMap;
use std::path::Path;

use specplan::catalog::builtin;
use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::device::{Device, Peak};
use specplan::units::{Bytes, BytesPerSecond, FlopsPerSecond};
use specplan::words::{Dtype, Kind};

/// Rounded on purpose, as its study rounds: the one device that the table leaves out.
const WITHOUT_ROW: [&str; 2] = ["founding-h100", "h100-hbm2e-94gb"];

/// Figures by column; a cell that is empty states nothing.
type Row = BTreeMap<String, f64>;

fn rows() -> BTreeMap<String, Row> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/hardware.csv");
    let mut reader = csv::Reader::from_path(table).unwrap();
    let columns = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let stated = columns.iter().zip(&record).skip(1).filter(|(_, cell)| !cell.is_empty());
        let figures = stated.map(|(column, cell)| (column.to_owned(), cell.parse().unwrap())).collect();
        (record[0].to_owned(), figures)
    };
    let rows: Vec<(String, Row)> = reader.records().map(|record| row(record.unwrap())).collect();
    let count = rows.len();
    let by_id: BTreeMap<String, Row> = rows.into_iter().collect();
    assert_eq!(by_id.len(), count, "an id stands twice");
    by_id
}

fn device(id: &str) -> Device {
    let (found, _) = entry(&SearchPath::default(), Kind::Hardware, id).unwrap();
    let device = if let Entry::Device(device) = found { Some(device) } else { None };
    *device.unwrap()
}

/// The note of a file, which is one line.
fn note(id: &str) -> &'static str {
    let text = builtin::text(Kind::Hardware, id).unwrap();
    text.lines().find_map(|line| line.strip_prefix("note = ")).unwrap()
}

/// What a file states, by column. A format that another one stands for has no figure of its own.
fn figures(device: &Device) -> Row {
    let rate = |(dtype, peak): &(Dtype, Peak)| match peak {
        Peak::Rate(rate) => Some((dtype.as_str(), rate.get())),
        Peak::SameAs(_) => None,
    };
    let others = [
        ("memory_bytes", device.memory.capacity.map(Bytes::get)),
        ("bandwidth", Some(device.memory.bandwidth.get())),
        ("link_one_way", device.link.as_ref().map(|link| link.bandwidth.get())),
        ("link_domain", device.link.as_ref().map(|link| link.domain as f64)),
        ("tdp_w", device.power.as_ref().map(|power| power.tdp_watts)),
    ];
    let others = others.into_iter().filter_map(|(column, figure)| Some((column, figure?)));
    let peaks = device.peaks.stated.iter().filter_map(rate);
    others.chain(peaks).map(|(column, figure)| (column.to_owned(), figure)).collect()
}

/// How far a file may round: bytes not at all, everything else in its fourth digit.
fn slack(column: &str) -> f64 {
    if column == "memory_bytes" { 0.0 } else { 1e-3 }
}

/// Where a device and its row differ, either way.
fn differences(device: &Device, row: &Row) -> Vec<String> {
    let stated = figures(device);
    let in_row = row.keys().filter(|column| !column.starts_with("price_"));
    let mut columns: Vec<&String> = stated.keys().chain(in_row).collect();
    columns.sort();
    columns.dedup();
    let same = |column: &str| match (stated.get(column), row.get(column)) {
        (Some(stated), Some(known)) => (stated / known - 1.0).abs() <= slack(column),
        _ => false,
    };
    let mut found: Vec<String> = columns
        .into_iter()
        .filter(|column| !same(column))
        .map(|column| format!("{}: {column} {:?}, not {:?}", device.id, stated.get(column), row.get(column)))
        .collect();
    let range = row.get("price_low").zip(row.get("price_high"));
    let usd = device.price.as_ref().map(|price| price.usd_per_hour);
    if !match (usd, range) {
        (Some(usd), Some((low, high))) => (*low..=*high).contains(&usd),
        (usd, range) => usd.is_none() && range.is_none(),
    } {
        found.push(format!("{}: price {usd:?}, not within {range:?}", device.id));
    }
    found
}

#[test]
fn every_row_has_a_file_and_every_file_but_the_rounded_one_has_a_row() {
    let files: Vec<String> =
        builtin::ids(Kind::Hardware).into_iter().filter(|id| !WITHOUT_ROW.contains(&id.as_str())).collect();
    let rows: Vec<String> = rows().into_keys().collect();
    assert_eq!(files, rows);
    assert_eq!(rows.len(), 63);
}

#[test]
fn every_figure_of_a_file_is_that_of_its_row_and_none_is_missing_in_either() {
    let found: Vec<String> = rows().iter().flat_map(|(id, row)| differences(&device(id), row)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// The comparison above can fail: by a rounding too coarse, by one byte, and by a figure that one side lacks.
#[test]
fn what_differs_is_seen() {
    let rows = rows();
    let (sound, row) = (device("h100-sxm5-80gb"), &rows["h100-sxm5-80gb"]);
    let changed = |change: fn(&mut Device)| {
        let mut device = sound.clone();
        change(&mut device);
        differences(&device, row)
    };
    let one = |change, column: &str| {
        let found = changed(change);
        assert!(found.len() == 1 && found[0].contains(column), "{column}: {found:?}");
    };
    assert_eq!(changed(|_| ()), [""; 0]);
    one(|device| device.memory.bandwidth = BytesPerSecond::new(3.36e12), "bandwidth");
    one(|device| device.memory.capacity = Some(Bytes::new(85_520_809_985.0)), "memory_bytes");
    one(|device| device.memory.capacity = None, "memory_bytes");
    one(|device| device.power = None, "tdp_w");
    one(|device| device.price = None, "price");
    one(|device| device.price.as_mut().unwrap().usd_per_hour = 5.01, "price");
    one(|device| device.peaks.stated.retain(|(dtype, _)| *dtype != Dtype::Fp8), "fp8");
    one(|device| device.peaks.stated.push((Dtype::Int4, Peak::Rate(FlopsPerSecond::new(1e15)))), "int4");
    assert_eq!(changed(|device| device.link = None).len(), 2);
}

/// A source for every part that holds figures, a date for a price, and a note on what public sources say otherwise.
#[test]
fn every_figure_has_a_source() {
    for id in builtin::ids(Kind::Hardware) {
        let device = device(&id);
        let (link, power, price) = (device.link.as_ref(), device.power.as_ref(), device.price.as_ref());
        let of_parts = [
            Some(&device.memory.source),
            Some(&device.peaks.source),
            link.map(|link| &link.source),
            power.map(|power| power.source.as_ref().unwrap_or_else(|| panic!("{id}: power without a source"))),
            price.map(|price| &price.source),
            price.map(|price| &price.date),
        ];
        assert!(note(&id).len() > 10, "{id}");
        assert!(of_parts.into_iter().flatten().all(|text| text.trim().len() > 3), "{device:#?}");
    }
}

/// Dense fp8 is twice dense bf16; a figure with sparsity would be off by two. Where it is not, the note says why.
#[test]
fn dense_fp8_is_twice_dense_bf16_unless_the_note_says_why() {
    let mut alike = Vec::new();
    for id in builtin::ids(Kind::Hardware) {
        let device = device(&id);
        let (Ok(bf16), Ok(fp8)) = (device.peak(Dtype::Bf16), device.peak(Dtype::Fp8)) else { continue };
        if (fp8 / bf16 / 2.0 - 1.0).abs() > 0.05 {
            let note = note(&id);
            assert!(note.contains("fp8 runs at the rate of bf16"), "{id}: {note}");
            alike.push(id);
        }
    }
    assert_eq!(alike, ["gaudi3", "inferentia2", "tpu-v6e", "trainium1"]);
}

/// A label such as "80 GB" is not one unit: each file says whether its capacity is one or what a driver reports.
#[test]
fn a_capacity_says_whether_it_is_a_label() {
    for id in builtin::ids(Kind::Hardware) {
        let text = builtin::text(Kind::Hardware, &id).unwrap();
        let said = text.lines().find(|line| line.starts_with("capacity = ")).is_none_or(|line| {
            let comment = line.split_once('#').map_or("", |(_, comment)| comment);
            comment.contains("label") && comment.contains("driver reports")
        });
        assert!(said, "{id}");
    }
}
