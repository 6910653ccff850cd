//! What measurements name, each entry read once.

use std::collections::HashMap;

use crate::catalog::load::{Entry, entry};
use crate::catalog::lookup::{SearchPath, is_id};
use crate::diagnostic::Diagnostic;
use crate::domain::device::Device;
use crate::domain::engine::Engine;
use crate::domain::model::Model;
use crate::words::Kind;

/// Entries by kind and id; what cannot be read is remembered with its reason.
#[derive(Debug)]
pub struct Shelf<'s> {
    search: &'s SearchPath,
    found: HashMap<(Kind, String), Result<Entry, String>>,
}

impl<'s> Shelf<'s> {
    /// Nothing read yet.
    #[must_use]
    pub fn new(search: &'s SearchPath) -> Self {
        Self { search, found: HashMap::new() }
    }

    fn entry(&mut self, kind: Kind, id: &str) -> Result<&Entry, String> {
        if !is_id(id) {
            let hint = if kind == Kind::Engines { "; a profile of your own prices all rows with --engine" } else { "" };
            return Err(format!("\"{id}\" is no id{hint}"));
        }
        let search = self.search;
        let look_up = || {
            let mistakes = |mistakes: Vec<Diagnostic>| {
                mistakes.first().map_or_else(|| "cannot be read".to_owned(), |one| one.message.clone())
            };
            entry(search, kind, id).map(|(entry, _)| entry).map_err(mistakes)
        };
        let found = self.found.entry((kind, id.to_owned())).or_insert_with(look_up);
        found.as_ref().map_err(Clone::clone)
    }

    /// A device.
    ///
    /// # Errors
    ///
    /// Why there is none of that id, in words.
    pub fn device(&mut self, id: &str) -> Result<Device, String> {
        match self.entry(Kind::Hardware, id)? {
            Entry::Device(device) => Ok((**device).clone()),
            _ => Err(format!("`{id}` is no hardware")),
        }
    }

    /// A model.
    ///
    /// # Errors
    ///
    /// Why there is none of that id, in words.
    pub fn model(&mut self, id: &str) -> Result<Model, String> {
        match self.entry(Kind::Models, id)? {
            Entry::Model(model) => Ok((**model).clone()),
            _ => Err(format!("`{id}` is no model")),
        }
    }

    /// An engine.
    ///
    /// # Errors
    ///
    /// Why there is none of that id, in words.
    pub fn engine(&mut self, id: &str) -> Result<Engine, String> {
        match self.entry(Kind::Engines, id)? {
            Entry::Engine(engine) => Ok((**engine).clone()),
            _ => Err(format!("`{id}` is no engine")),
        }
    }
}
