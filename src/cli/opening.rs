//! Opens what a command works on.

use crate::catalog::load::{Loaded, Request, load};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::CommonArgs;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, render};
use crate::report::manifest::Input;
use crate::sweep::grid::GridError;

/// Reads the scenario and tells its warnings.
pub(super) fn open(common: &CommonArgs) -> Result<Loaded, Error> {
    if let Some(catalog) = common.catalog.as_ref().filter(|catalog| !catalog.is_dir()) {
        return Err(Error::Usage(format!(
            "--catalog {}: there is no such folder; name one that holds hardware, models, engines or scenarios",
            catalog.display()
        )));
    }
    let path = SearchPath { catalog: common.catalog.clone() };
    let changes = common.changes();
    let request = Request { scenario: &common.scenario, changes: &changes, seed: common.seed };
    let loaded = load(&path, &request).map_err(Error::Input)?;
    if !loaded.warnings.is_empty() && !common.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(common.color)));
    }
    Ok(loaded)
}

/// What was read, for the manifest.
pub(super) fn inputs(loaded: &Loaded) -> Vec<Input<'_>> {
    loaded.inputs.iter().map(|input| Input { kind: input.kind, id: &input.id, text: &input.source.text }).collect()
}

/// Why a scenario makes no grid, with what to do.
pub(super) fn no_grid(error: &GridError, loaded: &Loaded) -> Error {
    let (code, place, hint) = match error {
        GridError::TooManyPoints { .. } => {
            ("too-many-points", &loaded.longest_axis, Some("take fewer values on an axis, or raise --max-points"))
        }
        GridError::TooManyBlocks(_) => ("too-many-points", &loaded.root, Some("compare fewer of them in one study")),
        GridError::MissingPeak(_) => ("missing-figure", &loaded.root, None),
    };
    let found = Diagnostic::error(code, error.to_string()).at(place);
    Error::Input(vec![match hint {
        Some(hint) => found.hint(hint),
        None => found,
    }])
}
