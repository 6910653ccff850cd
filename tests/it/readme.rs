//! What the README shows is true.

use std::fs::write;
use std::path::Path;

use crate::program::{folder, run, run_well};

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

/// The blocks of a language, without their fences.
fn blocks<'a>(readme: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    readme.split(fence.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The text block that starts so.
fn block_of<'a>(readme: &'a str, start: &str) -> &'a str {
    blocks(readme, "text").into_iter().find(|block| block.starts_with(start)).unwrap()
}

#[test]
fn its_files_work_together() {
    let folder = folder();
    for block in blocks(&readme(), "toml") {
        let name = block.trim_start_matches("# ").split([';', '\n']).next().unwrap();
        write(folder.path().join(name), block).unwrap();
    }
    let ran = run_well(folder.path(), &["sweep", "--scenario", "./mine.toml", "--out", "results"]);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let own = ["--set", "hardware=./my-gpu.toml", "--set", "target=./my-model.toml"];
    let ran = run_well(folder.path(), &[&["sweep", "--scenario", "./mine.toml", "--write", "none"], &own[..]].concat());
    assert!(ran.stdout.contains("my-gpu, target my-model"), "{}", ran.stdout);
}

#[test]
fn its_table_is_what_the_first_command_prints() {
    let folder = folder();
    let ran = run_well(folder.path(), &["sweep", "--write", "none"]);
    let readme = readme();
    assert_eq!(blocks(&readme, "text")[0], ran.stdout);
}

/// The verdict and its first table, and the commands that emit schedules.
#[test]
fn its_verdict_is_what_the_command_prints() {
    let folder = folder();
    let readme = readme();
    let all = ["plan", "--scenario", "llama-8b-drafters", "--load", "p50=12,p95=64", "--write", "none"];
    let printed = run_well(folder.path(), &all).stdout;
    assert!(printed.starts_with(block_of(&readme, "Four drafters").trim_end()), "{printed}");
    for form in ["vllm", "sglang", "trtllm", "json"] {
        assert!(readme.contains(&format!("--emit {form}")), "{form}");
    }
}

#[test]
fn its_list_is_what_the_command_prints() {
    let folder = folder();
    let readme = readme();
    let ran = run_well(folder.path(), &["catalog", "list", "--role", "drafter", "--fits", "2.5GB"]);
    assert_eq!(block_of(&readme, "models whose weights"), ran.stdout);
    for line in readme.lines().filter_map(|line| line.strip_prefix("specplan catalog list ")) {
        let line = line.split(['#', '>']).next().unwrap();
        run_well(folder.path(), &[&["catalog", "list"], &line.split_whitespace().collect::<Vec<_>>()[..]].concat());
    }
}

/// The report of an import starts so, and every flag that is shown is one.
#[test]
fn its_import_is_what_the_command_prints() {
    let folder = folder();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs/qwen3-next-80b-a3b.json");
    let arguments = ["import", "hf", config.to_str().unwrap(), "--name", "qwen3-next", "--out", "models"];
    let ran = run_well(folder.path(), &arguments);
    let readme = readme();
    let shown = block_of(&readme, "model       qwen3-next");
    assert!(ran.stdout.starts_with(shown), "{}", ran.stdout);
}

#[test]
fn its_error_is_what_the_mistake_gives() {
    let folder = folder();
    let readme = readme();
    let block =
        blocks(&readme, "toml").into_iter().find(|block| block.starts_with("# my-gpu.toml")).unwrap().to_owned();
    write(folder.path().join("my-gpu.toml"), block.replace("\"3.35 TB/s\"", "\"3.35 TB\"")).unwrap();
    let ran = run(folder.path(), &["sweep", "--set", "hardware=./my-gpu.toml"]);
    assert_eq!(block_of(&readme, "error[wrong-unit]").trim_end(), ran.stderr.trim_end());
}

#[test]
fn its_simulation_is_what_the_command_prints() {
    let folder = folder();
    let ran = run_well(folder.path(), &["simulate", "--write", "none"]);
    let readme = readme();
    let block = block_of(&readme, "Tokens per pass");
    assert!(ran.stdout.contains(block), "{}", ran.stdout);
}

/// How far to trust it is what `validate` says.
#[test]
fn its_errors_are_those_of_the_built_in_measurements() {
    let folder = folder();
    let ran = run_well(folder.path(), &["validate", "--write", "none"]);
    let readme = readme();
    let block = block_of(&readme, "By class");
    assert!(ran.stdout.contains(block), "{}", ran.stdout);
    let founding =
        run_well(folder.path(), &["validate", "--write", "none", "--engine", "ideal", "--set", "roofline=aggregate"]);
    assert!(founding.stdout.contains("median error 21.9 %") && readme.contains("is 22 % off in the median"));
}

/// The points of its example, and what is fitted to them.
#[test]
fn its_answer_on_traffic_is_what_the_command_prints() {
    let (readme, folder) = (readme(), folder());
    let all = ["traffic", "--scenario", "llama-8b-traffic", "--write", "none", "--quiet"];
    let told = run_well(folder.path(), &all).stdout;
    assert!(told.contains(block_of(&readme, "k=3 of eagle3 takes the most")), "{told}");
}

#[test]
fn its_calibration_is_what_the_command_prints() {
    let folder = folder();
    let readme = readme();
    write(folder.path().join("points.csv"), blocks(&readme, "csv")[0]).unwrap();
    let calibrate =
        ["calibrate", "--scenario", "llama-8b-drafters", "--measurements", "points.csv", "--profile", "mine.toml"];
    let ran = run_well(folder.path(), &[&calibrate[..], &["--load", "p50=12,p95=64", "--write", "none"]].concat());
    let block = block_of(&readme, "Constants");
    assert!(ran.stdout.contains(block.trim_end()), "{}", ran.stdout);
    let plan = ["plan", "--scenario", "llama-8b-drafters", "--engine", "./mine.toml", "--load", "p50=12,p95=64"];
    run_well(folder.path(), &[&plan[..], &["--write", "none"]].concat());
}

#[test]
fn its_engine_prices() {
    let folder = folder();
    let readme = readme();
    let engine = blocks(&readme, "toml").into_iter().find(|block| block.starts_with("# my-engine.toml")).unwrap();
    write(folder.path().join("my-engine.toml"), engine).unwrap();
    let flags = ["sweep", "--scenario", "llama-8b-drafters", "--write", "none", "--engine", "./my-engine.toml"];
    let ran = run_well(folder.path(), &flags);
    assert!(ran.stdout.contains("engine my-engine: assumed, not fitted"), "{}", ran.stdout);
}

/// Every scenario that it names is there.
#[test]
fn its_scenarios_run() {
    let folder = folder();
    let readme = readme();
    let lines = readme.lines().filter_map(|line| line.strip_prefix("specplan sweep --scenario "));
    let names: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        run_well(folder.path(), &["sweep", "--scenario", name, "--write", "none", "--quiet"]);
    }
}

/// The rows of its table of trees, and the figures it takes from the page on acceptance.
#[test]
fn its_trees_and_its_figures_on_acceptance_are_what_comes_out() {
    let folder = folder();
    let readme = readme();
    let ran = run_well(folder.path(), &["tree", "--scenario", "llama-8b-tree", "--write", "none"]);
    let block = block_of(&readme, " batch  nodes  depth");
    assert!(block.lines().count() > 4 && block.lines().all(|line| ran.stdout.contains(line)), "{}", ran.stdout);
    let page = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/acceptance.md")).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("| 35 % | 3 % | 3 % | 3 % | 5 % | 5 % | 6 % | 7 % |"), "{page}");
    assert!(readme.contains("is 35 % off at k = 8, models fitted to k = 1 to 4 are 5 to 7 % off"));
}

#[test]
fn its_reading_of_counters_is_what_comes_out() {
    let folder = folder();
    let readme = readme();
    let scrape = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engines/vllm-v1.prom");
    let ran = run_well(folder.path(), &["acceptance", scrape.to_str().unwrap()]);
    let block = block_of(&readme, "vLLM counters");
    assert!(block.lines().count() > 10 && block.lines().all(|line| ran.stdout.contains(line)), "{}", ran.stdout);
}

#[test]
fn its_acceptance_by_context_and_workload_can_be_read() {
    let folder = folder();
    let readme = readme();
    let block = blocks(&readme, "toml").into_iter().find(|block| block.starts_with("acceptance.mean_length")).unwrap();
    let text = format!(
        "title = \"Mine\"\nhardware = \"h100-sxm5-80gb\"\ntarget = \"llama-3.1-8b\"\nengine = \"vllm\"\n[drafters.head]\n\
         eagle = {{ version = 3 }}\n{block}[workloads.chat]\nshare = 0.7\noutput = 300\n[workloads.code]\nshare = 0.3\noutput = 900\n"
    );
    write(folder.path().join("s.toml"), text).unwrap();
    let ran = run_well(folder.path(), &["sweep", "--scenario", "./s.toml", "--write", "none"]);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}
