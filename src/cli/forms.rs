//! Which files a command writes, from `--write`.

use std::path::Path;

use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::terminal;
use crate::diagnostic::visible;
use crate::report::chart::{self, spec::Chart};
use crate::report::rows::RowForm;
use crate::words::FileForm;

/// Which files to write.
pub(super) struct Forms {
    pub(super) any: bool,
    pub(super) csv: bool,
    pub(super) json: bool,
    pub(super) jsonl: bool,
    pub(super) parquet: bool,
    pub(super) charts: Vec<chart::Form>,
}

impl Forms {
    /// Reads `--write` of a command whose results are small.
    pub(super) fn of(write: &[FileForm]) -> Result<Self, Error> {
        match write.iter().find(|form| matches!(form, FileForm::Jsonl | FileForm::Parquet)) {
            Some(form) => Err(Error::Usage(format!("--write {form}: only sweep writes it; take csv or json"))),
            None => Self::of_rows(write),
        }
    }

    /// Reads `--write` of a command that streams rows.
    pub(super) fn of_rows(write: &[FileForm]) -> Result<Self, Error> {
        let has = |form| write.contains(&form);
        if has(FileForm::None) && write.iter().any(|form| *form != FileForm::None) {
            return Err(Error::Usage("--write none goes with no other form: leave one of them out".to_owned()));
        }
        if has(FileForm::Parquet) && !cfg!(feature = "parquet") {
            let how = "build with `cargo build --release --features parquet`, or let DuckDB or Polars convert csv";
            return Err(Error::Usage(format!("--write parquet: this build has no feature `parquet`; {how}")));
        }
        let chart = |file, form| has(file).then_some(form);
        let charts = [chart(FileForm::Png, chart::Form::Png), chart(FileForm::Svg, chart::Form::Svg)];
        Ok(Self {
            any: !has(FileForm::None),
            csv: has(FileForm::Csv),
            json: has(FileForm::Json),
            jsonl: has(FileForm::Jsonl),
            parquet: has(FileForm::Parquet),
            charts: charts.into_iter().flatten().collect(),
        })
    }

    /// Those in which rows are streamed to files as text.
    pub(super) fn rows(&self) -> Vec<RowForm> {
        let all = [(self.csv, RowForm::Csv), (self.json, RowForm::Json), (self.jsonl, RowForm::JsonLines)];
        all.into_iter().filter_map(|(wanted, form)| wanted.then_some(form)).collect()
    }

    /// Draws charts in every form that is wanted.
    pub(super) fn draw<'c>(
        &self,
        results: &mut Results,
        charts: impl IntoIterator<Item = &'c Chart> + Clone,
    ) -> Result<(), Error> {
        for form in &self.charts {
            for chart in charts.clone() {
                let drawn = chart::drawn(chart, *form).map_err(|error| Error::Internal(error.to_string()))?;
                results.add(&drawn.ending, &drawn.bytes)?;
            }
        }
        Ok(())
    }

    /// Where the files go, if any are wanted; tells what a killed run left there.
    pub(super) fn open(
        &self,
        folder: &Path,
        scenario: &str,
        command: &str,
        quiet: bool,
    ) -> Result<Option<Results>, Error> {
        if !self.any {
            return Ok(None);
        }
        let results = Results::open(folder, scenario, command)?;
        if !quiet {
            let note = "left by a run that was killed, unless one is going on: remove it";
            let files = results.leftovers().into_iter().filter(|path| path.is_file());
            files.for_each(|path| terminal::note(&visible(&format!("{}: {note}", path.display()))));
        }
        Ok(Some(results))
    }
}
