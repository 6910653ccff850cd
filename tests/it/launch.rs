//! Launch commands into what they set, into scenarios, and into verdicts.

use serde_json::{Value, json};
use specplan::import::launch::{NoLaunch, launch};
use specplan::report::launch::settings;

mod answers;
mod bench;
mod page;

const UNUSUAL: &str = include_str!("../fixtures/launch/unusual.jsonl");
const PUBLISHED: &str = include_str!("../fixtures/launch/published.jsonl");

fn published() -> impl Iterator<Item = Value> {
    PUBLISHED.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// Every command, with its file of options, sets what a reader of it finds.
#[test]
fn published_commands_set_what_they_say() {
    let mut wrong = Vec::new();
    for row in published() {
        let text = |key: &str| row[key].as_str();
        let found = launch(text("launch").unwrap(), text("options")).unwrap();
        assert_eq!(Some(found.server.as_str()), text("server"), "{}", row["id"]);
        let got = settings(&found);
        for (name, due) in row["expect"].as_object().unwrap() {
            if got[name] != *due {
                wrong.push(format!("{} {name}: {}, not {due}", row["id"], got[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Scripts with arrays, sums, branches and defaults, files for containers and for Windows, remarks and flags of forks, as people published them.
#[test]
fn unusual_commands_set_what_they_say() {
    let mut wrong = Vec::new();
    for row in UNUSUAL.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let text = |key: &str| row[key].as_str();
        let got = launch(text("launch").unwrap(), text("options")).map(|found| settings(&found)).unwrap();
        for (name, due) in row["expect"].as_object().unwrap() {
            if got[name] != *due {
                wrong.push(format!("{} {name}: {}, not {due}", row["id"], got[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a command sets, of which only what is named here counts.
fn sets(text: &str, due: &Value) {
    sets_with(text, None, due);
}

fn sets_with(text: &str, options: Option<&str>, due: &Value) {
    let found = launch(text, options).map_err(|error| format!("{text}: {error}")).unwrap();
    let got = settings(&found);
    for (name, due) in due.as_object().unwrap() {
        assert_eq!(got[name], *due, "{text}: {name}, {found:?}");
    }
}

const CHAIN: &str = r#"{"method": "eagle3", "model": "x/head", "num_speculative_tokens": 3}"#;

fn chain() -> Value {
    json!({ "target_hf": "org/model", "drafter_kind": "eagle", "eagle_version": 3, "drafter_hf": "x/head", "k": 3, "tensor_parallel": 2 })
}

/// The same command as pages and people write it.
#[test]
fn commands_are_read_as_they_are_pasted() {
    let due = chain();
    sets(&format!("vllm serve org/model --speculative-config '{CHAIN}' -tp 2"), &due);
    // Lines without backslashes, with a comment and a blank line between.
    sets(
        &format!(
            "vllm serve org/model\n  --tensor-parallel-size 2\n  # --max-model-len 100\n\n  --speculative-config '{CHAIN}'\n"
        ),
        &due,
    );
    // A flag that is commented out inside a continued command.
    sets(
        &format!(
            "vllm serve org/model \\\n  --tensor-parallel-size 2 \\\n# --max-num-seqs 4 \\\n  --speculative-config '{CHAIN}'"
        ),
        &due,
    );
    // Blanks after the backslash, one too many at the end, CRLF.
    sets(&format!("vllm serve org/model \\  \r\n  -tp=2 \\\r\n --speculative_config '{CHAIN}' \\\r\n"), &due);
    // Quotes that a page has curled, a dash that it has made long.
    sets(
        &format!(
            "vllm serve org/model \u{2014}tensor-parallel-size 2 --speculative-config \u{2018}{}\u{2019}",
            CHAIN.replace('"', "\u{201c}")
        ),
        &due,
    );
    // Windows: quotes escaped, lines broken with ^ or `.
    sets(
        &format!(
            "vllm serve org/model ^\n --tensor-parallel-size 2 ^\n --speculative-config \"{}\"",
            CHAIN.replace('"', "\\\"")
        ),
        &due,
    );
    sets(&format!("vllm serve org/model `\n --tensor-parallel-size 2 `\n --speculative-config '{CHAIN}'"), &due);
    // JSON without quotes around it, in Python's quotes, and key by key.
    sets(&format!("vllm serve org/model --speculative-config {CHAIN} --tensor-parallel-size 2"), &due);
    sets(&format!("vllm serve org/model -tp 2 --speculative-config \"{}\"", CHAIN.replace('"', "'")), &due);
    sets(
        "vllm serve org/model -tp 2 --speculative-config.method eagle3 --speculative-config.model x/head --speculative-config.num_speculative_tokens=3",
        &due,
    );
    // Behind a prompt, in a fence, in containers and launchers, in a script.
    sets(&format!("```bash\n$ vllm serve org/model -tp 2 --speculative-config '{CHAIN}'\n```"), &due);
    sets(
        &format!(
            "docker run --gpus all -p 8000:8000 -e TP=8 vllm/vllm-openai:v0.11 --model org/model --tensor-parallel-size 2 --speculative-config '{CHAIN}'"
        ),
        &due,
    );
    sets(
        &format!(
            "srun -N 1 uv run python -m vllm.entrypoints.openai.api_server --model org/model -tp 2 --speculative-config '{CHAIN}' | tee log"
        ),
        &due,
    );
    sets(
        &format!(
            "MODEL=org/model\nTP=2\nSPEC='{CHAIN}'\nvllm serve \"$MODEL\" -tp ${{TP}} --speculative-config \"$SPEC\" &> log &\nsleep 5"
        ),
        &due,
    );
    sets(
        &format!(
            "ssh node 'cd /srv && vllm serve org/model -tp ${{TP:-2}} --speculative-config \"{}\"'",
            CHAIN.replace('"', "\\\"")
        ),
        &due,
    );
    // From a file of options, which the command overrules.
    let yaml = format!("model: org/model\ntensor-parallel-size: 8\nspeculative-config: {CHAIN}\n");
    sets_with("vllm serve --config serve.yaml -tp 2", Some(&yaml), &due);
    // Written and read in the same script.
    let script = format!(
        "cat > /tmp/serve.yaml <<'EOF'\nmodel: org/model\ntensor_parallel_size: 2\nspeculative_config: {CHAIN}\nEOF\nvllm serve --config /tmp/serve.yaml"
    );
    sets(&script, &due);
    // Two nodes: the first is read.
    sets(
        &format!(
            "vllm serve org/model -tp 2 --speculative-config '{CHAIN}' --node-rank 0\nvllm serve org/model -tp 4 --headless --node-rank 1"
        ),
        &due,
    );
}

/// As files for containers hold it.
#[test]
fn commands_of_compose_and_kubernetes_are_read() {
    let compose = format!(
        "services:\n  llm:\n    image: vllm/vllm-openai:latest\n    command: >\n      --model org/model\n      --tensor-parallel-size 2\n      --speculative-config '{CHAIN}'\n"
    );
    sets(&compose, &chain());
    let pod = format!(
        "image: vllm/vllm-openai:v0.11\nargs:\n  - --model\n  - org/model\n  - --tensor-parallel-size=2\n  - --speculative-config\n  - '{CHAIN}'\n"
    );
    sets(&pod, &chain());
    let listed = r#"command: ["vllm", "serve", "org/model", "--tensor-parallel-size", "2", "--max-num-seqs", "64"]"#;
    sets(
        listed,
        &json!({ "target_hf": "org/model", "tensor_parallel": 2, "max_num_seqs": 64, "drafter_kind": "none" }),
    );
}

/// Settings of each server that the published commands do not have.
#[test]
fn other_settings_are_read() {
    sets(
        "vllm serve m --max-model-len 32k --max-num-batched-tokens 8K -pp 2 -dp 2 -ep",
        &json!({
            "max_model_len": 32000, "max_num_batched_tokens": 8192, "pipeline_parallel": 2, "data_parallel": 2, "expert_parallel": 2,
        }),
    );
    sets(
        r#"vllm serve m --speculative-config '{"model": "[ngram]", "num_speculative_tokens": 5, "disable_by_batch_size": 8}'"#,
        &json!({
            "drafter_kind": "ngram", "drafter_hf": null, "k": 5, "disable_by_batch_size": 8,
        }),
    );
    sets(
        r#"vllm serve m --speculative-config '{"method": "suffix", "num_speculative_tokens": 32}'"#,
        &json!({ "drafter_kind": "suffix", "k": 32 }),
    );
    sets(
        r#"vllm serve m --speculative-config '{"model": "org/m-FastMTP-mtp", "method": "glm4_moe_mtp", "num_speculative_tokens": 1}'"#,
        &json!({ "drafter_kind": "mtp" }),
    );
    // Nodes of a tree: 2 on the first level, 1 below; the root beside them.
    sets(
        r#"vllm serve m --speculative-config '{"method": "eagle", "model": "h", "num_speculative_tokens": 3, "speculative_token_tree": "[(0,), (1,), (0, 0)]"}'"#,
        &json!({ "k": 2, "tree_topk": 2, "tree_nodes": 4, "eagle_version": 1 }),
    );
    sets(
        "python -m sglang.launch_server --model-path m --tp-size 4 --speculative-algorithm STANDALONE --speculative-draft-model-path d --speculative-num-steps 4",
        &json!({ "drafter_kind": "model", "drafter_hf": "d", "k": 4, "tensor_parallel": 4 }),
    );
    sets(
        "sglang serve --model-path m --speculative-algorithm DFLASH --speculative-draft-model-path d --speculative-num-draft-tokens 16",
        &json!({ "drafter_kind": "block", "k": 15, "tree_nodes": 16 }),
    );
    sets(
        "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --speculative-algorithm EAGLE --speculative-draft-model-path lmsys/DeepSeek-R1-NextN --speculative-num-steps 2",
        &json!({ "drafter_kind": "mtp", "k": 2 }),
    );
    sets_with(
        "trtllm-serve serve m --tp_size 4 --config o.yml",
        Some(
            "speculative_config:\n  decoding_type: NGram\n  max_draft_len: 4\nkv_cache_config: {dtype: fp8}\nmax_batch_size: 32\n",
        ),
        &json!({ "drafter_kind": "ngram", "k": 4, "kv_dtype": "fp8", "max_num_seqs": 32, "tensor_parallel": 4 }),
    );
    sets_with(
        "trtllm-serve m --extra_llm_api_options o.yml",
        Some("speculative_config: {\"decoding_type\": \"MTP\", \"num_nextn_predict_layers\": 2,\n"),
        &json!({ "drafter_kind": "mtp", "k": 2 }),
    );
    sets(
        "llama-server.exe -m C:\\models\\Qwen3-8B-Q8_0.gguf -md C:\\models\\Qwen3-0.6B-Q8_0.gguf --draft-max 8 -np 4 -c 32768",
        &json!({ "target_hf": "C:\\models\\Qwen3-8B-Q8_0.gguf", "target_quantization": "q8_0", "drafter_kind": "model", "k": 8, "max_num_seqs": 4, "max_model_len": 32768 }),
    );
    sets("llama-server -m m.gguf --spec-type ngram-mod --draft-max 64", &json!({ "drafter_kind": "ngram", "k": 64 }));
}

/// What nobody here knows is listed, whatever follows it.
#[test]
fn unknown_flags_are_listed_and_change_nothing() {
    let text =
        format!("vllm serve org/model --frobnicate --quux 7 --no-such -tp 2 --zap=a,b --speculative-config '{CHAIN}'");
    let found = launch(&text, None).unwrap();
    assert_eq!(found.unknown, ["--frobnicate", "--quux 7", "--no-such", "--zap a,b"]);
    sets(&text, &chain());
    let open =
        launch("vllm serve <your-model> --max-num-seqs $N --tensor-parallel-size $(nvidia-smi -L | wc -l)", None)
            .unwrap();
    assert_eq!(open.settings.target.as_deref(), Some("<your-model>"));
    assert_eq!((open.settings.max_num_seqs, open.settings.tensor_parallel), (None, None));
    assert_eq!(open.open, ["$N", "$(nvidia-smi -L | wc -l)", "<your-model>"]);
}

#[test]
fn what_is_no_launch_command_says_why() {
    let why = |text: &str| launch(text, None).unwrap_err();
    assert_eq!(
        why("vllm serve m \\\n --speculative-config '{\"a\": 1} --x"),
        NoLaunch::Unclosed { quote: '\'', line: 2, column: 23 }
    );
    for text in ["", "ls -l", "curl http://x/v1", "vllm bench serve --model m", "echo vllm"] {
        assert_eq!(why(text), NoLaunch::NoServer, "{text}");
    }
    assert_eq!(why("from vllm import LLM\nllm = LLM(model=\"m\")"), NoLaunch::Python);
}

/// Values that double from line to line are not put in without end.
#[test]
fn variables_do_not_grow_without_bound() {
    let mut text = "B0=xxxxxxxxxxxxxxxx\n".to_owned();
    for at in 0..60 {
        text += &format!("B{}=$B{at}$B{at}\n", at + 1);
    }
    text += &format!("vllm serve $B60 {}", "$B12 ".repeat(5000));
    let found = launch(&text, None).unwrap();
    assert!(found.settings.target.unwrap().len() < 1 << 17);
    let nested = format!("A={}x{}\nvllm serve $A", "${B:-".repeat(2000), "}".repeat(2000));
    assert!(launch(&nested, None).is_ok());
    let sums = format!("vllm serve m --max-num-seqs $(({}1{}))", "(".repeat(3000), ")".repeat(3000));
    assert_eq!(launch(&sums, None).unwrap().settings.max_num_seqs, None);
}

/// What is broken is read as far as it goes, and said.
#[test]
fn broken_configurations_are_told() {
    let read = |config: &str| launch(&format!("vllm serve m --speculative-config '{config}'"), None).unwrap();
    let cut = read(r#"{"method": "ngram", "num_speculative_tokens": 4"#);
    assert_eq!(settings(&cut)["k"], 4);
    assert!(cut.notes[0].contains("is no JSON") && cut.notes[0].contains("read as far as it goes"), "{:?}", cut.notes);
    let word = read("eagle3");
    assert_eq!(settings(&word)["drafter_kind"], Value::Null);
    for k in ["0", "-3", "3.7", "99999999999999999999", "1000000", "\"three\""] {
        let found = read(&format!("{{\"method\": \"ngram\", \"num_speculative_tokens\": {k}}}"));
        assert_eq!(settings(&found)["k"], Value::Null, "{k}");
        assert!(found.notes.iter().any(|note| note.contains("is no draft length")), "{k}: {:?}", found.notes);
    }
    let bare = launch("vllm serve m --tensor-parallel-size --max-num-seqs 4", None).unwrap();
    assert!(bare.notes.contains(&"--tensor-parallel-size has no value: not set".to_owned()), "{:?}", bare.notes);
    let file = launch("vllm serve m --config serve.yaml", None).unwrap();
    assert_eq!(settings(&file)["drafter_kind"], Value::Null);
    let anchored = "x: &spec {method: ngram, num_speculative_tokens: 4}\nspeculative-config:\n  <<: *spec\n  num_speculative_tokens: 2\n";
    sets_with("vllm serve m --config serve.yaml", Some(anchored), &json!({ "drafter_kind": "ngram", "k": 2 }));
}

/// What scripts do before they start a server.
#[test]
fn scripts_are_followed_to_their_server() {
    let due = json!({ "target_hf": "m/x", "tensor_parallel": 2, "max_num_seqs": 64 });
    for script in [
        "ARGS=(\n  serve \"m/x\" # the target\n  -tp 2\n)\nARGS+=(--max-num-seqs 64)\nexec vllm \"${ARGS[@]}\"",
        "args=\" --model m/x -tp 2 \"\nargs=\"$args --max-num-seqs 64\"\npython -m vllm.entrypoints.openai.api_server $args",
        "DP=8\nvllm serve m/x --max-num-seqs $((DP * 8)) -tp $(( (DP-4)/2 ))",
        "echo \"Starting trtllm-serve aggregated (TP1)\"\npkill -f sglang.launch_server\ncommand -v vllm >/dev/null || exit 1\nvllm serve m/x -tp 2 --max-num-seqs 64",
        "HERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nvllm serve ${MODEL:-\"m/x\"} -tp 2 --max-num-seqs 64",
        ": \"${MODEL:=m/x}\"\nvllm serve $MODEL -tp 2 --max-num-seqs 64",
        "tp=2\nwhile [ $# -gt 0 ]; do case $1 in\n  --tp) tp=$2; shift 2;;\nesac; done\nvllm serve m/x -tp $tp --max-num-seqs 64",
        "docker run --entrypoint bash vllm/vllm-openai:latest -c \"exec vllm serve m/x -tp 2 --max-num-seqs 64\"",
        "docker run --gpus all -e A=1 mine:1.0 --host 0.0.0.0 --model m/x -tp 2 --max-num-seqs 64",
        "args: [\"--model\", \"m/x\", \"--tensor-parallel-size\", \"2\", \"--max-num-seqs\", \"64\"]",
        "command:\n- python3\n- -m\n- vllm.entrypoints.openai.api_server\nargs:\n- --model\n- m/x\n- -tp\n- \"2\"\n- --max-num-seqs=64\n",
        "vllm serve m/x -tp 2 --max-num-seqs 64(or 32 on a smaller card) --seed 1",
    ] {
        sets(script, &due);
    }
    let due = json!({ "target_hf": "C:\\models\\a-Q4_K_M.gguf", "k": 2, "drafter_kind": "mtp", "max_model_len": 65536, "target_quantization": "q4_k_m" });
    let bat = "@echo off\nset BIN=C:\\llama\\llama-server.exe\nset MODEL=C:\\models\\a-Q4_K_M.gguf\nif not defined CTX set CTX=65536\n\"%BIN%\" ^\n  -m \"%MODEL%\" ^\n  :: a remark ^\n  --ctx-size %CTX% ^\n  --spec-type draft-mtp --spec-draft-n-max 2\npause\n";
    sets(bat, &due);
    let env = "export LLAMA_ARG_SPEC_TYPE=draft-mtp\nexport LLAMA_ARG_N_PARALLEL=4\nBIN=/opt/llama-server\nnohup \"$BIN\" -m a.gguf --spec-draft-n-max 3 &\n";
    sets(env, &json!({ "target_hf": "a.gguf", "drafter_kind": "mtp", "k": 3, "max_num_seqs": 4 }));
    let spoken = "python -m sglang.launch_server --model {target model} --speculative-algo EAGLE --speculative-draft {path to your head} --speculative-num-steps 5";
    sets(
        spoken,
        &json!({ "target_hf": "{target model}", "drafter_hf": "{path to your head}", "eagle_version": 2, "k": 5 }),
    );
}
