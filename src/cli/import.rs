//! `specplan import hf`: a configuration in, a model's file and a report out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::builtin;
use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::args::{ImportAction, ImportArgs, ImportHfArgs};
use crate::cli::error::Error;
use crate::cli::files::read::read_config;
use crate::cli::files::{create, make_folder};
use crate::cli::opening::catalog_folder;
use crate::cli::terminal;
use crate::diagnostic::{Source, visible};
use crate::domain::model::Model;
use crate::import::hf::{Asked, Imported, config};
use crate::report::imported;
use crate::words::{Format, HeadKind, Kind};

pub(super) fn import(args: &ImportArgs) -> Result<(), Error> {
    match &args.action {
        ImportAction::Hf(args) => hf(args),
    }
}

fn hf(args: &ImportHfArgs) -> Result<(), Error> {
    let stdin = Path::new("-");
    if args.config == stdin && args.sidecar.as_deref() == Some(stdin) {
        return Err(Error::Usage("standard input is one file: name --sidecar by its path".to_owned()));
    }
    let config_source = source(&args.config)?;
    let sidecar = args.sidecar.as_deref().map(source).transpose()?;
    let target = args.target.as_deref().map(|id| target(args, id)).transpose()?;
    let asked = Asked { id: id(args, &config_source)?, sidecar, role: args.role, target, ignore: args.ignore.clone() };
    let mut imported = config(&config_source, &asked).map_err(Error::Input)?;
    if args.name.is_none() && imported.model.id == "imported" {
        imported.report.warnings.push("the model is called \"imported\": --name gives it an id".to_owned());
    }
    if builtin::text(Kind::Models, &imported.model.id).is_some() {
        let id = &imported.model.id;
        let message = format!("{id} is built in: a file models/{id}.toml takes its place in studies run beside it");
        imported.report.warnings.push(message);
    }
    let file = imported::file(&imported)
        .ok_or_else(|| Error::Internal("an imported model has no layers to write".to_owned()))?;
    let written = args.out.as_deref().map(|folder| write(folder, &imported, &file)).transpose()?;
    show(args, &imported, &file, written.as_deref())
}

/// The configuration; `-` is standard input.
fn source(path: &Path) -> Result<Arc<Source>, Error> {
    let name = if path == Path::new("-") { "<standard input>".to_owned() } else { path.display().to_string() };
    Ok(Arc::new(Source { name, text: read_config(path)?, command_line: false }))
}

/// The id as asked for, else from the folder or file that the configuration lies in.
fn id(args: &ImportHfArgs, source: &Source) -> Result<String, Error> {
    if let Some(name) = &args.name {
        return if is_id(name) && !name.to_lowercase().ends_with(".toml") {
            Ok(name.clone())
        } else {
            let why = "an id has letters, digits, `-`, `_` and `.`, a letter or digit first, and no ending .toml";
            Err(Error::Usage(visible(&format!("--name {name}: {why}"))))
        };
    }
    if args.config == Path::new("-") {
        return Ok("imported".to_owned());
    }
    let path = std::env::current_dir().map(|folder| folder.join(&source.name)).unwrap_or_default();
    Ok(from_path(&path).unwrap_or_else(|| "imported".to_owned()))
}

/// The name of a file that is not called config.json, else of its folder, else of the model that a cache of Hugging
/// Face's holds there: `models--org--name/snapshots/<commit>/config.json`.
fn from_path(path: &Path) -> Option<String> {
    let texts: Vec<String> =
        path.iter().rev().filter_map(|part| part.to_str()).map(str::to_lowercase).take(4).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let name = match texts.as_slice() {
        ["config.json", _, "snapshots", model] => model.rsplit("--").next()?,
        ["config.json", folder, ..] => folder,
        [file, ..] => file.strip_suffix(".json").unwrap_or(file),
        [] => return None,
    };
    is_id(name).then(|| name.to_owned())
}

/// The model that a head drafts for.
fn target(args: &ImportHfArgs, id: &str) -> Result<Model, Error> {
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    match entry(&search, Kind::Models, id).map_err(Error::Input)?.0 {
        Entry::Model(model) => Ok(*model),
        _ => Err(Error::Usage(visible(&format!("--target {id}: this is no model")))),
    }
}

/// Writes the file of the model, never over one that is there.
fn write(folder: &Path, imported: &Imported, file: &str) -> Result<PathBuf, Error> {
    make_folder(folder)?;
    let path = folder.join(format!("{}.toml", imported.model.id));
    create(&path, file.as_bytes())?;
    Ok(path)
}

/// JSON: that alone. Otherwise the file, with the report beside it on standard error; or, where the file was
/// written, the report.
fn show(args: &ImportHfArgs, imported: &Imported, file: &str, written: Option<&Path>) -> Result<(), Error> {
    let next = written.map(|path| {
        let found_by_id = path.parent() == Some(Path::new("models"));
        let shown = if found_by_id { imported.model.id.clone() } else { format!("./{}", path.display()) };
        visible(&format!("wrote {}; name it so: {}", path.display(), naming(&imported.model, &shown)))
    });
    match (args.format, next) {
        (Format::Json, next) => {
            terminal::print(format!("{:#}\n", imported::json(imported)).as_bytes())?;
            next.iter().for_each(|next| terminal::note(next));
        }
        (_, Some(next)) => {
            terminal::print(visible_lines(&imported::text(imported)).as_bytes())?;
            terminal::note(&next);
        }
        (_, None) => {
            terminal::note(visible_lines(&imported::text(imported)).trim_end());
            terminal::print(file.as_bytes())?;
        }
    }
    Ok(())
}

/// How a study names a model.
fn naming(model: &Model, id: &str) -> String {
    let Some(head) = model.head() else { return format!("target = \"{id}\"") };
    let method = match head.kind {
        HeadKind::Eagle1 => format!("eagle = {{ version = 1, id = \"{id}\" }}"),
        HeadKind::Eagle3 => format!("eagle = {{ version = 3, id = \"{id}\" }}"),
        HeadKind::Medusa => format!("medusa = {{ id = \"{id}\" }}"),
        HeadKind::Mtp => format!("mtp = {{ id = \"{id}\" }}"),
        HeadKind::Block => format!("block = {{ id = \"{id}\" }}"),
    };
    format!("drafters = {{ mine = {{ {method} }} }}")
}

/// Keys and values of a foreign text, without what a terminal would act on.
fn visible_lines(text: &str) -> String {
    text.lines().map(|line| visible(line) + "\n").collect()
}
