//! The highest rate that meets what is asked, what it costs, and how many replicas a rate takes.

use serde_json::Value;

use crate::domain::price::HourlyPrice;
use crate::domain::traffic::{Policy, Slo, Traffic};
use crate::report::csv;
use crate::report::json::object;
use crate::report::number::brief;
use crate::report::table::{Style, composed, right, table};
use crate::sweep::row::{Cell, Labels};
use crate::traffic::capacity::{Capacity, Never};
use crate::traffic::measures::Measures;
use crate::traffic::study::Held;
use crate::units::Seconds;

/// A capacity with its names.
#[derive(Clone, Debug)]
pub struct ShownCapacity<'a> {
    /// What it is of.
    pub labels: Labels<'a>,
    /// Devices of a replica.
    pub devices: u64,
    /// Of a device.
    pub price: Option<HourlyPrice>,
    /// The requests.
    pub traffic: &'a Traffic,
    /// What is asked.
    pub slo: &'a Slo,
    /// What was found.
    pub held: &'a Held,
}

/// The columns of its CSV.
pub const COLUMNS: [&str; 17] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "tensor_parallel",
    "policy",
    "requests_per_s",
    "surely_per_s",
    "surely_not_per_s",
    "output_tokens_per_s",
    "ttft_s",
    "tpot_s",
    "e2e_s",
    "devices",
    "device_hours_per_million_tokens",
    "usd_per_million_tokens",
    "replicas_for_largest_load",
];

impl ShownCapacity<'_> {
    fn found(&self) -> Option<&Capacity> {
        self.held.capacity.as_ref().ok()
    }

    /// Output tokens per second of one replica.
    fn tokens_per_s(&self) -> Option<f64> {
        let over = &self.found()?.at.over_time;
        Some(over.tokens as f64 / over.seconds)
    }

    /// Hours of devices for a million output tokens.
    fn device_hours(&self) -> Option<f64> {
        Some(self.devices as f64 * 1e6 / self.tokens_per_s()? / 3600.0)
    }

    fn usd(&self) -> Option<f64> {
        Some(self.price.as_ref()?.per_million(self.tokens_per_s()? / self.devices as f64))
    }

    /// Replicas that a rate takes.
    fn replicas(&self, rate: f64) -> Option<u64> {
        Some((rate / self.found()?.rate).ceil() as u64)
    }

    fn largest_load(&self) -> f64 {
        self.traffic.loads.iter().copied().fold(0.0, f64::max)
    }

    fn is_plain(&self) -> bool {
        self.traffic.policies[self.held.policy] == Policy::Off
    }

    fn policy(&self) -> String {
        self.traffic.policies[self.held.policy].to_string()
    }

    fn measured(&self) -> &Measures {
        match &self.held.capacity {
            Ok(found) => &found.at,
            Err(Never { alone }) => alone,
        }
    }

    fn row(&self) -> Value {
        let number = |of: Option<f64>| of.filter(|of| of.is_finite()).map_or(Cell::Empty, Cell::Number);
        let (labels, found, measured) = (&self.labels, self.found(), self.measured());
        let share = self.slo.percentile.get();
        let policy = self.policy();
        let cells = [
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            labels.drafter.filter(|_| !self.is_plain()).map_or(Cell::Empty, Cell::Text),
            Cell::Text(labels.engine),
            Cell::Integer(labels.tensor_parallel),
            Cell::Text(&policy),
            Cell::Number(found.map_or(0.0, |found| found.rate)),
            number(found.map(|found| found.low)),
            number(found.map(|found| found.high)),
            number(self.tokens_per_s()),
            number(measured.ttft.at(share).map(|of| of.value)),
            number(measured.tpot.at(share).map(|of| of.value)),
            number(measured.e2e.at(share).map(|of| of.value)),
            Cell::Integer(self.devices),
            number(self.device_hours()),
            number(self.usd()),
            self.replicas(self.largest_load()).map_or(Cell::Empty, Cell::Integer),
        ];
        object(&COLUMNS, cells)
    }
}

/// All of them as CSV.
///
/// # Errors
///
/// Of the writer.
pub fn csv(all: &[ShownCapacity<'_>]) -> ::csv::Result<Vec<u8>> {
    csv::table(
        &COLUMNS,
        all.iter().map(|shown| {
            let row = shown.row();
            COLUMNS.iter().map(|column| row[*column].clone()).collect()
        }),
    )
}

/// All of them as JSON.
#[must_use]
pub fn rows(all: &[ShownCapacity<'_>]) -> Vec<Value> {
    all.iter().map(ShownCapacity::row).collect()
}

/// The tables, one for each deployment.
#[must_use]
pub fn text(all: &[ShownCapacity<'_>], style: Style) -> String {
    let same = |one: &ShownCapacity<'_>, other: &ShownCapacity<'_>| one.held.subject == other.held.subject;
    all.chunk_by(same).map(|block| of_one(block, style)).collect::<Vec<_>>().join("\n")
}

fn of_one(all: &[ShownCapacity<'_>], style: Style) -> String {
    let first = &all[0];
    let (slo, load) = (first.slo, first.largest_load());
    let percentile = format!("p{}", brief(slo.percentile.get() * 100.0));
    let header = [
        "policy".to_owned(),
        "requests/s".to_owned(),
        "interval".to_owned(),
        format!("TTFT {percentile}"),
        format!("TPOT {percentile}"),
        format!("latency {percentile}"),
        "out tok/s".to_owned(),
        format!("replicas for {}/s", brief(load)),
        "device hours/M tok".to_owned(),
        "$/M tok".to_owned(),
    ];
    let mut drawn = table(&header, style);
    for shown in all {
        let measured = shown.measured();
        let at = |times: &crate::traffic::tally::Times| {
            times.at(slo.percentile.get()).map_or_else(String::new, |of| Seconds::new(of.value).to_string())
        };
        let times = [at(&measured.ttft), at(&measured.tpot), at(&measured.e2e)];
        let (rate, interval) = match shown.found() {
            Some(found) => (brief(found.rate), interval(found)),
            None => ("never".to_owned(), String::new()),
        };
        let mut row = vec![shown.policy(), rate, interval];
        row.extend(times);
        row.push(shown.tokens_per_s().map_or_else(String::new, |rate| format!("{rate:.0}")));
        row.push(shown.replicas(load).map_or_else(String::new, |replicas| replicas.to_string()));
        row.push(shown.device_hours().map_or_else(String::new, brief));
        row.push(shown.usd().map_or_else(String::new, |usd| format!("{usd:.2}")));
        drawn.add_row(row.into_iter().map(right).collect::<Vec<_>>());
    }
    let labels = &first.labels;
    let heading = format!(
        "The highest rate of one replica with {}: {} on {} x {}, {}, drafter {}",
        asked(slo),
        labels.target,
        labels.tensor_parallel,
        labels.hardware,
        labels.engine,
        labels.drafter.unwrap_or("none")
    );
    composed(&heading, &drawn, notes(all), style)
}

fn notes(all: &[ShownCapacity<'_>]) -> Vec<String> {
    let mut notes = vec![
        "interval: a rate that surely meets all of it and one that surely does not; requests at the same moments under every policy"
            .to_owned(),
    ];
    if all.iter().any(|shown| shown.found().is_none()) {
        notes.push("never: not met where a request has the replica to itself; its times are shown".to_owned());
    }
    if all.iter().any(|shown| shown.price.is_none()) {
        notes.push("no price is known: --price states one".to_owned());
    }
    if let Some(dated) = all.iter().find_map(|shown| shown.price.as_ref()?.dated.as_ref()) {
        notes.push(format!("prices of {dated}: --price takes yours"));
    }
    notes
}

fn interval(found: &Capacity) -> String {
    let high = if found.high.is_finite() { brief(found.high) } else { "no end".to_owned() };
    format!("{} to {high}", brief(found.low))
}

/// What is asked, in words.
#[must_use]
pub fn asked(slo: &Slo) -> String {
    let limits = [("TTFT", slo.ttft), ("TPOT", slo.tpot), ("latency", slo.e2e)];
    let each = limits.into_iter().filter_map(|(name, limit)| Some(format!("{name} within {}", limit?)));
    format!("{} for {} % of requests", each.collect::<Vec<_>>().join(", "), brief(slo.percentile.get() * 100.0))
}
