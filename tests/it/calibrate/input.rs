//! What `specplan calibrate` takes: tables, results of benchmarks, points of the scenario; and what it leaves out or refuses.

use super::*;

/// Every mistake is told, and what is left is fitted.
#[test]
fn lines_that_say_nothing_are_listed_and_the_others_fitted() {
    let table = "k,batch,context,tokens_per_pass,tpot_ms,step_s,speedup,hardware\n\
                 0,16,400,,8.2,,,\n\
                 3,16,400,2.5,4.6,,,\n\
                 3,16,400,2.5,4.6,,,\n\
                 3,16,400,2.5,7.9,,,\n\
                 3,64,400,,,,1.5,\n\
                 3,64,400,2.5,,15.0,,\n\
                 3,64,400,2.5,,,1.4,a100-sxm4-80gb\n\
                 5,64,400,3.1,,,1.3,h100_sxm5_80gb\n";
    let folder = with(table);
    let ran = run_well(folder.path(), &arguments(&[]));
    for due in [
        "points.csv line 6  a speedup without tokens_per_pass says nothing of the round: engines print it as acceptance length",
        "milliseconds under step_s",
        "points.csv line 8 hardware a100-sxm4-80gb, and the scenario has h100-sxm5-80gb",
        "the same numbers again, counted once: points.csv line 4 (points.csv line 3)",
        "points.csv line 3 and points.csv line 5 contradict each other: the same situation, 71.7 % apart",
        "Measure next: ",
    ] {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat(&ran.stdout).contains(&flat(due)), "{due}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("4 points: off by"), "{}", ran.stdout);
}

#[test]
fn what_cannot_be_fitted_says_why_and_writes_nothing() {
    for (table, code, due) in [
        ("", 3, "it is empty"),
        ("k,batch,context,speedup\n", 3, "there is no line below the header"),
        ("k,batch\n1,2\n", 3, "no column context or prompt_tokens"),
        ("k,batch,context,speedup\n3,8,400,1.5\n", 3, "without tokens_per_pass"),
        ("k,batch,context,step_s\n0,1,400,7.9\n0,4,400,8.0\n", 3, "milliseconds under step_s"),
        ("{\"a\": 1}", 3, "no result of `vllm bench serve`"),
        (
            "k,batch,context,step_ms,drafter\n3,1,400,9,medusa\n",
            3,
            "drafter \"medusa\" is none of the scenario's: eagle3",
        ),
    ] {
        let folder = with(table);
        let ran = run(folder.path(), &arguments(&[]));
        assert_eq!(ran.code, code, "{table}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(due), "{table}: {}", ran.stderr);
        assert!(!folder.path().join("mine.toml").exists());
    }
    let folder = with("k,batch,context,step_ms\n0,1,400,7.9\n");
    let ideal = run(folder.path(), &arguments(&["--engine", "ideal"]));
    assert_eq!(ideal.code, 2, "{}", ideal.stderr);
    assert!(ideal.stderr.contains("it has no constants to fit"), "{}", ideal.stderr);
    let two = run(folder.path(), &arguments(&["--set", "tensor_parallel=[1,2]"]));
    assert!(two.code == 2 && two.stderr.contains("2 values of tensor_parallel"), "{}", two.stderr);
    // A file of somebody else stays; a profile of its own is written anew.
    std::fs::write(folder.path().join("mine.toml"), "name = \"hand-made\"\n").unwrap();
    let there = run(folder.path(), &arguments(&[]));
    assert!(there.code == 2 && there.stderr.contains("there already"), "{}", there.stderr);
    std::fs::remove_file(folder.path().join("mine.toml")).unwrap();
    run_well(folder.path(), &arguments(&[]));
    run_well(folder.path(), &arguments(&[]));
}

/// Points of another deployment, a rate of one sequence, and times beyond the datasheet make no profile.
#[test]
fn points_that_no_such_deployment_can_have_make_no_profile() {
    let head = "k,batch,context,tokens_per_pass";
    for (table, due) in [
        (
            format!("{head},tpot_ms\n0,12,1024,,26\n4,12,1024,2.4,16\n4,64,1024,2.4,26\n"),
            "times as long as priced in the median",
        ),
        (format!("{head},tpot_ms\n0,12,1024,,0.89\n4,12,1024,2.4,0.56\n"), "line 2: 0.10 times as long as priced"),
        (format!("{head},tokens_per_s\n0,12,1024,,112\n4,12,1024,2.4,178\n"), "those of one of the 12 sequences"),
    ] {
        let folder = with(&table);
        let ran = run(folder.path(), &arguments(&[]));
        assert!(ran.code == 3 && ran.stderr.contains(due), "{table}: {}{}", ran.stdout, ran.stderr);
        assert!(!folder.path().join("mine.toml").exists());
    }
    // A fifth too short is a fifth too short; but no pass reads 15 GB in less than 3.35 TB/s allow.
    let folder = with(&format!("{head},tpot_ms\n0,1,1024,,5.2\n4,1,1024,2.4,3.0\n0,4,1024,,5.3\n4,4,1024,2.4,3.0\n"));
    calibrated(folder.path(), &[]);
    for row in swept(folder.path(), &["--engine", "./mine.toml"]) {
        let least = 15.0e9 / 3.35e12;
        assert!(number(&row, "base_step_s") > least && number(&row, "verify_s") > least, "{row:?}");
    }
}

/// Results of another engine's benchmark, or of another model, are left out by name; so is what has no number.
#[test]
fn benchmarks_of_other_deployments_are_left_out() {
    let run_of = |rest: &str| {
        format!(
            "{{\"completed\": 200, \"duration\": 60.0, \"total_input_tokens\": 60000, \"total_output_tokens\": 40000, \
             \"mean_tpot_ms\": 8.6, \"mean_itl_ms\": 8.6, \"max_concurrency\": 8{rest}}}"
        )
    };
    let lines = [
        run_of(""),
        run_of(", \"backend\": \"sglang\""),
        run_of(", \"model_id\": \"meta-llama/Llama-3.1-70B-Instruct\""),
        run_of(", \"model_id\": \"meta-llama/Llama-3.1-8B-Instruct\""),
        run_of("").replace("8.6", "NaN"),
    ];
    let folder = with(&lines.join("\n"));
    let found = calibrated(folder.path(), &[]);
    let refused: Vec<&str> =
        found["refused"].as_array().unwrap().iter().map(|of| of["reason"].as_str().unwrap()).collect();
    let due = [
        "backend sglang, and the scenario has vllm",
        "model meta-llama/Llama-3.1-70B-Instruct, which is another than the scenario's target",
        "mean_tpot_ms is missing, or no number",
    ];
    assert_eq!(refused, due);
    assert!(found["remarks"].to_string().contains("of a closed loop"), "{found:#}");
}

/// One point moves what it tells of, and says how little that is.
#[test]
fn one_point_is_fitted_with_a_warning() {
    let folder = with("k,batch,context,tokens_per_pass,speedup\n3,16,400,2.5,1.2\n");
    let ran = run_well(folder.path(), &arguments(&[]));
    for due in ["1 point, ", "one point cannot tell how far off others are", "with three points"] {
        assert!(ran.stdout.contains(due), "{due}: {}", ran.stdout);
    }
}

/// Results of benchmarks as they are saved, off and on.
#[test]
fn results_of_benchmarks_are_read_as_they_are() {
    let run_of = |tpot: f64, rest: &str| {
        format!(
            "{{\"completed\": 200, \"duration\": 60.0, \"total_input_tokens\": 60000, \"total_output_tokens\": 40000, \
             \"mean_tpot_ms\": {tpot}, \"mean_itl_ms\": {tpot}, \"max_concurrency\": 8{rest}}}"
        )
    };
    let folder = with("");
    std::fs::write(folder.path().join("off.json"), run_of(8.6, "")).unwrap();
    let drafts =
        ", \"spec_decode_acceptance_length\": 2.5, \"spec_decode_per_position_acceptance_rates\": [0.75, 0.45, 0.3]";
    std::fs::write(folder.path().join("on.json"), run_of(4.9, drafts)).unwrap();
    let args = [
        "calibrate",
        "--scenario",
        "./s.toml",
        "--measurements",
        "off.json",
        "on.json",
        "--profile",
        "mine.toml",
        "--format",
        "json",
    ];
    let found: Value = serde_json::from_str(&run_well(folder.path(), &[&args[..], &QUIET].concat()).stdout).unwrap();
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.iter().map(|of| of["k"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 3]);
    // 39800 tokens after the first in 60 s, 8.6 ms each: 5.7 sequences; of the second 3.25.
    assert!((points[0]["batch"].as_f64().unwrap() - 39_800.0 / 60.0 * 8.6e-3).abs() < 1e-9);
    assert!((points[1]["measured_s"].as_f64().unwrap() - 2.5 * 4.9e-3).abs() < 1e-12);
}

/// `[[measured]]` of the scenario does without files, and its mistakes have their places.
#[test]
fn points_of_the_scenario_are_fitted() {
    let folder = folder();
    let points = "\n[[measured]]\nk = 0\nbatch = 16\ncontext = 400\nstep_s = \"8.6 ms\"\n\n[[measured]]\nk = 3\nbatch = 16\ncontext = 400\n\
                  tokens_per_pass = 2.5\ntpot_s = \"4.8 ms\"\n";
    std::fs::write(folder.path().join("s.toml"), format!("{SCENARIO}{points}")).unwrap();
    let args = [&["calibrate", "--scenario", "./s.toml", "--profile", "mine.toml"], &QUIET[..]].concat();
    let ran = run_well(folder.path(), &args);
    assert!(ran.stdout.contains("2 points: off by") && ran.stdout.contains("[[measured]] 2"), "{}", ran.stdout);
    let bad = "\n[[measured]]\nk = 3\nbatch = 16\ncontext = 400\nspeedup = 1.5\n\n[[measured]]\nk = 0\nbatch = 16\ncontext = 400\n";
    std::fs::write(folder.path().join("s.toml"), format!("{SCENARIO}{bad}")).unwrap();
    let ran = run(folder.path(), &args);
    assert_eq!(ran.code, 3);
    for due in ["has a speedup without tokens_per_pass", "says no time", "s.toml:15:1", "s.toml:21:1"] {
        assert!(ran.stderr.contains(due), "{due}: {}", ran.stderr);
    }
    std::fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
    let none = run(folder.path(), &args);
    assert!(none.code == 2 && none.stderr.contains("nothing to fit to"), "{}", none.stderr);
}
