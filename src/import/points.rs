//! Measurements of one's own deployment: CSV with columns by name, or what vLLM's and SGLang's benchmarks save.

mod bench;
mod beside;
mod columns;

pub use beside::{beside, preemptions, served};
use csv::{ReaderBuilder, StringRecord};

use crate::domain::measured::Measured;
use crate::import::cells::Cells;
use crate::import::points::bench::runs;
use crate::import::points::columns::{READ, line, missing};

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    /// What could be read.
    pub points: Vec<Measured>,
    /// What could not: where it stands, and why.
    pub refused: Vec<(String, String)>,
    /// Columns that say nothing here.
    pub unread: Vec<String>,
}

/// Why a text holds no points.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPoints {
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// A header and no line.
    #[error("there is no line below the header")]
    NoLine,
    /// Columns that every line needs are missing.
    #[error("the first line names no column {}", .0.join(", no "))]
    MissingColumns(Vec<&'static str>),
    /// Its columns are separated by something else.
    #[error("columns are separated by commas, and the first line has none")]
    NoCommas,
    /// A column is named twice.
    #[error("the first line names column {0} twice")]
    Repeated(String),
    /// No CSV.
    #[error("line {line}: {reason}")]
    NotCsv {
        /// Where.
        line: u64,
        /// Why.
        reason: String,
    },
    /// No JSON.
    #[error("it begins as JSON and is none: {0}")]
    NotJson(String),
    /// JSON of something else.
    #[error(
        "no result of `vllm bench serve` or of SGLang's bench_serving is in it: total_output_tokens, duration and mean_tpot_ms"
    )]
    NoRun,
}

/// Which lines of a table are of the deployment that is asked about, and what stands for what it does not say.
#[derive(Clone)]
pub struct Asked<'a> {
    /// Name of the file, for labels.
    pub name: &'a str,
    /// Draft length of runs that do not say it.
    pub k: Option<u64>,
    /// What a line that names it must name: column and id, such as `hardware` and `h100-sxm5-80gb`.
    pub only: Vec<(&'static str, String)>,
    /// Whether a model's name may be that of the target.
    pub is_target: &'a dyn Fn(&str) -> bool,
}

impl Default for Asked<'_> {
    fn default() -> Self {
        Self { name: "", k: None, only: Vec::new(), is_target: &|_| true }
    }
}

impl Asked<'_> {
    /// The id that a line has to name, where one is asked for.
    pub(super) fn only(&self, column: &str) -> Option<&str> {
        self.only.iter().find(|(name, _)| *name == column).map(|(_, id)| id.as_str())
    }
}

/// Reads a text: JSON if it begins like it, else CSV.
///
/// # Errors
///
/// [`NoPoints`] where there is no line to read. A line that says nothing usable is listed in [`Points::refused`].
pub fn points(text: &str, asked: &Asked<'_>) -> Result<Points, NoPoints> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        None => Err(NoPoints::Empty),
        Some('{' | '[') => runs(text, asked),
        Some(_) => table(text, asked),
    }
}

fn table(text: &str, asked: &Asked<'_>) -> Result<Points, NoPoints> {
    let mut reader = ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let not_csv = |error: &csv::Error| NoPoints::NotCsv {
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    let header = reader.headers().map_err(|error| not_csv(&error))?;
    let header: StringRecord = header.iter().map(|name| name.to_lowercase().replace([' ', '-'], "_")).collect();
    check(&header)?;
    let mut found = Points { unread: unread(&header), ..Points::default() };
    let mut lines = 0_u64;
    for record in reader.records() {
        let record = record.map_err(|error| not_csv(&error))?;
        lines += 1;
        let label = format!("{} line {}", asked.name, lines + 1);
        match line(&Cells { header: &header, record: &record }, &label, asked) {
            Ok(points) => found.points.extend(points),
            Err(reason) => found.refused.push((label, reason)),
        }
    }
    if lines == 0 { Err(NoPoints::NoLine) } else { Ok(found) }
}

fn check(header: &StringRecord) -> Result<(), NoPoints> {
    if header.len() == 1 && header.iter().any(|only| only.contains([';', '\t'])) {
        return Err(NoPoints::NoCommas);
    }
    let missing = missing(header);
    if !missing.is_empty() {
        return Err(NoPoints::MissingColumns(missing));
    }
    let twice = |at: &usize| header.iter().take(*at).any(|name| Some(name) == header.get(*at));
    match (0..header.len()).filter(|at| header.get(*at) != Some("")).find(twice) {
        Some(at) => Err(NoPoints::Repeated(header.get(at).unwrap_or_default().to_owned())),
        None => Ok(()),
    }
}

fn unread(header: &StringRecord) -> Vec<String> {
    header.iter().filter(|name| !name.is_empty() && !READ.contains(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::measured::Timed;
    use crate::units::Seconds;

    fn read(text: &str) -> Result<Points, NoPoints> {
        points(text, &Asked { name: "mine.csv", ..Asked::default() })
    }

    #[test]
    fn columns_come_in_any_order_and_unit() {
        let found = read("speedup,k,batch,context,tokens_per_pass\n1.5,3,8,400,2.25\n").unwrap();
        let other = read("tokens_per_pass,context,batch,k,speedup\n2.25,400,8,3,1.5\n").unwrap();
        assert_eq!(found, other);
        let of = |text: &str| read(text).unwrap().points.into_iter().map(|of| of.timed).collect::<Vec<_>>();
        assert_eq!(of("batch,k,context,step_ms\n1,0,400,8\n"), [Timed::Step(Seconds::new(0.008))]);
        assert_eq!(of("batch,k,context,tpot_s\n1,0,400,0.008\n"), [Timed::PerToken(Seconds::new(0.008))]);
        assert_eq!(
            of("concurrency,k,prompt_tokens,output_tokens,tokens_per_s\n4,0,100,50,500\n"),
            [Timed::Throughput(500.0)]
        );
        // A line with a plain step and a round tells of both.
        let both = of("batch,k,context,tokens_per_pass,base_step_s,round_s,speedup\n1,3,400,2.5,0.01,0.0125,2\n");
        assert_eq!(both, [Timed::Step(Seconds::new(0.01)), Timed::Step(Seconds::new(0.0125))]);
    }

    #[test]
    fn what_says_nothing_usable_is_listed_with_its_reason() {
        let reason = |row: &str| {
            let text = format!("batch,k,context,tokens_per_pass,tpot_ms,speedup,hardware\n{row}\n");
            let asked = Asked { name: "m", only: vec![("hardware", "h100-sxm5-80gb".to_owned())], ..Asked::default() };
            points(&text, &asked).unwrap().refused.remove(0).1
        };
        assert_eq!(
            reason("8,3,400,,,1.5,"),
            "a speedup without tokens_per_pass says nothing of the round: engines print it as acceptance length"
        );
        assert_eq!(
            reason("8,3,400,,12,,"),
            "a time per token without tokens_per_pass says nothing of the round: engines print it as acceptance length"
        );
        assert_eq!(reason("8,0,400,,,1.5,"), "k = 0 is plain decoding, whose speedup is 1: give its time");
        assert_eq!(reason("8,3,400,2.5,,,"), "no time, throughput or speedup");
        assert_eq!(
            reason("8,3,400,2.5,,3,"),
            "speedup 3 is more than the 2.5 tokens of a pass: no round is shorter than a plain step"
        );
        assert_eq!(reason("8,3,400,2.5,fast,,"), "tpot_ms \"fast\" is no number");
        assert_eq!(
            reason("8,3,400,2.5,12,,a100_sxm4_80gb"),
            "hardware a100-sxm4-80gb, and the scenario has h100-sxm5-80gb"
        );
        assert_eq!(reason(",3,400,2.5,12,,"), "no batch");
        assert_eq!(reason("8,,400,2.5,12,,"), "no k");
    }

    #[test]
    fn a_line_that_contradicts_itself_is_taken_at_nothing() {
        let reason = |header: &str, row: &str| {
            let found = read(&format!("batch,k,context,{header}\n{row}\n")).unwrap();
            found.refused.into_iter().next().map(|(_, reason)| reason)
        };
        let two = "step_ms and round_ms say different things of the same: keep one";
        assert_eq!(reason("step_ms,round_ms", "8,3,400,12,14").as_deref(), Some(two));
        assert_eq!(reason("step_s,step_ms", "8,3,400,0.012,12"), None);
        let units = "tpot_s and tpot_ms say different things of the same: keep one";
        assert_eq!(reason("tpot_s,tpot_ms", "8,0,400,12,12").as_deref(), Some(units));
        // 2 tokens of 4 ms each are 8 ms, two thirds of 12: what averages of different requests do.
        assert_eq!(reason("tokens_per_pass,step_ms,tpot_ms", "8,3,400,2,12,4.1"), None);
        let step = "by its time per token the step lasts 0.33 times as long as stated: keep the figure that is right";
        assert_eq!(reason("tokens_per_pass,step_ms,tpot_ms", "8,3,400,2,12,2").as_deref(), Some(step));
        let gain = "its speedup is another than its own times come to: keep the figures that are right";
        assert_eq!(
            reason("tokens_per_pass,base_step_ms,tpot_ms,speedup", "8,3,400,2,9,4.5,3.2").as_deref(),
            Some(gain)
        );
        assert_eq!(reason("tokens_per_pass,base_step_ms,tpot_ms,speedup", "8,3,400,2,9,4.5,2"), None);
        let plain = "k = 0 is plain decoding, which emits one token a pass";
        assert_eq!(reason("tokens_per_pass,step_ms", "8,0,400,3,9").as_deref(), Some(plain));
        let clients = "batch 8 is more than its concurrency, 4";
        assert_eq!(reason("concurrency,step_ms", "8,0,400,4,9").as_deref(), Some(clients));
        let longer = "context 400 is longer than its 300 tokens of prompt and output";
        assert_eq!(reason("prompt_tokens,output_tokens,step_ms", "8,0,400,200,100,9").as_deref(), Some(longer));
        assert_eq!(read("Batch, K ,Context,Step ms\n8,0,400,9\n").unwrap().points.len(), 1);
        let shape = "topology blob is none of chain, block, tree";
        assert_eq!(reason("topology,step_ms", "8,3,400,blob,12").as_deref(), Some(shape));
        let empty = "context \"0\" is not between 1 and 1e12";
        let nothing = read("batch,k,context,step_ms\n8,0,0,9\n").unwrap().refused.remove(0).1;
        assert_eq!(nothing, empty);
        let tiny = "step_s 1e-300 is not between 1e-12 and 1e12";
        assert_eq!(reason("step_s", "8,3,400,1e-300").as_deref(), Some(tiny));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert_eq!(read("  \n"), Err(NoPoints::Empty));
        assert_eq!(read("batch,k,context,speedup\n"), Err(NoPoints::NoLine));
        assert_eq!(read("batch;k;speedup\n1;2;3\n"), Err(NoPoints::NoCommas));
        let missing = read("a,b\n1,2\n").unwrap_err().to_string();
        assert!(
            missing.contains("no column batch or concurrency, no k, no context or prompt_tokens, no step_ms"),
            "{missing}"
        );
        assert_eq!(read("batch,k,k,context,speedup\n1,1,1,1,1\n"), Err(NoPoints::Repeated("k".into())));
        assert_eq!(read("{\"a\": 1}"), Err(NoPoints::NoRun));
        assert!(matches!(read("{\"a\": "), Err(NoPoints::NotJson(_))));
    }
}
