//! `specplan import hf`: a configuration in, a model's file and a report out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::args::{ImportAction, ImportArgs, ImportHfArgs};
use crate::cli::error::Error;
use crate::cli::files::{create, make_folder, read_config};
use crate::cli::opening::catalog_folder;
use crate::cli::terminal;
use crate::diagnostic::{Source, visible};
use crate::domain::model::Model;
use crate::import::hf::{Asked, Imported, config};
use crate::report::imported;
use crate::words::{Format, Kind};

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
    let imported = config(&config_source, &asked).map_err(Error::Input)?;
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
    let path = Path::new(&source.name);
    let part = |path: Option<&Path>| {
        let text = path?.file_name()?.to_str()?.to_lowercase();
        let text = text.strip_suffix(".json").unwrap_or(&text).to_owned();
        (is_id(&text) && text != "config").then_some(text)
    };
    let whole = std::env::current_dir().map(|folder| folder.join(path)).unwrap_or_default();
    Ok(part(Some(path)).or_else(|| part(whole.parent())).unwrap_or_else(|| "imported".to_owned()))
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
        let key = if imported.model.head().is_some() { "a drafter's id" } else { "target" };
        let found_by_id = path.parent() == Some(Path::new("models"));
        let shown = if found_by_id { imported.model.id.clone() } else { format!("./{}", path.display()) };
        visible(&format!("wrote {}; name it so: {key} = \"{shown}\"", path.display()))
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

/// Keys and values of a foreign text, without what a terminal would act on.
fn visible_lines(text: &str) -> String {
    text.lines().map(|line| visible(line) + "\n").collect()
}
