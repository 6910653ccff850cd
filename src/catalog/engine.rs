//! `engines/<id>.toml` into an [`Engine`].

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, text};
use crate::domain::engine::{Engine, Profile};

/// Reads an engine. A file without efficiencies and overheads is the ideal engine.
pub(super) fn engine(root: &Node, id: &str, problems: &mut Problems) -> Option<Engine> {
    let mut fields = Fields::open(root, &Keys::all(&["name", "note"]), problems)?;
    let name = fields.required("name", text);
    fields.optional("note", text);
    Some(Engine { id: id.to_owned(), name: name?, profile: Profile::Ideal })
}
