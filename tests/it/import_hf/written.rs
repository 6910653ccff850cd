//! The file of an imported model reads back to the same model, and can be priced.

use std::fs::write;

use specplan::catalog::load::{Entry, entry};
use specplan::catalog::lookup::SearchPath;
use specplan::domain::model::{Model, Shape};
use specplan::report::imported::file;
use specplan::words::Kind;

use super::{all, configs, import, imported};
use crate::program::{folder, run, run_well};

/// Everything that is counted or priced of a model.
fn figures(model: &Model) -> (String, Vec<u64>) {
    let Shape::Layers(layers) = &model.shape else { return (String::new(), Vec::new()) };
    let groups = format!("{:?} {:?} {:?} {:?}", layers.groups(), layers.head(), layers.extras(), model.fits);
    let numbers = [
        model.total_params(),
        model.matmul_params(),
        layers.active_total(),
        model.weight_bytes_held().get(),
        model.kv_bytes_per_token().get(),
        model.state_bytes_per_sequence().get(),
    ];
    (format!("{groups} {:?}", model.formats), numbers.map(f64::to_bits).to_vec())
}

#[test]
fn a_written_file_reads_back_to_the_same_model() {
    let folder = folder();
    for name in all() {
        let Ok(imported) = import(&name) else { continue };
        let path = folder.path().join(format!("{name}.toml"));
        write(&path, file(&imported).unwrap()).unwrap();
        let read = entry(&SearchPath::default(), Kind::Models, path.to_str().unwrap());
        let (Entry::Model(model), _) = read.unwrap_or_else(|found| panic!("{name}: {found:#?}")) else { panic!() };
        assert_eq!(figures(&model), figures(&imported.model), "{name}");
    }
}

/// Every target that is imported is priced at one point; weights in four bits need no peak of their own.
#[test]
fn imported_targets_can_be_priced() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("models")).unwrap();
    for name in all().into_iter().filter(|name| !name.starts_with("head-")) {
        let Ok(imported) = import(&name) else { continue };
        write(folder.path().join(format!("models/{name}.toml")), file(&imported).unwrap()).unwrap();
        let target = format!("target={name}");
        let sets =
            [target.as_str(), "hardware=b200-sxm", "drafters={}", "roofline=per_op", "sweep.batch=4", "sweep.k=0"];
        let mut arguments = vec!["sweep", "--write", "none", "--format", "csv", "--quiet"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        let ran = run_well(folder.path(), &arguments);
        assert_eq!(ran.stdout.lines().count(), 2, "{name}");
    }
}

#[test]
fn a_file_is_written_once_and_the_report_says_what_is_in_it() {
    let folder = folder();
    let config = configs().join("qwen3-30b-a3b.json");
    let arguments = ["import", "hf", config.to_str().unwrap(), "--name", "my-moe", "--out", "models"];
    let ran = run_well(folder.path(), &arguments);
    assert!(ran.stdout.contains("parameters  30,532,122,624"), "{}", ran.stdout);
    assert!(ran.stdout.contains("num_experts = 128 (experts)"), "{}", ran.stdout);
    assert!(ran.stderr.contains("wrote models/my-moe.toml"), "{}", ran.stderr);
    let again = run(folder.path(), &arguments);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("there already"), "{}", again.stderr);
    let shown = run_well(folder.path(), &["catalog", "show", "my-moe"]).stdout;
    assert!(shown.contains("30,532,122,624") && shown.contains("3,353,032,704"), "{shown}");
}

/// Without a folder the file goes to standard output and the report to standard error.
#[test]
fn a_file_can_be_piped() {
    let folder = folder();
    let config = configs().join("llama-3.1-8b.json");
    let ran = run_well(folder.path(), &["import", "hf", config.to_str().unwrap()]);
    assert_eq!(ran.stdout, {
        let mut model = imported("llama-3.1-8b");
        model.model.source = Some(format!("{}, read by specplan import hf", config.display()));
        file(&model).unwrap()
    });
    assert!(ran.stderr.contains("parameters  8,030,261,248"), "{}", ran.stderr);
    let json = run_well(folder.path(), &["import", "hf", config.to_str().unwrap(), "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["toml"].as_str().unwrap(), ran.stdout);
    assert_eq!((value["id"].as_str(), json.stderr.as_str()), (Some("llama-3.1-8b"), ""));
}

/// A head says which target it is for, so that a study refuses another.
#[test]
fn a_head_fits_the_target_that_is_named() {
    let folder = folder();
    let config = configs().join("head-eagle3-llama3-8b.json");
    let path = config.to_str().unwrap();
    run_well(folder.path(), &["import", "hf", path, "--name", "mine", "--out", "models", "--target", "llama-3.1-8b"]);
    let study = |target: &str| {
        let set = [format!("target={target}"), "drafters={d={eagle={version=3,id=\"mine\"}}}".to_owned()];
        let mut arguments = vec!["sweep", "--write", "none", "--set", "roofline=per_op"];
        set.iter().for_each(|set| arguments.extend(["--set", set.as_str()]));
        arguments.extend(["--set", "hardware=h100-sxm5-80gb", "--set", "acceptance.iid.alpha=0.7"]);
        run(folder.path(), &arguments)
    };
    assert_eq!(study("llama-3.1-8b").code, 0, "{}", study("llama-3.1-8b").stderr);
    assert_eq!(study("qwen3-8b").code, 3);
    let larger = ["import", "hf", path, "--name", "other", "--target", "llama-3.1-70b"];
    let refused = run(folder.path(), &larger);
    assert!(refused.code == 3 && refused.stderr.contains("4096"), "{}", refused.stderr);
    // Nothing says what this one is for; its width does. Llama-3.1-70B has the vocabulary, and 8192.
    std::fs::remove_file(folder.path().join("models/mine.toml")).unwrap();
    run_well(folder.path(), &["import", "hf", path, "--name", "mine", "--out", "models"]);
    assert_eq!(study("llama-3.1-8b").code, 0, "{}", study("llama-3.1-8b").stderr);
    let wider = study("llama-3.1-70b");
    assert!(wider.code == 3 && wider.stderr.contains("width 4096, and `llama-3.1-70b` has 8192"), "{}", wider.stderr);
    let without =
        run(folder.path(), &["import", "hf", configs().join("head-medusa-vicuna-7b-v1.3.json").to_str().unwrap()]);
    assert_eq!(without.code, 3);
    assert!(without.stderr.contains("--target vicuna-7b-v1.3"), "{}", without.stderr);
}

/// The id of a model that no --name names, and what is told of it.
#[test]
fn ids_come_from_where_a_file_lies() {
    let folder = folder();
    let text = super::text("llama-3.1-8b");
    let id = |path: &str| {
        let whole = folder.path().join(path);
        std::fs::create_dir_all(whole.parent().unwrap()).unwrap();
        write(&whole, &text).unwrap();
        let ran = run_well(folder.path(), &["import", "hf", path, "--format", "json"]);
        let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        (value["id"].as_str().unwrap().to_owned(), value["warnings"].to_string())
    };
    assert_eq!(
        id("hub/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0e9e39f/config.json").0,
        "llama-3.1-8b-instruct"
    );
    assert_eq!(id("My-Model/config.json").0, "my-model");
    assert_eq!(id("my-other.json").0, "my-other");
    let unnamed = id("Llama (copy)/config.json");
    assert!(unnamed.0 == "imported" && unnamed.1.contains("--name gives it an id"), "{unnamed:?}");
    assert!(id("llama-3.1-8b.json").1.contains("llama-3.1-8b is built in"), "{:?}", id("llama-3.1-8b.json"));
    // How a study names a head is told as it is written there.
    let head = configs().join("head-eagle3-llama3-8b.json");
    let ran = run_well(folder.path(), &["import", "hf", head.to_str().unwrap(), "--name", "mine", "--out", "models"]);
    let named = "drafters = { mine = { eagle = { version = 3, id = \"mine\" } } }";
    assert!(ran.stderr.contains(named), "{}", ran.stderr);
    let set = named.replacen(" = ", "=", 1);
    let sets = ["hardware=h100-sxm5-80gb", "target=llama-3.1-8b", "roofline=per_op", "acceptance.iid.alpha=0.7", &set];
    let mut arguments = vec!["sweep", "--write", "none"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    run_well(folder.path(), &arguments);
}
