//! `specplan acceptance`: what engines print of drafts, in every definition in use.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::args::acceptance::AcceptanceArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::files::read::read_in_pieces;
use crate::cli::forms::Forms;
use crate::cli::publish::{Published, publish};
use crate::cli::terminal;
use crate::diagnostic::{Diagnostic, visible};
use crate::domain::observed::Pools;
use crate::import::engine::stamp::{Bounds, written};
use crate::import::engine::{Options, Reader, Unreadable};
use crate::report::acceptance::{Section, document, sections, text};
use crate::report::chart::over_time;
use crate::report::manifest::{Digest, general};
use crate::report::table::{self, Style};
use crate::words::{Apart, FileForm, Format};

pub(super) fn acceptance(args: &AcceptanceArgs) -> Result<(), Error> {
    let forms = Forms::of(&write(args))?;
    let Taken { pools, inputs } = read(args)?;
    let sections = sections(&pools, args.confidence);
    if sections.is_empty() {
        return Err(Error::CannotRun("nothing was printed between --after and --before".to_owned()));
    }
    let mut manifest = described(args);
    manifest["inputs"] = inputs.into();
    if !args.quiet {
        idle(args, &sections).iter().for_each(|line| terminal::note(line));
    }
    let stdin = args.files.iter().any(|path| path == Path::new("-"));
    let name = if stdin { "stdin".to_owned() } else { stem(&args.files[0]) };
    let results = forms.open(&args.out, &name, "acceptance", args.quiet)?;
    let published = match results {
        Some(results) => Some(files(results, &forms, &sections, &name, &manifest)?),
        None => None,
    };
    let shown = show(args, &sections, &manifest);
    if let Some(published) = published.filter(|_| !args.quiet) {
        published.tell();
    }
    shown
}

/// Forms of files: charts over time need no asking.
fn write(args: &AcceptanceArgs) -> Vec<FileForm> {
    match args.write.as_slice() {
        [] if args.by.contains(&Apart::Time) => vec![FileForm::Csv, FileForm::Png],
        [] => vec![FileForm::None],
        asked => asked.to_vec(),
    }
}

/// A file's name without its ending, in plain letters.
fn stem(path: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().chars().map(plain).collect());
    if stem.starts_with(|c: char| c.is_ascii_alphanumeric()) { stem } else { "acceptance".to_owned() }
}

/// Files as they were read: what they come to, and their digests.
struct Taken {
    pools: Pools,
    inputs: Vec<Value>,
}

/// Reads every file; files of one form are added up.
fn read(args: &AcceptanceArgs) -> Result<Taken, Error> {
    let by = |apart| args.by.contains(&apart);
    if let Some(path) =
        (1..args.files.len()).find(|at| args.files[..*at].contains(&args.files[*at])).map(|at| &args.files[at])
    {
        return Err(Error::Usage(format!("{} is given twice: its rounds would count twice", path.display())));
    }
    if args.since.is_some() && args.files.len() > 1 {
        return Err(Error::Usage("--since goes with one FILE: which of several it precedes is not told".to_owned()));
    }
    if args.span.is_some() && !by(Apart::Time) {
        return Err(Error::Usage("--span goes with --by time".to_owned()));
    }
    let mut options = Options {
        reading: args.from,
        k: args.k,
        since: None,
        bounds: Bounds { after: args.after, before: args.before },
        by_rank: by(Apart::Rank),
        span: by(Apart::Time).then_some(args.span.unwrap_or(SPAN)),
    };
    let mut taken = Taken { pools: Pools::default(), inputs: Vec::new() };
    if let Some(since) = &args.since {
        let mut reader = Reader::new(Options { reading: args.from, ..Options::default() });
        taken.inputs.push(pieces(since, args.quiet, &mut reader)?);
        options.since = Some(reader.scrape().map_err(|error| unreadable(since, &error))?);
    }
    for path in &args.files {
        let mut reader = Reader::new(options.clone());
        taken.inputs.push(pieces(path, args.quiet, &mut reader)?);
        let pools = reader.finish().map_err(|error| unreadable(path, &error))?;
        let name = visible(&path.display().to_string());
        taken.pools.absorb(pools, by(Apart::File).then_some(name.as_str()));
    }
    Ok(taken)
}

/// Seconds of a span where none is asked for.
const SPAN: i64 = 60;

fn pieces(path: &Path, quiet: bool, reader: &mut Reader) -> Result<Value, Error> {
    let mut digest = Digest::default();
    read_in_pieces(path, quiet, |piece| {
        digest.update(piece);
        reader.push(piece).map_err(|error| unreadable(path, &error))
    })?;
    Ok(digest.input("printout", &path.display().to_string()))
}

/// What was asked for and played no part.
fn idle(args: &AcceptanceArgs, sections: &[Section<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let by = |apart| args.by.contains(&apart);
    if by(Apart::Time) && sections.iter().all(|section| section.group.span.is_none()) {
        lines.push("--by time: nothing here bears a moment");
    }
    if by(Apart::Rank) && sections.iter().all(|section| section.group.rank.is_none()) {
        lines.push("--by rank: no ranks are named here; --by file keeps files apart");
    }
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    if let Some(k) = args.k
        && sections.iter().all(|section| section.found.k.is_some_and(|known| known != k))
    {
        lines.push(format!("--k {k} plays no part: the draft length is printed, and it is another"));
    }
    lines
}

fn unreadable(path: &Path, error: &Unreadable) -> Error {
    let name = if path == Path::new("-") { "<standard input>".to_owned() } else { path.display().to_string() };
    let (code, hint) = match error {
        Unreadable::Empty => ("empty", "was the server scraped while it ran?"),
        Unreadable::Binary => ("not-text", "a log, counters or JSON is due"),
        Unreadable::Utf16 => ("not-utf8", "iconv -f UTF-16 -t UTF-8 FILE | specplan acceptance -"),
        Unreadable::Timeless => ("conflict", "of counters take two scrapes, and --since"),
        Unreadable::Compressed => ("compressed", "zcat FILE | specplan acceptance -"),
        Unreadable::Unknown => ("unknown-format", "specplan acceptance --help lists what is read; --from names a form"),
        Unreadable::Json { .. } => ("syntax", "--from log reads lines, whatever is between them"),
        Unreadable::NoCounters(_) => {
            ("conflict", "--since takes two scrapes of /metrics; of a log --after takes a moment")
        }
    };
    Error::Input(vec![Diagnostic::error(code, format!("{name}: {error}")).hint(hint)])
}

fn described(args: &AcceptanceArgs) -> Value {
    let names: Vec<String> = args.files.iter().map(|path| path.display().to_string()).collect();
    let options = json!({
        "files": names,
        "from": args.from.map(|from| from.as_str()),
        "since": args.since.as_ref().map(|path| path.display().to_string()),
        "k": args.k,
        "after": args.after.map(written),
        "before": args.before.map(written),
        "by": args.by.iter().map(|by| by.as_str()).collect::<Vec<_>>(),
        "span_s": args.span,
        "confidence": args.confidence.get(),
    });
    general("acceptance", &[], &options, &trust())
}

fn trust() -> Vec<String> {
    vec![
        "counts are added up over files, engines and ranks; rates and means are never averaged but where nothing else is printed"
            .to_owned(),
    ]
}

fn files(
    mut results: Results,
    forms: &Forms,
    sections: &[Section<'_>],
    name: &str,
    manifest: &Value,
) -> Result<Published, Error> {
    if forms.csv {
        results.add("csv", &document::csv(sections).map_err(|error| Error::Internal(error.to_string()))?)?;
    }
    if forms.json {
        results.add("json", &document::json(sections, manifest))?;
    }
    let chart = over_time::chart(sections, name, &trust());
    forms.draw(&mut results, &chart)?;
    publish(results, manifest.clone())
}

fn show(args: &AcceptanceArgs, sections: &[Section<'_>], manifest: &Value) -> Result<(), Error> {
    let page = |style| table::page("Acceptance as it was printed", &text::text(sections, style), &trust(), style);
    match args.format {
        Format::Text => terminal::print(page(Style::Plain).as_bytes()),
        Format::Md => terminal::print(page(Style::Markdown).as_bytes()),
        Format::Csv => terminal::print(&document::csv(sections).map_err(|error| Error::Internal(error.to_string()))?),
        Format::Json => terminal::print(&document::json(sections, manifest)),
    }
}
