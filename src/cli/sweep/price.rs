//! Prices what is to be priced; rows go to the streams, a sample stays.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use crate::cli::args::SweepArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::files::ongoing::{Ongoing, Reached};
use crate::cli::forms::Forms;
use crate::cli::progress::Progress;
use crate::cli::sweep::columns::Columns;
use crate::cli::sweep::room;
use crate::cli::sweep::streams::{Route, Stream, Streamed};
use crate::cli::sweep::work::{Detail, Piece, Work};
use crate::cli::terminal;
use crate::parallel::{Failure, Outcome};
use crate::report::rows::RowForm;
use crate::report::sample::Sample;
use crate::report::summary::MOST_SHOWN;
use crate::sweep::summary::{COLUMNS, Line, Summary};

/// After so long, what is done is kept for a later run.
const KEPT_EVERY: Duration = Duration::from_millis(500);
/// After so long it is handed to the disk too: that takes as long as the disk does.
const SETTLED_EVERY: Duration = Duration::from_secs(60);

/// What pricing came to.
pub(super) struct Done<'p, 'g> {
    pub(super) sample: Sample<'p, 'g>,
    /// Points priced, by an earlier run too.
    pub(super) points: u64,
    /// Rows written.
    pub(super) rows: u64,
    /// Some lines of a summary.
    pub(super) lines: Vec<Line<'g>>,
}

/// A run that goes on.
struct Going<'a, 'p, 'g> {
    streams: Vec<Stream>,
    columns: Option<Columns>,
    ongoing: Option<&'a Ongoing>,
    summary: Summary<'g>,
    tiles: u64,
    done: Done<'p, 'g>,
    progress: Progress,
    kept_at: Option<Duration>,
    settled_at: Duration,
}

/// Prices the work; every file but the charts is complete when this returns.
pub(super) fn price<'p, 'g>(
    args: &SweepArgs,
    forms: &Forms,
    work: &Work<'p, 'g>,
    (results, ongoing): (&mut Option<Results>, Option<&Ongoing>),
    manifest: &Value,
    stop: &AtomicBool,
) -> Result<Done<'p, 'g>, Error> {
    let earlier = ongoing.and_then(Ongoing::reached);
    let reached = earlier.as_ref().filter(|_| args.resume);
    let [points, rows] = reached.map_or([0, 0], |of| of.counts);
    room::check(args, forms, work, points)?;
    let all = work.points();
    if let Some(line) = again(args, earlier.as_ref(), all, ongoing).filter(|_| !args.common.quiet) {
        terminal::note(&line);
    }
    if let Some(ongoing) = ongoing.filter(|_| reached.is_none()) {
        ongoing.forget()?;
    }
    let streamed = Streamed { columns: work.detail.columns(), manifest, reached, empty: rows == 0 };
    let start = |&form: &RowForm| {
        let route = Route { form, file: forms.rows().contains(&form), stdout: args.stdout_form() == Some(form) };
        Stream::start(route, streamed, (results.as_ref(), ongoing))
    };
    let mut going = Going {
        streams: work.forms.iter().map(start).collect::<Result<_, _>>()?,
        columns: Columns::start(forms, work.detail, results.as_ref())?,
        ongoing,
        summary: Summary::default(),
        tiles: reached.map_or(0, |of| of.steps),
        done: Done { sample: Sample::empty(work.plan), points, rows, lines: Vec::new() },
        progress: Progress::new(all, points, args.common.quiet),
        kept_at: None,
        settled_at: Duration::ZERO,
    };
    let skipped = going.tiles;
    for tile in work.tiles().take(usize::try_from(skipped).unwrap_or(usize::MAX)) {
        going.done.sample.absorb(&work.gathered_again(&tile));
    }
    let outcome = work.run(skipped, args.common.threads(), stop, |piece| going.take(piece, work.detail));
    going.progress.clear();
    match outcome {
        Ok(Outcome::Finished) => going.finish(results.as_mut()),
        Ok(Outcome::Stopped) => Err(going.stopped(args, all)),
        Err(Failure::Taken(error)) => {
            if going.kept_at.is_some() && !args.common.quiet {
                terminal::note(&format!("what was done is kept: {}", go_on(args)));
            }
            Err(error)
        }
        Err(error @ Failure::Threads { .. }) => Err(Error::Internal(error.to_string())),
    }
}

/// What to say of what an earlier run has done, and this one need not do.
fn again(args: &SweepArgs, earlier: Option<&Reached>, all: u64, ongoing: Option<&Ongoing>) -> Option<String> {
    let share = |of: &Reached| format!("{} of its points", percent(of.counts[0], all));
    Some(match (earlier, args.resume, ongoing) {
        (Some(of), true, _) => format!("an earlier run priced {}: going on from there", share(of)),
        (Some(of), false, _) => {
            format!("an earlier run priced {}: this one begins anew; --resume would have gone on", share(of))
        }
        (None, true, Some(ongoing)) if ongoing.was_damaged() => {
            "what an earlier run left is damaged: this one begins at the beginning".to_owned()
        }
        (None, true, Some(_)) => "no earlier run of this sweep left anything: it begins at the beginning".to_owned(),
        (None, true, None) => "neither a summary nor charts alone are kept: it begins at the beginning".to_owned(),
        (None, false, _) => return None,
    })
}

/// How to go on with what is kept.
fn go_on(args: &SweepArgs) -> String {
    let without = args.stdout_form().map_or("", |_| ", and without --format,");
    format!("the same command with --resume{without} goes on from there")
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

impl<'p, 'g> Going<'_, 'p, 'g> {
    fn take(&mut self, mut piece: Piece<'g>, detail: Detail) -> Result<(), Error> {
        for (stream, bytes) in self.streams.iter_mut().zip(&piece.bytes) {
            stream.piece(bytes)?;
        }
        if let Some(columns) = &mut self.columns {
            columns.rows(&piece.kept)?;
        }
        if detail == Detail::Summary {
            self.summary.merge(std::mem::take(&mut piece.summary));
            if piece.ends_context {
                let lines = self.summary.finish();
                self.lines(&lines)?;
            }
        }
        self.done.rows += piece.rows;
        self.done.points += piece.points;
        self.tiles += 1;
        self.done.sample.absorb(&piece.gathered);
        self.progress.advance(piece.points);
        let now = self.progress.elapsed();
        if self.ongoing.is_some() && now - self.kept_at.unwrap_or_default() >= KEPT_EVERY {
            let settled = now - self.settled_at >= SETTLED_EVERY;
            self.keep(settled)?;
            self.kept_at = Some(now);
            self.settled_at = if settled { now } else { self.settled_at };
        }
        Ok(())
    }

    /// Writes lines of a summary, and holds some for the table.
    fn lines(&mut self, lines: &[Line<'g>]) -> Result<(), Error> {
        for stream in &mut self.streams {
            let piece = stream.form.cells(&COLUMNS, lines.iter().map(Line::cells));
            stream.piece(&piece)?;
        }
        if let Some(columns) = &mut self.columns {
            columns.lines(lines)?;
        }
        self.done.rows += lines.len() as u64;
        let room = MOST_SHOWN.saturating_sub(self.done.lines.len());
        self.done.lines.extend(lines.iter().take(room));
        Ok(())
    }

    /// Keeps what is done for a later run.
    fn keep(&mut self, settled: bool) -> Result<(), Error> {
        let Some(ongoing) = self.ongoing else { return Ok(()) };
        let mut files = Vec::new();
        for stream in &mut self.streams {
            files.extend(stream.hand_over(settled)?);
        }
        let reached = Reached { steps: self.tiles, counts: [self.done.points, self.done.rows], files };
        ongoing.keep(&reached, settled)
    }

    fn stopped(mut self, args: &SweepArgs, all: u64) -> Error {
        if self.ongoing.is_none() {
            return Error::Interrupted;
        }
        match self.keep(true) {
            Ok(()) => {
                let share = percent(self.done.points, all);
                Error::Paused(format!("stopped at {share} of {all} points: {}", go_on(args)))
            }
            Err(error) => error,
        }
    }

    fn finish(mut self, mut results: Option<&mut Results>) -> Result<Done<'p, 'g>, Error> {
        let lines = self.summary.finish();
        self.lines(&lines)?;
        for stream in self.streams {
            stream.finish(results.as_deref_mut())?;
        }
        if let Some(columns) = self.columns {
            columns.finish(results)?;
        }
        Ok(self.done)
    }
}
