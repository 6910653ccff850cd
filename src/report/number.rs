//! Numbers as text.

/// Writes a finite number in the shortest form that reads back to the same `f64`; whole numbers
/// without a fraction.
///
/// # Examples
///
/// ```
/// use specplan::report::number::shortest;
/// assert_eq!([0.1, 5.0, 1e-7, 1e300].map(shortest), ["0.1", "5", "1e-7", "1e+300"]);
/// ```
#[must_use]
pub fn shortest(value: f64) -> String {
    let mut buffer = zmij::Buffer::new();
    plain(buffer.format(value)).to_owned()
}

/// `5.0` without the `.0`.
pub(super) fn plain(text: &str) -> &str {
    text.strip_suffix(".0").unwrap_or(text)
}

/// A number for people: in its shortest form, or with four decimals where that is long.
///
/// # Examples
///
/// ```
/// assert_eq!([0.65, 0.622_139_25].map(specplan::report::number::brief), ["0.65", "0.6221"]);
/// ```
#[must_use]
pub fn brief(value: f64) -> String {
    let text = shortest(value);
    if text.len() > 6 { format!("{value:.4}") } else { text }
}

/// A count in few characters, for axes.
///
/// # Examples
///
/// ```
/// use specplan::report::number::compact;
/// assert_eq!([256, 131_072, 2_500_000].map(compact), ["256", "131072", "2.5e6"]);
/// ```
#[must_use]
pub fn compact(count: u64) -> String {
    if count < 1_000_000 { count.to_string() } else { format!("{:.1e}", count as f64) }
}

/// A speedup as tables show it.
///
/// # Examples
///
/// ```
/// assert_eq!(specplan::report::number::times(1.8297), "1.83x");
/// ```
#[must_use]
pub fn times(speedup: f64) -> String {
    format!("{speedup:.2}x")
}
