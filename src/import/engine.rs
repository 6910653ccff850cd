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

use crate::domain::observed::{Pools, Window};
use crate::import::engine::counters::Counters;
use crate::import::engine::documents::Documents;
use crate::import::engine::lines::Lines;
use crate::import::engine::log::Log;
use crate::import::engine::stamp::Bounds;
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
    /// Compressed.
    #[error("it is compressed: unpack it first")]
    Compressed,
    /// Text without a figure that is known.
    #[error("nothing in it says how drafts were accepted: {0}")]
    Unknown(String),
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
    /// Windows out of bounds.
    outside: u64,
    pools: Pools,
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
        Self { options, waiting: Vec::new(), form: None, any: false, outside: 0, pools: Pools::default() }
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
        if !self.any {
            return Err(Unreadable::Empty);
        }
        if self.form.is_none() {
            self.begin()?;
        }
        let settled = self.end()?;
        for (format, k) in settled {
            self.pools.settle(format, k);
        }
        if self.pools.is_empty() && self.outside == 0 {
            return Err(Unreadable::Unknown(
                "no counter, log line or key of vLLM, SGLang, TensorRT-LLM, llama.cpp, aiperf or guidellm was found"
                    .to_owned(),
            ));
        }
        Ok(self.pools)
    }

    /// Reads what waited for more, and tells draft lengths that were known late.
    fn end(&mut self) -> Result<Vec<(Printout, u64)>, Unreadable> {
        let mut sink = sink(&mut self.pools, &mut self.outside, &self.options);
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
        if !self.any {
            return Err(Unreadable::Empty);
        }
        if self.form.is_none() {
            self.begin()?;
        }
        match self.form.take() {
            Some(Form::Counters(lines)) => Ok(lines.finish(&mut |_| ()).into_scrape()),
            Some(Form::Log(_)) => Err(Unreadable::NoCounters("a log")),
            _ => Err(Unreadable::NoCounters("JSON")),
        }
    }

    fn begin(&mut self) -> Result<(), Unreadable> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.starts_with(&[0x1f, 0x8b]) || waiting.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            return Err(Unreadable::Compressed);
        }
        if waiting.contains(&0) {
            return Err(Unreadable::Binary);
        }
        let reading = self.options.reading.unwrap_or_else(|| told(&waiting));
        if self.options.since.is_some() && reading != Reading::Prometheus {
            return Err(Unreadable::NoCounters(if reading == Reading::Log { "a log" } else { "JSON" }));
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
        let mut sink = sink(&mut self.pools, &mut self.outside, &self.options);
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
fn sink<'a>(pools: &'a mut Pools, outside: &'a mut u64, options: &'a Options) -> impl FnMut(Window) + 'a {
    move |mut window: Window| {
        if !options.bounds.hold(window.at) {
            *outside += 1;
            return;
        }
        if let (Some(span), Some(at)) = (options.span, window.at) {
            window.group.span = Some(at.seconds.div_euclid(span) * span);
        }
        pools.add(&window, options.by_rank);
    }
}

/// The form of a text, by its beginning.
fn told(beginning: &[u8]) -> Reading {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    if scan::has_needle(beginning) {
        return Reading::Log;
    }
    match beginning.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{' | b'[') => Reading::Json,
        _ if counters::has_counter(beginning) => Reading::Prometheus,
        _ => Reading::Log,
    }
}

/// Whether a text breaks off in the middle of a value.
pub(super) fn cut_off(format: Printout) -> Window {
    Window { traps: vec![Trap::CutOff], ..Window::of(format) }
}
