//! A Hugging Face `config.json` into a model, with a report of what was read, inferred and missing.
//!
//! Names of keys differ from family to family, and much that counts has no key at all: `family` says what each
//! `model_type` implies. What has no price is refused by the name of its key.

mod attention;
mod decoder;
mod family;
mod ffn;
mod formats;
mod heads;
mod inert;
mod layers;
mod modules;
mod pruned;
mod reader;
mod refused;
pub mod report;
mod small;

use std::sync::Arc;

pub use modules::Mtp;

use crate::diagnostic::{Diagnostic, Source, is_hidden, visible};
use crate::domain::layers::Layers;
use crate::domain::model::{Formats, Model, Shape};
use crate::import::hf::family::{Family, LLAMA};
use crate::import::hf::inert::is_inert;
use crate::import::hf::reader::Reader;
use crate::import::hf::report::Report;
use crate::import::json::{Json, Value, parse};
use crate::words::Role;

/// Keys that a warning names.
const MOST_NAMED: usize = 20;

/// What is asked of an import.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The id of the model.
    pub id: String,
    /// What a checkpoint's sidecar `hf_quant_config.json` says.
    pub sidecar: Option<Arc<Source>>,
    /// What the model is for; none: as its configuration looks.
    pub role: Option<Role>,
    /// The model that a head drafts for.
    pub target: Option<Model>,
    /// Keys that the user knows to change nothing.
    pub ignore: Vec<String>,
}

/// A model with what is to say of it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model.
    pub model: Model,
    /// Its `model_type`, where it has one.
    pub model_type: Option<String>,
    /// Modules for multi-token prediction, counted beside the model.
    pub mtp: Option<Mtp>,
    /// What was read, inferred and left alone.
    pub report: Report,
}

/// Reads a configuration.
///
/// # Errors
///
/// Every mistake with its place: broken JSON, keys that are missing or wrong, and keys that have no price.
pub fn config(source: &Arc<Source>, asked: &Asked) -> Result<Imported, Vec<Diagnostic>> {
    let root = parse(source).map_err(|found| vec![found])?;
    let mut reader = Reader::new(&root, source);
    if !matches!(root.value, Value::Table(_)) {
        let found = Diagnostic::error("wrong-type", format!("a config.json holds a table, not {}", root.shown()));
        reader.problem::<()>(found, &root);
        return Err(reader.problems);
    }
    let model_type = reader.find(&["model_type"]).and_then(|found| found.node.text()).map(str::to_owned);
    let form = match asked.role {
        Some(Role::Target | Role::Drafter) => None,
        Some(Role::Head) | None => heads::form(&root, true),
    };
    let mut mtp = None;
    let layers = match form {
        Some(form) => {
            reader.infer("role", "head", "the configuration is that of a drafting head");
            heads::head(&mut reader, form, asked.target.as_ref())
        }
        None => {
            let read = whole(&mut reader, model_type.as_deref(), asked);
            mtp = read.as_ref().and_then(|read| read.mtp);
            read.map(|read| read.layers)
        }
    };
    let count = layers.as_ref().map_or(0, |layers| layers.layers() as u64);
    let formats = match &asked.sidecar {
        None => formats::formats(&mut reader, count, None),
        Some(sidecar) => beside(&mut reader, count, sidecar)?,
    };
    say_the_rest(&mut reader, &root);
    let (Some(layers), Some(formats), []) = (layers, formats, reader.problems.as_slice()) else {
        return Err(reader.problems);
    };
    let model = Model {
        id: asked.id.clone(),
        name: named(&root).unwrap_or_else(|| asked.id.clone()),
        role: if form.is_some() { Role::Head } else { asked.role.unwrap_or(Role::Target) },
        vocab: Some(layers.vocab()),
        approximate: false,
        fits: form.and(asked.target.as_ref()).map(|target| target.id.clone()).into_iter().collect(),
        source: Some(format!("{}, read by specplan import hf", visible(&source.name))),
        formats,
        shape: Shape::Layers(layers),
    };
    Ok(Imported { model, model_type, mtp, report: reader.report })
}

/// The formats with a sidecar, whose mistakes stand in its own text.
fn beside(reader: &mut Reader<'_>, layers: u64, sidecar: &Arc<Source>) -> Result<Option<Formats>, Vec<Diagnostic>> {
    let tree = parse(sidecar).map_err(|found| vec![found])?;
    let mut own = Reader::new(&tree, sidecar);
    let formats = formats::formats(reader, layers, Some(&mut own));
    reader.problems.append(&mut own.problems);
    reader.report.read.append(&mut own.report.read);
    reader.report.warnings.append(&mut own.report.warnings);
    Ok(formats)
}

/// A whole decoder of a family that is known, or of one that is not and looks like Llama.
fn whole(reader: &mut Reader<'_>, model_type: Option<&str>, asked: &Asked) -> Option<decoder::Decoder> {
    let named = model_type.unwrap_or_default();
    refused::check(reader, named);
    let known = family_of(reader, model_type);
    let decoder = decoder::decoder(reader, known.unwrap_or(&LLAMA));
    if known.is_none() {
        refuse_plain(reader);
        let shown = model_type.unwrap_or("absent");
        reader.warn(format!(
            "model_type {shown} is not known here: read as a decoder such as Llama, and every key that might change its shape is \
             refused; norms of queries and keys and other small parts that no key tells are not counted"
        ));
        // Where reading ended early, keys are left that are known well.
        if decoder.is_some() {
            refuse_unread(reader, asked);
        }
    }
    decoder
}

/// The family of a `model_type`, or of the class that `architectures` names.
fn family_of(reader: &mut Reader<'_>, model_type: Option<&str>) -> Option<&'static Family> {
    if let Some(found) = model_type.and_then(family::family) {
        return Some(found);
    }
    let class = reader.find(&["architectures"])?.node.items()?.first()?.text()?;
    let endings = ["ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "Model"];
    let stem = endings.iter().find_map(|ending| class.strip_suffix(ending)).unwrap_or(class).to_lowercase();
    let plain = |known: &&'static str| known.replace(['_', '-'], "") == stem;
    let found = family::families().find(|family| family.types.iter().any(&plain))?;
    if model_type.is_none() {
        reader.infer("family", found.types[0], format!("no `model_type`: the class is {class}"));
        return Some(found);
    }
    None
}

/// In a family that is not known, only a gate's activation tells that there are three feed-forward matrices.
fn refuse_plain(reader: &mut Reader<'_>) {
    let Some(found) = reader.find(&["hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act"]) else {
        return;
    };
    let what = "a gate, and so three feed-forward matrices";
    if let Some("silu" | "swiglu" | "swish") = found.node.text() {
        reader.infer(what, true, format!("`{}` is {}", found.path, found.node.shown()));
        return;
    }
    let message = format!(
        "`{}` is {}: with a model_type that is not known here, nothing tells whether feed-forward parts have two \
         matrices or three",
        found.path,
        found.node.shown()
    );
    let hint = "write the model's file by hand";
    reader.problem::<()>(Diagnostic::error("unpriced", message).hint(hint), found.node);
}

/// In a family that is not known, a key that nothing reads might change what a pass costs.
fn refuse_unread(reader: &mut Reader<'_>, asked: &Asked) {
    for found in reader.unread() {
        let ignored = asked.ignore.iter().any(|key| *key == found.path || found.path.ends_with(&format!(".{key}")));
        let harmless = matches!(found.node.value, Value::Text(_) | Value::Flag(false));
        if ignored || harmless || is_inert(&found.path) {
            continue;
        }
        let message = format!(
            "`{}` is {}: it is not known here, and might change what a pass costs",
            found.path,
            found.node.shown()
        );
        let hint = format!("if it changes neither shape nor cost, say so: --ignore {}", found.path);
        reader.problem::<()>(Diagnostic::error("unpriced", message).hint(hint), found.node);
    }
}

/// Notes what nothing has read, and what is not counted.
fn say_the_rest(reader: &mut Reader<'_>, root: &Json) {
    let towers: Vec<&str> = root
        .entries()
        .iter()
        .map(|entry| entry.key.as_str())
        .filter(|key| ["vision_config", "audio_config", "visual", "speech_config"].contains(key))
        .collect();
    let nest = reader.nest().split('.').next().unwrap_or_default().to_owned();
    if !towers.is_empty() {
        reader.warn(format!("only the text decoder is counted, not {}", towers.join(", ")));
    } else if !nest.is_empty() && nest != "transformer_layer_config" {
        reader.warn(format!("only the text decoder, `{nest}`, is counted"));
    }
    for found in reader.unread() {
        if found.path == nest {
            continue;
        }
        let list = if is_inert(&found.path) { &mut reader.report.without_effect } else { &mut reader.report.unknown };
        list.push(found.path);
    }
    let shown = reader.report.unknown.iter().take(MOST_NAMED).map(|key| format!("`{key}`"));
    let unknown: Vec<String> = shown.collect();
    if !unknown.is_empty() {
        let more = reader.report.unknown.len() - unknown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let list = unknown.join(", ") + &more;
        reader.warn(format!("not known here: {list}; if one changes the shape, these counts are wrong"));
    }
}

/// The name that the checkpoint has, if the configuration says.
fn named(root: &Json) -> Option<String> {
    let name = root.get("_name_or_path").and_then(Json::text)?;
    let plain = !name.is_empty() && name.chars().count() <= 200 && !name.chars().any(is_hidden);
    plain.then(|| name.to_owned())
}

impl Imported {
    /// The layers, which every imported model has.
    #[must_use]
    pub const fn layers(&self) -> Option<&Layers> {
        match &self.model.shape {
            Shape::Layers(layers) => Some(layers),
            Shape::Aggregate(_) => None,
        }
    }
}
