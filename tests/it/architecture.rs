//! Who imports whom, as `ARCHITECTURE.md` says, and which crates stay in which rooms.

use std::path::{Path, PathBuf};

/// What a module may import besides `units` and `words`; `*` is everything.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("words", &[]),
    ("rng", &[]),
    ("diagnostic", &[]),
    ("parallel", &[]),
    ("domain", &[]),
    ("cost", &["domain"]),
    ("acceptance", &["domain", "rng", "parallel"]),
    ("plan", &["domain", "cost", "acceptance", "rng", "parallel"]),
    ("sweep", &["domain", "plan", "rng", "parallel"]),
    ("report", &["domain", "rng", "cost", "acceptance", "plan", "sweep"]),
    ("catalog", &["domain", "diagnostic", "import"]),
    ("cli", &["*"]),
];

/// Crates and library parts that only some rooms touch, by the head of a module's path.
const FENCED: &[(&str, &[&str])] = &[
    ("toml::", &["catalog"]),
    ("rayon::", &["parallel"]),
    ("csv::", &["report"]),
    ("plotters::", &["report"]),
    ("png::", &["report"]),
    ("clap::", &["cli", "words", "main"]),
    ("std::fs", &["cli/files", "catalog/lookup"]),
    ("std::io", &["cli", "catalog/lookup"]),
    ("std::time", &[]),
    ("std::env", &["cli", "catalog/lookup"]),
    ("rand_xoshiro::", &["rng"]),
    ("annotate_snippets::", &["diagnostic"]),
];

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in folder.read_dir().unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    let module =
        |path: &Path| path.strip_prefix(&root).unwrap().with_extension("").to_string_lossy().replace('\\', "/");
    found.iter().map(|path| (module(path), String::from_utf8(std::fs::read(path).unwrap()).unwrap())).collect()
}

/// Code without comments, so that a link in a doc comment is no import.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Rooms named after `crate::`, also in `crate::{a, b}`.
fn imports(text: &str) -> Vec<String> {
    let code = code(text);
    let heads = code
        .match_indices("crate::")
        .filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    let rest = heads.map(|(at, head)| &code[at + head.len()..]);
    let names = |rest: &str| -> Vec<String> {
        let list = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default(),
        };
        list.split(',').map(|name| name.split("::").next().unwrap_or_default().trim().to_owned()).collect()
    };
    rest.flat_map(names).filter(|name| !name.is_empty()).collect()
}

fn forbidden_imports(module: &str, text: &str) -> Vec<String> {
    let room = module.split('/').next().unwrap();
    let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == room) else {
        return if matches!(room, "main" | "lib") {
            vec![]
        } else {
            vec![format!("{module}: `{room}` is in no row of the table")]
        };
    };
    let free =
        |name: &str| name == room || ["units", "words"].contains(&name) || allowed.contains(&name) || *allowed == ["*"];
    let broken = imports(text).into_iter().filter(|name| !free(name));
    broken.map(|name| format!("{module} imports `{name}`")).collect()
}

fn fence_breaks(module: &str, text: &str) -> Vec<String> {
    let code = code(text);
    let uses = |fence: &str| {
        code.match_indices(fence)
            .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
    };
    let outside = |rooms: &[&str]| !rooms.iter().any(|room| module == *room || module.starts_with(&format!("{room}/")));
    let broken = FENCED.iter().filter(|(fence, rooms)| outside(rooms) && uses(fence));
    broken.map(|(fence, _)| format!("{module} uses `{fence}`")).collect()
}

#[test]
fn every_import_is_in_the_table() {
    let broken: Vec<String> = sources().iter().flat_map(|(module, text)| forbidden_imports(module, text)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn fenced_crates_stay_in_their_rooms() {
    let broken: Vec<String> = sources().iter().flat_map(|(module, text)| fence_breaks(module, text)).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn files_stay_short() {
    let long: Vec<String> =
        sources().into_iter().filter(|(_, text)| text.lines().count() > 400).map(|(module, _)| module).collect();
    assert!(long.is_empty(), "over 400 lines: {long:?}");
}

/// The checks above can fail.
#[test]
fn breaches_are_seen() {
    assert_eq!(forbidden_imports("cost/pass", "use crate::acceptance::chain;"), ["cost/pass imports `acceptance`"]);
    assert_eq!(forbidden_imports("cost/pass", "let x = crate::plan::round();"), ["cost/pass imports `plan`"]);
    assert_eq!(forbidden_imports("domain/axis", "use crate::{units::Bytes, cost};"), ["domain/axis imports `cost`"]);
    assert_eq!(forbidden_imports("cost/pass", "use crate::units::Bytes; // crate::plan"), [""; 0]);
    assert_eq!(forbidden_imports("helpers/x", ""), ["helpers/x: `helpers` is in no row of the table"]);
    assert_eq!(fence_breaks("plan/round", "use rayon::prelude::*;"), ["plan/round uses `rayon::`"]);
    assert_eq!(fence_breaks("cli/sweep", "std::fs::write(a, b)"), ["cli/sweep uses `std::fs`"]);
    assert_eq!(fence_breaks("report/csv", "use csv::Writer; use crate::report::csv::rows;"), [""; 0]);
}
