//! Verification passes that were measured: what they take by batch and width, in place of a price.

use crate::units::Seconds;

/// Measured seconds of a verification pass of the target, with all that the engine spends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyCost {
    batches: Vec<f64>,
    widths: Vec<f64>,
    /// A row for each batch, a column for each width.
    seconds: Vec<Vec<Seconds>>,
    context: f64,
    source: String,
}

/// Why numbers are no table of verification passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotVerifyCost {
    /// Not in rising order, or none.
    #[error("{0} stand in rising order, each once")]
    Order(&'static str),
    /// No plain step.
    #[error("width begins at 1: that is the plain step, and measured verifications do not go beside a priced one")]
    NoPlainStep,
    /// Wider is shorter.
    #[error("wider verifications take less time than narrower ones, by more than noise")]
    Falling,
    /// Not a number for each batch and width.
    #[error("{batches} batches and {widths} widths have {batches} rows of {widths} times")]
    Shape {
        /// Batches.
        batches: usize,
        /// Widths.
        widths: usize,
    },
}

/// How much shorter a wider verification may have been measured.
const NOISE: f64 = 0.95;

impl VerifyCost {
    /// A table: `seconds[i][j]` of `batches[i]` sequences that verify `widths[j]` tokens each, after `context` cached ones.
    ///
    /// # Errors
    ///
    /// [`NotVerifyCost`].
    pub fn new(
        batches: Vec<f64>,
        widths: Vec<f64>,
        seconds: Vec<Vec<Seconds>>,
        context: f64,
        source: String,
    ) -> Result<Self, NotVerifyCost> {
        let rises = |of: &[f64]| !of.is_empty() && of.windows(2).all(|pair| pair[0] < pair[1]);
        if !rises(&batches) {
            return Err(NotVerifyCost::Order("batches"));
        }
        if !rises(&widths) {
            return Err(NotVerifyCost::Order("widths"));
        }
        if widths.first().is_none_or(|first| (first - 1.0).abs() > 0.0) {
            return Err(NotVerifyCost::NoPlainStep);
        }
        if seconds.len() != batches.len() || seconds.iter().any(|row| row.len() != widths.len()) {
            return Err(NotVerifyCost::Shape { batches: batches.len(), widths: widths.len() });
        }
        let falls = |row: &Vec<Seconds>| row.windows(2).any(|pair| pair[1].get() < NOISE * pair[0].get());
        if seconds.iter().any(falls) {
            return Err(NotVerifyCost::Falling);
        }
        Ok(Self { batches, widths, seconds, context, source })
    }

    /// Seconds of a pass; none outside what was measured.
    ///
    /// # Formula
    ///
    /// Straight lines between neighbours, along the width and along the batch.
    ///
    /// # Examples
    ///
    /// 8 ms at batch 1 and 10 ms at batch 3, both at width 1; nothing is known at batch 4.
    ///
    /// ```
    /// use specplan::{domain::verify_cost::VerifyCost, units::Seconds};
    /// let row = |first: f64| vec![Seconds::new(first), Seconds::new(1.5 * first)];
    /// let table = VerifyCost::new(vec![1.0, 3.0], vec![1.0, 5.0], vec![row(8e-3), row(10e-3)], 400.0, "mine".to_owned())?;
    /// assert!((table.at(2.0, 1.0).unwrap().get() - 9e-3).abs() < 1e-15);
    /// assert!((table.at(2.0, 3.0).unwrap().get() - 11.25e-3).abs() < 1e-15);
    /// assert_eq!((table.at(4.0, 1.0), table.at(2.0, 6.0)), (None, None));
    /// # Ok::<(), specplan::domain::verify_cost::NotVerifyCost>(())
    /// ```
    #[must_use]
    pub fn at(&self, batch: f64, width: f64) -> Option<Seconds> {
        let (row, over) = place(&self.batches, batch)?;
        let (column, along) = place(&self.widths, width)?;
        let cell = |row: usize, column: usize| Some(self.seconds.get(row)?.get(column)?.get());
        let line = |row: usize| {
            let first = cell(row, column)?;
            Some(first + along * (cell(row, column + 1).unwrap_or(first) - first))
        };
        let first = line(row)?;
        Some(Seconds::new(first + over * (line(row + 1).unwrap_or(first) - first)))
    }

    /// Batches that were measured, in rising order.
    #[must_use]
    pub fn batches(&self) -> &[f64] {
        &self.batches
    }

    /// Widths that were measured, in rising order from 1.
    #[must_use]
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }

    /// Times: a row for each batch, a column for each width.
    #[must_use]
    pub fn seconds(&self) -> &[Vec<Seconds>] {
        &self.seconds
    }

    /// Seconds of a pass, or of the widest that was measured of a batch that was, with its width: what is wider takes no less.
    ///
    /// None outside the batches that were measured.
    #[must_use]
    pub fn up_to(&self, batch: f64, width: f64) -> Option<(f64, Seconds)> {
        let within = self.widths.last().map_or(width, |widest| width.min(*widest));
        Some((within, self.at(batch, within)?))
    }

    /// The context that it was measured at.
    #[must_use]
    pub const fn context(&self) -> f64 {
        self.context
    }

    /// Where it is from, with its range, for people.
    #[must_use]
    pub fn line(&self) -> String {
        let ends = |of: &[f64]| match of {
            [only] => format!("{only}"),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        };
        format!(
            "plain steps and verifications at batch {} and width {} as measured at context {} ({}); wider ones priced in proportion to the widest, other \
             batches as priced",
            ends(&self.batches),
            ends(&self.widths),
            self.context,
            self.source
        )
    }
}

/// The neighbour at or below a value, and how far it is on the way to the next.
fn place(of: &[f64], value: f64) -> Option<(usize, f64)> {
    let (first, last) = (*of.first()?, *of.last()?);
    if !(first..=last).contains(&value) {
        return None;
    }
    let at = of.partition_point(|known| *known <= value) - 1;
    match of.get(at + 1) {
        Some(next) => Some((at, (value - of[at]) / (next - of[at]))),
        None => Some((at, 0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(batches: &[f64], widths: &[f64], rows: &[&[f64]]) -> Result<VerifyCost, NotVerifyCost> {
        let seconds = rows.iter().map(|row| row.iter().map(|of| Seconds::new(*of)).collect()).collect();
        VerifyCost::new(batches.to_vec(), widths.to_vec(), seconds, 0.0, String::new())
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(of(&[1.0, 1.0], &[1.0], &[&[1.0], &[1.0]]), Err(NotVerifyCost::Order("batches")));
        assert_eq!(of(&[1.0], &[4.0, 1.0], &[&[1.0, 1.0]]), Err(NotVerifyCost::Order("widths")));
        assert_eq!(of(&[1.0], &[2.0, 4.0], &[&[1.0, 1.0]]), Err(NotVerifyCost::NoPlainStep));
        assert_eq!(of(&[1.0], &[1.0, 4.0], &[&[1.0]]), Err(NotVerifyCost::Shape { batches: 1, widths: 2 }));
    }

    /// At what was measured the table says that, and at its last corner nothing beyond is looked at.
    #[test]
    fn corners_are_as_measured() {
        let table = of(&[1.0, 8.0], &[1.0, 2.0, 5.0], &[&[1.0, 2.0, 3.0], &[4.0, 5.0, 9.0]]).unwrap();
        for (batch, width, seconds) in
            [(1.0, 1.0, 1.0), (8.0, 5.0, 9.0), (1.0, 5.0, 3.0), (8.0, 1.0, 4.0), (8.0, 2.0, 5.0)]
        {
            assert_eq!(table.at(batch, width).unwrap().get().to_bits(), f64::to_bits(seconds));
        }
        let only = of(&[8.0], &[1.0], &[&[4.0]]).unwrap();
        assert_eq!((only.at(8.0, 1.0), only.at(7.0, 1.0)), (Some(Seconds::new(4.0)), None));
    }
}
