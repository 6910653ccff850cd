//! Rows as a Parquet file, in builds that have the feature.

#[cfg(feature = "parquet")]
pub(super) use with::Columns;
#[cfg(not(feature = "parquet"))]
pub(super) use without::Columns;

#[cfg(feature = "parquet")]
mod with {
    use crate::cli::error::Error;
    use crate::cli::files::{Growing, Results};
    use crate::cli::forms::Forms;
    use crate::cli::sweep::work::Detail;
    use crate::report::parquet::Writer;
    use crate::sweep::row::Row;
    use crate::sweep::summary::Line;

    /// A file that takes rows as columns.
    pub(in crate::cli::sweep) struct Columns(Writer<Growing>);

    fn failed(error: impl std::fmt::Display) -> Error {
        Error::Internal(format!("Parquet: {error}"))
    }

    impl Columns {
        /// Opens the file, if it is wanted.
        pub(in crate::cli::sweep) fn start(
            forms: &Forms,
            detail: Detail,
            results: Option<&Results>,
        ) -> Result<Option<Self>, Error> {
            let Some(results) = results.filter(|_| forms.parquet) else { return Ok(None) };
            let file = results.start("parquet")?;
            Writer::new(file, detail.columns()).map(|writer| Some(Self(writer))).map_err(failed)
        }

        pub(in crate::cli::sweep) fn rows(&mut self, rows: &[Row<'_>]) -> Result<(), Error> {
            rows.iter().try_for_each(|row| self.0.take(&row.cells())).map_err(failed)
        }

        pub(in crate::cli::sweep) fn lines(&mut self, lines: &[Line<'_>]) -> Result<(), Error> {
            lines.iter().try_for_each(|line| self.0.take(&line.cells())).map_err(failed)
        }

        pub(in crate::cli::sweep) fn finish(self, results: Option<&mut Results>) -> Result<(), Error> {
            let file = self.0.finish().map_err(failed)?;
            results.map_or(Ok(()), |results| results.finish(file))
        }
    }
}

#[cfg(not(feature = "parquet"))]
mod without {
    use crate::cli::error::Error;
    use crate::cli::files::Results;
    use crate::cli::forms::Forms;
    use crate::cli::sweep::work::Detail;
    use crate::sweep::row::Row;
    use crate::sweep::summary::Line;

    /// There is none in this build, which [`Forms::of_rows`] says.
    pub(in crate::cli::sweep) enum Columns {}

    impl Columns {
        #[expect(clippy::unnecessary_wraps, reason = "builds with the feature can fail")]
        pub(in crate::cli::sweep) const fn start(
            _: &Forms,
            _: Detail,
            _: Option<&Results>,
        ) -> Result<Option<Self>, Error> {
            Ok(None)
        }

        pub(in crate::cli::sweep) const fn rows(&self, _: &[Row<'_>]) -> Result<(), Error> {
            match *self {}
        }

        pub(in crate::cli::sweep) const fn lines(&self, _: &[Line<'_>]) -> Result<(), Error> {
            match *self {}
        }

        pub(in crate::cli::sweep) const fn finish(self, _: Option<&mut Results>) -> Result<(), Error> {
            match self {}
        }
    }
}
