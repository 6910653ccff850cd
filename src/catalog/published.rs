//! Published acceptance by kind of drafter, for studies that state none.

use std::sync::Arc;

use crate::catalog::acceptance::{Context, acceptance};
use crate::catalog::builtin;
use crate::catalog::load::Loader;
use crate::catalog::node::{Node, parse};
use crate::catalog::reader::Problems;
use crate::diagnostic::Source;
use crate::domain::acceptance::Acceptance;
use crate::words::{DrafterKind, Word};

impl Loader<'_> {
    /// What is published of the kind of a drafter, where the study may take it; none of kinds of which nothing is.
    pub(super) fn published(&mut self, drafter: &Node) -> Option<Acceptance> {
        if !self.takes_published() {
            return None;
        }
        let kind = DrafterKind::ALL.iter().find(|kind| drafter.get(kind.as_str()).is_some())?;
        let source = Source {
            name: "acceptance/published.toml".to_owned(),
            text: builtin::ACCEPTANCE.to_owned(),
            command_line: false,
        };
        let document = parse(&Arc::new(source));
        let mut problems = Problems::of(&document);
        acceptance(document.root.get(kind.as_str())?, &mut problems, self, Context::OneOfMany)
    }
}
