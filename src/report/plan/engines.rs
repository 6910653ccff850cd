//! Schedules in the forms that engines take: vLLM's speculative config, SGLang's adaptive config and flags, TensorRT-LLM's options.

use serde_json::{Map, Value, json};

use crate::domain::drafter::{DraftSource, Drafter, HeadSource};
use crate::domain::shape::TreeShape;
use crate::plan::spans::Span;
use crate::report::plan::schedule::Schedule;
use crate::words::{DrafterKind, HeadKind, ScheduleForm};

/// What stands for a head or model whose path is not known.
const UNNAMED: &str = "PATH-OF-THE-DRAFTER";

/// The names that an engine has for drafters; none: it has no such drafter.
struct Names {
    method: &'static str,
    /// Whether a checkpoint must be named.
    is_apart: bool,
}

fn head_of(source: &DraftSource) -> Option<HeadKind> {
    match source {
        DraftSource::Head(head) => Some(head.kind()),
        _ => None,
    }
}

fn names(drafter: &Drafter, of: [Option<&'static str>; 7]) -> Option<Names> {
    if drafter.overlap {
        // No engine's form says that drafts are made elsewhere meanwhile.
        return None;
    }
    let [eagle, eagle3, mtp, block, model, ngram, suffix] = of;
    let (method, is_apart) = match (drafter.source.kind(), head_of(&drafter.source)) {
        (DrafterKind::Eagle, Some(HeadKind::Eagle3)) => (eagle3, true),
        (DrafterKind::Eagle, _) => (eagle, true),
        (DrafterKind::Mtp, _) => (mtp, false),
        (DrafterKind::Block, _) => (block, true),
        (DrafterKind::Model, _) => (model, true),
        (DrafterKind::Ngram, _) => (ngram, false),
        (DrafterKind::Suffix, _) => (suffix, false),
        _ => (None, false),
    };
    Some(Names { method: method?, is_apart })
}

/// The name of a drafter's checkpoint as far as the study knows it: its id in the catalog.
fn checkpoint(drafter: &Drafter) -> String {
    match &drafter.source {
        DraftSource::Model(model) => model.id.clone(),
        DraftSource::Head(HeadSource::Named(head)) => head.id.clone(),
        _ => UNNAMED.to_owned(),
    }
}

/// Whether a block drafter is a DSpark one, by its id.
fn is_dspark(drafter: &Drafter) -> bool {
    checkpoint(drafter).contains("dspark")
}

/// The value of vLLM's `--speculative-config`; none for drafters that vLLM does not have.
///
/// `num_speculative_tokens_per_batch_size` lists `[least batch, largest batch, k]`, and every k is at most
/// `num_speculative_tokens` (vLLM documentation, dynamic speculative decoding).
#[must_use]
pub fn vllm(schedule: &Schedule<'_, '_, '_>) -> Option<Value> {
    let drafter = schedule.along.here.candidate.drafter;
    if drafter.tree.is_some() {
        return None;
    }
    let block = if is_dspark(drafter) { "dspark" } else { "dflash" };
    let of =
        [Some("eagle"), Some("eagle3"), Some("mtp"), Some(block), Some("draft_model"), Some("ngram"), Some("suffix")];
    let names = names(drafter, of)?;
    let mut config = Map::new();
    config.insert("method".to_owned(), names.method.into());
    if names.is_apart {
        config.insert("model".to_owned(), checkpoint(drafter).into());
    }
    config.insert("num_speculative_tokens".to_owned(), schedule.longest().into());
    let span = |span: &Span<u64>| json!([span.first, span.last, span.what]);
    let spans: Vec<Value> = schedule.spans().iter().map(span).collect();
    config.insert("num_speculative_tokens_per_batch_size".to_owned(), spans.into());
    Some(Value::Object(config))
}

/// The file for SGLang's `--speculative-adaptive-config`, with the flags that go with it under `flags`, a key that SGLang passes over;
/// none for drafters that SGLang does not have.
///
/// An entry holds from its batch on; one candidate pins the draft length. Adaptive drafting takes EAGLE heads and MTP on chains: of other
/// drafters there are flags alone, with the one draft length that loses least.
#[must_use]
pub fn sglang(schedule: &Schedule<'_, '_, '_>) -> Option<Map<String, Value>> {
    let drafter = schedule.along.here.candidate.drafter;
    let block = if is_dspark(drafter) { "DSPARK" } else { "DFLASH" };
    let of = [Some("EAGLE"), Some("EAGLE3"), Some("NEXTN"), Some(block), Some("STANDALONE"), Some("NGRAM"), None];
    let names = names(drafter, of)?;
    let is_adaptive = matches!(drafter.source.kind(), DrafterKind::Eagle | DrafterKind::Mtp) && drafter.tree.is_none();
    let k = if is_adaptive { schedule.longest() } else { schedule.fixed() };
    let mut flags = vec![format!("--speculative-algorithm {}", names.method)];
    if names.is_apart {
        flags.push(format!("--speculative-draft-model-path {}", checkpoint(drafter)));
    }
    let (topk, nodes) = match &drafter.tree {
        Some(TreeShape::Sized(tree)) => (tree.topk(), tree.nodes()),
        Some(TreeShape::Drawn(_)) => return None,
        None => (1, k + 1),
    };
    flags.push(format!(
        "--speculative-num-steps {k} --speculative-eagle-topk {topk} --speculative-num-draft-tokens {nodes}"
    ));
    let mut config = Map::new();
    if is_adaptive {
        flags.push("--speculative-adaptive --speculative-adaptive-config THIS-FILE".to_owned());
        let entry = |span: &Span<u64>| (span.first.to_string(), json!({ "candidate_steps": [span.what] }));
        config.extend(schedule.spans().iter().map(entry));
    }
    config.insert("flags".to_owned(), flags.join(" ").into());
    Some(config)
}

/// Options for `trtllm-serve --config`, YAML; none for drafters that TensorRT-LLM does not have.
///
/// A key of `draft_len_schedule` is the largest batch of its draft length, and nothing is drafted beyond the last (NVIDIA/TensorRT-LLM
/// pull request 10860, March 2026).
#[must_use]
pub fn trtllm(schedule: &Schedule<'_, '_, '_>) -> Option<String> {
    let drafter = schedule.along.here.candidate.drafter;
    if drafter.tree.is_some() {
        return None;
    }
    let of = [None, Some("Eagle3"), Some("MTP"), Some("DFlash"), Some("DraftTarget"), Some("NGram"), None];
    let names = names(drafter, of)?;
    let longest = schedule.longest();
    let mut lines = vec![
        "# TensorRT-LLM from March 2026 on: a key is the largest batch of its draft length, beyond the last nothing is drafted."
            .to_owned(),
    ];
    let starts_longest = schedule.spans().first().is_some_and(|first| first.what == longest);
    if !starts_longest {
        lines.push(
            "# Earlier releases want the longest drafts at batch 1, which this schedule does not have.".to_owned(),
        );
    }
    let carried = schedule.extrapolated();
    if !carried.is_empty() {
        let all: Vec<String> = carried.iter().map(u64::to_string).collect();
        lines.push(format!("# Not measured, but carried over from other draft lengths: {}.", all.join(", ")));
    }
    lines.push("speculative_config:".to_owned());
    lines.push(format!("  decoding_type: {}", names.method));
    lines.push(format!("  max_draft_len: {longest}"));
    if names.is_apart {
        lines.push(format!("  speculative_model: {}", checkpoint(drafter)));
    }
    lines.push("  draft_len_schedule:".to_owned());
    let last = schedule.spans().iter().rposition(|span| span.what > 0).map_or(0, |at| at + 1);
    lines.extend(schedule.spans()[..last].iter().map(|span| format!("    {}: {}", span.last, span.what)));
    Some(format!("{}\n", lines.join("\n")))
}

/// One schedule as it is, several with their labels: a JSON object by label, or YAML documents under comments. What has no form, since it
/// drafts at no batch or its engine has no such drafter, is null.
#[must_use]
pub fn joined(form: ScheduleForm, made: &[(&Schedule<'_, '_, '_>, Option<String>)]) -> String {
    match (made, form) {
        ([(_, Some(only))], _) => only.clone(),
        (all, ScheduleForm::Trtllm) => {
            let one = |(schedule, form): &(&Schedule<'_, '_, '_>, Option<String>)| {
                let none = || "speculative_config: null\n".to_owned();
                format!("---\n# {}\n{}", schedule.label, form.clone().unwrap_or_else(none))
            };
            all.iter().map(one).collect()
        }
        (all, _) => {
            let value = |form: &Option<String>| {
                form.as_ref().map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or(Value::Null))
            };
            let object: Map<String, Value> =
                all.iter().map(|(schedule, form)| (schedule.label.clone(), value(form))).collect();
            by_line(&object)
        }
    }
}

/// A JSON object with each entry on a line of its own.
#[must_use]
pub fn by_line(object: &Map<String, Value>) -> String {
    let lines: Vec<String> =
        object.iter().map(|(key, value)| format!("  {}: {value}", Value::from(key.as_str()))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// How the profiles of a form's engine begin.
const fn form_word(form: ScheduleForm) -> &'static str {
    match form {
        ScheduleForm::Vllm => "vllm",
        ScheduleForm::Sglang => "sglang",
        ScheduleForm::Trtllm => "trtllm",
        ScheduleForm::Json => "",
    }
}

/// What the user of the forms should know.
#[must_use]
pub fn remarks(form: ScheduleForm, made: &[(&Schedule<'_, '_, '_>, Option<String>)]) -> Vec<String> {
    let mut lines = vec![match form {
        ScheduleForm::Vllm => {
            "as read in vLLM 0.33: not with data parallelism; full CUDA graphs need model runner V2; k = 0 keeps the drafter in memory, at \
             a cost that is not known"
        }
        ScheduleForm::Sglang => {
            "as read in SGLang of autumn 2026: where there are entries by batch, the file of --speculative-adaptive-config, for the flags \
             under \"flags\"; not with attention apart on each rank"
        }
        ScheduleForm::Trtllm => "as read in TensorRT-LLM of March 2026 and later: beyond the last key nothing is drafted",
        ScheduleForm::Json => "",
    }
    .to_owned()];
    let others: Vec<&str> = made
        .iter()
        .map(|(schedule, _)| schedule.decision.setting.engine.origin())
        .filter(|engine| !engine.starts_with(form_word(form)))
        .collect();
    if let Some(engine) = others.first() {
        lines.push(format!("priced for engine {engine}: --engine {} prices it for this one", form_word(form)));
    }
    for (schedule, form) in made {
        if form.is_none() && schedule.drafts() {
            lines.push(format!("{}: the engine has no k-by-batch form for such a drafter", schedule.label));
        }
        if !schedule.drafts() {
            lines.push(format!("{}: pays at no batch: leave it off", schedule.label));
        }
        let carried: Vec<String> = schedule.extrapolated().iter().map(u64::to_string).collect();
        if !carried.is_empty() && form.is_some() {
            lines.push(format!(
                "{}: extrapolated beyond what was measured: k = {}",
                schedule.label,
                carried.join(", ")
            ));
        }
        let drafter = schedule.along.here.candidate.drafter;
        if form.as_ref().is_some_and(|text| text.contains(&checkpoint(drafter))) {
            lines.push(format!(
                "{}: put the path or Hugging Face name of your checkpoint in the place of {}",
                schedule.label,
                checkpoint(drafter)
            ));
        }
        if form.as_ref().is_some_and(|text| text.starts_with("{\n  \"flags\"")) {
            let k = schedule.fixed();
            lines.push(format!(
                "{}: SGLang does not adapt such drafters: flags for k = {k} at every batch",
                schedule.label
            ));
        }
        if schedule.along.here.candidate.setup.ranks() > 1 {
            lines.push(format!("{}: batches are those of one rank", schedule.label));
        }
    }
    lines
}
