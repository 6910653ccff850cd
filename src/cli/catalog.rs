//! `specplan catalog`: what can be named, with figures and sources.

mod filters;
mod list;
mod resolve;
mod show;

use crate::catalog::lookup::SearchPath;
use crate::cli::args::{CatalogAction, CatalogArgs};
use crate::cli::error::Error;
use crate::cli::opening::catalog_folder;

pub(super) fn catalog(args: &CatalogArgs) -> Result<(), Error> {
    let search = SearchPath::new(catalog_folder(args.catalog.as_deref())?);
    match &args.action {
        CatalogAction::List(asked) => list::list(&search, asked, args.format),
        CatalogAction::Show { id } => show::show(&search, id, args.format),
    }
}
