//! Large sweeps: shares of one, sweeps that go on where they were stopped or killed, and disks that would be full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use specplan::sweep::grid::Tile;
use specplan::sweep::shard::Shard;

use crate::program::{command, folder, names, run, run_well};

const AXES: [&str; 6] = [
    "--set",
    "sweep.batch=[1,2,3,5,8,13,21,34]",
    "--set",
    "sweep.context={from=256,to=4096,step=256}",
    "--set",
    "drafters.llama-1b.acceptance.iid.alpha={from=0.5,to=0.9,step=0.01}",
];

fn sweep(out: &Path, flags: &[&str]) -> Vec<String> {
    let folder = folder();
    let named = ["sweep", "--quiet", "--out", out.to_str().unwrap()];
    run_well(folder.path(), &[&named, AXES.as_slice(), flags].concat());
    names(out)
}

fn read(path: PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Shares one after the other, headers left out but for the first, are the whole, whatever is written of it.
#[test]
fn shares_joined_are_the_whole() {
    for (flags, part) in [
        (["--write", "csv,jsonl"].as_slice(), ""),
        (&["--write", "csv,jsonl", "--where", "speedup>1.5"], ""),
        (&["--write", "csv,jsonl", "--best-k"], "best-k."),
        (&["--write", "csv,jsonl", "--summary"], "summary."),
    ] {
        let whole = folder();
        sweep(whole.path(), flags);
        let shares = folder();
        let labels: Vec<String> = (1..=7).map(|index| format!("shard-{index}-of-7")).collect();
        for index in 1..=7 {
            sweep(shares.path(), &[flags, &["--shard", &format!("{index}/7")]].concat());
        }
        let mut expected: Vec<String> = labels
            .iter()
            .flat_map(|label| ["csv", "jsonl"].map(|form| format!("founding-study.sweep.{label}.{part}{form}")))
            .chain(labels.iter().map(|label| format!("founding-study.sweep.{label}.{part}manifest.json")))
            .collect();
        expected.sort();
        assert_eq!(names(shares.path()), expected);
        for form in ["csv", "jsonl"] {
            let of = |label: &str| read(shares.path().join(format!("founding-study.sweep.{label}.{part}{form}")));
            let parts: Vec<Vec<u8>> = labels.iter().map(|label| of(label)).collect();
            let head = if form == "csv" { parts[0].iter().position(|&byte| byte == b'\n').unwrap() + 1 } else { 0 };
            assert!(parts.iter().all(|part| part[..head] == parts[0][..head]));
            let joined = parts.iter().fold(parts[0][..head].to_vec(), |all, part| [&all, &part[head..]].concat());
            assert!(
                joined == read(whole.path().join(format!("founding-study.sweep.{part}{form}"))),
                "{flags:?} {form}"
            );
            assert!(parts.iter().filter(|part| part.len() > head).count() > 1);
        }
    }
}

/// A share with nothing in it is a table without rows, so that a job for it ends well.
#[test]
fn a_share_may_be_empty() {
    let out = folder();
    let shares = folder();
    run_well(out.path(), &["sweep", "--shard", "999/1000", "--out", shares.path().to_str().unwrap()]);
    let table = String::from_utf8(read(shares.path().join("founding-study.sweep.shard-0999-of-1000.csv"))).unwrap();
    assert!(table.starts_with("hardware,") && table.lines().count() == 1);
}

proptest! {
    /// Every tile is of one share, shares are runs of tiles in order, and differ from their fair part by less than a tile.
    #[test]
    fn shares_are_balanced_disjoint_and_complete(sizes in proptest::collection::vec(1_u64..600, 1..200), count in 1_u64..40) {
        let tile = |(at, &rows): (usize, &u64)| Tile { block: at, context: 0..1, batch: 0..1, acceptance: 0..1, k: 0..rows };
        let tiles: Vec<Tile> = sizes.iter().enumerate().map(tile).collect();
        let points: u64 = sizes.iter().sum();
        let share = |index: u64| -> Vec<Tile> {
            let shard: Shard = format!("{index}/{count}").parse().unwrap();
            shard.of(points, tiles.clone().into_iter()).collect()
        };
        let shares: Vec<Vec<Tile>> = (1..=count).map(share).collect();
        prop_assert_eq!(shares.concat(), tiles.clone());
        for own in shares {
            let rows: u64 = own.iter().map(Tile::rows).sum();
            prop_assert!((rows as f64 - points as f64 / count as f64).abs() <= 600.0);
        }
    }
}

fn signalled(child: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.to_string()]).status().unwrap().success());
}

/// Stopped again and again it still goes on, and in the end nothing tells that it ever was.
#[cfg(unix)]
#[test]
fn a_sweep_goes_on_where_it_was_stopped_or_killed() {
    let axes = ["--set", "sweep.k={from=1,to=12,step=1}", "--write", "csv,json,jsonl,svg"];
    let whole = folder();
    sweep(whole.path(), &axes);
    let out = folder();
    let flags = [&["sweep", "--resume", "--out", out.path().to_str().unwrap()], AXES.as_slice(), &axes].concat();
    let growing = || {
        let folders = out.path().read_dir().unwrap().flatten().map(|entry| entry.path());
        folders.filter_map(|path| Some(path.join("csv").metadata().ok()?.len())).max().unwrap_or(0)
    };
    let (mut stops, mut last) = (0, 0.0);
    for round in 0..8 {
        let elsewhere = folder();
        let before = growing();
        let mut child = command(elsewhere.path(), &flags);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Some way on from where it was.
        while growing() < before + 600_000 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        // One that has ended takes no signal.
        let signal = if round % 3 == 2 { "-KILL" } else { "-INT" };
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        if ended.status.success() {
            break;
        }
        if let Some(share) = told.lines().find_map(|line| line.strip_prefix("error: stopped at ")) {
            let share: f64 = share.split(' ').next().unwrap().parse().unwrap();
            assert!(share > last && told.contains("--resume"), "{told}");
            assert_eq!(ended.status.code(), Some(1));
            (stops, last) = (stops + 1, share);
            assert!(!out.path().join("founding-study.sweep.csv").exists());
        }
    }
    assert!(stops > 1, "it was stopped {stops} times");
    run_well(folder().path(), &flags);
    assert_eq!(names(out.path()), names(whole.path()));
    for name in names(whole.path()) {
        assert!(read(out.path().join(&name)) == read(whole.path().join(&name)), "{name}");
    }
}

/// A file that is not what was written, as after a loss of power, is not gone on with; nor is a state that somebody changed.
#[cfg(unix)]
#[test]
fn what_was_damaged_is_begun_anew() {
    damaged(|ongoing| {
        let mut bytes = read(ongoing.join("csv"));
        bytes[300_000] ^= 1;
        std::fs::write(ongoing.join("csv"), bytes).unwrap();
    });
    damaged(|ongoing| {
        for name in ["state.json", "settled.json"].iter().filter(|name| ongoing.join(name).exists()) {
            let mut state: serde_json::Value = serde_json::from_slice(&read(ongoing.join(name))).unwrap();
            state["steps"] = (state["steps"].as_u64().unwrap() + 1).into();
            std::fs::write(ongoing.join(name), state.to_string()).unwrap();
        }
    });
}

fn damaged(damage: impl Fn(&Path)) {
    let axes = ["--set", "sweep.k={from=1,to=12,step=1}", "--write", "csv"];
    let (whole, out, elsewhere) = (folder(), folder(), folder());
    sweep(whole.path(), &axes);
    let flags = [&["sweep", "--resume", "--out", out.path().to_str().unwrap()], AXES.as_slice(), &axes].concat();
    let mut child = command(elsewhere.path(), &flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let growing = || {
        let folders = out.path().read_dir().unwrap().flatten().map(|entry| entry.path());
        folders.into_iter().find(|path| path.join("csv").metadata().is_ok_and(|file| file.len() > 600_000))
    };
    while growing().is_none() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    signalled(child.id(), "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    damage(&growing().unwrap());
    let told = run_well(elsewhere.path(), &flags).stderr;
    assert!(told.contains("what an earlier run left is damaged"), "{told}");
    let table = "founding-study.sweep.csv";
    assert!(read(out.path().join(table)) == read(whole.path().join(table)));
}

/// What is in progress belongs to one run at a time, and is begun anew without the flag.
#[cfg(unix)]
#[test]
fn two_runs_do_not_share_what_is_in_progress() {
    let out = folder();
    let long = ["--set", "sweep.k={from=1,to=4000,step=1}", "--write", "csv", "--out", out.path().to_str().unwrap()];
    let flags = [&["sweep", "--resume"], AXES.as_slice(), &long].concat();
    let elsewhere = folder();
    let first = command(elsewhere.path(), &flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let lock = || out.path().read_dir().unwrap().flatten().any(|entry| entry.path().join("lock").exists());
    while !lock() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(50));
    let second = run(elsewhere.path(), &flags);
    signalled(first.id(), "-INT");
    first.wait_with_output().unwrap();
    assert!(second.code == 4 && second.stderr.contains("another run of this sweep is going on"), "{}", second.stderr);
    let small = ["sweep", "--write", "csv", "--out", out.path().to_str().unwrap()];
    let told = run_well(elsewhere.path(), &small).stderr;
    assert!(told.contains("left by another sweep") && told.contains("--resume"), "{told}");
}

#[test]
fn a_sweep_that_would_fill_the_disk_is_refused() {
    let elsewhere = folder();
    let huge = ["sweep", "--max-points", "100000000000000", "--set", "sweep.batch={from=1,to=900000,step=1}"];
    let axes = ["--set", "sweep.context={from=1,to=900000,step=1}", "--set", "sweep.k={from=1,to=40,step=1}"];
    let ran = run(elsewhere.path(), &[huge.as_slice(), &axes].concat());
    assert!(
        ran.code == 4 && ran.stderr.contains("would write about") && ran.stderr.contains("--best-k"),
        "{}",
        ran.stderr
    );
    assert_eq!(names(&elsewhere.path().join("output")), Vec::<String>::new());
}

#[test]
fn what_cannot_go_on_is_refused() {
    let elsewhere = folder();
    for (flags, part) in [
        (["--resume", "--format", "csv"].as_slice(), "standard output"),
        (&["--resume", "--write", "none"], "--write none"),
        (&["--best-k", "--summary"], "cannot be used with"),
        (&["--shard", "0/3"], "is no share"),
        (&["--shard", "4/3"], "is no share"),
        (&["--shard", "a"], "is no share"),
    ] {
        let ran = run(elsewhere.path(), &[&["sweep"], flags].concat());
        assert!(ran.code == 2 && ran.stderr.contains(part), "{flags:?}: {}", ran.stderr);
    }
    let ran = run(elsewhere.path(), &["plan", "--write", "jsonl"]);
    assert!(ran.code == 2 && ran.stderr.contains("only sweep writes it"), "{}", ran.stderr);
    assert_eq!(names(elsewhere.path()), Vec::<String>::new());
}

/// Rows of one kind do not take the place of others, and what takes their place is told.
#[test]
fn kinds_of_rows_stand_side_by_side() {
    let (out, elsewhere) = (folder(), folder());
    let to = ["sweep", "--write", "csv", "--out", out.path().to_str().unwrap()];
    for flags in [[].as_slice(), &["--best-k"], &["--summary"], &["--shard", "1/2"], &["--shard", "1/2", "--best-k"]] {
        let told = run_well(elsewhere.path(), &[&to, flags].concat()).stderr;
        assert!(!told.contains("removed") && !told.contains("in no manifest"), "{flags:?}: {told}");
    }
    assert_eq!(names(out.path()).len(), 10);
    run_well(elsewhere.path(), &[to.as_slice(), &["--write", "jsonl"]].concat());
    let told = run_well(elsewhere.path(), &[to.as_slice(), &["--set", "sweep.k=3"]].concat()).stderr;
    assert!(told.contains("removed founding-study.sweep.jsonl: of an earlier run"), "{told}");
    assert_eq!(names(out.path()).len(), 10);
}

/// A summary says that points were left out.
#[test]
fn a_summary_tells_its_conditions() {
    let elsewhere = folder();
    let told = run_well(
        elsewhere.path(),
        &["sweep", "--summary", "--write", "none", "--where", "speedup>1.5", "--only-fitting"],
    );
    assert!(told.stdout.contains("of which holds: fits in memory, speedup>1.5"), "{}", told.stdout);
}
