//! Result files are whole or absent, and never of two runs at once.

use std::fs::{create_dir, create_dir_all, read, write};
use std::io::Read;
use std::process::Stdio;

use crate::program::{FILES, command, folder, names, run, run_well};

#[test]
fn invariant_10_an_output_that_cannot_be_written_leaves_nothing_behind() {
    let folder = folder();
    write(folder.path().join("file"), "in the way").unwrap();
    let ran = run(folder.path(), &["sweep", "--out", "file"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("file"), "{}", ran.stderr);
    create_dir(folder.path().join("out")).unwrap();
    create_dir(folder.path().join("out/founding-study.sweep.csv")).unwrap();
    let ran = run(folder.path(), &["sweep", "--out", "out", "--write", "csv"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(names(&folder.path().join("out")), ["founding-study.sweep.csv"]);
}

/// A terminated run leaves no file under a final name: what it did stays apart, for a run that goes on with it.
#[cfg(unix)]
#[test]
fn invariant_10_a_terminated_run_leaves_nothing_behind() {
    let folder = folder();
    let axes = ["--set", "sweep.batch={from=1,to=1000000,step=1}", "--set", "sweep.context={from=1,to=5,step=1}"];
    let arguments = [&["sweep", "--write", "csv"][..], &axes].concat();
    let mut child = command(folder.path(), &arguments).stderr(Stdio::piped()).spawn().unwrap();
    let output = folder.path().join("output");
    while !output.is_dir() || names(&output).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{message}");
    assert!(message.contains("stopped at") && message.contains("--resume"), "{message}");
    let left = names(&output);
    assert!(left.len() == 1 && left[0].starts_with(".specplan-") && output.join(&left[0]).is_dir(), "{left:?}");
}

/// Charts stay beside a table only while they say the same.
#[test]
fn files_of_an_earlier_run_go_when_they_no_longer_hold() {
    let folder = folder();
    write(folder.path().join("founding-study.sweep.mine.csv"), "").unwrap();
    let out = ["sweep", "--out", "."];
    run_well(folder.path(), &out);
    run_well(folder.path(), &[&out[..], &["--write", "csv"]].concat());
    assert!(FILES.iter().all(|name| folder.path().join(name).is_file()), "the same study: the charts hold");
    run_well(folder.path(), &[&out[..], &["--write", "csv", "--set", "sweep.k=3"]].concat());
    let left = ["founding-study.sweep.csv", "founding-study.sweep.manifest.json", "founding-study.sweep.mine.csv"];
    assert_eq!(names(folder.path()), left, "another study: the charts go, foreign files stay");
}

/// A name that is taken is found before any other file changes.
#[test]
fn invariant_10_a_failed_run_does_not_mix_with_an_earlier_one() {
    for taken in ["founding-study.sweep.heat-map.png", "founding-study.sweep.manifest.json"] {
        let folder = folder();
        let out = folder.path().join("output");
        run_well(folder.path(), &["sweep", "--write", "csv"]);
        let before = read(out.join(FILES[0])).unwrap();
        let _ = std::fs::remove_file(out.join(taken));
        create_dir(out.join(taken)).unwrap();
        let ran = run(folder.path(), &["sweep", "--set", "sweep.k=1"]);
        assert_eq!(ran.code, 1, "{taken}: {}", ran.stderr);
        assert!(ran.stderr.contains(taken) && !ran.stderr.contains(".part"), "{}", ran.stderr);
        assert!(read(out.join(FILES[0])).unwrap() == before, "{taken}: the table is the earlier run's");
        assert!(names(&out).iter().all(|name| !name.starts_with('.')), "{:?}", names(&out));
    }
}

#[test]
fn a_closed_pipe_does_not_cost_the_files() {
    let folder = folder();
    let long = ["sweep", "--write", "csv", "--format", "csv", "--set", "sweep.batch={from=1,to=20000,step=1}"];
    let mut child = command(folder.path(), &long).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let table = read(folder.path().join("output").join(FILES[0])).unwrap();
    assert_eq!(table.iter().filter(|byte| **byte == b'\n').count(), 1 + 20_000 * 10);
}

/// The table is wanted in neither file; the charts are.
#[test]
fn a_closed_pipe_does_not_cost_the_charts() {
    let folder = folder();
    let long = ["sweep", "--write", "png", "--format", "json", "--set", "sweep.batch={from=1,to=4000,step=1}"];
    let mut child = command(folder.path(), &long).stdout(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 10]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(names(&folder.path().join("output")), FILES[1..]);
}

/// Of two runs at once in one folder, one wins whole.
#[cfg(unix)]
#[test]
fn invariant_10_runs_at_once_do_not_mix() {
    let folder = folder();
    for _ in 0..8 {
        let start = |title: &str| {
            let set = format!("title={title}");
            command(folder.path(), &["sweep", "--quiet", "--write", "svg,json", "--set", &set])
                .stdout(Stdio::null())
                .spawn()
        };
        let runs = ["AAA", "BBB"].map(|title| start(title).unwrap());
        for mut run in runs {
            assert!(run.wait().unwrap().success());
        }
        let out = folder.path().join("output");
        let holds = |title: &str| {
            let has = |name: &String| String::from_utf8(read(out.join(name)).unwrap()).unwrap().contains(title);
            names(&out).iter().filter(|name| has(name)).count()
        };
        assert_eq!([holds("AAA"), holds("BBB")].iter().max(), Some(&5), "{:?}", names(&out));
    }
}

/// Files that no manifest lists are not removed, but pointed out.
#[test]
fn files_of_no_manifest_are_pointed_out() {
    let folder = folder();
    run_well(folder.path(), &["sweep"]);
    std::fs::remove_file(folder.path().join("output").join(FILES[2])).unwrap();
    let ran = run_well(folder.path(), &["sweep", "--write", "csv", "--set", "sweep.k=3"]);
    assert!(ran.stderr.contains("heat-map.png: not of this run"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("sweep.csv: not"), "{}", ran.stderr);
}

/// Long lists have their values in the manifest, so that charts of another list do not stay.
#[test]
fn equal_manifests_mean_equal_results() {
    let folder = folder();
    let mut values: Vec<u64> = (1..=300).collect();
    let set = |values: &[u64]| format!("sweep.batch={values:?}");
    run_well(folder.path(), &["sweep", "--write", "csv,png", "--set", &set(&values)]);
    let manifest = || read(folder.path().join("output").join(FILES[2])).unwrap();
    let first = manifest();
    values[150] = 100_000;
    run_well(folder.path(), &["sweep", "--write", "csv", "--set", &set(&values)]);
    assert!(manifest() != first);
    assert_eq!(names(&folder.path().join("output")), [FILES[0], FILES[2]]);
}

/// Ids may hold dots, and still no two charts share a name.
#[test]
fn every_chart_has_a_name_of_its_own() {
    let folder = folder();
    let text = |kind, id| specplan::catalog::builtin::text(kind, id).unwrap();
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    };
    use specplan::words::Kind;
    for id in ["a", "a.b"] {
        put(&format!("hardware/{id}.toml"), text(Kind::Hardware, "founding-h100"));
    }
    for id in ["c", "b.c"] {
        put(&format!("models/{id}.toml"), text(Kind::Models, "founding-llama-3-8b"));
    }
    let axes = ["--set", "hardware=['a.b','a']", "--set", "target=['c','b.c']"];
    run_well(folder.path(), &[&["sweep", "--write", "png"], &axes[..]].concat());
    assert_eq!(names(&folder.path().join("output")).len(), 4 * 3 + 1);

    put("other/a.toml", text(Kind::Hardware, "founding-h100"));
    let ran = run(folder.path(), &["sweep", "--set", "hardware=['a','./other/a.toml']"]);
    assert!(ran.code == 2 && ran.stderr.contains("twice"), "{}", ran.stderr);
}

/// A pipe in the place of a file is not waited for.
#[cfg(unix)]
#[test]
fn a_named_pipe_is_no_file() {
    let folder = folder();
    let fifo = |path: &str| {
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join(path)).status().unwrap().success());
    };
    fifo("scenario.toml");
    let ran = run(folder.path(), &["sweep", "--scenario", "./scenario.toml"]);
    assert!(ran.code == 3 && ran.stderr.contains("no plain file"), "{}", ran.stderr);
    create_dir(folder.path().join("out")).unwrap();
    fifo("out/founding-study.sweep.manifest.json");
    let ran = run(folder.path(), &["sweep", "--out", "out"]);
    assert!(ran.code == 1 && ran.stderr.contains("manifest.json"), "{}", ran.stderr);
}

/// The size of a study is known before anything is made for it.
#[test]
fn too_many_combinations_are_refused_at_once() {
    let folder = folder();
    let drafters: String = (0..20_000)
        .map(|n| format!("[drafters.d{n}]\nconstant = {{ cost_ratio = 0 }}\nacceptance.iid = {{ alpha = 0.5 }}\n"))
        .collect();
    let head = "title = \"many\"\nhardware = \"founding-h100\"\ntarget = \"founding-llama-3-8b\"\n";
    write(folder.path().join("many.toml"), format!("{head}{drafters}")).unwrap();
    let ran = run(folder.path(), &["sweep", "--scenario", "./many.toml", "--write", "none"]);
    assert!(ran.code == 3 && ran.stderr.contains("20000 combinations"), "{}", ran.stderr);
}
