//! What a service does under load: tables, CSV and JSON.

pub mod answer;
pub mod capacity;
pub mod columns;
pub mod pays;
pub mod requests;
pub mod text;
pub mod workloads;

use serde_json::{Value, json};

use crate::acceptance::estimate::Estimate;
use crate::domain::traffic::{Policy, Traffic};
use crate::report::traffic::columns::row;
use crate::sweep::row::{Cell, Labels};
use crate::traffic::study::{Case, Full};

/// A run with its names.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// What was run on.
    pub labels: Labels<'a>,
    /// The requests.
    pub traffic: &'a Traffic,
    /// What came of it.
    pub case: &'a Case,
    /// The same without speculation, if that was run.
    pub off: Option<&'a Case>,
    /// The same where it is always full.
    pub full: Option<&'a Full>,
    /// That without speculation.
    pub full_off: Option<&'a Full>,
}

impl Shown<'_> {
    fn policy(&self) -> &Policy {
        &self.traffic.policies[self.case.policy]
    }

    /// The drafter that is loaded.
    fn drafter(&self) -> Option<&str> {
        self.labels.drafter.filter(|_| *self.policy() != Policy::Off)
    }

    /// Mean latency without speculation over that with it, under the same requests.
    fn latency_ratio(&self) -> Option<Estimate> {
        self.off?.measures.e2e.over(&self.case.measures.e2e)
    }

    /// Output tokens per second over those without speculation, each with as many sequences as it can.
    fn throughput_ratio(&self) -> Option<f64> {
        let ratio = self.full?.tokens_per_s?.value / self.full_off?.tokens_per_s?.value;
        // Of requests that ask for no output there is none.
        ratio.is_finite().then_some(ratio)
    }

    /// Output tokens per second of all replicas where they are always full.
    fn full_tokens_per_s(&self) -> Option<Estimate> {
        Some(self.of_all_replicas(self.full?.tokens_per_s?))
    }

    fn of_all_replicas(&self, of: Estimate) -> Estimate {
        let replicas = self.traffic.replicas as f64;
        Estimate { value: replicas * of.value, low: replicas * of.low, high: replicas * of.high }
    }

    /// What is to be known of the run.
    fn notes(&self) -> String {
        let measures = &self.case.measures;
        let notes = [(measures.is_overloaded(), "piling_up"), (measures.is_too_short(), "too_short")];
        notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect::<Vec<_>>().join(" ")
    }
}

/// The runs of a deployment, with plain decoding before them where it was run with another drafter.
pub(super) fn with_off<'a>(all: &[Shown<'a>]) -> Vec<Shown<'a>> {
    let mut rows = Vec::new();
    for (at, shown) in all.iter().enumerate() {
        let is_first = at == 0 || all[at - 1].case.load.to_bits() != shown.case.load.to_bits();
        let elsewhere = shown.off.filter(|off| off.subject != shown.case.subject);
        if let (true, Some(off)) = (is_first, elsewhere) {
            rows.push(Shown { case: off, full: shown.full_off, ..*shown });
        }
        rows.push(*shown);
    }
    rows
}

fn number<'c>(of: Option<f64>) -> Cell<'c> {
    of.filter(|of| of.is_finite()).map_or(Cell::Empty, Cell::Number)
}

/// A value and the ends of its interval; an end without limit is empty.
fn with_ends<'c>(of: Option<Estimate>) -> [Cell<'c>; 3] {
    let end = |end: fn(Estimate) -> f64| number(of.filter(|of| of.high.is_finite()).map(end));
    [number(of.map(|of| of.value)), end(|of| of.low), end(|of| of.high)]
}

/// All runs as a document.
#[must_use]
pub fn json(all: &[Shown<'_>], is_asked: bool, manifest: &Value) -> Value {
    let rows: Vec<Value> = all
        .iter()
        .map(|shown| {
            let mut row = row(shown, is_asked);
            let kinds = workloads::rows(shown, is_asked);
            if !kinds.is_empty() {
                row["workloads"] = kinds.into();
            }
            row
        })
        .collect();
    json!({ "manifest": manifest, "rows": rows, "pays": pays::json(all) })
}
