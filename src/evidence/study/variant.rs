//! Forms that are tried beside the shipped one.

use crate::evidence::study::constants::{Parameter, Scope, Values, prior};
use crate::evidence::study::fit::Design;
use crate::words::Fitted;

/// A form with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// What is other than in the shipped form, in words.
    pub name: &'static str,
    /// What it fits.
    pub design: Design,
    /// The term that only some subjects have, if it is about one: only these bear it out.
    pub about: Option<Fitted>,
}

/// Who is measured: for whom there are constants of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Engines.
    pub engines: Vec<String>,
    /// Families of hardware.
    pub families: Vec<String>,
}

/// Constants that each engine has for itself.
pub const OF_ENGINES: [Fitted; 3] = [Fitted::Step, Fitted::Draft, Fitted::Round];
/// Constants that all engines share, or that only one kind of engine has.
pub const SHARED: [Fitted; 8] = [
    Fitted::MoeLayer,
    Fitted::RoutingPower,
    Fitted::AllReduce,
    Fitted::AcceptedPerProposed,
    Fitted::LayerFloor,
    Fitted::QuantisedCompute,
    Fitted::QuantisedBandwidth,
    Fitted::FurtherDevice,
];

/// How far engines lie from what they share, on the scale of logarithms: within a factor of 2.7 in nineteen of twenty.
const BETWEEN_ENGINES: f64 = 0.5;

/// A source with n rows counts as much as the square root of n.
const CROWDING: f64 = 0.5;

/// A constant that all share, as wide as its prior.
fn of_all(of: Fitted) -> Parameter {
    Parameter { of, scope: Scope::All, width: prior(of).width, shift: 0.0 }
}

/// The shipped form: three constants of each engine, drawn towards what engines share, and constants of all.
#[must_use]
pub fn shipped(measured: &Measured) -> Design {
    let own = |of: Fitted| {
        let of_engine =
            move |id: &String| Parameter { of, scope: Scope::Engine(id.clone()), width: BETWEEN_ENGINES, shift: 0.0 };
        std::iter::once(of_all(of)).chain(measured.engines.iter().map(of_engine))
    };
    let parameters = OF_ENGINES.into_iter().flat_map(own).chain(SHARED.into_iter().map(of_all)).collect();
    Design { parameters, held: Values::AS_STATED, crowding: CROWDING }
}

/// Every other form that is tried.
#[must_use]
pub fn tried(measured: &Measured) -> Vec<Variant> {
    let base = shipped(measured);
    let more = |name, of: &[Fitted]| {
        let parameters = base.parameters.iter().cloned().chain(of.iter().map(|&of| of_all(of))).collect();
        Variant { name, design: Design { parameters, ..base }, about: of.first().copied() }
    };
    let less = |name, keep: &dyn Fn(&Parameter) -> bool, held: Values, about: Option<Fitted>| {
        let parameters = base.parameters.iter().filter(|one| keep(one)).cloned().collect();
        Variant { name, design: Design { parameters, held, ..base }, about }
    };
    let (rho, power) = (Fitted::RoutingIndependence, Fitted::RoutingPower);
    let without_power = |of: &Parameter| of.of != power;
    let mut linear =
        less("distinct tokens of a sequence grow in proportion to its width", &without_power, base.held, Some(rho));
    linear.design.parameters.push(of_all(rho));
    let device = Fitted::FurtherDevice;
    vec![
        less("one profile for all engines", &|of| !matches!(of.scope, Scope::Engine(_)), base.held, None),
        less("routing of each token by itself", &without_power, base.held.with(power, 1.0), Some(power)),
        linear,
        more("a time for each sequence of a round", &[Fitted::Sequence]),
        more("KV cache read at a bandwidth of its own", &[Fitted::KvBandwidth]),
        more("draft passes of trees take longer", &[Fitted::TreePass]),
        more("draft passes on several devices take longer", &[Fitted::SharedPass]),
        less("rounds on several devices take as long as on one", &|of| of.of != device, base.held, Some(device)),
        more("part of the prefill overlaps with decoding", &[Fitted::PrefillShare]),
        efficiencies(measured, &base),
    ]
}

/// The shipped form with other priors and weights: what of the study hangs on these.
#[must_use]
pub fn checks(measured: &Measured) -> Vec<Variant> {
    let base = shipped(measured);
    vec![
        widths("priors half as wide", &base, 0.5),
        widths("priors twice as wide", &base, 2.0),
        crowded("every row counts the same", &base, 0.0),
        crowded("every source counts the same", &base, 1.0),
        widths("nothing fitted: the middle of every prior", &base, 1e-9),
        widths("nothing fitted, engine times a third", &moved(&base, 1.0 / 3.0), 1e-9),
        widths("fitted from engine times a third", &moved(&base, 1.0 / 3.0), 1.0),
        widths("nothing fitted, engine times threefold", &moved(&base, 3.0), 1e-9),
        widths("fitted from engine times threefold", &moved(&base, 3.0), 1.0),
    ]
}

/// The same with the middles of the priors of engine times so many times as long.
fn moved(base: &Design, times: f64) -> Design {
    let mut design = base.clone();
    let shared = design.parameters.iter_mut().filter(|one| one.scope == Scope::All && OF_ENGINES.contains(&one.of));
    shared.for_each(|one| one.shift = times.ln());
    design
}

fn crowded(name: &'static str, base: &Design, crowding: f64) -> Variant {
    Variant { name, design: Design { crowding, ..base.clone() }, about: None }
}

fn efficiencies(measured: &Measured, base: &Design) -> Variant {
    let of_family = |name: &String| {
        [Fitted::Bandwidth, Fitted::Compute].map(|of| {
            let scope = Scope::Family(name.clone());
            Parameter { of, scope, width: prior(of).width, shift: 0.0 }
        })
    };
    let added = measured.families.iter().flat_map(of_family);
    let parameters = base.parameters.iter().cloned().chain(added).collect();
    Variant { name: "efficiencies of each family of hardware", design: Design { parameters, ..*base }, about: None }
}

fn widths(name: &'static str, base: &Design, times: f64) -> Variant {
    let wider = |one: &Parameter| Parameter { width: one.width * times, ..one.clone() };
    Variant { name, design: Design { parameters: base.parameters.iter().map(wider).collect(), ..*base }, about: None }
}
