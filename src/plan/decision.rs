//! Everything that is decided for one setting: each drafter along batches and contexts, beside the others, and the verdicts.

use std::sync::atomic::AtomicBool;

use crate::domain::engine::{Dispute, Engine};
use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::along::{Along, by_context};
use crate::plan::candidate::{Candidate, Here};
use crate::plan::draws::{NoDraws, Point, Sure, Uncertain};
use crate::plan::full::at_full;
use crate::plan::rivals::{Rival, rivals};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::plan::spans::{every, spans, where_holds};
use crate::plan::tornado::tornado;
use crate::plan::verdict::{Answer, AtBatch, Other, Verdict, answer, at_batch, contradict};

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

fn case<'s>(
    lines: &[Along<'_, 's>],
    context: usize,
    members: Vec<usize>,
    asked: &Asked<'_>,
    disputed: &[Option<Setup<'s>>],
) -> Case {
    let here: Vec<&Here<'_, '_>> = members.iter().map(|&member| &lines[member].here).collect();
    let rows = rows(&here, asked.batches);
    let at = |member: usize| -> Vec<AtBatch> {
        asked.counted.iter().map(|&batch| at_batch(&lines[member], batch)).collect()
    };
    // What is gained counts first; where nothing is, what is lost.
    let worth = |at: &[AtBatch]| {
        let logarithms = || at.iter().map(|one| one.speedup.max(f64::MIN_POSITIVE).ln());
        (logarithms().map(|gain| gain.max(0.0)).sum::<f64>(), logarithms().sum::<f64>())
    };
    let all: Vec<(usize, Vec<AtBatch>)> = members.iter().map(|&member| (member, at(member))).collect();
    let best = all.into_iter().reduce(|best, next| if worth(&next.1) > worth(&best.1) { next } else { best });
    let (candidate, mut at) = best.map_or((None, Vec::new()), |(member, at)| (Some(member), at));
    let nothing = candidate.is_none_or(|member| lines[member].here.lengths.is_empty());
    let mut apart = Vec::new();
    if let Some((member, setup)) = candidate.and_then(|member| Some((member, disputed[member].as_ref()?))) {
        at.iter_mut()
            .filter(|one| one.k.is_some())
            .for_each(|one| one.disputed = other(setup, &lines[member].here, one.batch));
        apart = contradictions(setup, &lines[member]);
    }
    let full = candidate.and_then(|member| at_full(&lines[member].here));
    let verdict = Verdict {
        answer: Answer::Leave,
        candidate: candidate.filter(|_| !nothing),
        at,
        decided_at: 0,
        k: None,
        apart,
        contexts: Vec::new(),
        crowded_beyond: false,
        looked_to: asked.longest,
        full,
        swings: Vec::new(),
    };
    Case { context, members, rows, verdict }
}

/// All candidates at every batch; beyond the most that run plainly nothing changes.
fn rows(here: &[&Here<'_, '_>], batches: &[u64]) -> Vec<Row> {
    let most = here.iter().filter_map(|here| here.alone.running).max().unwrap_or(u64::MAX);
    let mut rows: Vec<Row> = Vec::with_capacity(batches.len());
    for &batch in batches {
        let same = rows.last().filter(|last| last.batch >= most && batch >= most);
        let rivals = same.map_or_else(|| rivals(here, batch), |last| last.rivals.clone());
        rows.push(Row { batch, rivals });
    }
    rows
}

/// The best draft length by another profile.
fn other<'s>(setup: &Setup<'s>, here: &Here<'_, 's>, batch: u64) -> Option<Other> {
    let place = here.at_by(setup, batch);
    let best = place.best_of_drafting()?;
    let per_token = place.per_token(here.length(best.k)?);
    Some(Other { k: best.k, speedup: best.speedup, per_token, plain: place.plain.seconds().get() })
}

/// The runs of batches at which it pays by one profile alone.
fn contradictions<'s>(setup: &Setup<'s>, along: &Along<'_, 's>) -> Vec<(u64, u64)> {
    let last = along.schedule.last().map_or(0, |span| span.last);
    let differs = |batch: u64| {
        let best = |setup: &Setup<'s>| Some(along.here.at_by(setup, batch).best_of_drafting()?.speedup);
        best(&along.here.candidate.setup).zip(best(setup)).is_some_and(|(own, other)| contradict(own, other))
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
        points.extend(
            case.verdict
                .at
                .iter()
                .filter_map(|one| Some(Point { context: here.context, batch: one.batch, candidate, k: one.k? })),
        );
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
        let along = &lines[case.context][candidate];
        let (here, at) = (&along.here, case.verdict.at.get(decided_at));
        if let Some(at) = at.filter(|at| at.k.is_some()) {
            let found = by_context(here.candidate, at.running, asked.longest);
            case.verdict.contexts = where_holds(&found, |k| k > 0);
            let beyond = case.verdict.contexts.last().map(|(_, to)| to + 1).filter(|next| *next <= asked.longest);
            case.verdict.crowded_beyond = beyond.is_some_and(|next| here.candidate.here(next).crowds(at.running));
            case.verdict.k = along.steady().map(|fixed| fixed.k).or(at.k);
            if let Some(length) = case.verdict.k.and_then(|k| here.length(k)) {
                case.verdict.swings = tornado(uncertain, candidate, here, at.batch, length)?;
            }
        }
    }
    Ok(())
}
