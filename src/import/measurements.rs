//! Measured speedups as CSV, columns by name.
//!
//! A line that cannot be read is kept with the reason: it is listed and counted like one that cannot be
//! priced. Only a table without the columns that every line needs is refused.

use csv::{ReaderBuilder, StringRecord};

use crate::domain::drafter::Layout;
use crate::domain::measurement::{ClosedLoop, Measurement};
use crate::import::cells::Cells;
use crate::units::Seconds;
use crate::words::{MeasuredDrafter, Word};

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its `id`, else its line in the file.
    pub id: String,
    /// Its `source`, empty if there is none.
    pub source: String,
    /// What it says, or why that cannot be read.
    pub read: Result<Measurement, String>,
}

/// Why a text is no table of measurements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMeasurements {
    /// Columns that every line needs are missing.
    #[error("the first line names no column {}", .0.join(", "))]
    MissingColumns(Vec<&'static str>),
    /// Its columns are separated by something else.
    #[error("columns are separated by commas, and the first line has none")]
    NoCommas,
    /// A column is named twice.
    #[error("the first line names column {0} twice")]
    Repeated(String),
    /// Nothing but the header, or nothing.
    #[error("there is no line below the header")]
    Empty,
    /// The text is no CSV.
    #[error("line {line}: {reason}")]
    NotCsv {
        /// Where.
        line: u64,
        /// Why.
        reason: String,
    },
}

/// Columns that every line needs.
const REQUIRED: [&str; 8] =
    ["engine", "hardware", "target", "drafter_kind", "k", "batch", "tokens_per_pass", "speedup"];
/// Bytes of a weight that does not say otherwise: 16 bits.
const SIXTEEN_BITS: f64 = 2.0;
/// The KV budget of MagicDec's sparse drafts, for lines that state none.
const SPARSE_BUDGET: f64 = 512.0;

/// Reads a table.
///
/// # Errors
///
/// [`NotMeasurements`] if it is no CSV, lacks a column that every line needs, or has no line.
pub fn measurements(text: &str) -> Result<Vec<Line>, NotMeasurements> {
    let mut reader = ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let not_csv = |error: &csv::Error| NotMeasurements::NotCsv {
        line: error.position().map_or(1, csv::Position::line),
        reason: error.to_string(),
    };
    let header = reader.headers().map_err(|error| not_csv(&error))?.clone();
    check_header(&header)?;
    let mut lines = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|error| not_csv(&error))?;
        // Counted, since the reader's own lines depend on how they end.
        lines.push(line(&Cells { header: &header, record: &record }, at as u64 + 2));
    }
    if lines.is_empty() { Err(NotMeasurements::Empty) } else { Ok(lines) }
}

fn check_header(header: &StringRecord) -> Result<(), NotMeasurements> {
    let has = |column: &&&str| header.iter().any(|name| name == **column);
    if header.len() == 1 && header.iter().any(|only| only.contains([';', '\t'])) {
        return Err(NotMeasurements::NoCommas);
    }
    let mut missing: Vec<&str> = REQUIRED.iter().filter(|column| !has(column)).copied().collect();
    if !has(&&"context") && !has(&&"prompt_tokens") {
        missing.push("context (or prompt_tokens)");
    }
    if !missing.is_empty() {
        return Err(NotMeasurements::MissingColumns(missing));
    }
    let twice = |at: &usize| header.iter().take(*at).any(|name| Some(name) == header.get(*at));
    match (0..header.len()).filter(|at| header.get(*at) != Some("")).find(twice) {
        Some(at) => Err(NotMeasurements::Repeated(header.get(at).unwrap_or_default().to_owned())),
        None => Ok(()),
    }
}

fn line(cells: &Cells<'_>, number: u64) -> Line {
    let id = cells.text("id").map_or_else(|| format!("line-{number}"), str::to_owned);
    let source = cells.text("source").unwrap_or_default().to_owned();
    Line { read: measurement(cells, &id, &source), id, source }
}

fn measurement(cells: &Cells<'_>, id: &str, source: &str) -> Result<Measurement, String> {
    let drafter_kind = drafter_kind(&cells.words("drafter_kind")?)?;
    let passes = cells.number("draft_passes", 0.0)?;
    let k = match cells.whole("k", 1.0)? {
        Some(k) => k,
        None => Cells::needed(passes.map(|passes| passes as u64).filter(|passes| *passes > 0), "k")?,
    };
    let tokens_per_pass = Cells::needed(cells.number("tokens_per_pass", 1.0)?, "tokens_per_pass")?;
    let layout = layout(cells, drafter_kind, k, passes)?;
    if tokens_per_pass > layout.verify_width {
        let width = layout.verify_width;
        return Err(format!("tokens_per_pass {tokens_per_pass} is more than the {width} tokens that a round verifies"));
    }
    if cells.record.len() > cells.header.len() {
        return Err(format!("{} cells below {} columns", cells.record.len(), cells.header.len()));
    }
    let dashed = |word: String| word.replace('_', "-");
    Ok(Measurement {
        id: id.to_owned(),
        source: source.to_owned(),
        group: cells.text("group").map(str::to_owned),
        topology: topology(cells, drafter_kind)?,
        engine: dashed(cells.words("engine")?),
        hardware: dashed(cells.words("hardware")?),
        devices: cells.whole("tensor_parallel", 1.0)?.unwrap_or(1),
        target: cells.words("target")?,
        weight_bytes: cells.positive("weight_bytes")?.unwrap_or(SIXTEEN_BITS),
        drafter_kind,
        drafter: cells.text("drafter").map(str::to_owned),
        drafter_weight_bytes: cells.positive("drafter_weight_bytes")?.unwrap_or(SIXTEEN_BITS),
        draft_budget: cells.number("draft_budget", 1.0)?.unwrap_or(SPARSE_BUDGET) as u64,
        k,
        layout,
        batch: Cells::needed(cells.number("batch", 1.0)?, "batch")?,
        context: context(cells)?,
        closed_loop: closed_loop(cells)?,
        tokens_per_pass,
        base_step: cells.positive("base_step_s")?.map(Seconds::new),
        round: cells.positive("round_s")?.map(Seconds::new),
        speedup: Cells::needed(cells.positive("speedup")?, "speedup")?,
    })
}

/// EAGLE-2 drafts with the head of EAGLE-1; a separate model has two names in use.
fn drafter_kind(word: &str) -> Result<MeasuredDrafter, String> {
    let plain = word.to_lowercase().replace('-', "_");
    let plain = match plain.as_str() {
        "draft_model" => "model",
        "eagle" | "eagle2" => "eagle1",
        other => other,
    };
    let known = MeasuredDrafter::ALL.iter().find(|known| known.as_str() == plain);
    known.copied().ok_or_else(|| format!("drafter_kind \"{word}\" is not known"))
}

fn topology(cells: &Cells<'_>, kind: MeasuredDrafter) -> Result<String, String> {
    match cells.text("topology") {
        Some(word @ ("chain" | "tree" | "block")) => Ok(word.to_owned()),
        Some(other) => Err(format!("topology \"{other}\" is not known")),
        None if kind == MeasuredDrafter::Block => Ok("block".to_owned()),
        None => Ok("chain".to_owned()),
    }
}

/// What the line states of its passes; else those of a chain or block of k drafts. Drafts that are looked
/// up take no pass.
fn layout(cells: &Cells<'_>, kind: MeasuredDrafter, k: u64, passes: Option<f64>) -> Result<Layout, String> {
    let width = cells.number("verify_width", 1.0)?;
    let drafted = cells.number("draft_width", 0.0)?;
    let (k, block) = (k as f64, kind == MeasuredDrafter::Block);
    let looked_up = matches!(kind, MeasuredDrafter::Ngram | MeasuredDrafter::Suffix);
    if cells.text("topology") == Some("tree") && width.is_none() {
        return Err("a tree without verify_width".to_owned());
    }
    let default_passes = if looked_up {
        0.0
    } else if block || kind == MeasuredDrafter::Medusa {
        1.0
    } else {
        k
    };
    Ok(Layout {
        verify_width: width.unwrap_or(k + 1.0),
        draft_passes: if looked_up { 0.0 } else { passes.unwrap_or(default_passes) },
        draft_width: drafted.filter(|width| *width > 0.0).unwrap_or(if block { k + 1.0 } else { 1.0 }),
        is_tree: cells.text("topology") == Some("tree"),
    })
}

/// Cached tokens; where they are not stated, the prompt and half the output.
fn context(cells: &Cells<'_>) -> Result<f64, String> {
    let (prompt, output) = (cells.number("prompt_tokens", 0.0)?, cells.number("output_tokens", 0.0)?);
    let half_way = prompt.map(|prompt| prompt + output.unwrap_or(0.0) / 2.0);
    Cells::needed(cells.number("context", 0.0)?.or(half_way), "context")
}

fn closed_loop(cells: &Cells<'_>) -> Result<Option<ClosedLoop>, String> {
    match cells.text("closed_loop") {
        None | Some("0" | "false") => Ok(None),
        Some("1" | "true") => {
            let prompt = Cells::needed(cells.positive("prompt_tokens")?, "prompt_tokens, which a closed loop needs")?;
            let output = Cells::needed(cells.positive("output_tokens")?, "output_tokens, which a closed loop needs")?;
            Ok(Some(ClosedLoop { prompt, output }))
        }
        Some(other) => Err(format!("closed_loop \"{other}\" is neither 0 nor 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "id,engine,hardware,target,drafter_kind,k,batch,context,tokens_per_pass,speedup";

    fn read(row: &str) -> Result<Measurement, String> {
        measurements(&format!("{HEADER}\n{row}\n")).unwrap().remove(0).read
    }

    #[test]
    fn a_line_says_what_it_was_measured_on() {
        let read = read("a,hf_eager,h100_sxm5_80gb,llama-3.1-8b,draft_model,3,8,400,2.25,1.5").unwrap();
        assert_eq!((read.engine.as_str(), read.hardware.as_str()), ("hf-eager", "h100-sxm5-80gb"));
        assert_eq!((read.drafter_kind, read.k, read.devices), (MeasuredDrafter::Model, 3, 1));
        assert_eq!(read.layout, Layout { verify_width: 4.0, draft_passes: 3.0, draft_width: 1.0, is_tree: false });
        assert_eq!((read.topology.as_str(), read.weight_bytes.to_bits()), ("chain", 2.0_f64.to_bits()));
    }

    #[test]
    fn a_block_drafts_in_one_pass_and_lookups_in_none() {
        let block = read("a,vllm,h,t,block,5,8,400,2.25,1.5").unwrap();
        assert_eq!(block.layout, Layout { verify_width: 6.0, draft_passes: 1.0, draft_width: 6.0, is_tree: false });
        assert_eq!(read("a,vllm,h,t,ngram,5,8,400,1.2,1.1").unwrap().layout.draft_passes.to_bits(), 0);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let reason = |row: &str| read(row).unwrap_err();
        assert_eq!(reason("a,vllm,h,t,oracle,3,8,400,2.25,1.5"), "drafter_kind \"oracle\" is not known");
        assert_eq!(reason("a,vllm,h,t,mtp,3,many,400,2.25,1.5"), "batch \"many\" is no number");
        assert_eq!(reason("a,vllm,h,t,mtp,3,8,,2.25,1.5"), "no context");
        assert_eq!(reason("a,vllm,h,t,mtp,3,8,400,0.5,1.5"), "tokens_per_pass \"0.5\" is not between 1 and 1e12");
        assert_eq!(reason("a,vllm,h,t,mtp,3,8,400,2.25,"), "no speedup");
        assert_eq!(reason("a,vllm,h,t,mtp,3,8,400,2.25,nan"), "speedup \"nan\" is not between 0 and 1e12");
        assert_eq!(reason("a,vllm"), "no drafter_kind");
        assert_eq!(
            reason("a,vllm,h,t,mtp,3,8,400,4.5,1.5"),
            "tokens_per_pass 4.5 is more than the 4 tokens that a round verifies"
        );
        assert_eq!(reason("a,vllm,h,t,mtp,3,8,400,2.5,1.5,9"), "11 cells below 10 columns");
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let missing = measurements("id,engine\na,b\n").unwrap_err().to_string();
        assert!(missing.contains("hardware, target, drafter_kind, k, batch, tokens_per_pass, speedup"), "{missing}");
        assert_eq!(measurements(&format!("{HEADER}\n")), Err(NotMeasurements::Empty));
        assert_eq!(measurements("id;engine\na;b\n"), Err(NotMeasurements::NoCommas));
        let lines = measurements(&format!("{}\r\nb,,,,,,,,\r\n", HEADER.trim_start_matches("id,"))).unwrap();
        assert_eq!(lines[0].id, "line-2");
        let twice = measurements(&format!("{HEADER},k\na\n")).unwrap_err();
        assert_eq!(twice, NotMeasurements::Repeated("k".into()));
    }
}
