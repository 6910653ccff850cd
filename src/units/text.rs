//! Quantities from text and to text: `"3.35 TB/s"`, `"80 GiB"`, `"989.4 TFLOP/s"`, `"3.8 us"`.

use std::fmt;

use super::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};

/// What a quantity is called, and how it is written.
pub trait Quantity: Copy {
    /// The dimension in words, as error messages name it.
    const DIMENSION: Dimension;
    /// From a number in the SI base unit.
    fn from_si(value: f64) -> Self;
    /// To a number in the SI base unit.
    fn to_si(self) -> f64;
}

/// The dimensions that text can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// s.
    Time,
    /// B.
    Memory,
    /// B/s.
    Bandwidth,
    /// FLOP.
    Work,
    /// FLOP/s.
    ComputeRate,
}

/// A prefix's factor. A decimal one is kept as an exponent and joined to the number before that is
/// read: `989.4 T` is the `f64` nearest to 989.4e12, which a product would miss by a rounding.
#[derive(Clone, Copy)]
enum Scale {
    Decimal(i32),
    Binary(i32),
}

const DECIMAL: [(&str, i32); 7] = [("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, i32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
const TIMES: [(&str, i32); 6] = [("s", 0), ("ms", -3), ("us", -6), ("\u{b5}s", -6), ("\u{3bc}s", -6), ("ns", -9)];

impl Dimension {
    const ALL: [Self; 5] = [Self::Time, Self::Memory, Self::Bandwidth, Self::Work, Self::ComputeRate];

    /// The dimension in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Memory => "an amount of bytes",
            Self::Bandwidth => "bytes per second",
            Self::Work => "an amount of FLOPs",
            Self::ComputeRate => "FLOPs per second",
        }
    }

    /// A well-formed example.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Self::Time => "\"3.8 us\"",
            Self::Memory => "\"80 GB\" or \"80 GiB\"",
            Self::Bandwidth => "\"3.35 TB/s\"",
            Self::Work => "\"15 GFLOP\"",
            Self::ComputeRate => "\"989.4 TFLOP/s\"",
        }
    }

    const fn base_unit(self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Memory => "B",
            Self::Bandwidth => "B/s",
            Self::Work => "FLOP",
            Self::ComputeRate => "FLOP/s",
        }
    }

    /// The scale of `unit`, if it belongs to this dimension.
    fn scale(self, unit: &str) -> Option<Scale> {
        let find =
            |table: &[(&str, i32)], word: &str| table.iter().find(|(name, _)| *name == word).map(|entry| entry.1);
        if self == Self::Time {
            return find(&TIMES, unit).map(Scale::Decimal);
        }
        let prefix = unit.strip_suffix(self.base_unit())?;
        let binary = if matches!(self, Self::Memory | Self::Bandwidth) { find(&BINARY, prefix) } else { None };
        find(&DECIMAL, prefix).map(Scale::Decimal).or(binary.map(Scale::Binary))
    }
}

macro_rules! has_text {
    ($($name:ident: $dimension:ident),+) => {$(
        impl Quantity for $name {
            const DIMENSION: Dimension = Dimension::$dimension;
            fn from_si(value: f64) -> Self {
                Self::new(value)
            }
            fn to_si(self) -> f64 {
                self.get()
            }
        }

        impl fmt::Display for $name {
            /// Four significant digits with a decimal prefix, for people.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&for_people(self.get(), Dimension::$dimension))
            }
        }
    )+};
}
has_text!(Seconds: Time, Bytes: Memory, BytesPerSecond: Bandwidth, Flops: Work, FlopsPerSecond: ComputeRate);

/// Why a text is not the quantity that was due.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QuantityError {
    /// The text does not start with a number.
    #[error("`{text}` does not start with a number")]
    NoNumber {
        /// The text.
        text: String,
    },
    /// The number is beyond what can be held.
    #[error("`{text}` is beyond the range of numbers")]
    OutOfRange {
        /// The text.
        text: String,
    },
    /// A number without a unit in a string.
    #[error("`{text}` has no unit")]
    NoUnit {
        /// The text.
        text: String,
    },
    /// The unit belongs to another dimension.
    #[error("`{text}` is {found}, not {wanted}")]
    WrongDimension {
        /// The text.
        text: String,
        /// The dimension of the text.
        found: &'static str,
        /// The dimension that was due.
        wanted: &'static str,
    },
    /// No such unit.
    #[error("`{unit}` is not a unit of {wanted}")]
    UnknownUnit {
        /// The unit as written.
        unit: String,
        /// The dimension that was due.
        wanted: &'static str,
    },
}

/// Reads a quantity with its unit.
///
/// # Errors
///
/// [`QuantityError`] if number or unit is absent or the unit is of another dimension. The sign and
/// the size are for the caller to judge.
///
/// # Examples
///
/// ```
/// use specplan::units::{text::parse, Bytes, BytesPerSecond};
/// assert_eq!(parse::<BytesPerSecond>("3.35 TB/s")?.get(), 3.35e12);
/// assert_eq!(parse::<Bytes>("80 GiB")?.get(), 85_899_345_920.0);
/// assert!(parse::<BytesPerSecond>("3.35 TB").is_err());
/// # Ok::<(), specplan::units::text::QuantityError>(())
/// ```
pub fn parse<Q: Quantity>(text: &str) -> Result<Q, QuantityError> {
    let (mantissa, exponent, unit) = split_number(text.trim());
    if mantissa.parse::<f64>().is_err() {
        return Err(QuantityError::NoNumber { text: text.to_owned() });
    }
    let unit = unit.trim_start();
    if unit.is_empty() {
        return Err(QuantityError::NoUnit { text: text.to_owned() });
    }
    if let Some(scale) = Q::DIMENSION.scale(unit) {
        return scaled(mantissa, exponent, scale)
            .map(Q::from_si)
            .ok_or_else(|| QuantityError::OutOfRange { text: text.to_owned() });
    }
    let wanted = Q::DIMENSION.words();
    match Dimension::ALL.iter().find(|other| other.scale(unit).is_some()) {
        Some(other) => Err(QuantityError::WrongDimension { text: text.to_owned(), found: other.words(), wanted }),
        None => Err(QuantityError::UnknownUnit { unit: unit.to_owned(), wanted }),
    }
}

fn scaled(mantissa: &str, exponent: &str, scale: Scale) -> Option<f64> {
    let exponent: i32 = if exponent.is_empty() { 0 } else { exponent.parse().ok()? };
    let (decimal, binary) = match scale {
        Scale::Decimal(power) => (power, 0),
        Scale::Binary(power) => (0, power),
    };
    let number: f64 = format!("{mantissa}e{}", exponent.checked_add(decimal)?).parse().ok()?;
    let vanished = number == 0.0 && mantissa.contains(|c: char| ('1'..='9').contains(&c));
    (!vanished).then(|| number * f64::from(binary).exp2())
}

/// Splits `12.5e3 GB` into mantissa, exponent and unit; the `E` of `3 EB` is no exponent, since no
/// digit follows.
fn split_number(text: &str) -> (&str, &str, &str) {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let sign = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let mut end = digits(sign(0));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    let (mantissa, rest) = text.split_at(end);
    if matches!(bytes.get(end), Some(b'e' | b'E')) && digits(sign(end + 1)) > sign(end + 1) {
        let after = digits(sign(end + 1));
        return (mantissa, &text[end + 1..after], &text[after..]);
    }
    (mantissa, "", rest)
}

fn for_people(value: f64, dimension: Dimension) -> String {
    const TIME_PREFIXES: [(&str, i32); 4] = [("n", -9), ("u", -6), ("m", -3), ("", 0)];
    let prefixes: &[(&str, i32)] = if dimension == Dimension::Time { &TIME_PREFIXES } else { &DECIMAL };
    // The prefix is chosen for the number as it will be rounded: 999.96 GB is 1 TB.
    let fits = |&&(_, power): &&(&str, i32)| value.abs() >= 0.99995 * 10_f64.powi(power);
    let (prefix, power) =
        if value == 0.0 { ("", 0) } else { *prefixes.iter().rev().find(fits).unwrap_or(&prefixes[0]) };
    format!("{} {prefix}{}", significant(value / 10_f64.powi(power)), dimension.base_unit())
}

/// Four significant digits without trailing zeros.
fn significant(value: f64) -> String {
    let whole = value.abs().max(1.0).log10().floor();
    let decimals = (3.0 - whole).clamp(0.0, 3.0);
    let text = format!("{value:.*}", decimals as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_powers_of_1000_and_1024() {
        for (text, bytes) in [
            ("1 kB", 1e3),
            ("80GB", 80e9),
            ("1 GiB", 1_073_741_824.0),
            ("1.5e3 MB", 1.5e9),
            ("3 EB", 3e18),
            ("0 B", 0.0),
        ] {
            assert_eq!(parse::<Bytes>(text).map(Bytes::get), Ok(bytes), "{text}");
        }
        assert_eq!(parse::<Seconds>("3.8 us").map(Seconds::get), Ok(3.8e-6));
        assert_eq!(parse::<FlopsPerSecond>("989.4 TFLOP/s").map(FlopsPerSecond::get), Ok(989.4e12));
        assert_eq!(parse::<FlopsPerSecond>("1.9789e3 TFLOP/s").map(FlopsPerSecond::get), Ok(1978.9e12));
    }

    #[test]
    fn a_wrong_unit_is_named_with_what_it_is() {
        let message = |text: &str| parse::<BytesPerSecond>(text).map(BytesPerSecond::get).map_err(|e| e.to_string());
        assert_eq!(message("3.35 TB"), Err("`3.35 TB` is an amount of bytes, not bytes per second".into()));
        assert_eq!(message("3.35"), Err("`3.35` has no unit".into()));
        assert_eq!(message("1e99999999999 B/s"), Err("`1e99999999999 B/s` is beyond the range of numbers".into()));
        assert_eq!(message("fast"), Err("`fast` does not start with a number".into()));
        assert_eq!(message("3.35 Tb/s"), Err("`Tb/s` is not a unit of bytes per second".into()));
    }

    #[test]
    fn people_read_four_digits() {
        assert_eq!(Bytes::new(85_520_809_984.0).to_string(), "85.52 GB");
        assert_eq!(Seconds::new(0.004_557_741).to_string(), "4.558 ms");
        assert_eq!(Seconds::new(3.8e-6).to_string(), "3.8 us");
        assert_eq!(Seconds::ZERO.to_string(), "0 s");
        assert_eq!(FlopsPerSecond::new(989e12).to_string(), "989 TFLOP/s");
        assert_eq!(Bytes::new(999.96e9).to_string(), "1 TB");
        assert_eq!(Bytes::new(999.94e9).to_string(), "999.9 GB");
        assert_eq!(Bytes::new(131_072.0).to_string(), "131.1 kB");
    }
}
