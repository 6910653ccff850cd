//! The built-in catalog, and where names lead.

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};

use specplan::catalog::builtin;
use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Request, load};
use specplan::catalog::lookup::SearchPath;
use specplan::words::{Dtype, Kind, Word};

use crate::program::{folder, names, run, run_well};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_file_of_the_catalog_is_embedded() {
    for kind in Kind::ALL {
        let files: Vec<String> = names(&root().join(kind.as_str()))
            .iter()
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        assert_eq!(builtin::ids(*kind), files, "{kind}");
    }
}

#[test]
fn every_scenario_loads_and_every_figure_has_a_source() {
    for name in builtin::ids(Kind::Scenarios) {
        let loaded = load(&SearchPath::default(), &Request { scenario: &name, changes: &[], seed: None });
        let loaded = loaded.unwrap_or_else(|found| panic!("{name}: {found:#?}"));
        assert!(loaded.warnings.is_empty(), "{name}: {:#?}", loaded.warnings);
        for device in &loaded.scenario.hardware {
            assert!(!device.memory.source.is_empty() && !device.peaks.source.is_empty(), "{}", device.id);
        }
        let drafting = loaded.scenario.drafters.iter().filter_map(|drafter| drafter.source.model());
        for model in loaded.scenario.targets.iter().chain(drafting) {
            assert!(model.source.is_some(), "{}", model.id);
        }
    }
}

/// Every built-in device with every built-in model of known layers: all have what pricing needs.
#[test]
fn the_whole_catalog_can_be_priced() {
    let models: Vec<String> =
        builtin::ids(Kind::Models).into_iter().filter(|id| !id.starts_with("founding-")).collect();
    let changes = [
        format!("hardware={:?}", builtin::ids(Kind::Hardware)),
        format!("target={models:?}"),
        "drafters={}".to_owned(),
        "roofline=per_op".to_owned(),
    ];
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    let request = Request { scenario: "founding-study", changes: &changes, seed: None };
    let loaded = load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:#?}"));
    assert!(loaded.scenario.hardware.len() >= 9 && loaded.scenario.targets.len() >= 5);
    for device in &loaded.scenario.hardware {
        let (bf16, fp8) = (device.peak(Dtype::Bf16).unwrap(), device.peak(Dtype::Fp8));
        // Dense fp8 is twice dense bf16 wherever there is one: a sparse figure would be off by two.
        assert!(fp8.is_err() || (fp8.unwrap() / bf16 / 2.0 - 1.0).abs() < 0.05, "{}", device.id);
    }
    assert!(loaded.scenario.targets.iter().all(|model| model.source.is_some()));
}

/// Totals as published with the weights (repository metadata, safetensors totals), to the parameter.
#[test]
fn shapes_count_to_their_published_totals() {
    let published = [
        ("llama-3.1-8b", 8_030_261_248.0),
        ("llama-3.1-70b", 70_553_706_496.0),
        ("llama-3.2-1b", 1_235_814_400.0),
        ("qwen3-8b", 8_190_735_360.0),
        ("qwen3-0.6b", 596_049_920.0),
    ];
    for (id, total) in published {
        let changes = [format!("target={id}"), "drafters={}".to_owned(), "roofline=per_op".to_owned()];
        let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
        let request = Request { scenario: "founding-study", changes: &changes, seed: None };
        let loaded = load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(loaded.scenario.targets[0].total_params().to_bits(), f64::to_bits(total), "{id}");
    }
}

/// The hardest scenario and model that the format must carry are refused by name, for what is not
/// built yet and for nothing else: no key in them is unknown.
#[test]
fn the_hardest_files_are_refused_by_name_only() {
    let folder = root().join("tests/fixtures/hardest");
    let ran = run(&folder, &["sweep", "--scenario", "tree-two-drafters-two-workloads"]);
    assert_eq!(ran.code, 3);
    let codes: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("error")).collect();
    assert!(codes.len() > 10 && codes.iter().all(|line| line.starts_with("error[not-built-yet]")), "{codes:#?}");
    for named in [
        "`layers.attention.mla`",
        "`layers.ffn.moe`",
        "`drafters.mtp.mtp`",
        "`drafters.eagle-tree.shape`",
        "`workloads`",
        "`deployment`",
    ] {
        assert!(ran.stderr.contains(named), "{named} in {}", ran.stderr);
    }
}

/// A device whose bandwidth tells which file it came from.
fn device(bandwidth: &str) -> String {
    let text = builtin::text(Kind::Hardware, "founding-h100").unwrap();
    text.replace("\"3.35 TB/s\"", &format!("\"{bandwidth}\""))
}

fn base_step(folder: &Path, flags: &[&str]) -> String {
    let one = ["sweep", "--write", "none", "--format", "csv", "--set", "sweep.batch=1", "--set", "sweep.k=1"];
    let ran = run_well(folder, &[&one[..], flags].concat());
    let row = ran.stdout.lines().nth(1).unwrap().to_owned();
    let header: Vec<&str> = ran.stdout.lines().next().unwrap().split(',').collect();
    row.split(',').nth(header.iter().position(|column| *column == "base_step_s").unwrap()).unwrap().to_owned()
}

/// 15 268 435 456 bytes at 3.35, 1, 2 and 4 TB/s.
#[test]
fn a_path_comes_first_then_the_catalog_folder_then_the_working_folder_then_the_built_in_files() {
    let folder = folder();
    let at = |path: &str, bandwidth: &str| {
        let path = folder.path().join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, device(bandwidth)).unwrap();
    };
    assert_eq!(base_step(folder.path(), &[]), "0.004557741927164179");
    at("hardware/founding-h100.toml", "1 TB/s");
    assert_eq!(base_step(folder.path(), &[]), "0.015268435456");
    at("mine/hardware/founding-h100.toml", "2 TB/s");
    assert_eq!(base_step(folder.path(), &["--catalog", "mine"]), "0.007634217728");
    at("elsewhere/founding-h100.toml", "4 TB/s");
    let path = ["--catalog", "mine", "--set", "hardware=./elsewhere/founding-h100.toml"];
    assert_eq!(base_step(folder.path(), &path), "0.003817108864");
}

/// A path in a scenario starts from the scenario's folder.
#[test]
fn a_scenario_can_be_moved_with_its_files() {
    let folder = folder();
    let deep = folder.path().join("a/b");
    create_dir_all(&deep).unwrap();
    write(deep.join("gpu.toml"), device("1 TB/s")).unwrap();
    let scenario = builtin::text(Kind::Scenarios, "founding-study").unwrap();
    write(deep.join("s.toml"), scenario.replace("\"founding-h100\"", "\"./gpu.toml\"")).unwrap();
    assert_eq!(base_step(folder.path(), &["--scenario", "a/b/s.toml"]), "0.015268435456");
    write(deep.join("t.toml"), scenario.replace("\"founding-h100\"", "\".//gpu.toml\"")).unwrap();
    assert_eq!(base_step(folder.path(), &["--scenario", "./a/b/t.toml"]), "0.015268435456");
}

#[test]
fn an_id_never_reaches_outside_its_folder() {
    let folder = folder();
    for id in ["..", ".hidden", "a b", "x\u{0}y", "founding-h100\u{202e}", "", "-h100", "é"] {
        let ran = run_or_refuse(folder.path(), id);
        let codes = ["bad-id", "control-character", "empty-text"];
        assert!(codes.iter().any(|code| ran.contains(code)), "{id:?}: {ran}");
    }
}

fn run_or_refuse(folder: &Path, id: &str) -> String {
    let quoted = id.replace('\u{0}', "\\u0000");
    let ran = run(folder, &["sweep", "--write", "none", "--set", &format!("hardware=\"{quoted}\"")]);
    assert_eq!(ran.code, 2, "{id:?}");
    ran.stderr
}
