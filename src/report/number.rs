//! Numbers as text.

/// So many of a thing, in words.
///
/// # Examples
///
/// ```
/// use specplan::report::number::counted;
/// assert_eq!((counted(1, "level"), counted(2, "level")), ("1 level".to_owned(), "2 levels".to_owned()));
/// ```
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

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

/// A measured number in three figures, without an exponent as far as its shortest form has none.
///
/// # Examples
///
/// ```
/// use specplan::report::number::figures;
/// assert_eq!([11.3388, 0.109_4, 3634.2, 24.0, 1e-5, 0.0].map(figures), ["11.3", "0.109", "3634", "24", "0.00001", "0"]);
/// ```
#[must_use]
pub fn figures(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return shortest(value);
    }
    let digits = value.abs().log10().floor();
    if digits < -3.0 {
        return shortest(format!("{value:.2e}").parse().unwrap_or(value));
    }
    let text = format!("{value:.0$}", (2.0 - digits).max(0.0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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

/// A whole number with its thousands apart.
///
/// # Examples
///
/// ```
/// use specplan::report::number::thousands;
/// assert_eq!([0.0, 999.0, 1000.0, 8_030_261_248.0].map(thousands), ["0", "999", "1,000", "8,030,261,248"]);
/// ```
#[must_use]
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let from_end = digits.len();
    let apart = |(at, digit): (usize, char)| {
        let comma = at > 0 && (from_end - at).is_multiple_of(3);
        if comma { format!(",{digit}") } else { digit.to_string() }
    };
    digits.chars().enumerate().map(apart).collect()
}

/// A count of parameters as names of models have it, in three digits.
///
/// # Examples
///
/// ```
/// use specplan::report::number::parameters;
/// let counts = [596_049_920.0, 8_030_261_248.0, 671_026_419_200.0, 999_600_000.0, 1000.0];
/// assert_eq!(counts.map(parameters), ["596M", "8.03B", "671B", "1B", "1000"]);
/// ```
#[must_use]
pub fn parameters(count: f64) -> String {
    let scales = [(1e12, "T"), (1e9, "B"), (1e6, "M")];
    // The letter is chosen for the number as it will be rounded.
    let Some((scale, letter)) = scales.into_iter().find(|(scale, _)| count >= 0.9995 * scale) else {
        return shortest(count);
    };
    let scaled = count / scale;
    let decimals = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{letter}")
}
