//! `sweep --write parquet`: the cells of the file are those of the CSV beside it.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

fn swept(folder: &Path, flags: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(folder).args(["sweep", "--scenario", "llama-8b-drafters", "--write", "parquet,csv", "--quiet"]);
    assert!(command.args(flags).output().unwrap().status.success(), "{flags:?}");
}

/// A cell as the CSV writes it; whole numbers have no fraction there.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(count) => count.to_string(),
        Field::Bool(flag) => flag.to_string(),
        Field::Double(figure) => {
            let shortest = zmij::Buffer::new().format(*figure).to_owned();
            shortest.strip_suffix(".0").map_or(shortest.clone(), str::to_owned)
        }
        other => format!("{other:?} is not due here"),
    }
}

#[test]
fn cells_are_those_of_the_csv() {
    for (flags, part, least) in [
        (["--set", "sweep.batch={from=1,to=300,step=1}"].as_slice(), "", 5000),
        (&["--best-k", "--where", "batch>1"], "best-k.", 10),
        (&["--summary"], "summary.", 4),
        (&["--shard", "2/2"], "", 5),
    ] {
        let folder = tempfile::tempdir().unwrap();
        swept(folder.path(), flags);
        let share = if flags.contains(&"--shard") { "shard-2-of-2." } else { "" };
        let path = |form: &str| folder.path().join(format!("output/llama-8b-drafters.sweep.{share}{part}{form}"));
        let file = SerializedFileReader::new(std::fs::File::open(path("parquet")).unwrap()).unwrap();
        let mut table = csv::Reader::from_path(path("csv")).unwrap();
        let names: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
        let mut rows = file.get_row_iter(None).unwrap();
        let mut count = 0;
        for record in table.records() {
            let (record, row) = (record.unwrap(), rows.next().unwrap().unwrap());
            let (here, cells): (Vec<String>, Vec<String>) =
                row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).unzip();
            assert_eq!(here, names);
            assert_eq!(cells, record.iter().collect::<Vec<_>>());
            count += 1;
        }
        assert!(rows.next().is_none() && count >= least, "{flags:?}: {count} rows");
    }
}
