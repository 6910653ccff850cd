//! Traces of requests, as their publishers write them.

use specplan::import::requests::{NotServed, requests};

use crate::program::{folder, run, run_well};

/// Each form, with the prompt, output, cached tokens and time of its second request.
#[test]
fn every_form_is_read_by_its_names() {
    // Azure/AzurePublicDataset, AzureLLMInferenceTrace_conv.csv (CC-BY), with its line ends and seven digits.
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n\
                 2023-11-16 18:15:50.9951690,396,109\r\n";
    let zoned = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n\
                 2024-05-10 00:01:00.509930+00:00,2399,6\n";
    // HPMLL/BurstGPT: release 2 inserts columns, and does not begin at zero.
    let first = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n\
                 45,ChatGPT,1087,230,1317,Conversation log\n";
    let second = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                  19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n19440161.0,d5983bf9,2,ChatGPT,36,29,65,Conversation log\n";
    let vidur = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n4.314579,396,109\n";
    let simulated = "input_toks,output_toks,arrival_time_ns\n2358,531,46926808\n1034,769,347938951\n";
    // kvcache-ai/Mooncake: milliseconds, and blocks of 512 tokens.
    let mooncake = "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n\
                    {\"timestamp\": 3000, \"input_length\": 1200, \"output_length\": 7, \"hash_ids\": [0, 1, 9]}\n";
    // Qwen's traces: the same names, seconds, and blocks of 16.
    let qwen = "{\"chat_id\": 1, \"turn\": 1, \"timestamp\": 1.5, \"input_length\": 33, \"output_length\": 5, \"hash_ids\": [4, 5, 6]}\n\
                {\"chat_id\": 1, \"turn\": 2, \"timestamp\": 4.5, \"input_length\": 50, \"output_length\": 7, \"hash_ids\": [4, 5, 8, 9]}\n";
    let bench =
        r#"{"input_lens": [10, 20], "output_lens": [3, 4], "start_times": [100.5, 101.25], "ttfts": [0.1, 0.1]}"#;
    for (text, prompt, output, hit, at) in [
        (azure, 396, 109, 0, 4.314_579),
        (zoned, 2399, 6, 0, 60.5),
        (first, 1087, 230, 0, 40.0),
        (second, 36, 29, 0, 51.0),
        (vidur, 396, 109, 0, 4.314_579),
        (simulated, 1034, 769, 0, 0.301_012_143),
        (mooncake, 1200, 7, 1024, 3.0),
        (qwen, 50, 7, 32, 3.0),
        (bench, 20, 4, 0, 0.75),
    ] {
        let served = requests("t", text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let seen = served.requests[1];
        assert_eq!((seen.prompt, seen.output, seen.hit, served.is_timed), (prompt, output, hit, true), "{text}");
        assert!((seen.at - at).abs() < 2e-6, "{}: {text}", seen.at);
    }
}

#[test]
fn traps_are_seen() {
    let failed =
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,A,4,0,4,x\n1,A,6,2,8,x\n0,A,7,1,8,x\n";
    let served = requests("t", failed).unwrap();
    assert_eq!(served.requests.iter().map(|seen| seen.prompt).collect::<Vec<_>>(), [7, 6]);
    assert!(
        served.notes[0].contains("1 requests without a token") && served.notes[1].contains("earlier"),
        "{:?}",
        served.notes
    );
    let untimed =
        requests("t", "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.8\n").unwrap();
    assert!(!untimed.is_timed);
    let refused = |text: &str| requests("t", text).unwrap_err();
    assert_eq!(refused("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"), NotServed::Pointer);
    assert_eq!(refused("[{\"id\": \"a\", \"conversations\": []}]"), NotServed::Texts);
    assert_eq!(refused(""), NotServed::Empty);
    assert_eq!(refused("TIMESTAMP,ContextTokens,GeneratedTokens\n"), NotServed::Empty);
    assert_eq!(refused("a,b\n1,2\n"), NotServed::UnknownForm);
    assert_eq!(refused("{\"a\": 1}\n"), NotServed::UnknownForm);
    for (text, line, part) in [
        ("arrived_at,num_prefill_tokens,num_decode_tokens\n0,1,2\n1,-3,2\n", 3, "-3 is no number of tokens"),
        ("arrived_at,num_prefill_tokens,num_decode_tokens\n0,1.5,2\n", 2, "1.5 is no number of tokens"),
        ("arrived_at,num_prefill_tokens,num_decode_tokens\nNaN,1,2\n", 2, "is no time"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n", 2, "yesterday"),
        ("{\"input_length\": 5, \"output_length\": \"x\"}\n", 1, "is no number"),
        ("arrived_at,num_prefill_tokens,num_decode_tokens\r\n0,1,2\r\n1,-3,2\r\n", 3, "-3 is no number of tokens"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nNaN,1,2\n", 2, "is no date and time, such as"),
        ("arrived_at,num_prefill_tokens,num_decode_tokens\n0,1,2\n1,3\n", 3, "2 cells, where the header has 3"),
        ("{\"input_length\": 5, \"output_length\": 1}\n{\"input_length\": 5,\n", 2, "at column"),
    ] {
        match refused(text) {
            NotServed::Line { line: at, reason } => {
                assert!(at == line && reason.contains(part), "{at} {reason}: {text}")
            }
            other => panic!("{other}: {text}"),
        }
    }
}

/// A trace of its own rate, twice as fast, cut by a window, and shared by two replicas.
#[test]
fn traces_are_played_at_their_own_times() {
    let folder = folder();
    let lines: String = (0..400).map(|at| format!("{}.0,{},20\n", at, 100 + at % 7)).collect();
    let text = format!("arrived_at,num_prefill_tokens,num_decode_tokens\n{lines}");
    std::fs::write(folder.path().join("seen.csv"), text).unwrap();
    let rows = |more: &str| {
        let set = format!("traffic={{trace=\"seen.csv\",policies=[\"off\"]{more}}}");
        let flags =
            ["traffic", "--scenario", "llama-8b-drafters", "--quiet", "--write", "none", "--format", "json", "--set"];
        let ran = run(folder.path(), &[&flags[..], &[&set, "--set", "drafters={}"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let row = &document["rows"][0];
        ["load", "requests", "requests_per_s", "replicas"].map(|name| row[name].as_f64().unwrap())
    };
    let near = |got: [f64; 4], expected: [f64; 4]| {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got / expected - 1.0).abs() < 0.02, "{got:?} {expected:?}");
        }
    };
    near(rows(""), [1.0, 360.0, 1.0, 1.0]);
    near(rows(",time_scale=2.0"), [2.0, 360.0, 2.0, 1.0]);
    near(rows(",rate=4.0"), [4.0, 360.0, 4.0, 1.0]);
    near(rows(",window={from=\"100 s\",to=\"300 s\"}"), [1.0, 180.0, 1.0, 1.0]);
    near(rows(",replicas=2,rate=6.0"), [6.0, 180.0, 6.0, 2.0]);
    let shared = "deployment={replicas=2}";
    let study = "traffic={trace=\"seen.csv\",policies=[\"off\"]}";
    let flags = ["traffic", "--scenario", "llama-8b-drafters", "--write", "none", "--quiet", "--set"];
    let told = run_well(folder.path(), &[&flags[..], &[study, "--set", shared, "--format", "csv"]].concat()).stdout;
    assert!(told.lines().nth(1).unwrap().contains(",2,trace,1,off,180,"), "{told}");
    let both = "traffic={trace=\"seen.csv\",replicas=3}";
    let refused = run(folder.path(), &[&flags[..], &[both, "--set", shared]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("is 3 and deployment.replicas 2"), "{}", refused.stderr);
    let lengths = "traffic={rate=2,prompt={trace=\"seen.csv\"},output={trace=\"seen.csv\"},policies=[\"off\"]}";
    let told =
        run_well(folder.path(), &["traffic", "--scenario", "llama-8b-drafters", "--write", "none", "--set", lengths])
            .stdout;
    assert!(told.contains("103 in the mean of 400 seen"), "{told}");
    for (set, part) in [
        ("traffic={trace=\"seen.csv\",rate=2,time_scale=3}", "both a rate and a time_scale"),
        ("traffic={trace=\"seen.csv\",clients=3}", "plays no part beside a trace"),
        ("traffic={trace=\"nowhere.csv\"}", "nowhere.csv"),
        ("traffic={trace=\"seen.csv\",window={from=\"900 s\"}}", "400 requests came from 0 to 399 s"),
        ("traffic={trace=\"seen.csv\",time_scale=0}", "how many times faster"),
        ("traffic={trace=\"seen.csv\",time_scale=1e-9}", "comes at 1e-9 requests per second"),
        ("traffic={trace=\"seen.csv\",replicas=300}", "too few requests: 400"),
    ] {
        let ran = run(folder.path(), &["traffic", "--scenario", "llama-8b-drafters", "--write", "none", "--set", set]);
        assert!(ran.code == 2 && ran.stderr.contains(part), "{set}: {} {}", ran.code, ran.stderr);
    }
}
