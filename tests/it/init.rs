//! `specplan init`.

use std::fs::{read, write};

use crate::program::{folder, names, run, run_well};

#[test]
fn what_it_writes_runs_as_it_is_and_with_every_commented_key() {
    let folder = folder();
    let ran = run_well(folder.path(), &["init", "mine.toml"]);
    assert!(ran.stderr.contains("specplan sweep --scenario ./mine.toml"), "{}", ran.stderr);
    let text = String::from_utf8(read(folder.path().join("mine.toml")).unwrap()).unwrap();
    assert!(text.contains("specplan simulate --scenario ./mine.toml"), "{text}");
    // The second provenance takes the place of the first.
    let all = text.replace("acceptance.provenance = { note = \"assumed, not measured\" }\n", "").replace("#: ", "");
    write(folder.path().join("all.toml"), all).unwrap();
    for scenario in ["./mine.toml", "./all.toml"] {
        for command in ["sweep", "simulate"] {
            let ran = run_well(folder.path(), &[command, "--scenario", scenario, "--write", "none"]);
            assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        }
    }
    let ran = run_well(folder.path(), &["sweep", "--scenario", "./all.toml", "--write", "none"]);
    assert!(ran.stdout.contains("free"), "{}", ran.stdout);
}

#[test]
fn it_writes_over_nothing() {
    let folder = folder();
    write(folder.path().join("scenario.toml"), "mine").unwrap();
    let ran = run(folder.path(), &["init"]);
    assert_eq!((ran.code, ran.stderr.contains("there already")), (2, true), "{}", ran.stderr);
    assert_eq!(read(folder.path().join("scenario.toml")).unwrap(), b"mine");
    for (name, code) in [("mine.txt", 2), (".", 2), ("nowhere/mine.toml", 2)] {
        let ran = run(folder.path(), &["init", name]);
        assert_eq!(ran.code, code, "{name}: {}", ran.stderr);
    }
    assert_eq!(names(folder.path()), ["scenario.toml"]);
}
