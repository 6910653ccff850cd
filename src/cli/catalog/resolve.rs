//! A name on the command line into an id: only where one entry alone can be meant.

use crate::catalog::lookup::SearchPath;
use crate::catalog::names::Named;
use crate::cli::error::Error;
use crate::cli::terminal;
use crate::diagnostic::{meant, visible};
use crate::words::Kind;

/// More candidates than this are counted, not listed.
const MOST_LISTED: usize = 16;

/// The id that a name means, with its kinds: an exact id, else the only entry that the name fits, which is told.
pub(super) fn resolve(search: &SearchPath, name: &str, among: &[Kind]) -> Result<(String, Vec<Kind>), Error> {
    let holding = |id: &str| -> Vec<Kind> {
        among.iter().copied().filter(|kind| search.ids(*kind).iter().any(|known| known == id)).collect()
    };
    let kinds = holding(name);
    if !kinds.is_empty() {
        return Ok((name.to_owned(), kinds));
    }
    let candidates = search.meant_by(name, among);
    let Some(first) = candidates.first() else { return Err(unknown(search, name, among)) };
    if candidates.iter().any(|other| other.id != first.id) {
        return Err(Error::Ambiguous { name: name.to_owned(), candidates: listed(&candidates) });
    }
    terminal::note(&visible(&format!("\"{name}\" is {}", first.id)));
    Ok((first.id.clone(), holding(&first.id)))
}

/// A line for each candidate: id, kind, name.
fn listed(candidates: &[&Named]) -> Vec<String> {
    let width = candidates.iter().take(MOST_LISTED).map(|one| one.id.len()).max().unwrap_or_default();
    let kinds = candidates.iter().map(|one| one.kind.as_str().len()).max().unwrap_or_default();
    let line = |one: &&Named| format!("{:<width$}  {:<kinds$}  {}", one.id, one.kind.as_str(), one.name);
    let mut lines: Vec<String> = candidates.iter().take(MOST_LISTED).map(line).collect();
    if candidates.len() > MOST_LISTED {
        lines.push(format!("and {} more; another word tells them apart", candidates.len() - MOST_LISTED));
    }
    lines
}

fn unknown(search: &SearchPath, name: &str, among: &[Kind]) -> Error {
    let all: Vec<String> = among.iter().flat_map(|kind| search.ids(*kind)).collect();
    let ids: Vec<&str> = all.iter().map(String::as_str).collect();
    let what = if among.len() == Kind::COUNT { "the catalog" } else { among.first().map_or("", |kind| kind.as_str()) };
    let hint = meant(name, &ids).unwrap_or_else(|| match among {
        [kind] => format!("specplan catalog list {kind} names all there is"),
        _ => "specplan catalog list names everything there is".to_owned(),
    });
    Error::Usage(format!("nothing in {what} is called \"{name}\"; {hint}"))
}
