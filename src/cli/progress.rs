//! A bar on standard error for work that takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

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
