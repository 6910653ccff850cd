//! `docs/launch.md`: which published commands are read, and reports replayed from a command.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::program::{folder, run, run_well};

const REPLAYS: &str = include_str!("../../fixtures/launch/replays.jsonl");
const HEAD: &str = "# Launch commands: what is read, and reports replayed

`specplan check` reads commands as people paste them. The first table has 42 that were published: what is read of each
(`--print-scenario`), and what a verdict would still ask for. The second replays reports: the command, the acceptance and the load that
they state, and the gain that they saw; where a report prints no command, it was put together from what it says. Both are made by a test, which fails if they change.

## Commands

| command | server | target | drafter | k | a verdict asks for |
|---|---|---|---|--:|---|
";

#[test]
fn the_page_on_launch_commands_is_what_the_program_says() {
    let mut page = HEAD.to_owned();
    for row in super::published() {
        page += &command(&row);
    }
    page +=
        "\n## Reports\n\n`as launched`: the gain that the program expects at the report's load and draft length.\n\n";
    page += "| report | command | accelerators | batch | tokens per pass | they saw | as launched | verdict |\n|--:|---|---|--:|--:|--:|--:|---|\n";
    for row in REPLAYS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        page += &replay(&row);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/launch.md");
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "run with INSTA_UPDATE=always and look");
}

fn arguments<'a>(here: &Path, row: &'a Value) -> Vec<&'a str> {
    let mut all = vec!["check", "--launch", row["launch"].as_str().unwrap()];
    if let Some(options) = row["options"].as_str() {
        std::fs::write(here.join("options.yaml"), options).unwrap();
        all.extend(["--extra", "options.yaml"]);
    }
    if let Some(gpu) = row["gpu"].as_str() {
        all.extend(["--gpu", gpu]);
    }
    all
}

fn command(row: &Value) -> String {
    let folder = folder();
    let asked = arguments(folder.path(), row);
    let printed = run_well(folder.path(), &[&asked[..], &["--print-scenario", "--format", "json"]].concat());
    let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
    let launch = &printed["launch"];
    let told = |key: &str| launch[key].as_str().map_or_else(|| launch[key].to_string(), str::to_owned);
    let plain = |key: &str| told(key).replace("null", "-");
    let kind = match launch["eagle_version"].as_u64() {
        Some(version) => format!("{} {version}", plain("drafter_kind")),
        None => plain("drafter_kind"),
    };
    let verdict = run(folder.path(), &[&asked[..], &["--load", "p50=4", "--write", "none", "--quiet"]].concat());
    let errors = verdict.stderr.lines().filter(|line| line.starts_with("error"));
    let asks: Vec<&str> = errors.filter_map(|line| line.split_once("]: ")).map(|(_, what)| what).collect();
    let asks = if verdict.code == 0 { "nothing".to_owned() } else { asks.join("; ") };
    let (id, source) = (row["id"].as_str().unwrap(), row["source"].as_str().unwrap());
    let linked = if source.is_empty() { id.to_owned() } else { format!("[{id}]({source})") };
    let (server, target, k, asks) = (told("server"), plain("target_hf"), plain("k"), asks.replace('|', "\\|"));
    format!("| {linked} | {server} | {target} | {kind} | {k} | {asks} |\n")
}

fn replay(row: &Value) -> String {
    let folder = folder();
    let asked = arguments(folder.path(), row);
    let [batch, context, tokens] = ["batch", "context", "tokens_per_pass"].map(|key| row[key].to_string());
    let load = format!("p50={batch}");
    let more = ["--load", &load, "--context", &context, "--tokens-per-pass", &tokens, "--write", "none", "--quiet"];
    let shown = run_well(folder.path(), &[&asked[..], &more].concat()).stdout;
    let line = |words: &[&str]| {
        shown.lines().find(|line| words.iter().any(|word| line.contains(word))).unwrap().trim().to_owned()
    };
    let own = line(&["speedup  "]);
    let predicted: f64 = own.split_whitespace().nth(1).unwrap().trim_end_matches('x').parse().unwrap();
    let measured = row["measured"].as_f64().unwrap();
    let verdict = line(&["ENABLE", "MEASURE FIRST"]);
    // Where the program is sure, it is on the right side.
    assert!(verdict.contains("MEASURE") || (predicted > 1.0) == (measured > 1.0), "{row}: {own}");
    let short: String = row["launch"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    writeln!(
        text,
        "| [{}]({}) | `{short}` | {} | {batch} | {tokens} | {measured:.2}x | {predicted:.2}x | {verdict} |",
        row["report"].as_str().unwrap(),
        row["source"].as_str().unwrap(),
        row["gpu"].as_str().unwrap()
    )
    .unwrap();
    text
}
