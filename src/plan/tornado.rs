//! Which uncertain input moves the answer most.

use crate::domain::provenance::NINE_IN_TEN;
use crate::plan::candidate::{Here, Length};
use crate::plan::constants::Ranged;
use crate::plan::draws::{Uncertain, accepted};
use crate::plan::setup::{Setup, SetupError};

/// Swings below this share of the speedup are none.
const NOTHING: f64 = 2e-3;

/// What is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// How many drafts are accepted.
    Acceptance,
    /// How far the form of the price is off beside its constants.
    Form,
    /// Constants of the engine that were calibrated together.
    Calibration,
    /// A constant of the engine, by its name in its file.
    Constant(&'static str),
}

impl Input {
    /// What it is, for people.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Acceptance => "how many drafts are accepted",
            Self::Form => "the cost model",
            Self::Calibration => "the constants that were calibrated",
            Self::Constant(name) => match name {
                "t_step" => "the engine's time for a step",
                "t_draft" => "the engine's time for a draft pass",
                "t_round" => "the engine's time for a round",
                "t_sequence" => "the engine's time for each sequence of a round",
                "t_round_device" => "the engine's time for each further device of a round",
                "t_tree" => "the engine's time for a draft pass of a tree",
                "t_token" => "what serving adds to each token",
                "plain_pace" => "how long plain passes take over their price",
                "round_pace" => "how long passes of rounds take over their price",
                "t_moe_layer" => "routing of a layer of experts",
                "routing_independence" | "routing_power" => "how many experts verified tokens share",
                "t_all_reduce" => "the start of an all-reduce",
                "eta_link" => "the share of the link that is reached",
                "accepted_per_proposed" => "the share of sequences that propose",
                "t_layer_floor" => "the least time of a layer",
                "t_layer_uncaptured" => "a layer outside captured graphs",
                "quantised_compute" | "eta_compute" => "the share of the peak that is reached",
                "quantised_bandwidth" | "eta_bandwidth" => "the share of the bandwidth that is reached",
                "eta_kv" => "the share of the bandwidth that the KV cache reaches",
                "t_product" => "the fixed time of a matrix product",
                "t_attention" => "the fixed time of attention",
                other => other,
            },
        }
    }

    /// The same with the name that a profile has for it.
    #[must_use]
    pub fn says(self) -> String {
        match self {
            Self::Acceptance | Self::Form | Self::Calibration => self.what().to_owned(),
            Self::Constant(name) => format!("{} ({name})", self.what()),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acceptance => "acceptance",
            Self::Form => "cost model",
            Self::Calibration => "calibration",
            Self::Constant(name) => name,
        }
    }
}

/// What one input alone does to a speedup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// The input.
    pub input: Input,
    /// The speedup where it is as 5 % of its draws are below.
    pub low: f64,
    /// The speedup where it is as 95 % are below.
    pub high: f64,
}

impl Swing {
    /// How far apart both are.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.high - self.low).abs()
    }
}

/// The swings of every uncertain input at one point, the widest first: each moved alone, all others as they are used.
///
/// # Errors
///
/// None in practice: only constants differ.
pub fn tornado<'s>(
    uncertain: &Uncertain<'_, 's>,
    candidate: usize,
    here: &Here<'_, 's>,
    batch: u64,
    length: &Length,
) -> Result<Vec<Swing>, SetupError> {
    let at = |setup: &Setup<'s>, tokens: f64| here.at_by(setup, batch).speedup(&Length { tokens, ..*length });
    let central: Vec<f64> = uncertain.constants.iter().map(|constant| constant.value).collect();
    let mut swings = Vec::new();
    swings.extend(together(uncertain, candidate, &|setup: &Setup<'s>| at(setup, length.tokens))?);
    let alone = uncertain.constants.iter().enumerate().filter(|(_, of)| of.joint.is_none());
    for (place, constant) in alone {
        let moved = |share: f64| {
            let mut values = central.clone();
            values[place] = constant.quantile(share);
            Ok::<f64, SetupError>(at(&uncertain.setup(&uncertain.engine(&values), candidate)?, length.tokens))
        };
        swings.push(Swing { input: Input::Constant(constant.name), low: moved(0.05)?, high: moved(0.95)? });
    }
    // No wider than profiles fitted to as few points were off, as draws are.
    for of in swings.iter_mut().filter(|of| of.input == Input::Calibration) {
        let own = f64::midpoint(of.low, of.high);
        let deviation = (of.high / of.low).ln() / (2.0 * NINE_IN_TEN);
        let share = uncertain.misfits[candidate].share_of(deviation * deviation);
        (of.low, of.high) = (own + share * (of.low - own), own + share * (of.high - own));
    }
    let explained: f64 = swings.iter().map(|of| ((of.high / of.low).ln() / (2.0 * NINE_IN_TEN)).powi(2)).sum();
    let (setup, spread) = (&here.candidate.setup, uncertain.spreads[candidate]);
    let own = at(setup, length.tokens);
    let with = |factor: f64| at(setup, accepted(length, factor));
    swings.push(Swing { input: Input::Acceptance, low: with(spread.low), high: with(spread.high) });
    let rest = uncertain.misfits[candidate].beyond(explained);
    swings.push(Swing { input: Input::Form, low: own * rest.low, high: own * rest.high });
    swings.retain(|of| of.width() > NOTHING * own);
    swings.sort_by(|a, b| b.width().total_cmp(&a.width()));
    Ok(swings)
}

/// The swing of all constants that were calibrated together: none where none were.
///
/// # Formula
///
/// ```text
/// s +- sqrt(sum over j of ((s(+1.645 d_j) - s(-1.645 d_j)) / 2)^2),     d_j independent deviations of the constants
/// ```
fn together<'s>(
    uncertain: &Uncertain<'_, 's>,
    candidate: usize,
    speedup: &dyn Fn(&Setup<'s>) -> f64,
) -> Result<Option<Swing>, SetupError> {
    if uncertain.deviations.is_empty() {
        return Ok(None);
    }
    let moved = |by: usize, times: f64| {
        let of = |constant: &Ranged| {
            let row = constant.joint.and_then(|at| uncertain.deviations.get(at));
            constant.value + row.and_then(|row| row.get(by)).map_or(0.0, |each| each * times)
        };
        let values: Vec<f64> = uncertain.constants.iter().map(of).collect();
        Ok::<f64, SetupError>(speedup(&uncertain.setup(&uncertain.engine(&values), candidate)?))
    };
    let mut squares = 0.0;
    for by in 0..uncertain.deviations.len() {
        squares += ((moved(by, NINE_IN_TEN)? - moved(by, -NINE_IN_TEN)?) / 2.0).powi(2);
    }
    let (own, reach) = (moved(0, 0.0)?, squares.sqrt());
    Ok(Some(Swing { input: Input::Calibration, low: own - reach, high: own + reach }))
}
