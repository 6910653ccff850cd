//! Whole runs of the program, beside other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::timing::{Goal, Line, Pairs, median, timed};

/// Axes of the founding study: 16 contexts x `batches` x 64 alphas x 16 k.
fn axes(batches: u32) -> Vec<String> {
    let changes = [
        format!("sweep.batch={{from=1,to={batches},step=1}}"),
        "sweep.context={from=256,to=4096,step=256}".to_owned(),
        "drafters.llama-1b.acceptance.iid.alpha={from=0.3,to=0.93,step=0.01}".to_owned(),
        "sweep.k={from=1,to=16,step=1}".to_owned(),
    ];
    changes.into_iter().flat_map(|change| ["--set".to_owned(), change]).collect()
}

/// Rows of one batch of these axes.
const ROWS_OF_A_BATCH: u32 = 16 * 64 * 16;

fn program(folder: &Path, flags: &[&str], more: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_specplan"));
    command.current_dir(folder).args(flags).args(more).arg("--quiet").stdout(Stdio::null()).stdin(Stdio::null());
    command
}

fn seconds(command: &mut Command) -> f64 {
    let (seconds, status) = timed(|| command.status().expect("a program that starts"));
    assert!(status.success(), "{command:?}");
    seconds
}

fn python(folder: &Path, arguments: &[&str]) -> Option<Command> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/founding.py");
    let is_there = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    let mut command = Command::new("python3");
    command.current_dir(folder).arg(script).args(arguments).stdout(Stdio::null());
    is_there.then_some(command)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn csv_of(folder: &Path) -> PathBuf {
    folder.join("output/founding-study.sweep.csv")
}

fn no_python() -> Vec<Line> {
    vec![Line::Note("not measured: there is no python3".to_owned())]
}

/// P6: a million rows to a file.
pub(crate) fn csv_beside_python() -> Vec<Line> {
    let folder = folder();
    let rows = f64::from(64 * ROWS_OF_A_BATCH);
    let Some(mut theirs) = python(folder.path(), &["csv", &rows.to_string(), "theirs.csv"]) else { return no_python() };
    let mut ours = program(folder.path(), &["sweep", "--write", "csv"], &axes(64));
    let pairs: Vec<(f64, f64)> = (0..3).map(|_| (seconds(&mut ours), seconds(&mut theirs))).collect();
    let all = |path: PathBuf| csv::Reader::from_path(path).expect("a table").into_records();
    let mine = all(csv_of(folder.path())).map(|row| row.expect("a row"));
    let mut theirs = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(folder.path().join("theirs.csv"))
        .expect("a table")
        .into_records();
    let mut compared = 0;
    for row in mine {
        let other = theirs.next().expect("as many rows").expect("a row");
        for column in [6, 7, 8, 12, 13, 15, 17, 18, 20, 24, 25] {
            let [a, b] = [&row, &other].map(|row| row[column].parse::<f64>().expect("a number"));
            assert!((a - b).abs() <= 1e-9 * b.abs(), "column {column}: {row:?} and {other:?}");
        }
        compared += 1;
    }
    assert_eq!(compared, 64 * ROWS_OF_A_BATCH);
    vec![Line::Ratio {
        what: "1.05 M rows to a file, wall / the formulas and csv.writer in Python",
        pairs: Pairs::from(&pairs, rows, rows),
        goal: Goal::AtLeast(30.0),
    }]
}

/// P7: ten million rows to a file, beside writing as many bytes.
pub(crate) fn csv_beside_dd() -> Vec<Line> {
    let folder = folder();
    let mut ours = program(folder.path(), &["sweep", "--write", "csv"], &axes(640));
    let mut pairs = Vec::new();
    let rows = f64::from(640 * ROWS_OF_A_BATCH);
    for _ in 0..3 {
        // What an earlier one left to be written is not to be paid for by the next.
        seconds(&mut Command::new("sync"));
        let took = seconds(&mut ours);
        let bytes = csv_of(folder.path()).metadata().expect("a table").len();
        std::fs::remove_dir_all(folder.path().join("output")).expect("results");
        let mut dd = Command::new("dd");
        let count = format!("count={}", bytes.div_ceil(512 << 10));
        dd.current_dir(folder.path()).args(["if=/dev/zero", "of=zeros", "bs=512k", &count]).stderr(Stdio::null());
        seconds(&mut Command::new("sync"));
        pairs.push((took, seconds(&mut dd)));
        std::fs::remove_file(folder.path().join("zeros")).expect("zeros");
    }
    vec![Line::Ratio {
        what: "10.5 M rows to a file, wall: its time / dd of as many bytes",
        pairs: Pairs::times(&pairs, rows),
        goal: Goal::AtMost(2.5),
    }]
}

/// The most memory that a run held, in MiB, by asking often.
fn peak(command: &mut Command) -> f64 {
    let mut child = command.spawn().expect("a program that starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.0_f64;
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read(&status).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().split(' ').next()).and_then(|text| text.parse::<f64>().ok());
        most = most.max(kib.unwrap_or(0.0) / 1024.0);
        std::thread::sleep(Duration::from_millis(2));
    }
    most
}

/// P8: memory does not grow with the rows.
pub(crate) fn memory() -> Vec<Line> {
    let folder = folder();
    let of = |batches: u32| peak(&mut program(folder.path(), &["sweep", "--write", "csv"], &axes(batches)));
    let pairs: Vec<(f64, f64)> = (0..3).map(|_| (of(64), of(640))).collect();
    let large = median(pairs.iter().map(|pair| pair.1).collect());
    vec![
        Line::Figure {
            what: "most memory of 10.5 M rows over that of 1.05 M",
            value: median(pairs.iter().map(|pair| pair.1 / pair.0).collect()),
            unit: "ratio",
            goal: Goal::AtMost(1.2),
        },
        Line::Figure { what: "most memory of 10.5 M rows", value: large, unit: "MiB", goal: Goal::AtMost(64.0) },
    ]
}

/// P12: a second thread.
pub(crate) fn two_threads() -> Vec<Line> {
    let folder = folder();
    let rounds = ["simulate", "--write", "none", "--set", "simulate.rounds=60000000", "--threads"];
    let sweep = ["sweep", "--write", "none", "--format", "csv", "--threads"];
    let pairs = |flags: &[&str], more: &[String]| -> Vec<(f64, f64)> {
        let of = |threads: &str| seconds(&mut program(folder.path(), &[flags, &[threads]].concat(), more));
        (0..15).map(|_| (of("2"), of("1"))).collect()
    };
    vec![
        Line::Ratio {
            what: "simulate, 60 M rounds a case: 2 threads / 1",
            pairs: Pairs::from(&pairs(&rounds, &[]), 1.0, 1.0),
            goal: Goal::AtLeast(1.6),
        },
        Line::Ratio {
            what: "sweep to CSV on /dev/null: 2 threads / 1",
            pairs: Pairs::from(&pairs(&sweep, &axes(128)), 1.0, 1.0),
            goal: Goal::AtLeast(1.4),
        },
    ]
}

/// P13: starting.
pub(crate) fn start_up() -> Vec<Line> {
    let folder = folder();
    let mut help = Command::new(env!("CARGO_BIN_EXE_specplan"));
    help.arg("--help").current_dir(folder.path()).stdout(Stdio::null());
    let mut nothing = Command::new("/bin/true");
    let pairs: Vec<(f64, f64)> = (0..1000).map(|_| (seconds(&mut help), seconds(&mut nothing))).collect();
    vec![Line::Ratio {
        what: "`specplan --help`, 1000 times: its time / /bin/true",
        pairs: Pairs::times(&pairs, 1.0),
        goal: Goal::AtMost(4.0),
    }]
}

/// P14: one chart of 1600 x 1000, the second and later.
pub(crate) fn charts() -> Vec<Line> {
    let folder = folder();
    let ours = crate::grid::chart_seconds();
    let mut all = vec![Line::Figure {
        what: "a PNG of 1600 x 1000, five lines of 64 points and more, in process",
        value: ours * 1e3,
        unit: "ms",
        goal: Goal::AtMost(10.0),
    }];
    let Some(mut theirs) = python(folder.path(), &["chart", "theirs.png"]) else { return all };
    let output = theirs.stdout(Stdio::piped()).stderr(Stdio::null()).output().expect("python3");
    match String::from_utf8_lossy(&output.stdout).trim().parse::<f64>() {
        Ok(theirs) => all.push(Line::Ratio {
            what: "the same / matplotlib",
            pairs: Pairs::from(&[(ours, theirs)], 1.0, 1.0),
            goal: Goal::AtLeast(10.0),
        }),
        Err(_) => all.push(Line::Note("matplotlib is not installed: not compared".to_owned())),
    }
    all
}

/// P15: both parts of the founding study.
pub(crate) fn whole_study() -> Vec<Line> {
    let folder = folder();
    let Some(mut theirs) = python(folder.path(), &["study"]) else { return no_python() };
    let parts = ["sweep", "simulate"];
    let ours = || parts.iter().map(|of| seconds(&mut program(folder.path(), &[of, "--write", "none"], &[]))).sum();
    let pairs: Vec<(f64, f64)> = (0..9).map(|_| (ours(), seconds(&mut theirs))).collect();
    vec![Line::Ratio {
        what: "the founding study, table and draws, whole runs / Python",
        pairs: Pairs::from(&pairs, 1.0, 1.0),
        goal: Goal::AtLeast(15.0),
    }]
}

/// P16: a cold build.
pub(crate) fn cold_build() -> Vec<Line> {
    let folder = folder();
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--release", "--locked", "--quiet"]);
    build.env("CARGO_TARGET_DIR", folder.path());
    vec![Line::Figure {
        what: "cold cargo build --release, two cores",
        value: seconds(&mut build),
        unit: "s",
        goal: Goal::AtMost(60.0),
    }]
}
