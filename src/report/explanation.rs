//! One point taken apart, as text, Markdown, CSV and JSON.

use serde_json::{Value, json};

use crate::cost::ops::Work;
use crate::cost::pass::Timing;
use crate::cost::terms::{Terms, class};
use crate::plan::capacity::{Capacity, Full};
use crate::plan::point::{Part, PassApart, Point};
use crate::plan::speedup::speedup;
use crate::report::number::{brief, times};
use crate::report::table::{Style, composed, right, table};
use crate::report::{csv, json};
use crate::sweep::row::Cell;
use crate::units::{Bytes, Seconds};
use crate::words::Bound;

/// The columns of `explain`'s CSV: an operator of a pass in each row, and each pass as it is priced.
pub const COLUMNS: [&str; 13] = [
    "pass",
    "operator",
    "batch",
    "new_tokens_per_seq",
    "context",
    "flops",
    "weight_bytes",
    "kv_read_bytes",
    "kv_written_bytes",
    "compute_s",
    "memory_s",
    "time_s",
    "bound",
];
/// The row of a pass as it is priced.
const PRICED: &str = "priced";
/// The operator of a model that is known by its totals.
const WHOLE: &str = "whole pass";

/// Hidden arithmetic below this share of the traffic's time would change no decision.
const WORTH_SAYING: f64 = 0.25;

/// A point with what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Device, target, drafter, engine.
    pub heading: String,
    /// Draft length; 0 without a drafter.
    pub k: u64,
    /// Per-test acceptance, where there is a single one.
    pub alpha: Option<f64>,
    /// Expected tokens of a round.
    pub tokens_per_pass: f64,
    /// A draft over a plain step at batch 1 and the same context; none where nothing is drafted.
    pub first_draft_ratio: Option<f64>,
    /// The point.
    pub point: Point,
    /// What its reader should know, in the words of the CSV's `notes`.
    pub notes: Vec<&'static str>,
    /// Throughput where as many sequences run as can; none where nothing limits them.
    pub full: Option<Full>,
}

/// How the speedup comes about, in plain steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Tokens of a round: the speedup if nothing cost more than a plain step.
    pub tokens_per_pass: f64,
    /// Verification over the plain step.
    pub verify: f64,
    /// All drafts over the plain step.
    pub draft: f64,
    /// What else a round costs, over the plain step.
    pub overhead: f64,
    /// What remains.
    pub speedup: f64,
}

impl Explained {
    /// The factors: `speedup = tokens_per_pass / (verify + draft + overhead)`.
    #[must_use]
    pub fn factors(&self) -> Factors {
        let (plain, round) = (self.point.plain.cost.seconds(), &self.point.round);
        let steps = |time: Seconds| time.get() / plain.get();
        Factors {
            tokens_per_pass: self.tokens_per_pass,
            verify: steps(round.verify.seconds()),
            draft: steps(round.draft),
            overhead: steps(round.overhead(self.tokens_per_pass)),
            speedup: speedup(self.tokens_per_pass, plain, round.seconds(self.tokens_per_pass)),
        }
    }

    fn passes(&self) -> impl Iterator<Item = (&'static str, &PassApart)> {
        let draft = self.point.draft.as_ref().map(|pass| ("draft", pass));
        let verify = self.first_draft_ratio.map(|_| ("verify", &self.point.verify));
        [("plain", &self.point.plain)].into_iter().chain(draft).chain(verify)
    }
}

/// What people read.
#[must_use]
pub fn text(explained: &Explained, style: Style) -> String {
    let mut parts = vec![explained.heading.clone()];
    parts.extend(explained.passes().map(|(name, pass)| pass_text(name, pass, style)));
    parts.push(factors_text(explained, style));
    parts.push(memory_text(explained, style));
    if !explained.notes.is_empty() {
        parts.push(format!("notes: {}", explained.notes.join(", ")));
    }
    parts.join("\n\n")
}

fn pass_text(name: &str, pass: &PassApart, style: Style) -> String {
    let header = ["operator", "arithmetic", "weights", "KV read", "KV written", "compute", "memory", "time", "bound"];
    let mut table = table(&header.map(str::to_owned), style);
    for Part { name, work, roofed } in &pass.parts {
        let name = name.map_or(WHOLE, |name| name.as_str());
        let bytes = |bytes: Bytes| if bytes == Bytes::ZERO { "-".to_owned() } else { bytes.to_string() };
        table.add_row(
            [
                name.to_owned(),
                work.flops.to_string(),
                bytes(work.weights),
                bytes(work.kv_read),
                bytes(work.kv_written),
                roofed.compute.to_string(),
                roofed.memory.to_string(),
                roofed.seconds().to_string(),
                roofed.bound().to_string(),
            ]
            .map(right),
        );
    }
    let shape = &pass.shape;
    let what = match name {
        "plain" => "A plain step",
        "draft" => "One draft pass",
        _ => "Verification",
    };
    let title = format!(
        "{what}: {} x {} new tokens at context {}, {}, {}",
        brief(shape.batch),
        brief(shape.new_tokens_per_seq),
        shape.context,
        pass.cost.seconds(),
        bound(pass.cost.bound())
    );
    let other = pass
        .otherwise
        .map(|(roofline, cost)| format!("under the {roofline} roofline: {}, {}", cost.seconds(), bound(cost.bound())));
    let operators = composed(&title, &table, form(pass).into_iter().chain(other).collect(), style);
    match &pass.cost.timing {
        Timing::Added(terms) => format!("{operators}\n\n{}", terms_text(terms, style)),
        _ => operators,
    }
}

/// How the times of the operators make up the price.
fn form(pass: &PassApart) -> Vec<String> {
    let mut lines = match pass.cost.timing {
        Timing::Summed { compute, memory } => {
            vec![format!("{compute} in compute-bound operators and {memory} in memory-bound ones, one after another")]
        }
        Timing::Overlapped(roofed) if pass.parts.len() > 1 => vec![format!(
            "all arithmetic, {}, beside all traffic, {}: the longer counts",
            roofed.compute, roofed.memory
        )],
        Timing::Overlapped(_) => Vec::new(),
        Timing::Added(_) => vec!["operators at the datasheet's rates; what the pass is priced at follows".to_owned()],
    };
    if pass.cost.network > Seconds::ZERO {
        lines.push(format!("and {} of all-reduces", pass.cost.network));
    }
    lines
}

/// Every term of the additive form, largest class first named in the title.
fn terms_text(terms: &Terms, style: Style) -> String {
    let mut table = table(&["term", "time", "share", "counts as"].map(str::to_owned), style);
    let total = terms.total();
    for (term, time) in terms.iter() {
        let share = format!("{:.1} %", time / total * 100.0);
        table.add_row([term.to_string(), time.to_string(), share, class(term).to_string()].map(right));
    }
    composed(&format!("Priced as a sum of terms: {total}"), &table, Vec::new(), style)
}

fn bound(bound: Bound) -> String {
    format!("{bound}-bound")
}

fn factors_text(explained: &Explained, style: Style) -> String {
    if explained.first_draft_ratio.is_none() {
        return "No drafter: there is nothing to speed up".to_owned();
    }
    let factors = explained.factors();
    let mut table = table(&["what", "in plain steps", "speedup so far"].map(str::to_owned), style);
    let mut cost = 0.0;
    let alpha = explained.alpha.map_or_else(String::new, |alpha| format!(" at alpha {}", brief(alpha)));
    let first = format!("{:.3} tokens per pass{alpha}, k = {}", factors.tokens_per_pass, explained.k);
    table.add_row([first, "1.000".to_owned(), format!("{:.3}x", factors.tokens_per_pass)].map(right));
    let steps = [("verification", factors.verify), ("all drafts", factors.draft), ("overhead", factors.overhead)];
    for (what, share) in steps {
        cost += share;
        let row = [what.to_owned(), format!("{share:.3}"), format!("{:.3}x", factors.tokens_per_pass / cost)];
        table.add_row(row.map(right));
    }
    let mut notes =
        vec!["the first line is the limit: drafts for nothing, and verification as cheap as a plain step".to_owned()];
    notes.extend(readings(explained, &factors));
    composed(&format!("Speedup {:.2}x", factors.speedup), &table, notes, style)
}

/// What the factors mean, where a reader might take them for something else.
fn readings(explained: &Explained, factors: &Factors) -> Vec<String> {
    let Some(first) = explained.first_draft_ratio.filter(|_| explained.k > 0) else {
        return vec!["k = 0 is plain decoding: no draft length pays more, unless --k asked for it".to_owned()];
    };
    let passes = explained.point.draft_passes;
    if passes == 0.0 {
        let width = explained.point.round.verify_width;
        let whose = if width > explained.k as f64 + 1.0 {
            "drafts come from verification itself"
        } else {
            "drafts are looked up, by some sequences only"
        };
        return vec![format!("{whose}: no draft pass, and {width:.2} tokens verified for each sequence in the mean")];
    }
    let ratio = explained.point.draft_ratio();
    let mut notes = vec![format!("a draft pass costs {ratio:.3} of a plain step; at batch 1 it costs {first:.3}")];
    if factors.draft < ratio * passes * (1.0 - 1e-9) {
        notes.push(format!("drafts are made while the target verifies: {:.3} plain steps outlast it", factors.draft));
    }
    if explained.point.draft.is_none() {
        notes.push("that is a constant of the scenario: such a drafter's memory is not counted".to_owned());
    }
    if factors.verify < 1.0 + 1e-9 && ratio > first * 1.01 {
        notes.push(
            "verification costs no more than a plain step here: what the batch takes from the speedup is the drafter's \
             KV, not arithmetic"
                .to_owned(),
        );
    }
    let hidden = matches!(explained.point.verify.cost.timing, Timing::Overlapped(roofed)
        if roofed.bound() == Bound::Memory && roofed.compute > roofed.memory * WORTH_SAYING);
    if hidden {
        notes.push(
            "one maximum hides verification's arithmetic behind its KV reads; operators that run one after another \
             cannot: per_op prices that for models known by their layers"
                .to_owned(),
        );
    }
    notes
}

fn memory_text(explained: &Explained, style: Style) -> String {
    let point = &explained.point;
    let mut table = table(&["memory", "bytes"].map(str::to_owned), style);
    for (name, bytes) in memory(point) {
        table.add_row([name.to_owned(), bytes.to_string()].map(right));
    }
    let total = point.memory.total();
    let fits = if total <= point.usable { "fits in" } else { "does not fit in" };
    let mut notes = vec![running("with the drafter", point.capacity.0), running("without it", point.capacity.1)];
    notes.extend(explained.full.as_ref().and_then(at_capacity));
    if point.ranks > 1 {
        notes.push(format!("sequences are those of each of {} ranks, tokens/s those of all", point.ranks));
    }
    let apart = point.memory.target_weights == Bytes::ZERO;
    let whose = if apart { "Memory of each device of the drafter, the fuller ones" } else { "Memory of each device" };
    composed(&format!("{whose}: {total}, {fits} the usable {}", point.usable), &table, notes, style)
}

/// How many sequences run together, and what sets that number.
fn running(what: &str, of: Capacity) -> String {
    let number = |value: Option<u64>| value.map_or_else(|| "no limit".to_owned(), |value| value.to_string());
    let limiter = of.limiter.map_or_else(String::new, |limiter| format!(", set by {limiter}"));
    format!("{what}: {} sequences run together{limiter}; {} KV tokens", number(of.running), number(of.kv_tokens))
}

/// What speculation gains where as many sequences run as can.
fn at_capacity(full: &Full) -> Option<String> {
    let ratio = times(full.ratio()?);
    let (speculative, plain) = (full.speculative, full.plain);
    Some(format!("with all of them running: {speculative:.0} tokens/s against {plain:.0} without it, {ratio}"))
}

fn capacity_json(of: Capacity) -> Value {
    json!({
        "max_running_sequences": of.running,
        "by_memory": of.by_memory,
        "kv_tokens": of.kv_tokens,
        "limiter": of.limiter.map(|limiter| limiter.as_str()),
    })
}

fn memory(point: &Point) -> [(&'static str, Bytes); 5] {
    [
        ("target weights", point.memory.target_weights),
        ("target KV", point.memory.target_kv),
        ("drafter weights", point.memory.drafter_weights),
        ("drafter KV", point.memory.drafter_kv),
        ("reserve", point.memory.reserve),
    ]
}

fn cells(explained: &Explained) -> Vec<[Cell<'static>; COLUMNS.len()]> {
    explained.passes().flat_map(|(name, pass)| pass_cells(name, pass)).collect()
}

fn pass_cells(name: &'static str, pass: &PassApart) -> Vec<[Cell<'static>; COLUMNS.len()]> {
    let shape = pass.shape;
    let row = |operator: &'static str, work: Work, times: [Cell<'static>; 3], bound: Bound| {
        let [compute, memory, time] = times;
        [
            Cell::Text(name),
            Cell::Text(operator),
            Cell::Number(shape.batch),
            Cell::Number(shape.new_tokens_per_seq),
            Cell::Number(shape.context),
            Cell::Number(work.flops.get()),
            Cell::Number(work.weights.get()),
            Cell::Number(work.kv_read.get()),
            Cell::Number(work.kv_written.get()),
            compute,
            memory,
            time,
            Cell::Text(bound.as_str()),
        ]
    };
    let seconds = |time: Seconds| Cell::Number(time.get());
    let mut rows: Vec<_> = pass
        .parts
        .iter()
        .map(|Part { name, work, roofed }| {
            let times = [seconds(roofed.compute), seconds(roofed.memory), seconds(roofed.seconds())];
            row(name.map_or(WHOLE, |name| name.as_str()), *work, times, roofed.bound())
        })
        .collect();
    let priced = [Cell::Empty, Cell::Empty, seconds(pass.cost.seconds())];
    if let Timing::Added(terms) = &pass.cost.timing {
        rows.extend(terms.iter().map(|(term, time)| {
            row(term.as_str(), Work::NONE, [Cell::Empty, Cell::Empty, seconds(time)], class(term))
        }));
    }
    rows.push(row(PRICED, pass.cost.work, priced, pass.cost.bound()));
    rows
}

/// The CSV, header and rows.
///
/// # Errors
///
/// None in practice: the bytes go to memory.
pub fn csv(explained: &Explained) -> ::csv::Result<Vec<u8>> {
    let mut bytes = csv::names(&COLUMNS)?;
    bytes.extend(csv::records(cells(explained).into_iter())?);
    Ok(bytes)
}

/// `{"manifest": {…}, "factors": {…}, "memory": {…}, "rows": [{…}, …]}`.
#[must_use]
pub fn json(explained: &Explained, manifest: &Value) -> Vec<u8> {
    let factors = explained.factors();
    let rows: Vec<Value> = cells(explained).into_iter().map(|row| json::object(&COLUMNS, row)).collect();
    let lines = memory(&explained.point).map(|(name, bytes)| (name.replace(' ', "_") + "_bytes", bytes.get().into()));
    let mut memory: serde_json::Map<String, Value> = lines.into_iter().collect();
    memory.insert("total_bytes".to_owned(), explained.point.memory.total().get().into());
    memory.insert("usable_bytes".to_owned(), explained.point.usable.get().into());
    let document = json!({
        "manifest": manifest,
        "factors": {
            "tokens_per_pass": factors.tokens_per_pass,
            "verify": factors.verify,
            "draft": factors.draft,
            "overhead": factors.overhead,
            "speedup": factors.speedup,
        },
        "memory": memory,
        "ranks": explained.point.ranks,
        "capacity": capacity_json(explained.point.capacity.0),
        "capacity_without_drafter": capacity_json(explained.point.capacity.1),
        "at_capacity": explained.full.map(|full| json!({
            "tokens_per_s": full.speculative,
            "base_tokens_per_s": full.plain,
            "ratio": full.ratio(),
        })),
        "notes": explained.notes,
        "rows": rows,
    });
    format!("{document:#}\n").into_bytes()
}
