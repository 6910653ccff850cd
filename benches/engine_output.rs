//! How fast logs and JSON lines of engines are read, beside counting their lines in the same run:
//! `cargo bench --bench engine_output`.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints, stops on a broken input, and reads the clock"
)]

mod timing;

use specplan::domain::observed::Pools;
use specplan::import::engine::{Options, Reader};

use timing::{median, timed};

const MEGABYTES: usize = 64;
const RUNS: usize = 9;
/// Pieces as files are read.
const PIECE: usize = 1 << 20;

const DRAFTS: &str = "(APIServer pid=1) INFO 06-10 14:20:34 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: 2.55, Accepted \
                      throughput: 155.00 tokens/s, Drafted throughput: 300.00 tokens/s, Accepted: 1550 tokens, Drafted: 3000 tokens, \
                      Per-position acceptance rate: 0.700, 0.500, 0.350, Avg Draft acceptance rate: 51.7%\n";
const ACCESS: &str = "(APIServer pid=1) INFO:     10.0.0.7:51234 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n";
const ITERATION: &str = "{\"iter\": 1, \"inflightBatchingStats\": {\"numGenRequests\": 4, \"avgNumDecodedTokensPerIter\": 2.5}, \
                         \"specDecodingStats\": {\"numDraftTokens\": 12, \"numAcceptedTokens\": 6, \
                         \"numRequestsWithDraftTokens\": 4, \"acceptanceLength\": 2.5}}\n";

fn main() {
    println!("{:44} {:>9} {:>12} {:>8} {:>15}", "", "MB/s", "lines, MB/s", "ratio", "goal, MB/s");
    let served = ACCESS.repeat(60) + DRAFTS;
    measure("a server's log, one line in 61 with drafts", &served, 1.0, 200.0);
    measure("a log of lines with drafts only", DRAFTS, 1.0, 200.0);
    measure("JSON lines of iterations", ITERATION, 1.0, 0.0);
}

fn measure(what: &str, block: &str, windows: f64, goal: f64) {
    let blocks = (MEGABYTES << 20) / block.len();
    let text = block.repeat(blocks).into_bytes();
    let (mut ours, mut lines) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (seconds, pools) = timed(|| read(&text));
        let counted: u64 = pools.iter().map(|(_, _, _, pool)| pool.windows).sum();
        assert!((counted as f64 - windows * blocks as f64).abs() < 0.5, "{what}: {counted} windows");
        ours.push(seconds);
        lines.push(timed(|| text.iter().filter(|byte| **byte == b'\n').count()).0);
    }
    let rate = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    let (ours, lines) = (rate(median(ours)), rate(median(lines)));
    println!("{what:44} {ours:>9.0} {lines:>12.0} {:>8.2} {goal:>15.0}", ours / lines);
}

fn read(text: &[u8]) -> Pools {
    let mut reader = Reader::new(Options::default());
    text.chunks(PIECE).for_each(|piece| reader.push(piece).expect("text"));
    reader.finish().expect("windows")
}
