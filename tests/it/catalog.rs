//! The built-in catalog, and where names lead.

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};

use specplan::catalog::builtin;
use specplan::catalog::edit::Assignment;
use specplan::catalog::load::{Entry, Request, entry, load};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::device::Device;
use specplan::domain::model::{Model, Shape};
use specplan::sweep::grid::Grid;
use specplan::words::{Dtype, Kind, Role, Status, Word};

use crate::program::{folder, names, run, run_well};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_file_of_the_catalog_is_embedded() {
    for kind in Kind::ALL {
        let mut files: Vec<String> = names(&root().join(kind.as_str()))
            .iter()
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        assert_eq!(builtin::ids(*kind), files, "{kind}");
    }
}

#[test]
fn every_scenario_loads_and_every_figure_has_a_source() {
    for name in builtin::ids(Kind::Scenarios) {
        let loaded =
            load(&SearchPath::default(), &Request { scenario: &name, changes: &[], seed: None, published: false });
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

fn entries(kind: Kind) -> Vec<Entry> {
    builtin::ids(kind).iter().map(|id| entry(&SearchPath::default(), kind, id).unwrap().0).collect()
}

fn devices() -> Vec<Device> {
    let device = |entry| if let Entry::Device(device) = entry { Some(*device) } else { None };
    entries(Kind::Hardware).into_iter().filter_map(device).collect()
}

fn models() -> Vec<Model> {
    let model = |entry| if let Entry::Model(model) = entry { Some(*model) } else { None };
    entries(Kind::Models).into_iter().filter_map(model).collect()
}

#[test]
fn every_file_reads_and_every_figure_has_a_source() {
    let models = models();
    assert!(devices().len() == 65 && models.len() >= 85 && entries(Kind::Engines).len() == 11);
    for model in &models {
        assert!(model.source.is_some(), "{}", model.id);
        assert_eq!(model.role == Role::Head, model.head_kind().is_some(), "{}", model.id);
        let known = |id: &String| models.iter().any(|other| other.id == *id);
        assert!(model.fits.iter().all(known), "{} fits {:?}", model.id, model.fits);
    }
}

/// Devices that are listed, but state too little to be priced in bf16, with what is missing.
const TOO_LITTLE: [(&str, &str); 3] = [
    ("epyc-9654", "hardware `epyc-9654` states no memory capacity"),
    ("laptop-ddr5-2ch", "hardware `laptop-ddr5-2ch` has no dense peak for bf16"),
    ("xeon-8480p", "hardware `xeon-8480p` states no memory capacity"),
];

/// Every built-in device with every built-in target of known layers, computed in bf16: all but the devices that are
/// named have what pricing needs.
#[test]
fn the_whole_catalog_can_be_priced_but_for_devices_that_state_too_little() {
    let (known, lacking): (Vec<Device>, Vec<Device>) =
        devices().into_iter().partition(|device| device.capacity().is_ok() && device.peak(Dtype::Bf16).is_ok());
    assert_eq!(lacking.iter().map(|device| device.id.as_str()).collect::<Vec<_>>(), TOO_LITTLE.map(|(id, _)| id));
    let known: Vec<String> = known.into_iter().map(|device| device.id).collect();
    let target = |model: &Model| model.role != Role::Head && matches!(model.shape, Shape::Layers(_));
    let targets: Vec<String> = models().into_iter().filter(target).map(|model| model.id).collect();
    let changes = [
        format!("hardware={known:?}"),
        format!("target={targets:?}"),
        "drafters={}".to_owned(),
        "roofline=per_op".to_owned(),
        "quantization.activations=bf16".to_owned(),
    ];
    let changes: Vec<Assignment> = changes.iter().map(|change| Assignment::parse(change).unwrap()).collect();
    let request = Request { scenario: "founding-study", changes: &changes, seed: None, published: false };
    let loaded = load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:#?}"));
    let grid = Grid::new(&loaded.scenario, u64::MAX).unwrap();
    assert_eq!(grid.blocks.len(), known.len() * targets.len());
}

/// What is installed decides: nothing is assumed, and a copy of the file that says it is priced.
#[test]
fn devices_that_state_too_little_are_refused_by_name_until_a_copy_says_more() {
    let folder = folder();
    let sweep = |hardware: &str| {
        let hardware = format!("hardware={hardware}");
        run(folder.path(), &["sweep", "--write", "none", "--set", &hardware, "--set", "memory.utilization=0.5"])
    };
    for (id, reason) in TOO_LITTLE {
        let ran = sweep(id);
        assert!(ran.code == 3 && ran.stdout.is_empty(), "{id}: {}", ran.stderr);
        assert!(ran.stderr.contains(reason) && ran.stderr.contains("missing-figure"), "{id}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("| --set hardware={id}\n")), "{id}: {}", ran.stderr);
        let text = builtin::text(Kind::Hardware, id).unwrap();
        let installed = text.replace("\nbandwidth", "\ncapacity = \"64 GiB\"\nbandwidth");
        let peak = if text.contains("\nbf16") { "" } else { "\nbf16 = \"fp32\"" };
        let stated = installed.replace("\nfp32", &format!("{peak}\nfp32"));
        write(folder.path().join("mine.toml"), stated).unwrap();
        let ran = sweep("./mine.toml");
        assert_eq!(ran.code, 0, "{id}: {}", ran.stderr);
        assert!(ran.stdout.contains("does not fit in the usable 34.36 GB of 68.72 GB"), "{id}: {}", ran.stdout);
    }
}

/// A device without a 16-bit peak computes in a format that it has, and then it is the memory that is missing.
#[test]
fn a_missing_capacity_is_a_reason_of_its_own() {
    let folder = folder();
    let fp32 = ["--set", "quantization.activations=fp32", "--set", "roofline=per_op", "--set", "target=llama-3.1-8b"];
    let one = ["sweep", "--write", "none", "--set", "hardware=laptop-ddr5-2ch", "--set", "drafters={}"];
    let ran = run(folder.path(), &[&one[..], &fp32].concat());
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("`laptop-ddr5-2ch` states no memory capacity"), "{}", ran.stderr);
    assert!(ran.stderr.contains("state what is installed under [memory]"), "{}", ran.stderr);
}

/// Its [link] is PCIe to the host, and joins nothing.
#[test]
fn cards_that_only_meet_over_pcie_make_no_replica() {
    let folder = folder();
    let two = ["--set", "hardware=arc-pro-b60", "--set", "tensor_parallel=2"];
    let ran = run(folder.path(), &[&["sweep", "--write", "none"], &two[..]].concat());
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("the link of hardware `arc-pro-b60` joins 1 device, not 2"), "{}", ran.stderr);
}

#[test]
fn what_a_device_does_not_state_is_shown_as_such() {
    let folder = folder();
    let json = |arguments: &[&str]| -> serde_json::Value {
        let ran = run_well(folder.path(), &[&["catalog"], arguments, &["--format", "json"]].concat());
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let list = run_well(folder.path(), &["catalog", "list", "hardware"]).stdout;
    let line = list.lines().find(|line| line.trim_start().starts_with("laptop-ddr5-2ch")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>()[1..6], ["-", "89.6", "GB/s", "-", "-"]);
    let listed = json(&["list", "hardware"]);
    let laptop = listed["hardware"].as_array().unwrap().iter().find(|line| line["id"] == "laptop-ddr5-2ch").unwrap();
    assert!(laptop["memory_bytes"].is_null() && laptop["bf16_flop_per_s"].is_null(), "{laptop}");
    assert_eq!(laptop["bandwidth_bytes_per_s"], 89_600_000_000_u64);
    let shown = run_well(folder.path(), &["catalog", "show", "epyc-9654"]).stdout;
    assert!(shown.contains("not stated: what is installed decides") && shown.contains("peak bf16"), "{shown}");
    assert!(shown.contains("note            How much memory there is depends on what is installed."), "{shown}");
    let shown = json(&["show", "epyc-9654"]);
    assert!(shown[0]["entry"]["memory"]["capacity_bytes"].is_null(), "{shown}");
    assert!(shown[0]["entry"]["note"].as_str().unwrap().contains("installed"), "{shown}");
}

/// The constants of an engine are those it states over those of the file it builds on, ranges included.
#[test]
fn engines_build_on_each_other() {
    let (Entry::Engine(engine), _) = entry(&SearchPath::default(), Kind::Engines, "sglang-host-bound").unwrap() else {
        panic!("an engine")
    };
    let additive = engine.additive().unwrap();
    assert_eq!((additive.round.value.get(), additive.sequence.value.get()), (0.007, 0.000_25));
    assert_eq!(additive.status, Status::Assumed);
    assert!(additive.errors.is_empty(), "what a fit reached does not pass on");
    let hopper = additive.efficiencies("hopper").unwrap();
    assert_eq!((hopper.compute.value.get(), hopper.bandwidth.value.get()), (0.72, 0.9));
    assert_eq!(hopper.product.range.map(|(low, high)| (low.get(), high.get())), Some((3.8e-6, 4.3e-6)));
}

/// Hardware that no efficiencies are known for is refused by name with a fitted engine, and priced with
/// the user's own figures.
#[test]
fn unknown_families_are_refused_until_efficiencies_are_given() {
    let folder = folder();
    let study = |engine: &str| {
        write(
            folder.path().join("amd.toml"),
            format!("title = \"AMD\"\nhardware = \"mi300x\"\ntarget = \"llama-3.1-8b\"\nengine = \"{engine}\"\n"),
        )
        .unwrap();
        run(folder.path(), &["sweep", "--scenario", "./amd.toml", "--write", "none"])
    };
    let refused = study("vllm");
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("no efficiencies for hardware `mi300x` (no family)"), "{}", refused.stderr);
    assert!(refused.stderr.contains("amd.toml:4:10"), "{}", refused.stderr);
    let hardware = builtin::text(Kind::Hardware, "mi300x").unwrap();
    write(folder.path().join("mi300x-cdna3.toml"), format!("family = \"cdna3\"\n{hardware}")).unwrap();
    let figure = |value: &str| format!("{{ value = {value}, origin = \"measured here\" }}");
    let own = format!(
        "name = \"vLLM on ROCm\"\nform = \"additive\"\nextends = \"vllm\"\nstatus = \"assumed\"\n[constants]\n\
         [family.cdna3]\neta_bandwidth = {}\neta_compute = {}\nt_product = {}\nt_attention = {}\n",
        figure("0.8"),
        figure("0.5"),
        figure("\"6 us\""),
        figure("\"20 us\"")
    );
    write(folder.path().join("rocm.toml"), own).unwrap();
    let ran = run(
        folder.path(),
        &[
            "sweep",
            "--scenario",
            "./amd.toml",
            "--write",
            "none",
            "--set",
            "hardware=./mi300x-cdna3.toml",
            "--engine",
            "./rocm.toml",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains(
            "engine rocm: assumed, not fitted; no measured speedup on hardware such as mi300x-cdna3 tests it"
        ),
        "{}",
        ran.stdout
    );
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
        let request = Request { scenario: "founding-study", changes: &changes, seed: None, published: false };
        let loaded = load(&SearchPath::default(), &request).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(loaded.scenario.targets[0].total_params().to_bits(), f64::to_bits(total), "{id}");
    }
}

/// The hardest scenario and model that the format must carry are priced, and put under load.
#[test]
fn the_hardest_files_are_priced() {
    let folder = root().join("tests/fixtures/hardest");
    let scenario = ["--scenario", "tree-two-drafters-two-workloads", "--write", "none", "--quiet"];
    let swept = run_well(&folder, &[&["sweep"], &scenario[..]].concat());
    assert!(swept.stdout.contains("x"), "{}", swept.stdout);
    let load = ["--set", "traffic={rate=0.5,requests=60}", "--format", "json"];
    let served = run_well(&folder, &[&["traffic"], &scenario[..], &load].concat());
    let document: serde_json::Value = serde_json::from_str(&served.stdout).unwrap();
    let kinds = document["manifest"]["scenario"]["traffic"]["kinds"].as_array().unwrap();
    assert_eq!(kinds.iter().map(|kind| kind["label"].as_str().unwrap()).collect::<Vec<_>>(), ["chat", "code"]);
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() > 3 && rows.iter().all(|row| row["tpot_mean_s"].as_f64().unwrap() > 0.0), "{rows:?}");
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

/// Parameters as published to the last one (of safetensors files or, of text models within larger ones, by their
/// config.json), KV values of a token.
#[test]
fn counts_of_every_architecture_are_those_that_are_published() {
    for (id, params, kv) in [
        ("llama-3.1-8b", 8_030_261_248_u64, 65_536),
        ("llama-3.1-70b", 70_553_706_496, 163_840),
        ("deepseek-v2-lite", 15_706_484_224, 15_552),
        ("deepseek-v2", 235_741_434_880, 34_560),
        ("deepseek-v3", 671_026_419_200, 35_136),
        ("qwen3-next-80b-a3b", 79_674_391_296, 12_288),
        ("qwen3.5-27b", 26_895_998_464, 32_768),
        ("qwen3.5-397b-a17b", 396_346_350_336, 15_360),
        ("llama-3.3-nemotron-super-49b", 49_867_145_216, 100_352),
    ] {
        let (Entry::Model(model), _) = entry(&SearchPath::default(), Kind::Models, id).unwrap() else {
            panic!("a model")
        };
        let kept: f64 = model.kv_shares().iter().map(|share| share.bytes_per_token.get()).sum();
        assert_eq!((model.total_params(), kept), (params as f64, 2.0 * f64::from(kv)), "{id}");
    }
}
