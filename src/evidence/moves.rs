//! Engines with one term of a fit moved, so that pricing itself says what each adds.

use crate::domain::engine::{Additive, Constant, Engine, Pace, Profile};
use crate::evidence::sample::{Part, TERMS};
use crate::units::Seconds;

/// Paces are moved down by this share of theirs.
const SHARE: f64 = 0.01;
/// Times are moved up by it.
const TIME: Seconds = Seconds::new(1e-5);

/// An engine with one term moved.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    /// The engine.
    pub(super) engine: Engine,
    /// By how much: of paces the share, of times the seconds.
    pub(super) by: f64,
}

/// The engine with each term moved, in the order of [`Part::ALL`]; none of an ideal engine.
pub(super) fn moves(engine: &Engine) -> Option<[Moved; TERMS]> {
    let additive = engine.additive()?;
    Some(Part::ALL.map(|part| {
        let (additive, by) = moved(additive.clone(), part);
        Moved { engine: Engine { profile: Profile::Additive(Box::new(additive)), ..engine.clone() }, by }
    }))
}

fn moved(mut of: Additive, part: Part) -> (Additive, f64) {
    let longer = |time: &mut Constant<Seconds>| time.value = time.value + TIME;
    match part {
        Part::Pace => {
            of.plain_pace = Some(quicker(of.plain_pace));
            of.round_pace = Some(quicker(of.round_pace));
        }
        Part::RoundPace => of.round_pace = Some(quicker(of.round_pace)),
        Part::Step => longer(&mut of.step),
        Part::Round => longer(&mut of.round),
        Part::Draft => longer(&mut of.draft),
        Part::Sequence => longer(&mut of.sequence),
        Part::Tree => longer(of.tree.get_or_insert_with(none)),
        Part::Token => longer(of.token.get_or_insert_with(none)),
    }
    let is_pace = matches!(part, Part::Pace | Part::RoundPace);
    (of, if is_pace { -SHARE } else { TIME.get() })
}

fn quicker(of: Option<Constant<Pace>>) -> Constant<Pace> {
    let mut of = of.unwrap_or(Constant { value: Pace::AS_PRICED, range: None, origin: String::new() });
    // A share of a pace is a pace.
    of.value = Pace::new((1.0 - SHARE) * of.value.get()).unwrap_or(of.value);
    of
}

const fn none() -> Constant<Seconds> {
    Constant { value: Seconds::ZERO, range: None, origin: String::new() }
}
