//! What a draft length that somebody runs already comes to.

use serde_json::{Value, json};

use crate::plan::candidate::Length;
use crate::report::number::{counted, times};
use crate::report::plan::Seen;
use crate::report::plan::words::Line;

/// What a server drafts already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// Its draft length.
    pub k: Option<u64>,
    /// Draft lengths by batch: from, to, k.
    pub schedule: Vec<[u64; 3]>,
    /// From so many sequences on nothing is drafted.
    pub off_from: Option<u64>,
}

impl Launched {
    /// The draft length at a batch; 0 where nothing is drafted.
    #[must_use]
    pub fn at(&self, batch: u64) -> Option<u64> {
        if self.off_from.is_some_and(|from| batch >= from) {
            return Some(0);
        }
        let by_batch = self.schedule.iter().find(|[from, to, _]| (*from..=*to).contains(&batch)).map(|[.., k]| *k);
        by_batch.or(self.k)
    }
}

impl Seen<'_, '_, '_> {
    /// What tokens per pass a gain takes at the batches that count, of a draft length or else of each that was tried.
    #[must_use]
    pub fn due(&self, k: Option<u64>) -> Vec<Line> {
        let at = self.case.verdict.candidate.or_else(|| self.case.members.first().copied());
        let Some(at) = at else { return Vec::new() };
        let here = &self.decision.lines[self.case.context][at].here;
        let label = &here.candidate.drafter.label;
        let answer = format!("MEASURE FIRST drafter {label}: nobody has published what such drafts are accepted");
        let mut lines = vec![Line { about: "answer", says: answer }];
        let own = |length: &&Length| k.is_none_or(|k| length.k == k);
        for batch in self.case.verdict.at.iter().map(|at| at.batch) {
            let place = here.at(batch);
            let due = here.lengths.iter().filter(own).map(|length| match place.tokens_to_pay(length) {
                Some(tokens) => format!("above {tokens:.2} tokens per pass with k = {}", length.k),
                None => format!("never with k = {}", length.k),
            });
            let says = format!("{}, at {}", due.collect::<Vec<_>>().join("; "), self.batch_name(batch));
            lines.push(Line { about: "it pays", says });
        }
        if let Some((length, without)) = here.lengths.iter().find(own).zip(here.alone.running)
            && let Some(with) = length.capacity.running
        {
            let says = format!("{} fit with the drafter, {without} without it", counted(with, "sequence"));
            lines.push(Line { about: "memory", says });
        }
        let next = "tokens per pass on your traffic: --metrics reads your server's metrics or log, --tokens-per-pass takes the acceptance length it prints";
        lines.push(Line { about: "measure next", says: next.to_owned() });
        lines
    }

    /// The same for programs.
    #[must_use]
    pub fn due_document(&self, k: Option<u64>) -> Value {
        let at = self.case.verdict.candidate.or_else(|| self.case.members.first().copied());
        let Some(at) = at else { return Value::Null };
        let here = &self.decision.lines[self.case.context][at].here;
        let lengths = || here.lengths.iter().filter(|length| k.is_none_or(|k| length.k == k));
        let batches = self.case.verdict.at.iter().map(|at| at.batch);
        let each = |batch: u64| {
            let place = here.at(batch);
            let due = lengths().map(|length| json!({ "k": length.k, "tokens_per_pass": place.tokens_to_pay(length) }));
            json!({ "batch": batch, "pays_above": due.collect::<Vec<_>>() })
        };
        json!({
            "drafter": here.candidate.drafter.label,
            "context": self.context(),
            "at": batches.map(each).collect::<Vec<_>>(),
            "sequences_without": here.alone.running,
            "sequences_with": lengths().next().and_then(|length| length.capacity.running),
        })
    }

    /// What is drafted already at the batches that count: its speedup, what it has to accept, and memory with and without the drafter.
    #[must_use]
    pub fn own(&self, launched: &Launched) -> Vec<Line> {
        let at = self.case.verdict.candidate.or_else(|| self.case.members.first().copied());
        let Some(at) = at else { return Vec::new() };
        let here = &self.decision.lines[self.case.context][at].here;
        let mut lines = Vec::new();
        for batch in self.case.verdict.at.iter().map(|at| at.batch) {
            let (place, k) = (here.at(batch), launched.at(batch));
            let Some(length) = k.and_then(|k| here.length(k)) else {
                if k == Some(0) {
                    let says = format!("nothing is drafted at {}, as the command says", self.batch_name(batch));
                    lines.push(Line { about: "speedup", says });
                }
                continue;
            };
            let speedup = place.speedup(length);
            let best = place.best_of_drafting().filter(|best| best.k != length.k && best.speedup > 1.01 * speedup);
            let best = best.map_or_else(String::new, |best| format!("; k = {} has {}", best.k, times(best.speedup)));
            let pays = place
                .tokens_to_pay(length)
                .map_or_else(|| "no number of them pays".to_owned(), |tokens| format!("it pays above {tokens:.2}"));
            let running = match (place.running(length), place.base_running) {
                (all, _) if all == batch => String::new(),
                (some, plain) => format!(", {some} of them running, {plain} without it"),
            };
            let scheduled = if k == launched.k { String::new() } else { format!(" with k = {}", length.k) };
            let says = format!(
                "{}{scheduled} at {}{running}: {:.2} tokens per pass, {pays}{best}",
                times(speedup),
                self.batch_name(batch),
                length.tokens
            );
            lines.push(Line { about: "speedup", says });
        }
        let longest = launched.k.and_then(|k| here.length(k));
        if let Some((with, without)) = longest.and_then(|length| length.capacity.running).zip(here.alone.running) {
            let says = format!("{} fit with the drafter, {} without it", counted(with, "sequence"), without);
            lines.push(Line { about: "memory", says });
        }
        lines
    }
}
