//! Launch commands of servers, as people paste them, into what they set.

mod called;
mod command;
mod containers;
mod flags;
mod llama_cpp;
mod names;
mod options;
mod plain;
mod settings;
mod sglang;
mod shell;
mod tensorrt;
mod variables;
mod vllm;

use std::sync::LazyLock;

use serde_json::Value;

pub use called::{accelerators, checkpoint};
pub use names::Drafting;
pub use settings::{Captures, Further, Launch, NoLaunch, Settings};

use crate::import::launch::command::{Command, command};
use crate::import::launch::flags::{Flags, Known, flags, of_file};
use crate::import::launch::options::{lines, options, pairs, yaml};
use crate::words::Server;

/// Flags that change what fits or how long it takes, and have no part in a price.
const UNPRICED: [&str; 9] = [
    "cpu-offload-gb",
    "kv-cache-memory-bytes",
    "num-gpu-blocks-override",
    "max-total-tokens",
    "swap-space",
    "override-tensor",
    "cpu-moe",
    "enable-lora",
    "decode-context-parallel-size",
];

/// What a reader of one server's flags works with.
struct Reading<'f> {
    flags: &'f Flags,
    /// Options of a file.
    options: Value,
    launch: Launch,
}

static VLLM: LazyLock<Known> = LazyLock::new(|| Known::of(include_str!("launch/vllm.txt"), true));
static SGLANG: LazyLock<Known> = LazyLock::new(|| Known::of(include_str!("launch/sglang.txt"), true));
static TENSORRT: LazyLock<Known> = LazyLock::new(|| Known::of(include_str!("launch/tensorrt.txt"), false));
static LLAMA_CPP: LazyLock<Known> = LazyLock::new(|| Known::of(include_str!("launch/llama_cpp.txt"), false));

/// Reads a launch command; `extra` is the text of its file of options, where it has one.
///
/// # Errors
///
/// [`NoLaunch`].
pub fn launch(text: &str, extra: Option<&str>) -> Result<Launch, NoLaunch> {
    let (found, pasted) =
        command(text).map_err(|of| NoLaunch::Unclosed { quote: of.quote, line: of.line, column: of.column })?;
    let Some(found) = found else {
        let is_python = ["LLM(", "import vllm", "from vllm", "import sglang", "sgl.Engine("].iter();
        return Err(if is_python.clone().any(|part| text.contains(part)) {
            NoLaunch::Python
        } else {
            NoLaunch::NoServer
        });
    };
    let known = match found.server {
        Server::Vllm => &VLLM,
        Server::Sglang => &SGLANG,
        Server::TensorRtLlm => &TENSORRT,
        Server::LlamaCpp => &LLAMA_CPP,
    };
    let mut own = flags(&found.words, known);
    let mut notes: Vec<String> = pasted.notes.iter().map(|note| (*note).to_owned()).collect();
    let beside = || written(&own, &pasted.files);
    let read = extra.map(str::to_owned).or_else(beside).map_or(Value::Null, |text| tree(&text, &mut notes));
    if found.server == Server::LlamaCpp {
        own.all.splice(0..0, llama_cpp::of_environment(&found.env, known));
    }
    if matches!(found.server, Server::Vllm | Server::Sglang) {
        // What the command says counts more than what its file says.
        own.all.splice(0..0, of_file(&read, known));
    }
    let bare = own.all.iter().filter(|flag| flag.lacks_value);
    notes.extend(bare.map(|flag| format!("{} has no value: not set", flag.written)));
    let launch = Launch {
        server: found.server,
        settings: Settings::default(),
        further: Further::default(),
        also: Vec::new(),
        env: found.env.clone(),
        unknown: own
            .unknown()
            .map(|flag| [std::slice::from_ref(&flag.written), &flag.values[..]].concat().join(" "))
            .collect(),
        open: opened(&found, &pasted.variables.open),
        notes,
    };
    let mut reading = Reading { flags: &own, options: read, launch };
    match found.server {
        Server::Vllm => vllm::read(&mut reading),
        Server::Sglang => sglang::read(&mut reading),
        Server::TensorRtLlm => tensorrt::read(&mut reading),
        Server::LlamaCpp => llama_cpp::read(&mut reading),
    }
    let unpriced: Vec<String> =
        UNPRICED.iter().filter(|name| own.is_set(name)).map(|name| format!("--{name}")).collect();
    if !unpriced.is_empty() {
        reading.note(format!("not priced, though it changes time or memory: {}", unpriced.join(", ")));
    }
    if reading.options.is_null() && own.is_set("config") && found.server != Server::TensorRtLlm {
        reading.unread_options();
    }
    if found.of > 1 {
        reading.note(format!("the text starts {} servers: the first one is read", found.of));
    }
    Ok(reading.launch)
}

/// A file that the same text writes and the command reads.
fn written(flags: &Flags, files: &[(String, String)]) -> Option<String> {
    let name = flags.text(&["config"])?;
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    files.iter().rev().find(|(known, _)| base(known) == base(name)).map(|(_, text)| text.clone())
}

/// Options of a file, also where they are not quite YAML.
fn tree(text: &str, notes: &mut Vec<String>) -> Value {
    match yaml(text) {
        Ok(read) => read,
        Err(error) => {
            notes.push(format!("the file of options is no YAML, {error}: it was read line by line"));
            lines(text)
        }
    }
}

/// Variables and placeholders that the command itself holds.
fn opened(found: &Command, variables: &[String]) -> Vec<String> {
    let is_used = |written: &&String| found.words.iter().any(|word| word.contains(written.as_str()));
    let mut open: Vec<String> = variables.iter().filter(is_used).cloned().collect();
    open.extend(found.words.iter().filter(|word| is_placeholder(word)).cloned());
    open
}

/// What stands for something: `<model>`, `YOUR_MODEL`, `/path/to/model`.
fn is_placeholder(word: &str) -> bool {
    let upper = word.to_uppercase();
    let is_within = |open: char, close: char| word.starts_with(open) && word.ends_with(close) && !word.contains('"');
    is_within('<', '>') || is_within('{', '}') || upper.starts_with("YOUR_") || upper.starts_with("YOUR-")
}

impl Reading<'_> {
    fn note(&mut self, note: String) {
        if !self.launch.notes.contains(&note) {
            self.launch.notes.push(note);
        }
    }

    fn also(&mut self, name: &str, value: impl Into<Value>) {
        self.launch.also.push((name.to_owned(), value.into()));
    }

    /// The value of a flag that is a whole number, which may end in k, K, m or M; else a note.
    fn whole(&mut self, names: &[&str]) -> Option<u64> {
        let flag = self.flags.last(names)?;
        let text = flag.values.first()?.clone();
        let found = whole(&text);
        if found.is_none() && !self.launch.open.iter().any(|open| text.contains(open.as_str())) {
            let written = flag.written.clone();
            self.note(format!("{written} {text} is no number: not set"));
        }
        if found == Some(0) {
            let written = flag.written.clone();
            self.note(format!("{written} 0 says nothing: not set"));
        }
        found.filter(|number| *number > 0)
    }

    fn number(&mut self, names: &[&str]) -> Option<f64> {
        let flag = self.flags.last(names)?;
        let text = flag.values.first()?.clone();
        let found = text.parse().ok().filter(|number: &f64| number.is_finite());
        if found.is_none() && !self.launch.open.iter().any(|open| text.contains(open.as_str())) {
            let written = flag.written.clone();
            self.note(format!("{written} {text} is no number: not set"));
        }
        found
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        self.flags.text(names).map(str::to_owned)
    }

    /// Number formats, where Python's servers take them.
    fn formats(&mut self) {
        let name = self.launch.settings.target.clone();
        let flag = self.text(&["quantization"]);
        self.launch.settings.target_quantization = match &flag {
            Some(flag) => names::of_flag(flag, name.as_deref()),
            None => name.as_deref().and_then(names::quantization),
        };
        if let Some(flag) = flag {
            self.also("quantization_flag", flag);
        }
        self.launch.settings.kv_dtype = self.text(&["kv-cache-dtype"]);
        self.launch.further.dtype = self.text(&["dtype"]);
    }

    /// Options of a file that nobody gave: what drafts may stand there.
    fn unread_options(&mut self) {
        let named = self.text(&["config"]).unwrap_or_default();
        if self.launch.settings.drafting == Drafting::Nothing {
            self.launch.settings.drafting = Drafting::Unsaid;
        }
        self.note(format!(
            "the options of {named} are not known, speculation may be among them: give the file with --extra"
        ));
    }

    /// A draft length under a key: above 0, and no longer than any engine drafts; else a note.
    fn length(&mut self, config: &Value, keys: &[&str]) -> Option<u64> {
        let found = under(config, keys).filter(|k| (1..=LONGEST_DRAFT).contains(k));
        let stated = keys.iter().find_map(|key| Some((*key, config.get(*key)?)));
        if let (None, Some((key, value))) = (found, stated) {
            let note = format!("{key} {value} is no draft length from 1 to {LONGEST_DRAFT}: not set");
            self.note(note.clone());
            self.launch.further.wrong_length.get_or_insert(note);
        }
        found
    }

    /// A flag in JSON, whole or key by key.
    fn json(&mut self, name: &str) -> Value {
        let mut found = match self.flags.text(&[name]).map(options) {
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                let found = self.flags.text(&[name]).map_or(Value::Null, pairs);
                let how = if found.is_object() { "read as far as it goes" } else { "not read" };
                self.note(format!("--{name} is no JSON, {error}: {how}"));
                if found.is_object() { found } else { Value::String(String::new()) }
            }
            None => Value::Null,
        };
        for (key, value) in self.flags.keys(name) {
            if !found.is_object() {
                found = Value::Object(serde_json::Map::new());
            }
            let value = options(value).unwrap_or_else(|_| Value::from(value));
            found[key] = value;
        }
        found
    }
}

/// No engine drafts more.
const LONGEST_DRAFT: u64 = 1024;

/// A whole number above or at 0; `32k` is 32,000 and `32K` 32,768.
fn whole(text: &str) -> Option<u64> {
    let (digits, times) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 1000.0),
        'K' => (&text[..text.len() - 1], 1024.0),
        'm' => (&text[..text.len() - 1], 1e6),
        'M' => (&text[..text.len() - 1], 1_048_576.0),
        _ => (text, 1.0),
    };
    let number: f64 = digits.replace('_', "").parse().ok()?;
    let whole = number * times;
    (whole.is_finite() && whole >= 0.0 && whole.fract() == 0.0 && whole < 1e15).then_some(whole as u64)
}

/// A whole number under a key.
fn under(value: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| {
        let found = value.get(key)?;
        found.as_u64().or_else(|| whole(found.as_str()?))
    })
}

/// A text under a key.
fn said(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| Some(value.get(key)?.as_str()?.to_owned()))
}
