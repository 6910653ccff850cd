//! Signs that pages put in place of plain ones.

/// Quotes, dashes and blanks as a shell knows them.
pub(super) fn straightened(text: &str) -> Vec<char> {
    let mut all = Vec::with_capacity(text.len());
    for found in text.trim_start_matches('\u{feff}').chars() {
        match found {
            '\u{201c}' | '\u{201d}' => all.push('"'),
            '\u{2018}' | '\u{2019}' => all.push('\''),
            '\u{2014}' | '\u{2013}' => all.extend(['-', '-']),
            '\u{a0}' | '\u{2007}' | '\u{202f}' => all.push(' '),
            '\r' | '\u{200b}' | '\u{2060}' => {}
            found => all.push(found),
        }
    }
    all
}
