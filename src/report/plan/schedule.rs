//! Draft lengths by batch, one schedule for each drafter, acceptance and context.

use serde_json::{Value, json};

use crate::acceptance::process::Known;
use crate::plan::along::Along;
use crate::plan::decision::Decision;
use crate::plan::spans::Span;
use crate::report::plan::Planned;

/// Draft lengths by batch.
#[derive(Clone, Debug)]
pub struct Schedule<'p, 'c, 's> {
    /// What tells it from the others, in words.
    pub label: String,
    /// The setting.
    pub decision: &'p Decision<'c, 's>,
    /// The candidate along its batches.
    pub along: &'p Along<'c, 's>,
}

impl<'p> Schedule<'p, '_, '_> {
    /// Runs of batches with their draft length, from batch 1 to the largest looked at that runs; 0: nothing is drafted, and the
    /// drafter stays in memory.
    #[must_use]
    pub fn spans(&self) -> &'p [Span<u64>] {
        &self.along.schedule
    }

    /// Whether some batch drafts.
    #[must_use]
    pub fn drafts(&self) -> bool {
        self.spans().iter().any(|span| span.what > 0)
    }

    /// The longest draft of it.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.spans().iter().map(|span| span.what).max().unwrap_or(0)
    }

    /// The one draft length of an engine that keeps one: that which loses least.
    #[must_use]
    pub fn fixed(&self) -> u64 {
        self.along.steady().map_or_else(|| self.longest(), |fixed| fixed.k)
    }

    /// Draft lengths of it whose tokens per pass are carried over from others that were measured.
    #[must_use]
    pub fn extrapolated(&self) -> Vec<u64> {
        let mut lengths: Vec<u64> = self.spans().iter().map(|span| span.what).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths.retain(|&k| self.along.here.length(k).is_some_and(|length| length.known == Known::Extrapolated));
        lengths
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let setting = &self.decision.setting;
        let candidate = self.along.here.candidate;
        let span = |span: &Span<u64>| json!([span.first, span.last, span.what]);
        json!({
            "label": self.label,
            "hardware": setting.device.id,
            "target": setting.target.id,
            "tensor_parallel": setting.tensor_parallel,
            "engine": setting.engine.id,
            "drafter": candidate.drafter.label,
            "context": self.along.here.context,
            "alpha": candidate.process(self.along.here.context).alpha(),
            "acceptance": candidate.drafter.acceptance.model.kind().as_str(),
            "acceptance_case": candidate.acceptance + 1,
            "off": !self.drafts(),
            "k_by_batch": self.spans().iter().map(span).collect::<Vec<_>>(),
            "extrapolated_k": self.extrapolated(),
        })
    }
}

/// Every schedule; `context` and `drafter` pick some.
#[must_use]
pub fn schedules<'p, 'c, 's>(planned: &'p Planned<'c, 's>) -> Vec<Schedule<'p, 'c, 's>> {
    let all = planned.decisions.iter().flat_map(|decision| {
        decision.lines.iter().flatten().map(move |along| Schedule { label: String::new(), decision, along })
    });
    let mut all: Vec<Schedule<'p, 'c, 's>> = all.collect();
    let words: Vec<Vec<String>> = all.iter().map(parts).collect();
    for (schedule, own) in all.iter_mut().zip(&words) {
        let differs = |at: &usize| words.iter().any(|other| other[*at] != own[*at]);
        let named: Vec<&str> = (0..own.len()).filter(differs).map(|at| own[at].as_str()).collect();
        schedule.label = if named.is_empty() { own[4].clone() } else { named.join(", ") };
    }
    all
}

/// What may tell schedules apart.
fn parts(schedule: &Schedule<'_, '_, '_>) -> Vec<String> {
    let setting = &schedule.decision.setting;
    let candidate = schedule.along.here.candidate;
    let acceptance = match candidate.process(schedule.along.here.context).alpha() {
        Some(alpha) => format!("alpha {}", crate::report::number::brief(alpha)),
        None => format!("list {} of acceptance", candidate.acceptance + 1),
    };
    vec![
        setting.device.id.clone(),
        format!("target {}", setting.target.id),
        format!("tensor_parallel {}", setting.tensor_parallel),
        format!("engine {}", setting.engine.id),
        candidate.drafter.label.clone(),
        acceptance,
        format!("context {}", schedule.along.here.context),
    ]
}

/// A draft length for a range of batches and contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    context: (u64, u64),
    span: Span<u64>,
}

/// Schedules of all contexts of one drafter and acceptance as rectangles: what holds at a context serves those from the one before
/// it on.
fn rectangles(of: &[&Schedule<'_, '_, '_>]) -> Vec<Rectangle> {
    let mut by_context: Vec<(u64, &[Span<u64>])> =
        of.iter().map(|schedule| (schedule.along.here.context, schedule.spans())).collect();
    by_context.sort_by_key(|(context, _)| *context);
    let mut found: Vec<Rectangle> = Vec::new();
    let mut from = 0;
    for (to, spans) in by_context {
        for &span in spans {
            let above = |one: &&mut Rectangle| one.context.1 + 1 == from && one.span == span;
            match found.iter_mut().find(above) {
                Some(same) => same.context.1 = to,
                None => found.push(Rectangle { context: (from, to), span }),
            }
        }
        from = to + 1;
    }
    found
}

/// All of them as one document, with rectangles of batch and context.
#[must_use]
pub fn document(planned: &Planned<'_, '_>) -> Value {
    let all = schedules(planned);
    let mut groups: Vec<(Vec<String>, Vec<&Schedule<'_, '_, '_>>)> = Vec::new();
    for schedule in &all {
        let key = parts(schedule)[..6].to_vec();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(schedule),
            None => groups.push((key, vec![schedule])),
        }
    }
    let rectangle = |one: &Rectangle| json!({ "batch": [one.span.first, one.span.last], "context": [one.context.0, one.context.1], "k": one.span.what });
    let group = |(_, group): &(Vec<String>, Vec<&Schedule<'_, '_, '_>>)| {
        let mut value = group[0].json();
        let fields = ["label", "context", "k_by_batch", "off", "extrapolated_k"];
        if let Some(of) = value.as_object_mut() {
            fields.into_iter().for_each(|field| drop(of.shift_remove(field)));
        }
        value["rectangles"] = rectangles(group).iter().map(rectangle).collect();
        value
    };
    json!({
        "schedules": all.iter().map(Schedule::json).collect::<Vec<_>>(),
        "by_batch_and_context": groups.iter().map(group).collect::<Vec<_>>(),
    })
}
