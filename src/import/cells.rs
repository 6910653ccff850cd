//! Cells of a CSV by the names of their columns.

use csv::StringRecord;

/// Larger numbers are no measurement.
pub(super) const LARGEST: f64 = 1e12;
/// Smaller times, rates and factors are none.
pub(super) const LEAST: f64 = 1e-12;

/// The cells of a line by the names of their columns.
pub(super) struct Cells<'a> {
    pub(super) header: &'a StringRecord,
    pub(super) record: &'a StringRecord,
}

impl Cells<'_> {
    pub(super) fn text(&self, column: &str) -> Option<&str> {
        let at = self.header.iter().position(|name| name == column)?;
        self.record.get(at).filter(|cell| !cell.is_empty())
    }

    pub(super) fn words(&self, column: &str) -> Result<String, String> {
        self.text(column).map(str::to_owned).ok_or_else(|| format!("no {column}"))
    }

    /// A number within bounds, if the cell is not empty.
    pub(super) fn number(&self, column: &str, least: f64) -> Result<Option<f64>, String> {
        let Some(cell) = self.text(column) else { return Ok(None) };
        match cell.parse::<f64>() {
            Ok(number) if (least..=LARGEST).contains(&number) => Ok(Some(number)),
            Ok(_) => Err(format!("{column} \"{cell}\" is not between {least} and {LARGEST:e}")),
            Err(_) => Err(format!("{column} \"{cell}\" is no number")),
        }
    }

    pub(super) fn whole(&self, column: &str, least: f64) -> Result<Option<u64>, String> {
        match self.number(column, least)? {
            Some(number) if number.fract() != 0.0 => Err(format!("{column} {number} is no whole number")),
            number => Ok(number.map(|number| number as u64)),
        }
    }

    /// A number above zero.
    pub(super) fn positive(&self, column: &str) -> Result<Option<f64>, String> {
        match self.number(column, 0.0)? {
            Some(0.0) => Err(format!("{column} is 0")),
            Some(number) if number < LEAST => {
                Err(format!("{column} {number:e} is not between {LEAST:e} and {LARGEST:e}"))
            }
            number => Ok(number),
        }
    }

    pub(super) fn needed<T>(found: Option<T>, column: &str) -> Result<T, String> {
        found.ok_or_else(|| format!("no {column}"))
    }
}
