//! Commands in files for containers: `command` and `args` of compose files and pods.

use serde_json::Value;

use crate::import::launch::options::yaml;
use crate::import::launch::shell::pasted;

/// What only files for containers have.
const KEYS: [&str; 3] = ["command:", "args:", "entrypoint:"];

/// The words of a container's command, after its image: as `docker run IMAGE …` has them.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    if !text.lines().any(|line| KEYS.iter().any(|key| line.trim_start().trim_start_matches("- ").starts_with(key))) {
        return None;
    }
    let root = yaml(text).ok()?;
    let mut found = None;
    walk(&root, &mut found);
    found
}

fn walk(value: &Value, found: &mut Option<Vec<String>>) {
    match value {
        Value::Object(entries) if found.is_none() => {
            let of = |key: &str| entries.get(key).map_or_else(Vec::new, listed);
            let own = [of("entrypoint"), of("command"), of("args")].concat();
            if own.is_empty() {
                entries.values().for_each(|inner| walk(inner, found));
                return;
            }
            let image = entries.get("image").and_then(Value::as_str);
            let run = image.map_or_else(Vec::new, |image| vec!["run".to_owned(), image.to_owned()]);
            *found = Some([run, own].concat());
        }
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, found)),
        _ => {}
    }
}

/// A list of words, or a text with several.
fn listed(value: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(items) => items.iter().map(word).collect(),
        Value::String(text) => pasted(text)
            .map_or_else(|_| Vec::new(), |read| read.lines.into_iter().flat_map(|line| line.words).collect()),
        _ => Vec::new(),
    }
}
