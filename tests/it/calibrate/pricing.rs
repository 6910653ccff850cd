//! What a calibration says of its points is what the profile prices them at, and makes plans no less sure.

use serde_json::Value;

use crate::program::run_well;
use crate::verify_cost::TABLE as VERIFY_COST;

use super::{QUIET, SCENARIO, calibrated, is, number, swept, with};

const POINTS: &str =
    "k,batch,context,tokens_per_pass,step_ms\n0,4,400,,9.6\n3,4,400,2.5,12.4\n0,16,400,,10.2\n3,16,400,2.5,18.3\n";

/// A second method: a calibration that begins with the profile finds each point off before by what the first one left.
fn goes_on(scenario: &str, points: &str) -> Value {
    let folder = with(points);
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let first = calibrated(folder.path(), &[]);
    let again = ["--profile", "again.toml", "--engine", "./mine.toml", "--format", "json"];
    let args = ["calibrate", "--scenario", "./s.toml", "--measurements", "points.csv"];
    let ran = run_well(folder.path(), &[&args[..], &again, &QUIET].concat());
    let second: Value = serde_json::from_str(&ran.stdout).unwrap();
    let all = |found: &Value| found["points"].as_array().unwrap().clone();
    let off = |point: &Value, key: &str| point[key].as_f64().unwrap();
    for (one, next) in all(&first).iter().zip(&all(&second)) {
        let (after, before) = (off(one, "error_after"), off(next, "error_before"));
        assert!((after - before).abs() < 1e-9, "{one}: {after}, {before}");
    }
    first
}

/// Whether a constant stayed where it was.
fn stayed(found: &Value, name: &str) -> bool {
    let of = found["constants"].as_array().unwrap().iter().find(|of| of["name"] == name).unwrap();
    (of["before"].as_f64().unwrap() - of["after"].as_f64().unwrap()).abs() < 1e-12
}

/// A verification as it was measured has no pace and no step of its own; only drafts and rounds are left to fit.
#[test]
fn measured_verifications_are_not_fitted_again() {
    let found = goes_on(&format!("{SCENARIO}{VERIFY_COST}"), POINTS);
    assert!(stayed(&found, "t_step") && stayed(&found, "plain_pace"), "{}", found["constants"]);
    assert!(!stayed(&found, "t_round"), "{}", found["constants"]);
}

/// Drafts on devices of their own that verification hides cost nothing, and points tell nothing of them.
#[test]
fn hidden_drafts_are_not_fitted() {
    let found = goes_on(
        &SCENARIO.replace("eagle = { version = 3 }", "model = { id = \"llama-3.2-1b\" }\noverlap = true"),
        POINTS,
    );
    assert!(stayed(&found, "t_draft"), "{}", found["constants"]);
    assert!(!stayed(&found, "t_step"), "{}", found["constants"]);
}

/// A term that is left out of every price stays.
#[test]
fn terms_that_are_left_out_are_not_fitted() {
    let found = goes_on(&format!("without = [\"step\", \"draft\"]\n{SCENARIO}"), POINTS);
    assert!(stayed(&found, "t_step") && stayed(&found, "t_draft"), "{}", found["constants"]);
}

/// One point that lies where it was priced makes nobody less sure.
#[test]
fn a_point_that_agrees_widens_no_interval() {
    let folder = with("");
    let plan = |engine: &str| -> Value {
        let args = ["plan", "--scenario", "./s.toml", "--engine", engine, "--load", "p50=4,p95=64", "--format", "json"];
        serde_json::from_str(&run_well(folder.path(), &[&args[..], &QUIET].concat()).stdout).unwrap()
    };
    let rows = swept(folder.path(), &[]);
    let is_it = |row: &&Vec<(String, String)>| is(row, "batch", 4.0) && is(row, "k", 3.0) && is(row, "context", 400.0);
    let row = rows.iter().find(is_it).unwrap();
    let (speedup, tokens) = (number(row, "speedup"), number(row, "tokens_per_pass"));
    let table = format!("k,batch,context,tokens_per_pass,speedup\n3,4,400,{tokens},{speedup}\n");
    std::fs::write(folder.path().join("points.csv"), table).unwrap();
    calibrated(folder.path(), &[]);
    let widths = |plan: &Value| -> Vec<f64> {
        let found = intervals(plan);
        assert!(!found.is_empty());
        found.iter().map(|(low, high)| high / low).collect()
    };
    for (before, after) in widths(&plan("vllm")).iter().zip(&widths(&plan("./mine.toml"))) {
        assert!(*after < 1.01 * before, "{before}, {after}");
    }
}

/// Every interval of a document, in order.
fn intervals(of: &Value) -> Vec<(f64, f64)> {
    match of {
        Value::Object(entries) => {
            let own = entries.get("low").and_then(Value::as_f64).zip(entries.get("high").and_then(Value::as_f64));
            let inner = entries.values().flat_map(intervals);
            own.into_iter().chain(inner).collect()
        }
        Value::Array(values) => values.iter().flat_map(intervals).collect(),
        _ => Vec::new(),
    }
}

/// On more devices, in other formats or priced in another way it is another deployment, and outputs say so.
#[test]
fn a_profile_holds_for_its_own_deployment_only() {
    let folder = with(POINTS);
    calibrated(folder.path(), &[]);
    let notes = |more: &[&str]| {
        let ran = run_well(
            folder.path(),
            &[&["sweep", "--scenario", "./s.toml", "--engine", "./mine.toml"], &QUIET[..], more].concat(),
        );
        (
            ran.stdout.contains("calibrated on another deployment"),
            ran.stdout.contains("calibrated on 4 points of this deployment"),
        )
    };
    assert_eq!(notes(&[]), (false, true));
    for change in ["tensor_parallel=2", "quantization.weights=fp8", "quantization.kv=fp8", "without=[\"step\"]"] {
        assert_eq!(notes(&["--set", change]), (true, false), "{change}");
        let rows = swept(folder.path(), &["--engine", "./mine.toml", "--set", change]);
        let is_marked = |row: &Vec<(String, String)>| {
            row.iter().any(|(name, cell)| name == "notes" && cell.contains("unvalidated"))
        };
        assert!(rows.iter().all(is_marked), "{change}");
    }
    // Of what it was fitted beside a table of verifications, without that table.
    std::fs::write(folder.path().join("s.toml"), format!("{SCENARIO}{VERIFY_COST}")).unwrap();
    assert_eq!(notes(&[]), (true, false));
}

/// Of points that [verify_cost] prices no constant is told, and where both differ both are named.
#[test]
fn points_that_contradict_measured_verifications_are_told() {
    let folder = with("k,batch,context,step_ms\n0,1,400,11\n0,16,400,12.1\n0,4,400,11.2\n");
    std::fs::write(folder.path().join("s.toml"), format!("{SCENARIO}{VERIFY_COST}")).unwrap();
    let args = ["calibrate", "--scenario", "./s.toml", "--measurements", "points.csv", "--profile", "mine.toml"];
    let ran = run_well(folder.path(), &[&args[..], &QUIET].concat());
    assert!(ran.stdout.contains("table and points contradict each other"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("outlier"), "{}", ran.stdout);
}

/// Plain steps say nothing of speedups: those stay as sure as before.
#[test]
fn plain_steps_alone_promise_nothing_of_speedups() {
    let folder = with("k,batch,context,step_ms\n0,4,400,8.1\n0,16,400,8.4\n0,64,400,9.6\n");
    calibrated(folder.path(), &[]);
    let ran = run_well(
        folder.path(),
        &[&["sweep", "--scenario", "./s.toml", "--engine", "./mine.toml"], &QUIET[..]].concat(),
    );
    assert!(ran.stdout.contains("5.4 % off in the median, 11.3 % at the 90th percentile"), "{}", ran.stdout);
    let plan = |engine: &str| -> Value {
        let args = ["plan", "--scenario", "./s.toml", "--engine", engine, "--load", "p50=4,p95=64", "--format", "json"];
        serde_json::from_str(&run_well(folder.path(), &[&args[..], &QUIET].concat()).stdout).unwrap()
    };
    let (before, after) = (intervals(&plan("vllm")), intervals(&plan("./mine.toml")));
    assert!(!before.is_empty() && before.len() == after.len());
    for ((low, high), (own_low, own_high)) in before.iter().zip(&after) {
        assert!(own_high / own_low < 1.05 * high / low, "{low} to {high}, {own_low} to {own_high}");
    }
}
