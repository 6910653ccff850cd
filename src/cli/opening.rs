//! Opens what a command works on.

use std::path::{Path, PathBuf};

use crate::catalog::load::{Loaded, Request, load};
use crate::catalog::lookup::SearchPath;
use crate::cli::args::CommonArgs;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::cost::pricing::Unpriceable;
use crate::diagnostic::{Diagnostic, Place, render};
use crate::plan::setup::SetupError;
use crate::report::manifest::Input;
use crate::sweep::grid::GridError;

/// Reads the scenario and tells its warnings.
pub(super) fn open(common: &CommonArgs) -> Result<Loaded, Error> {
    open_with(common, false)
}

/// Reads the scenario; drafters without an acceptance may take what is published of their kind.
pub(super) fn open_with(common: &CommonArgs, published: bool) -> Result<Loaded, Error> {
    let path = SearchPath::new(catalog_folder(common.catalog.as_deref())?);
    let changes = common.changes();
    let request = Request { scenario: &common.scenario, changes: &changes, seed: common.seed, published };
    let loaded = load(&path, &request).map_err(Error::Input)?;
    if !loaded.warnings.is_empty() && !common.quiet {
        terminal::note(&render(&loaded.warnings, terminal::color_stderr(common.color)));
    }
    Ok(loaded)
}

/// The folder of `--catalog`, which must be there.
pub(super) fn catalog_folder(catalog: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    match catalog {
        Some(folder) if !folder.is_dir() => Err(Error::Usage(format!(
            "--catalog {}: there is no such folder; name one that holds hardware, models, engines or scenarios",
            folder.display()
        ))),
        folder => Ok(folder.map(Path::to_owned)),
    }
}

/// What was read, for the manifest.
pub(super) fn inputs(loaded: &Loaded) -> Vec<Input<'_>> {
    loaded.inputs.iter().map(|input| Input { kind: input.kind, id: &input.id, text: &input.source.text }).collect()
}

/// Why a scenario makes no grid, with what to do.
pub(super) fn no_grid(error: &GridError, loaded: &Loaded) -> Error {
    let too_many =
        |place: &Place, hint: &str| vec![Diagnostic::error("too-many-points", error.to_string()).at(place).hint(hint)];
    Error::Input(match error {
        GridError::TooManyPoints { .. } => {
            too_many(&loaded.longest_axis, "take fewer values on an axis, or raise --max-points")
        }
        GridError::TooManyBlocks(_) => too_many(&loaded.root, "compare fewer of them in one study"),
        GridError::Setups(refused) => refused.iter().map(|error| no_setup(error, loaded)).collect(),
    })
}

/// Keys that spread a replica, those first that are given least often.
const SPREAD: &[&str] = &["deployment.pipeline", "deployment.expert_parallel", "tensor_parallel"];
/// Keys that spread a drafter.
const OF_DRAFTER: &[&str] = &["deployment.draft_tensor_parallel", "drafters"];

/// Why a deployment cannot be priced, with what to do.
fn no_setup(error: &SetupError, loaded: &Loaded) -> Diagnostic {
    let (code, keys, hint): (_, &[&str], _) = match error {
        SetupError::NoHead(_) => ("conflict", &["drafters"], "take a target with [[layers]]"),
        SetupError::Unpriceable(error) => unpriceable(error, loaded),
    };
    Diagnostic::error(code, error.to_string()).at(loaded.place(keys)).across_parts().hint(hint)
}

/// Code, the keys that are at fault, and what to do.
fn unpriceable(error: &Unpriceable, loaded: &Loaded) -> (&'static str, &'static [&'static str], &'static str) {
    match error {
        Unpriceable::MissingPeak(_) => (
            "missing-figure",
            &["quantization.activations", "hardware"],
            "state it under [peak] of that hardware, or compute in another format",
        ),
        Unpriceable::MissingCapacity(_) => (
            "missing-figure",
            &["hardware"],
            "copy its file, state what is installed under [memory], such as capacity = \"64 GiB\", and name the copy by \
             its path: hardware = \"./mine.toml\"",
        ),
        Unpriceable::MissingEfficiencies { .. } => (
            "missing-figure",
            &["engine"],
            "price it with engine = \"ideal\"; or give the hardware a family in a file of your own, and write an \
             engine file that extends this one with [family.<that>]: README.md shows both",
        ),
        Unpriceable::MissingLink { .. } => (
            "missing-figure",
            SPREAD,
            "spread it over one device, or describe the link in a hardware file of your own: [link] kind, bandwidth, \
             domain, source",
        ),
        Unpriceable::BeyondLink { .. } => (
            "does-not-fit",
            SPREAD,
            "tensor_parallel x ranks of [deployment] x pipeline stages must lie within one link",
        ),
        Unpriceable::Experts { .. } => (
            "does-not-fit",
            &["deployment.expert_parallel"],
            "a dense model has none to share; else take a divisor of the experts and of tensor_parallel, or with data_parallel_attention = true a multiple of \
             tensor_parallel",
        ),
        Unpriceable::DrafterDevices { .. } => {
            ("does-not-fit", OF_DRAFTER, "take as many devices as the target has, or fewer")
        }
        Unpriceable::Stages { .. } => ("does-not-fit", &["deployment.pipeline"], "a stage has at least one layer"),
        Unpriceable::Unsplittable(of) => {
            let is_target = loaded.scenario.targets.iter().any(|target| target.id == of.model);
            let keys: &[&str] = if is_target { &["tensor_parallel"] } else { OF_DRAFTER };
            ("does-not-fit", keys, "take a degree that divides them")
        }
        Unpriceable::NeedsLayers { .. } => (
            "conflict",
            &["target"],
            "set tensor_parallel to 1 and engine to \"ideal\", or take a model with [[layers]]",
        ),
    }
}
