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
use crate::import::hf::inert::{is_harmless, is_inert};
use crate::import::hf::layers::EXPERTS;
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
    if is_params(&root) {
        let found = Diagnostic::error("wrong-type", "this is the params.json of a release in its maker's own form");
        reader.problem::<()>(found.hint("take the config.json of the same model on Hugging Face"), &root);
        return Err(reader.problems);
    }
    let model_type = reader.find(&["model_type"]);
    if let Some(found) = model_type.as_ref().filter(|found| found.node.text().is_none()) {
        let message = format!("`{}` must be a text, not {}", found.path, found.node.shown());
        reader.problem::<()>(Diagnostic::error("wrong-type", message), found.node);
        return Err(reader.problems);
    }
    let model_type = model_type.and_then(|found| found.node.text()).map(visible);
    let form = match asked.role {
        Some(Role::Target | Role::Drafter) => None,
        Some(Role::Head) | None => heads::form(&root),
    };
    if form.is_none() && asked.role == Some(Role::Head) {
        let found = Diagnostic::error("wrong-role", "nothing in this configuration says that it is a drafting head's");
        reader.problem::<()>(found.hint("leave --role out: it is a whole model's"), &root);
        return Err(reader.problems);
    }
    if let Some(node) = heads::unknown_speculator(&root) {
        let message = format!("`speculators_model_type` is {}, which cannot be priced", node.shown());
        let hint = "priced are eagle, eagle3, peagle, dflash, dspark and mtp";
        reader.problem::<()>(Diagnostic::error("unpriced", message).hint(hint), node);
        return Err(reader.problems);
    }
    let decoder = match form {
        Some(form) => {
            refused::check(&mut reader, model_type.as_deref().unwrap_or_default());
            reader.infer("role", "head", "the configuration is that of a drafting head");
            heads::head(&mut reader, form, asked.target.as_ref())
        }
        None => whole(&mut reader, model_type.as_deref(), asked),
    };
    let experts_apart = model_type.as_deref().is_some_and(|name| name.starts_with("gemma4"));
    let shape = decoder.as_ref().map(|read| formats::Shape { each: &read.each, layers: &read.layers, experts_apart });
    let formats = match &asked.sidecar {
        None => formats::formats(&mut reader, shape.as_ref(), None),
        Some(sidecar) => beside(&mut reader, shape.as_ref(), sidecar)?,
    };
    match (&asked.target, &decoder) {
        (Some(target), Some(read)) if form.is_some() => check_target(&mut reader, target, &read.layers),
        (Some(_), _) if form.is_none() => reader.warn("--target belongs to drafting heads: it has no effect here"),
        _ => {}
    }
    say_the_rest(&mut reader, &root, asked);
    let (Some(decoder::Decoder { layers, mtp, .. }), Some(formats), []) =
        (decoder, formats, reader.problems.as_slice())
    else {
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

/// A head has the width and the vocabulary of what it drafts for.
fn check_target(reader: &mut Reader<'_>, target: &Model, head: &Layers) {
    let Shape::Layers(of) = &target.shape else { return };
    let root = reader.root();
    if target.role == Role::Head {
        let message = format!("`{}` is a head itself, and no head drafts for one", target.id);
        reader.problem::<()>(Diagnostic::error("does-not-fit", message), root);
    }
    for (what, own, its) in
        [("width", head.hidden() as u64, of.hidden() as u64), ("vocabulary", head.vocab(), of.vocab())]
    {
        if own != its {
            let message = format!("the head has a {what} of {own}, and its target `{}` one of {its}", target.id);
            reader.problem::<()>(Diagnostic::error("does-not-fit", message), root);
        }
    }
}

/// The formats with a sidecar, whose mistakes stand in its own text.
fn beside(
    reader: &mut Reader<'_>,
    shape: Option<&formats::Shape<'_>>,
    sidecar: &Arc<Source>,
) -> Result<Option<Formats>, Vec<Diagnostic>> {
    let tree = parse(sidecar).map_err(|found| vec![found])?;
    let mut own = Reader::beside(&tree, sidecar);
    let formats = formats::formats(reader, shape, Some(&mut own));
    reader.problems.append(&mut own.problems);
    reader.report.read.append(&mut own.report.read);
    reader.report.warnings.append(&mut own.report.warnings);
    Ok(formats)
}

/// A whole decoder of a family that is known, or of one that is not and looks like Llama.
fn whole(reader: &mut Reader<'_>, model_type: Option<&str>, asked: &Asked) -> Option<decoder::Decoder> {
    let named = model_type.unwrap_or_default();
    if refused::check(reader, named) {
        return None;
    }
    let known = family_of(reader, model_type);
    let decoder = decoder::decoder(reader, known.unwrap_or(&LLAMA));
    refuse_experts_of_dense(reader);
    warn_of_other_ends(reader);
    if known.is_none() {
        refuse_plain(reader);
        let shown = model_type
            .map_or_else(|| "there is no model_type".to_owned(), |name| format!("model_type {name} is not known here"));
        reader.warn(format!(
            "{shown}: read as a decoder such as Llama, and every key that might change its shape is \
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

/// Mistral's own `params.json` is of another kind.
fn is_params(root: &Json) -> bool {
    root.get("hidden_size").is_none() && ["dim", "n_layers", "n_heads"].iter().all(|key| root.get(key).is_some())
}

/// Types whose class has no experts, whatever a key says.
const DENSE: [&str; 14] = [
    "cohere",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "llama",
    "mistral",
    "olmo2",
    "phi3",
    "qwen2",
    "qwen3",
    "smollm3",
    "stablelm",
    "starcoder2",
];

/// A class that has no experts leaves their keys unread.
fn refuse_experts_of_dense(reader: &mut Reader<'_>) {
    let named = reader.find(&["model_type"]).and_then(|found| found.node.text());
    let Some(named) = named.filter(|named| DENSE.contains(named)) else { return };
    if let Some(found) = reader.find(&EXPERTS).filter(|found| found.node.whole().is_some_and(|count| count > 1)) {
        let message = format!("`{}` is {}, and models of type {named} have no experts", found.path, found.node.shown());
        let hint = "the class of this model_type does not read the key: is it the right type?";
        reader.problem::<()>(Diagnostic::error("conflict", message).hint(hint), found.node);
    }
}

/// A classifier has another end than an LM head.
fn warn_of_other_ends(reader: &mut Reader<'_>) {
    let class = reader.find(&["architectures"]).and_then(|found| found.node.items()?.first()?.text());
    let others = ["Classification", "QuestionAnswering", "RewardModel", "ForMaskedLM"];
    if let Some(class) = class.filter(|class| others.iter().any(|other| class.contains(other))) {
        reader.warn(format!("{} has no LM head: the decoder is counted with one", visible(class)));
    }
}

/// In a family that is not known, only a gate's activation tells that there are three feed-forward matrices.
fn refuse_plain(reader: &mut Reader<'_>) {
    let what = "a gate, and so three feed-forward matrices";
    let keys = ["hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act"];
    let Some(found) = reader.find(&keys) else {
        reader.missing::<()>("its activation, which tells whether there is a gate", &keys);
        return;
    };
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

/// Whether a key is meant by its name, with or without the tables it lies in.
fn is_called(path: &str, key: &str) -> bool {
    path == key || path.ends_with(&format!(".{key}"))
}

/// In a family that is not known, a key that nothing reads might change what a pass costs.
fn refuse_unread(reader: &mut Reader<'_>, asked: &Asked) {
    let windows_off = reader.flag("whether windows are used", &["use_sliding_window"]) == Some(false);
    for found in reader.unread() {
        if windows_off && ["sliding_window", "max_window_layers"].iter().any(|key| is_called(&found.path, key)) {
            continue;
        }
        let ignored = asked.ignore.iter().any(|key| is_called(&found.path, key));
        if ignored || found.node.value == Value::Flag(false) || is_harmless(&found.path) {
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
fn say_the_rest(reader: &mut Reader<'_>, root: &Json, asked: &Asked) {
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
    let unread = reader.unread();
    for key in &asked.ignore {
        if !unread.iter().any(|found| is_called(&found.path, key)) {
            reader.warn(format!("--ignore {}: no key of that name is left unread", visible(key)));
        }
    }
    for found in unread {
        if found.path == nest || asked.ignore.iter().any(|key| is_called(&found.path, key)) {
            continue;
        }
        let list = if is_inert(&found.path) { &mut reader.report.without_effect } else { &mut reader.report.unknown };
        list.push(visible(&found.path));
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
    let plain = !name.trim().is_empty() && name.chars().count() <= 200 && !name.chars().any(is_hidden);
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
