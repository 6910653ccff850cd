//! A user's measurements beside what the cost model says of each.

use crate::cost::draft::DraftPricing;
use crate::cost::pass::{PassCost, Timing, pass};
use crate::cost::shape::PassShape;
use crate::domain::drafter::{DraftSource, Drafter, Layout};
use crate::domain::engine::Engine;
use crate::domain::measured::{Measured, Timed};
use crate::domain::measurement::ClosedLoop;
use crate::evidence::moves::{Moved, moves};
use crate::evidence::sample::{Sample, Seen, TERMS};
use crate::plan::round::{plain_step, round_of};
use crate::plan::setting::Setting;
use crate::plan::setup::{Setup, SetupError};
use crate::plan::yields::process_of;
use crate::units::Seconds;
use crate::words::{Bound, DrafterKind, HeadKind};

/// Measured times that are so many times longer or shorter than their price are in another unit, or of another deployment.
const FAR: f64 = 30.0;
/// From so many sequences on a rate that is so many times too low is that of one of them, within a factor of exp(0.4).
const CROWD: f64 = 4.0;
const ALIKE: f64 = 0.4;

/// Why a point says nothing of a deployment.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// No such drafter.
    #[error("drafter \"{named}\" is none of the scenario's: {known}")]
    NoDrafter {
        /// As it was named.
        named: String,
        /// Those there are.
        known: String,
    },
    /// Several drafters, and none is named.
    #[error("the scenario has several drafters, {0}: name one in a column drafter")]
    WhichDrafter(String),
    /// Drafts without a drafter.
    #[error("k = {0}, and the scenario has no drafter")]
    NoDrafters(u64),
    /// A tree, or look-ahead, has one length.
    #[error("the scenario's drafter has k = {only}, not {k}")]
    OtherLength {
        /// Its only length.
        only: u64,
        /// That of the point.
        k: u64,
    },
    /// Longer drafts than there are.
    #[error("k = {k}, and the drafter drafts {longest} tokens at most")]
    TooLong {
        /// That of the point.
        k: u64,
        /// The longest there are.
        longest: u64,
    },
    /// More tokens than a round verifies.
    #[error("{tokens} tokens per pass, and a round verifies {width}")]
    TooManyTokens {
        /// Measured tokens per pass.
        tokens: f64,
        /// Verified tokens.
        width: f64,
    },
    /// Tokens per second of one sequence.
    #[error(
        "{rate} tokens per second are those of one of the {batch} sequences: tokens_per_s is of all of them together"
    )]
    OfOneSequence {
        /// As it was measured.
        rate: f64,
        /// Sequences.
        batch: f64,
    },
    /// Another unit, or another deployment.
    #[error("{measured} where {priced} is expected, {} times as {word}{hint}", rough(*.times))]
    FarOff {
        /// The measured time.
        measured: Seconds,
        /// Its price.
        priced: Seconds,
        /// How many times.
        times: f64,
        /// `long` or `short`.
        word: &'static str,
        /// What that looks like.
        hint: &'static str,
    },
}

/// Prices of a deployment, as it is and with each term of a fit moved.
#[derive(Clone, Debug)]
struct Priced<'s> {
    whole: Setup<'s>,
    moved: Vec<(Setup<'s>, f64)>,
}

/// Seconds of a plain step and of a round, and what each term adds to them.
struct Times {
    step: f64,
    of_step: [f64; TERMS],
    round: f64,
    of_round: [f64; TERMS],
}

impl<'s> Priced<'s> {
    fn new(setting: &Setting<'s>, moves: &[Moved], drafter: Option<&'s Drafter>) -> Result<Self, SetupError> {
        let setup = |engine: &Engine| Setup::new(&setting.deployment(engine, drafter));
        let moved = moves.iter().map(|moved| Ok((setup(&moved.engine)?, moved.by)));
        Ok(Self { whole: setup(setting.engine)?, moved: moved.collect::<Result<_, SetupError>>()? })
    }

    /// What each term adds is told by pricing with the term moved: what was measured, hidden or left out is not moved by it.
    fn times(&self, batch: f64, context: f64, layout: Option<Layout>, tokens: f64) -> Times {
        let of = |setup: &Setup<'s>| times(setup, batch, context, layout, tokens);
        let (step, round) = of(&self.whole);
        let (mut of_step, mut of_round) = ([0.0; TERMS], [0.0; TERMS]);
        for (at, (setup, by)) in self.moved.iter().enumerate() {
            let moved = of(setup);
            (of_step[at], of_round[at]) = ((moved.0 - step) / by, (moved.1 - round) / by);
        }
        Times { step, of_step, round, of_round }
    }
}

/// A deployment that measurements are held against.
#[derive(Clone, Debug)]
pub struct Prices<'s> {
    plain: Priced<'s>,
    drafting: Vec<(&'s Drafter, Priced<'s>)>,
}

impl<'s> Prices<'s> {
    /// Everything that prices a setting's points.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names what is missing, or does not go together.
    pub fn new(setting: &Setting<'s>) -> Result<Self, SetupError> {
        let moves = moves(setting.engine);
        let moves = moves.as_ref().map_or(&[][..], |moves| moves);
        let drafting = setting.scenario.drafters.iter();
        let drafting = drafting.map(|drafter| Ok((drafter, Priced::new(setting, moves, Some(drafter))?)));
        Ok(Self { plain: Priced::new(setting, moves, None)?, drafting: drafting.collect::<Result<_, SetupError>>()? })
    }

    /// A measured point beside its price.
    ///
    /// # Formula
    ///
    /// ```text
    /// k = 0   step = seconds = seconds of a token = ranks B / throughput
    /// k > 0   round = seconds = F seconds of a token = F ranks B / throughput
    /// ```
    ///
    /// In closed loops each token carries the prefill of a share of a request beside, B P / O on the target and, of rounds, on the
    /// drafter: P of a prompt, O tokens of an output.
    ///
    /// # Errors
    ///
    /// [`Unusable`].
    pub fn sample(&self, point: &Measured) -> Result<Sample, Unusable> {
        let sample = self.beside(point)?;
        check(&sample, point)?;
        Ok(sample)
    }

    /// The same however far off the point is.
    ///
    /// # Errors
    ///
    /// [`Unusable`].
    pub fn beside(&self, point: &Measured) -> Result<Sample, Unusable> {
        let drafting = if point.k == 0 { None } else { Some(self.drafting(point)?) };
        let priced = drafting.map_or(&self.plain, |(_, priced)| priced);
        let layout = drafting.map(|(drafter, priced)| layout(point, drafter, &priced.whole)).transpose()?;
        let tokens = match (drafting, point.tokens_per_pass) {
            (None, _) => 1.0,
            (Some(_), Some(tokens)) => tokens,
            // Only what a token costs is told by it.
            (Some((drafter, _)), None) => process_of(drafter, 0, point.context as u64).tokens_per_pass(point.k),
        };
        if let Some(layout) = layout.filter(|layout| tokens > layout.verify_width.max(point.k as f64 + 1.0)) {
            return Err(Unusable::TooManyTokens { tokens, width: layout.verify_width });
        }
        let Times { step, of_step, round, of_round } = priced.times(point.batch, point.context, layout, tokens);
        let prefill = prefill(&priced.whole, point);
        let in_round = (prefill.0 + prefill.1) * point.batch * tokens;
        let ranks = priced.whole.ranks() as f64;
        Ok(Sample {
            base_step: step + prefill.0 * point.batch,
            of_step,
            round: round + in_round,
            of_round,
            batch: point.batch,
            width: layout.map_or(1.0, |layout| layout.verify_width),
            tokens,
            prefill: if point.k == 0 { prefill.0 * point.batch } else { in_round },
            seen: seen(point, tokens, ranks),
        })
    }

    /// A plain step that nobody has measured, as it is priced.
    #[must_use]
    pub fn plain(&self, batch: f64, context: f64) -> Sample {
        let Times { step, of_step, round, of_round } = self.plain.times(batch, context, None, 1.0);
        let (width, tokens, prefill, seen) = (1.0, 1.0, 0.0, Seen::Step(step));
        Sample { base_step: step, of_step, round, of_round, batch, width, tokens, prefill, seen }
    }

    /// A round that nobody has measured, as it is priced: of a drafter by its position, at k.
    #[must_use]
    pub fn round(&self, drafter: usize, k: u64, batch: f64, context: f64) -> Option<Sample> {
        let (drafter, priced) = self.drafting.get(drafter)?;
        let tokens = process_of(drafter, 0, context as u64).tokens_per_pass(k);
        let layout = priced.whole.layout(k, priced.whole.proposing_share(tokens, k))?;
        let Times { step, of_step, round, of_round } = priced.times(batch, context, Some(layout), tokens);
        let (width, prefill, seen) = (layout.verify_width, 0.0, Seen::Round(round));
        Some(Sample { base_step: step, of_step, round, of_round, batch, width, tokens, prefill, seen })
    }

    /// The drafters.
    pub fn drafters(&self) -> impl Iterator<Item = &'s Drafter> {
        self.drafting.iter().map(|(drafter, _)| *drafter)
    }

    /// What of a plain pass and of a round's passes is left if they ran at the datasheet's peak and nothing else took time: no pace
    /// lies below. Drafts of rounds count as free.
    ///
    /// # Formula
    ///
    /// ```text
    /// plain step  max(eta_bandwidth bytes' time, eta_compute arithmetic's time) / the pass's
    /// round       the same of the verification, over all passes
    /// ```
    #[must_use]
    pub fn fastest(&self, efficiencies: (f64, f64), point: &Measured) -> (f64, f64) {
        let share = |seconds: f64, paced: f64| if paced > 0.0 { seconds / paced } else { 0.0 };
        let cost = plain_step(&self.plain.whole, point.batch, point.context);
        let paced = |of: &[f64; TERMS]| of[0];
        let times = self.plain.times(point.batch, point.context, None, 1.0);
        let plain = share(fastest(&cost, efficiencies), paced(&times.of_step));
        let Some((drafter, priced)) = (point.k > 0).then(|| self.drafting(point).ok()).flatten() else {
            return (plain, 0.0);
        };
        let Ok(layout) = layout(point, drafter, &priced.whole) else { return (plain, 0.0) };
        let round = round_of(&priced.whole, &cost, point.batch, point.context, layout);
        let times = priced.times(point.batch, point.context, Some(layout), 1.0);
        (plain, share(fastest(&round.verify, efficiencies), paced(&times.of_round)))
    }

    fn drafting(&self, point: &Measured) -> Result<(&'s Drafter, &Priced<'s>), Unusable> {
        let known = || self.drafting.iter().map(|(drafter, _)| drafter.label.as_str()).collect::<Vec<_>>().join(", ");
        let found: Vec<&(&Drafter, Priced<'_>)> = match point.drafter.as_deref() {
            None => self.drafting.iter().collect(),
            Some(named) => {
                let labelled: Vec<_> = self.drafting.iter().filter(|(drafter, _)| drafter.label == named).collect();
                if labelled.is_empty() {
                    self.drafting.iter().filter(|(drafter, _)| is_called(&drafter.source, named)).collect()
                } else {
                    labelled
                }
            }
        };
        match (found.as_slice(), &point.drafter) {
            ([(drafter, priced)], _) => Ok((drafter, priced)),
            ([], None) => Err(Unusable::NoDrafters(point.k)),
            ([], Some(named)) => Err(Unusable::NoDrafter { named: named.clone(), known: known() }),
            _ => Err(Unusable::WhichDrafter(known())),
        }
    }

    /// Whether some point was measured with drafts beside verification.
    #[must_use]
    pub fn has_overlap<'p>(&self, mut points: impl Iterator<Item = &'p Measured>) -> bool {
        points.any(|point| point.k > 0 && self.drafting(point).is_ok_and(|(drafter, _)| drafter.overlap))
    }

    /// The drafters that points were measured with, by their kinds.
    #[must_use]
    pub fn kinds<'p>(&self, points: impl Iterator<Item = &'p Measured>) -> Vec<DrafterKind> {
        let mut kinds: Vec<DrafterKind> = Vec::new();
        for point in points.filter(|point| point.k > 0) {
            if let Ok((drafter, _)) = self.drafting(point)
                && !kinds.contains(&drafter.source.kind())
            {
                kinds.push(drafter.source.kind());
            }
        }
        kinds
    }
}

/// Whether a source goes by a name: that of its model, or of its kind, as tables of measurements have them too.
fn is_called(source: &DraftSource, named: &str) -> bool {
    let named = named.to_lowercase().replace('_', "-");
    let kind = match named.as_str() {
        "eagle1" | "eagle2" | "eagle3" | "eagle3-full-head" => DrafterKind::Eagle.as_str(),
        "draft-model" => DrafterKind::Model.as_str(),
        "self-sparse-kv" | "sparse-kv" => DrafterKind::SparseKv.as_str(),
        other => other,
    };
    source.model().is_some_and(|model| model.id == named) || source.kind().as_str() == kind
}

/// The passes of a point: those that it states, else the drafter's at its k.
fn layout(point: &Measured, drafter: &Drafter, setup: &Setup<'_>) -> Result<Layout, Unusable> {
    if let Some(layout) = point.layout {
        return Ok(Layout {
            draft_passes: if drafter.source.looks_up() { 0.0 } else { layout.draft_passes },
            ..layout
        });
    }
    if let Some(only) = drafter.only_length().filter(|only| *only != point.k) {
        return Err(Unusable::OtherLength { only, k: point.k });
    }
    if let Some(longest) = drafter.longest.filter(|longest| *longest < point.k) {
        return Err(Unusable::TooLong { k: point.k, longest });
    }
    let share = setup.proposing_share(point.tokens_per_pass.unwrap_or(1.0), point.k);
    Ok(setup.layout(point.k, share).unwrap_or(Layout::PLAIN))
}

/// Seconds of the plain step and of the round.
fn times(setup: &Setup<'_>, batch: f64, context: f64, layout: Option<Layout>, tokens: f64) -> (f64, f64) {
    let plain = plain_step(setup, batch, context);
    let round = layout.map(|layout| round_of(setup, &plain, batch, context, layout).seconds(tokens));
    (plain.seconds().get(), round.unwrap_or(plain.seconds()).get())
}

/// Seconds of prefill that come with each output token, on target and drafter.
fn prefill(setup: &Setup<'_>, point: &Measured) -> (f64, f64) {
    let Some(ClosedLoop { prompt, output }) = point.requests.filter(|_| !matches!(point.timed, Timed::Step(_))) else {
        return (0.0, 0.0);
    };
    let shape = PassShape::prefill(1.0, prompt, 0.0);
    let on_target = pass(setup.target(), setup.pricing(), shape).seconds().get();
    let on_drafter = match setup.drafting() {
        // Medusa heads keep no cache, and a capped cache is the target's own.
        Some(DraftPricing::Passes { model, pricing, budget: None }) if model.head_kind() != Some(HeadKind::Medusa) => {
            pass(model, pricing, shape).seconds().get()
        }
        _ => 0.0,
    };
    (on_target / output, on_drafter / output)
}

fn seen(point: &Measured, tokens: f64, ranks: f64) -> Seen {
    let step = match point.timed {
        Timed::Speedup(speedup) => return Seen::Speedup(speedup),
        Timed::Step(seconds) => seconds.get(),
        Timed::PerToken(seconds) => seconds.get() * tokens,
        Timed::Throughput(rate) => ranks * point.batch * tokens / rate,
    };
    if point.k == 0 { Seen::Step(step) } else { Seen::Round(step) }
}

/// Refuses what is in another unit, or of another deployment.
fn check(sample: &Sample, point: &Measured) -> Result<(), Unusable> {
    let ratio = sample.measured() / sample.priced();
    if let Timed::Throughput(rate) = point.timed
        && point.batch >= CROWD
        && (ratio / point.batch).ln().abs() < ALIKE
    {
        return Err(Unusable::OfOneSequence { rate, batch: point.batch });
    }
    if (1.0 / FAR..=FAR).contains(&ratio) {
        return Ok(());
    }
    let (times, word) = if ratio > 1.0 { (ratio, "long") } else { (1.0 / ratio, "short") };
    let hint = match ratio {
        ratio if (200.0..5000.0).contains(&ratio) => {
            ": a unit off by 1000, such as milliseconds under step_s or microseconds under step_ms?"
        }
        ratio if (0.0002..0.005).contains(&ratio) => ": a unit off by 1000, such as seconds under step_ms?",
        _ => ": another unit, batch or context, or another deployment?",
    };
    let (measured, priced) = (Seconds::new(sample.measured()), Seconds::new(sample.priced()));
    Err(Unusable::FarOff { measured, priced, times, word, hint })
}

/// How many times, for people.
fn rough(times: f64) -> String {
    if times > 1e6 { "over a million".to_owned() } else { format!("{times:.0}") }
}

/// Seconds of a pass at the datasheet's peak, nothing else counted.
fn fastest(cost: &PassCost, (bandwidth, compute): (f64, f64)) -> f64 {
    let Timing::Added(terms) = cost.timing else { return 0.0 };
    let memory = terms.of_class(Bound::Memory).get() * bandwidth;
    memory.max(terms.of_class(Bound::Compute).get() * compute)
}
