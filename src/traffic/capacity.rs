//! How much a replica can take while its answers are as good as is asked.

use crate::acceptance::estimate::Estimate;
use crate::domain::traffic::Slo;
use crate::traffic::measures::Measures;
use crate::traffic::run::NoRun;

/// Whether a run meets what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// All of it, with its interval.
    Surely,
    /// The estimates do, but an interval reaches beyond a limit.
    Likely,
    /// Some estimate does not, but its interval reaches below.
    Hardly,
    /// Not by any means.
    No,
}

/// Whether the percentile that is asked of each measure is within its limit. A run that is overloaded, or refuses more than may be
/// missed, does not meet anything.
#[must_use]
pub fn meets(measures: &Measures, slo: &Slo) -> Meets {
    let share = slo.percentile.get();
    let most_refused = (1.0 - share) * measures.requests() as f64;
    if measures.is_overloaded() || measures.refused as f64 > most_refused {
        return Meets::No;
    }
    let times = [(slo.ttft, &measures.ttft), (slo.tpot, &measures.tpot), (slo.e2e, &measures.e2e)];
    let judged = times.into_iter().filter_map(|(limit, times)| Some(judge(times.at(share)?, limit?.get())));
    judged.max_by_key(|meets| *meets as u8).unwrap_or(Meets::Surely)
}

fn judge(of: Estimate, limit: f64) -> Meets {
    match of {
        Estimate { high, .. } if high <= limit => Meets::Surely,
        Estimate { value, .. } if value <= limit => Meets::Likely,
        Estimate { low, .. } if low <= limit => Meets::Hardly,
        _ => Meets::No,
    }
}

/// The highest rate that meets what is asked.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Requests per second of one replica.
    pub rate: f64,
    /// The highest rate that surely does; none was found if it is 0.
    pub low: f64,
    /// The lowest above that surely does not.
    pub high: f64,
    /// The run at `rate`.
    pub at: Measures,
}

/// What is asked cannot be met at any load.
#[derive(Clone, Debug)]
pub struct Never {
    /// A run at next to no load.
    pub alone: Measures,
}

/// Halvings of the range between a rate that is met and one that is not: to 1/50 of it.
const HALVINGS: u32 = 6;
/// Steps by which the end of the interval is looked for, each by a quarter.
const STEPS_BEYOND: u32 = 4;
const BEYOND: f64 = 1.25;
/// Doublings from next to no load.
const DOUBLINGS: u32 = 40;

/// Searches the highest rate: doubles from `light`, next to no load, until a rate is not met, and halves the range below it. All runs meet
/// the same requests, so that times grow with the rate but for chance: no crossing is skipped that their intervals do not cover.
///
/// # Errors
///
/// Of `run`.
pub fn capacity(
    slo: &Slo,
    light: f64,
    mut run: impl FnMut(f64) -> Result<Measures, NoRun>,
) -> Result<Result<Capacity, Never>, NoRun> {
    let mut found = Found { low: 0.0, high: f64::INFINITY };
    let first = run(light)?;
    if !found.note(light, meets(&first, slo)) {
        return Ok(Err(Never { alone: first }));
    }
    let (mut best, mut above) = ((light, first), None);
    for doubled in 1..=DOUBLINGS {
        let rate = light * f64::from(doubled).exp2();
        let measures = run(rate)?;
        if !found.note(rate, meets(&measures, slo)) {
            above = Some(rate);
            break;
        }
        best = (rate, measures);
    }
    // A service that no rate overloads has no limit; memory and steps make one of every service that is priced.
    for _ in 0..HALVINGS {
        let Some(over) = above else { break };
        let rate = (best.0 + over) / 2.0;
        let measures = run(rate)?;
        if found.note(rate, meets(&measures, slo)) {
            best = (rate, measures);
        } else {
            above = Some(rate);
        }
    }
    // Beyond a rate that is hardly met, one that is surely not ends the interval.
    for _ in 0..STEPS_BEYOND {
        let Some(over) = above.filter(|_| found.high.is_infinite()) else { break };
        let rate = over * BEYOND;
        found.note(rate, meets(&run(rate)?, slo));
        above = Some(rate);
    }
    let (rate, at) = best;
    Ok(Ok(Capacity { rate, low: found.low.min(rate), high: found.high, at }))
}

/// Rates that are surely met, and surely not.
struct Found {
    low: f64,
    high: f64,
}

impl Found {
    /// Whether the estimates meet what is asked.
    fn note(&mut self, rate: f64, meets: Meets) -> bool {
        match meets {
            Meets::Surely => self.low = self.low.max(rate),
            Meets::No => self.high = self.high.min(rate),
            Meets::Likely | Meets::Hardly => {}
        }
        matches!(meets, Meets::Surely | Meets::Likely)
    }
}
