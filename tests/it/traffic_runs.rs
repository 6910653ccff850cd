//! `specplan traffic` as a user runs it.

use serde_json::Value;

use crate::program::{folder, run, run_well};

const BASE: [&str; 5] = ["traffic", "--scenario", "llama-8b-drafters", "--quiet", "--write"];

fn with(more: &[&str]) -> Vec<String> {
    BASE.iter().copied().chain(["none"]).chain(more.iter().copied()).map(str::to_owned).collect()
}

fn ran(more: &[&str]) -> crate::program::Ran {
    let folder = folder();
    let args = with(more);
    run(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn threads_do_not_matter() {
    let study =
        ["--set", "traffic={rate=[4,12],requests=300,policies=[\"off\",\"k=3\",\"greedy\"]}", "--format", "csv"];
    let of = |threads: &str| ran(&[&study[..], &["--threads", threads]].concat()).stdout;
    let one = of("1");
    assert_eq!(one.lines().count(), 1 + 2 + 4 * 2 * 2);
    assert_eq!(one, of("3"));
}

/// Under light load a request has the service for itself: its tokens come as fast as `explain` prices them.
#[test]
fn light_load_is_what_plan_prices() {
    let study = "traffic={rate=0.001,requests=200,prompt=900,output=256,policies=[\"off\",\"k=3\"]}";
    let ran = ran(&["--set", study, "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let rows = document["rows"].as_array().unwrap();
    let tpot = |policy: &str| rows.iter().find(|row| row["policy"] == policy).unwrap()["tpot_mean_s"].as_f64().unwrap();
    let folder = folder();
    let set = ["--set", "sweep.batch=[1]", "--set", "sweep.context=[1028]", "--set", "sweep.k=[3]", "--format", "csv"];
    let swept =
        run_well(folder.path(), &[&["sweep", "--scenario", "llama-8b-drafters", "--write", "none"][..], &set].concat());
    let mut lines = swept.stdout.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cell = |name: &str| first[header.iter().position(|column| *column == name).unwrap()].parse::<f64>().unwrap();
    let plain = cell("base_step_s");
    // The last round yields more than is due: 255 tokens take half a round more than their mean says.
    let drafted = cell("round_s") / cell("tokens_per_pass");
    assert!((tpot("off") / plain - 1.0).abs() < 0.005, "{} {plain}", tpot("off"));
    assert!((tpot("k=3") / drafted - 1.0).abs() < 0.02, "{} {drafted}", tpot("k=3"));
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    for (set, code, parts) in [
        ("traffic={}", 2, vec!["does not say `rate`", "clients = 32"]),
        ("traffic={rate=0}", 2, vec!["is 0", "requests per second"]),
        ("traffic={rate=4,think=\"1 s\"}", 2, vec!["plays no part: arrivals are poisson"]),
        ("traffic={clients=4,rate=2}", 2, vec!["plays no part: arrivals are closed"]),
        ("traffic={rate=4,policies=[\"k3\"]}", 2, vec!["knows no policy `k3`", "\"k=3\""]),
        ("traffic={rate=4,policies=[{gate=\"batch\",k=3,on=8,off=4}]}", 2, vec!["ends at 4 what begins at 8"]),
        ("traffic={rate=4,prompt={mean=100}}", 2, vec!["sd"]),
        ("traffic={rate=4,prompt={fixed=100,sd=3}}", 2, vec!["beside `fixed`"]),
        ("slo={}", 2, vec!["asks nothing", "tpot"]),
        ("slo={ttft=\"1 s\",percentile=95}", 2, vec!["a fraction, not 95", "0.95"]),
    ] {
        let ran = ran(&["--set", set]);
        assert_eq!(ran.code, code, "{set}: {}", ran.stderr);
        for part in parts {
            assert!(ran.stderr.contains(part), "{set}: {}", ran.stderr);
        }
    }
    let none = ran(&[]);
    assert!(none.code == 3 && none.stderr.contains("--set traffic.rate=4.0"), "{}", none.stderr);
    let full = ran(&["--set", "traffic.rate=4", "--set", "target=llama-3.1-70b", "--set", "drafters={}"]);
    assert!(full.code == 4 && full.stderr.contains("leave no memory"), "{}", full.stderr);
    let long = ran(&["--set", "traffic={rate=4,prompt=16000000,policies=[\"off\",\"k=3\"]}"]);
    assert!(long.code == 4 && long.stderr.contains("longer than the KV cache"), "{}", long.stderr);
    let idle = ran(&["--set", "traffic={rate=4,policies=[\"greedy\"]}", "--set", "drafters={}"]);
    assert!(idle.code == 4 && idle.stderr.contains("there is no drafter"), "{}", idle.stderr);
}

/// The greedy rule brings within 1 % of the best fixed k, whichever that is: few and many clients, prompts that weigh little and much.
#[test]
fn greedy_is_as_good_as_the_best_fixed_length() {
    let policies = "[\"off\",\"k=1\",\"k=2\",\"k=3\",\"k=4\",\"k=5\",\"greedy\"]";
    for (prompt, output) in [(3840, 256), (128, 512)] {
        let study = format!(
            "traffic={{clients=[1,16,128],requests=600,warmup=0.4,prompt={prompt},output={output},policies={policies}}}"
        );
        let lengths = ["--set", "sweep.k={from=1,to=5,step=1}", "--format", "json"];
        let drafter = ["--set", "drafters={d={eagle={version=3},acceptance={iid={alpha=0.7}}}}", "--set", &study];
        let ran = ran(&[&drafter[..], &lengths].concat());
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
        let rows = document["rows"].as_array().unwrap();
        let mut chosen = std::collections::BTreeSet::new();
        for clients in [1.0, 16.0, 128.0] {
            let of = |row: &&Value| row["load"].as_f64() == Some(clients);
            let rate = |row: &Value| row["output_tokens_per_s"].as_f64().unwrap();
            let fixed = rows.iter().filter(of).filter(|row| row["policy"] != "greedy");
            let best = fixed.max_by(|one, other| rate(one).total_cmp(&rate(other))).unwrap();
            let greedy = rows.iter().filter(of).find(|row| row["policy"] == "greedy").unwrap();
            let (rate, best_rate) = (rate(greedy), rate(best));
            assert!(rate > 0.99 * best_rate, "{prompt}/{output}, {clients} clients: {rate} of {best_rate}");
            chosen.insert(best["policy"].as_str().unwrap().to_owned());
        }
        assert!(prompt == 3840 || chosen.len() > 1, "one length is best everywhere: {chosen:?}");
    }
}
