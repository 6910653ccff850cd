//! What `check` prints and writes.

use serde_json::{Value, json};

use crate::cli::args::check::CheckArgs;
use crate::cli::check::bench::Benched;
use crate::cli::check::read::Read;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::plan::{Decided, files};
use crate::cli::terminal;
use crate::report::plan::own::Launched;
use crate::report::plan::{columns, document, text};
use crate::report::table::{self, Style};
use crate::report::{gap, launch};
use crate::words::Format;

pub(super) fn show(
    args: &CheckArgs,
    read: &Read,
    forms: &Forms,
    benched: Option<&Benched>,
    decided: Decided<'_, '_, '_>,
    results: Option<Results>,
) -> Result<(), Error> {
    if read.unmeasured {
        return due(args, read, benched, &decided);
    }
    let Decided { planned, scenario, mut manifest, mut trust } = decided;
    manifest["command"] = "check".into();
    manifest["launch"] = Value::Object(launch::settings(&read.launch));
    manifest["assumed"] = assumed(read, benched).into();
    let published = match results {
        Some(results) => Some(files(results, forms, planned, scenario, manifest.clone())?),
        None => None,
    };
    trust.splice(0..0, assumed(read, benched));
    let page = |style| {
        let mut parts: Vec<String> = benched.and_then(measured_loss).into_iter().collect();
        parts.push(text::short(planned, &launched(read), style));
        parts.extend(benched.map(|of| gap::text(&of.gap, &of.causes, style)));
        table::page(&scenario.title, &parts.join("\n\n"), &trust, style)
    };
    let style = if terminal::color_stdout(args.color) { Style::Ansi } else { Style::Plain };
    match args.output.format {
        Format::Text => terminal::print(page(style).as_bytes())?,
        Format::Md => terminal::print(page(Style::Markdown).as_bytes())?,
        Format::Csv => terminal::print(&columns::csv(planned).map_err(|error| Error::Internal(error.to_string()))?)?,
        Format::Json => {
            let plan: Value = serde_json::from_slice(&document::document(planned, &manifest))
                .map_err(|error| Error::Internal(error.to_string()))?;
            let gap = benched.map(|of| gap::document(&of.gap, &of.causes));
            let whole = json!({ "launch": launch::settings(&read.launch), "assumed": assumed(read, benched), "gap": gap, "plan": plan });
            terminal::print(format!("{whole:#}\n").as_bytes())?;
        }
    }
    if let Some(published) = published.filter(|_| !args.quiet) {
        published.tell();
    }
    Ok(())
}

/// What has to be accepted, where nobody knows what is: nothing that depends on it is shown or written.
fn due(args: &CheckArgs, read: &Read, benched: Option<&Benched>, decided: &Decided<'_, '_, '_>) -> Result<(), Error> {
    let k = read.launch.settings.k;
    let of_acceptance = |line: &String| line.starts_with("drafter ") || line.starts_with("intervals ");
    let trust = decided.trust.iter().filter(|line| !of_acceptance(line)).cloned();
    let trust: Vec<String> = assumed(read, benched).into_iter().chain(trust).collect();
    let page =
        |style| table::page(&decided.scenario.title, &text::unmeasured(decided.planned, k, style), &trust, style);
    match args.output.format {
        Format::Text => terminal::print(page(Style::Plain).as_bytes()),
        Format::Md => terminal::print(page(Style::Markdown).as_bytes()),
        Format::Csv => Err(Error::CannotRun(
            "nothing is known of what these drafts are accepted: a table needs --metrics, --tokens-per-pass or --alpha"
                .to_owned(),
        )),
        Format::Json => {
            let cases: Vec<Value> = decided.planned.cases().map(|seen| seen.due_document(k)).collect();
            let whole = json!({
                "answer": "measure first",
                "launch": launch::settings(&read.launch),
                "assumed": trust,
                "due": cases,
            });
            terminal::print(format!("{whole:#}\n").as_bytes())
        }
    }
}

/// A loss that was measured counts more than any price.
fn measured_loss(of: &Benched) -> Option<String> {
    let gain = of.gap.measured();
    let price = if of.engine.is_some() { "" } else { ", and the price below is not that of this deployment" };
    (gain < LOSS).then(|| {
        format!(
            "MEASURED: A LOSS, {gain:.2}x at batch {:.0} with k = {}: do not enable it at that load{price}",
            of.gap.on.batch, of.gap.k
        )
    })
}

/// Gains that are measured below are losses.
const LOSS: f64 = 0.98;

/// What the command drafts.
fn launched(read: &Read) -> Launched {
    let of = &read.launch.settings;
    Launched { k: of.k, schedule: read.launch.further.schedule.clone(), off_from: of.disable_by_batch_size }
}

/// What was assumed, and what of the command nobody here knows.
fn assumed(read: &Read, benched: Option<&Benched>) -> Vec<String> {
    let mut lines: Vec<String> = read.assumed.iter().map(|line| format!("assumed: {line}")).collect();
    lines.extend(read.launch.notes.iter().map(|note| format!("command: {note}")));
    if !read.launch.unknown.is_empty() {
        lines.push(format!("flags that are not known here: {}", read.launch.unknown.join(", ")));
    }
    lines.extend(benched.map(|of| of.told.clone()));
    lines
}
