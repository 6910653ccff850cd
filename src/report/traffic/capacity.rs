//! The highest rate that meets what is asked, what it costs, and how many replicas a rate takes.

use serde_json::Value;

use crate::domain::price::HourlyPrice;
use crate::domain::traffic::{Policy, Slo, Traffic};
use crate::report::csv;
use crate::report::json::object;
use crate::report::number::{brief, figures, times};
use crate::report::table::{Style, composed, right, table};
use crate::report::traffic::number;
use crate::report::traffic::text::{between, listed};
use crate::sweep::row::{Cell, Labels};
use crate::traffic::capacity::{Capacity, Never};
use crate::traffic::measures::Measures;
use crate::traffic::study::Held;
use crate::traffic::tally::Times;
use crate::units::Seconds;
use crate::words::Limit;

/// A capacity with its names.
#[derive(Clone, Debug)]
pub struct ShownCapacity<'a> {
    /// What it is of.
    pub labels: Labels<'a>,
    /// Devices of a replica, the drafter's own included.
    pub devices: u64,
    /// Those that decode without it.
    pub devices_of_off: u64,
    /// Of a device.
    pub price: Option<HourlyPrice>,
    /// The requests.
    pub traffic: &'a Traffic,
    /// What is asked.
    pub slo: &'a Slo,
    /// What was found.
    pub held: &'a Held,
    /// The same without speculation, if that was looked for.
    pub off: Option<&'a Held>,
}

/// The columns of its CSV.
pub const COLUMNS: [&str; 21] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "tensor_parallel",
    "policy",
    "requests_per_s",
    "requests_per_s_low",
    "requests_per_s_high",
    "rate_over_off",
    "limited_by",
    "output_tokens_per_s",
    "ttft_s",
    "tpot_s",
    "e2e_s",
    "devices",
    "device_hours_per_million_tokens",
    "usd_per_million_tokens",
    "replicas_for_largest_load",
    "replicas_low",
    "replicas_high",
];

impl ShownCapacity<'_> {
    pub(super) fn found(&self) -> Option<&Capacity> {
        self.held.capacity.as_ref().ok()
    }

    /// Output tokens per second of one replica in the long run: as many as are asked for.
    fn tokens_per_s(&self) -> Option<f64> {
        let found = self.found()?;
        let answered = 1.0 - found.at.refused as f64 / found.at.requests() as f64;
        Some(found.rate * answered * found.at.mean_lengths()?.1)
    }

    /// The highest rate over that without speculation.
    pub(super) fn over_off(&self) -> Option<f64> {
        Some(self.found()?.rate / self.off?.capacity.as_ref().ok()?.rate)
    }

    /// What keeps the rate from being higher.
    pub(super) fn limit(&self) -> Option<Limit> {
        match &self.held.capacity {
            Ok(found) => found.limit,
            Err(Never { limit, .. }) => *limit,
        }
    }

    /// Hours of devices for a million output tokens.
    fn device_hours(&self) -> Option<f64> {
        let tokens = self.tokens_per_s().filter(|tokens| *tokens > 0.0)?;
        Some(self.paid() as f64 * 1e6 / tokens / 3600.0)
    }

    /// Devices that are paid for: plain decoding needs none for a drafter.
    fn paid(&self) -> u64 {
        if self.is_plain() { self.devices_of_off } else { self.devices }
    }

    fn usd(&self) -> Option<f64> {
        let tokens = self.tokens_per_s().filter(|tokens| *tokens > 0.0)?;
        Some(self.price.as_ref()?.per_million(tokens / self.paid() as f64))
    }

    /// Replicas that a rate takes, and as few and as many as the interval allows; no most where no rate surely holds.
    pub(super) fn replicas(&self, rate: f64) -> Option<(u64, u64, Option<u64>)> {
        let found = self.found()?;
        let of = |each: f64| (rate / each).ceil().max(1.0) as u64;
        Some((of(found.rate), of(found.high), (found.low > 0.0).then(|| of(found.low))))
    }

    pub(super) fn largest_load(&self) -> f64 {
        self.traffic.loads.iter().copied().fold(0.0, f64::max)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.traffic.policies[self.held.policy] == Policy::Off
    }

    pub(super) fn policy(&self) -> String {
        self.traffic.policies[self.held.policy].to_string()
    }

    fn measured(&self) -> &Measures {
        match &self.held.capacity {
            Ok(found) => &found.at,
            Err(Never { alone, .. }) => alone,
        }
    }

    fn row(&self) -> Value {
        let (labels, found, measured) = (&self.labels, self.found(), self.measured());
        let share = self.slo.percentile.get();
        let (policy, replicas) = (self.policy(), self.replicas(self.largest_load()));
        let cells = [
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            labels.drafter.filter(|_| !self.is_plain()).map_or(Cell::Empty, Cell::Text),
            Cell::Text(labels.engine),
            Cell::Integer(labels.tensor_parallel),
            Cell::Text(&policy),
            number(found.map_or(self.limit().map(|_| 0.0), |found| Some(found.rate))),
            number(found.map(|found| found.low)),
            number(found.map(|found| found.high)),
            number(self.over_off()),
            self.limit().map_or(Cell::Empty, |limit| Cell::Text(limit.as_str())),
            number(self.tokens_per_s()),
            number(measured.ttft.at(share).map(|of| of.value)),
            number(measured.tpot.at(share).map(|of| of.value)),
            number(measured.e2e.at(share).map(|of| of.value)),
            Cell::Integer(self.paid()),
            number(self.device_hours()),
            number(self.usd()),
            replicas.map_or(Cell::Empty, |of| Cell::Integer(of.0)),
            replicas.map_or(Cell::Empty, |of| Cell::Integer(of.1)),
            replicas.and_then(|of| of.2).map_or(Cell::Empty, Cell::Integer),
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
    let blocks = all.chunk_by(same).map(|block| of_one(block, style));
    blocks.chain([listed(&notes(all), style)]).collect::<Vec<_>>().join(between(all, same, style))
}

fn of_one(all: &[ShownCapacity<'_>], style: Style) -> String {
    let first = &all[0];
    let (slo, load) = (first.slo, first.largest_load());
    let percentile = format!("p{}", brief(slo.percentile.get() * 100.0));
    let header = [
        "policy".to_owned(),
        "requests/s".to_owned(),
        "interval".to_owned(),
        "x off".to_owned(),
        "limited by".to_owned(),
        format!("TTFT {percentile}"),
        format!("TPOT {percentile}"),
        format!("latency {percentile}"),
        "out tok/s".to_owned(),
        format!("replicas for {}/s", figures(load)),
        "device hours/M tok".to_owned(),
        "$/M tok".to_owned(),
    ];
    let mut drawn = table(&header, style);
    let off = first.off.filter(|off| off.subject != first.held.subject);
    let off = off.map(|held| ShownCapacity { held, ..first.clone() });
    for shown in off.iter().chain(all) {
        drawn.add_row(row(shown, load).into_iter().map(right).collect::<Vec<_>>());
    }
    let drafts = all.iter().any(|shown| !shown.is_plain());
    let labels = &first.labels;
    let heading = format!(
        "The highest rate of one replica with {}: {} on {} x {}, {}, drafter {}",
        asked(slo),
        labels.target,
        labels.tensor_parallel,
        labels.hardware,
        labels.engine,
        labels.drafter.filter(|_| drafts).unwrap_or("none")
    );
    composed(&heading, &drawn, Vec::new(), style)
}

fn row(shown: &ShownCapacity<'_>, load: f64) -> Vec<String> {
    let (measured, share) = (shown.measured(), shown.slo.percentile.get());
    let at = |times: &Times| times.at(share).map_or_else(String::new, |of| Seconds::new(of.value).to_string());
    let of = |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or_else(String::new, text);
    let mark = if shown.found().is_some_and(|found| found.at.is_too_short()) { " ?" } else { "" };
    let (rate, interval) = match shown.found() {
        Some(found) => (figures(found.rate), interval(found)),
        None if shown.limit().is_none() => ("unknown".to_owned(), String::new()),
        None => ("never".to_owned(), String::new()),
    };
    vec![
        format!("{}{mark}", shown.policy()),
        rate,
        interval,
        of(shown.over_off(), &times),
        shown.limit().map_or_else(String::new, |limit| named(limit).to_owned()),
        at(&measured.ttft),
        at(&measured.tpot),
        at(&measured.e2e),
        of(shown.tokens_per_s(), &|rate| format!("{rate:.0}")),
        shown.replicas(load).map_or_else(String::new, replicas),
        of(shown.device_hours(), &figures),
        of(shown.usd(), &|usd| format!("{usd:.2}")),
    ]
}

const fn named(limit: Limit) -> &'static str {
    match limit {
        Limit::Ttft => "TTFT",
        Limit::Tpot => "TPOT",
        Limit::E2e => "latency",
        Limit::PilingUp => "piling up",
        Limit::Refused => "refused",
    }
}

fn replicas((likely, fewest, most): (u64, u64, Option<u64>)) -> String {
    match most {
        Some(most) if most == fewest => likely.to_string(),
        Some(most) => format!("{likely} ({fewest} to {most})"),
        None => format!("{likely} ({fewest} or more)"),
    }
}

fn notes(all: &[ShownCapacity<'_>]) -> Vec<String> {
    let mut notes = vec![
        "interval: of 95 %, from how times vary within the run at a rate, and from how much work so many requests bring by chance; the same requests under every policy, so that their ratio is surer than either"
            .to_owned(),
        "limited by: what is missed first at a higher rate, or that requests pile up; tokens, hours and dollars are those of the rate, at the mean output of these requests"
            .to_owned(),
    ];
    if all.iter().any(|shown| shown.found().is_some_and(|found| found.at.is_too_short())) {
        notes.push(
            "? found from too few requests to say how a service does that goes on: take more traffic.requests"
                .to_owned(),
        );
    }
    let any = |is: fn(&ShownCapacity<'_>) -> bool| all.iter().any(is);
    if any(|shown| shown.found().is_none() && shown.limit().is_some()) {
        notes.push("never: not met at next to no load, whose times are shown".to_owned());
    }
    if any(|shown| shown.limit().is_none() && shown.found().is_none()) {
        notes.push("unknown: fewer than 100 requests are measured, from which no highest rate can be told".to_owned());
    }
    if all.iter().any(|shown| shown.price.is_none()) {
        notes.push("no price is known: --price states one".to_owned());
    }
    if let Some(dated) = all.iter().find_map(|shown| shown.price.as_ref()?.dated.as_ref()) {
        notes.push(format!("prices of {dated}: --price takes yours"));
    }
    notes
}

pub(super) fn interval(found: &Capacity) -> String {
    let high = if found.high.is_finite() { figures(found.high) } else { "no end".to_owned() };
    format!("{} to {high}", figures(found.low))
}

/// What is asked, in words.
#[must_use]
pub fn asked(slo: &Slo) -> String {
    let limits = [("TTFT", slo.ttft), ("TPOT", slo.tpot), ("latency", slo.e2e)];
    let each = limits.into_iter().filter_map(|(name, limit)| Some(format!("{name} within {}", limit?)));
    format!("{} for {} % of requests", each.collect::<Vec<_>>().join(", "), brief(slo.percentile.get() * 100.0))
}
