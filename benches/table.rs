//! How fast the program is, as ratios to yardsticks of the same run: `cargo bench --bench table`, or `-- P5 P12` for some.
//!
//! Subject and yardstick alternate; a ratio is the median over pairs, so that a noisy machine tells in the spread and not in the figure.
//! Whatever is timed is checked to be right first. Yardsticks in Python are left out where there is no `python3`, or no matplotlib. P16 is a
//! build of minutes and runs only where it is named; P4 has no yardstick here.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a benchmark prints, stops on a broken input, and reads the clock"
)]

mod timing;

#[path = "table/draws.rs"]
mod draws;
#[path = "../tests/it/fields.rs"]
mod fields;
#[path = "table/grid.rs"]
mod grid;
#[path = "table/program.rs"]
mod program;

use timing::Line;

/// Its number and what it measures.
type Benchmark = (&'static str, fn() -> Vec<Line>);

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|flag| flag.starts_with('P')).collect();
    let named = |id: &str| asked.iter().any(|of| of == id);
    let wanted = |id: &str| named(id) || asked.is_empty() && id != "P16";
    println!("{:71} {:>11} {:>11} {:>8} {:>7}  verdict", "", "subject/s", "yardstick/s", "ratio", "goal");
    let all: [Benchmark; 16] = [
        ("P1", grid::best_k),
        ("P2", grid::array),
        ("P3", grid::rows),
        ("P4", grid::steps),
        ("P5", grid::text),
        ("P6", program::csv_beside_python),
        ("P7", program::csv_beside_dd),
        ("P8", program::memory),
        ("P9", draws::rounds_of_tables),
        ("P10", draws::every_k_at_once),
        ("P11", draws::rule_of_many_tokens),
        ("P12", program::two_threads),
        ("P13", program::start_up),
        ("P14", program::charts),
        ("P15", program::whole_study),
        ("P16", program::cold_build),
    ];
    for (id, lines) in all.into_iter().filter(|(id, _)| wanted(id)) {
        lines().iter().for_each(|line| line.print(id));
    }
    if wanted("P17") {
        println!("P17  instructions for a CSV row: `benches/instructions.sh`, in continuous integration");
    }
}
