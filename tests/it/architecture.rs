//! Who imports whom, as `ARCHITECTURE.md` says, and which crates stay in which rooms.

use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

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
    ("traffic", &["domain", "cost", "acceptance", "plan", "rng", "parallel"]),
    ("sweep", &["domain", "plan", "rng", "parallel"]),
    ("evidence", &["domain", "cost", "acceptance", "plan", "rng", "parallel"]),
    ("import", &["domain", "diagnostic"]),
    ("report", &["domain", "rng", "cost", "acceptance", "plan", "traffic", "sweep", "evidence", "import"]),
    ("catalog", &["domain", "diagnostic", "import"]),
    ("cli", &["*"]),
];

/// Crates and library parts that only some rooms touch, by the head of a module's path.
const FENCED: &[(&str, &[&str])] = &[
    ("toml", &["catalog"]),
    ("rayon", &["parallel"]),
    ("csv", &["report", "import"]),
    ("jiter", &["import"]),
    ("regex_lite", &["import"]),
    ("aho_corasick", &["import"]),
    ("memchr", &["import"]),
    ("saphyr_parser", &["import"]),
    ("plotters", &["report"]),
    ("png", &["report"]),
    ("clap", &["cli", "words", "main"]),
    ("std::fs", &["cli/files", "catalog/lookup"]),
    ("std::io", &["cli", "catalog/lookup", "report/parquet"]),
    ("fs4", &["cli"]),
    ("parquet", &["report/parquet"]),
    ("std::time::Instant", &[]),
    ("std::time::SystemTime", &[]),
    ("std::env", &["cli", "catalog/lookup"]),
    ("rand_xoshiro", &["rng"]),
    ("rand_distr", &["rng"]),
    ("statrs", &["acceptance"]),
    ("nalgebra", &["evidence"]),
    ("argmin", &["acceptance"]),
    ("annotate_snippets", &["diagnostic"]),
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

/// Every path that a file names, from the crate's root or from a crate outside.
#[derive(Default)]
struct Paths {
    /// Where we are: `["catalog", "edit"]`, and deeper in inline modules.
    module: Vec<String>,
    /// Names that imports from this crate bring in, which so are no crates of their own.
    local: Vec<String>,
    /// Absolute paths: `["crate", "cost", "pass"]`, `["std", "fs", "write"]`.
    found: Vec<Vec<String>>,
}

impl Paths {
    fn of(module: &str, text: &str) -> Vec<Vec<String>> {
        let file = syn::parse_file(text).expect(module);
        let module = module.split('/').map(str::to_owned).collect();
        let mut paths = Self { module, ..Self::default() };
        paths.visit_file(&file);
        let local = paths.local;
        paths.found.into_iter().filter(|path| !local.contains(&path[0])).collect()
    }

    fn note(&mut self, path: &[String]) {
        let mut base = self.module.clone();
        let mut rest = path;
        if rest[0] != "super" && rest[0] != "self" {
            self.found.push(path.to_vec());
            return;
        }
        while let Some((head, tail)) = rest.split_first().filter(|(head, _)| *head == "super" || *head == "self") {
            if head == "super" {
                base.pop();
            }
            rest = tail;
        }
        let root = std::iter::once("crate".to_owned());
        self.found.push(root.chain(base).chain(rest.iter().cloned()).collect());
    }

    fn note_use(&mut self, tree: &syn::UseTree, head: &[String]) {
        let extended = |ident: &syn::Ident| [head, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.note_use(&path.tree, &extended(&path.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_use(tree, head)),
            syn::UseTree::Glob(_) => self.note(head),
            syn::UseTree::Name(name) => self.note_leaf(&extended(&name.ident), &name.ident),
            syn::UseTree::Rename(rename) => self.note_leaf(&extended(&rename.ident), &rename.rename),
        }
    }

    fn note_leaf(&mut self, path: &[String], name: &syn::Ident) {
        if ["crate", "super", "self"].contains(&path[0].as_str()) {
            self.local.push(name.to_string());
        }
        self.note(path);
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_use(&item.tree, &[]);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.note(&segments);
        }
        visit::visit_path(self, path);
    }
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
    let of_ours = Paths::of(module, text).into_iter().filter(|path| path[0] == "crate");
    let names = of_ours.map(|path| path.get(1).cloned().unwrap_or_else(|| "the whole crate".to_owned()));
    let mut broken: Vec<String> =
        names.filter(|name| !free(name)).map(|name| format!("{module} imports `{name}`")).collect();
    broken.dedup();
    broken
}

fn fence_breaks(module: &str, text: &str) -> Vec<String> {
    let paths = Paths::of(module, text);
    let uses =
        |fence: &str| paths.iter().any(|path| format!("{}::", path.join("::")).starts_with(&format!("{fence}::")));
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
    let none = [""; 0];
    let imports = forbidden_imports;
    assert_eq!(imports("cost/pass", "use crate::acceptance::chain;"), ["cost/pass imports `acceptance`"]);
    assert_eq!(imports("cost/pass", "fn f() { let x = crate::plan::round(); }"), ["cost/pass imports `plan`"]);
    assert_eq!(imports("domain/axis", "use crate::{units::{Bytes}, cost};"), ["domain/axis imports `cost`"]);
    assert_eq!(imports("cost/pass", "use super::super::acceptance::chain;"), ["cost/pass imports `acceptance`"]);
    assert_eq!(imports("cost/pass", "mod tests { use super::super::super::plan; }"), ["cost/pass imports `plan`"]);
    assert_eq!(imports("cost/pass", "use crate as c;"), ["cost/pass imports `the whole crate`"]);
    assert_eq!(imports("cost/pass", "use super::roofline::Rates; use crate::units::Bytes; // crate::plan"), none);
    assert_eq!(imports("helpers/x", ""), ["helpers/x: `helpers` is in no row of the table"]);
    assert_eq!(fence_breaks("plan/round", "use rayon::prelude::*;"), ["plan/round uses `rayon`"]);
    assert_eq!(fence_breaks("cli/sweep", "fn f() { std::fs::write(a, b); }"), ["cli/sweep uses `std::fs`"]);
    assert_eq!(fence_breaks("cli/sweep", "use std::{fs, collections};"), ["cli/sweep uses `std::fs`"]);
    assert_eq!(fence_breaks("report/csv", "use csv::Writer; use crate::report::csv::rows;"), none);
    assert_eq!(fence_breaks("cli/sweep", "use crate::report::csv; fn f() { csv::rows(); }"), none);
}
