//! Everything that is decided for one setting: each drafter along batches and contexts, beside the others, and the verdicts.

use std::sync::atomic::AtomicBool;

use crate::domain::engine::{Dispute, Engine};
use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::along::{Along, by_context};
use crate::plan::candidate::{Candidate, Here, Length};
use crate::plan::draws::{NoDraws, Point, Sure, Uncertain};
use crate::plan::full::at_full;
use crate::plan::rivals::{Rival, rivals};
use crate::plan::round::{gain, plain_step};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::plan::spans::{every, spans, where_holds};
use crate::plan::tornado::tornado;
use crate::plan::verdict::{Answer, AtBatch, Other, Stand, Verdict, answer, at_batch, contradict};

/// What a decision is asked for.
#[expect(missing_debug_implementations, reason = "who is told has no form")]
pub struct Asked<'a> {
    /// Batches of the tables.
    pub batches: &'a [u64],
    /// Batches that verdicts rest on: those of the load, the usual one first, else some of the study's.
    pub counted: &'a [u64],
    /// Whether those are the load's.
    pub of_load: bool,
    /// Contexts.
    pub contexts: &'a [u64],
    /// Up to which context windows are looked for.
    pub longest: u64,
    /// Profiles that contradict the setting's engine.
    pub disputes: &'a [(Dispute, Engine)],
    /// Draws.
    pub draws: u64,
    /// Accepted drafts of drafters whose acceptance was not counted may be off by so much.
    pub uncounted: f64,
    /// Of everything random.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// Called with the points that are priced.
    pub told: &'a (dyn Fn(u64) + Sync),
    /// Whether to stop.
    pub stop: &'a AtomicBool,
}

/// All candidates at one batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Sequences decoded together.
    pub batch: u64,
    /// The candidates, in the order of the case's.
    pub rivals: Vec<Rival>,
}

/// One context and acceptance.
#[derive(Clone, Debug)]
pub struct Case {
    /// Position of the context.
    pub context: usize,
    /// The candidates, one for each drafter, by their positions.
    pub members: Vec<usize>,
    /// By batch.
    pub rows: Vec<Row>,
    /// What to do.
    pub verdict: Verdict,
}

/// A setting decided.
#[derive(Debug)]
pub struct Decision<'c, 's> {
    /// Hardware, target, devices and engine.
    pub setting: Setting<'s>,
    /// The candidates.
    pub candidates: &'c [Candidate<'s>],
    /// Each candidate along the batches, by context.
    pub lines: Vec<Vec<Along<'c, 's>>>,
    /// Every context with every acceptance.
    pub cases: Vec<Case>,
}

/// The candidates of each acceptance: drafters that have fewer take part with their last.
#[must_use]
pub fn members(candidates: &[Candidate<'_>]) -> Vec<Vec<usize>> {
    let mut drafters: Vec<Vec<usize>> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        match drafters.last_mut() {
            Some(same) if candidates[same[0]].drafter.label == candidate.drafter.label => same.push(at),
            _ => drafters.push(vec![at]),
        }
    }
    let most = drafters.iter().map(Vec::len).max().unwrap_or(0);
    let of = |acceptance: usize| drafters.iter().map(|own| own[acceptance.min(own.len() - 1)]).collect();
    (0..most).map(of).collect()
}

/// Decides.
///
/// # Errors
///
/// [`NoDraws`].
pub fn decide<'c, 's>(
    setting: Setting<'s>,
    candidates: &'c [Candidate<'s>],
    asked: &Asked<'_>,
) -> Result<Decision<'c, 's>, NoDraws> {
    let lines = lines(candidates, asked)?;
    let disputed = disputed(setting, candidates, asked.disputes)?;
    let mut cases: Vec<Case> = Vec::new();
    for (context, of_context) in lines.iter().enumerate() {
        for members in members(candidates) {
            cases.push(case(of_context, context, members, asked, &disputed));
        }
    }
    let uncertain = Uncertain::new(setting, candidates, asked.uncounted);
    draw(&uncertain, &lines, &mut cases, asked)?;
    Ok(Decision { setting, candidates, lines, cases })
}

fn lines<'c, 's>(candidates: &'c [Candidate<'s>], asked: &Asked<'_>) -> Result<Vec<Vec<Along<'c, 's>>>, NoDraws> {
    let all = || asked.batches.iter().copied();
    // Of a load what is between its usual and its rare batch counts.
    let counted = || asked.counted.iter().copied().filter(|_| asked.of_load);
    let first = counted().min().or_else(|| all().min()).unwrap_or(1);
    let last = all().chain(counted()).max().unwrap_or(1);
    let range = first..=counted().max().unwrap_or(last);
    let places = asked.contexts.iter().flat_map(|&context| candidates.iter().map(move |of| (context, of)));
    let mut all = Vec::new();
    let take = |along: Along<'c, 's>| {
        (asked.told)(along.last * (along.here.lengths.len() as u64 + 1));
        all.push(along);
        Ok::<(), std::convert::Infallible>(())
    };
    let outcome =
        ordered(places, asked.threads, asked.stop, |(context, of)| Along::new(of, context, last, range.clone()), take);
    match outcome {
        Ok(Outcome::Finished) => {}
        Ok(Outcome::Stopped) => return Err(NoDraws::Stopped),
        Err(error @ Failure::Threads { .. }) => return Err(NoDraws::Threads(error.to_string())),
        Err(Failure::Taken(never)) => match never {},
    }
    let mut all = all.into_iter();
    Ok(asked.contexts.iter().map(|_| all.by_ref().take(candidates.len()).collect()).collect())
}

/// What prices each candidate by the profile that contradicts the setting's, where one does.
fn disputed<'s>(
    setting: Setting<'s>,
    candidates: &[Candidate<'s>],
    disputes: &[(Dispute, Engine)],
) -> Result<Vec<Option<Setup<'s>>>, SetupError> {
    let of = |candidate: &Candidate<'s>| {
        let kind = candidate.drafter.source.kind();
        let found = disputes.iter().find(|(dispute, _)| dispute.concerns(kind));
        found.map(|(_, engine)| Setup::new(&setting.deployment(engine, Some(candidate.drafter)))).transpose()
    };
    candidates.iter().map(of).collect()
}

fn case(
    lines: &[Along<'_, '_>],
    context: usize,
    members: Vec<usize>,
    asked: &Asked<'_>,
    disputed: &[Option<Setup<'_>>],
) -> Case {
    let here: Vec<&Here<'_, '_>> = members.iter().map(|&member| &lines[member].here).collect();
    let rows = asked.batches.iter().map(|&batch| Row { batch, rivals: rivals(&here, batch) }).collect();
    let at = |member: usize| -> Vec<AtBatch> {
        asked.counted.iter().map(|&batch| at_batch(&lines[member], batch)).collect()
    };
    let worth = |at: &[AtBatch]| at.iter().map(|one| one.speedup.max(1.0).ln()).sum::<f64>();
    let all: Vec<(usize, Vec<AtBatch>)> = members.iter().map(|&member| (member, at(member))).collect();
    let best = all.into_iter().reduce(|best, next| if worth(&next.1) > worth(&best.1) { next } else { best });
    let (candidate, mut at) = best.map_or((None, Vec::new()), |(member, at)| (Some(member), at));
    let nothing = candidate.is_none_or(|member| lines[member].here.lengths.is_empty());
    let mut apart = Vec::new();
    if let Some((member, setup)) = candidate.and_then(|member| Some((member, disputed[member].as_ref()?))) {
        at.iter_mut().for_each(|one| one.disputed = other(setup, &lines[member].here, one));
        apart = contradictions(setup, &lines[member]);
    }
    let full = candidate.and_then(|member| at_full(&lines[member].here));
    let verdict = Verdict {
        answer: Answer::Leave,
        candidate: candidate.filter(|_| !nothing),
        at,
        decided_at: 0,
        apart,
        contexts: Vec::new(),
        crowded_beyond: false,
        looked_to: asked.longest,
        full,
        swings: Vec::new(),
    };
    Case { context, members, rows, verdict }
}

/// What another profile says of a batch whose sequences all run.
fn other(setup: &Setup<'_>, here: &Here<'_, '_>, at: &AtBatch) -> Option<Other> {
    at.k.filter(|_| at.running == at.base_running)?;
    best_by(setup, here, at.running)
}

/// The best draft length that runs, by another profile.
fn best_by(setup: &Setup<'_>, here: &Here<'_, '_>, batch: u64) -> Option<Other> {
    let at = (batch as f64, here.context as f64);
    let plain = plain_step(setup, at.0, at.1);
    let of = |length: &Length| Other {
        k: length.k,
        speedup: gain(setup, &plain, at, length.k, length.tokens),
        plain: plain.seconds().get(),
    };
    let run = here.lengths.iter().filter(|length| length.runs(batch));
    run.map(of).reduce(|best, next| if next.speedup > best.speedup { next } else { best })
}

/// The runs of batches at which it pays by one profile alone.
fn contradictions(setup: &Setup<'_>, along: &Along<'_, '_>) -> Vec<(u64, u64)> {
    let last = along.schedule.last().map_or(0, |span| span.last);
    let differs = |batch: u64| {
        let own = along.here.at(batch).best_of_drafting();
        own.zip(best_by(setup, &along.here, batch)).is_some_and(|(own, other)| contradict(own.speedup, other.speedup))
    };
    where_holds(&spans(every(1, last), differs), |differs| differs)
}

/// How sure each verdict is, and what it hangs on.
fn draw(
    uncertain: &Uncertain<'_, '_>,
    lines: &[Vec<Along<'_, '_>>],
    cases: &mut [Case],
    asked: &Asked<'_>,
) -> Result<(), NoDraws> {
    let mut points = Vec::new();
    for case in cases.iter() {
        let Some(candidate) = case.verdict.candidate else { continue };
        let here = &lines[case.context][candidate].here;
        points.extend(case.verdict.at.iter().filter_map(|one| {
            let k = one.k?;
            // Where all run this is 1.
            let scale = one.speedup / here.at(one.running).speedup(here.length(k)?);
            Some(Point { context: here.context, batch: one.running, candidate, k, scale })
        }));
    }
    let mut sure = uncertain.sure(&points, asked)?.into_iter();
    for case in cases {
        let Some(candidate) = case.verdict.candidate else { continue };
        for one in &mut case.verdict.at {
            let drawn: Option<Sure> = if one.k.is_some() { sure.next() } else { None };
            one.sure = drawn;
            *one = one.clone().judged();
        }
        let (answer, decided_at) = answer(&case.verdict.at, asked.of_load);
        (case.verdict.answer, case.verdict.decided_at) = (answer, decided_at);
        let (here, at) = (&lines[case.context][candidate].here, case.verdict.at.get(decided_at));
        if let Some((at, length)) = at.and_then(|at| Some((at, here.length(at.k?)?)))
            && at.stand != Stand::TooMany
        {
            let found = by_context(here.candidate, at.running, asked.longest);
            case.verdict.contexts = where_holds(&found, |k| k > 0);
            let beyond = case.verdict.contexts.last().map(|(_, to)| to + 1).filter(|next| *next <= asked.longest);
            case.verdict.crowded_beyond = beyond.is_some_and(|next| here.candidate.here(next).crowds(at.running));
            case.verdict.swings = tornado(uncertain, candidate, here, at.running, length)?;
        }
    }
    Ok(())
}
