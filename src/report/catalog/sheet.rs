//! An entry as lines of a label and a figure, with sources under them.

use crate::report::table::Style;

/// What a file says beside figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Other names.
    pub aliases: Vec<String>,
    /// What its user should know.
    pub note: Option<String>,
}

/// The lines of an entry.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Sheet {
    lines: Vec<(String, String)>,
}

impl Sheet {
    /// A sheet that starts with a name, other names and a note.
    pub(in crate::report) fn of(name: &str, remarks: &Remarks) -> Self {
        let mut sheet = Self::default();
        sheet.line("name", name);
        if !remarks.aliases.is_empty() {
            sheet.line("also called", remarks.aliases.join(", "));
        }
        remarks.note.iter().for_each(|note| sheet.line("note", note));
        sheet
    }

    /// A figure under its label.
    pub(in crate::report) fn line(&mut self, label: impl Into<String>, value: impl Into<String>) {
        self.lines.push((label.into(), value.into()));
    }

    /// Where the lines above are from.
    pub(in crate::report) fn source(&mut self, source: Option<&str>) {
        self.line("  source", source.unwrap_or("not stated"));
    }

    /// The sheet as text in two columns, or as a Markdown table.
    pub(in crate::report) fn render(&self, style: Style) -> String {
        let line = |(label, value): &(String, String)| match style {
            Style::Plain | Style::Ansi => format!("{label:<16}{value}\n"),
            Style::Markdown => format!("| {} | {} |\n", label.trim_start(), value.replace('|', "\\|")),
        };
        let head = if style == Style::Markdown { "| figure | value |\n|---|---|\n" } else { "" };
        std::iter::once(head.to_owned()).chain(self.lines.iter().map(line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_two_columns_or_a_table() {
        let remarks = Remarks { aliases: vec!["C".to_owned(), "D".to_owned()], note: None };
        let mut sheet = Sheet::of("A|B", &remarks);
        sheet.source(None);
        assert_eq!(
            sheet.render(Style::Plain),
            "name            A|B\nalso called     C, D\n  source        not stated\n"
        );
        let table =
            "| figure | value |\n|---|---|\n| name | A\\|B |\n| also called | C, D |\n| source | not stated |\n";
        assert_eq!(sheet.render(Style::Markdown), table);
    }
}
