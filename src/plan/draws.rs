//! What is not known exactly, drawn thousands of times: how sure speedups and best draft lengths are.
//!
//! One draw sets every uncertain constant of the engine and the hardware, the acceptance of each drafter and how far the model is
//! off, for all batches, contexts, draft lengths and drafters together: plain steps and rounds share their errors, so that most of them
//! cancel out, as they do on a real machine.

use std::collections::HashMap;

use crate::acceptance::accepted::Accepted;
use crate::domain::acceptance::{Acceptance, AcceptanceModel, Counts};
use crate::domain::engine::Engine;
use crate::domain::provenance::{NINE_IN_TEN, Spread};
use crate::parallel::{Failure, Outcome, ordered};
use crate::plan::candidate::{Candidate, Here, Length};
use crate::plan::choose::Choice;
use crate::plan::constants::{Ranged, ranged, with};
use crate::plan::decision::Asked;
use crate::plan::misfit::{Misfit, misfit};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::rng::{Generator, cell_seed};
use crate::units::Probability;

/// Draws of one piece of work.
const PIECE: u64 = 25;

/// Where all draws are evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Tokens in each sequence's KV cache.
    pub context: u64,
    /// Sequences that want to be decoded together.
    pub batch: u64,
    /// The candidate, by its position.
    pub candidate: usize,
    /// The draft length whose speedup is asked for.
    pub k: u64,
}

/// What the draws say of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Sure {
    /// Speedup that 5 % of the draws lie below.
    pub low: f64,
    /// Half lie below.
    pub median: f64,
    /// 95 % lie below.
    pub high: f64,
    /// The share of draws with a speedup above 1.
    pub gains: f64,
    /// The best draft length of the draws, 0 where none gains: 5 % and 95 % lie below.
    pub best_k: Option<(u64, u64)>,
}

/// One draw.
#[derive(Clone, Debug)]
struct Draw {
    constants: Vec<f64>,
    model: f64,
    /// Factors on accepted drafts, by candidate.
    accepted: Vec<f64>,
}

/// What a draw makes of a point.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    /// Speedup with the stated acceptance.
    constants: f64,
    /// With the drawn one.
    speedup: f64,
    /// What it gains at most: a round takes no less than a plain step.
    most: f64,
    /// The best length above 0 with its speedup.
    best: Choice,
    /// What that gains at most.
    best_most: f64,
    model: f64,
}

/// What is uncertain of a setting and its candidates.
#[derive(Debug)]
pub struct Uncertain<'p, 's> {
    setting: Setting<'s>,
    candidates: &'p [Candidate<'s>],
    family: &'s str,
    /// Constants with a range, or calibrated together.
    pub constants: Vec<Ranged>,
    /// What each independent deviation adds to those that were calibrated together.
    pub deviations: Vec<Vec<f64>>,
    /// How far off predictions are to be expected, by candidate, beside what the constants explain.
    pub misfits: Vec<Misfit>,
    /// Accepted drafts over what is stated, by candidate.
    pub spreads: Vec<Spread>,
}

/// Why draws could not be made.
#[derive(Debug, thiserror::Error)]
pub enum NoDraws {
    /// A price that was possible is not with other constants.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No threads.
    #[error("{0}")]
    Threads(String),
    /// The run was told to stop.
    #[error("interrupted")]
    Stopped,
}

impl<'p, 's> Uncertain<'p, 's> {
    /// Finds what is uncertain.
    #[must_use]
    pub fn new(setting: Setting<'s>, candidates: &'p [Candidate<'s>], uncounted: f64) -> Self {
        let family = setting.device.family.as_deref().unwrap_or_default();
        let calibration = setting.engine.additive().and_then(|additive| additive.calibration.as_ref());
        let backing = setting.backing();
        let off = |of: &Candidate<'s>| misfit(&backing, setting.roofline(), of.drafter);
        Self {
            setting,
            candidates,
            family,
            constants: ranged(setting.engine, family),
            deviations: calibration.map_or_else(Vec::new, |of| of.joint.deviations()),
            misfits: candidates.iter().map(off).collect(),
            spreads: candidates.iter().map(|of| spread(&of.drafter.acceptance, uncounted)).collect(),
        }
    }

    /// The engine of a draw.
    #[must_use]
    pub fn engine(&self, constants: &[f64]) -> Engine {
        with(self.setting.engine, self.family, constants)
    }

    /// What prices a candidate on another engine.
    ///
    /// # Errors
    ///
    /// None in practice: only constants differ.
    pub fn setup(&self, engine: &Engine, candidate: usize) -> Result<Setup<'s>, SetupError> {
        Setup::new(&self.setting.deployment(engine, Some(self.candidates[candidate].drafter)))
    }

    fn draw(&self, seed: u64, at: u64) -> Draw {
        let Setting { device, target, engine, .. } = self.setting;
        let number = at.to_string();
        let stream = |what: &str| Generator::from_seed(cell_seed(seed, &["plan", what, &number]));
        let mut own = stream(&format!("{}/{}/{}", device.id, target.id, engine.id));
        let deviations: Vec<f64> = self.deviations.iter().map(|_| own.normal()).collect();
        let constants = self.constants.iter().map(|of| self.drawn(of, &deviations, &mut own)).collect();
        let of =
            |(candidate, spread): (&Candidate<'s>, &Spread)| spread.factor(stream(&candidate.drafter.label).normal());
        let accepted = self.candidates.iter().zip(&self.spreads).map(of).collect();
        Draw { constants, model: own.normal(), accepted }
    }

    /// A constant of a draw.
    fn drawn(&self, of: &Ranged, deviations: &[f64], random: &mut Generator) -> f64 {
        match of.joint.and_then(|at| self.deviations.get(at)) {
            Some(row) => of.value + row.iter().zip(deviations).map(|(each, times)| each * times).sum::<f64>(),
            None => of.quantile(random.uniform()),
        }
    }

    /// Evaluates every draw at every point; the same for any number of threads.
    ///
    /// # Errors
    ///
    /// [`NoDraws`].
    pub fn sure(&self, points: &[Point], asked: &Asked<'_>) -> Result<Vec<Sure>, NoDraws> {
        let (draws, seed) = (asked.draws, asked.seed);
        let known: HashMap<(usize, u64), Here<'_, 's>> = points
            .iter()
            .map(|point| ((point.candidate, point.context), self.candidates[point.candidate].here(point.context)))
            .collect();
        let pieces = (0..draws.div_ceil(PIECE)).map(|piece| piece * PIECE..((piece + 1) * PIECE).min(draws));
        let work = |piece: std::ops::Range<u64>| -> Result<Vec<Vec<Drawn>>, SetupError> {
            piece.map(|at| self.evaluate(&self.draw(seed, at), points, &known)).collect()
        };
        let mut all: Vec<Vec<Drawn>> = vec![Vec::with_capacity(draws as usize); points.len()];
        let priced: u64 = points.iter().map(|point| self.candidates[point.candidate].lengths.len() as u64 + 1).sum();
        let take = |piece: Result<Vec<Vec<Drawn>>, SetupError>| {
            for drawn in piece? {
                (asked.told)(priced);
                all.iter_mut().zip(drawn).for_each(|(point, drawn)| point.push(drawn));
            }
            Ok(())
        };
        match ordered(pieces, asked.threads, asked.stop, work, take) {
            Ok(Outcome::Finished) => {}
            Ok(Outcome::Stopped) => return Err(NoDraws::Stopped),
            Err(Failure::Taken(error)) => return Err(NoDraws::Setup(error)),
            Err(error @ Failure::Threads { .. }) => return Err(NoDraws::Threads(error.to_string())),
        }
        let are_known_together = !self.deviations.is_empty();
        let sum = |(point, drawn): (&Point, Vec<Drawn>)| {
            let here = &known[&(point.candidate, point.context)];
            let priced = here.length(point.k).map_or(1.0, |length| here.at(point.batch).speedup(length));
            let own = if are_known_together { held(drawn, self.misfits[point.candidate], priced) } else { drawn };
            summed(&own, self.misfits[point.candidate])
        };
        Ok(points.iter().zip(all).map(sum).collect())
    }

    fn evaluate(
        &self,
        draw: &Draw,
        points: &[Point],
        known: &HashMap<(usize, u64), Here<'_, 's>>,
    ) -> Result<Vec<Drawn>, SetupError> {
        let engine = self.engine(&draw.constants);
        let setups: Vec<Setup<'s>> =
            (0..self.candidates.len()).map(|at| self.setup(&engine, at)).collect::<Result<_, _>>()?;
        let of = |point: &Point| {
            let here = &known[&(point.candidate, point.context)];
            at_point(&setups[point.candidate], here, point, draw.accepted[point.candidate], draw.model)
        };
        Ok(points.iter().map(of).collect())
    }
}

fn at_point<'s>(setup: &Setup<'s>, here: &Here<'_, 's>, point: &Point, factor: f64, model: f64) -> Drawn {
    let place = here.at_by(setup, point.batch);
    let drawn = |length: &Length| {
        let length = Length { tokens: accepted(length, factor), ..*length };
        (Choice { k: length.k, speedup: place.speedup(&length) }, place.most(&length))
    };
    let off = (Choice { k: 0, speedup: 1.0 }, 1.0);
    let own = here.length(point.k);
    let constants = own.map_or(1.0, |length| place.speedup(length));
    let (drawn_own, most) = own.map_or(off, drawn);
    let run = here.lengths.iter().filter(|length| place.running(length) > 0).map(drawn);
    let best = run.reduce(|best, next| if next.0.speedup > best.0.speedup { next } else { best });
    let (best, best_most) = best.unwrap_or(off);
    Drawn { constants, speedup: drawn_own.speedup, most, best, best_most, model }
}

/// Tokens per pass if drafts are accepted so many times as often as stated: at most all are.
#[must_use]
pub fn accepted(length: &Length, factor: f64) -> f64 {
    (1.0 + (length.tokens - 1.0) * factor).min(length.k as f64 + 1.0)
}

/// Draws of calibrated constants, no wider than profiles fitted to as few points were off.
///
/// The widths that constants have before anything is measured are those that predict best with a few points, and far wider than
/// the error of a published profile: of one point, however well it agrees, nobody would become surer without this.
///
/// # Formula
///
/// ```text
/// ln s' = ln s + ln priced - median ln c - (1 - f) (ln c - median ln c),     f = min(1, deviation of misfits / deviation of ln c)
/// ```
///
/// c is the speedup by constants alone. What is priced stays in the middle: a constant that was fitted down to 0 is drawn above it only.
fn held(mut drawn: Vec<Drawn>, misfit: Misfit, priced: f64) -> Vec<Drawn> {
    let mut logs: Vec<f64> = drawn.iter().map(|one| one.constants.ln()).collect();
    let share = misfit.share_of(variance(logs.iter().copied()));
    logs.sort_by(f64::total_cmp);
    let middle = quantile(&logs, 0.5);
    let aside = if priced > 0.0 { priced.ln() - middle } else { 0.0 };
    for one in &mut drawn {
        let times = (aside + (share - 1.0) * (one.constants.ln() - middle)).exp();
        for speedup in [&mut one.constants, &mut one.speedup, &mut one.best.speedup] {
            *speedup *= times;
        }
    }
    drawn
}

fn summed(drawn: &[Drawn], misfit: Misfit) -> Sure {
    let rest = misfit.beyond(variance(drawn.iter().map(|one| one.constants.ln())));
    let of = |one: &Drawn, speedup: f64, most: f64| (speedup * rest.factor(one.model)).min(most);
    let mut speedups: Vec<f64> = drawn.iter().map(|one| of(one, one.speedup, one.most)).collect();
    let gains = speedups.iter().filter(|speedup| **speedup > 1.0).count() as f64 / speedups.len().max(1) as f64;
    let best = |one: &Drawn| if of(one, one.best.speedup, one.best_most) > 1.0 { one.best.k } else { 0 };
    let mut lengths: Vec<u64> = drawn.iter().map(best).collect();
    speedups.sort_by(f64::total_cmp);
    lengths.sort_unstable();
    let at = |share: f64| quantile(&speedups, share);
    let rank = |share: f64| lengths.get(((lengths.len().max(1) - 1) as f64 * share).round() as usize).copied();
    Sure { low: at(0.05), median: at(0.5), high: at(0.95), gains, best_k: rank(0.05).zip(rank(0.95)) }
}

fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    values.map(|value| (value - mean).powi(2)).sum::<f64>() / count
}

/// A quantile of sorted numbers, between two of them on a straight line.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len().max(1) - 1) as f64 * share;
    let at = |index: usize| sorted.get(index.min(sorted.len().max(1) - 1)).copied().unwrap_or(f64::NAN);
    let low = at(place.floor() as usize);
    low + (at(place.ceil() as usize) - low) * place.fract()
}

/// How far accepted drafts may be from what is stated: of counts by their number, else as the scenario says, else as drafters of
/// whose acceptance only a mean is known.
///
/// # Formula
///
/// ```text
/// of counts: exp(+-1.645 sd(accepted) / (mean sqrt(rounds)))
/// ```
///
/// Rounds of one request hang together, so that counts of few requests are less sure than this says.
#[must_use]
pub fn spread(acceptance: &Acceptance, uncounted: f64) -> Spread {
    match (&acceptance.model, acceptance.spread) {
        (_, Some(stated)) => stated,
        (AcceptanceModel::Counts(counts), None) => of_counts(counts),
        _ => Spread { low: 1.0 / (1.0 + uncounted), high: 1.0 + uncounted },
    }
}

fn of_counts(counts: &Counts) -> Spread {
    let shares = counts.curve().survival().iter().map(|&share| Probability::nearest(share));
    // Counts that were checked only fall.
    let Ok(law) = Accepted::from_cumulative(shares) else { return Spread { low: 1.0, high: 1.0 } };
    let mean = law.mean_accepted();
    if mean <= 0.0 {
        // Nothing was ever accepted: a factor changes nothing.
        return Spread { low: 1.0, high: 1.0 };
    }
    let error = law.variance().sqrt() / (mean * (counts.rounds() as f64).sqrt());
    let factor = (NINE_IN_TEN * error).exp();
    Spread { low: 1.0 / factor, high: factor }
}
