//! What a verdict says of memory and of context.

use crate::plan::capacity::Capacity;
use crate::report::number::{counted, thousands, times};
use crate::report::plan::Seen;
use crate::report::plan::words::ranges;

impl Seen<'_, '_, '_> {
    pub(super) fn contexts(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let batch = verdict.decisive()?.batch;
        let looked = verdict.looked_to;
        let says = match verdict.contexts.as_slice() {
            [] => return None,
            [(1, to)] if *to == looked => format!("every context up to {looked}, the longest looked at"),
            all => ranges(all),
        };
        let same = if self.candidate(verdict.candidate?).drafter.acceptance.depends_on_context() {
            ""
        } else {
            ", drafts being accepted as often in all of them"
        };
        let room = if verdict.crowded_beyond { ", beyond which so many sequences do not run" } else { "" };
        Some(format!("at {} it pays at {says}{room}{same}", self.batch_name(batch)))
    }

    pub(super) fn memory(&self) -> Option<String> {
        let along = &self.decision.lines[self.case.context][self.case.verdict.candidate?];
        let longest = along.schedule.iter().map(|span| span.what).max()?;
        let with = along.here.length(longest).map_or(along.here.resident, |length| length.capacity);
        let told = |of: &Capacity| {
            let tokens =
                of.kv_tokens.map_or_else(String::new, |tokens| format!(" ({} KV tokens)", thousands(tokens as f64)));
            of.running.map(|running| format!("{}{tokens}", counted(running, "sequence")))
        };
        let (with, without) = (told(&with)?, told(&along.here.alone)?);
        Some(format!("at most {with} run with {}, {without} without it", self.drafter()))
    }

    pub(super) fn full(&self) -> Option<String> {
        let full = self.case.verdict.full?;
        let loss = match full.loses_from {
            Some(from) => format!(": a LOSS from {from} sequences on, of which fewer run beside the drafter"),
            None => String::new(),
        };
        Some(format!(
            "{} tokens/s with k = {} and {} running, {} plainly with {}: {}{loss}",
            thousands(full.speculative),
            full.k,
            full.batch,
            thousands(full.plain),
            full.plain_batch,
            times(full.ratio())
        ))
    }
}
