//! A verdict in plain words.

use crate::domain::acceptance::AcceptanceModel;
use crate::plan::breakeven::rule_of_thumb;
use crate::plan::rivals::winner;
use crate::plan::spans::Span;
use crate::plan::tornado::{Input, Swing};
use crate::plan::verdict::{Answer, AtBatch, Stand};
use crate::report::number::{brief, times};
use crate::report::pick::spread;
use crate::report::plan::Seen;

/// A fixed draft length that loses no more than this needs no schedule.
const WORTH_A_SCHEDULE: f64 = 0.02;
/// Batches whose speedups are told.
const MOST_BATCHES: usize = 4;
/// Inputs that are told.
const MOST_INPUTS: usize = 3;

/// A line of a verdict: what it is about, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub about: &'static str,
    /// What it says.
    pub says: String,
}

impl Line {
    const fn new(about: &'static str, says: String) -> Self {
        Self { about, says }
    }
}

impl Seen<'_, '_, '_> {
    /// The label of the drafter that the verdict is about.
    #[must_use]
    pub fn drafter(&self) -> &str {
        self.case.verdict.candidate.map_or("", |at| self.candidate(at).drafter.label.as_str())
    }

    /// The draft length that is recommended: the best one at the usual load where there is one, else the one that loses least if it
    /// is kept at every batch.
    #[must_use]
    pub fn k(&self) -> Option<u64> {
        let verdict = &self.case.verdict;
        let along = &self.decision.lines[self.case.context][verdict.candidate?];
        let best = verdict.decisive()?.k;
        let steady = along.steady().map(|fixed| fixed.k);
        if self.planned.load.is_empty() { steady.or(best) } else { best }
    }

    /// Whether draft lengths by batch gain enough over the one that is recommended.
    fn needs_schedule(&self) -> bool {
        let along = self.case.verdict.candidate.map(|at| &self.decision.lines[self.case.context][at]);
        let kept = along.zip(self.k()).and_then(|(along, k)| along.fixed.iter().find(|fixed| fixed.k == k));
        kept.is_some_and(|fixed| fixed.worst > WORTH_A_SCHEDULE)
    }

    fn stands(&self, at: &AtBatch) -> String {
        let here = self.case.verdict.candidate.map(|at| &self.decision.lines[self.case.context][at].here);
        match (at.stand, here.and_then(|here| here.alone.running)) {
            (Stand::TooMany, Some(most)) => format!("does not run, even plainly: at most {most} do"),
            (stand, _) => stand.as_str().to_owned(),
        }
    }

    /// Where it pays, if that is not everywhere.
    fn where_it_pays(&self) -> String {
        let at = &self.case.verdict.at;
        let unsure: Vec<String> = at
            .iter()
            .filter(|at| at.stand != Stand::Pays)
            .filter(|at| at.stand != Stand::TooMany || !self.planned.load.is_empty())
            .map(|at| format!("{} {}", self.batch_name(at.batch), self.stands(at)))
            .collect();
        let full = self.case.verdict.full.and_then(|full| full.loses_from);
        let full = full.map(|from| format!("a LOSS where memory is full, from {from} sequences on"));
        let but: Vec<String> = unsure.into_iter().chain(full).collect();
        if but.is_empty() { String::new() } else { format!("; but {}", but.join(", ")) }
    }

    /// Everything that a reader needs to act, line by line.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::new("answer", self.answer())];
        if self.case.verdict.candidate.is_none() {
            return lines;
        }
        lines.extend(self.speedups().map(|says| Line::new("speedup", says)));
        lines.extend(self.disputes().map(|says| Line::new("dispute", says)));
        lines.extend(self.leaders().map(|says| Line::new("drafters", says)));
        lines.extend(self.gate().map(|says| Line::new("gate", says)));
        lines.extend(self.contexts().map(|says| Line::new("context", says)));
        lines.extend(self.fixed().map(|says| Line::new("draft length", says)));
        lines.extend(self.rule().map(|says| Line::new("rule of thumb", says)));
        lines.extend(self.memory().map(|says| Line::new("memory", says)));
        lines.extend(self.full().map(|says| Line::new("memory full", says)));
        lines.extend(self.hangs_on().map(|says| Line::new("hangs on", says)));
        lines.extend(self.next().map(|says| Line::new("measure", says)));
        lines
    }

    fn answer(&self) -> String {
        let verdict = &self.case.verdict;
        let drafter = self.drafter();
        let k = self.k();
        match verdict.answer {
            Answer::Enable => {
                let with = k.map_or_else(String::new, |k| format!(" with k = {k}{}", self.carried(k)));
                let better = if self.needs_schedule() { ", or better by batch as below" } else { "" };
                format!("ENABLE {drafter}{with}{better}{}", self.where_it_pays())
            }
            Answer::Leave => format!("DON'T ENABLE speculation: {}", self.why_not()),
            Answer::Measure => {
                let at = verdict.decisive();
                let batch = at.map_or_else(String::new, |at| self.batch_name(at.batch));
                let why = match at {
                    Some(AtBatch { stand: Stand::Disputed, .. }) => {
                        format!("two profiles of this engine contradict each other at {batch}")
                    }
                    Some(AtBatch { sure: Some(sure), .. }) => {
                        format!("{drafter} gains in {} of the draws at {batch}", chance(sure.gains))
                    }
                    _ => format!("at {batch} it cannot be told"),
                };
                format!("MEASURE FIRST: {why}")
            }
        }
    }

    fn carried(&self, k: u64) -> &'static str {
        let along = self.case.verdict.candidate.map(|at| &self.decision.lines[self.case.context][at]);
        let known = along.and_then(|along| along.here.length(k)).and_then(|length| length.known.note());
        match known {
            Some("extrapolated") => " (tokens per pass extrapolated from other k)",
            Some(_) => " (tokens per pass between measured ones)",
            None => "",
        }
    }

    fn why_not(&self) -> String {
        let verdict = &self.case.verdict;
        let Some(candidate) = verdict.candidate else {
            return format!("no draft length was to be tried (k at most {})", self.planned.k_max);
        };
        let here = &self.decision.lines[self.case.context][candidate].here;
        if here.alone.running == Some(0) {
            return "the target alone does not run: nothing fits beside its weights".to_owned();
        }
        if verdict.at.iter().all(|at| at.stand == Stand::TooMany) {
            return "none of these batches runs, even plainly".to_owned();
        }
        if verdict.at.iter().all(|at| at.k.is_none()) {
            return format!("no sequence runs beside {}, which leaves no room for KV cache", self.drafter());
        }
        let best = verdict
            .at
            .iter()
            .filter(|at| at.k.is_some())
            .reduce(|best, next| if next.speedup > best.speedup { next } else { best });
        best.map_or_else(String::new, |at| {
            let chance = at
                .sure
                .as_ref()
                .map_or_else(String::new, |sure| format!(", a gain in {} of the draws", chance(sure.gains)));
            format!(
                "the best there is, {} with k = {}, gives {} at {}{chance}",
                self.drafter(),
                at.k.unwrap_or(0),
                times(at.speedup),
                self.batch_name(at.batch)
            )
        })
    }

    fn speedups(&self) -> Option<String> {
        let at: Vec<&AtBatch> = self.case.verdict.at.iter().filter(|at| at.k.is_some()).collect();
        let shown = spread(at.len(), MOST_BATCHES as u64);
        let told: Vec<String> = shown.into_iter().map(|place| self.told(at[place])).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn told(&self, at: &AtBatch) -> String {
        let k = at.k.unwrap_or(0);
        let sure = match &at.sure {
            Some(sure) => {
                format!(" ({} to {}, gains in {})", times(sure.low), times(sure.high), chance(sure.gains))
            }
            None => String::new(),
        };
        let some = if at.running < at.batch { format!(", {} of them running", at.running) } else { String::new() };
        format!("{}{sure} at {} with k = {k}{some}", times(at.speedup), self.batch_name(at.batch))
    }

    fn disputes(&self) -> Option<String> {
        let at = self.case.verdict.at.iter().find(|at| at.stand == Stand::Disputed)?;
        let engine = &self.decision.setting.engine;
        let other: Vec<&str> = engine.disputed_by.iter().map(|of| of.engine.as_str()).collect();
        let agreed: Vec<u64> =
            self.case.verdict.at.iter().filter(|at| at.stand == Stand::Pays).map(|at| at.batch).collect();
        let agreed = match (agreed.first(), agreed.last()) {
            (Some(first), Some(last)) if first == last => format!("; both say it pays at batch {first}"),
            (Some(first), Some(last)) => format!("; both say it pays at batch {first} to {last}"),
            _ => String::new(),
        };
        Some(format!(
            "{} at {} by profile {}, at best {} by {}, and nothing in a scenario tells which of the two applies{agreed}",
            times(at.speedup),
            self.batch_name(at.batch),
            engine.id,
            times(at.disputed?),
            other.join(" or ")
        ))
    }

    /// Which drafter is best at which of the study's batches.
    fn leaders(&self) -> Option<String> {
        if self.case.members.len() < 2 {
            return None;
        }
        let mut runs: Vec<(Option<usize>, u64, u64)> = Vec::new();
        for row in &self.case.rows {
            let best = winner(&row.rivals);
            match runs.last_mut() {
                Some(last) if last.0 == best => last.2 = row.batch,
                _ => runs.push((best, row.batch, row.batch)),
            }
        }
        let told = |(best, first, last): &(Option<usize>, u64, u64)| {
            let name = best.map_or("none", |at| self.candidate(self.case.members[at]).drafter.label.as_str());
            format!("{name} at batch {}", ranges(&[(*first, *last)]))
        };
        Some(format!("best: {}", runs.iter().map(told).collect::<Vec<_>>().join(", ")))
    }

    fn gate(&self) -> Option<String> {
        let along = &self.decision.lines[self.case.context][self.case.verdict.candidate?];
        let last = along.schedule.last()?.last;
        let windows = along.windows();
        let full = along.here.resident.running == Some(last);
        let end = if full { "as many as run" } else { "the largest looked at" };
        let load = self.planned.load.iter().map(|(name, batch)| format!("{name} = {batch}")).collect::<Vec<_>>();
        let load = if load.is_empty() { String::new() } else { format!("; your load is {}", load.join(", ")) };
        let says = match windows.as_slice() {
            [] => return None,
            [(1, to)] if *to == last => format!("pays at every batch from 1 to {last}, {end}"),
            all => {
                let above = all.last().filter(|(_, to)| *to < last).map(|(_, to)| format!(": off above {to}"));
                format!("pays at batch {}{}", ranges(all), above.unwrap_or_default())
            }
        };
        Some(format!("{says}{load}"))
    }

    fn fixed(&self) -> Option<String> {
        let along = &self.decision.lines[self.case.context][self.case.verdict.candidate?];
        let first = along.schedule.iter().find(|span| span.what > 0)?.what;
        if along.schedule.iter().all(|span| span.what == first) {
            return Some(format!("k = {first} is best at every batch{}", self.sure_k()));
        }
        let k = self.k()?;
        let kept = along.fixed.iter().find(|fixed| fixed.k == k)?;
        let loses = format!(
            "k = {k} at every batch loses {} on average and at most {}, at batch {}",
            percent(kept.mean.max(0.0)),
            percent(kept.worst.max(0.0)),
            kept.worst_at
        );
        Some(if self.needs_schedule() {
            format!("{loses}; by batch {}{}", by_batch(&along.schedule), self.sure_k())
        } else {
            format!("{loses}: skip the schedule{}", self.sure_k())
        })
    }

    /// How sure the best draft length is where the answer is decided.
    fn sure_k(&self) -> String {
        let at = self.case.verdict.decisive();
        let range = at.and_then(|at| Some((at, at.sure.as_ref()?.best_k?)));
        range.map_or_else(String::new, |(at, (low, high))| {
            let best = if low == high { low.to_string() } else { format!("{low} to {high}") };
            format!("; nine draws in ten have the best k at {best}, at {}", self.batch_name(at.batch))
        })
    }

    /// What a rule for constant costs says.
    fn rule(&self) -> Option<String> {
        let along = &self.decision.lines[self.case.context][self.case.verdict.candidate?];
        let rule = rule_of_thumb(&along.here)?;
        let sixth = match (rule.alpha, rule.cost) {
            (alpha, 0.15..=0.18) if alpha > 0.0 && alpha < 1.0 => {
                let k = (3.05 / (-alpha.ln()).sqrt() - 2.0).round().max(0.0);
                format!("; for drafts at a sixth of a step, k = 3.05 / sqrt(-ln alpha) - 2 gives {k}")
            }
            _ => String::new(),
        };
        Some(format!(
            "a draft costs {:.3} of a plain step at batch 1; where drafts always cost that and verification one step, k = {} is best at alpha \
             {}{sixth}",
            rule.cost,
            rule.best.k,
            brief(rule.alpha)
        ))
    }

    fn hangs_on(&self) -> Option<String> {
        let at = self.case.verdict.decisive()?;
        let told = |of: &Swing| {
            format!("{} ({} to {})", of.input.name(), times(of.low.min(of.high)), times(of.low.max(of.high)))
        };
        let all: Vec<String> = self.case.verdict.swings.iter().take(MOST_INPUTS).map(told).collect();
        (!all.is_empty()).then(|| format!("{}, at {}", all.join(", "), self.batch_name(at.batch)))
    }

    fn next(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let (at, top) = (verdict.decisive()?, verdict.swings.first());
        let k = at.k?;
        let point =
            format!("time per output token at {}, without speculation and with k = {k}", self.batch_name(at.batch));
        let drafter = self.candidate(verdict.candidate?).drafter;
        let is_counted = matches!(drafter.acceptance.model, AcceptanceModel::Counts(_) | AcceptanceModel::Trace(_));
        let acceptance =
            "acceptance on your own traffic: specplan acceptance reads it off your server's metrics or log";
        Some(match (at.stand, top.map(|swing| swing.input)) {
            (Stand::Disputed, _) => format!("{point}: it tells which profile applies"),
            (_, Some(Input::Acceptance)) => format!("{acceptance}; then {point}"),
            (_, Some(_)) if is_counted => point,
            (_, Some(_)) => format!("{point}; and {acceptance}"),
            (_, None) => return None,
        })
    }
}

/// `1 to 8, 33 to 64`
pub(super) fn ranges(all: &[(u64, u64)]) -> String {
    let one = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `1 to 8: 3; 9 to 64: 2; 65 to 128: off`
pub(super) fn by_batch(spans: &[Span<u64>]) -> String {
    let one = |span: &Span<u64>| {
        let k = if span.what == 0 { "off".to_owned() } else { span.what.to_string() };
        format!("{}: {k}", ranges(&[(span.first, span.last)]))
    };
    spans.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A share of draws: all and none of them are not certain.
fn chance(share: f64) -> String {
    match share {
        0.995.. => "over 99 %".to_owned(),
        ..0.005 => "under 1 %".to_owned(),
        share => percent(share),
    }
}

/// A share in percent: whole ones, tenths below ten.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 && percent > 0.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
