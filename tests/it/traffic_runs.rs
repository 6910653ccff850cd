//! `specplan traffic` as a user runs it.

use std::collections::BTreeMap;

use serde_json::Value;
use specplan::acceptance::accepted::Accepted;
use specplan::acceptance::batch::finish;
use specplan::units::Probability;

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
        ("traffic={rate=0}", 2, vec!["cannot be 0", "requests per second"]),
        ("traffic={rate=1e-9}", 2, vec!["cannot be 1e-9", "from 1e-6"]),
        ("traffic={rate=1e-4,replicas=1000}", 2, vec!["1.0e-7 requests per second to a replica"]),
        ("traffic={rate=[4,2,4]}", 2, vec!["has 4 twice"]),
        ("traffic={rate=4,warmup=1}", 2, vec!["too few requests to measure", "at most 0.9"]),
        ("traffic={clients=2000,requests=2000}", 2, vec!["2000 requests for 2000 clients", "40000 requests"]),
        ("traffic={rate=-1}", 2, vec!["cannot be -1", "from 1e-6"]),
        ("traffic={rate=4,policies=[3]}", 2, vec!["must be a policy: \"off\""]),
        ("traffic={rate=4,prompt=\"x\"}", 2, vec!["must be tokens: 512"]),
        ("traffic={rate=4,policies=[\"k=99999999999999999999\"]}", 2, vec!["cannot draft 99999999999999999999"]),
        ("traffic={clients=2,replicas=3}", 2, vec!["3 replicas for 2 clients"]),
        ("traffic={rate=4,policies=[\"off\",\"k=3\",\"off\"]}", 2, vec!["has `off` twice"]),
        ("traffic={rate=4,policies=[\"k=0\"]}", 2, vec!["cannot draft 0", "\"off\" drafts nothing"]),
        (
            "traffic={rate=4,policies=[{gate=\"kv\",k=3,on=0.5,off=80}]}",
            2,
            vec!["ends at 80 of the cache", "at most 1"],
        ),
        ("slo={ttft=\"1 s\",percentile=0}", 2, vec!["asks of no request"]),
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
    let idle = ran(&["--requests", "--set", "traffic.rate=4"]);
    assert!(idle.code == 2 && idle.stderr.contains("--requests writes a file"), "{}", idle.stderr);
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

/// Rows of a CSV file by name of column.
fn records(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let record = |record: csv::Result<csv::StringRecord>| {
        header.iter().map(str::to_owned).zip(record.unwrap().iter().map(str::to_owned)).collect()
    };
    reader.records().map(record).collect()
}

fn figure(row: &BTreeMap<String, String>, name: &str) -> f64 {
    let cell = &row[name];
    assert!(!cell.is_empty(), "{name} is empty");
    cell.parse().unwrap()
}

fn written(study: &[&str]) -> (crate::program::Ran, impl Fn(&str) -> Vec<BTreeMap<String, String>> + use<>) {
    let folder = folder();
    let args = [&BASE[..], &["csv"], study].concat();
    let ran = run_well(folder.path(), &args);
    let read = move |ending: &str| {
        let path = folder.path().join(format!("output/llama-8b-drafters.traffic.{ending}"));
        records(&std::fs::read_to_string(path).unwrap())
    };
    (ran, read)
}

const TWO_KINDS: &str = "workloads={short={share=0.5,prompt={fixed=100},output={fixed=20},acceptance={iid={alpha=0.5}}},\
    long={share=0.5,prompt={fixed=3000},output={fixed=400},acceptance={iid={alpha=0.8}}}}";

/// What is said of a run can be had from its requests, one by one.
#[test]
fn requests_one_by_one_come_to_what_is_said_of_all() {
    let traffic = "traffic={rate=8,requests=1000,policies=[\"off\",\"k=3\"]}";
    let set = ["--requests", "--set", traffic, "--set", "slo={tpot=\"10 ms\"}", "--set", TWO_KINDS];
    let (_, read) = written(&[&set[..], &["--set", "drafters={d={eagle={version=3}}}"]].concat());
    let (runs, requests, kinds) = (read("csv"), read("requests.csv"), read("workloads.csv"));
    assert_eq!((runs.len(), requests.len(), kinds.len()), (2, 1800, 4));
    for run in &runs {
        let mine: Vec<_> = requests.iter().filter(|row| row["policy"] == run["policy"]).collect();
        let column = |name: &str| mine.iter().map(|row| figure(row, name)).collect::<Vec<_>>();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        for (name, of_run) in [("ttft_s", "ttft_mean_s"), ("tpot_s", "tpot_mean_s"), ("e2e_s", "e2e_mean_s")] {
            let ratio = mean(&column(name)) / figure(run, of_run);
            assert!((ratio - 1.0).abs() < 1e-9, "{name}: {ratio}");
        }
        let mut sorted = column("e2e_s");
        sorted.sort_by(f64::total_cmp);
        assert!((sorted[854] / figure(run, "e2e_p95_s") - 1.0).abs() < 2e-3);
        assert!((mean(&column("output_tokens")) / figure(run, "mean_output_tokens") - 1.0).abs() < 1e-12);
        let good = mine.iter().filter(|row| row["meets_slo"] == "true").count() as f64 / 900.0;
        assert!((good - figure(run, "good_share")).abs() < 1e-12);
        let within = column("tpot_s").iter().filter(|tpot| **tpot <= 0.01).count() as f64 / 900.0;
        assert!((good - within).abs() < 1e-12, "{good} {within}");
        let of_kinds: Vec<_> = kinds.iter().filter(|row| row["policy"] == run["policy"]).collect();
        let sum = of_kinds.iter().map(|row| figure(row, "requests") * figure(row, "e2e_mean_s")).sum::<f64>();
        assert!((sum / 900.0 / figure(run, "e2e_mean_s") - 1.0).abs() < 1e-9);
        // Long prompts and outputs take longer; the drafts of their kind are accepted more often.
        let steps = |kind: &str| {
            let rows = mine.iter().filter(|row| row["workload"] == kind);
            let (tokens, steps) = rows.fold((0.0, 0.0), |(tokens, steps), row| {
                (tokens + figure(row, "output_tokens") - 1.0, steps + figure(row, "steps"))
            });
            tokens / steps
        };
        if run["policy"] == "k=3" {
            // After the prompt's token, rounds of iid acceptance up to the end of the output.
            for (kind, alpha, due) in [("long", 0.8, 399), ("short", 0.5, 19)] {
                let law = Accepted::iid(Probability::new(alpha).unwrap(), 3);
                let expected = due as f64 / finish(&law, due).rounds;
                assert!((steps(kind) / expected - 1.0).abs() < 0.02, "{kind}: {} is not {expected}", steps(kind));
            }
        } else {
            assert!((steps("long") - 1.0).abs() < 1e-12);
        }
    }
}

/// At the ends of its interval a capacity is what it says; tokens, hours and replicas follow by hand.
#[test]
fn the_highest_rate_is_met_below_and_not_above() {
    let slo = ["--set", "slo={tpot=\"15 ms\",ttft=\"400 ms\"}"];
    let set = |rate: &str| format!("traffic={{rate={rate},requests=1000,policies=[\"off\",\"k=3\"]}}");
    let drafter = ["--set", "drafters={d={eagle={version=3},acceptance={iid={alpha=0.7}}}}", "--price", "3.6"];
    let of = |rate: &str| written(&[&slo[..], &["--set", &set(rate)], &drafter].concat());
    let (ran, read) = of("40");
    let held = read("capacity.csv");
    assert_eq!(held.iter().map(|row| row["policy"].as_str()).collect::<Vec<_>>(), ["off", "k=3"]);
    assert!(ran.stdout.contains("k=3 of d takes the most within what is asked"), "{}", ran.stdout);
    for row in &held {
        let [rate, low, high] =
            ["requests_per_s", "requests_per_s_low", "requests_per_s_high"].map(|name| figure(row, name));
        assert!(low <= rate && rate < high && high < 1.6 * rate && low > 0.5 * rate, "{low} {rate} {high}");
        let meets = |rate: f64| {
            let runs = of(&rate.to_string()).1("csv");
            let run = runs.into_iter().find(|run| run["policy"] == row["policy"]).unwrap();
            figure(&run, "tpot_p95_s") <= 0.015 && figure(&run, "ttft_p95_s") <= 0.4 && run["notes"] != "piling_up"
        };
        assert!(meets(low) && meets(rate) && !meets(high), "{} {}", row["policy"], meets(high));
        let whole = |replicas: f64| replicas.ceil().to_string();
        assert_eq!(row["replicas_for_largest_load"], whole(40.0 / rate));
        assert_eq!(row["replicas_high"], whole(40.0 / low));
        let tokens = figure(row, "output_tokens_per_s");
        assert!((figure(row, "usd_per_million_tokens") / (1000.0 / tokens) - 1.0).abs() < 1e-9);
        // The mean of 256 that is asked for, by a thousand draws of a wide law.
        assert!((tokens / rate / 256.0 - 1.0).abs() < 0.12, "{}", tokens / rate);
        assert_eq!(row["limited_by"], "tpot");
    }
    let ratio = figure(&held[1], "requests_per_s") / figure(&held[0], "requests_per_s");
    assert!((figure(&held[1], "rate_over_off") - ratio).abs() < 1e-12 && ratio > 1.2, "{ratio}");
}

/// Few requests say nothing of a highest rate, and a rate is never outside its interval.
#[test]
fn few_requests_tell_no_highest_rate() {
    let of = |requests: u64| {
        let traffic = format!("traffic={{rate=8,requests={requests},policies=[\"off\",\"k=3\"]}}");
        let drafter = "drafters={d={eagle={version=3},acceptance={iid={alpha=0.7}}}}";
        written(&["--set", &traffic, "--set", "slo={tpot=\"20 ms\"}", "--set", drafter])
    };
    let (ran, read) = of(99);
    assert!(ran.stdout.contains("from which no highest rate can be told"), "{}", ran.stdout);
    assert!(read("capacity.csv").iter().all(|row| row["requests_per_s"].is_empty()));
    let (few, many) = (of(150), of(4000));
    let width = |row: &BTreeMap<String, String>| {
        let [rate, low, high] =
            ["requests_per_s", "requests_per_s_low", "requests_per_s_high"].map(|name| figure(row, name));
        assert!(low <= rate && rate <= high, "{low} {rate} {high}");
        (high - low) / rate
    };
    for (few, many) in few.1("capacity.csv").iter().zip(&many.1("capacity.csv")) {
        assert!(width(few) > 2.0 * width(many) && width(many) < 0.2, "{} {}", width(few), width(many));
        let [low, high] = ["requests_per_s_low", "requests_per_s_high"].map(|name| figure(few, name));
        assert!((low..=high).contains(&figure(many, "requests_per_s")), "{few:?} {many:?}");
    }
}

/// As many as can be told apart from all at once: none is answered by a service that goes on, and it is said so.
#[test]
fn a_flood_ends() {
    let ran = ran(&["--set", "traffic={rate=1e9,requests=200,policies=[\"off\"]}", "--format", "csv"]);
    let rows = records(&ran.stdout);
    assert!(rows[0]["notes"].contains("too_short"), "{:?}", rows[0]);
    assert!(!ran.stdout.contains("NaN") && !ran.stdout.contains("inf"), "{}", ran.stdout);
    let text = self::ran(&["--set", "traffic={rate=1e9,requests=200,policies=[\"off\",\"k=3\"]}"]).stdout;
    assert!(text.contains("? too short") && !text.contains("NaN"), "{text}");
    assert!(text.contains("requests pile up at every load"), "{text}");
    let none = ["--set", "traffic={rate=4,requests=100,prompt=0,output=0,policies=[\"off\",\"k=3\"]}"];
    for format in ["text", "csv"] {
        for slo in [&[][..], &["--set", "slo={ttft=\"1 s\"}"]] {
            let told = self::ran(&[&none[..], &["--format", format], slo].concat()).stdout;
            assert!(!told.contains("NaN") && !told.contains("inf"), "{told}");
        }
    }
}

/// Drafts that are all but never accepted pay at no load; plain decoding stands beside each drafter.
#[test]
fn it_is_said_up_to_which_load_drafts_pay() {
    let drafters = "drafters={bad={eagle={version=3},acceptance={iid={alpha=0.02}}},good={eagle={version=3},acceptance={iid={alpha=0.8}}}}";
    let traffic = "traffic={rate=[1,8],requests=1000,policies=[\"off\",\"k=5\"]}";
    let of = |format: &str| ran(&["--set", drafters, "--set", traffic, "--format", format]).stdout;
    let text = of("text");
    assert!(text.contains("k=5 pays at no load that was looked at: 0."), "{text}");
    assert!(text.contains("k=5 pays up to 8 requests/s, the most that was looked at: 2."), "{text}");
    assert!(text.contains("At 8 requests/s k=5 of good answers 2."), "{text}");
    let plain = text.lines().filter(|line| line.split_whitespace().nth(1) == Some("off")).count();
    assert_eq!(plain, 2 * 2, "{text}");
    let document: Value = serde_json::from_str(&of("json")).unwrap();
    let pays = document["pays"].as_array().unwrap();
    assert_eq!((&pays[0]["pays_up_to"], &pays[1]["pays_up_to"]), (&Value::Null, &serde_json::json!(8.0)));
}

/// A full service is one that a quarter more clients ask than it runs at a time: the same as such a closed loop.
#[test]
fn a_full_service_is_a_closed_loop_of_many() {
    let of = |traffic: &str| {
        let ran = ran(&["--set", traffic, "--format", "csv", "--set", "limits={max_num_seqs=64}"]);
        records(&ran.stdout)
    };
    let open = of("traffic={rate=2,requests=200,policies=[\"off\",\"k=3\"]}");
    let closed = of("traffic={clients=80,requests=1000,warmup=0.4,policies=[\"off\",\"k=3\"]}");
    assert_eq!(open.len(), closed.len());
    for (open, closed) in open.iter().zip(&closed) {
        let ratio = figure(open, "full_tokens_per_s") / figure(closed, "output_tokens_per_s");
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        assert!(figure(closed, "mean_batch") > 60.0);
    }
    let ratio = figure(&open[1], "full_tokens_per_s") / figure(&open[0], "full_tokens_per_s");
    assert!((figure(&open[1], "throughput_ratio") - ratio).abs() < 1e-12 && ratio > 1.0);
}
