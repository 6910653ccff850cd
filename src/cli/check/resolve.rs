//! Names of a launch command in the catalog.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::{SearchPath, is_id};
use crate::cli::error::Error;
use crate::cli::files::read::read_config;
use crate::diagnostic::Source;
use crate::domain::device::Device;
use crate::domain::model::Model;
use crate::import::hf::{Asked, config};
use crate::import::launch::{accelerators, checkpoint};
use crate::report::imported;
use crate::words::{Dtype, Kind, Role};

/// A name that was looked up.
pub(super) struct Found<T> {
    /// As it was written.
    pub(super) written: String,
    /// What the catalog has under it.
    pub(super) entry: Option<T>,
    /// How it came to that, where that is not plain.
    pub(super) note: Option<String>,
}

/// The accelerators of `--gpu`, and how many.
pub(super) fn hardware(search: &SearchPath, text: &str) -> (Found<Device>, Option<u64>) {
    let (name, count) = accelerators(text);
    if let Some(entry) = device(search, &name) {
        return (Found { written: name, entry: Some(entry), note: None }, count);
    }
    let meant = search.meant_by(&name, &[Kind::Hardware]);
    let ids: Vec<String> = meant.iter().map(|one| one.id.clone()).filter(|id| !id.starts_with("founding")).collect();
    // What is served is mostly the one that is made for servers, with the most memory.
    let devices: Vec<Device> = ids.iter().filter_map(|id| device(search, id)).collect();
    let rank = |of: &Device| (of.id.contains("sxm"), of.capacity().map_or(0.0, |capacity| capacity.get()));
    let best = devices.iter().max_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
    let others: Vec<&str> =
        ids.iter().map(String::as_str).filter(|id| best.is_none_or(|best| best.id != *id)).take(6).collect();
    let too = if others.is_empty() { String::new() } else { format!("; there are {} too", others.join(", ")) };
    let times = count.map_or_else(String::new, |count| format!("{count} x "));
    let note = best.map(|best| format!("--gpu {text} is taken as {times}{}{too}", best.id));
    (Found { written: name, entry: best.cloned(), note }, count)
}

fn device(search: &SearchPath, id: &str) -> Option<Device> {
    if !is_id(id) && !id.ends_with(".toml") {
        return None;
    }
    match entry(search, Kind::Hardware, id).ok()?.0 {
        Entry::Device(device) => Some(*device),
        _ => None,
    }
}

/// A model by the name of its checkpoint: only one that is called just so, but for formats and dates.
pub(super) fn model(search: &SearchPath, written: &str, is_wanted: impl Fn(&Model) -> bool) -> Found<Model> {
    for name in checkpoint(written) {
        let ids: Vec<String> = search.meant_by(&name, &[Kind::Models]).iter().map(|one| one.id.clone()).collect();
        let models = ids.iter().filter_map(|id| of_id(search, id)).filter(|model| is_wanted(model));
        let models: Vec<Model> = models.filter(|model| !model.id.starts_with("founding")).collect();
        if let [only] = models.as_slice() {
            let note = format!("{written} is taken as {}", only.id);
            let is_plain = only.id.eq_ignore_ascii_case(&name);
            return Found { written: written.to_owned(), entry: Some(only.clone()), note: (!is_plain).then_some(note) };
        }
    }
    Found { written: written.to_owned(), entry: None, note: None }
}

fn of_id(search: &SearchPath, id: &str) -> Option<Model> {
    match entry(search, Kind::Models, id).ok()?.0 {
        Entry::Model(model) => Some(*model),
        _ => None,
    }
}

/// Whether a model can be a target.
pub(super) fn is_target(model: &Model) -> bool {
    model.head().is_none()
}

/// A model from its configuration, as an entry of the catalog.
pub(super) fn of_config(path: &Path, id: &str, target: Option<&Model>) -> Result<(Model, String), Error> {
    let text = read_config(path)?;
    let source = Arc::new(Source { name: path.display().to_string(), text, command_line: false });
    let role = target.map_or(Some(Role::Target), |_| None);
    let asked = Asked { id: id.to_owned(), sidecar: None, role, target: target.cloned(), ignore: Vec::new() };
    let read = config(&source, &asked).map_err(Error::Input)?;
    let file =
        imported::file(&read).ok_or_else(|| Error::Internal("an imported model has no layers to write".to_owned()))?;
    Ok((read.model, file))
}

/// Whether a device computes in 4 bits.
pub(super) fn has_fp4(device: &Device) -> bool {
    device.peak(Dtype::Fp4).is_ok()
}
