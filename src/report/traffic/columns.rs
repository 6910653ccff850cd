//! Runs as rows.

use serde_json::Value;

use super::{Shown, number, with_ends};
use crate::domain::traffic::Arrivals;
use crate::report::csv;
use crate::report::json::object;
use crate::sweep::row::Cell;

/// The columns of `traffic`'s CSV.
pub const COLUMNS: [&str; 60] = [
    "hardware",
    "target",
    "drafter",
    "engine",
    "tensor_parallel",
    "replicas",
    "arrivals",
    "load",
    "policy",
    "requests",
    "refused",
    "preempted",
    "mean_prompt_tokens",
    "mean_output_tokens",
    "ttft_mean_s",
    "ttft_mean_low_s",
    "ttft_mean_high_s",
    "ttft_p50_s",
    "ttft_p95_s",
    "ttft_p95_low_s",
    "ttft_p95_high_s",
    "ttft_p99_s",
    "tpot_mean_s",
    "tpot_mean_low_s",
    "tpot_mean_high_s",
    "tpot_p50_s",
    "tpot_p95_s",
    "tpot_p95_low_s",
    "tpot_p95_high_s",
    "tpot_p99_s",
    "e2e_mean_s",
    "e2e_p50_s",
    "e2e_p95_s",
    "e2e_p99_s",
    "itl_chunk_p50_s",
    "itl_chunk_p99_s",
    "itl_token_p50_s",
    "itl_token_p99_s",
    "requests_per_s",
    "requests_per_s_low",
    "requests_per_s_high",
    "output_tokens_per_s",
    "output_tokens_per_s_low",
    "output_tokens_per_s_high",
    "total_tokens_per_s",
    "e2e_speedup",
    "e2e_speedup_low",
    "e2e_speedup_high",
    "full_tokens_per_s",
    "full_tokens_per_s_low",
    "full_tokens_per_s_high",
    "throughput_ratio",
    "good_share",
    "goodput_per_s",
    "mean_batch",
    "mean_queue",
    "kv_share",
    "speculating_share",
    "wasted_draft_share",
    "notes",
];

impl Shown<'_> {
    /// The cells of a row, but for policy and notes, which have no text of their own.
    #[must_use]
    pub fn cells(&self, is_asked: bool) -> Vec<Cell<'_>> {
        let (measures, over, labels) = (&self.case.measures, &self.case.measures.over_time, &self.labels);
        let mut cells = vec![
            Cell::Text(labels.hardware),
            Cell::Text(labels.target),
            self.drafter().map_or(Cell::Empty, Cell::Text),
            Cell::Text(labels.engine),
            Cell::Integer(labels.tensor_parallel),
            Cell::Integer(self.traffic.replicas),
            Cell::Text(arriving(&self.traffic.arrivals)),
            Cell::Number(self.case.load),
            Cell::Empty,
        ];
        cells.extend([measures.requests(), measures.refused, measures.preempted].map(Cell::Integer));
        let lengths = measures.mean_lengths();
        cells.extend([lengths.map(|of| of.0), lengths.map(|of| of.1)].map(number));
        for times in [&measures.ttft, &measures.tpot] {
            let at = |share: f64| number(times.at(share).map(|of| of.value));
            cells.extend(with_ends(times.mean()));
            cells.push(at(0.5));
            cells.extend(with_ends(times.at(0.95)));
            cells.push(at(0.99));
        }
        let e2e = [measures.e2e.mean(), measures.e2e.at(0.5), measures.e2e.at(0.95), measures.e2e.at(0.99)];
        cells.extend(e2e.map(|of| number(of.map(|of| of.value))));
        for gaps in [&measures.by_chunk, &measures.by_token] {
            cells.extend([0.5, 0.99].map(|share| number(gaps.at(share))));
        }
        cells.extend(self.throughput());
        cells.extend(with_ends(self.latency_ratio()));
        cells.extend(with_ends(self.full_tokens_per_s()));
        cells.push(number(self.throughput_ratio()));
        let good = measures.good.share().filter(|_| is_asked).map(|good| good.value);
        let replicas = self.traffic.replicas as f64;
        let goodput = || Some(replicas * good? * over.per_second(over.answered)?);
        cells.extend([good, goodput()].map(number));
        cells.extend([over.decoding, over.waiting, over.cache].map(|sum| number(over.mean(sum))));
        cells.extend([over.speculating_share(), over.wasted_share(), None].map(number));
        cells
    }

    /// Of the whole service: requests, output tokens and all tokens per second.
    fn throughput(&self) -> Vec<Cell<'_>> {
        let over = &self.case.measures.over_time;
        let replicas = self.traffic.replicas as f64;
        let rates = [over.answers_per_s(), over.tokens_per_s()];
        let mut cells: Vec<Cell<'_>> =
            rates.into_iter().flat_map(|rate| with_ends(rate.map(|of| self.of_all_replicas(of)))).collect();
        cells.push(number(over.per_second(over.tokens + over.prompt_tokens).map(|rate| replicas * rate)));
        cells
    }
}

/// How requests come, in a word.
const fn arriving(arrivals: &Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Poisson => "poisson",
        Arrivals::Gamma { .. } => "gamma",
        Arrivals::Constant => "constant",
        Arrivals::Closed { .. } => "closed",
        Arrivals::Seen(_) => "trace",
    }
}

/// All runs as CSV.
///
/// # Errors
///
/// Of the writer.
pub fn csv(all: &[Shown<'_>], is_asked: bool) -> ::csv::Result<Vec<u8>> {
    let values = |row: Value| COLUMNS.iter().map(|column| row[*column].clone()).collect();
    csv::table(&COLUMNS, all.iter().map(|shown| values(row(shown, is_asked))))
}

/// A run as an object.
pub(super) fn row(shown: &Shown<'_>, is_asked: bool) -> Value {
    let mut row = object(&COLUMNS, shown.cells(is_asked));
    row["policy"] = shown.policy().to_string().into();
    let notes = shown.notes();
    row["notes"] = if notes.is_empty() { Value::Null } else { notes.into() };
    row
}
