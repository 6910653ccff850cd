//! What inference engines print of speculative decoding, as windows: counters, log lines, requests, runs.
//!
//! Text comes in pieces of any size and windows go out as they are complete, so that memory does not grow with the input.

mod counters;
mod documents;
mod json;
mod lines;
mod log;
mod scan;
pub mod stamp;

use crate::diagnostic::visible;
use crate::domain::observed::{Pools, Stamp, Window};
use crate::import::engine::counters::Counters;
use crate::import::engine::documents::Documents;
use crate::import::engine::lines::Lines;
use crate::import::engine::log::Log;
use crate::import::engine::stamp::{Bounds, Years};
use crate::words::{Printout, Reading, Trap};

pub use crate::import::engine::counters::Scrape;

/// Bytes by which a form is told.
const ENOUGH: usize = 1 << 20;

/// How a text is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its form; none: told by its beginning.
    pub reading: Option<Reading>,
    /// Draft length, where the text does not say.
    pub k: Option<u64>,
    /// An earlier scrape of the same counters, which is subtracted.
    pub since: Option<Scrape>,
    /// The moments that count; a window without one counts only where there are no bounds.
    pub bounds: Bounds,
    /// Whether ranks are kept apart.
    pub by_rank: bool,
    /// Seconds of a span, where windows are grouped by time.
    pub span: Option<i64>,
}

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// No text.
    #[error("it is no text: it holds a zero byte")]
    Binary,
    /// Two bytes for each letter.
    #[error("it is UTF-16: save it as UTF-8")]
    Utf16,
    /// Counters have no moments.
    #[error("counters bear no moment: --after and --before choose lines of a log")]
    Timeless,
    /// Compressed.
    #[error("it is compressed: unpack it first")]
    Compressed,
    /// Text without a figure that is known.
    #[error(
        "nothing in it says how drafts were accepted: no counter, log line or key of vLLM, SGLang, TensorRT-LLM, llama.cpp, \
         aiperf or guidellm was found"
    )]
    Unknown,
    /// A value that is no JSON.
    #[error("line {line}: this is no JSON: {reason}")]
    Json {
        /// Counted from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// An earlier scrape is given, and there is none to subtract it from.
    #[error("an earlier scrape can be subtracted from counters only, and this is {0}")]
    NoCounters(&'static str),
}

/// A reader of one text.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    /// What has come before the form was told.
    waiting: Vec<u8>,
    form: Option<Form>,
    any: bool,
    /// What windows come to.
    taken: Taken,
}

/// Where no line bears a moment, none lies within bounds.
const NO_MOMENT: Stamp = Stamp { seconds: 0, has_year: false };

/// Windows within bounds, and how many were not.
#[derive(Debug, Default)]
struct Taken {
    pools: Pools,
    outside: u64,
    years: Years,
}

#[derive(Debug)]
enum Form {
    Log(Box<Lines<Log>>),
    Counters(Box<Lines<Counters>>),
    Documents(Box<Documents>),
}

impl Reader {
    /// A reader that has read nothing.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, waiting: Vec::new(), form: None, any: false, taken: Taken::default() }
    }

    /// Reads the next piece.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] where it is no text, or no JSON.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        self.any |= !bytes.is_empty();
        if self.form.is_some() {
            return self.read(bytes);
        }
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() < ENOUGH { Ok(()) } else { self.begin() }
    }

    /// Ends reading: what all windows come to; nothing where all of them lie out of bounds.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] where nothing was found.
    pub fn finish(mut self) -> Result<Pools, Unreadable> {
        self.told()?;
        let settled = self.end()?;
        for (format, k) in settled {
            self.taken.pools.settle(format, k);
        }
        if self.taken.pools.is_empty() && self.taken.outside == 0 {
            return Err(Unreadable::Unknown);
        }
        Ok(self.taken.pools)
    }

    /// Reads what waited for more, and tells draft lengths that were known late.
    fn end(&mut self) -> Result<Vec<(Printout, u64)>, Unreadable> {
        let mut sink = sink(&mut self.taken, &self.options);
        Ok(match self.form.take() {
            Some(Form::Log(lines)) => lines.finish(&mut sink).end(&mut sink),
            Some(Form::Counters(lines)) => {
                lines.finish(&mut sink).end(self.options.since.as_ref(), &mut sink);
                Vec::new()
            }
            Some(Form::Documents(documents)) => documents.finish(&mut sink)?,
            None => Vec::new(),
        })
    }

    /// The counters of a scrape, to be subtracted from a later one.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] where there are none.
    pub fn scrape(mut self) -> Result<Scrape, Unreadable> {
        self.told()?;
        match self.form.take() {
            Some(Form::Counters(lines)) => Ok(lines.finish(&mut |_| ()).into_scrape()),
            Some(Form::Log(_)) => Err(Unreadable::NoCounters("a log")),
            _ => Err(Unreadable::NoCounters("JSON")),
        }
    }

    /// Tells the form of a text that has ended, if it was too short to be told before.
    fn told(&mut self) -> Result<(), Unreadable> {
        if !self.any {
            return Err(Unreadable::Empty);
        }
        if self.form.is_none() { self.begin() } else { Ok(()) }
    }

    fn begin(&mut self) -> Result<(), Unreadable> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.starts_with(&[0x1f, 0x8b]) || waiting.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            return Err(Unreadable::Compressed);
        }
        if waiting.starts_with(&[0xff, 0xfe]) || waiting.starts_with(&[0xfe, 0xff]) {
            return Err(Unreadable::Utf16);
        }
        if waiting.contains(&0) {
            return Err(Unreadable::Binary);
        }
        let reading = self.options.reading.unwrap_or_else(|| told(&waiting));
        if self.options.since.is_some() && reading != Reading::Prometheus {
            return Err(Unreadable::NoCounters(if reading == Reading::Log { "a log" } else { "JSON" }));
        }
        let bounds = self.options.bounds;
        if reading == Reading::Prometheus && (bounds.after.is_some() || bounds.before.is_some()) {
            return Err(Unreadable::Timeless);
        }
        let k = self.options.k;
        self.form = Some(match reading {
            Reading::Log => Form::Log(Box::new(Lines::new(Log::new(k)))),
            Reading::Prometheus => Form::Counters(Box::new(Lines::new(Counters::new(k)))),
            Reading::Json => Form::Documents(Box::new(Documents::new(k))),
        });
        self.read(&waiting)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        let mut sink = sink(&mut self.taken, &self.options);
        match &mut self.form {
            Some(Form::Log(lines)) => lines.push(bytes, &mut sink),
            Some(Form::Counters(lines)) => lines.push(bytes, &mut sink),
            Some(Form::Documents(documents)) => documents.push(bytes, &mut sink)?,
            None => {}
        }
        Ok(())
    }
}

/// Takes windows within bounds, by spans where they are asked for.
fn sink<'a>(taken: &'a mut Taken, options: &'a Options) -> impl FnMut(Window) + 'a {
    move |mut window: Window| {
        window.at = window.at.map(|at| taken.years.rising(at));
        let first = taken.years.first.or(window.at).unwrap_or(NO_MOMENT);
        if !options.bounds.hold(window.at, first) {
            taken.outside += 1;
            return;
        }
        window.group.model = window.group.model.map(|model| visible(&model));
        window.group.rank = window.group.rank.map(|rank| visible(&rank));
        window.k = window.k.or(options.k);
        if let (Some(span), Some(at)) = (options.span, window.at) {
            window.group.span = Some(at.seconds.div_euclid(span) * span);
        }
        taken.pools.add(&window.checked(), options.by_rank);
    }
}

/// The form of a text, by its beginning. Lines of a log may begin with a moment in brackets.
fn told(beginning: &[u8]) -> Reading {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let mut first = beginning.iter().filter(|byte| !byte.is_ascii_whitespace());
    match (first.next(), first.next()) {
        (Some(b'{'), Some(b'"' | b'}') | None) | (Some(b'['), Some(b'{' | b'[' | b'"' | b']') | None) => Reading::Json,
        (Some(b'"'), Some(b'{')) => Reading::Json,
        _ if scan::has_needle(beginning) => Reading::Log,
        _ if counters::has_counter(beginning) => Reading::Prometheus,
        _ => Reading::Log,
    }
}

/// Whether a text breaks off in the middle of a value.
pub(super) fn cut_off(format: Printout) -> Window {
    Window { traps: vec![Trap::CutOff], ..Window::of(format) }
}
