//! What a study of traffic says, and the files that it leaves.

use serde_json::Value;

use crate::catalog::load::Loaded;
use crate::cli::args::traffic::TrafficArgs;
use crate::cli::error::Error;
use crate::cli::files::Results;
use crate::cli::forms::Forms;
use crate::cli::publish::{Published, publish};
use crate::cli::terminal;
use crate::report::chart;
use crate::report::table::{self, Style};
use crate::report::traffic::answer::answer;
use crate::report::traffic::capacity::{self, ShownCapacity};
use crate::report::traffic::{self, Shown, columns, text, workloads};
use crate::words::Format;

pub(super) struct Output<'a> {
    pub(super) args: &'a TrafficArgs,
    pub(super) loaded: &'a Loaded,
    pub(super) shown: &'a [Shown<'a>],
    pub(super) held: &'a [ShownCapacity<'a>],
    pub(super) manifest: &'a Value,
    pub(super) trust: &'a [String],
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::Internal(error.to_string())
}

impl Output<'_> {
    fn is_asked(&self) -> bool {
        self.loaded.scenario.slo.is_some()
    }

    fn csv(&self) -> Result<Vec<u8>, Error> {
        columns::csv(self.shown, self.is_asked()).map_err(internal)
    }

    fn json(&self) -> Vec<u8> {
        let mut document = traffic::json(self.shown, self.is_asked(), self.manifest);
        document["answer"] = answer(self.shown, self.held).into();
        if !self.held.is_empty() {
            document["capacity"] = capacity::rows(self.held).into();
        }
        let mut text = format!("{document:#}");
        text.push('\n');
        text.into_bytes()
    }

    pub(super) fn files(&self, mut results: Results, forms: &Forms) -> Result<Published, Error> {
        if forms.csv {
            results.add("csv", &self.csv()?)?;
            if let Some(csv) = workloads::csv(self.shown, self.is_asked()).map_err(internal)? {
                results.add("workloads.csv", &csv)?;
            }
            if !self.held.is_empty() {
                results.add("capacity.csv", &capacity::csv(self.held).map_err(internal)?)?;
            }
        }
        if forms.json {
            results.add("json", &self.json())?;
        }
        let scenario = &self.loaded.scenario;
        // A chart has room for two lines: the last one, on times under load, is of what it shows.
        let trust: Vec<String> = self.trust.iter().rev().take(1).chain(self.trust).cloned().collect();
        forms
            .draw(&mut results, &chart::traffic::charts(self.shown, scenario.slo.as_ref(), &scenario.title, &trust))?;
        let is_single = self.shown.first().is_some_and(|first| first.traffic.loads.len() == 1);
        if is_single && !forms.charts.is_empty() && !self.args.common.quiet {
            terminal::note("charts are drawn over load: state several, such as rate = [2, 4, 8]");
        }
        publish(results, self.manifest.clone())
    }

    pub(super) fn show(&self) -> Result<(), Error> {
        let title = &self.loaded.scenario.title;
        let body = |style| {
            let answer = answer(self.shown, self.held).map_or_else(String::new, |answer| format!("{answer}\n\n"));
            let loads = format!("{answer}{}", text::text(self.shown, self.is_asked(), style));
            let below = if !self.held.is_empty() {
                capacity::text(self.held, style)
            } else if self.is_asked() {
                "clients wait for their answers: a closed loop has no highest rate to look for; state traffic.rate instead of clients".to_owned()
            } else {
                return loads;
            };
            format!("{loads}\n\n{below}")
        };
        let page = |style| table::page(title, &body(style), self.trust, style);
        match self.args.output.format {
            Format::Text => return terminal::print(page(Style::Plain).as_bytes()),
            Format::Md => return terminal::print(page(Style::Markdown).as_bytes()),
            Format::Csv => terminal::print(&self.csv()?)?,
            Format::Json => terminal::print(&self.json())?,
        }
        if !self.args.common.quiet {
            if self.args.output.format == Format::Csv && !self.held.is_empty() {
                terminal::note("highest rates are in the file of capacities, and in --format json");
            }
            self.trust.iter().for_each(|line| terminal::note(line));
        }
        Ok(())
    }
}
