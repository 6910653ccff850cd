//! `engines/<id>.toml` into an [`Engine`].

use crate::catalog::node::Node;
use crate::catalog::reader::{Fields, Keys, Problems, text};
use crate::diagnostic::Diagnostic;
use crate::domain::engine::{Engine, Profile};

/// Reads an engine. That it adds nothing to the roofline must be said: a file that leaves its
/// efficiencies out would otherwise flatter under a real engine's name.
pub(super) fn engine(root: &Node, id: &str, problems: &mut Problems) -> Option<Engine> {
    let mut fields = Fields::open(root, &Keys::all(&["name", "form", "note"]), problems)?;
    let name = fields.required("name", text);
    let form = fields.required("form", form);
    fields.optional("note", text);
    form?;
    Some(Engine { id: id.to_owned(), name: name?, profile: Profile::Ideal })
}

fn form(node: &Node, problems: &mut Problems) -> Option<()> {
    if text(node, problems)? == "ideal" {
        return Some(());
    }
    let found = Diagnostic::error("not-built-yet", format!("`{}`: this version only knows ideal engines", node.path));
    problems.report(found.at(&node.place).hint("form = \"ideal\" prices without efficiencies and overheads"))
}
