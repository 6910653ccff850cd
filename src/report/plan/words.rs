//! A verdict in plain words: the answer, what it gains, which drafter is best where, and what contradicts it.

use crate::plan::candidate::{Length, Place};
use crate::plan::rivals::winner;
use crate::plan::spans::Span;
use crate::plan::verdict::{Answer, AtBatch, Stand};
use crate::report::number::times;
use crate::report::pick::spread;
use crate::report::plan::Seen;
use crate::words::Limiter;

/// A fixed draft length that loses no more than this needs no schedule.
pub(super) const WORTH_A_SCHEDULE: f64 = 0.02;
/// Batches whose speedups are told.
const MOST_BATCHES: u64 = 4;

/// Runs of batches that are told.
const MOST_SPANS: usize = 6;

/// A line of a verdict: what it is about, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub about: &'static str,
    /// What it says.
    pub says: String,
}

impl Seen<'_, '_, '_> {
    /// The label of the drafter that the verdict is about.
    #[must_use]
    pub fn drafter(&self) -> &str {
        self.case.verdict.candidate.map_or("", |at| self.candidate(at).drafter.label.as_str())
    }

    /// The draft length that is recommended: that which loses least if it is kept at every batch of the load, or of the study.
    #[must_use]
    pub fn k(&self) -> Option<u64> {
        self.case.verdict.k
    }

    /// What the recommended draft length does at a batch: its yield, how it is priced, and its speedup.
    pub(in crate::report) fn kept_here(&self, batch: u64) -> Option<(&Length, Place<'_, '_, '_>, f64)> {
        let here = &self.along()?.here;
        let (length, place) = (here.length(self.k()?)?, here.at(batch));
        let speedup = place.speedup(length);
        Some((length, place, speedup))
    }

    /// Everything that a reader needs to act, line by line.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let answer = Line { about: "answer", says: self.answer() };
        if self.case.verdict.candidate.is_none() {
            return vec![answer];
        }
        let rest = [
            ("speedup", self.speedups()),
            ("profiles", self.disputes()),
            ("acceptance", self.acceptance_due()),
            ("batch", self.gate()),
            ("context", self.contexts()),
            ("draft length", self.fixed()),
            ("rule of thumb", self.rule()),
            ("drafters", self.leaders()),
            ("memory", self.memory()),
            ("memory full", self.full()),
            ("least certain", self.hangs_on()),
            ("measure next", self.next()),
        ];
        let told = rest.into_iter().filter_map(|(about, says)| Some(Line { about, says: says? }));
        std::iter::once(answer).chain(told).collect()
    }

    fn answer(&self) -> String {
        match self.case.verdict.answer {
            Answer::Enable => {
                let k = self.k().map_or_else(String::new, |k| format!(", k = {k}{}", self.carried(k)));
                format!("ENABLE drafter {}{k}{}{}", self.drafter(), self.only_at(), self.but())
            }
            Answer::Leave => format!("DON'T ENABLE speculation: {}", self.why_not()),
            Answer::Measure => self.why_to_measure(),
        }
    }

    /// How the tokens per pass of a draft length are known, if not as measured.
    fn carried(&self, k: u64) -> &'static str {
        let known = self.along().and_then(|along| along.here.length(k)?.known.note());
        match known {
            Some("extrapolated") => " (its tokens per pass carried over from another k)",
            Some(_) => " (its tokens per pass between measured ones)",
            None => "",
        }
    }

    /// Of a decision that rests on some batches only, which.
    fn only_at(&self) -> String {
        let at = &self.case.verdict.at;
        let sure: Vec<String> = at.iter().filter(|at| at.stand == Stand::Pays).map(|at| at.batch.to_string()).collect();
        if sure.len() == at.len() { String::new() } else { format!(", at batch {}", sure.join(", ")) }
    }

    /// How it stands at the batches that count, in runs: `pays 1 to 16, unsure 64`.
    pub(super) fn stands(&self) -> String {
        let mut runs: Vec<(Stand, u64, u64)> = Vec::new();
        for at in &self.case.verdict.at {
            match runs.last_mut() {
                Some(last) if last.0 == at.stand && last.2 <= at.batch => last.2 = at.batch,
                _ => runs.push((at.stand, at.batch, at.batch)),
            }
        }
        let one = |(stand, from, to): &(Stand, u64, u64)| format!("{} {}", stand.as_str(), ranges(&[(*from, *to)]));
        runs.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What stands against it elsewhere.
    fn but(&self) -> String {
        let elsewhere = self.case.verdict.at.iter().filter(|at| at.stand != Stand::Pays);
        let told = elsewhere.map(|at| format!("{} {}", self.batch_name(at.batch), at.stand.as_str()));
        let full = self.loses_from();
        let full = full.map(|from| format!("with memory full a LOSS: off once {from} sequences or more want to run"));
        let alone = self.per_device().filter(|ratio| *ratio < 1.0);
        let alone = alone.map(|ratio| format!("{} for each GPU, its own counted", times(ratio)));
        let but: Vec<String> = told.chain(full).chain(alone).collect();
        if but.is_empty() { String::new() } else { format!("; but {}", but.join(", ")) }
    }

    fn why_to_measure(&self) -> String {
        let Some(at) = self.case.verdict.decisive() else { return "MEASURE FIRST".to_owned() };
        let batch = self.batch_name(at.batch);
        match (at.stand, at.disputed, &at.sure) {
            (Stand::Disputed, Some(other), _) => {
                let upto =
                    self.agreed_up_to().map_or_else(String::new, |upto| format!("; both agree up to batch {upto}"));
                format!(
                    "MEASURE FIRST drafter {} at {batch}: {} by one profile of this engine, {} by another{upto}",
                    self.drafter(),
                    times(at.speedup),
                    times(other.speedup)
                )
            }
            (_, _, Some(sure)) => {
                let leaning = if sure.gains < 0.5 { "probably a loss" } else { "probably a gain" };
                format!(
                    "MEASURE FIRST, {leaning}: {} gains in {} of the draws at {batch}",
                    self.drafter(),
                    chance(sure.gains)
                )
            }
            _ => format!("MEASURE FIRST at {batch}"),
        }
    }

    fn why_not(&self) -> String {
        let verdict = &self.case.verdict;
        let Some(along) = self.along() else {
            return format!("no draft length was to be tried (k at most {})", self.planned.k_max);
        };
        if along.here.alone.running == Some(0) {
            return "the target alone does not run: its weights and one sequence need more than there is room for"
                .to_owned();
        }
        if verdict.at.iter().all(|at| at.stand == Stand::TooMany) {
            return "none of these batches runs, even plainly".to_owned();
        }
        if verdict.at.iter().all(|at| at.k.is_none()) {
            let why = match along.here.lengths.first().and_then(|length| length.capacity.limiter) {
                Some(Limiter::MaxModelLen) => "context and drafts exceed max_model_len".to_owned(),
                Some(limiter @ (Limiter::MaxNumBatchedTokens | Limiter::MaxNumSeqs)) => {
                    format!("{limiter} does not allow it")
                }
                _ => "it leaves no room for KV cache".to_owned(),
            };
            return format!("no sequence runs with drafts of {}: {why}", self.drafter());
        }
        let drafting = verdict.at.iter().filter(|at| at.k.is_some());
        let best = drafting.reduce(|best, next| if next.speedup > best.speedup { next } else { best });
        let told = best.map(|at| {
            let chance = at
                .sure
                .as_ref()
                .map_or_else(String::new, |sure| format!(", a gain in {} of the draws", chance(sure.gains)));
            let (k, batch) = (at.k.unwrap_or(0), self.batch_name(at.batch));
            format!(
                "the best there is, {} with k = {k}, gives {} at {batch}{chance}",
                self.drafter(),
                times(at.speedup)
            )
        });
        told.unwrap_or_default()
    }

    fn speedups(&self) -> Option<String> {
        let at: Vec<&AtBatch> = self.case.verdict.at.iter().filter(|at| at.k.is_some()).collect();
        let told: Vec<String> = spread(at.len(), MOST_BATCHES).into_iter().map(|place| self.told(at[place])).collect();
        let ideal = self.decision.setting.engine.additive().is_none();
        let by = match (ideal, self.case.verdict.at.iter().any(|at| at.stand == Stand::Disputed)) {
            (true, _) => "on an ideal engine, in brackets as published speedups differ from such prices: ".to_owned(),
            (false, true) => format!("by profile {}: ", self.decision.setting.engine.id),
            (false, false) => String::new(),
        };
        (!told.is_empty()).then(|| format!("{by}{}", told.join("; ")))
    }

    fn told(&self, at: &AtBatch) -> String {
        let k = at.k.unwrap_or(0);
        let sure = at.sure.as_ref().map_or_else(String::new, |sure| {
            format!(" (90 %: {} to {}, gains in {})", times(sure.low), times(sure.high), chance(sure.gains))
        });
        let some = match at.running {
            all if all == at.batch => String::new(),
            some if some == at.base_running => format!(", {some} of them running, the others waiting"),
            some => format!(", {some} of them running, {} plainly", at.base_running),
        };
        let kept = self
            .kept_at(at)
            .map_or_else(String::new, |(kept, speedup)| format!(", {} with k = {kept}", times(speedup)));
        let other =
            at.disputed.map_or_else(String::new, |other| format!(", {} by the other profile", times(other.speedup)));
        format!("{}{sure} at {}, k = {k}{some}{kept}{other}", times(at.speedup), self.batch_name(at.batch))
    }

    /// The recommended draft length at a batch, with its speedup, if another is best there.
    fn kept_at(&self, at: &AtBatch) -> Option<(u64, f64)> {
        let (length, place, speedup) = self.kept_here(at.batch)?;
        (Some(length.k) != at.k && place.running(length) > 0).then_some((length.k, speedup))
    }

    /// The largest batch below the first at which the profiles contradict each other.
    fn agreed_up_to(&self) -> Option<u64> {
        self.case.verdict.apart.first().map(|(first, _)| first - 1).filter(|upto| *upto > 0)
    }

    /// What another profile of the engine says.
    fn disputes(&self) -> Option<String> {
        let verdict = &self.case.verdict;
        let at = verdict.at.iter().find(|at| at.stand == Stand::Disputed).or_else(|| verdict.decisive())?;
        let other_says = at.disputed?;
        let (engine, other) = self.profiles();
        let figures = format!(
            "{} by {engine} with k = {} at {}, at best {} by {other} with k = {}",
            times(at.speedup),
            at.k.unwrap_or(0),
            self.batch_name(at.batch),
            times(other_says.speedup),
            other_says.k
        );
        let apart = if verdict.apart.is_empty() {
            "the answer is the same by both at every batch".to_owned()
        } else {
            format!("they contradict each other at batch {}", ranges(&verdict.apart))
        };
        Some(format!("{figures}: {apart}; which of them is your server cannot be told from here"))
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
}

/// `1 to 8, 33 to 64`
pub(super) fn ranges(all: &[(u64, u64)]) -> String {
    let one = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first} to {last}") };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `3 at 1 to 8, 2 at 9 to 64, off at 65 to 128`
pub(super) fn by_batch(spans: &[Span<u64>]) -> String {
    let one = |span: &Span<u64>| {
        let k = if span.what == 0 { "off".to_owned() } else { span.what.to_string() };
        format!("{k} at {}", ranges(&[(span.first, span.last)]))
    };
    let told: Vec<String> = spans.iter().take(MOST_SPANS).map(one).collect();
    let more = spans.len().saturating_sub(MOST_SPANS);
    if more == 0 { told.join(", ") } else { format!("{}, and {more} runs more", told.join(", ")) }
}

/// A share in percent: whole ones, tenths below ten.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 && percent > 0.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A share of draws: all and none of them are not certain.
pub(super) fn chance(share: f64) -> String {
    match share {
        0.995.. => "over 99 %".to_owned(),
        ..0.005 => "under 1 %".to_owned(),
        share => percent(share),
    }
}
