//! Moments as logs print them.

use crate::domain::observed::Stamp;

/// A year with a 29th of February, for logs that leave theirs out.
const NO_YEAR: i64 = 2000;
const DAY: i64 = 86_400;

/// Moments that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The first that does.
    pub after: Option<Stamp>,
    /// The first that does not any more.
    pub before: Option<Stamp>,
}

impl Bounds {
    /// Whether a window counts; without bounds every one does, with bounds none without a moment. Where a year is not known, a bound
    /// is of the year that brings it closest to the first moment of the log.
    pub(super) fn hold(&self, at: Option<Stamp>, first: Stamp) -> bool {
        if self.after.is_none() && self.before.is_none() {
            return true;
        }
        let Some(at) = at else { return false };
        self.after.is_none_or(|after| at.seconds >= placed(after, first))
            && self.before.is_none_or(|before| at.seconds < placed(before, first))
    }
}

/// The seconds of a bound on the axis of a log.
fn placed(bound: Stamp, first: Stamp) -> i64 {
    if bound.has_year && first.has_year {
        return bound.seconds;
    }
    let (year, _, _) = civil(first.seconds.div_euclid(DAY));
    let all = [year - 1, year, year + 1].map(|year| in_year(bound.seconds, year));
    all.into_iter().min_by_key(|seconds| seconds.abs_diff(first.seconds)).unwrap_or(bound.seconds)
}

/// Moments of a log that leaves years out, in rising order: one far before the last is of the next year.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Years {
    /// The first moment.
    pub(super) first: Option<Stamp>,
    last: Option<i64>,
    years: i64,
}

impl Years {
    /// A moment with the years that have gone by.
    pub(super) fn rising(&mut self, at: Stamp) -> Stamp {
        self.first = self.first.or(Some(at));
        if at.has_year {
            return at;
        }
        const HALF_A_YEAR: i64 = 182 * DAY;
        let seconds = in_year(at.seconds, NO_YEAR + self.years);
        let begins_anew = self.last.is_some_and(|last| seconds < last - HALF_A_YEAR);
        self.years += i64::from(begins_anew);
        let seconds = in_year(at.seconds, NO_YEAR + self.years);
        self.last = Some(seconds);
        Stamp { seconds, ..at }
    }
}

/// The same day and hour of another year.
const fn in_year(at: i64, year: i64) -> i64 {
    let (_, month, day) = civil(at.div_euclid(DAY));
    days(year, month, day) * DAY + at.rem_euclid(DAY)
}

/// The moment that a text begins with or holds: `2026-06-10 14:20:34`, `06-10 14:20:34`, or a `T` between; seconds may be left
/// out at the end.
///
/// # Examples
///
/// ```
/// use specplan::import::engine::stamp::find;
/// let of = |text| find(text).map(|at| (at.seconds, at.has_year));
/// assert_eq!(of("[1970-01-02 00:00:01 TP0] Decode"), Some((86_401, true)));
/// assert_eq!(of("INFO 01-01 00:01:00 [metrics.py]"), Some((946_684_860, false)));
/// assert_eq!(of("INFO [metrics.py:96]"), None);
/// ```
#[must_use]
pub fn find(text: &str) -> Option<Stamp> {
    let bytes = text.as_bytes();
    let (mut at, last) = (0, bytes.len().checked_sub(11)?);
    while at <= last {
        // Month and day around a dash are the rarest part.
        let dash = memchr::memchr(b'-', &bytes[at..])? + at;
        at = dash + 1;
        if let Some(stamp) = dash.checked_sub(2).and_then(|start| month_day(bytes, start)) {
            return Some(stamp);
        }
    }
    None
}

/// `06-10 14:20[:34]` from a position on, and the year before it.
fn month_day(bytes: &[u8], start: usize) -> Option<Stamp> {
    let two = |at: usize| -> Option<i64> {
        let pair = bytes.get(at..at + 2)?;
        pair.iter().all(u8::is_ascii_digit).then(|| i64::from(pair[0] - b'0') * 10 + i64::from(pair[1] - b'0'))
    };
    let (month, day) = (two(start)?, two(start + 3)?);
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day);
    let between = matches!(bytes.get(start + 5)?, b' ' | b'T' | b't') && *bytes.get(start + 8)? == b':';
    let (hour, minute) = (two(start + 6)?, two(start + 9)?);
    let second = if bytes.get(start + 11) == Some(&b':') { two(start + 12).unwrap_or(0) } else { 0 };
    if !(sound && between && hour < 24 && minute < 60 && second < 61) {
        return None;
    }
    let year =
        start.checked_sub(5).filter(|_| bytes[start - 1] == b'-').and_then(|at| Some(two(at)? * 100 + two(at + 2)?));
    let seconds = days(year.unwrap_or(NO_YEAR), month, day) * DAY + hour * 3600 + minute * 60 + second;
    Some(Stamp { seconds, has_year: year.is_some() })
}

/// Days from 1970-01-01 in the Gregorian calendar, years beginning in March (Hinnant, "chrono-compatible low-level date
/// algorithms").
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days from 1970-01-01.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + if month <= 2 { 1 } else { 0 }, month, day)
}

/// A moment for people: `2026-06-10 14:20:34`, without a year where there is none.
///
/// # Examples
///
/// ```
/// use specplan::{domain::observed::Stamp, import::engine::stamp::written};
/// assert_eq!(written(Stamp { seconds: 86_401, has_year: true }), "1970-01-02 00:00:01");
/// assert_eq!(written(Stamp { seconds: 951_825_600, has_year: false }), "02-29 12:00:00");
/// ```
#[must_use]
pub fn written(at: Stamp) -> String {
    let (year, month, day) = civil(at.seconds.div_euclid(DAY));
    let rest = at.seconds.rem_euclid(DAY);
    let year = if at.has_year { format!("{year:04}-") } else { String::new() };
    format!("{year}{month:02}-{day:02} {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A calendar walked day by day from 1970 to 2100.
    #[test]
    fn days_and_dates_belong_together() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for at in 0..47_482 {
            assert_eq!((days(year, month, day), civil(at)), (at, (year, month, day)));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            (day, month) = if day < length { (day + 1, month) } else { (1, month + 1) };
            (month, year) = if month > 12 { (1, year + 1) } else { (month, year) };
        }
    }

    #[test]
    fn bounds_lie_in_the_year_of_the_log() {
        let at = |text: &str| find(text).unwrap();
        let hold = |after: Option<&str>, before: Option<&str>, first: &str, text: &str| {
            Bounds { after: after.map(at), before: before.map(at) }.hold(find(text), at(first))
        };
        let (ten, eleven) = (Some("06-10 10:00"), Some("06-10 11:00"));
        assert!(hold(ten, eleven, "2026-06-10 09:00", "2026-06-10 10:00:00"));
        assert!(hold(Some("2026-06-10T10:00"), None, "06-10 09:00", "06-10 10:59:59"));
        assert!(
            !hold(ten, eleven, "2026-06-10 09:00", "2026-06-10 11:00:00")
                && !hold(ten, None, "06-10 09:00", "no moment")
        );
        // Over New Year, each bound alone.
        let eve = "12-31 23:50";
        assert!(!hold(None, Some("01-01 00:00"), "2025-12-31 23:50", "2026-01-01 00:01"));
        assert!(
            hold(None, Some("01-01 00:00"), eve, eve) && hold(Some("12-31 23:55"), None, "01-01 00:00", "01-01 00:01")
        );
        assert!(!hold(Some("12-31 23:55"), None, eve, eve));
    }

    #[test]
    fn years_go_by() {
        let mut years = Years::default();
        let [last, first] = ["12-31 23:59:59", "01-01 00:00:01"].map(|text| years.rising(find(text).unwrap()).seconds);
        assert_eq!(first - last, 2);
        assert_eq!(written(years.rising(find("03-01 00:00:01").unwrap())), "03-01 00:00:01");
    }
}
