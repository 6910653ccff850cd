//! An engine's constants by name: their ranges, and the same engine with other values.

use crate::domain::engine::{Additive, Constant, Efficiencies, Efficiency, Engine, Pace, Profile};
use crate::units::Seconds;

/// A constant that is known within a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranged {
    /// Its name in the engine's file.
    pub name: &'static str,
    /// The least that the evidence allows, in seconds or as a share.
    pub low: f64,
    /// What is used.
    pub value: f64,
    /// The largest that it allows.
    pub high: f64,
    /// Its place among constants that were calibrated together, if it was.
    pub joint: Option<usize>,
}

impl Ranged {
    /// The value below which a share u of a triangle over the range lies, whose peak is what is used.
    ///
    /// # Formula
    ///
    /// ```text
    /// c = (value - low) / (high - low)
    /// u < c: low + sqrt(u (high - low)(value - low))       else: high - sqrt((1 - u)(high - low)(high - value))
    /// ```
    ///
    /// # Examples
    ///
    /// Half of an even triangle from 0 to 2 lies below 1, an eighth below 0.5:
    ///
    /// ```
    /// let of = specplan::plan::constants::Ranged { name: "t_round", low: 0.0, value: 1.0, high: 2.0, joint: None };
    /// assert_eq!([0.0, 0.125, 0.5, 0.875, 1.0].map(|u| of.quantile(u)), [0.0, 0.5, 1.0, 1.5, 2.0]);
    /// ```
    #[must_use]
    pub fn quantile(&self, u: f64) -> f64 {
        let (all, below, above) = (self.high - self.low, self.value - self.low, self.high - self.value);
        if u * all < below { self.low + (u * all * below).sqrt() } else { self.high - ((1.0 - u) * all * above).sqrt() }
    }
}

/// A constant that can be set.
enum Slot<'a> {
    Time(&'a mut Constant<Seconds>),
    Share(&'a mut Constant<Efficiency>),
    Pace(&'a mut Constant<Pace>),
}

impl Slot<'_> {
    /// With a range of its own, or calibrated with others.
    fn ranged(&self, name: &'static str, joint: Option<usize>) -> Option<Ranged> {
        let (range, value) = match self {
            Self::Time(of) => (of.range.map(|(low, high)| (low.get(), high.get())), of.value.get()),
            Self::Share(of) => (of.range.map(|(low, high)| (low.get(), high.get())), of.value.get()),
            Self::Pace(of) => (of.range.map(|(low, high)| (low.get(), high.get())), of.value.get()),
        };
        let range = range.filter(|(low, high)| low < high);
        let (low, high) = range.or(joint.map(|_| (value, value)))?;
        Some(Ranged { name, low, value, high, joint })
    }

    /// Sets it to a value of its range, which is as valid as the ends. Of constants calibrated together one may be drawn below 0, where others make up
    /// for it: cut off there, draws would lie to one side of what was fitted.
    fn set(&mut self, to: f64) {
        match self {
            // A law around a time that hardly anything is left of goes on below 0, and no time does.
            Self::Time(of) => of.value = Seconds::new(to.max(0.0)),
            Self::Share(of) => {
                if let Ok(share) = Efficiency::new(to) {
                    of.value = share;
                }
            }
            Self::Pace(of) => {
                if let Ok(pace) = Pace::new(to) {
                    of.value = pace;
                }
            }
        }
    }
}

/// Every constant that has a part in the price on hardware of a family.
fn slots<'a>(additive: &'a mut Additive, family: &str) -> Vec<(&'static str, Slot<'a>)> {
    let mut all = vec![
        ("t_step", Slot::Time(&mut additive.step)),
        ("t_draft", Slot::Time(&mut additive.draft)),
        ("t_round", Slot::Time(&mut additive.round)),
        ("t_sequence", Slot::Time(&mut additive.sequence)),
        ("t_moe_layer", Slot::Time(&mut additive.moe_layer)),
        ("t_all_reduce", Slot::Time(&mut additive.all_reduce)),
        ("eta_link", Slot::Share(&mut additive.link)),
        ("accepted_per_proposed", Slot::Share(&mut additive.accepted_per_proposed)),
    ];
    let Additive { device, tree, token, plain_pace, round_pace, routing_power, routing_independence, .. } = additive;
    // One of both counts.
    all.push(match routing_power {
        Some(power) => ("routing_power", Slot::Share(power)),
        None => ("routing_independence", Slot::Share(routing_independence)),
    });
    all.extend(device.as_mut().map(|device| ("t_round_device", Slot::Time(device))));
    all.extend(tree.as_mut().map(|tree| ("t_tree", Slot::Time(tree))));
    all.extend(token.as_mut().map(|token| ("t_token", Slot::Time(token))));
    all.extend(plain_pace.as_mut().map(|pace| ("plain_pace", Slot::Pace(pace))));
    all.extend(round_pace.as_mut().map(|pace| ("round_pace", Slot::Pace(pace))));
    all.extend(additive.layer_floor.as_mut().map(|floor| ("t_layer_floor", Slot::Time(floor))));
    all.extend(additive.uncaptured_layer.as_mut().map(|layer| ("t_layer_uncaptured", Slot::Time(layer))));
    if let Some(quantised) = &mut additive.quantised {
        all.push(("quantised_compute", Slot::Share(&mut quantised.compute)));
        all.push(("quantised_bandwidth", Slot::Share(&mut quantised.bandwidth)));
    }
    let of_family = additive.families.iter_mut().find(|(name, _)| name == family);
    all.extend(of_family.into_iter().flat_map(|(_, known)| of_hardware(known)));
    all
}

fn of_hardware(known: &mut Efficiencies) -> Vec<(&'static str, Slot<'_>)> {
    let mut all = vec![
        ("eta_bandwidth", Slot::Share(&mut known.bandwidth)),
        ("eta_compute", Slot::Share(&mut known.compute)),
        ("t_product", Slot::Time(&mut known.product)),
        ("t_attention", Slot::Time(&mut known.attention)),
    ];
    all.extend(known.kv_bandwidth.as_mut().map(|kv| ("eta_kv", Slot::Share(kv))));
    all
}

/// The place of a constant among those that were calibrated together.
fn joint(additive: &Additive) -> impl Fn(&str) -> Option<usize> + use<> {
    let names = additive.calibration.as_ref().map_or_else(Vec::new, |of| of.joint.names().to_vec());
    move |name| names.iter().position(|known| known == name)
}

/// The constants that are known within a range, or together with others, for hardware of a family.
#[must_use]
pub fn ranged(engine: &Engine, family: &str) -> Vec<Ranged> {
    let Some(mut additive) = engine.additive().cloned() else { return Vec::new() };
    let joint = joint(&additive);
    slots(&mut additive, family).into_iter().filter_map(|(name, slot)| slot.ranged(name, joint(name))).collect()
}

/// The engine with other values for the constants of [`ranged`], in their order. Only the family asked for is kept.
#[must_use]
pub fn with(engine: &Engine, family: &str, values: &[f64]) -> Engine {
    let Profile::Additive(additive) = &engine.profile else { return engine.clone() };
    let families = additive.families.iter().filter(|(name, _)| name == family).cloned().collect();
    let mut additive = Additive { families, errors: Vec::new(), ..(**additive).clone() };
    let joint = joint(&additive);
    let free = slots(&mut additive, family).into_iter().filter(|(name, slot)| slot.ranged(name, joint(name)).is_some());
    free.zip(values).for_each(|((_, mut slot), value)| slot.set(*value));
    Engine { profile: Profile::Additive(Box::new(additive)), ..engine.clone() }
}
