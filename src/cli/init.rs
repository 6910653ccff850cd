//! `specplan init`: a commented scenario to start from.

use std::path::Path;

use crate::cli::args::InitArgs;
use crate::cli::error::Error;
use crate::cli::files::create;
use crate::cli::terminal;
use crate::diagnostic::visible;

const SCENARIO: &str = include_str!("../../templates/scenario.toml");

/// Writes the scenario, never over a file that is there.
pub(super) fn init(args: &InitArgs) -> Result<(), Error> {
    let path = args.file.as_path();
    create(path, text(path)?.as_bytes())?;
    let shown = path.display();
    let next = if path.is_absolute() { shown.to_string() } else { format!("./{shown}") };
    terminal::note(&visible(&format!("wrote {shown}; run it with: specplan sweep --scenario {next}")));
    Ok(())
}

/// The scenario, with its own name in the commands it shows.
fn text(path: &Path) -> Result<String, Error> {
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    match path.file_name().and_then(|name| name.to_str()).filter(|name| toml && !name.contains(char::is_control)) {
        Some(name) => Ok(SCENARIO.replace("./NAME", &format!("./{name}"))),
        None => Err(Error::Usage(format!("{}: a scenario's name ends in .toml", path.display()))),
    }
}
