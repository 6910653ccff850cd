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
    let read = pasted(text);
    if let Ok(mut pasted) = read.clone()
        && let Some(found) = within(&mut pasted, DEEPEST)?
    {
        return Ok((Some(found), pasted));
    }
    if let Some(words) = containers::words(text) {
        let mut pasted = Pasted { lines: vec![Line { words, redirections: Vec::new() }], ..Pasted::default() };
        if let Some(found) = within(&mut pasted, DEEPEST)? {
            return Ok((Some(found), pasted));
        }
    }
    Ok((None, read?))
}

fn within(pasted: &mut Pasted, depth: usize) -> Result<Option<Command>, Unclosed> {
    let all: Vec<Command> = pasted.lines.iter().filter_map(|line| started(line, &pasted.variables.set)).collect();
    let of = all.len();
    if let Some(first) = all.into_iter().next() {
        return Ok(Some(Command { of, ..first }));
    }
    if depth == 0 {
        return Ok(None);
    }
    let inner: Vec<String> =
        pasted.lines.iter().flat_map(|line| &line.words).filter(|word| word.contains(' ')).cloned().collect();
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

/// The server that a line starts.
fn started(line: &Line, set: &[(String, String)]) -> Option<Command> {
    let words = &line.words;
    let (server, after) = (0..words.len())
        .find_map(|at| named(words, at))
        .or_else(|| (0..words.len()).find_map(|at| image(words, at)))?;
    let before = words[..after].iter().filter_map(|word| assignment(word));
    let own = before.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(Command {
        server,
        words: words[after..].to_vec(),
        redirections: line.redirections.clone(),
        env: set.iter().cloned().chain(own).collect(),
        of: 1,
    })
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
    if word.starts_with('-') || !word.contains(['/', ':']) || !words.iter().any(|word| word == "run") {
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
