//! A tree as TOML: what `catalog` reads back.

use serde_json::{Map, Value};

/// Sections are nested so deep; what lies deeper stands in one line.
const DEEPEST: usize = 2;

/// The text of a document. What is null is left out.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use specplan::report::toml::text;
/// let root = json!({ "title": "mine", "sweep": { "k": [1, 3] }, "drafters": { "own": { "eagle": { "version": 3 } } } });
/// let written = text(root.as_object().unwrap());
/// assert_eq!(written, "title = \"mine\"\n\n[sweep]\nk = [1, 3]\n\n[drafters.own]\neagle = { version = 3 }\n");
/// ```
#[must_use]
pub fn text(root: &Map<String, Value>) -> String {
    let mut sections = Vec::new();
    section(root, &[], &mut sections);
    sections.join("\n")
}

fn section(entries: &Map<String, Value>, path: &[String], sections: &mut Vec<String>) {
    let is_section = |value: &Value| value.is_object() && path.len() < DEEPEST;
    let own: String = entries
        .iter()
        .filter(|(_, value)| !is_section(value) && !value.is_null())
        .map(|(name, value)| format!("{} = {}\n", key(name), inline(value)))
        .collect();
    if !own.is_empty() {
        let head = if path.is_empty() { String::new() } else { format!("[{}]\n", path.join(".")) };
        sections.push(head + &own);
    }
    for (name, value) in entries {
        if let Value::Object(inner) = value
            && path.len() < DEEPEST
        {
            section(inner, &[path, &[key(name)]].concat(), sections);
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            let all: Vec<String> = entries.map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            if all.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", all.join(", ")) }
        }
        // JSON's strings are basic strings of TOML, but for one character that JSON may leave as it is.
        Value::String(_) => value.to_string().replace('\u{7f}', "\\u007f"),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A key, in quotes where it has to be.
#[must_use]
pub fn key(name: &str) -> String {
    let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) && !name.is_empty();
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}
