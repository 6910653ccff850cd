//! Which of a script's commands starts a server, and with what.

use crate::import::launch::containers;
use crate::import::launch::shell::{Line, Pasted, Unclosed, pasted};
use crate::import::launch::variables::assignment;
use crate::words::Server;

/// A server's command: the words after its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Command {
    pub(super) server: Server,
    pub(super) words: Vec<String>,
    pub(super) redirections: Vec<String>,
    /// Set for it, or before it.
    pub(super) env: Vec<(String, String)>,
    /// Commands of servers in the text.
    pub(super) of: usize,
}

/// Scripts within commands, such as `sh -c "…"`, are looked into so deep.
const DEEPEST: usize = 3;

/// The first command that starts a server; with what its text says beside.
pub(super) fn command(text: &str) -> Result<(Option<Command>, Pasted), Unclosed> {
    // A file for containers is a shell's text too, if a strange one.
    let in_file = containers::words(text)
        .map(|words| Pasted { lines: vec![Line { words, redirections: Vec::new() }], ..Pasted::default() });
    let read = pasted(text);
    let mut all: Vec<Pasted> = in_file.into_iter().chain(read.clone().ok()).collect();
    for pasted in &mut all {
        if let Some(found) = within(pasted, DEEPEST)? {
            return Ok((Some(found), std::mem::take(pasted)));
        }
    }
    // No name of a server, but flags that only one of them has.
    for pasted in &mut all {
        let found = pasted.lines.iter().find_map(|line| by_flags(line, &pasted.variables.set));
        if let Some(found) = found {
            pasted.notes.push(BY_FLAGS);
            return Ok((Some(found), std::mem::take(pasted)));
        }
    }
    Ok((None, read?))
}

const BY_FLAGS: &str = "no server is named: which one it is was told by its flags";

fn within(pasted: &mut Pasted, depth: usize) -> Result<Option<Command>, Unclosed> {
    let all: Vec<Command> = pasted.lines.iter().filter_map(|line| started(line, &pasted.variables.set)).collect();
    let of = all.len();
    if let Some(first) = all.into_iter().next() {
        return Ok(Some(Command { of, ..first }));
    }
    if depth == 0 {
        return Ok(None);
    }
    let runs = |line: &&Line| lead(&line.words).is_some_and(|at| !only_names(&line.words[at]));
    let inner: Vec<String> = pasted
        .lines
        .iter()
        .filter(runs)
        .flat_map(|line| &line.words)
        .filter(|word| word.contains(' '))
        .cloned()
        .collect();
    for text in inner {
        // A word that is no script need not close its quotes.
        let Ok(mut script) = self::pasted(&text) else { continue };
        if let Some(found) = within(&mut script, depth - 1)? {
            pasted.files.extend(script.files);
            pasted.variables.open.extend(script.variables.open);
            pasted.notes.extend(script.notes);
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Where the first word stands that is neither an assignment nor a word of the shell's own.
fn lead(words: &[String]) -> Option<usize> {
    const OWN: [&str; 12] = ["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "coproc"];
    words.iter().position(|word| assignment(word).is_none() && !OWN.contains(&word.as_str()))
}

/// Programs that are told the name of another one, and do not start it.
fn only_names(word: &str) -> bool {
    const NAMING: [&str; 33] = [
        "not", "exist", "defined", "echo", "printf", "pgrep", "pkill", "killall", "kill", "command", "which", "type",
        "hash", "grep", "egrep", "ps", "tail", "cat", "ls", "curl", "wget", "sed", "awk", "test", "[", "[[", "cd",
        "rm", "cp", "mv", "pip", "alias", "case",
    ];
    NAMING.contains(&word.rsplit('/').next().unwrap_or(word))
}

/// The server that a line starts.
fn started(line: &Line, set: &[(String, String)]) -> Option<Command> {
    let words = &line.words;
    let first = lead(words).filter(|at| !only_names(&words[*at]))?;
    let places = || (first..words.len()).filter(|at| assignment(&words[*at]).is_none());
    let (server, after) =
        places().find_map(|at| named(words, at)).or_else(|| places().find_map(|at| image(words, at)))?;
    Some(of(server, after, line, set))
}

/// The server whose own flags a line has, and nobody's name.
fn by_flags(line: &Line, set: &[(String, String)]) -> Option<Command> {
    const OWN: [(Server, &[&str]); 4] = [
        (
            Server::Vllm,
            &[
                "max-model-len",
                "gpu-memory-utilization",
                "speculative-config",
                "speculative-model",
                "spec-method",
                "max-num-seqs",
            ],
        ),
        (Server::Sglang, &["mem-fraction-static", "speculative-algorithm", "speculative-algo", "model-path"]),
        (Server::TensorRtLlm, &["extra-llm-api-options", "kv-cache-free-gpu-memory-fraction"]),
        (Server::LlamaCpp, &["spec-type", "model-draft", "draft-max", "spec-draft-n-max"]),
    ];
    let name = |word: &String| {
        let bare = word.strip_prefix("--")?;
        Some(bare.split('=').next().unwrap_or(bare).replace('_', "-"))
    };
    let names: Vec<Option<String>> = line.words.iter().map(name).collect();
    let has = |own: &&(Server, &[&str])| names.iter().flatten().any(|name| own.1.contains(&name.as_str()));
    let (server, _) = OWN.iter().find(has)?;
    // What stands before its flags are those of whoever starts it.
    const FIRST: [&str; 6] = ["model", "model-path", "host", "port", "served-model-name", "tensor-parallel-size"];
    let is_first = |name: &Option<String>| name.as_deref().is_some_and(|name| FIRST.contains(&name));
    let in_container = line.words.iter().any(|word| word == "run");
    let first = || names.iter().position(Option::is_some);
    let from = if in_container { names.iter().position(is_first).or_else(first) } else { first() }?;
    Some(of(*server, from, line, set))
}

fn of(server: Server, after: usize, line: &Line, set: &[(String, String)]) -> Command {
    let before = line.words[..after].iter().filter_map(|word| assignment(word));
    let own = before.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Command {
        server,
        words: line.words[after..].to_vec(),
        redirections: line.redirections.clone(),
        env: set.iter().cloned().chain(own).collect(),
        of: 1,
    }
}

/// The server whose name stands at a word, and where its arguments begin.
fn named(words: &[String], at: usize) -> Option<(Server, usize)> {
    let word = words[at].as_str();
    let base = word.rsplit(['/', '\\']).next().unwrap_or(word).trim_end_matches(".exe");
    let next = |word: &str| words.get(at + 1).is_some_and(|next| next == word);
    match base {
        "vllm" if next("serve") => Some((Server::Vllm, at + 2)),
        "vllm.entrypoints.cli.main" if next("serve") => Some((Server::Vllm, at + 2)),
        "vllm.entrypoints.openai.api_server" | "vllm.entrypoints.api_server" => Some((Server::Vllm, at + 1)),
        "api_server.py" if word.contains("vllm") => Some((Server::Vllm, at + 1)),
        "sglang.launch_server" | "sglang_router.launch_server" => Some((Server::Sglang, at + 1)),
        "launch_server.py" if word.contains("sglang") => Some((Server::Sglang, at + 1)),
        "sglang" if next("serve") => Some((Server::Sglang, at + 2)),
        "trtllm-serve" | "tensorrt_llm.commands.serve" => {
            Some((Server::TensorRtLlm, at + 1 + usize::from(next("serve"))))
        }
        "llama-server" | "llama-cli" | "llama-speculative" | "llama-speculative-simple" => {
            Some((Server::LlamaCpp, at + 1))
        }
        _ => None,
    }
}

/// Images whose entry point is a server.
fn image(words: &[String], at: usize) -> Option<(Server, usize)> {
    let word = words[at].as_str();
    let runs_script = words[at + 1..].first().is_some_and(|next| matches!(next.as_str(), "-c" | "-lc" | "bash" | "sh"));
    if runs_script || word.starts_with('-') || !word.contains(['/', ':']) || !words.iter().any(|word| word == "run") {
        return None;
    }
    let server = if word.contains("vllm-openai") {
        Server::Vllm
    } else if word.contains("llama.cpp:") && word.contains("server") {
        Server::LlamaCpp
    } else {
        return None;
    };
    Some((server, at + 1))
}
