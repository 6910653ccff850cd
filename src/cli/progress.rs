//! A bar on standard error for work that takes a while.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::cli::terminal;

/// Smaller sweeps are done before a bar could be read.
const WORTH_A_BAR: u64 = 2_000_000;

/// A bar over so many bytes.
pub(super) fn bytes(all: u64, hidden: bool) -> ProgressBar {
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
    let bar = ProgressBar::with_draw_target(Some(all), target);
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {eta} left");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A bar over so many rows or trials; hidden if the work is short, the user wants quiet, or nobody looks on.
pub(super) fn bar(steps: u64, quiet: bool) -> ProgressBar {
    let target = if quiet || steps < WORTH_A_BAR {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    };
    let bar = ProgressBar::with_draw_target(Some(steps), target);
    let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len}, {eta} left");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Where nobody looks on, a line so often tells those who read the log.
const TOLD_EVERY: Duration = Duration::from_secs(30);

/// How a sweep comes along: a bar on a terminal, a line now and then in a log.
pub(super) struct Progress {
    bar: ProgressBar,
    all: u64,
    /// Points that an earlier run priced: they say nothing on the rate.
    before: u64,
    /// When the last line was told; none if nobody is to be told by lines.
    told: Option<Duration>,
}

impl Progress {
    /// Of a sweep of so many points, some of which were priced before.
    pub(super) fn new(all: u64, before: u64, quiet: bool) -> Self {
        let is_short = quiet || all < WORTH_A_BAR;
        let target = if is_short { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(all), target).with_position(before);
        let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} points, {per_sec}, {eta} left");
        let bar = match style {
            Ok(style) => bar.with_style(style.with_key("per_sec", rate)),
            Err(_) => bar,
        };
        bar.reset_eta();
        Self { all, before, told: (!is_short && !stderr().is_terminal()).then_some(Duration::ZERO), bar }
    }

    pub(super) fn advance(&mut self, points: u64) {
        self.bar.inc(points);
        let now = self.elapsed();
        if self.told.is_some_and(|told| now - told >= TOLD_EVERY) {
            self.told = Some(now);
            terminal::note(&line(self.bar.position(), self.before, self.all, now));
        }
    }

    /// How long it has been going on.
    pub(super) fn elapsed(&self) -> Duration {
        self.bar.elapsed()
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn rate(state: &ProgressState, to: &mut dyn std::fmt::Write) {
    // A bar that cannot be written is no loss.
    let _ = write!(to, "{}/s", HumanCount(state.per_sec() as u64));
}

/// Where a sweep is, at what rate it goes and how long it will take, after so long.
fn line(done: u64, before: u64, all: u64, elapsed: Duration) -> String {
    let rate = (done - before) as f64 / elapsed.as_secs_f64();
    let left = Duration::from_secs_f64((all - done) as f64 / rate.max(1.0));
    let share = 100.0 * done as f64 / all as f64;
    format!(
        "{} of {} points ({share:.0} %), {}/s, {} left",
        HumanCount(done),
        HumanCount(all),
        HumanCount(rate as u64),
        HumanDuration(left)
    )
}

/// Runs of any length, on any thread: a bar on a terminal, a line now and then in a log.
pub(super) struct Runs {
    bar: ProgressBar,
    what: &'static str,
    is_told: bool,
    /// Seconds after which it was told last.
    told: AtomicU64,
}

impl Runs {
    /// Of so many, about.
    pub(super) fn new(what: &'static str, all: u64, quiet: bool) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(all), target).with_message(what);
        let bar = match ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} {msg}, {elapsed}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Self { bar, what, is_told: !quiet && !stderr().is_terminal(), told: AtomicU64::new(0) }
    }

    /// One more is done, or one goes on.
    pub(super) fn ran(&self, ended: bool) {
        self.bar.inc(u64::from(ended));
        let (now, every) = (self.bar.elapsed().as_secs(), TOLD_EVERY.as_secs());
        let due = |told: u64| (now >= told + every).then_some(now);
        if self.is_told && self.told.fetch_update(Relaxed, Relaxed, due).is_ok() {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            terminal::note(&format!("{done} of {all} {}", self.what));
        }
    }

    /// Takes the bar off the terminal.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 million points in 30 s leave 60 million, that is a minute.
    #[test]
    fn lines_of_logs_tell_rate_and_time_left() {
        let told = line(40_000_000, 10_000_000, 100_000_000, Duration::from_secs(30));
        assert_eq!(told, "40,000,000 of 100,000,000 points (40 %), 1,000,000/s, 60 seconds left");
    }
}
