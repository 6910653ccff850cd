//! What a verdict says of draft lengths and acceptance, of what it hangs on, and of what to measure.

use crate::acceptance::process::Known;
use crate::domain::acceptance::AcceptanceModel;
use crate::plan::breakeven::rule_of_thumb;
use crate::plan::candidate::Length;
use crate::plan::rivals::break_even;
use crate::plan::tornado::{Input, Swing};
use crate::plan::verdict::Stand;
use crate::report::number::{brief, times};
use crate::report::plan::Seen;
use crate::report::plan::words::{WORTH_A_SCHEDULE, by_batch, percent};

/// Inputs that are told.
const MOST_INPUTS: usize = 3;

impl Seen<'_, '_, '_> {
    /// Whether somebody counted how often drafts are accepted.
    fn is_counted(&self) -> Option<bool> {
        let acceptance = &self.candidate(self.case.verdict.candidate?).drafter.acceptance;
        Some(matches!(acceptance.model, AcceptanceModel::Counts(_) | AcceptanceModel::Trace(_)))
    }

    /// Whether it is what is published of such drafters, nobody having stated any.
    fn is_published(&self) -> Option<bool> {
        Some(self.candidate(self.case.verdict.candidate?).drafter.acceptance.provenance.is_published)
    }

    /// Where the tokens per pass of a draft length come from.
    fn acceptance_from(&self, length: Length) -> Option<&'static str> {
        Some(match (self.is_counted()?, length.known) {
            (true, Known::Extrapolated) => "carried on from shorter drafts that were counted",
            (true, _) => "counted",
            (false, _) if self.is_published()? => "published of such drafters, not counted on your traffic",
            (false, _) => "as stated, not counted",
        })
    }

    /// What acceptance the answer needs, beside the one it has.
    pub(super) fn acceptance_due(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let (at, along) = (verdict.decisive()?, self.along()?);
        let k = self.k()?;
        let due = break_even(&along.here, at.batch).into_iter().find(|line| line.length.k == k)?;
        let from = self.acceptance_from(due.length)?;
        let pays = due
            .tokens
            .map_or_else(|| "no number of them pays".to_owned(), |tokens| format!("above {tokens:.2} it pays"));
        let row = self.case.rows.iter().find(|row| row.batch == at.batch);
        let place = self.case.members.iter().position(|member| Some(*member) == verdict.candidate)?;
        let best = row.filter(|row| row.rivals.len() > 1).map(|row| row.rivals[place]);
        let next = best.filter(|rival| rival.best.is_some_and(|best| best.k == k)).and_then(|rival| rival.level);
        let next = next.map_or_else(String::new, |level| format!(", above {level:.2} it is the best choice"));
        Some(format!(
            "{:.2} tokens per pass at k = {k} ({from}); {pays}{next}, at {}",
            due.length.tokens,
            self.batch_name(at.batch)
        ))
    }

    /// What one draft length for all batches loses, and those that are best.
    pub(super) fn fixed(&self) -> Option<String> {
        let along = self.along()?;
        let first = along.schedule.iter().find(|span| span.what > 0)?.what;
        if along.schedule.iter().all(|span| span.what == first) {
            return Some(format!("k = {first} is best at every batch{}", self.sure_k()));
        }
        let k = self.k()?;
        let kept = along.fixed.iter().find(|fixed| fixed.k == k)?;
        let over = if self.planned.load.is_empty() { "at every batch of the study" } else { "over your load" };
        let lengths = by_batch(&along.schedule);
        if kept.worst <= 0.0 {
            return Some(format!("k = {k} is best {over}; by batch {lengths}{}", self.sure_k()));
        }
        let loses = format!(
            "k = {k} {over} is {} slower than the best of each batch on average, {} at most (batch {})",
            percent(kept.mean),
            percent(kept.worst),
            kept.worst_at
        );
        let best =
            if kept.worst > WORTH_A_SCHEDULE { "better by batch" } else { "skip the schedule; by batch the best are" };
        Some(format!("{loses}; {best} {lengths}{}", self.sure_k()))
    }

    /// How sure the best draft length is where the answer is decided.
    fn sure_k(&self) -> String {
        let at = self.case.verdict.decisive();
        let range = at.and_then(|at| Some((at, at.sure.as_ref()?.best_k?)));
        range.map_or_else(String::new, |(at, (low, high))| {
            let word = |k: u64| if k == 0 { "off".to_owned() } else { k.to_string() };
            let best = if low == high { word(low) } else { format!("{} to {}", word(low), word(high)) };
            format!("; at {} the best is {best} in nine of ten draws", self.batch_name(at.batch))
        })
    }

    /// What rules for constant costs say, where alpha is what the study varies.
    pub(super) fn rule(&self) -> Option<String> {
        if self.acceptance().is_empty() {
            return None;
        }
        let rule = rule_of_thumb(&self.along()?.here)?;
        let sixth = match (rule.alpha, rule.cost) {
            (alpha, 0.15..=0.18) if alpha > 0.0 && alpha < 1.0 => {
                let k = (3.05 / (-alpha.ln()).sqrt() - 2.0).round().max(0.0);
                format!("; for drafts at a sixth of a step 3.05 / sqrt(-ln alpha) - 2 gives k = {k}")
            }
            _ => String::new(),
        };
        Some(format!(
            "drafts at {:.3} of a step each, as at batch 1, and verification at one: k = {} is best at alpha {}{sixth}",
            rule.cost,
            rule.best.k,
            brief(rule.alpha)
        ))
    }

    /// The inputs that move the speedup most.
    pub(super) fn hangs_on(&self) -> Option<String> {
        let at = self.case.verdict.decisive()?;
        let told = |of: &Swing| {
            format!("{} ({} to {})", of.input.says(), times(of.low.min(of.high)), times(of.low.max(of.high)))
        };
        let profiles = at.disputed.filter(|_| at.stand == Stand::Disputed);
        let profiles =
            profiles.map(|other| format!("which profile applies ({} or {})", times(other.speedup), times(at.speedup)));
        let inputs = self.case.verdict.swings.iter().take(MOST_INPUTS).map(told);
        let all: Vec<String> = profiles.into_iter().chain(inputs).collect();
        (!all.is_empty()).then(|| format!("at {}, each alone: {}", self.batch_name(at.batch), all.join(", ")))
    }

    /// The measurement that would settle it.
    pub(super) fn next(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let at = verdict.decisive()?;
        let batch = self.batch_name(at.batch);
        let (length, place, _) = self.kept_here(at.batch)?;
        let (k, running) = (length.k, place.running(length));
        let milliseconds = |seconds: f64| format!("{:.1}", 1e3 * seconds);
        let of = |running: u64| if running == at.batch { String::new() } else { format!(" ({running} running)") };
        let by_us = format!(
            "{} with k = {k}{}, {} without{}",
            milliseconds(place.per_token(length)),
            of(running),
            milliseconds(place.plain.seconds().get()),
            of(place.base_running)
        );
        let point = match at.disputed.filter(|_| at.stand == Stand::Disputed) {
            Some(other) => {
                let (engine, rival) = self.profiles();
                format!(
                    "ms per output token at {batch}: about {by_us} says {engine}, about {} with k = {}, {} without says {rival}",
                    milliseconds(other.per_token),
                    other.k,
                    milliseconds(other.plain)
                )
            }
            None if self.decision.setting.engine.additive().is_none() => {
                format!(
                    "price it with a fitted engine (--engine vllm); then ms per output token at {batch}, off and with k = {k}"
                )
            }
            None => format!("ms per output token at {batch}: {by_us} is expected"),
        };
        let more = if self.is_counted()? { "more rounds of your traffic" } else { "acceptance on your traffic" };
        let counts = format!("{more} (specplan acceptance reads your server's metrics or log)");
        let is_first = verdict.swings.first().is_some_and(|swing| swing.input == Input::Acceptance);
        Some(match (self.is_counted()?, is_first && at.stand != Stand::Disputed) {
            (_, true) => format!("{counts}; then {point}"),
            (true, false) => point,
            (false, false) => format!("{point}; and {counts}"),
        })
    }

    /// The engine's profile and the one that contradicts it.
    #[must_use]
    pub fn profiles(&self) -> (&str, String) {
        let engine = &self.decision.setting.engine;
        let other: Vec<&str> = engine.disputed_by.iter().map(|of| of.engine.as_str()).collect();
        (&engine.id, other.join(" or "))
    }
}
