//! `specplan acceptance` on what engines print as systems wrap it, and on figures that cannot be.

use std::path::Path;

use crate::engine_output::{LINE, count, number, rows};
use crate::program::{folder, run, run_well};

fn csv(text: &str, more: &[&str]) -> Vec<std::collections::HashMap<String, String>> {
    let folder = folder();
    let path = write(folder.path(), text);
    rows(&run_well(folder.path(), &[&["acceptance", &path, "--format", "csv"], more].concat()).stdout)
}

fn write(folder: &Path, text: &str) -> String {
    let path = folder.join("printed");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What users and models write is no measurement, wherever it stands.
#[test]
fn quoted_lines_do_not_count() {
    let bench = format!(
        "{{\"model_id\": \"m\", \"spec_decode_acceptance_length\": 3.42, \"spec_decode_num_drafts\": 100, \
         \"spec_decode_draft_tokens\": 500, \"spec_decode_accepted_tokens\": 242, \"generated_texts\": [\"{LINE}\"]}}"
    );
    let rows = csv(&bench, &[]);
    assert_eq!((rows.len(), rows[0]["format"].as_str(), count(&rows[0], "rounds")), (1, "vllm-bench", 100));
    let answer = format!(
        "{{\"model\": \"a\", \"choices\": [{{\"message\": {{\"content\": \"{LINE}\"}}}}], \"metrics\": {{\"speculative_decoding\": \
         {{\"num_spec_steps\": 43, \"num_accepted_draft_tokens\": 10, \"num_draft_tokens\": 129, \"num_spec_tokens\": 3}}}}}}\n"
    );
    let rows = csv(&answer.replace("\"a\"", "\"b\"").repeat(2).replacen("\"b\"", "\"a\"", 1), &[]);
    assert_eq!(rows.len(), 2, "models are kept apart: {rows:?}");
    assert_eq!((rows[0]["model"].as_str(), count(&rows[0], "rounds")), ("a", 43));
    let log = format!(
        "INFO 06-10 14:00:00 Received request 1: prompt: '{LINE}'\nINFO 06-10 14:00:10 [metrics.py:96] {LINE}\n"
    );
    assert_eq!(count(&csv(&log, &[])[0], "rounds"), 1000);
    let real = format!("[pod/prompt-router-0/vllm] INFO 10-06 14:20:34 [metrics.py:96] {LINE}\n");
    let quoted = [
        format!(
            "INFO 10-06 14:20:59 [logger.py:71] Generated response chatcmpl-1: output: '{LINE}', finish_reason: stop\n"
        ),
        format!("INFO Generated response chatcmpl-2 (streaming complete): output: 'It means {LINE}'\n"),
        format!("[2026-10-06 14:20:59] Finish: obj=GenerateReqInput(text='{LINE}', image=None)\n"),
        format!("[2026-10-06 14:20:59] Receive: obj=GenerateReqInput(text=\"{LINE}\", image=None)\n"),
    ];
    for quoted in quoted {
        assert_eq!(count(&csv(&(real.clone() + &quoted), &[])[0], "rounds"), 1000, "{quoted}");
    }
    let chat = format!("{{\"role\": \"user\", \"message\": \"{LINE}\"}}\n{{\"message\": \"{LINE}\"}}\n");
    assert_eq!(count(&csv(&chat, &[])[0], "rounds"), 1000);
}

/// Docker, compact arrays, Elasticsearch, Loki, several lines in one string; moments apart from messages.
#[test]
fn wrapped_logs_count_once_each() {
    let message = format!("INFO 06-10 14:00:00 [metrics.py:96] {LINE}");
    let texts = [
        format!("{{\"log\":\"{message}\\n\",\"stream\":\"stderr\",\"time\":\"2026-06-10T14:00:00Z\"}}\n").repeat(3),
        format!("[{}]", vec![format!("{{\"t\":1,\"msg\":\"{message}\"}}"); 3].join(",")),
        format!(
            "{{\"hits\":{{\"hits\":[{}]}}}}",
            vec![format!("{{\"_source\":{{\"message\":\"{message}\"}}}}"); 3].join(",")
        ),
        format!("{{\"streams\":[{{\"values\":[{}]}}]}}", vec![format!("[\"17\",\"{message}\"]"); 3].join(",")),
        format!("{{\"message\":\"{}\"}}", vec![message.clone(); 3].join("\\n")),
        // A JSON logger within docker, and a message written under two keys.
        format!("{{\"log\":\"{{\\\"message\\\": \\\"{message}\\\"}}\",\"stream\":\"stderr\"}}\n").repeat(3),
        format!("{{\"message\":\"{message}\",\"log\":\"{message}\"}}\n").repeat(3),
    ];
    for text in texts {
        let rows = csv(&text, &[]);
        assert_eq!((rows.len(), count(&rows[0], "rounds")), (1, 3000), "{text}");
    }
    // 1781100000 is 2026-06-10 14:00:00 UTC.
    let epoch = format!("{{\"timestamp\":1781100000,\"msg\":\"{LINE}\"}}\n");
    assert_eq!(csv(&epoch, &[])[0]["first"], "2026-06-10 14:00:00");
}

/// Labels that name instances tell series apart; what cannot be told apart is said.
#[test]
fn instances_are_added_up() {
    let one = |instance: &str, rounds: u64, accepted: u64| {
        format!(
            "vllm:spec_decode_num_drafts_total{{engine=\"0\",model_name=\"a\"{instance}}} {rounds}\n\
             vllm:spec_decode_num_draft_tokens_total{{engine=\"0\",model_name=\"a\"{instance}}} {}\n\
             vllm:spec_decode_num_accepted_tokens_total{{engine=\"0\",model_name=\"a\"{instance}}} {accepted}\n",
            3 * rounds
        )
    };
    let both = one(",instance=\"h1\"", 100, 150) + &one(",instance=\"h2\"", 120, 200);
    let rows = csv(&both, &[]);
    assert_eq!((count(&rows[0], "rounds"), count(&rows[0], "accepted")), (220, 350));
    assert_eq!(csv(&both, &["--by", "rank"]).len(), 2);
    let again = csv(&(one("", 100, 150) + &one("", 120, 200)), &[]);
    assert!(again[0]["notes"].contains("repeated"), "{again:?}");
    // An earlier scrape of another model leaves all that there is, and that is said.
    let folder = folder();
    let earlier = folder.path().join("earlier");
    std::fs::write(&earlier, one("", 10, 10).replace("\"a\"", "\"b\"")).unwrap();
    let rows = csv(&one("", 100, 150), &["--since", earlier.to_str().unwrap()]);
    assert!(rows[0]["notes"].contains("nothing-earlier"), "{rows:?}");
    // A counter that was made anew has begun anew, however large.
    let made = |at: &str| {
        one("", 100, 150) + &format!("vllm:spec_decode_num_drafts_created{{engine=\"0\",model_name=\"a\"}} {at}\n")
    };
    std::fs::write(&earlier, made("1.7e9").replace(" 100\n", " 50\n")).unwrap();
    let rows = csv(&made("1.8e9"), &["--since", earlier.to_str().unwrap()]);
    assert!(count(&rows[0], "rounds") == 100 && rows[0]["notes"].contains("restarted"), "{rows:?}");
}

/// Figures that cannot be are left out and said.
#[test]
fn contradictions_are_not_taken_for_acceptance() {
    let counters = |rounds: &str, drafted: &str, accepted: &str| {
        format!(
            "vllm:spec_decode_num_drafts_total {rounds}\nvllm:spec_decode_num_draft_tokens_total {drafted}\n\
             vllm:spec_decode_num_accepted_tokens_total {accepted}\n"
        )
    };
    for (rounds, drafted, accepted) in
        [("100", "300", "-5"), ("100", "300", "500"), ("NaN", "300", "200"), ("400", "300", "10")]
    {
        let rows = csv(&counters(rounds, drafted, accepted), &[]);
        assert!(rows[0]["notes"].contains("contradiction"), "{rounds} {drafted} {accepted}: {rows:?}");
        assert_eq!(rows[0]["tokens_per_pass"], "", "{rounds} {drafted} {accepted}: {rows:?}");
    }
    let odd = "{\"num_spec_steps\": 430, \"num_accepted_draft_tokens\": 10, \"num_draft_tokens\": 1290, \"acceptance_histogram\": [39, 1, 0, 3]}";
    let rows = csv(odd, &[]);
    assert!(rows[0]["notes"].contains("contradiction") && rows[0]["cumulative"].is_empty(), "{rows:?}");
    let folder = folder();
    let path = write(
        folder.path(),
        &counters("100", "300", "155").replace("_total ", "_total{model_name=\"\u{1b}[31mred\"} "),
    );
    assert!(!run_well(folder.path(), &["acceptance", &path]).stdout.contains('\u{1b}'));
}

/// Steps one by one, trees, histograms without totals, tables of one request told twice.
#[test]
fn requests_in_other_forms() {
    let steps = "{\"per_step_accepted\": [3, 0, 0, 1], \"per_step_drafted\": [3, 3, 0, 2], \"num_spec_tokens\": 3}";
    let rows = csv(steps, &[]);
    // Three rounds of four steps; 4 accepted of 8; tests: 3 + (0 + 1) + (1 + 1) passed and failed.
    assert_eq!((count(&rows[0], "rounds"), count(&rows[0], "drafted"), count(&rows[0], "accepted")), (3, 8, 4));
    assert_eq!((rows[0]["tests_passed"].as_str(), rows[0]["tests_failed"].as_str()), ("4", "2"));
    assert!((number(&rows[0], "tokens_per_step") - 2.0).abs() < 1e-12, "{rows:?}");
    let twice = "{\"choices\": [{\"meta_info\": {\"spec_verify_ct\": 50, \"spec_num_correct_drafts\": 60}}], \"sgl_ext\": \
                 {\"spec_tokens_details\": {\"spec_verify_ct\": 50, \"spec_num_correct_drafts\": 60}}}";
    assert_eq!(count(&csv(twice, &[])[0], "rounds"), 50);
    let tree = "{\"spec_verify_ct\": 100, \"spec_num_correct_drafts\": 180, \"spec_num_proposed_drafts\": 700, \
                \"spec_correct_drafts_histogram\": [20, 30, 20, 15, 10, 5]}";
    let rows = csv(tree, &[]);
    assert!(
        rows[0]["notes"].contains("tree") && rows[0]["k"] == "5" && rows[0]["scenario"].starts_with("acceptance.mean"),
        "{rows:?}"
    );
    let log =
        "[2026-06-10 10:00:00] Decode batch, #running-req: 8, accept len: 3.10, accept rate: 0.30, cuda graph: True\n";
    assert!(csv(log, &[])[0]["notes"].contains("chain-assumed"));
    assert_eq!(csv(log, &["--k", "5"])[0]["k"], "5");
    let pooled = "{\"spec_decode_acceptance_length\": {\"avg\": 2.9}, \"pooled_spec_decode_acceptance_histogram\": \
                  {\"0\": 100, \"4\": 50, \"2\": 30}}";
    let rows = csv(pooled, &[]);
    assert!((number(&rows[0], "tokens_per_pass") - 440.0 / 180.0).abs() < 1e-12, "{rows:?}");
    // Lines of llama.cpp with and without a mean: all drafts and accepted drafts, rounds of the first only.
    let llama = "draft acceptance = 0.40000 (   80 accepted /   200 generated), mean len =  2.60\n\
                 draft acceptance rate = 0.50000 (  100 accepted /   200 generated)\n";
    let rows = csv(llama, &[]);
    assert_eq!((count(&rows[0], "drafted"), count(&rows[0], "accepted"), count(&rows[0], "rounds")), (400, 180, 50));
}

#[test]
fn what_plays_no_part_is_said() {
    let folder = folder();
    let path = write(folder.path(), &format!("INFO {LINE}\n"));
    let with = |more: &[&str]| run(folder.path(), &[&["acceptance", &path], more].concat());
    assert!(with(&["--k", "5"]).stderr.contains("--k 5 plays no part"));
    assert!(with(&["--by", "time", "--write", "none"]).stderr.contains("nothing here bears a moment"));
    assert!(with(&["--by", "rank"]).stderr.contains("no ranks are named"));
    assert_eq!(with(&["--span", "5m"]).code, 2);
    assert!(with(&[&path]).stderr.contains("given twice"));
    let over = "INFO 12-31 23:55:00 [metrics.py:96] ".to_owned()
        + LINE
        + "\nINFO 01-01 00:05:00 [metrics.py:96] "
        + LINE
        + "\n";
    let path = write(folder.path(), &over);
    let args = ["acceptance", &path, "--format", "csv", "--by", "time", "--write", "none"];
    let spans: Vec<String> =
        rows(&run_well(folder.path(), &args).stdout).iter().map(|row| row["first"].clone()).collect();
    assert_eq!(spans, ["12-31 23:55:00", "01-01 00:05:00"]);
    let args = ["acceptance", &path, "--format", "csv", "--after", "12-31 23:50", "--before", "01-01 00:06"];
    assert_eq!(count(&rows(&run_well(folder.path(), &args).stdout)[0], "rounds"), 2000);
    for (bounds, rounds) in [(["--after", "12-31 23:50"], 2000), (["--before", "01-01 00:00"], 1000)] {
        let args = [&["acceptance", &path, "--format", "csv"], &bounds[..]].concat();
        assert_eq!(count(&rows(&run_well(folder.path(), &args).stdout)[0], "rounds"), rounds, "{bounds:?}");
    }
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(LINE.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    std::fs::write(folder.path().join("printed"), utf16).unwrap();
    assert!(run(folder.path(), &["acceptance", &path]).stderr.contains("UTF-16"));
}

/// Running sums of V0 count between moments; k that changes or is told by the server's arguments; gauges beside counters.
#[test]
fn lengths_and_sums_are_those_of_their_lines() {
    let v0 = |at: &str, sums: u64| {
        format!(
            "INFO 12-01 {at} metrics.py:489] Speculative metrics: Draft acceptance rate: 0.5, System efficiency: 0.6, Number of \
             speculative tokens: 3, Number of accepted tokens: {}, Number of draft tokens: {}, Number of emitted tokens: {}.\n",
            150 * sums,
            300 * sums,
            250 * sums
        )
    };
    let log: String = [v0("10:00:00", 1), v0("10:00:10", 2), v0("10:00:20", 3)].concat();
    for (bounds, rounds) in
        [(vec![], 300), (vec!["--after", "12-01 10:00:05"], 200), (vec!["--before", "12-01 10:00:15"], 200)]
    {
        let rows = csv(&log, &bounds);
        assert!(count(&rows[0], "rounds") == rounds && rows[0]["tokens_per_pass"] == "2.5", "{bounds:?}: {rows:?}");
    }
    let sglang = |length: &str, rate: &str| {
        format!(
            "[2026-06-10 10:00:00] Decode batch, #running-req: 8, accept len: {length}, accept rate: {rate}, cuda graph: True\n"
        )
    };
    // (length - 1) / k: 2.10 / 5 and 0.41 / 1.
    let mixed = csv(&(sglang("3.10", "0.42") + &sglang("1.41", "0.41")), &[]);
    let found: Vec<(&str, &str)> =
        mixed.iter().map(|row| (row["k"].as_str(), row["tokens_per_pass"].as_str())).collect();
    assert_eq!(found, [("1", "1.41"), ("5", "3.1")]);
    // 3.55 over 7 and 2.55 over 5 are 0.51 both: k stays open, and is not that of other lines.
    let open = csv(&(sglang("3.55", "0.51") + &sglang("1.41", "0.41")), &[]);
    let found: Vec<(&str, &str)> =
        open.iter().map(|row| (row["k"].as_str(), row["tokens_per_pass"].as_str())).collect();
    assert_eq!(found, [("", "3.55"), ("1", "1.41")]);
    let told = "[2026-06-10 09:59:00] server_args=ServerArgs(model_path='m', speculative_num_steps=5, speculative_eagle_topk=4)\n";
    let tree = csv(&(told.to_owned() + &sglang("3.10", "0.30")), &[]);
    assert!(tree[0]["k"] == "5" && !tree[0]["notes"].contains("chain-assumed"), "{tree:?}");
    let nine = csv(&sglang("9.00", "0.90"), &["--k", "3"]);
    assert!(nine[0]["tokens_per_pass"].is_empty() && nine[0]["notes"].contains("contradiction"), "{nine:?}");
    let trtllm = "trtllm_spec_decode_num_draft_tokens_total{model_name=\"m\"} 3000\n\
                  trtllm_spec_decode_num_accepted_tokens_total{model_name=\"m\"} 1550\n\
                  trtllm_spec_decode_acceptance_length{model_name=\"m\"} 2.4\n\
                  trtllm_speculative_config_info{spec_enabled=\"True\",spec_num_tokens=\"3\"} 1\n";
    let rows = csv(trtllm, &[]);
    assert!(rows[0]["tokens_per_pass"] == "2.55" && rows[0]["k"] == "3", "{rows:?}");
    // Positions that do not add up are left out, whole.
    let odd = LINE.replace("2.55", "3.90");
    let rows = csv(&format!("INFO {odd}\n"), &[]);
    assert!(rows[0]["notes"].contains("contradiction") && rows[0]["tokens_per_pass"].is_empty(), "{rows:?}");
}

/// Streams and loggers put a prefix before JSON; a prompt that quotes it is passed over.
#[test]
fn json_behind_a_prefix_is_read() {
    let metrics = "{\"choices\": [], \"metrics\": {\"speculative_decoding\": {\"num_spec_steps\": 43, \"num_accepted_draft_tokens\": 10, \
                   \"num_draft_tokens\": 129, \"num_spec_tokens\": 3}}}";
    let stream =
        format!("data: {{\"choices\": [{{\"delta\": {{\"content\": \"hi\"}}}}]}}\n\ndata: {metrics}\n\ndata: [DONE]\n");
    let logged = format!("INFO 06-10 14:00:00 [client.py:7] response {metrics}\n");
    for text in [&stream, &logged] {
        let rows = csv(text, &[]);
        assert_eq!((rows[0]["format"].as_str(), count(&rows[0], "rounds")), ("vllm-request", 43), "{text}");
    }
    let quoted = format!("INFO Received request 1: prompt: 'what is {metrics}?'\nINFO [metrics.py:96] {LINE}\n");
    let rows = csv(&quoted, &[]);
    assert_eq!((rows.len(), rows[0]["format"].as_str()), (1, "vllm-log"));
}

/// Steps that accept more than they draft, or draft what no engine does, end nothing but themselves.
#[test]
fn impossible_steps_are_left_out() {
    let odd = [
        "{\"per_step_accepted\": [5, 0], \"per_step_drafted\": [3, 3]}",
        "{\"per_step_accepted\": [1, 0], \"per_step_drafted\": [4000000000, 3]}",
    ];
    for text in odd {
        let rows = csv(text, &[]);
        assert!(rows[0]["notes"].contains("contradiction") && rows[0]["conditional"].is_empty(), "{text}: {rows:?}");
    }
    let folder = folder();
    let path = write(folder.path(), "{\"itl_tokens\": [1e15, 2]}");
    assert_eq!(run(folder.path(), &["acceptance", &path]).code, 3);
}
