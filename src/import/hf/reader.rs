//! Keys of a configuration under their many names, with a note of everything that was read.

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place, Source, visible};
use crate::import::hf::family::Family;
use crate::import::hf::report::{Inferred, Read, Report};
use crate::import::json::{Json, Value};

/// Where decoders of multimodal models and of drafting heads keep their keys.
const NESTS: [&[&str]; 6] = [
    &["text_config"],
    &["language_config"],
    &["llm_config"],
    &["transformer_layer_config"],
    &["thinker_config", "text_config"],
    &["thinker_config"],
];
/// Keys that may stand outside the nest and mean the decoder.
/// Tables of which each key is read or reported.
const INSIDE: [&str; 4] = ["ffn_config", "attn_config", "dflash_config", "eagle_config"];
const SHARED: [&str; 14] = [
    "tie_word_embeddings",
    "dtype",
    "torch_dtype",
    "quantization_config",
    "compression_config",
    "vocab_size",
    "model_type",
    "architectures",
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "draft_vocab_size",
    "block_size",
    "aux_hidden_state_layer_ids",
    "target_hidden_size",
];
/// Nobody reads more mistakes of one text, and each costs time.
const MOST_KEPT: usize = 1000;
/// The largest width or count, as in a model's file.
pub(super) const LARGEST_COUNT: i64 = 1 << 24;

/// A configuration that is being read.
pub(super) struct Reader<'j> {
    source: Arc<Source>,
    /// Paths and tables, the decoder's own first.
    tables: Vec<(String, &'j Json)>,
    root: &'j Json,
    /// What its text is called where it is a whole.
    called: &'static str,
    used: HashSet<String>,
    pub(super) report: Report,
    pub(super) problems: Vec<Diagnostic>,
}

/// A value that was found.
#[derive(Clone)]
pub(super) struct Found<'j> {
    pub(super) path: String,
    pub(super) node: &'j Json,
}

impl<'j> Reader<'j> {
    /// Finds the decoder's table.
    pub(super) fn new(root: &'j Json, source: &Arc<Source>) -> Self {
        let nest = NESTS.iter().find_map(|keys| {
            let node = keys.iter().try_fold(root, |node, key| node.get(key))?;
            matches!(node.value, Value::Table(_)).then(|| (format!("{}.", keys.join(".")), node))
        });
        // vLLM's form of an EAGLE head holds the layer's keys under `model`.
        let eagle = root.get("model_type").and_then(Json::text) == Some("eagle");
        let model = root.get("model").filter(|_| eagle).map(|node| ("model.".to_owned(), node));
        let mut tables: Vec<(String, &Json)> = nest.or(model).into_iter().collect();
        tables.push((String::new(), root));
        Self {
            source: Arc::clone(source),
            tables,
            root,
            called: "the configuration",
            used: HashSet::new(),
            report: Report::default(),
            problems: Vec::new(),
        }
    }

    /// The same for a file that lies beside a configuration.
    pub(super) fn beside(root: &'j Json, source: &Arc<Source>) -> Self {
        Self {
            called: "the file beside the configuration",
            tables: vec![(String::new(), root)],
            ..Self::new(root, source)
        }
    }

    /// The path of the decoder's table, empty where it is the whole text.
    pub(super) fn nest(&self) -> &str {
        self.tables.first().map_or("", |(path, _)| path.trim_end_matches('.'))
    }

    /// A size of the class that such configurations leave out.
    pub(super) fn size(&self, family: &Family, key: &str) -> Option<u64> {
        family.size(key, !self.nest().is_empty())
    }

    /// The whole text.
    pub(super) const fn root(&self) -> &'j Json {
        self.root
    }

    /// A place in the text.
    pub(super) fn place(&self, node: &Json) -> Place {
        Place { source: Arc::clone(&self.source), span: node.span.clone() }
    }

    /// The first of some keys that has a value; a dotted key lies in a table of its own. All of them count as read.
    pub(super) fn find(&mut self, keys: &[&str]) -> Option<Found<'j>> {
        let mut found: Option<Found<'j>> = None;
        let mut told = Vec::new();
        for (at, (prefix, table)) in self.tables.iter().enumerate() {
            for key in keys {
                let own = at == 0 || SHARED.contains(key);
                let node = key.split('.').try_fold(*table, |node, part| node.get(part));
                let Some(node) = node.filter(|_| own) else { continue };
                let path = format!("{prefix}{key}");
                self.used.insert(path.clone());
                if node.is_null() {
                    continue;
                }
                match &found {
                    None => found = Some(Found { path, node }),
                    Some(Found { path: first, node: other }) if at == 0 && other.value != node.value => {
                        told.push(format!(
                            "`{first}` is {}, and `{path}` {}: the first counts",
                            other.shown(),
                            node.shown()
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
        told.into_iter().for_each(|message| self.warn(visible(&message)));
        found
    }

    /// Whether one of some keys has a value; this does not count as reading it.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        let held = |table: &Json, key: &str| {
            let node = key.split('.').try_fold(table, |node, part| node.get(part));
            node.is_some_and(|node| !node.is_null())
        };
        self.tables.first().is_some_and(|(_, table)| keys.iter().any(|key| held(table, key)))
    }

    /// Whether the decoder's table names one of some keys, null or not.
    pub(super) fn names(&self, keys: &[&str]) -> bool {
        self.tables.first().is_some_and(|(_, table)| keys.iter().any(|key| table.get(key).is_some()))
    }

    /// Whether there is a vocabulary.
    pub(super) fn has_vocab(&self) -> bool {
        self.tables.iter().any(|(_, table)| table.get("vocab_size").is_some_and(|node| !node.is_null()))
    }

    /// A width or a count of at least `least`, if a key has one.
    pub(super) fn count_from(&mut self, what: &'static str, keys: &[&str], least: i64) -> Option<u64> {
        let found = self.find(keys)?;
        self.whole(what, &found, least)
    }

    /// A width or a count, if a key has one that is not null.
    pub(super) fn count(&mut self, what: &'static str, keys: &[&str]) -> Option<u64> {
        self.count_from(what, keys, 1)
    }

    /// A width or a count, else what the class of such models has.
    pub(super) fn count_or(&mut self, what: &'static str, keys: &[&str], usual: Option<u64>) -> Option<u64> {
        if self.find(keys).is_some() {
            return self.count(what, keys);
        }
        match usual {
            Some(usual) => {
                self.infer(what, usual, format!("`{}` is absent; the class of this model_type has it so", keys[0]));
                Some(usual)
            }
            None => self.missing(what, keys),
        }
    }

    /// A width or a count that must be there.
    pub(super) fn required(&mut self, what: &'static str, keys: &[&str]) -> Option<u64> {
        self.count_or(what, keys, None)
    }

    /// A whole number at a place.
    pub(super) fn whole(&mut self, what: &'static str, found: &Found<'j>, least: i64) -> Option<u64> {
        let Found { path, node } = found;
        match node.whole() {
            Some(number) if (least..=LARGEST_COUNT).contains(&number) => {
                self.note(what, path, node);
                u64::try_from(number).ok()
            }
            Some(number) => {
                let message = format!("`{path}` is {number}: {what} must be from {least} to {LARGEST_COUNT}");
                self.problem(Diagnostic::error("out-of-range", message), node)
            }
            None => {
                let message = format!("`{path}` must be a whole number ({what}), not {}", node.shown());
                self.problem(Diagnostic::error("wrong-type", message), node)
            }
        }
    }

    /// A width or a count that follows from others, which a model's file could not hold if it were larger.
    pub(super) fn derived(&mut self, what: &'static str, value: u64) -> Option<u64> {
        if value <= LARGEST_COUNT as u64 {
            return Some(value);
        }
        let message = format!("{what} would be {value}: at most {LARGEST_COUNT} can be priced");
        let (_, table) = self.tables.first()?;
        let start = table.span.start;
        let place = Place { source: Arc::clone(&self.source), span: start..start + 1 };
        self.problems.push(Diagnostic::error("out-of-range", message).at(&place));
        None
    }

    /// Yes or no, if a key says.
    pub(super) fn flag(&mut self, what: &'static str, keys: &[&str]) -> Option<bool> {
        let Found { path, node } = self.find(keys)?;
        if let Value::Flag(flag) = node.value {
            self.note(what, &path, node);
            return Some(flag);
        }
        let message = format!("`{path}` must be true or false ({what}), not {}", node.shown());
        self.problem(Diagnostic::error("wrong-type", message), node)
    }

    /// Yes or no at the top of a text whose decoder lies inside, if the key says so there.
    pub(super) fn outer_flag(&mut self, what: &'static str, key: &'static str) -> Option<bool> {
        let outer = self.root.get(key).filter(|_| !self.nest().is_empty())?;
        let Value::Flag(said) = outer.value else { return None };
        let inner = self.tables.first().and_then(|(_, table)| table.get(key)).filter(|node| !node.is_null());
        self.used.insert(key.to_owned());
        if inner.is_some_and(|inner| inner.value != outer.value) {
            self.warn(format!(
                "`{key}` differs inside and outside of `{}`: the outer one counts, and classes differ",
                self.nest()
            ));
        }
        self.note(what, key, outer);
        Some(said)
    }

    /// A list, if a key has one.
    pub(super) fn list(&mut self, what: &'static str, keys: &[&str]) -> Option<(Found<'j>, &'j [Json])> {
        let found = self.find(keys)?;
        match found.node.items() {
            Some(items) => {
                self.note(what, &found.path.clone(), found.node);
                Some((found, items))
            }
            None => {
                let message = format!("`{}` must be a list ({what}), not {}", found.path, found.node.shown());
                self.problem(Diagnostic::error("wrong-type", message), found.node)
            }
        }
    }

    /// Notes that a key was read.
    pub(super) fn note(&mut self, what: &'static str, path: &str, node: &Json) {
        let read = Read { what, key: visible(path), value: visible(&node.shown()) };
        if self.report.read.len() < MOST_KEPT && !self.report.read.contains(&read) {
            self.report.read.push(read);
        }
    }

    /// Notes what no key says.
    pub(super) fn infer(&mut self, what: &'static str, value: impl ToString, why: impl Into<String>) {
        let inferred = Inferred { what, value: value.to_string(), why: why.into() };
        if !self.report.inferred.contains(&inferred) {
            self.report.inferred.push(inferred);
        }
    }

    /// Notes what its reader should know.
    pub(super) fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        if !self.report.warnings.contains(&message) {
            self.report.warnings.push(message);
        }
    }

    /// Notes a key that is not known, in a table whose keys are not read one by one.
    pub(super) fn unknown(&mut self, path: &str) {
        if self.report.unknown.len() < MOST_KEPT {
            self.report.unknown.push(visible(path));
        }
    }

    /// Reports a mistake at a value.
    pub(super) fn problem<T>(&mut self, found: Diagnostic, node: &Json) -> Option<T> {
        // The same said of every layer is said once.
        let known = self.problems.iter().any(|known| known.message == found.message);
        if !known && self.problems.len() < MOST_KEPT {
            self.problems.push(found.at(&self.place(node)));
        }
        None
    }

    /// Reports a key that is needed and absent.
    pub(super) fn missing<T>(&mut self, what: &'static str, keys: &[&str]) -> Option<T> {
        let place = self.place(self.tables.first().map_or(self.root, |(_, table)| table));
        let place = Place { span: place.span.start..(place.span.start + 1).min(place.span.end), ..place };
        let others = match &keys[1..] {
            [] => String::new(),
            others => format!("; other names of it: {}", others.join(", ")),
        };
        let nest = self.nest();
        let table = if nest.is_empty() { self.called.to_owned() } else { format!("`{nest}`") };
        let found = Diagnostic::error("missing-key", format!("{table} has no `{}` ({what})", keys[0]))
            .at(&place)
            .hint(format!("nothing is guessed: take the whole file of the model{others}"));
        if !self.problems.contains(&found) {
            self.problems.push(found);
        }
        None
    }

    /// Keys of the decoder, and at the top, that nothing has read.
    pub(super) fn unread(&self) -> Vec<Found<'j>> {
        // A table counts as read if something in it was: every path that leads to a key is known.
        let leading = |used: &String| -> Vec<String> {
            let ends = used.match_indices('.').map(|(at, _)| used[..at].to_owned());
            ends.chain([used.clone()]).collect()
        };
        let known: HashSet<String> = self.used.iter().flat_map(leading).collect();
        let mut unread = Vec::new();
        for (prefix, table) in &self.tables {
            for entry in table.entries() {
                let path = format!("{prefix}{}", entry.key);
                if known.contains(&path) || INSIDE.contains(&entry.key.as_str()) {
                    let inside = if INSIDE.contains(&entry.key.as_str()) { entry.value.entries() } else { &[] };
                    let inside = inside.iter().map(|inner| (format!("{path}.{}", inner.key), &inner.value));
                    let inside = inside.filter(|(path, node)| !known.contains(path) && !node.is_null());
                    unread.extend(inside.map(|(path, node)| Found { path, node }));
                } else if !entry.value.is_null() {
                    unread.push(Found { path, node: &entry.value });
                }
            }
        }
        unread
    }
}
