//! Published acceptance by kind of drafter, for studies that state none.

use std::sync::Arc;

use crate::catalog::acceptance::{Context, acceptance};
use crate::catalog::builtin;
use crate::catalog::load::Loader;
use crate::catalog::node::{Node, parse};
use crate::catalog::reader::Problems;
use crate::diagnostic::{Diagnostic, Source};
use crate::domain::acceptance::Acceptance;
use crate::words::{DrafterKind, Word};

impl Loader<'_> {
    /// What is published of the kind of a drafter; none of kinds of which nothing is, nor of trees.
    pub(super) fn published(&mut self, drafter: &Node) -> Option<Acceptance> {
        if drafter.get("shape").is_some() {
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
        let mut found = acceptance(document.root.get(kind.as_str())?, &mut problems, self, Context::OneOfMany)?;
        found.provenance.is_published = true;
        Some(found)
    }

    /// The same, or told why not: `acceptance = "published"`.
    pub(super) fn published_or_told(
        &mut self,
        drafter: &Node,
        at: &Node,
        problems: &mut Problems,
    ) -> Option<Acceptance> {
        self.published(drafter).or_else(|| {
            let message = format!("of such a drafter as `{}` no acceptance is published here", drafter.path);
            let hint = "it is of eagle, mtp, block and ngram drafters that draft no tree; state what yours accepts";
            problems.report(Diagnostic::error("missing-figure", message).at(&at.place).hint(hint))
        })
    }
}
