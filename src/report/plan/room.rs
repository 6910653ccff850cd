//! What a verdict says of batches, contexts and memory.

use crate::domain::engine::Known;
use crate::plan::capacity::Capacity;
use crate::plan::verdict::Stand;
use crate::report::number::{counted, thousands, times};
use crate::report::plan::Seen;
use crate::report::plan::words::ranges;
use crate::words::Limiter;

/// What stops more sequences, in words.
fn limit(capacity: &Capacity) -> String {
    match capacity.limiter {
        Some(Limiter::Memory) | None => "as many as memory holds".to_owned(),
        Some(other) => format!("as many as {other} lets run"),
    }
}

/// Drafts that a sequence near its longest length has no room for.
const NEAR_LIMIT: u64 = 64;

impl Seen<'_, '_, '_> {
    /// Where it pays along the batches.
    pub(super) fn gate(&self) -> Option<String> {
        let along = self.along()?;
        let last = along.schedule.last()?.last;
        let windows = along.windows();
        let end = if along.here.resident.running == Some(last) {
            limit(&along.here.resident)
        } else {
            "the largest looked at".to_owned()
        };
        let says = match windows.as_slice() {
            [] => return None,
            [(1, to)] if *to == last => format!("faster than plain decoding at every batch from 1 to {last} ({end})"),
            all => {
                let above = all.last().filter(|(_, to)| *to < last).map(|(_, to)| format!("; off above {to}"));
                format!("faster than plain decoding at batch {}{}", ranges(all), above.unwrap_or_default())
            }
        };
        let verdict = &self.case.verdict;
        let inside = |batch: u64| windows.iter().any(|(from, to)| (*from..=*to).contains(&batch.min(last)));
        let unsure: Vec<String> = verdict
            .at
            .iter()
            .filter(|at| at.stand != Stand::Pays && inside(at.batch))
            .map(|at| format!("{} at {}", at.stand.as_str(), at.batch))
            .collect();
        let doubts = !(unsure.is_empty() && verdict.apart.is_empty());
        let sure = if unsure.is_empty() { String::new() } else { format!("; {}", unsure.join(", ")) };
        let kept = self.kept_windows(&windows);
        let measured = self.measured().and_then(|known| beyond(known.batch, &windows)).unwrap_or_default();
        let load: Vec<String> = self.planned.load.iter().map(|(name, batch)| format!("{name} = {batch}")).collect();
        let load = if load.is_empty() { String::new() } else { format!("; your load: {}", load.join(", ")) };
        let priced =
            if doubts { format!("by the price of {}, ", self.decision.setting.engine.id) } else { String::new() };
        Some(format!("{priced}{says}{kept}{sure}{measured}{load}"))
    }

    /// Where the recommended draft length pays that is kept at every batch, if that is less than where the best of each does.
    fn kept_windows(&self, best: &[(u64, u64)]) -> String {
        let windows = || {
            let (along, k) = (self.along()?, self.k()?);
            let at = along.here.lengths.iter().position(|length| length.k == k)?;
            let last = along.schedule.last()?.last;
            let shown = along.pays[at].iter().filter(|(from, _)| *from <= last);
            Some((k, shown.map(|(from, to)| (*from, (*to).min(last))).collect::<Vec<_>>()))
        };
        match windows() {
            Some((k, own)) if own != best => {
                let own = if own.is_empty() { "none".to_owned() } else { ranges(&own) };
                format!(" with the best k of each, with k = {k} at {own}")
            }
            _ => String::new(),
        }
    }

    /// What the measurements behind the price cover, where that is known.
    fn measured(&self) -> Option<Known> {
        let backing = self.decision.setting.backing();
        backing.calibration.map(|of| &of.error).or_else(|| backing.error())?.known
    }

    /// Where it pays along contexts, at the batch that decides.
    pub(super) fn contexts(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let at = verdict.decisive().filter(|at| at.running == at.batch)?;
        let batch = self.batch_name(at.batch);
        let looked = verdict.looked_to;
        let last = verdict.contexts.last()?.1;
        let says = match verdict.contexts.as_slice() {
            [(1, to)] if *to == looked => {
                format!("at {batch} it pays at every context up to {looked}, the longest looked at")
            }
            all => {
                let limit = self.decision.setting.scenario.limits.max_model_len;
                let room = match (verdict.crowded_beyond, limit) {
                    (false, _) => "",
                    // What a round writes beyond the context has to have room too.
                    (true, Some(limit)) if last + NEAR_LIMIT >= limit => " (max_model_len ends there)",
                    (true, _) => " (memory ends there)",
                };
                format!("at {batch} it pays at context {}{room}", ranges(all))
            }
        };
        let same = if self.candidate(verdict.candidate?).drafter.acceptance.depends_on_context() {
            ""
        } else {
            ", if acceptance is the same in all of them"
        };
        let measured = self.measured().map(|known| known.context).filter(|context| last > *context);
        let measured =
            measured.map_or_else(String::new, |context| format!("; measurements behind the price end at {context}"));
        Some(format!("{says}{same}{measured}"))
    }

    /// From how many sequences on the drafter's memory makes a loss of what gains at equal batch.
    pub(super) fn loses_from(&self) -> Option<u64> {
        let full = self.case.verdict.full.filter(|full| full.batch < full.plain_batch)?;
        let pays_to = self.along()?.windows().last()?.1;
        full.loses_from.filter(|_| pays_to >= full.batch)
    }

    /// Throughput of each device with memory full over that without the drafter, where it has devices of its own.
    pub(super) fn per_device(&self) -> Option<f64> {
        let setup = &self.along()?.here.candidate.setup;
        let own = setup.own_devices();
        let share = setup.devices() as f64 / (setup.devices() + own) as f64;
        self.case.verdict.full.filter(|_| own > 0).map(|full| full.ratio() * share)
    }

    /// How many sequences run, with the drafter and without.
    pub(super) fn memory(&self) -> Option<String> {
        let along = self.along()?;
        let k = self.k()?;
        let with = along.here.length(k)?.capacity;
        let told = |of: &Capacity| {
            let tokens =
                of.kv_tokens.map_or_else(String::new, |tokens| format!(" ({} KV tokens)", thousands(tokens as f64)));
            of.running.map(|running| format!("{}{tokens}", counted(running, "sequence")))
        };
        let (with, without) = (told(&with)?, told(&along.here.alone)?);
        Some(format!("room for {with} with {} at k = {k}, {without} without it", self.drafter()))
    }

    /// What memory that is full makes of it.
    pub(super) fn full(&self) -> Option<String> {
        let full = self.case.verdict.full?;
        let loss = match self.loses_from() {
            Some(from) => format!(", a LOSS: off once {from} sequences or more want to run"),
            None => String::new(),
        };
        Some(format!(
            "{} with memory full: {} with k = {} give {} tokens/s, {} plain ones {}{loss}",
            times(full.ratio()),
            counted(full.batch, "sequence"),
            full.k,
            thousands(full.speculative),
            full.plain_batch,
            thousands(full.plain),
        ))
    }
}

/// What is said where measurements do not reach over all batches in which it pays.
fn beyond((least, most): (u64, u64), windows: &[(u64, u64)]) -> Option<String> {
    let below = windows.iter().any(|(from, _)| *from < least);
    let above = windows.iter().any(|(_, to)| *to > most);
    match (below, above) {
        (false, false) => None,
        (false, true) => Some(format!("; measurements behind the price end at batch {most}")),
        (true, _) if least == most => Some(format!("; measurements behind the price are of batch {most}")),
        (true, _) => Some(format!("; measurements behind the price are of batch {least} to {most}")),
    }
}
