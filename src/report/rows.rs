//! Rows of a sweep in the forms in which they are streamed: a head, any number of pieces, a tail.

use serde_json::Value;

use crate::report::{csv, fragments};
use crate::sweep::row::{Cell, Row};

/// A form in which rows are streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// RFC 4180, with a header row.
    Csv,
    /// One document: `{"manifest": {…}, "rows": [{…}, …]}`.
    Json,
    /// An object on each line.
    JsonLines,
}

impl RowForm {
    /// The ending of its files.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::JsonLines => "jsonl",
        }
    }

    /// What stands before the first row.
    ///
    /// # Errors
    ///
    /// None in practice: the bytes go to memory.
    pub fn head(self, columns: &[&str], manifest: &Value) -> ::csv::Result<Vec<u8>> {
        Ok(match self {
            Self::Csv => csv::names(columns)?,
            Self::Json => format!("{{\"manifest\":{manifest},\"rows\":[").into_bytes(),
            Self::JsonLines => Vec::new(),
        })
    }

    /// A piece: rows, each with its [`Self::separator`] before it.
    #[must_use]
    pub fn rows(self, rows: &[Row<'_>]) -> Vec<u8> {
        fragments::rows(rows, self.style())
    }

    /// A piece of rows of other columns.
    #[must_use]
    pub fn cells<'c, R: AsRef<[Cell<'c>]>>(self, columns: &[&str], rows: impl Iterator<Item = R>) -> Vec<u8> {
        let mut bytes = Vec::new();
        rows.for_each(|cells| fragments::row(&mut bytes, columns, cells.as_ref(), self.style()));
        bytes
    }

    /// What stands before every row, and has to go from the first.
    #[must_use]
    pub const fn separator(self) -> &'static [u8] {
        match self {
            Self::Json => b",",
            Self::Csv | Self::JsonLines => b"",
        }
    }

    /// What stands after the last row.
    #[must_use]
    pub const fn tail(self) -> &'static [u8] {
        match self {
            Self::Json => b"\n]}\n",
            Self::Csv | Self::JsonLines => b"",
        }
    }

    const fn style(self) -> fragments::Style {
        match self {
            Self::Csv => fragments::CSV,
            Self::Json => fragments::JSON_ITEMS,
            Self::JsonLines => fragments::JSON_LINES,
        }
    }
}
